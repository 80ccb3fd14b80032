#!/usr/bin/python3
"""A scripted daemon for client libraries: fake_daemon.py SOCKET SCENARIO [KEY=NUMBER ...].

It serves ttfd.v1.DeviceService on the unix socket SOCKET, keeps every rule of the API itself, executes commands at once in
memory, and disturbs the client as the scenario (scenarios.py) says. When its standard input ends it prints what it saw as
one JSON object: "violations", the rules that the client broke, and counts. Needs the generated stubs in PYTHONPATH.
"""

from __future__ import annotations

import collections
import concurrent.futures
import hashlib
import json
import os
import queue
import sys
import threading
from typing import Any, Callable, Iterator

import grpc

from relay import Relay
from replies import CHUNK_BYTES, COMMAND_BYTES, CallEnd, Code, device, limits, status_of
from ttfd.google_rpc import status_pb2
from ttfd.v1 import ttfd_pb2

_END = object()


class Script:
    """What a scenario changes. The methods do nothing; `numbers` are the scenario's parameters."""

    window_bytes = 1 << 20
    unacknowledged_bytes = 4 << 20

    def __init__(self, daemon: FakeDaemon, numbers: dict[str, int]) -> None:
        self.daemon = daemon
        self.numbers = numbers

    def on_hello(self, hello: ttfd_pb2.Hello, connection: Connection) -> None:
        """May raise CallEnd, or send notices."""

    def on_received(self, session: FakeSession, connection: Connection) -> None:
        """A numbered message was accepted; `session.received` is its sequence."""

    def on_command(self, session: FakeSession, at: tuple[int, int], command: ttfd_pb2.Command) -> status_pb2.Status | None:
        """Before a command is executed: its error."""

    def on_send(self, session: FakeSession, message: ttfd_pb2.ServerMessage) -> list[ttfd_pb2.ServerMessage]:
        """A message that has been numbered: what is sent in its place on this connection."""
        return [message]

    def on_sent(self, session: FakeSession, connection: Connection) -> None:
        """A numbered message was sent; `session.sent` is its sequence."""

    def window(self, session: FakeSession) -> int:
        """What the client may have sent in total."""
        return session.released + self.window_bytes

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
        self.cost = self.released = 0
        self.kept: collections.deque[ttfd_pb2.ServerMessage] = collections.deque()
        self.waiting: collections.deque[ttfd_pb2.ServerMessage] = collections.deque()  # for the client's acks
        self.seen: dict[int, bytes] = {}  # digest of each numbered message
        self.queues: dict[int, FakeQueue] = {}
        self.buffers: dict[int, bytearray] = {}
        self.streams: dict[tuple[int, int], bytearray] = {}  # payload so far of commands that have not ended
        self.sizes: dict[tuple[int, int], int] = {}  # of every streamed command
        self.judged: set[tuple[int, int]] = set()  # commands the script has seen
        self.finished = self.over = False

    # ---- what the client sends

    def receive(self, encoded: bytes) -> None:
        message = ttfd_pb2.ClientMessage.FromString(encoded)
        daemon, script = self.daemon, self.daemon.script
        if message.HasField("hello"):
            raise daemon.violation("a second Hello on one call")
        if message.ack > self.sent:
            raise daemon.violation(f"ack {message.ack} of {self.sent} messages")
        self.acked = max(self.acked, message.ack)
        while self.kept and self.kept[0].sequence <= self.acked:
            self.kept.popleft()
        daemon.count("acks")
        if message.sequence == 0:
            if message.batches or message.data or message.cancels or message.open_queues or message.HasField("finish"):
                raise daemon.violation("a message without a sequence carries more than an ack")
            self.send_waiting()
            return
        digest = hashlib.sha256(encoded).digest()
        if message.sequence <= self.received:
            daemon.count("duplicates")
            if self.seen.get(message.sequence) != digest:
                raise daemon.violation(f"message {message.sequence} was changed when it was resent")
            return
        if message.sequence != self.received + 1:
            raise daemon.violation(f"message {message.sequence} after {self.received}")
        if self.finished:
            raise daemon.violation("a message after Finish")
        self.seen[message.sequence] = digest
        if message.batches or message.data:
            cost = len(encoded) + COMMAND_BYTES * sum(len(batch.commands) for batch in message.batches)
            self.cost += cost
            if self.cost > script.window(self):
                raise daemon.violation(f"{self.cost} of {script.window(self)} bytes of the window were sent")
        self.received = message.sequence
        daemon.count("messages")
        reply = ttfd_pb2.ServerMessage()
        for open_queue in message.open_queues:
            if open_queue.queue in self.queues:
                raise daemon.violation(f"queue {open_queue.queue} was opened twice")
            self.queues[open_queue.queue] = FakeQueue()
        for batch in message.batches:
            self.run(batch)
        for data in message.data:
            self.supply(data)
        self.execute_ready(reply)
        self.released = self.cost
        if message.HasField("leave"):
            self.over = True
            raise CallEnd(Code.CANCELLED, "the client has left", "CANCELLED")
        self.finished |= message.HasField("finish")
        script.on_received(self, self.connection)
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

    def execute_ready(self, reply: ttfd_pb2.ServerMessage) -> None:
        """Everything that can be: in order within a queue, after waits, once all payload is there."""
        before = {queue_id: line.completed for queue_id, line in self.queues.items()}
        moved = True
        while moved:
            moved = False
            for queue_id, line in self.queues.items():
                while line.pending and self.execute(queue_id, line, reply):
                    line.pending.popleft()
                    line.completed += 1
                    moved = True
        for queue_id, line in self.queues.items():
            if line.completed != before[queue_id]:
                reply.progress.add(queue=queue_id, value=line.completed)

    def execute(self, queue_id: int, line: FakeQueue, reply: ttfd_pb2.ServerMessage) -> bool:
        value, command, waits = line.pending[0]
        at = (queue_id, value)
        if any(self.queues[other].completed < until for other, until in waits):
            return False
        error = None
        if line.failed is not None:
            error = status_of(Code.ABORTED, f"command {line.failed[1]} of queue {line.failed[0]} failed", "CAUSED_BY",
                              cause_queue=str(line.failed[0]), cause_value=str(line.failed[1]))
        elif at not in self.judged:
            self.judged.add(at)
            error = self.daemon.script.on_command(self, at, command)
            if error is None and command.HasField("load_kernel") and not command.load_kernel.WhichOneof("from"):
                error = status_of(Code.NOT_FOUND, "the kernel is not cached", "KERNEL_NOT_CACHED")
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

    # ---- what the daemon sends

    def answer(self, reply: ttfd_pb2.ServerMessage) -> None:
        """Data in messages of its own, then the rest; as far as the client's acks allow."""
        for data in reply.data:
            self.waiting.append(ttfd_pb2.ServerMessage(data=[data]))
        reply.ClearField("data")
        self.waiting.append(reply)
        self.send_waiting()

    def send_waiting(self) -> None:
        script = self.daemon.script
        while self.waiting:
            unacknowledged = sum(message.ByteSize() for message in self.kept)
            if self.kept and unacknowledged + self.waiting[0].ByteSize() > script.unacknowledged_bytes:
                return
            message = self.waiting.popleft()
            self.sent += 1
            self.daemon.count("sent")
            message.sequence = self.sent
            self.kept.append(message)
            self.transmit(message)
        if self.finished and not self.waiting and (self.acked == self.sent or not self.resumable):
            self.over = True
            if self.connection is not None:
                self.connection.end(None)

    def transmit(self, message: ttfd_pb2.ServerMessage) -> None:
        script = self.daemon.script
        message.ack = self.received if script.acks(self) else 0
        message.window_bytes = script.window(self)
        if self.connection is None:
            return
        for part in script.on_send(self, message):
            self.connection.send(part)
        script.on_sent(self, self.connection)

    def attach(self, connection: Connection, resume: ttfd_pb2.Resume | None) -> None:
        if self.connection is not None:
            self.connection.end(CallEnd(Code.ABORTED, "another call has resumed the session", "CANCELLED"))
        self.connection = connection
        welcome = ttfd_pb2.Welcome(revision=1, daemon_version="fake", session=self.number, token=self.tokens[-1],
                                   devices=[device()], limits=limits(self.daemon.script.unacknowledged_bytes),
                                   window_bytes=self.daemon.script.window(self), received=self.received,
                                   lease_token=b"lease")
        connection.send(ttfd_pb2.ServerMessage(welcome=welcome))
        if resume is None:
            return
        if resume.received > self.sent:
            raise self.daemon.violation(f"the client has received {resume.received} of {self.sent} messages")
        self.acked = max(self.acked, resume.received)
        while self.kept and self.kept[0].sequence <= resume.received:
            self.kept.popleft()
        for message in list(self.kept):
            self.transmit(message)
        self.send_waiting()


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

    def session(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        connection = Connection()
        threading.Thread(target=self.read, args=(requests, connection), daemon=True).start()
        context.add_callback(lambda: connection.replies.put(_END))
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
            session = FakeSession(self, len(self.sessions) + 1, hello)
            self.sessions[session.number] = session
            session.attach(connection, None)
            return session
        session = self.sessions.get(hello.resume.session)
        if session is None or session.over or not session.resumable or hello.resume.token not in session.tokens:
            raise CallEnd(Code.NOT_FOUND, "there is no such session", "SESSION_LOST")
        session.tokens.append(os.urandom(16))
        self.count("resumes")
        session.attach(connection, hello.resume)
        return session

    def summary(self) -> dict[str, Any]:
        with self.lock:
            unended = [session.number for session in self.sessions.values() if not session.over]
            counts = dict(self.counts) | {f"{way}_bytes": count for way, count in self.relay.passed.items()}
            return {"violations": self.violations, "counts": counts, "unended": unended}


def main() -> int:
    from scenarios import SCENARIOS  # pylint: disable=import-outside-toplevel

    path, name, *pairs = sys.argv[1:]
    numbers = {key: int(value) for key, value in (pair.split("=") for pair in pairs)}
    daemon = FakeDaemon(path, SCENARIOS[name].script, numbers)
    print("ready", flush=True)
    sys.stdin.read()
    print(json.dumps(daemon.summary()), flush=True)
    daemon.relay.close()
    daemon.server.stop(None)
    os._exit(0)  # threads of calls may still wait


if __name__ == "__main__":
    import fake_daemon  # the one copy of this module that the scenarios import, too

    sys.exit(fake_daemon.main())
