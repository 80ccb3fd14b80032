"""The conformance job with the Python client. See run.py for the job and its report."""

from __future__ import annotations

import json
import sys

import numpy as np

import ttfd


def job(session: ttfd.Session, cancel: bool) -> bool:
    """Whether everything that was read is right."""
    big = session.allocate_dram(65536, 4096)
    small = session.allocate_dram(4096, 1024)
    pattern = np.arange(65536, dtype=np.uint32).astype(np.uint8)
    big.write(pattern)
    for index in range(16):
        session.queue.enqueue_write(small, np.full(64, index, np.uint8), offset=64 * index)
    other = session.open_queue(transfer=True)
    other.after(ttfd.Position(session.queue.id, session.queue.submitted))
    copy = np.zeros(1024, np.uint8)
    read = other.enqueue_read(small, copy)
    for _ in range(24):
        session.queue.enqueue_barrier()
    session.queue.finish()
    other.wait(read)
    kernel = session.load_kernel(bytes(range(256)) * 80, "conformance")
    program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, [ttfd.CoreRange(0, 0, 3, 0)])])
    for value in range(8):
        session.queue.enqueue_launch(program, [ttfd.Arguments(common=[big, value])])
    session.queue.finish()
    again = big.read()
    if cancel:
        write = session.queue.enqueue_write(big, pattern)
        session.queue.cancel(write.value)
        session.queue.wait(write)
    return bool((copy == np.repeat(np.arange(16, dtype=np.uint8), 64)).all() and (again == pattern).all())


def run(address: str, reconnect_ms: str, *options: str) -> dict[str, object]:
    """One job: the driver's report."""
    report: dict[str, object] = {}
    try:
        session = ttfd.connect(address, client_name="conformance", reconnect_for=int(reconnect_ms) / 1000, call_timeout=20.0,
                               lease=ttfd.Lease(wait=10.0) if "lease" in options else None,
                               lease_token="1ea5e0" if "lease-token" in options else None)
        session.on_print = None
        try:
            report = {"outcome": "ok" if job(session, "cancel" in options) else "wrong bytes"}
        except ttfd.Error as error:
            raise (session.queue.error or error) from None  # what failed the queue, not what follows from it
        finally:
            if "leave" in options:
                session.__exit__(RuntimeError, None, None)
            elif sys.exc_info()[0] is not None:
                close(session)
        if "leave" not in options:
            session.close()
    except ttfd.Error as error:
        report = {"outcome": "error", "code": error.code.name, "reason": error.reason, "field": error.field,
                  "limit": error.limit, "limit_value": error.limit_value, "limit_used": error.limit_used,
                  "hang_report": error.hang_report, "retryable": error.retryable,
                  "execution_state": error.execution_state.name, "message": error.message}
    return report


def close(session: ttfd.Session) -> None:
    """After an error, which is the one that counts."""
    try:
        session.close()
    except ttfd.Error:
        pass


def main() -> int:
    """A job a line."""
    for line in sys.stdin:
        print(json.dumps(run(*line.split())), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
