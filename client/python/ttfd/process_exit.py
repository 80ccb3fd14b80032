"""Ends the sessions that are open when the interpreter exits, while their threads still run. Used by ttfd.connection only.

The interpreter stops threads like these wherever they are. One that holds a lock then, its own or one of gRPC's, would keep
the exit waiting for ever, as would a channel that is closed by the garbage collector after that.
"""

from __future__ import annotations

import atexit
import os
import time
import weakref
from typing import Protocol

_EXIT_S = 2.0  # for all sessions together


class Leaving(Protocol):
    """A connection, as far as the exit needs it."""

    def leave(self) -> None:
        """Begins to end the session at once."""

    def await_end(self, deadline: float) -> None:
        """Waits until the session has ended, and stops its thread."""


_open: weakref.WeakSet[Leaving] = weakref.WeakSet()


def watch(connection: Leaving) -> None:
    """Ends the connection when the interpreter exits, unless it is gone by then."""
    _open.add(connection)


def _leave_all() -> None:
    connections = list(_open)
    for connection in connections:
        connection.leave()
    deadline = time.monotonic() + _EXIT_S
    for connection in connections:
        connection.await_end(deadline)


atexit.register(_leave_all)
os.register_at_fork(after_in_child=_open.clear)  # the threads, and with them the sessions, are the parent's
