"""Scripts in which connections are lost, or the daemon ends them (scenarios.py)."""

from __future__ import annotations

import time
from typing import Any, Callable

from fake_daemon import Connection, FakeSession, Script
from replies import CallEnd, Code
from ttfd.v1 import ttfd_pb2

# ---- cuts


class CutReceived(Script):
    """The connection is lost after the daemon has accepted message `at`."""

    def on_received(self, session: FakeSession, connection: Connection | None) -> None:
        if session.received == self.numbers["at"] and self.daemon.relay.cuts == 0:
            self.daemon.relay.cut()


class CutSent(Script):
    """The connection is lost after the daemon has written message `at`."""

    def on_sent(self, session: FakeSession, connection: Connection) -> None:
        if session.sent == self.numbers["at"] and self.daemon.relay.cuts == 0:
            self.daemon.relay.cut()


class CutBytes(Script):
    """The connection is lost after `up` bytes to the daemon, or `down` bytes to the client, once it has a session."""

    def on_received(self, session: FakeSession, connection: Connection | None) -> None:
        if session.received == 1 and not self.daemon.relay.cuts:
            self.daemon.relay.cut_at.update(self.numbers)


class CutOften(Script):
    """The connection is lost after every fifth message the daemon accepts, unless it has accepted nothing since."""

    last = 0

    def on_received(self, session: FakeSession, connection: Connection | None) -> None:
        if session.received >= self.last + 5:
            self.last = session.received
            self.daemon.relay.cut()


class CutWelcome(CutReceived):
    """The connection is lost, and that of the resume, too, before Welcome has come: the old token is still good."""

    def on_resume(self, session: FakeSession, connection: Connection) -> None:
        if self.daemon.relay.cuts == 1:
            self.daemon.relay.cut()


class CutAfterSilence(Script):
    """The connection is lost after a silence longer than the reconnect timeout."""

    def on_received(self, session: FakeSession, connection: Connection | None) -> None:
        if session.received == self.numbers["at"] and self.daemon.relay.cuts == 0:
            time.sleep(1.5)
            self.daemon.relay.cut()


class CutTwice(Script):
    """The connection is lost, and again after more than the reconnect timeout, with no message of the daemon between."""

    def sends(self, session: FakeSession) -> bool:
        return self.daemon.relay.cuts != 1

    def on_received(self, session: FakeSession, connection: Connection | None) -> None:
        if session.received == self.numbers["at"] and self.daemon.relay.cuts == 0:
            self.daemon.relay.cut()

    def on_resume(self, session: FakeSession, connection: Connection) -> None:
        if self.daemon.relay.cuts == 1:
            self.daemon.later(1.5, self.daemon.relay.cut)


class LostInput(Script):
    """The daemon has read, and not accepted, messages after `at` when the connection is lost: they come again unchanged."""

    def accepts(self, session: FakeSession, message: ttfd_pb2.ClientMessage) -> bool:
        if self.daemon.relay.cuts or message.sequence <= self.numbers["at"]:
            return True
        if not self.daemon.counts["unaccepted"]:
            self.daemon.later(0.2, self.daemon.relay.cut)
        self.daemon.count("unaccepted")
        return False


class LostFinish(Script):
    """The connection is lost with Finish: it comes again, though it costs nothing."""

    def accepts(self, session: FakeSession, message: ttfd_pb2.ClientMessage) -> bool:
        if self.daemon.relay.cuts or not message.HasField("finish"):
            return True
        self.daemon.relay.cut()
        return False


class RefusedOnce(CutReceived):
    """The connection is lost, and the first two attempts to resume find a daemon that ends the connection."""

    def on_hello(self, hello: ttfd_pb2.Hello, connection: Connection) -> None:
        if hello.WhichOneof("attach") == "resume" and self.daemon.counts["hellos"] <= 3:
            self.daemon.relay.cut()
            raise CallEnd(Code.UNAVAILABLE, "not yet", "DRAINING")


class OldMessages(CutReceived):
    """After a resume the daemon resends everything since the session began."""

    def __init__(self, daemon: Any, numbers: dict[str, int]) -> None:
        super().__init__(daemon, numbers)
        self.all: list[ttfd_pb2.ServerMessage] = []

    def on_send(self, session: FakeSession, message: ttfd_pb2.ServerMessage) -> list[ttfd_pb2.ServerMessage]:
        known = any(one.sequence == message.sequence for one in self.all)
        if known or not self.daemon.counts["resumes"]:
            if not known:
                self.all.append(message)
            return [message]
        again, self.all = self.all, []
        return [*again, message]


class NoAcks(CutReceived):
    """The daemon acknowledges nothing until message `at`, then the connection is lost."""

    def acks(self, session: FakeSession) -> bool:
        return session.received > self.numbers["at"]


# ---- sessions that are gone


class LostWhileAway(CutReceived):
    """The connection is lost, and the daemon no longer has the session."""

    def on_hello(self, hello: ttfd_pb2.Hello, connection: Connection) -> None:
        if hello.WhichOneof("attach") == "resume":
            raise CallEnd(Code.NOT_FOUND, "there is no such session", "SESSION_LOST")


def ends(code: Code, message: str, reason: str, retry: bool = False) -> Callable[..., Script]:
    """The daemon ends the session after message `at`, and says why: nothing may resume it."""

    class Ends(Script):
        """..."""

        def on_received(self, session: FakeSession, connection: Connection | None) -> None:
            if session.received == self.numbers["at"]:
                session.over = True
                raise CallEnd(code, message, reason, retry=retry)

    Ends.__doc__ = f"The daemon ends the session with {code.name} {reason} after message `at`: nothing may resume it."
    return Ends


class ResumedElsewhere(Script):
    """Another call has resumed the session after message `at`: this one ends, and leaves it alone."""

    def on_received(self, session: FakeSession, connection: Connection | None) -> None:
        if session.received == self.numbers["at"]:
            raise CallEnd(Code.ABORTED, "another call has resumed the session", "CANCELLED")
