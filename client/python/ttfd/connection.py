"""The Session stream: what goes out, what has come in. Used by ttfd.session only."""

from __future__ import annotations

import queue
import threading
from typing import Callable, Mapping

from ttfd import errors, prints
from ttfd.attach import fill_attach, priority_number
from ttfd.channel import make_channel
from ttfd.errors import Code, Error
from ttfd.resume import Reconnecting, SentLog, owned_kind
from ttfd.timeline import Timeline
from ttfd.types import KernelPrint, Lease, LeaseWait, Position
from ttfd.v1 import ttfd_pb2, ttfd_pb2_grpc

CONTROL_QUEUE = 0  # creation and freeing of resources, so that their errors touch no queue of the user
FIRST_USER_QUEUE = 1
_REVISION = 1
_MESSAGE_BYTES = 512 << 10  # a message is sent once it holds as much
_MAX_ERRORS = 256  # of one queue, kept for those who ask late
_LEAVE_S = 2.0  # for the daemon to hear that the session is left


class Connection(Reconnecting):
    """One attachment of one session. Thread-safe; a thread of its own reads what the daemon sends."""

    def __init__(self, address: str, client_name: str, weight: int, priority: str, connect_timeout: float,
                 call_timeout: float, batch_commands: int, tls: Mapping[str, str] | None = None,
                 lease: Lease | None = None, lease_token: str | None = None,
                 on_waiting: Callable[[LeaseWait], None] | None = None, reconnect_for: float = 0.0,
                 first_handle: int = 1) -> None:
        self.address = address
        self._tls = tls
        self.reconnect_for = reconnect_for
        self.reconnects = 0
        self._resuming = False  # until the daemon's next Welcome
        self._left = False
        self._token = b""
        self._prints = 0  # received, and told as lost
        self._unreceipted = [0, 0]  # bytes of data, errors
        self._windows = (0, 1 << 62)  # of payload sent, of data received
        self._sent = SentLog()
        self._owned: dict[int, str] = {}
        self.lease_token = ""
        self._on_waiting = on_waiting
        self._waits_for_lease = False
        self.call_timeout = call_timeout
        self.welcome: ttfd_pb2.Welcome | None = None
        self.on_print: Callable[[KernelPrint], None] | None = prints.write_to_stderr
        self.news = threading.Condition()  # its lock guards everything below
        self._batch_commands = max(1, batch_commands)
        self._timelines: list[Timeline] = [Timeline(), Timeline()]
        self._end: Error | None = None
        self._ended = False
        self._closing = False
        self._first_handle = self._next_handle = first_handle
        self._recording: set[int] = set()  # queues with half a trace on its way out
        self._frees: list[tuple[int, int]] = []  # (value, handle) of frees under way
        self._outgoing = ttfd_pb2.ClientMessage()
        self._outgoing_commands = 0
        self._outgoing_bytes = 0
        self._outgoing_payload = 0
        self._sent_commands = 0
        self._sent_bytes = 0  # of payload, with this connection
        self._credit = ttfd_pb2.Credit()
        self._messages: queue.SimpleQueue[ttfd_pb2.ClientMessage | None] = queue.SimpleQueue()
        self.chunk_bytes = 256 << 10

        greeting = ttfd_pb2.ClientMessage()
        self._hello = hello = greeting.hello
        fill_attach(hello, lease, lease_token)
        self._channel = make_channel(address, tls)
        hello.min_revision = hello.max_revision = _REVISION
        hello.client_name = client_name
        hello.weight = weight
        hello.priority = priority_number(priority)
        hello.resume_grace_ms = round(reconnect_for * 1000)
        self._messages.put(greeting)
        with self.news:
            open_queue = self._append(CONTROL_QUEUE, ttfd_pb2.Command())
            open_queue.open_queue.queue = FIRST_USER_QUEUE
            self._send()
            self._call = ttfd_pb2_grpc.TtfdStub(self._channel).Session(self._requests(self._messages))
            threading.Thread(target=self._read, name="ttfd-session", daemon=True).start()
            # Somebody answers at once, if only that the lease has to be waited for. The daemon bounds that.
            if self._await(lambda: self.welcome is not None or self._waits_for_lease, connect_timeout):
                self._await(lambda: self.welcome is not None, None)
            if self.welcome is None:
                end = self._end
                self.abandon()
                raise end or Error(Code.UNAVAILABLE, f"no ttfd daemon answered at {address} within {connect_timeout} s",
                                   reason="UNREACHABLE", retryable=True)

    # ---- On the reading thread.

    def _handle(self, message: ttfd_pb2.ServerMessage) -> None:
        for notice in message.notices:
            if notice.HasField("waiting"):
                self._waits_for_lease = True
            elif notice.HasField("print"):
                self._prints += 1 + notice.print.lost
                self._owe(notice.print.queue, notice.print.value)
            elif notice.HasField("lease_token"):
                self.lease_token = notice.lease_token.hex()
        if message.HasField("welcome"):
            self._token = message.welcome.token
            if self._resuming:
                self._resumed(message.welcome.credit)
        if message.HasField("welcome") and self.welcome is None:
            self.welcome = message.welcome
            self._credit = message.welcome.credit
            limits = message.welcome.limits
            self._windows = (self._credit.bytes, self._credit.read_bytes or 1 << 62)
            # One message must fit into the credit of an idle session, which may be told late.
            half = self._credit.bytes // 2
            self.chunk_bytes = min(value for value in (self.chunk_bytes, limits.chunk_bytes, half) if value)
            if limits.commands_per_batch:
                self._batch_commands = min(self._batch_commands, limits.commands_per_batch)
            if self._credit.commands:
                self._batch_commands = max(1, min(self._batch_commands, self._credit.commands // 2))
        for data in message.data:
            self._accept(data)
        for error in message.errors:
            timeline = self._timelines[error.queue]
            self._owe(error.queue, error.last_value)
            self._unreceipted[1] += 1
            known = [index for index, entry in enumerate(timeline.errors) if entry[0] == error.first_value]
            if known:  # told once more, and perhaps further
                del timeline.errors[known[0]]
            if len(timeline.errors) == _MAX_ERRORS:
                del timeline.errors[1]  # the first one explains the others
            timeline.errors.append((error.first_value, max(error.first_value, error.last_value),
                                    errors.from_proto(error.error)))
        for position in message.progress:
            self._advance(position.queue, position.value)
        if message.HasField("credit"):
            self._credit.commands = max(self._credit.commands, message.credit.commands)
            self._credit.bytes = max(self._credit.bytes, message.credit.bytes)
        if self.reconnect_for:
            self._sent.forget(lambda queue_id, value: self._timelines[queue_id].completed >= value,
                              self._credit.bytes - self._windows[0])
            self._tell_receipts()
            self._tell_end()

    def _accept(self, data: ttfd_pb2.Data) -> None:
        self._owe(data.queue, data.value)
        self._unreceipted[0] += len(data.payload)
        self._timelines[data.queue].accept(data.value, data.offset, data.payload)

    def _advance(self, queue_id: int, value: int) -> None:
        timeline = self._timelines[queue_id]
        timeline.advance(value)
        if queue_id == CONTROL_QUEUE:
            self._retire_frees(timeline)

    def _retire_frees(self, timeline: Timeline) -> None:
        # A Free that was given up because a creation before it failed is said again.
        done = [entry for entry in self._frees if entry[0] <= timeline.completed]
        self._frees = self._frees[len(done):]
        for value, handle in done:
            error = timeline.outcome(value) if timeline.errors else None
            if error is not None and error.code == Code.ABORTED:
                timeline.clear()
                self._append_free(handle)

    # ---- Sending. The lock is held.

    def _append_free(self, handle: int) -> None:
        command = ttfd_pb2.Command()
        command.free.handles.append(handle)
        self._append(CONTROL_QUEUE, command)
        self._frees.append((self._timelines[CONTROL_QUEUE].submitted, handle))

    def _append(self, queue_id: int, command: ttfd_pb2.Command, size: int = 64, payload: int = 0) -> ttfd_pb2.Command:
        timeline = self._timelines[queue_id]
        timeline.submitted += 1
        batches = self._outgoing.batches
        last = batches[-1] if batches else None
        if (last is None or last.queue != queue_id or timeline.waits or timeline.clears_error
                or len(last.commands) >= self._batch_commands):
            last = batches.add(queue=queue_id, first_value=timeline.submitted, clears_error=timeline.clears_error)
            for position in timeline.waits:
                last.waits.add(queue=position.queue, value=position.value)
            timeline.waits, timeline.clears_error = [], 0
        last.commands.append(command)
        self._outgoing_commands += 1
        self._outgoing_bytes += size + payload
        self._outgoing_payload += payload
        return last.commands[-1]

    def _idle(self) -> bool:
        return sum(timeline.completed for timeline in self._timelines) == self._sent_commands

    def _credit_allows(self, commands: int, payload: int) -> bool:
        # Exceeding credit is no error, so a session with nothing under way may always send.
        return self.welcome is None or self._idle() or (
            self._sent_commands + commands <= self._credit.commands and self._sent_bytes + payload <= self._credit.bytes)

    def _send(self) -> None:
        """Sends what has gathered; waits for credit."""
        if self._outgoing_commands == 0 and self._outgoing_bytes == 0:
            return
        if not self._await(lambda: self._credit_allows(self._outgoing_commands, self._outgoing_payload),
                           self.call_timeout):
            raise self._end or Error(Code.DEADLINE_EXCEEDED, "the daemon has given no credit to send more",
                                     reason="WAIT", retryable=True)
        if self._outgoing_bytes == 0:
            return  # another thread has sent it meanwhile
        self._sent_commands += self._outgoing_commands
        self._sent_bytes += self._outgoing_payload
        if self.reconnect_for:
            self._sent.add(self._outgoing, self._outgoing_payload, self._sent_bytes)
            if not self._resuming:  # else it is sent with the others
                message = ttfd_pb2.ClientMessage()
                message.CopyFrom(self._outgoing)
                self._add_receipts(message)
                self._messages.put(message)
        else:
            self._messages.put(self._outgoing)
        self._outgoing = ttfd_pb2.ClientMessage()
        self._outgoing_commands = self._outgoing_bytes = self._outgoing_payload = 0

    def _await(self, done: Callable[[], bool], timeout: float | None) -> bool:
        self.news.wait_for(lambda: done() or self._ended, timeout)
        return done() and not self._ended

    def _await_turn(self, queue_id: int) -> None:
        # Nothing may come between the pieces of a trace.
        self._await(lambda: queue_id not in self._recording, self.call_timeout)
        self._check_alive()
        if queue_id in self._recording:
            raise Error(Code.DEADLINE_EXCEEDED, "another thread is still recording a trace on this queue", reason="WAIT",
                        retryable=True)

    def _check_alive(self) -> None:
        if self._ended or self._closing:
            raise self._end or Error(Code.CANCELLED, "the session was closed")

    # ---- What the session calls.

    def new_handle(self) -> int:
        """A number no resource of this session has had."""
        with self.news:
            self._next_handle += 1
            return self._next_handle - 1

    def new_queue(self) -> int:
        """The number of a queue that can be opened."""
        with self.news:
            self._timelines.append(Timeline())
            return len(self._timelines) - 1

    def enqueue(self, queue_id: int, command: ttfd_pb2.Command, size: int = 64, payload: int = 0,
                into: memoryview | None = None) -> Position:
        """Adds a command of about `size` bytes besides its inline `payload`; it leaves when enough have gathered, or at flush.

        `into` receives a Read's bytes.
        """
        with self.news:
            self._await_turn(queue_id)
            timeline = self._timelines[queue_id]
            if into is not None:
                timeline.reads[timeline.submitted + 1] = (into, 0)
            self._append(queue_id, command, size, payload)
            position = Position(queue_id, timeline.submitted)
            if self._outgoing_commands >= self._batch_commands or self._outgoing_bytes >= _MESSAGE_BYTES:
                self._send()
            return position

    def record(self, queue_id: int, handle: int, commands: list[ttfd_pb2.Command]) -> None:
        """The commands that record a trace, with nothing between them whatever other threads do; waited for."""
        with self.news:
            self._await_turn(queue_id)
            first = self._timelines[queue_id].submitted + 1
            self._recording.add(queue_id)
            try:
                for command in commands:
                    if self._outgoing_bytes >= _MESSAGE_BYTES:
                        self._send()
                    self._append(queue_id, command, 64 + command.ByteSize())
            except Error:
                # No more credit. Half a trace would go on in the next one, so it is ended.
                if not self._ended:
                    end = ttfd_pb2.Command()
                    end.record_trace.handle = handle
                    self._append(queue_id, end)
                    self._append_free(handle)
                raise
            finally:
                self._recording.discard(queue_id)
                self.news.notify_all()
        for value in range(first, first + len(commands)):
            self.finish_call(Position(queue_id, value))
        self.own(commands[0])

    def supply(self, position: Position, payload: memoryview) -> None:
        """Sends the payload of a streamed command in chunks."""
        for offset in range(0, len(payload), self.chunk_bytes):
            chunk = payload[offset:offset + self.chunk_bytes]
            with self.news:
                self._check_alive()
                self._send()
                if self._timelines[position.queue].completed >= position.value:
                    return  # refused already: nobody waits for the rest
                self._outgoing.data.add(queue=position.queue, value=position.value, offset=offset, payload=bytes(chunk))
                self._outgoing_bytes += len(chunk)
                self._outgoing_payload += len(chunk)
                self._send()

    def flush(self) -> None:
        """Sends what has gathered."""
        with self.news:
            self._check_alive()
            self._send()

    def wait(self, position: Position, timeout: float | None = None) -> Error | None:
        """Waits for the command at `position`; the error it ended with, or None. Raises when it has not ended."""
        limit = self.call_timeout if timeout is None else timeout
        with self.news:
            timeline = self._timelines[position.queue]
            if position.value > timeline.submitted:
                raise Error(Code.INVALID_ARGUMENT, f"no command of this session has position {position.value} of queue "
                            f"{position.queue}", reason="INVALID", field="position")
            if timeline.completed < position.value and not self._ended:
                self._send()
                self._await(lambda: timeline.completed >= position.value, limit)
            if timeline.completed >= position.value:
                return timeline.outcome(position.value)
            if self._ended:
                raise self._end or Error(Code.CANCELLED, "the session was closed")
            raise Error(Code.DEADLINE_EXCEEDED, f"command {position.value} of queue {position.queue} has not ended "
                        f"within {limit} s", reason="WAIT", retryable=True)

    def finish_call(self, position: Position) -> None:
        """For blocking calls: raises the command's error, and opens the queue again if that command failed it."""
        try:
            error = self.wait(position)
        except Error:
            with self.news:
                self._timelines[position.queue].reads.pop(position.value, None)
            raise
        if error is not None:
            with self.news:
                timeline = self._timelines[position.queue]
                failed = timeline.first_error()
                if failed and failed[0] == position.value:
                    timeline.clear()
            raise error

    def create(self, command: ttfd_pb2.Command, size: int = 256, payload: int = 0) -> None:
        """A command that creates something, waited for."""
        self.finish_call(self.enqueue(CONTROL_QUEUE, command, size, payload))
        self.own(command)

    def own(self, command: ttfd_pb2.Command) -> None:
        """What the command makes is there."""
        kind = owned_kind(command)
        if kind is not None:
            with self.news:
                self._owned[kind[0]] = kind[1]

    @property
    def lost(self) -> bool:
        """Whether the session ended and a new one may do better."""
        with self.news:
            return self._ended and self._end is not None and self._end.code == Code.UNAVAILABLE

    @property
    def next_handle(self) -> int:
        """Greater than all handles so far."""
        return self._next_handle

    def free(self, handle: int) -> None:
        """Frees a handle with the next message."""
        with self.news:
            self._owned.pop(handle, None)
            if not self._ended and not self._closing and handle >= self._first_handle:
                self._append_free(handle)

    def after(self, queue_id: int, positions: list[Position]) -> None:
        """What the next command of the queue waits for."""
        with self.news:
            self._timelines[queue_id].waits.extend(positions)

    def cancel(self, position: Position) -> None:
        """Asks that commands from there on end unless they have started."""
        with self.news:
            self._check_alive()
            self._outgoing.cancels.add(queue=position.queue, from_value=position.value,
                                       sent_value=self._timelines[position.queue].submitted)
            self._outgoing_bytes += 20
            self._send()

    def clear_error(self, queue_id: int) -> None:
        """The queue's next command opens it again."""
        with self.news:
            self._timelines[queue_id].clear()

    def error(self, queue_id: int) -> Error | None:
        """What has failed the queue."""
        with self.news:
            failed = self._timelines[queue_id].first_error()
            return failed[1] if failed else None

    def submitted(self, queue_id: int) -> int:
        """Value of the last command added."""
        with self.news:
            return self._timelines[queue_id].submitted

    def completed(self, queue_id: int) -> int:
        """Value of the last command known to have ended."""
        with self.news:
            return self._timelines[queue_id].completed

    def close(self) -> None:
        """Lets the daemon finish everything, then ends the session."""
        with self.news:
            if not self._ended and not self._closing:
                self._send()
                self._closing = True
                if not self._resuming:
                    self._finish()
            self.news.wait_for(lambda: self._ended, self.call_timeout)
            ended, end = self._ended, self._end
        self.abandon()
        if not ended:
            raise Error(Code.DEADLINE_EXCEEDED, f"the daemon has not finished this session within {self.call_timeout} s",
                        reason="WAIT")
        if end is not None:
            raise end

    def abandon(self) -> None:
        """Ends the session at once."""
        with self.news:
            self._closing = self._left = True
            self.news.notify_all()
            if self.reconnect_for and self.welcome is not None and not self._ended:
                # Else the daemon would keep the session for a client that may come back.
                message = ttfd_pb2.ClientMessage()
                message.ending = ttfd_pb2.ENDING_LEAVE
                self._messages.put(message)
                self.news.wait_for(lambda: self._ended, _LEAVE_S)
        self._messages.put(None)
        self._call.cancel()
        self._channel.close()

