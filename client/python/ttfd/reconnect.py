"""When a lost connection is made again, and what is said when it cannot be. Used by ttfd.connection and ttfd.reader."""

from __future__ import annotations

from typing import Iterable

from ttfd.errors import Code, Error
from ttfd.v1 import ttfd_pb2

_BACKOFF_S = (0.01, 1.0)  # the first, the longest
_LOST = ("CONNECTION_LOST", "UNREACHABLE")
_OWNED = {"allocate": "buffer", "load_kernel": "kernel", "create_program": "program", "record_trace": "trace"}


def owned_kind(command: ttfd_pb2.Command) -> tuple[int, str] | None:
    """Handle and kind of what the command makes."""
    op = command.WhichOneof("op")
    return (getattr(command, op).handle, _OWNED[op]) if op in _OWNED else None


def is_lost(end: Error | None) -> bool:
    """Whether the connection, and not the session, has ended."""
    return end is not None and end.reason in _LOST


def loss(end: Error, address: str, owned: Iterable[str], pending: int) -> Error:
    """The end of a session that was lost, with what is gone."""
    owned = list(owned)
    counts = [(owned.count(kind), kind) for kind in _OWNED.values()]
    gone = "gone: " + "".join(f"{count} {kind}{'' if count == 1 else 's'}, " for count, kind in counts)
    gone += f"{pending} command{'' if pending == 1 else 's'} without an answer"
    if end.reason == "SESSION_LOST":
        return Error(Code.UNAVAILABLE, f"the daemon at {address} no longer has this session: it was restarted, or the "
                     f"connection was lost for too long; {gone}", reason=end.reason, retryable=True)
    if is_lost(end):
        return Error(Code.UNAVAILABLE, f"the connection to the daemon at {address} was lost and could not be made again; "
                     f"{gone}", reason="CONNECTION_LOST", retryable=True)
    if end.code == Code.UNAVAILABLE:
        return Error(end.code, f"{end.message}; {gone}", reason=end.reason, retryable=True)
    return end


class ReconnectState:
    """When to try next, and until when. Time is seconds of a monotonic clock.

    A connection that is lost again before it has completed a command or lived for a second is the same loss: what
    breaks it may be what is resent.
    """

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self.until = 0.0  # of the present loss; 0: none
        self._delay = _BACKOFF_S[0]
        self._connected = True
        self._connected_at = 0.0
        self._completed = -1  # commands, when the connection was last made

    def lost(self, now: float, completed: int) -> None:
        """There is no connection, after an attempt or without one, and `completed` commands have ended."""
        lived = completed != self._completed or now - self._connected_at >= _BACKOFF_S[1]
        if self._connected and (lived or not self.until):
            self.until = now + self.timeout
            self._delay = 0.0
        self._connected = False

    def connected(self, now: float, completed: int) -> None:
        """The session was resumed."""
        self._connected = True
        self._connected_at = now
        self._completed = completed

    def next_delay(self, now: float) -> float | None:
        """Seconds until the next attempt, the first at once; None: it is too late."""
        if now >= self.until:
            return None
        delay = self._delay
        self._delay = min(max(2 * delay, _BACKOFF_S[0]), _BACKOFF_S[1])
        return min(delay, self.until - now)
