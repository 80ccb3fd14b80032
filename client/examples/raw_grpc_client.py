"""Example: the API without any of this project's code, from the .proto files alone.

    raw_grpc_client.py PROTO_DIR KERNEL.elf [ADDRESS]

Makes the message classes with protoc, opens a session (raw_session.py), and adds two vectors on 16 tiles with
firmware/kernels/vector_add.cc. The whole job is one pipelined conversation: everything is sent before anything is
answered, because handles are numbers the client chooses. Needs python3-grpcio, python3-protobuf and protobuf-compiler.
"""

import hashlib
import os
import pathlib
import queue
import random
import struct
import subprocess
import sys
import tempfile

import google.protobuf
import grpc

from raw_session import Session

ELEMENTS = 16384
PAGE_BYTES = 2048
TILES = 16
QUEUE = 0  # any number
# Handles: any numbers, one space for buffers, kernels and programs.
A, B, C, KERNEL, PROGRAM = 1, 2, 3, 4, 5


def message_classes(proto_dir: str):
    """ttfd.v1 as protoc makes it; nothing else is needed to speak the API."""
    out = tempfile.mkdtemp(prefix="ttfd-proto-")
    files = ["google/rpc/status.proto", *(f"ttfd/v1/{name}.proto" for name in ("types", "ttfd"))]
    subprocess.run(["protoc", "-I", proto_dir, f"--python_out={out}", *files], check=True)
    sys.path.insert(0, out)
    # Python's own package google has a place for google.rpc only if something else brings one.
    google.__path__.append(f"{out}/google")
    from ttfd.v1 import ttfd_pb2  # pylint: disable=import-outside-toplevel

    return ttfd_pb2


def commands(pb, a: bytes, b: bytes, elf: bytes):
    """The job as commands of one queue; command i has value i + 1."""
    nbytes = len(a)
    pages = nbytes // PAGE_BYTES
    cores = [dict(x0=0, y0=0, x1=3, y1=3)]
    for handle in (A, B, C):
        yield pb.Command(allocate=dict(handle=handle, size_bytes=nbytes, page_bytes=PAGE_BYTES, dram={}))
    yield pb.Command(write=dict(buffer=A, size=nbytes, inline=a))
    yield pb.Command(write=dict(buffer=B, size=nbytes, inline=b))
    yield pb.Command(load_kernel=dict(handle=KERNEL, sha256=hashlib.sha256(elf).digest(), size=len(elf), streamed=True,
                                      name="vector_add"))
    yield pb.Command(create_program=dict(
        handle=PROGRAM,
        kernels=[dict(kernel=KERNEL, processor="PROCESSOR_BRISC", cores=cores)],
        circular_buffers=[dict(index=0, pages=4, page_bytes=PAGE_BYTES, cores=cores)]))
    share = pages // TILES
    yield pb.Command(launch=dict(program=PROGRAM, arguments=[dict(
        kernel=0,
        common=[0, 0, 0, PAGE_BYTES],  # the daemon puts the buffers' addresses into words 0 to 2
        buffers=[dict(word=0, buffer=A), dict(word=1, buffer=B), dict(word=2, buffer=C)],
        per_core=[word for tile in range(TILES) for word in (tile * share, share)],
        words_per_core=2)]))
    yield pb.Command(read=dict(buffer=C, size=nbytes))


def main() -> int:
    if len(sys.argv) not in (3, 4):
        print("usage: raw_grpc_client.py PROTO_DIR KERNEL.elf [ADDRESS]", file=sys.stderr)
        return 2
    pb = message_classes(sys.argv[1])
    address = sys.argv[3] if len(sys.argv) == 4 else os.environ.get("TTFD_ADDRESS", "unix:/run/ttfd/ttfd.sock")
    elf = pathlib.Path(sys.argv[2]).read_bytes()
    chance = random.Random(1)
    a = [chance.randrange(2**32) for _ in range(ELEMENTS)]
    b = [chance.randrange(2**32) for _ in range(ELEMENTS)]
    pack = struct.Struct(f"<{ELEMENTS}I")
    session = Session(pb, address, client_name="raw_grpc_client")
    batch = pb.Batch(queue=QUEUE, first_value=1, commands=commands(pb, pack.pack(*a), pack.pack(*b), elf))
    last = len(batch.commands)
    load = next(i + 1 for i, command in enumerate(batch.commands) if command.HasField("load_kernel"))
    session.send(open_queues=[pb.OpenQueue(queue=QUEUE, kind=pb.QUEUE_KIND_COMPUTE)], batches=[batch])
    chunk = session.welcome.limits.chunk_bytes
    for offset in range(0, len(elf), chunk):
        session.send(data=[pb.Data(queue=QUEUE, value=load, offset=offset, payload=elf[offset:offset + chunk])])
    session.wait(QUEUE, last)
    for error in session.errors:
        print(f"command {error.first_value}: {error.status.message}", file=sys.stderr)
    result = bytes(session.data[QUEUE, last])
    session.finish()
    if len(result) != pack.size or list(pack.unpack(result)) != [(x + y) % 2**32 for x, y in zip(a, b)]:
        print(f"WRONG: {len(result)} bytes came back")
        return 1
    print(f"verified: all {ELEMENTS} sums are right, {last} commands in one conversation")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except grpc.RpcError as error:
        sys.exit(f"raw_grpc_client.py: {error.code().name}: {error.details()}")
