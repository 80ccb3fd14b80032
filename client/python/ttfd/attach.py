"""With what share, and under which lease, a client works."""

from __future__ import annotations

import os

from ttfd.errors import Code, Error
from ttfd.types import PRIORITIES, Lease, LeaseWait
from ttfd.v1 import ttfd_pb2


def fill_attach(hello: ttfd_pb2.Hello, lease: Lease | None, lease_token: str | None) -> None:
    """Says whether the session asks for a lease, joins one, or shares the card."""
    if lease is not None:
        if lease_token:
            raise Error(Code.INVALID_ARGUMENT, "a session either asks for a lease or joins one: give lease or lease_token",
                        reason="INVALID", field="lease_token")
        hello.lease.SetInParent()
        if lease.wait:
            hello.lease.wait_ms = round(lease.wait * 1000)
        for x0, y0, x1, y1 in ((range_[0], range_[1], range_[2], range_[3]) for range_ in lease.workers):
            hello.lease.workers.add(x0=x0, y0=y0, x1=x1, y1=y1)
        return
    text = lease_token or os.environ.get("TTFD_LEASE")
    if text:
        try:
            hello.lease_token = bytes.fromhex(text)
        except ValueError:
            raise Error(Code.INVALID_ARGUMENT, "the lease token, or TTFD_LEASE, is no even number of hexadecimal digits",
                        reason="INVALID", field="lease_token") from None


def priority_number(name: str) -> int:
    """The API's number of a priority."""
    if name not in PRIORITIES[1:]:
        raise Error(Code.INVALID_ARGUMENT, f"priority {name!r} is none of {', '.join(PRIORITIES[1:])}", reason="INVALID",
                    field="hello.priority")
    return PRIORITIES.index(name)


def lease_wait(wait: ttfd_pb2.LeaseWait) -> LeaseWait:
    """The message as users see it."""
    return LeaseWait(wait.position, wait.holder, wait.expected_wait_ms / 1000)
