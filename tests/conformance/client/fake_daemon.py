"""A scripted daemon for client libraries.

It serves ttfd.v1.DeviceService on a unix socket, keeps every rule of the API itself, executes commands in memory, and
disturbs the client as a script says. It shares no code with a client: it counts what the API has it count.
"""

from __future__ import annotations

import collections
import concurrent.futures
import os
import queue
import threading
from typing import Any, Callable, Iterator

import grpc

from fake_session import FakeSession
from relay import Relay
from replies import CallEnd, Code
from ttfd.google_rpc import status_pb2
from ttfd.v1 import ttfd_pb2

_END = object()


class Script:
    """What a scenario changes: nothing. `numbers` are its parameters. The daemon's lock is held in every method."""

    window_bytes = 1 << 20
    unacknowledged_bytes = 4 << 20
    window_sent = 0  # the greatest window that was advertised

    def __init__(self, daemon: FakeDaemon, numbers: dict[str, int]) -> None:
        self.daemon = daemon
        self.numbers = numbers

    def on_hello(self, hello: ttfd_pb2.Hello, connection: Connection) -> None:
        """May raise CallEnd, or send notices."""

    def on_resume(self, session: FakeSession, connection: Connection) -> None:
        """The session has another token and no connection; Welcome follows. May raise CallEnd."""

    def accepts(self, session: FakeSession, message: ttfd_pb2.ClientMessage) -> bool:
        """Whether the daemon takes a message; it is lost with the connection otherwise."""
        return True

    def on_received(self, session: FakeSession, connection: Connection | None) -> None:
        """A numbered message was accepted and executed, and is not answered yet; `session.received` is its sequence."""

    def executes(self, session: FakeSession) -> bool:
        """Whether commands may start now, or wait for session.execute_ready."""
        return True

    def on_open(self, open_queue: ttfd_pb2.OpenQueue) -> status_pb2.Status | None:
        """A queue's error."""

    def on_command(self, session: FakeSession, at: tuple[int, int], command: ttfd_pb2.Command) -> status_pb2.Status | object | None:
        """Before a command is executed: its error, or HOLD."""

    def sends(self, session: FakeSession) -> bool:
        """Whether numbered messages may be sent now."""
        return True

    def on_send(self, session: FakeSession, message: ttfd_pb2.ServerMessage) -> list[ttfd_pb2.ServerMessage]:
        """A message that has been numbered: what is sent in its place on this connection."""
        return [message]

    def on_sent(self, session: FakeSession, connection: Connection) -> None:
        """A numbered message was sent; `session.sent` is its sequence."""

    def window(self, session: FakeSession) -> int:
        """What the client may have sent in total."""
        return session.released + self.window_bytes

    def advertise(self, session: FakeSession) -> int:
        """The window to put into a message."""
        self.window_sent = max(self.window_sent, self.window(session))
        return self.window_sent

    def acks(self, session: FakeSession) -> bool:
        """Whether the daemon acknowledges now."""
        return True


class Connection:
    """One call."""

    def __init__(self) -> None:
        self.replies: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def send(self, message: ttfd_pb2.ServerMessage) -> None:
        self.replies.put(message.SerializeToString())

    def end(self, how: CallEnd | None) -> None:
        self.replies.put(how or _END)


class FakeDaemon:
    """Sessions, and what was seen. One lock for all of it."""

    def __init__(self, path: str, make_script: Callable[[FakeDaemon, dict[str, int]], Script], numbers: dict[str, int]) -> None:
        self.lock = threading.RLock()
        self.violations: list[str] = []
        self.counts: collections.Counter[str] = collections.Counter()
        self.sessions: dict[int, FakeSession] = {}
        self.script = make_script(self, numbers)
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(16))
        self.server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(
            "ttfd.v1.DeviceService", {"Session": grpc.stream_stream_rpc_method_handler(self.session)})])
        inner = path + ".inner"
        self.server.add_insecure_port("unix:" + inner)
        self.server.start()
        self.relay = Relay(path, inner)

    def count(self, what: str) -> None:
        self.counts[what] += 1

    def violation(self, text: str) -> CallEnd:
        self.violations.append(text)
        return CallEnd(Code.INVALID_ARGUMENT, text)

    def later(self, seconds: float, what: Callable[[], None]) -> None:
        """Calls `what` with the lock held, unless the run is over by then."""

        def run() -> None:
            with self.lock:
                what()

        timer = threading.Timer(seconds, run)
        timer.daemon = True
        timer.start()

    def session(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        connection = Connection()
        threading.Thread(target=self.read, args=(requests, connection), daemon=True).start()
        if not context.add_callback(lambda: connection.replies.put(_END)):
            return  # the connection is lost already
        while (reply := connection.replies.get()) is not _END:
            if isinstance(reply, CallEnd):
                context.set_trailing_metadata((("grpc-status-details-bin", reply.details),))
                context.abort(reply.code, reply.message)
            yield reply

    def read(self, requests: Iterator[bytes], connection: Connection) -> None:
        session = None
        try:
            first = ttfd_pb2.ClientMessage.FromString(next(requests))
            with self.lock:
                session = self.handle_hello(first, connection)
            for encoded in requests:
                with self.lock:
                    if session.connection is connection and not session.over:
                        session.receive(encoded)
        except CallEnd as end:
            if session is not None:
                session.ended_with_details = True
            connection.end(end)
        except (grpc.RpcError, StopIteration):  # the connection was lost
            pass
        except Exception as wrong:  # pylint: disable=broad-exception-caught
            self.violations.append(f"the fake daemon failed: {wrong!r}")
            connection.end(CallEnd(Code.INTERNAL, repr(wrong)))
        with self.lock:
            if session is not None and session.connection is connection:
                session.connection = None
                if not session.over:
                    self.count("losses")

    def handle_hello(self, first: ttfd_pb2.ClientMessage, connection: Connection) -> FakeSession:
        if not first.HasField("hello"):
            raise self.violation("the first message of a call has no Hello")
        if len(first.ListFields()) != 1:
            raise self.violation("Hello is not alone in its message")
        hello = first.hello
        self.count("hellos")
        self.script.on_hello(hello, connection)
        if hello.WhichOneof("attach") != "resume":
            if self.sessions:
                raise self.violation("a second session was opened")
            session = FakeSession(self, len(self.sessions) + 1, hello)
            self.sessions[session.number] = session
            session.attach(connection, None)
            return session
        session = self.sessions.get(hello.resume.session)
        if session is not None and session.ended_with_details:
            raise self.violation("a resume of a session that the daemon has ended, saying why")
        if session is None or session.over or not session.resumable or hello.resume.token not in session.tokens:
            raise CallEnd(Code.NOT_FOUND, "there is no such session", "SESSION_LOST")
        session.tokens.append(os.urandom(16))
        self.script.on_resume(session, connection)
        self.count("resumes")
        session.attach(connection, hello.resume)
        return session

    def unended(self) -> list[int]:
        """Sessions that are not over."""
        with self.lock:
            return [session.number for session in self.sessions.values() if not session.over]

    def summary(self) -> dict[str, int]:
        """What was counted."""
        with self.lock:
            return dict(self.counts) | {f"{way}_bytes": count for way, count in self.relay.passed.items()}

    def close(self) -> None:
        self.relay.close()
        self.server.stop(None)
