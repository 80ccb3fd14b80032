"""Scripts without a lost connection: messages, windows, refusals, errors, leases (scenarios.py)."""

from __future__ import annotations

import time
from typing import Any, Callable

from fake_daemon import Connection, FakeSession, Script
from fake_session import HOLD
from losses import CutReceived
from replies import LEASE_TOKEN, CallEnd, Code, status_of
from ttfd.v1 import ttfd_pb2

# ---- messages that come twice, not at all, or with what the client does not know


class Duplicates(Script):
    """Every message of the daemon comes twice."""

    def on_send(self, session: FakeSession, message: ttfd_pb2.ServerMessage) -> list[ttfd_pb2.ServerMessage]:
        return [message, message]


class Gap(Script):
    """Message `at` of the daemon never comes, and another does."""

    def on_send(self, session: FakeSession, message: ttfd_pb2.ServerMessage) -> list[ttfd_pb2.ServerMessage]:
        if message.sequence != self.numbers["at"]:
            return [message]
        session.waiting.append(ttfd_pb2.ServerMessage(notices=[{"waiting": {"position": 0}}]))
        return []


class AckTooMuch(Script):
    """The daemon acknowledges what was never sent."""

    def on_send(self, session: FakeSession, message: ttfd_pb2.ServerMessage) -> list[ttfd_pb2.ServerMessage]:
        wrong = ttfd_pb2.ServerMessage()
        wrong.CopyFrom(message)
        wrong.ack += 1000
        return [wrong]


class Unknown(Script):
    """Fields and a notice that a later revision may have."""

    def on_send(self, session: FakeSession, message: ttfd_pb2.ServerMessage) -> list[ttfd_pb2.ServerMessage]:
        later = message.SerializeToString() + b"\xa2\x06\x03new" + b"\x2a\x05\xa2\x06\x02ab"  # field 100; notices { field 100 }
        return [ttfd_pb2.ServerMessage.FromString(later)]


class OldProgress(Script):
    """Progress comes with the value before it, after it: the greatest counts."""

    def on_send(self, session: FakeSession, message: ttfd_pb2.ServerMessage) -> list[ttfd_pb2.ServerMessage]:
        for position in list(message.progress):
            message.progress.add(queue=position.queue, value=position.value - 1)
        return [message]


class AcksAlone(Script):
    """Between messages the daemon sends acks and windows by themselves."""

    def on_sent(self, session: FakeSession, connection: Connection) -> None:
        connection.send(ttfd_pb2.ServerMessage(ack=session.received))
        connection.send(ttfd_pb2.ServerMessage(window_bytes=self.advertise(session)))


# ---- the window and acks


class SmallWindow(Script):
    """The window holds little, and commands take some time."""

    window_bytes = 32 << 10
    working = False

    def executes(self, session: FakeSession) -> bool:
        return False

    def on_received(self, session: FakeSession, connection: Connection | None) -> None:
        if not self.working:
            self.working = True
            self.daemon.later(0.005, lambda: self.work(session))

    def work(self, session: FakeSession) -> None:
        """What has come so far is executed."""
        self.working = False
        if not session.over:
            reply = ttfd_pb2.ServerMessage()
            session.execute_ready(reply)
            session.answer(reply)


class LateWindow(Script):
    """The window is closed until some time after each message, and opens by a message of its own."""

    window_bytes = 24 << 10
    open_until = 24 << 10

    def window(self, session: FakeSession) -> int:
        return self.open_until

    def on_received(self, session: FakeSession, connection: Connection | None) -> None:
        def open_more() -> None:
            self.open_until = session.released + self.window_bytes
            if session.connection is not None:
                session.connection.send(ttfd_pb2.ServerMessage(window_bytes=self.advertise(session)))

        self.daemon.later(0.005, open_more)


class SmallUnacknowledged(Script):
    """The daemon sends little ahead of the client's acks."""

    unacknowledged_bytes = 20 << 10


# ---- refusals and errors


def refuse(code: Code, message: str, reason: str, **metadata: str) -> Callable[..., Script]:
    """Hello is refused."""

    class Refuse(Script):
        """..."""

        def on_hello(self, hello: ttfd_pb2.Hello, connection: Connection) -> None:
            raise CallEnd(code, message, reason, **metadata)

    Refuse.__doc__ = f"Hello is refused with {code.name} {reason}."
    return Refuse


class QueueRefused(Script):
    """The transfer queue cannot be opened: its error has value 0, its commands follow from that."""

    def on_open(self, open_queue: ttfd_pb2.OpenQueue) -> Any:
        if open_queue.kind != ttfd_pb2.QUEUE_KIND_TRANSFER:
            return None
        return status_of(Code.RESOURCE_EXHAUSTED, "no more queues", "LIMIT", field="open_queue.queue", limit="queues",
                         limit_value="1", limit_used="1")


class CommandFails(Script):
    """The third write fails with every detail an error can have."""

    writes = 0

    def on_command(self, session: FakeSession, at: tuple[int, int], command: ttfd_pb2.Command) -> Any:
        self.writes += command.HasField("write")
        if self.writes != 3 or not command.HasField("write"):
            return None
        return status_of(Code.RESOURCE_EXHAUSTED, "a write of too much", "LIMIT", retry=True, field="write.size",
                         limit="transfer_bytes", limit_value="4096", limit_used="17", hang_report="20260101T000000Z-000001")


class StreamFails(Script):
    """A streamed write fails before its data has come, which the client may still send, or not."""

    def on_command(self, session: FakeSession, at: tuple[int, int], command: ttfd_pb2.Command) -> Any:
        if not command.HasField("write") or not command.write.streamed:
            return None
        return status_of(Code.INVALID_ARGUMENT, "a transfer of nothing", "INVALID", field="write.size")


class Cancels(Script):
    """The second write of 64 KiB does not start until it is cancelled."""

    first: tuple[int, int] | None = None

    def on_command(self, session: FakeSession, at: tuple[int, int], command: ttfd_pb2.Command) -> Any:
        if command.write.size != 65536:
            return None
        self.first = self.first or at
        return None if at == self.first else HOLD


class Prints(Script):
    """Kernels print, and some prints were dropped."""

    def on_received(self, session: FakeSession, connection: Connection | None) -> None:
        if session.received == 3:
            session.waiting.append(ttfd_pb2.ServerMessage(notices=[
                {"print": {"queue": 0, "value": 1, "text": "one", "kernel": "k", "processor": 1}},
                {"print": {"queue": 0, "value": 1, "text": "four", "kernel": "k", "processor": 1, "lost": 2}}]))


class OldWindows(Cancels):
    """What is resent after a resume has the window of its time; the newest is that of Welcome, which lets the client end."""

    window_bytes = 24 << 10
    closed = opened = False

    def on_command(self, session: FakeSession, at: tuple[int, int], command: ttfd_pb2.Command) -> Any:
        if command.read.size == 65536 and not self.closed:
            self.closed = True
            self.daemon.later(0.2, self.daemon.relay.cut)
        return super().on_command(session, at, command)

    def advertise(self, session: FakeSession) -> int:
        if self.daemon.relay.cuts == 0:
            return self.window_sent if self.closed else super().advertise(session)
        if self.opened:
            return 0  # unchanged
        self.opened = True
        self.window_sent = session.cost + (1 << 20)
        return self.window_sent

    def on_send(self, session: FakeSession, message: ttfd_pb2.ServerMessage) -> list[ttfd_pb2.ServerMessage]:
        return [] if self.closed and self.daemon.relay.cuts == 0 else [message]


# ---- leases


class LeaseWaits(Script):
    """The client waits for its lease for a while, and learns how it stands."""

    def on_hello(self, hello: ttfd_pb2.Hello, connection: Connection) -> None:
        if hello.WhichOneof("attach") == "resume":
            return
        if hello.WhichOneof("attach") != "lease":
            raise self.daemon.violation("the client was to ask for a lease")
        for position in (2, 1):
            connection.send(ttfd_pb2.ServerMessage(notices=[
                {"waiting": {"position": position, "holders": [{"session": 7}], "expected_wait_ms": 50}}]))
            time.sleep(0.02)


class LeaseTimesOut(LeaseWaits):
    """The lease does not become free in time."""

    def on_hello(self, hello: ttfd_pb2.Hello, connection: Connection) -> None:
        super().on_hello(hello, connection)
        raise CallEnd(Code.DEADLINE_EXCEEDED, "the lease was not granted within 10 ms", "DEADLINE")


class LeaseCutWaiting(LeaseWaits):
    """The connection is lost while the client waits: nothing can be resumed, the session never began."""

    def on_hello(self, hello: ttfd_pb2.Hello, connection: Connection) -> None:
        super().on_hello(hello, connection)
        self.daemon.relay.cut()
        raise CallEnd(Code.CANCELLED, "the connection was lost", "CANCELLED")


class LeaseCut(CutReceived, LeaseWaits):
    """The connection of a session with a lease is lost: the resume asks for no lease."""


class LeaseJoined(CutReceived):
    """A session under another's lease loses its connection: the resume takes the place of the lease's token."""

    def on_hello(self, hello: ttfd_pb2.Hello, connection: Connection) -> None:
        if hello.WhichOneof("attach") != "resume" and hello.lease_token != LEASE_TOKEN:
            raise self.daemon.violation("the client was to join a lease by its token")
