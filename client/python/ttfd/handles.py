"""The handles of a session: what each names, and which are given back. Used by ttfd.connection only."""

from __future__ import annotations

import collections

class Handles:
    """Under the lock of the connection, but for `free`."""

    def __init__(self, first: int) -> None:
        self.next = first  # greater than all so far
        self.owned: dict[int, str] = {}  # the kind of what each names
        self._first = first  # those below belong to a session that was lost
        self._freed: collections.deque[int] = collections.deque()  # and not sent
        self._sent: list[tuple[int, int]] = []  # (value of the Free, handle), not ended

    def new(self) -> int:
        """A number that no resource of this session has had."""
        self.next += 1
        return self.next - 1

    def free(self, handle: int) -> None:
        """Gives a handle back. Takes no lock: the garbage collector calls it on any thread, which may hold any lock."""
        self._freed.append(handle)

    def take_freed(self) -> list[int]:
        """The handles that a Free has to be sent for."""
        taken = []
        while self._freed:
            handle = self._freed.popleft()
            self.owned.pop(handle, None)
            if handle >= self._first:
                taken.append(handle)
        return taken

    def sent(self, value: int, handle: int) -> None:
        """The Free of the handle is the command `value`."""
        self._sent.append((value, handle))

    def take_ended(self, completed: int) -> list[tuple[int, int]]:
        """Value and handle of each Free up to `completed`."""
        ended = [entry for entry in self._sent if entry[0] <= completed]
        self._sent = self._sent[len(ended):]
        return ended
