"""What a client knows of one queue. Used by ttfd.connection only, under its lock."""

from __future__ import annotations

import bisect

from ttfd.errors import Code, Error
from ttfd.types import Position


class Timeline:
    """One queue: values handed out, values ended, errors since it was last opened, reads under way."""

    def __init__(self) -> None:
        self.submitted = 0
        self.completed = 0
        self.opened_at = 0  # errors of values up to here are history
        self.clears_error = 0  # what the next batch will say
        self.waits: list[Position] = []
        self.errors: list[tuple[int, int, Error]] = []
        self.reads: dict[int, tuple[memoryview, int]] = {}
        self.owed = 0  # something was told that belongs to this command
        self.receipted = 0

    def add_receipts(self, queue_id: int, everything: bool, ended, data) -> None:
        """What the daemon need not keep any more; `everything`: also where it keeps nothing but the count."""
        if self.completed > self.receipted and (everything or self.owed > self.receipted):
            self.receipted = self.completed
            ended.add(queue=queue_id, value=self.completed)
        for value, (_, received) in self.reads.items():
            if received:
                data.add(queue=queue_id, value=value, bytes=received)

    def first_error(self) -> tuple[int, Error] | None:
        for first, _, error in self.errors:
            if first > self.opened_at:
                return first, error
        return None

    def outcome(self, value: int) -> Error | None:
        for first, last, error in self.errors:
            if first <= value <= last:
                return error
        failed = self.first_error()
        return failed[1] if failed and failed[0] <= value else None

    def clear(self) -> None:
        failed = self.first_error()
        if failed:
            self.clears_error = failed[0]
            self.opened_at = self.submitted

    def accept(self, value: int, offset: int, payload: bytes) -> None:
        """Bytes that were read; dropped if nobody asked for them."""
        if value not in self.reads:
            return
        into, received = self.reads[value]
        end = received + len(payload)
        if offset == received and end <= len(into):
            into[received:end] = payload
            self.reads[value] = (into, end)

    def advance(self, value: int) -> None:
        """Everything up to `value` has ended."""
        self.completed = max(self.completed, min(value, self.submitted))
        for at in [at for at in self.reads if at <= self.completed]:
            into, received = self.reads.pop(at)
            if received != len(into) and self.outcome(at) is None:
                bisect.insort(self.errors, (at, at, Error(
                    Code.DATA_LOSS, f"the daemon ended a read of {len(into)} bytes after {received}")),
                    key=lambda entry: entry[0])
