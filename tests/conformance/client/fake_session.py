"""The fake daemon's side of one session: it keeps every rule of the API and checks that the client does (fake_daemon.py)."""

from __future__ import annotations

import collections
import hashlib
import os
from typing import TYPE_CHECKING

from replies import CHUNK_BYTES, COMMAND_BYTES, CallEnd, Code, device, limits, status_of
from ttfd.google_rpc import status_pb2
from ttfd.v1 import ttfd_pb2

if TYPE_CHECKING:
    from fake_daemon import Connection, FakeDaemon

HOLD = object()  # of Script.on_command: the command does not start


class FakeQueue:
    """One queue's timeline."""

    def __init__(self) -> None:
        self.sent = self.completed = 0
        self.pending: collections.deque[tuple[int, ttfd_pb2.Command, list[tuple[int, int]]]] = collections.deque()
        self.failed: tuple[int, int] | None = None  # queue and value of the first cause


class FakeSession:
    """A session, across its connections. The daemon's lock guards it."""

    def __init__(self, daemon: FakeDaemon, number: int, hello: ttfd_pb2.Hello) -> None:
        self.daemon, self.number = daemon, number
        self.resumable = hello.reconnect_timeout_ms > 0
        self.tokens = collections.deque([os.urandom(16)], maxlen=2)
        self.connection: Connection | None = None
        self.received = self.sent = self.acked = 0
        self.cost = 0  # of all messages
        self.unwritten = 0  # of that, payload that has come and was not taken
        self.held: dict[tuple[int, int], int] = {}  # of that, of commands that have not ended
        self.kept: collections.deque[ttfd_pb2.ServerMessage] = collections.deque()
        self.waiting: collections.deque[ttfd_pb2.ServerMessage] = collections.deque()  # for the client's acks
        self.seen: dict[int, bytes] = {}  # digest of each numbered message
        self.queues: dict[int, FakeQueue] = {}
        self.buffers: dict[int, bytearray] = {}
        self.streams: dict[tuple[int, int], bytearray] = {}  # payload so far of commands that have not ended
        self.sizes: dict[tuple[int, int], int] = {}  # of every streamed command
        self.judged: set[tuple[int, int]] = set()  # commands the script has decided about
        self.finished = self.over = False
        self.ended_with_details = False  # the daemon said why: nothing may resume it

    @property
    def released(self) -> int:
        """Cost that is not held any more."""
        return self.cost - self.unwritten - sum(self.held.values())

    # ---- what the client sends

    def receive(self, encoded: bytes) -> None:
        message = ttfd_pb2.ClientMessage.FromString(encoded)
        daemon, script = self.daemon, self.daemon.script
        if message.HasField("hello"):
            raise daemon.violation("a second Hello on one call")
        if message.ack > self.sent:
            raise daemon.violation(f"ack {message.ack} of {self.sent} messages")
        if not script.accepts(self, message):
            self.check_unchanged(message.sequence, encoded)
            return
        while len(self.tokens) > 1:  # the client has the newest
            self.tokens.popleft()
        self.acked = max(self.acked, message.ack)
        while self.kept and self.kept[0].sequence <= self.acked:
            self.kept.popleft()
        daemon.count("acks")
        if message.sequence == 0:
            if message.batches or message.data or message.cancels or message.open_queues or message.HasField("finish"):
                raise daemon.violation("a message without a sequence carries more than an ack")
            self.send_waiting()
            return
        self.check_unchanged(message.sequence, encoded)
        if message.sequence <= self.received:
            raise daemon.violation(f"message {message.sequence} was resent, which Welcome.received has covered")
        if message.sequence != self.received + 1:
            raise daemon.violation(f"message {message.sequence} after {self.received}")
        if self.finished:
            raise daemon.violation("a message after Finish")
        self.charge(message, len(encoded))
        self.received = message.sequence
        daemon.count("messages")
        self.take(message)

    def check_unchanged(self, sequence: int, encoded: bytes) -> None:
        if sequence and self.seen.setdefault(sequence, digest := hashlib.sha256(encoded).digest()) != digest:
            raise self.daemon.violation(f"message {sequence} was changed when it was resent")

    def charge(self, message: ttfd_pb2.ClientMessage, encoded_bytes: int) -> None:
        if not message.batches and not message.data:
            return
        self.cost += encoded_bytes
        for batch in message.batches:
            for value, command in enumerate(batch.commands, batch.first_value):
                self.cost += COMMAND_BYTES
                self.held[batch.queue, value] = COMMAND_BYTES + command.ByteSize()
        self.unwritten += sum(data.ByteSize() for data in message.data)
        window = self.daemon.script.window_sent
        if self.cost > window:
            raise self.daemon.violation(f"{self.cost} of {window} bytes of the window were sent")

    def take(self, message: ttfd_pb2.ClientMessage) -> None:
        reply = ttfd_pb2.ServerMessage()
        for open_queue in message.open_queues:
            if open_queue.queue in self.queues:
                raise self.daemon.violation(f"queue {open_queue.queue} was opened twice")
            line = self.queues[open_queue.queue] = FakeQueue()
            if error := self.daemon.script.on_open(open_queue):
                line.failed = (open_queue.queue, 0)
                reply.errors.add(queue=open_queue.queue, status=error)
        for batch in message.batches:
            self.run(batch)
        for data in message.data:
            self.supply(data)
        if self.daemon.script.executes(self):
            self.execute_ready(reply)
        for cancel in message.cancels:
            self.cancel(cancel, reply)
        if message.HasField("leave"):
            self.over = True
            raise CallEnd(Code.CANCELLED, "the client has left", "CANCELLED")
        self.finished |= message.HasField("finish")
        self.daemon.script.on_received(self, self.connection)
        self.answer(reply)

    def run(self, batch: ttfd_pb2.Batch) -> None:
        line = self.queues.get(batch.queue)
        if line is None:
            raise self.daemon.violation(f"queue {batch.queue} was not opened")
        if batch.first_value != line.sent + 1:
            raise self.daemon.violation(f"value {batch.first_value} of queue {batch.queue} after {line.sent}")
        for wait in batch.waits:
            if wait.queue not in self.queues or wait.value > self.queues[wait.queue].sent:
                raise self.daemon.violation(f"a wait for value {wait.value} of queue {wait.queue}, which was not sent")
        if batch.HasField("clears_error") and line.failed == (batch.queue, batch.clears_error):
            line.failed = None
        waits = [(wait.queue, wait.value) for wait in batch.waits]
        for command in batch.commands:
            line.sent += 1
            self.daemon.count("commands")
            line.pending.append((line.sent, command, waits))
            waits = []
            body = getattr(command, command.WhichOneof("op") or "barrier")
            if getattr(body, "streamed", False):
                self.streams[(batch.queue, line.sent)] = bytearray()
                self.sizes[(batch.queue, line.sent)] = body.size

    def supply(self, data: ttfd_pb2.Data) -> None:
        at = (data.queue, data.value)
        if at not in self.sizes:
            raise self.daemon.violation(f"data for command {data.value} of queue {data.queue}, which expects none")
        so_far = self.streams.get(at)
        if so_far is None:  # the command has failed
            return
        if data.offset != len(so_far) or len(so_far) + len(data.payload) > self.sizes[at]:
            raise self.daemon.violation(f"data at offset {data.offset} after {len(so_far)} of {self.sizes[at]} bytes")
        if len(data.payload) > CHUNK_BYTES:
            raise self.daemon.violation(f"a chunk of {len(data.payload)} bytes")
        so_far += data.payload

    def cancel(self, cancel: ttfd_pb2.Cancel, reply: ttfd_pb2.ServerMessage) -> None:
        line = self.queues.get(cancel.queue)
        if line is None:
            raise self.daemon.violation(f"a cancel of queue {cancel.queue}, which was not opened")
        self.daemon.count("cancels")
        cancelled = [value for value, _, _ in line.pending if value >= cancel.from_value]
        if not cancelled:
            return
        while line.pending and line.pending[-1][0] >= cancel.from_value:
            at = (cancel.queue, line.pending.pop()[0])
            self.held.pop(at, None)
            self.streams.pop(at, None)
        line.failed = (cancel.queue, cancelled[0])
        reply.errors.add(queue=cancel.queue, first_value=cancelled[0], last_value=cancelled[-1],
                         status=status_of(Code.CANCELLED, "cancelled before it started", "CANCELLED"),
                         execution_state=ttfd_pb2.EXECUTION_STATE_NOT_STARTED)
        if not line.pending:
            line.completed = line.sent
            reply.progress.add(queue=cancel.queue, value=line.completed)

    # ---- commands

    def execute_ready(self, reply: ttfd_pb2.ServerMessage) -> None:
        """Everything that can be: in order within a queue, after waits, once all payload is there."""
        self.unwritten = 0
        before = {queue_id: line.completed for queue_id, line in self.queues.items()}
        moved = True
        while moved:
            moved = False
            for queue_id, line in self.queues.items():
                while line.pending and self.execute(queue_id, line, reply):
                    line.completed, _, _ = line.pending.popleft()
                    self.held.pop((queue_id, line.completed), None)
                    moved = True
                if not line.pending:
                    line.completed = line.sent  # with those that were cancelled
        for queue_id, line in self.queues.items():
            if line.completed != before[queue_id]:
                reply.progress.add(queue=queue_id, value=line.completed)

    def execute(self, queue_id: int, line: FakeQueue, reply: ttfd_pb2.ServerMessage) -> bool:
        value, command, waits = line.pending[0]
        at = (queue_id, value)
        if any(self.queues[other].completed < until for other, until in waits):
            return False
        error = self.judge(at, command, line)
        if error is HOLD:
            return False
        if error is not None:
            line.failed = line.failed or at
            self.streams.pop(at, None)
            reply.errors.add(queue=queue_id, first_value=value, last_value=value, status=error,
                             execution_state=ttfd_pb2.EXECUTION_STATE_NOT_STARTED)
            return True
        if at in self.streams and len(self.streams[at]) < self.sizes[at]:
            return False
        if command.HasField("allocate"):
            self.buffers[command.allocate.handle] = bytearray(command.allocate.size_bytes)
        elif command.HasField("write"):
            write = command.write
            self.buffers[write.buffer][write.offset:write.offset + write.size] = self.streams.get(at, write.inline)
        elif command.HasField("read"):
            read = command.read
            content = self.buffers[read.buffer][read.offset:read.offset + read.size]
            for offset in range(0, read.size, CHUNK_BYTES):
                reply.data.add(queue=queue_id, value=value, offset=offset,
                               payload=bytes(content[offset:offset + CHUNK_BYTES]))
        self.streams.pop(at, None)
        return True

    def judge(self, at: tuple[int, int], command: ttfd_pb2.Command, line: FakeQueue) -> status_pb2.Status | object | None:
        """The command's error, HOLD, or None: it may run."""
        if line.failed is not None:
            return status_of(Code.ABORTED, f"command {line.failed[1]} of queue {line.failed[0]} failed", "CAUSED_BY",
                             cause_queue=str(line.failed[0]), cause_value=str(line.failed[1]))
        if at in self.judged:
            return None
        error = self.daemon.script.on_command(self, at, command)
        if error is HOLD:
            return HOLD
        self.judged.add(at)
        if error is None and command.HasField("load_kernel") and not command.load_kernel.WhichOneof("from"):
            error = status_of(Code.NOT_FOUND, "the kernel is not cached", "KERNEL_NOT_CACHED")
        return error

    # ---- what the daemon sends

    def answer(self, reply: ttfd_pb2.ServerMessage) -> None:
        """Data in messages of its own, then the rest; as far as the client's acks allow. Nothing: an ack alone."""
        for data in reply.data:
            self.waiting.append(ttfd_pb2.ServerMessage(data=[data]))
        reply.ClearField("data")
        if reply.ListFields():
            self.waiting.append(reply)
        elif self.connection is not None:
            self.connection.send(self.stamped(ttfd_pb2.ServerMessage()))
        self.send_waiting()

    def send_waiting(self) -> None:
        script = self.daemon.script
        while self.waiting and script.sends(self):
            unacknowledged = sum(message.ByteSize() for message in self.kept)
            if self.kept and unacknowledged + self.waiting[0].ByteSize() > script.unacknowledged_bytes:
                return
            message = self.waiting.popleft()
            self.sent += 1
            self.daemon.count("sent")
            message.sequence = self.sent
            self.kept.append(self.stamped(message))
            self.transmit(message)
        pending = any(line.pending for line in self.queues.values())
        if self.finished and not self.waiting and not pending and (self.acked == self.sent or not self.resumable):
            self.over = True
            if self.connection is not None:
                self.connection.end(None)

    def stamped(self, message: ttfd_pb2.ServerMessage) -> ttfd_pb2.ServerMessage:
        message.ack = self.received if self.daemon.script.acks(self) else 0
        message.window_bytes = self.daemon.script.advertise(self)
        return message

    def transmit(self, message: ttfd_pb2.ServerMessage) -> None:
        if self.connection is None:
            return
        for part in self.daemon.script.on_send(self, message):
            self.connection.send(part)
        self.daemon.script.on_sent(self, self.connection)

    def attach(self, connection: Connection, resume: ttfd_pb2.Resume | None) -> None:
        if self.connection is not None:
            self.connection.end(CallEnd(Code.ABORTED, "another call has resumed the session", "CANCELLED"))
        self.connection = connection
        welcome = ttfd_pb2.Welcome(revision=1, daemon_version="fake", session=self.number, token=self.tokens[-1],
                                   devices=[device()], limits=limits(self.daemon.script.unacknowledged_bytes),
                                   window_bytes=self.daemon.script.advertise(self), received=self.received,
                                   lease_token=b"lease")
        connection.send(ttfd_pb2.ServerMessage(welcome=welcome))
        if resume is None:
            return
        if resume.received > self.sent:
            raise self.daemon.violation(f"the client has received {resume.received} of {self.sent} messages")
        if resume.received < self.acked:
            raise self.daemon.violation(f"the client has received {resume.received} messages, and acknowledged {self.acked}")
        self.acked = resume.received
        while self.kept and self.kept[0].sequence <= resume.received:
            self.kept.popleft()
        for message in list(self.kept) if self.daemon.script.sends(self) else ():
            self.transmit(message)  # unchanged, with its old ack and window
        self.send_waiting()
