"""What a session keeps to go on after its connection broke. Used by ttfd.connection only, under its lock."""

from __future__ import annotations

import queue
import threading
import time
from typing import Callable, Iterable, Iterator, NamedTuple

import grpc

from ttfd import errors, prints
from ttfd.attach import lease_wait
from ttfd.channel import make_channel
from ttfd.errors import Code, Error
from ttfd.v1 import ttfd_pb2, ttfd_pb2_grpc

_ERRORS_UNRECEIPTED = 128  # the daemon keeps so many for a client that does not say that it has them
_BACKOFF_S = (0.01, 1.0)  # of attempts to come back: the first, the longest
_LOST = ("CONNECTION_LOST", "UNREACHABLE")
_FEW = 64  # entries that are looked at in their order only
_OWNED = {"allocate": "buffer", "load_kernel": "kernel", "create_program": "program", "record_trace": "trace"}


class _Entry(NamedTuple):
    message: ttfd_pb2.ClientMessage
    commands: dict[int, int]  # the last of each queue
    payload: dict[int, int]  # whose it carries apart from them
    payload_bytes: int
    payload_end: int


class SentLog:
    """The messages that the daemon may not have received; what it has had before, it skips."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._sweep_at = _FEW

    def add(self, message: ttfd_pb2.ClientMessage, payload_bytes: int, payload_end: int) -> None:
        """`payload_end`: bytes of payload that this connection has sent, with the `payload_bytes` of this message."""
        commands: dict[int, int] = {}
        payload: dict[int, int] = {}
        for batch in message.batches:
            commands[batch.queue] = max(commands.get(batch.queue, 0), batch.first_value + len(batch.commands) - 1)
        for cancel in message.cancels:
            commands[cancel.queue] = max(commands.get(cancel.queue, 0), cancel.sent_value)
        for data in message.data:
            payload[data.queue] = max(payload.get(data.queue, 0), data.value)
        if commands or payload:
            self._entries.append(_Entry(message, commands, payload, payload_bytes, payload_end))

    def forget(self, ended: Callable[[int, int], bool], payload_received: int) -> None:
        """Drops what the daemon cannot need again: commands have ended, and of the payload nothing is missing."""

        def done(entry: _Entry) -> bool:
            return all(ended(*item) for item in entry.commands.items()) and (
                entry.payload_end <= payload_received or all(ended(*item) for item in entry.payload.items()))

        first = 0
        while first < len(self._entries) and done(self._entries[first]):
            first += 1
        del self._entries[:first]
        if len(self._entries) >= self._sweep_at:  # a queue that stands still must not keep the messages of others
            self._entries = [entry for entry in self._entries if not done(entry)]
            self._sweep_at = max(_FEW, 2 * len(self._entries))

    def send_again(self) -> tuple[Iterable[ttfd_pb2.ClientMessage], int]:
        """All of them, in the order in which they were sent, for another connection; with how much payload that is."""
        sent = 0
        for index, entry in enumerate(self._entries):
            sent += entry.payload_bytes
            self._entries[index] = entry._replace(payload_end=sent)
        return [entry.message for entry in self._entries], sent


def owned_kind(command: ttfd_pb2.Command) -> tuple[int, str] | None:
    """Handle and kind of what the command makes."""
    op = command.WhichOneof("op")
    return (getattr(command, op).handle, _OWNED[op]) if op in _OWNED else None


def loss(end: Error, address: str, owned: Iterable[str], unanswered: int) -> Error:
    """The end of a session that was lost, with what is gone."""
    owned = list(owned)
    counts = [(owned.count(kind), kind) for kind in _OWNED.values()]
    gone = "gone: " + "".join(f"{count} {kind}{'' if count == 1 else 's'}, " for count, kind in counts)
    gone += f"{unanswered} command{'' if unanswered == 1 else 's'} without an answer"
    if end.reason == "SESSION_LOST":
        return Error(Code.UNAVAILABLE, f"the daemon at {address} does not have this session any more: it was started again, "
                     f"or the connection was away for too long; {gone}", reason=end.reason, retryable=True)
    if end.reason in ("UNREACHABLE", "CONNECTION_LOST"):
        return Error(Code.UNAVAILABLE, f"the connection to the daemon at {address} was lost and could not be made again; {gone}",
                     reason="CONNECTION_LOST", retryable=True)
    if end.code == Code.UNAVAILABLE:
        return Error(end.code, f"{end.message}; {gone}", reason=end.reason, retryable=True)
    return end


class Reconnecting:
    """The part of a Connection that finds its way back, and says what it has received."""

    @staticmethod
    def _requests(messages: queue.SimpleQueue[ttfd_pb2.ClientMessage | None]) -> Iterator[ttfd_pb2.ClientMessage]:
        while (message := messages.get()) is not None:
            yield message

    def _read(self) -> None:
        end = self._read_call()
        while self._lost_connection(end):
            end = self._come_back(end)
        if self._left and end is not None and end.reason in _LOST and self.reconnect_for > 0 and self.welcome is not None:
            # Else the daemon would keep the session for a client that may come back. Once: it may be away.
            with self.news:
                end = self._greet_again()
            end = end or self._read_call()
        with self.news:
            if end is not None and self.welcome is not None:
                unanswered = sum(timeline.submitted - timeline.completed for timeline in self._timelines)
                done = self._closing and end.reason == "SESSION_LOST" and not unanswered  # only the goodbye was lost
                end = None if done else loss(end, self.address, self._owned.values(), unanswered)
            self._ended = True
            self._end = self._end or end
            self.news.notify_all()
        self._messages.put(None)

    def _read_call(self) -> Error | None:
        try:
            for message in self._call:
                for notice in message.notices:
                    if notice.HasField("print"):
                        prints.tell(self.on_print, notice.print)
                    if notice.HasField("waiting") and self._on_waiting:
                        self._on_waiting(lease_wait(notice.waiting))
                with self.news:
                    try:
                        self._handle(message)
                    except (LookupError, ValueError) as wrong:  # or whoever waits would wait for ever
                        self._call.cancel()
                        return Error(Code.INTERNAL, f"the daemon told what this session cannot know: {wrong!r}")
                    self.news.notify_all()
            return None if self._closing else Error(Code.UNAVAILABLE, "the daemon has ended this session")
        except grpc.RpcError as failure:
            return errors.from_grpc(failure, self.address, self.welcome is not None)
        except ValueError:  # the channel was closed by abandon
            return Error(Code.CANCELLED, "the session was closed")

    def _lost_connection(self, end: Error | None) -> bool:
        return (end is not None and end.reason in _LOST and self.reconnect_for > 0
                and self.welcome is not None and not self._left)

    def _come_back(self, end: Error) -> Error | None:
        """Resumes the session; returns how it ended then, or how the last attempt did."""
        backoff = _BACKOFF_S[0]
        deadline = time.monotonic() + self.reconnect_for
        while self._lost_connection(end) and time.monotonic() < deadline:
            resumed = self.reconnects
            with self.news:
                end = self._greet_again()
            # Somebody may listen who never answers.
            timer = threading.Timer(deadline - time.monotonic(),
                                    lambda call=self._call: call.cancel() if self._resuming else None)
            timer.daemon = True
            timer.start()
            completed = sum(timeline.completed for timeline in self._timelines)
            began = time.monotonic()
            end = end or self._read_call()
            timer.cancel()
            if self.reconnects != resumed and (time.monotonic() - began > _BACKOFF_S[1]
                                               or sum(timeline.completed for timeline in self._timelines) != completed):
                return end  # it went on for a while: the next loss is another one
            with self.news:
                self.news.wait_for(lambda: self._left, min(backoff, max(0.0, deadline - time.monotonic())))
            backoff = min(2 * backoff, _BACKOFF_S[1])
        if self._lost_connection(end):
            self.reconnect_for = 0.0
        return end

    def _greet_again(self) -> Error | None:
        """On a connection of its own; returns what is in the way: its certificate may just be being renewed."""
        try:
            channel = make_channel(self.address, self._tls)
        except Error as wrong:
            return Error(Code.UNAVAILABLE, wrong.message, reason="UNREACHABLE", retryable=True)
        self._resuming = True
        self._messages.put(None)
        self._messages = queue.SimpleQueue()
        message = ttfd_pb2.ClientMessage()
        hello = message.hello
        hello.CopyFrom(self._hello)
        hello.resume.session = self.welcome.session
        hello.resume.token = self._token
        hello.resume.received_prints = self._prints
        for queue_id, timeline in enumerate(self._timelines):
            timeline.receipted = 0
            timeline.add_receipts(queue_id, True, hello.resume.received, hello.resume.received_data)
        self._unreceipted = [0, 0]
        if self._left:
            message.ending = ttfd_pb2.ENDING_LEAVE
        self._messages.put(message)
        self._channel.close()
        self._channel = channel
        self._call = ttfd_pb2_grpc.TtfdStub(self._channel).Session(self._requests(self._messages))
        return None

    def _resumed(self, credit: ttfd_pb2.Credit) -> None:
        self._resuming = False
        self.reconnects += 1
        # Nobody knows which bytes were lost with the old connection: both sides count those of the new one.
        messages, self._sent_bytes = self._sent.send_again()
        self._credit.bytes = credit.bytes
        self._credit.commands = max(self._credit.commands, credit.commands)
        for message in messages:
            self._messages.put(message)
        if self._closing:
            self._finish()

    def _owe(self, queue_id: int, value: int) -> None:
        self._timelines[queue_id].owed = max(self._timelines[queue_id].owed, value)

    def _tell_receipts(self) -> None:
        if self._unreceipted[0] >= self._windows[1] // 4 or self._unreceipted[1] >= _ERRORS_UNRECEIPTED:
            message = ttfd_pb2.ClientMessage()
            self._add_receipts(message)
            self._messages.put(message)

    def _add_receipts(self, message: ttfd_pb2.ClientMessage) -> None:
        for queue_id, timeline in enumerate(self._timelines):
            timeline.add_receipts(queue_id, self._closing, message.received, message.received_data)
        self._unreceipted = [0, 0]

    def _finish(self) -> None:
        # A lost connection looks like a half-close, so the end of a session that can be resumed is said in words.
        message = ttfd_pb2.ClientMessage()
        if self.reconnect_for:
            message.ending = ttfd_pb2.ENDING_FINISH
            self._messages.put(message)
            self._tell_end()
        else:
            self._messages.put(None)

    def _tell_end(self) -> None:
        # The daemon ends the call when it knows that everything was received.
        if self._closing and not self._resuming and all(t.completed == t.submitted for t in self._timelines):
            message = ttfd_pb2.ClientMessage()
            self._add_receipts(message)
            if message.received:
                self._messages.put(message)
