"""With what share, and under which lease, a client works."""

from __future__ import annotations

import os

from ttfd import check
from ttfd.cores import add_ranges
from ttfd.types import PRIORITIES, Lease, LeaseWait
from ttfd.v1 import ttfd_pb2


def fill_attach(hello: ttfd_pb2.Hello, client_name: str, weight: int, priority: str) -> None:
    """Fills in the name of the client and its share."""
    hello.client_name = check.text(client_name, "hello.client_name")
    share = check.integer(weight, "hello.weight")
    if share:
        hello.weight = share
    if not isinstance(priority, str) or priority not in PRIORITIES[1:]:
        check.refuse(f"priority {priority!r} is none of {', '.join(PRIORITIES[1:])}", "hello.priority")
    hello.priority = PRIORITIES.index(priority)


def fill_lease(hello: ttfd_pb2.Hello, lease: Lease | None, lease_token: str | None) -> None:
    """Says whether the session asks for a lease, joins one, or shares the card."""
    if lease_token is not None:
        check.text(lease_token, "lease_token")
    if lease is not None:
        check.one(lease, Lease, "lease")
        if lease_token:
            check.refuse("a session either asks for a lease or joins one: give lease or lease_token", "lease_token")
        hello.lease.SetInParent()
        if check.seconds(lease.wait, "lease.wait"):
            hello.lease.wait_ms = round(lease.wait * 1000)
        add_ranges(hello.lease.workers, lease.workers, "lease.workers")
        return
    text = lease_token or os.environ.get("TTFD_LEASE")
    if text:
        try:
            hello.lease_token = bytes.fromhex(text)
        except ValueError:
            check.refuse("the lease token, or TTFD_LEASE, is no even number of hexadecimal digits", "lease_token")


def lease_wait(wait: ttfd_pb2.LeaseWait) -> LeaseWait:
    """The message as users see it."""
    return LeaseWait(wait.position, wait.holder, wait.expected_wait_ms / 1000)
