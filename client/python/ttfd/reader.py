"""The calls of a session, one after another, and the thread that reads them. Used by ttfd.connection only."""

from __future__ import annotations

import threading
import time
from typing import Mapping, Protocol

import grpc

from ttfd import errors
from ttfd.errors import Code, Error
from ttfd.link import ACK_S
from ttfd.reconnect import ReconnectState, is_lost
from ttfd.stream import Stream
from ttfd.v1 import ttfd_pb2

LEAVE_S = 2.0  # until the daemon has ended a session that is left


class Receiver(Protocol):
    """The session, as the reading thread needs it."""

    def call_back(self, message: ttfd_pb2.ServerMessage) -> None:
        """Calls the user's callbacks for a message, before it is accepted. Without the lock."""

    def accept(self, message: ttfd_pb2.ServerMessage, encoded_bytes: int) -> None:
        """Takes a message. The lock is held. Raises Error for what breaks the protocol."""

    def idle_ack(self) -> bytes | None:
        """An acknowledgement that is due. On gRPC's thread, once nothing has been sent for a while."""

    def received(self) -> int:
        """Sequence of the last message accepted. The lock is held."""

    def commands_completed(self) -> int:
        """Of all queues. The lock is held."""

    def over(self, end: Error | None) -> None:
        """No call follows. None: the last one ended with OK. Without the lock."""


class Reader:
    """Makes a connection again when it is lost. `news` is the session's condition, whose lock guards the fields."""

    def __init__(self, address: str, tls: Mapping[str, str] | None, hello: ttfd_pb2.Hello, reconnect_for: float,
                 news: threading.Condition, session: Receiver) -> None:
        self.connected = False  # between a Welcome and the connection's loss
        self.left = False  # the client ends the session at once
        self.reconnects = 0
        self._address = address
        self._tls = tls
        self._hello = hello
        self._news = news
        self._session = session
        self._reconnect = ReconnectState(reconnect_for)
        self._welcomed = False
        self._stream: Stream  # since start
        self._thread = threading.Thread(target=self._read, name="ttfd-session", daemon=True)

    def start(self) -> None:
        """Makes the first call and starts the thread. Raises for TLS files that cannot be used."""
        self._stream = self._call()
        self._thread.start()

    def welcomed(self, welcome: ttfd_pb2.Welcome) -> None:
        """A Welcome has come on the present call. The lock is held."""
        if self._welcomed:
            self.reconnects += 1
            self._reconnect.connected(time.monotonic(), self._session.commands_completed())
        self._welcomed = self.connected = True
        self._hello.resume.session = welcome.session
        self._hello.resume.token = welcome.token

    def send(self, encoded: bytes) -> None:
        """Sends on the present connection; without one the message is resent with the others later. The lock is held."""
        if self.connected:
            self._stream.send(encoded)

    def linger(self) -> None:
        """idle_ack is to be called once nothing has been sent for a while. The lock is held."""
        self._stream.linger()

    def stop(self, timeout: float) -> None:
        """Ends the present call, and waits for the thread unless it is this one."""
        with self._news:
            stream = self._stream
        stream.cancel()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def _call(self) -> Stream:
        return Stream(self._address, self._tls, ttfd_pb2.ClientMessage(hello=self._hello), self._session.idle_ack, ACK_S)

    def _read(self) -> None:
        end: Error | None = Error(Code.INTERNAL, "the thread of this session has failed; standard error has its traceback")
        try:
            end = self._read_call()
            while is_lost(end) and self._may_reconnect():
                end = self._resume()
        finally:
            self._session.over(end)
            self._stream.close()

    def _may_reconnect(self) -> bool:
        """Waits until it is time for another attempt; False: there is none."""
        with self._news:
            self.connected = False
            if not self._welcomed or self._reconnect.timeout == 0:
                return False
            self._reconnect.lost(time.monotonic(), self._session.commands_completed())
            delay = self._reconnect.next_delay(time.monotonic())
            if delay is None:
                return False
            self._news.wait_for(lambda: self.left, delay)
            if self.left:  # the last attempt, at once: a closing client does not wait for a daemon that is away
                self._reconnect.timeout = 0
            return True

    def _resume(self) -> Error | None:
        """Makes another connection; how it ended, as _read_call."""
        with self._news:
            self._hello.resume.received = self._session.received()
        self._stream.close()
        try:
            stream = self._call()
        except Error as wrong:  # its certificate may just be being renewed
            return Error(Code.UNAVAILABLE, wrong.message, reason="UNREACHABLE", retryable=True)
        with self._news:
            self._stream = stream
        # The peer may accept the connection and never answer.
        seconds = LEAVE_S if self.left else max(0.0, self._reconnect.until - time.monotonic())
        late = threading.Event()

        def give_up() -> None:
            with self._news:
                if not self.connected:
                    late.set()
            if late.is_set():
                stream.cancel()

        timer = threading.Timer(seconds, give_up)
        timer.daemon = True
        timer.start()
        end = self._read_call()
        timer.cancel()
        if late.is_set():
            return Error(Code.UNAVAILABLE, f"no ttfd daemon answered at {self._address} within {seconds} s",
                         reason="UNREACHABLE", retryable=True)
        return end

    def _read_call(self) -> Error | None:
        """Until the call ends; how, None: with OK."""
        try:
            for message, size in self._stream.received():
                self._session.call_back(message)
                try:
                    with self._news:
                        self._session.accept(message, size)
                        self._news.notify_all()
                except Error as wrong:
                    self._stream.cancel()  # without the lock: gRPC has locks and threads of its own
                    return wrong
                except (LookupError, ValueError) as wrong:  # or callers would wait for ever
                    self._stream.cancel()
                    return Error(Code.INTERNAL, f"the daemon sent what this session cannot have: {wrong!r}")
            return None
        except grpc.RpcError as failure:
            return errors.from_grpc(failure, self._address, self._welcomed)
        except ValueError:  # the channel was closed by abandon
            return Error(Code.CANCELLED, "the session was closed")
