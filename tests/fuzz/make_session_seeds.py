"""Writes the seeds of fuzz_session_stream: conversations as they are sent, and bytes that become choices.

usage: PYTHONPATH=build/<preset>/client/python python3 make_session_seeds.py FOLDER. The seeds it wrote are committed.
"""

from __future__ import annotations

import pathlib
import random
import sys

from ttfd.v1 import ttfd_pb2, types_pb2

CHOICES = 10
CHOICE_BYTES = 600


def wire(*messages: ttfd_pb2.ClientMessage) -> bytes:
    encoded = b"\x01"
    for message in messages:
        data = message.SerializeToString()
        encoded += len(data).to_bytes(2, "little") + data
    return encoded


def hello() -> ttfd_pb2.ClientMessage:
    message = ttfd_pb2.ClientMessage()
    message.hello.min_revision = message.hello.max_revision = 1
    return message


def numbered(*messages: ttfd_pb2.ClientMessage) -> tuple[ttfd_pb2.ClientMessage, ...]:
    for sequence, message in enumerate(messages, 1):
        message.sequence = sequence
    return messages


def opened(*queues: tuple[int, int]) -> ttfd_pb2.ClientMessage:
    message = ttfd_pb2.ClientMessage()
    for queue, kind in queues:
        message.open_queues.add(queue=queue, kind=kind)
    return message


def main_job() -> bytes:
    first = opened((0, 1))
    batch = first.batches.add(queue=0, first_value=1)
    batch.commands.add().allocate.CopyFrom(ttfd_pb2.Allocate(handle=1, size_bytes=4096, page_bytes=1024, dram={}))
    batch.commands.add().load_kernel.CopyFrom(ttfd_pb2.LoadKernel(handle=2, size=3, inline=b"elf"))
    program = batch.commands.add().create_program
    program.handle = 3
    program.kernels.add(kernel=2, processor=1, cores=[types_pb2.CoreRange(x1=1, y1=1)])
    batch.commands.add().write.CopyFrom(ttfd_pb2.Write(buffer=1, size=32, inline=bytes(range(32))))
    launch = batch.commands.add().launch
    launch.program = 3
    launch.arguments.add(common=[0, 7], buffers=[ttfd_pb2.BufferArgument(buffer=1)])
    batch.commands.add().read.CopyFrom(ttfd_pb2.Read(buffer=1, size=4096))
    last = ttfd_pb2.ClientMessage()
    last.batches.add(queue=0, first_value=7).commands.add().free.handles.append(1)
    last.finish.SetInParent()
    return wire(hello(), *numbered(first, last))


def streams_and_queues() -> bytes:
    first = opened((0, 1), (1, 2))
    batch = first.batches.add(queue=0, first_value=1)
    batch.commands.add().allocate.CopyFrom(ttfd_pb2.Allocate(handle=1, size_bytes=3000, page_bytes=100, l1={}))
    other = first.batches.add(queue=1, first_value=1, waits=[types_pb2.QueuePosition(queue=0, value=1)])
    other.commands.add().write.CopyFrom(ttfd_pb2.Write(buffer=1, size=3000, streamed=True))
    second = ttfd_pb2.ClientMessage(ack=1)
    second.data.add(queue=1, value=1, offset=0, payload=b"a" * 1000)
    second.data.add(queue=1, value=1, offset=1000, payload=b"b" * 2000)
    second.cancels.add(queue=1, from_value=2)
    third = ttfd_pb2.ClientMessage()
    third.batches.add(queue=0, first_value=2).commands.add().read.CopyFrom(ttfd_pb2.Read(buffer=1, size=3000))
    return wire(hello(), *numbered(first, second, third), ttfd_pb2.ClientMessage(ack=2))


def traces() -> bytes:
    first = opened((0, 1))
    batch = first.batches.add(queue=0, first_value=1)
    batch.commands.add().load_kernel.CopyFrom(ttfd_pb2.LoadKernel(handle=2, size=3, inline=b"elf"))
    program = batch.commands.add().create_program
    program.handle = 3
    program.kernels.add(kernel=2, processor=1, cores=[types_pb2.CoreRange(x1=1, y1=1)])
    batch.commands.add().record_trace.CopyFrom(
        ttfd_pb2.RecordTrace(handle=4, launches=[ttfd_pb2.Launch(program=3), ttfd_pb2.Launch(program=3)]))
    batch.commands.add().replay_trace.trace = 4
    batch.commands.add().free.handles.extend([4, 3, 2])
    return wire(hello(), *numbered(first))


def duplicates_and_a_gap() -> bytes:
    messages = []
    for value in (1, 2, 3):
        message = ttfd_pb2.ClientMessage(sequence=value + 1)
        message.batches.add(queue=0, first_value=value).commands.add().barrier.SetInParent()
        messages.append(message)
    (first,) = numbered(opened((0, 1)))
    gap = ttfd_pb2.ClientMessage(sequence=9)
    return wire(hello(), first, messages[0], first, messages[0], messages[1], messages[2], messages[1], gap)


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for make in (main_job, streams_and_queues, traces, duplicates_and_a_gap):
        (folder / make.__name__).write_bytes(make())
    chance = random.Random(1)
    for index in range(CHOICES):
        (folder / f"choices_{index}").write_bytes(b"\x00" + chance.randbytes(CHOICE_BYTES))


main()
