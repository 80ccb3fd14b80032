"""A session as its user's threads and its reading thread share it. Used by ttfd.session only.

A session outlives its connections: when one is lost, the reading thread makes another, and both sides resend what the
other has not acknowledged (link.py).
"""

from __future__ import annotations

import threading
import time
from typing import Callable, Mapping

from ttfd import errors, prints, process_exit
from ttfd.attach import fill_attach, fill_lease, lease_wait
from ttfd.errors import Code, Error
from ttfd.handles import Handles
from ttfd.link import Link
from ttfd.outgoing import Outgoing
from ttfd.reader import LEAVE_S, Reader
from ttfd.reconnect import loss, owned_kind
from ttfd.timeline import Timeline
from ttfd.types import KernelPrint, Lease, LeaseWait, Position
from ttfd.v1 import ttfd_pb2

CONTROL_QUEUE = 0  # creation and freeing of resources, so that their errors touch no queue of the user
FIRST_USER_QUEUE = 1
_REVISION = 1
_MESSAGE_BYTES = 512 << 10  # a message is sent once it holds as much
_HEADER_BYTES = 32  # of a message, at most: sequence and ack
_STOP_S = 1.0  # until the reading thread has ended, which a callback of the user may delay


class Connection:
    """Thread-safe; a thread of its own reads what the daemon sends."""

    def __init__(self, address: str, client_name: str, weight: int, priority: str, connect_timeout: float,
                 call_timeout: float, batch_commands: int, tls: Mapping[str, str] | None = None,
                 lease: Lease | None = None, lease_token: str | None = None,
                 on_waiting: Callable[[LeaseWait], None] | None = None, reconnect_for: float = 0.0,
                 first_handle: int = 1) -> None:
        self.address = address
        self.handles = Handles(first_handle)
        self.lease_token = ""
        self.call_timeout = call_timeout
        self.chunk_bytes = 0
        self.welcome: ttfd_pb2.Welcome | None = None
        self.on_print: Callable[[KernelPrint], None] | None = prints.write_to_stderr
        self._on_waiting = on_waiting
        self.news = threading.Condition()  # its lock guards everything below
        self._link = Link()
        self._outgoing = Outgoing()
        self._waits_for_lease = self._ended = self._closing = False
        self._end: Error | None = None
        self._batch_commands = max(1, batch_commands)
        self._message_cost = 0  # a message is sent once it costs as much
        self._timelines: list[Timeline] = [Timeline(), Timeline()]
        self._recording: set[int] = set()  # queues with half a trace on its way out

        hello = ttfd_pb2.Hello()
        fill_attach(hello, client_name, weight, priority)
        fill_lease(hello, lease, lease_token)
        hello.min_revision = hello.max_revision = _REVISION
        hello.reconnect_timeout_ms = round(reconnect_for * 1000)
        self._reader = Reader(address, tls, hello, reconnect_for, self.news, self)
        self._reader.start()
        process_exit.watch(self)
        limit: float | None = connect_timeout
        with self.news:
            # The daemon answers at once, if only that the lease is not free.
            self._await(lambda: self.welcome is not None or self._waits_for_lease, limit)
            if self._waits_for_lease:
                # A wait without a limit of its own has the daemon's, and ends with the connection.
                limit = lease.wait + connect_timeout if lease is not None and lease.wait else None
                self._await(lambda: self.welcome is not None, limit)
            welcomed, end = self.welcome is not None, self._end
        if not welcomed:
            self.abandon()
            raise end or Error(Code.UNAVAILABLE, f"no ttfd daemon answered at {address} within {limit} s",
                               reason="UNREACHABLE", retryable=True)

    # ---- What the reading thread calls.

    def call_back(self, message: ttfd_pb2.ServerMessage) -> None:
        """Without the lock, and before the progress that covers it. A duplicate is called back for no second time."""
        if message.sequence != 0 and message.sequence <= self._link.received:
            return
        for notice in message.notices:
            if notice.HasField("print"):
                prints.call(self.on_print, prints.kernel_print(notice.print))
            if notice.HasField("waiting"):
                prints.call(self._on_waiting, lease_wait(notice.waiting))

    def accept(self, message: ttfd_pb2.ServerMessage, encoded_bytes: int) -> None:
        """Takes a message. The lock is held."""
        if self._link.accept(message, encoded_bytes):
            self._handle(message)

    def idle_ack(self) -> bytes | None:
        """On gRPC's thread, once nothing has been sent for a while."""
        with self.news:
            return self._link.ack() if self._link.ack_due and self._reader.connected else None

    def received(self) -> int:
        """Sequence of the last message accepted."""
        return self._link.received

    def commands_completed(self) -> int:
        """Of all queues."""
        return sum(timeline.completed for timeline in self._timelines)

    def over(self, end: Error | None) -> None:
        """No call follows the one that ended so."""
        with self.news:
            self._ended = True
            self.handles.take_freed()
            if end is None and not self._closing:
                end = Error(Code.UNAVAILABLE, "the daemon has ended this session")
            if end is not None and self.welcome is not None:
                pending = sum(timeline.submitted - timeline.completed for timeline in self._timelines)
                # Of a session that was closing only the end of its last call may have been lost.
                done = self._closing and end.reason == "SESSION_LOST" and not pending
                end = None if done else loss(end, self.address, self.handles.owned.values(), pending)
            self._end = self._end or end
            self.news.notify_all()

    def _handle(self, message: ttfd_pb2.ServerMessage) -> None:
        if message.HasField("welcome"):
            self._handle_welcome(message.welcome)
        if self.welcome is None and any(notice.HasField("waiting") for notice in message.notices):
            self._waits_for_lease = True
        for data in message.data:
            self._timelines[data.queue].accept(data.value, data.offset, data.payload)
        for error in message.errors:
            self._timelines[error.queue].fail(error.first_value, error.last_value,
                                              errors.from_proto(error.status, error.execution_state))
        for position in message.progress:
            self._timelines[position.queue].advance(position.value)
        if message.progress:
            self._retire_frees()
        idle = self._closing and all(timeline.completed == timeline.submitted for timeline in self._timelines)
        if self._link.ack_due and (self._link.ack_urgent or idle):
            self._reader.send(self._link.ack())
        elif self._link.ack_due:
            self._reader.linger()

    def _handle_welcome(self, welcome: ttfd_pb2.Welcome) -> None:
        first = self.welcome is None
        self._reader.welcomed(welcome)
        if first:
            self.welcome = welcome
            self.lease_token = welcome.lease_token.hex()
            self._link.start(welcome)
            # A message must fit into the window of an idle session.
            self._message_cost = welcome.window_bytes // 4
            self.chunk_bytes = min(welcome.limits.chunk_bytes, max(1, welcome.window_bytes // 4))
            self._batch_commands = min(self._batch_commands, welcome.limits.commands_per_batch or 1)
            for queue_id in (CONTROL_QUEUE, FIRST_USER_QUEUE):
                self._outgoing.add_queue(ttfd_pb2.OpenQueue(queue=queue_id, kind=ttfd_pb2.QUEUE_KIND_COMPUTE))
            return
        self.welcome.token = welcome.token
        self._link.window = max(self._link.window, welcome.window_bytes)
        for encoded in self._link.resume(welcome.received):
            self._reader.send(encoded)

    def _retire_frees(self) -> None:
        # A Free that was not executed because a creation before it failed is sent again.
        timeline = self._timelines[CONTROL_QUEUE]
        for value, handle in self.handles.take_ended(timeline.completed):
            error = timeline.outcome(value) if timeline.errors else None
            if error is not None and error.code == Code.ABORTED:
                timeline.clear()
                self._append_free(handle)

    # ---- Sending. The lock is held.

    def _take_freed(self) -> None:
        for handle in self.handles.take_freed():
            if not self._ended and not self._closing:
                self._append_free(handle)

    def _append_free(self, handle: int) -> None:
        command = ttfd_pb2.Command()
        command.free.handles.append(handle)
        self._append(CONTROL_QUEUE, command)
        self.handles.sent(self._timelines[CONTROL_QUEUE].submitted, handle)

    def _append(self, queue_id: int, command: ttfd_pb2.Command, size: int = 64) -> None:
        self._outgoing.add_command(queue_id, self._timelines[queue_id], command, size, self._batch_commands)

    def _full(self) -> bool:
        outgoing = self._outgoing
        return (outgoing.commands >= self._batch_commands or outgoing.bytes >= _MESSAGE_BYTES
                or self._link.cost_of(outgoing.bytes, outgoing.nested) >= self._message_cost)

    def _send(self) -> None:
        """Sends what has gathered, when the window allows."""

        def allowed() -> bool:
            outgoing = self._outgoing
            return self._link.cost + self._link.cost_of(outgoing.bytes + _HEADER_BYTES, outgoing.nested) <= self._link.window

        self._take_freed()
        if not self._outgoing:
            return
        if not self._await(allowed, self.call_timeout):
            raise self._end or Error(Code.DEADLINE_EXCEEDED, "the daemon has not made room in the window for more commands",
                                     reason="WAIT", retryable=True)
        if not self._outgoing:
            return  # another thread has sent it meanwhile
        outgoing, self._outgoing = self._outgoing, Outgoing()
        self._transmit(outgoing.message, outgoing.nested)

    def _transmit(self, message: ttfd_pb2.ClientMessage, nested: int = 0) -> None:
        encoded = self._link.number(message)
        if message.batches or message.data:
            self._link.cost += self._link.cost_of(len(encoded), nested)
        self._reader.send(encoded)

    def _await(self, done: Callable[[], bool], timeout: float | None) -> bool:
        self.news.wait_for(lambda: done() or self._ended, timeout)
        return done() and not self._ended

    def _await_turn(self, queue_id: int) -> None:
        # Nothing may come between the parts of a trace.
        self._await(lambda: queue_id not in self._recording, self.call_timeout)
        self._check_alive()
        self._take_freed()
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
            return self.handles.new()

    def open_queue(self, open_queue: ttfd_pb2.OpenQueue) -> int:
        """Opens a queue under a new number, which it returns; raises why it cannot be opened."""
        with self.news:
            self._check_alive()
            queue_id = open_queue.queue = len(self._timelines)
            self._timelines.append(Timeline())
            self._outgoing.add_queue(open_queue)
            barrier = ttfd_pb2.Command()
            barrier.barrier.SetInParent()
            self._append(CONTROL_QUEUE, barrier)
            opened = Position(CONTROL_QUEUE, self._timelines[CONTROL_QUEUE].submitted)
        self.finish_call(opened)  # errors of the message with the queue come first
        error = self._timelines[queue_id].open_error
        if error is not None:
            raise error
        return queue_id

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
            self._append(queue_id, command, size + payload)
            position = Position(queue_id, timeline.submitted)
            if self._full():
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
                    if self._full():
                        self._send()
                    self._append(queue_id, command, 64 + command.ByteSize())
            except Error:
                # The window stayed closed. Half a trace would be continued by the next one, so it is ended.
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
                    return  # refused already: the rest is not wanted
                self._outgoing.add_data(position, offset, bytes(chunk))
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
            known = position.queue < len(self._timelines)
            timeline = self._timelines[position.queue if known else CONTROL_QUEUE]
            if not known or position.value > timeline.submitted:
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

    def create(self, command: ttfd_pb2.Command) -> None:
        """A command that creates something, waited for."""
        self.finish_call(self.enqueue(CONTROL_QUEUE, command, 16 + command.ByteSize()))
        self.own(command)

    def own(self, command: ttfd_pb2.Command) -> None:
        """What the command makes exists."""
        kind = owned_kind(command)
        if kind is not None:
            with self.news:
                self.handles.owned[kind[0]] = kind[1]

    @property
    def reconnects(self) -> int:
        """How often the session was resumed."""
        return self._reader.reconnects

    @property
    def lost(self) -> bool:
        """Whether the session ended and a new one may do better."""
        with self.news:
            return self._ended and self._end is not None and self._end.code == Code.UNAVAILABLE

    def after(self, queue_id: int, positions: list[Position]) -> None:
        """What the next command of the queue waits for."""
        with self.news:
            self._timelines[queue_id].waits.extend(positions)

    def cancel(self, position: Position) -> None:
        """Commands from there on end CANCELLED unless they have started."""
        with self.news:
            self._check_alive()
            self._outgoing.add_cancel(position)
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
                self._transmit(ttfd_pb2.ClientMessage(finish=ttfd_pb2.Finish()))
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
        self.leave()
        self.await_end(time.monotonic() + LEAVE_S)

    def leave(self) -> None:
        """Begins to end the session at once."""
        with self.news:
            self._closing = self._reader.left = True
            self.news.notify_all()
            if self.welcome is not None and not self._ended:
                # Else the daemon would keep a session that can be resumed.
                self._transmit(ttfd_pb2.ClientMessage(leave=ttfd_pb2.Leave()))

    def await_end(self, deadline: float) -> None:
        """Waits until the daemon has ended the session, by time.monotonic, and stops the reading thread."""
        with self.news:
            if self.welcome is not None:
                self.news.wait_for(lambda: self._ended, max(0.0, deadline - time.monotonic()))
        self._reader.stop(max(_STOP_S, deadline - time.monotonic()))
