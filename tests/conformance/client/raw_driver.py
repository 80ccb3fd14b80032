"""The conformance job with client/examples/raw_session.py. See run.py for the job and its report."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Callable

import grpc

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "client/examples"))

from raw_session import Session  # pylint: disable=wrong-import-position
from ttfd.google_rpc import error_details_pb2, status_pb2  # pylint: disable=wrong-import-position
from ttfd.v1 import ttfd_pb2 as pb  # pylint: disable=wrong-import-position

BIG, SMALL, KERNEL, PROGRAM = 1, 2, 3, 4


def job(session: Session, cancel: bool) -> bool:
    """Whether everything that was read is right."""
    pattern = bytes(index % 256 for index in range(65536))
    elf = bytes(range(256)) * 80
    cores = [{"x1": 3}]
    commands = [
        {"allocate": {"handle": BIG, "size_bytes": 65536, "page_bytes": 4096, "dram": {}}},
        {"allocate": {"handle": SMALL, "size_bytes": 4096, "page_bytes": 1024, "dram": {}}},
        {"write": {"buffer": BIG, "size": 65536, "streamed": True}},
        *({"write": {"buffer": SMALL, "offset": 64 * index, "size": 64, "inline": bytes([index]) * 64}} for index in range(16)),
    ]
    writes = len(commands)
    commands += [{"barrier": {}}] * 24
    load = len(commands) + 1
    commands += [
        {"load_kernel": {"handle": KERNEL, "size": len(elf), "streamed": True, "name": "conformance"}},
        {"create_program": {"handle": PROGRAM, "kernels": [{"kernel": KERNEL, "processor": 1, "cores": cores}]}},
        *({"launch": {"program": PROGRAM, "arguments": [{"common": [0, index], "buffers": [{"buffer": BIG}]}]}} for index in range(8)),
        {"read": {"buffer": BIG, "size": 65536}},
    ]
    session.send(open_queues=[{"queue": 1}, {"queue": 2, "kind": pb.QUEUE_KIND_TRANSFER}])
    for first in range(0, len(commands), 8):
        session.send(batches=[{"queue": 1, "first_value": first + 1, "commands": commands[first:first + 8]}])
        if first + 8 >= 3 > first:
            supply(session, 3, pattern)
        if first + 8 >= load > first:
            supply(session, load, elf)
    session.send(batches=[{"queue": 2, "first_value": 1, "waits": [{"queue": 1, "value": writes}],
                           "commands": [{"read": {"buffer": SMALL, "size": 1024}}]}])
    session.wait(1, len(commands))
    session.wait(2, 1)
    if cancel:
        last = len(commands) + 1
        session.send(batches=[{"queue": 1, "first_value": last, "commands": [{"write": {"buffer": BIG, "size": 65536, "streamed": True}}]}])
        supply(session, last, pattern)
        session.send(cancels=[{"queue": 1, "from_value": last}])
        session.wait(1, last)
    return (session.data[1, len(commands)] == pattern
            and session.data[2, 1] == b"".join(bytes([index]) * 64 for index in range(16)))


def supply(session: Session, value: int, payload: bytes) -> None:
    """Payload of a streamed command, in chunks."""
    chunk = session.welcome.limits.chunk_bytes
    for offset in range(0, len(payload), chunk):
        session.send(data=[{"queue": 1, "value": value, "offset": offset, "payload": payload[offset:offset + chunk]}])


def described(status: status_pb2.Status, execution_state: int = 0) -> dict[str, object]:
    """An error of the API, as run.py wants it."""
    info, retryable = error_details_pb2.ErrorInfo(), False
    for detail in status.details:
        if detail.Is(info.DESCRIPTOR):
            detail.Unpack(info)
        retryable |= detail.Is(error_details_pb2.RetryInfo.DESCRIPTOR)
    more = info.metadata
    codes = {code.value[0]: code.name for code in grpc.StatusCode}
    state = pb.ExecutionState.Name(execution_state).removeprefix("EXECUTION_STATE_")
    return {"outcome": "error", "code": codes.get(status.code, "UNKNOWN"), "reason": info.reason, "field": more.get("field", ""),
            "limit": more.get("limit", ""), "limit_value": int(more.get("limit_value", 0)), "limit_used": int(more.get("limit_used", 0)),
            "hang_report": more.get("hang_report", ""), "retryable": retryable, "execution_state": state, "message": status.message}


def described_end(failure: grpc.RpcError) -> dict[str, object]:
    """How the call ended."""
    for key, value in failure.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            return described(status_pb2.Status.FromString(value))
    return described(status_pb2.Status(code=failure.code().value[0], message=failure.details() or ""))


def run(make_session: Callable[..., Session], address: str, reconnect_ms: str, *options: str) -> dict[str, object]:
    """One job: the driver's report."""
    hello = {"lease": pb.Lease(wait_ms=10_000)} if "lease" in options else {}
    if "lease-token" in options:
        hello = {"lease_token": bytes.fromhex("1ea5e0")}
    session = None
    try:
        session = make_session(pb, address, int(reconnect_ms) / 1000, client_name="conformance", **hello)
        report: dict[str, object] = {"outcome": "ok" if job(session, "cancel" in options) else "wrong bytes"}
        if session.errors:
            report = described(session.errors[0].status, session.errors[0].execution_state)
        if "leave" in options:
            leave(session)
        else:
            session.finish()
        return report
    except grpc.RpcError as failure:
        return described_end(failure)
    except ValueError as wrong:
        return described(status_pb2.Status(code=13, message=str(wrong)))  # INTERNAL
    finally:
        if session is not None:
            session.close()


def leave(session: Session) -> None:
    """Ends the session, which has no results to wait for."""
    session.send(leave={})
    try:
        while session.receive():
            pass
    except grpc.RpcError:
        pass


def serve(choose: Callable[[list[str]], Callable[..., Session]]) -> int:
    """A job a line, with the class that is chosen by its words."""
    for line in sys.stdin:
        print(json.dumps(run(choose(line.split()), *line.split())), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(serve(lambda words: Session))
