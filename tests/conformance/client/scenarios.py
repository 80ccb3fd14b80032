"""What a client library must cope with, one case each. The runner lists them: run.py --list.

A scenario is a script for the fake daemon (fake_daemon.Script), the parameters it is run with, and what the client must
report (run.py has the job and the report).
"""

from __future__ import annotations

import dataclasses
import threading
import time
from typing import Any, Callable

from fake_daemon import Connection, FakeSession, Script
from replies import CallEnd, Code, status_of
from ttfd.v1 import ttfd_pb2

OK = {"outcome": "ok"}


@dataclasses.dataclass(frozen=True)
class Scenario:
    """`points`: parameters of one run each, given what a run without disturbance counted."""

    script: Callable[..., Script]
    expect: dict[str, Any] = dataclasses.field(default_factory=lambda: OK)
    points: Callable[[dict[str, int]], list[dict[str, int]]] = lambda counts: [{}]
    lease: bool = False  # the client asks for a lease
    leave: bool = False  # the client ends the session at once after its job
    reconnect_ms: int = 20_000
    least: dict[str, int] = dataclasses.field(default_factory=dict)  # counts of the daemon, at least
    ends: bool = True  # the session must be over when the client has ended


def error(code: str, reason: str, **more: Any) -> dict[str, Any]:
    """The report of a job that ended with an error."""
    return {"outcome": "error", "code": code, "reason": reason} | more


def every(key: str, count: str, most: int = 40) -> Callable[[dict[str, int]], list[dict[str, int]]]:
    """A run for each number up to three quarters of what was counted, evenly thinned out to `most`.

    A client that has less time puts the same into fewer messages: it would not get to the last.
    """

    def points(counts: dict[str, int]) -> list[dict[str, int]]:
        last = max(1, counts[count] * 3 // 4)
        return [{key: at} for at in range(1, last + 1, max(1, last // most))]

    return points


# ---- connections that are lost


class CutReceived(Script):
    """The connection is lost after the daemon has accepted message `at`."""

    def on_received(self, session: FakeSession, connection: Connection) -> None:
        if session.received == self.numbers["at"] and self.daemon.relay.cuts == 0:
            self.daemon.relay.cut()


class CutSent(Script):
    """... after the daemon has written message `at`."""

    def on_sent(self, session: FakeSession, connection: Connection) -> None:
        if session.sent == self.numbers["at"] and self.daemon.relay.cuts == 0:
            self.daemon.relay.cut()


class CutBytes(Script):
    """... after `up` bytes to the daemon, or `down` bytes to the client, but not before the client has a session."""

    def on_received(self, session: FakeSession, connection: Connection) -> None:
        if session.received == 1 and not self.daemon.relay.cuts:
            self.daemon.relay.cut_at.update(self.numbers)


class CutOften(Script):
    """... after every fifth message the daemon accepts, unless it has accepted nothing since the last cut."""

    last = 0

    def on_received(self, session: FakeSession, connection: Connection) -> None:
        if session.received >= self.last + 5:
            self.last = session.received
            self.daemon.relay.cut()


class LostWhileAway(CutReceived):
    """The connection is lost, and the daemon no longer has the session."""

    def on_hello(self, hello: ttfd_pb2.Hello, connection: Connection) -> None:
        if hello.WhichOneof("attach") == "resume":
            raise CallEnd(Code.NOT_FOUND, "there is no such session", "SESSION_LOST")


class RefusedOnce(CutReceived):
    """The connection is lost, and the first two attempts to resume find a daemon that ends the connection."""

    def on_hello(self, hello: ttfd_pb2.Hello, connection: Connection) -> None:
        if hello.WhichOneof("attach") == "resume" and self.daemon.counts["hellos"] <= 3:
            self.daemon.relay.cut()
            raise CallEnd(Code.UNAVAILABLE, "not yet", "DRAINING")


# ---- messages that come twice, not at all, or with what the client does not know


class Duplicates(Script):
    """Every message of the daemon comes twice."""

    def on_send(self, session: FakeSession, message: ttfd_pb2.ServerMessage) -> list[ttfd_pb2.ServerMessage]:
        return [message, message]


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


class Gap(Script):
    """Message `at` of the daemon never comes."""

    def on_send(self, session: FakeSession, message: ttfd_pb2.ServerMessage) -> list[ttfd_pb2.ServerMessage]:
        return [] if message.sequence == self.numbers["at"] else [message]


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
        parsed = ttfd_pb2.ServerMessage.FromString(later)
        return [parsed]


class OldProgress(Script):
    """Progress is repeated, also with older values."""

    def on_send(self, session: FakeSession, message: ttfd_pb2.ServerMessage) -> list[ttfd_pb2.ServerMessage]:
        for position in list(message.progress):
            message.progress.add(queue=position.queue, value=max(0, position.value - 3))
            message.progress.add(queue=position.queue, value=position.value)
        return [message]


class AcksAlone(Script):
    """Between messages the daemon sends acks by themselves."""

    def on_sent(self, session: FakeSession, connection: Connection) -> None:
        connection.send(ttfd_pb2.ServerMessage(ack=session.received))
        connection.send(ttfd_pb2.ServerMessage(window_bytes=self.window(session)))


class NoAcks(CutReceived):
    """The daemon acknowledges nothing until message `at`, then the connection is lost."""

    def acks(self, session: FakeSession) -> bool:
        return session.received > self.numbers["at"]


# ---- the window and acks


class SmallWindow(Script):
    """The window holds little and opens as commands end."""

    window_bytes = 32 << 10


class LateWindow(Script):
    """The window is closed until some time after each message."""

    window_bytes = 24 << 10
    open_until = 24 << 10

    def window(self, session: FakeSession) -> int:
        return self.open_until

    def on_received(self, session: FakeSession, connection: Connection) -> None:
        def open_more() -> None:
            with self.daemon.lock:
                self.open_until = session.released + self.window_bytes
                if session.connection is not None:
                    session.connection.send(ttfd_pb2.ServerMessage(window_bytes=self.open_until))

        threading.Timer(0.005, open_more).start()


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

    return Refuse


class CommandFails(Script):
    """The third write fails with every detail an error can have."""

    writes = 0

    def on_command(self, session: FakeSession, at: tuple[int, int], command: ttfd_pb2.Command) -> Any:
        self.writes += command.HasField("write")
        if self.writes != 3 or not command.HasField("write"):
            return None
        return status_of(Code.RESOURCE_EXHAUSTED, "a write of too much", "LIMIT", retry=True, field="write.size",
                         limit="transfer_bytes", limit_value="4096", limit_used="17", hang_report="20260101T000000Z-000001")


class Terminated(Script):
    """An administrator terminates the session after message `at`."""

    def on_received(self, session: FakeSession, connection: Connection) -> None:
        if session.received == self.numbers["at"]:
            session.over = True
            raise CallEnd(Code.ABORTED, "an administrator terminated the session: test", "CANCELLED")


class Prints(Script):
    """Kernels print, and some prints were dropped."""

    def on_received(self, session: FakeSession, connection: Connection) -> None:
        if session.received == 3:
            session.waiting.append(ttfd_pb2.ServerMessage(notices=[
                {"print": {"queue": 0, "value": 1, "text": "one", "kernel": "k", "processor": 1}},
                {"print": {"queue": 0, "value": 1, "text": "four", "kernel": "k", "processor": 1, "lost": 2}}]))


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


class LeaseCut(LeaseWaits):
    """The connection is lost while the client waits: nothing can be resumed, the session never began."""

    def on_hello(self, hello: ttfd_pb2.Hello, connection: Connection) -> None:
        super().on_hello(hello, connection)
        self.daemon.relay.cut()
        raise CallEnd(Code.CANCELLED, "the connection was lost", "CANCELLED")


def byte_points(counts: dict[str, int]) -> list[dict[str, int]]:
    """Pseudo-random places, the same in every run."""
    state, points = 12345, []
    for _ in range(24):
        state = (state * 1103515245 + 12345) % 2**31
        way = "up" if state >> 16 & 1 else "down"
        points.append({way: 60 + (state >> 8) % max(1, counts[f"{way}_bytes"] - 60)})
    return points


SCENARIOS = {
    "undisturbed": Scenario(Script),
    "not-resumable": Scenario(Script, reconnect_ms=0),
    "leave": Scenario(Script, leave=True),
    "cut-after-received": Scenario(CutReceived, points=every("at", "messages"), least={"resumes": 1}),
    "cut-after-sent": Scenario(CutSent, points=every("at", "sent"), least={"resumes": 0}),
    "cut-at-byte": Scenario(CutBytes, points=byte_points),
    "cut-often": Scenario(CutOften, least={"resumes": 2}),
    "cut-without-reconnect": Scenario(CutReceived, error("UNAVAILABLE", "CONNECTION_LOST", retryable=True),
                                      points=lambda counts: [{"at": 4}], reconnect_ms=0, ends=False),
    "session-lost": Scenario(LostWhileAway, error("UNAVAILABLE", "SESSION_LOST", retryable=True),
                             points=lambda counts: [{"at": 4}], ends=False),
    "resume-refused-at-first": Scenario(RefusedOnce, points=lambda counts: [{"at": 4}], least={"resumes": 1}),
    "duplicates": Scenario(Duplicates),
    "old-messages-after-resume": Scenario(OldMessages, points=lambda counts: [{"at": counts["messages"] - 2}]),
    "gap": Scenario(Gap, error("INTERNAL", ""), points=lambda counts: [{"at": 3}], ends=False),
    "ack-of-unsent": Scenario(AckTooMuch, error("INTERNAL", ""), ends=False),
    "unknown-fields": Scenario(Unknown),
    "old-progress": Scenario(OldProgress),
    "acks-alone": Scenario(AcksAlone),
    "no-acks-then-cut": Scenario(NoAcks, points=every("at", "messages", 5), least={"resumes": 1}),
    "small-window": Scenario(SmallWindow),
    "late-window": Scenario(LateWindow),
    "small-unacknowledged": Scenario(SmallUnacknowledged),
    "hello-denied": Scenario(refuse(Code.PERMISSION_DENIED, "role submit is required", "PERMISSION_DENIED"),
                             error("PERMISSION_DENIED", "PERMISSION_DENIED", retryable=False)),
    "hello-over-limit": Scenario(
        refuse(Code.RESOURCE_EXHAUSTED, "too many sessions", "LIMIT", limit="sessions_per_user", limit_value="16",
               limit_used="16", field="hello"),
        error("RESOURCE_EXHAUSTED", "LIMIT", limit="sessions_per_user", limit_value=16, limit_used=16, field="hello")),
    "hello-revision": Scenario(refuse(Code.FAILED_PRECONDITION, "revision 1 is not spoken", "UNSUPPORTED"),
                               error("FAILED_PRECONDITION", "UNSUPPORTED")),
    "command-fails": Scenario(CommandFails, error(
        "RESOURCE_EXHAUSTED", "LIMIT", field="write.size", limit="transfer_bytes", limit_value=4096, limit_used=17,
        hang_report="20260101T000000Z-000001", retryable=True, execution_state="NOT_STARTED"), leave=True),
    "terminated": Scenario(Terminated, error("ABORTED", "CANCELLED"), points=lambda counts: [{"at": 4}]),
    "prints": Scenario(Prints),
    "lease": Scenario(LeaseWaits, lease=True),
    "lease-times-out": Scenario(LeaseTimesOut, error("DEADLINE_EXCEEDED", "DEADLINE"), lease=True),
    "lease-cut-while-waiting": Scenario(LeaseCut, {"outcome": "error"}, lease=True, ends=False),
}
