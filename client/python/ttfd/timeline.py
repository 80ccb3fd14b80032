"""What a client knows of one queue. Used by ttfd.connection only, under its lock."""

from __future__ import annotations

import bisect

from ttfd.errors import Code, Error
from ttfd.types import Position

_MAX_ERRORS = 256  # kept for late callers


class Timeline:
    """One queue: values submitted, values completed, errors since it was last opened, reads under way."""

    def __init__(self) -> None:
        self.submitted = 0
        self.completed = 0
        self.opened_at = -1  # errors of values up to here are history; the queue's own opening has value 0
        self.clears_error: int | None = None  # of the next batch
        self.waits: list[Position] = []
        self.errors: list[tuple[int, int, Error]] = []
        self.reads: dict[int, tuple[memoryview, int]] = {}

    def fail(self, first: int, last: int, error: Error) -> None:
        """Commands `first` to `last` ended with an error; 0: the queue could not be opened."""
        if len(self.errors) == _MAX_ERRORS:
            del self.errors[1]  # the first one explains the others
        self.errors.append((first, max(first, last), error))

    @property
    def open_error(self) -> Error | None:
        """Why the queue could not be opened."""
        return self.errors[0][2] if self.errors and self.errors[0][0] == 0 else None

    def first_error(self) -> tuple[int, Error] | None:
        """Value and error of what has failed the queue."""
        for first, _, error in self.errors:
            if first > self.opened_at:
                return first, error
        return None

    def outcome(self, value: int) -> Error | None:
        """How the command at `value`, which has ended, ended."""
        if self.open_error is not None:
            return self.open_error
        for first, last, error in self.errors:
            if first <= value <= last:
                return error
        failed = self.first_error()
        return failed[1] if failed and failed[0] <= value else None

    def clear(self) -> None:
        """The next batch reopens the queue."""
        failed = self.first_error()
        if failed:
            self.clears_error = failed[0]
            self.opened_at = self.submitted

    def accept(self, value: int, offset: int, payload: bytes) -> None:
        """Bytes of a read; dropped if the read is no longer wanted."""
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
