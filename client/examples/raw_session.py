"""Everything the transport asks of a client, in Python with the messages protoc makes and nothing else of this project.

Single-threaded: `receive` reads one message of the daemon, and makes the connection again if it was lost. It acknowledges
every message at once, which is simple; a library would let acks ride on what it sends (docs/api.md).
"""

import collections
import queue
import time

import grpc

METHOD = "/ttfd.v1.DeviceService/Session"


class Session:
    """pb: the module ttfd.v1.ttfd_pb2. Fields of Hello may be given by name."""

    def __init__(self, pb, address: str, reconnect_s: float = 20.0, **hello) -> None:
        self.pb, self.address, self.reconnect_s = pb, address, reconnect_s
        self.hello = pb.Hello(min_revision=1, max_revision=1, reconnect_timeout_ms=round(reconnect_s * 1000), **hello)
        self.sent = self.received = self.cost = self.window = 0
        self.kept = collections.deque()  # (sequence, encoded) of what the daemon has not acknowledged
        self.completed = collections.Counter()  # by queue
        self.errors = []  # CommandError
        self.data = collections.defaultdict(bytearray)  # by (queue, value) of a Read
        self.notices = []
        self.welcome = None
        self.lost_at = None  # when the connection was lost that has not been made again
        self._open()
        while self.welcome is None:
            self.receive()

    def _open(self) -> None:
        self.outgoing = queue.SimpleQueue()
        self.channel = grpc.insecure_channel(self.address, options=[("grpc.use_local_subchannel_pool", 1)])
        self.call = self.channel.stream_stream(METHOD)(iter(self.outgoing.get, None))
        self.outgoing.put(self.pb.ClientMessage(hello=self.hello).SerializeToString())  # Hello is alone

    def _resumable(self, end: grpc.RpcError) -> bool:
        """A status with details is the daemon's, which has ended the session."""
        described = any(key == "grpc-status-details-bin" for key, _ in end.trailing_metadata() or ())
        return end.code() == grpc.StatusCode.UNAVAILABLE and not described

    def _reconnect(self, end: grpc.RpcError) -> None:
        now = time.monotonic()
        self.lost_at = now if self.lost_at is None else self.lost_at
        late = now >= self.lost_at + self.reconnect_s
        self.close()
        if self.welcome is None or late or not self._resumable(end):
            raise end
        time.sleep(0.02)
        self.hello.resume.CopyFrom(self._resume())  # in place of a lease, or its token
        self._open()

    def _resume(self):
        return self.pb.Resume(session=self.welcome.session, token=self.welcome.token, received=self.received)

    def send(self, **fields) -> None:
        """One message of the session: open_queues, batches, data, cancels, finish, leave."""
        message = self.pb.ClientMessage(**fields)
        most = self.charge(message, message.ByteSize() + 24)  # 24: sequence and ack, at most
        while most > 0 and self.cost + most > self.window:
            self.receive()
        self.sent += 1
        message.sequence, message.ack = self.sent, self.received
        encoded = message.SerializeToString()
        self.cost += self.charge(message, len(encoded))
        self.kept.append((self.sent, encoded))
        self.outgoing.put(encoded)

    def charge(self, message, encoded_bytes: int) -> int:
        """What a message costs of the window."""
        if not message.batches and not message.data:
            return 0
        return encoded_bytes + self.welcome.limits.command_bytes * sum(len(batch.commands) for batch in message.batches)

    def receive(self) -> bool:
        """Takes the next message of the daemon. False: the call has ended, as Finish asked."""
        while True:
            try:
                message = self.pb.ServerMessage.FromString(next(self.call))
                break
            except StopIteration:
                return False
            except grpc.RpcError as end:
                self._reconnect(end)
        self._check(message)
        if message.HasField("welcome"):
            self._take_welcome(message.welcome)
        while self.kept and self.kept[0][0] <= message.ack:
            self.kept.popleft()
        self._open_window(message.window_bytes)
        self._take(message)
        return True

    def _check(self, message) -> None:
        if message.sequence > self.received + 1:
            raise ValueError(f"the daemon sent message {message.sequence} after {self.received}")
        if message.ack > self.sent:
            raise ValueError(f"the daemon acknowledged message {message.ack} of {self.sent}")

    def _take_welcome(self, welcome) -> None:
        self.welcome, self.lost_at = welcome, None
        self._open_window(welcome.window_bytes)
        while self.kept and self.kept[0][0] <= welcome.received:
            self.kept.popleft()
        for _, encoded in self.kept:  # after a resume: unchanged, and before anything new
            self.outgoing.put(encoded)

    def _open_window(self, window: int) -> None:
        self.window = max(self.window, window)  # what is resent has the window of its time

    def _take(self, message) -> None:
        if message.sequence and message.sequence <= self.received:
            return  # it came again after a resume
        self.notices += message.notices
        for data in message.data:
            self.data[data.queue, data.value] += data.payload
        self.errors += message.errors
        for position in message.progress:
            self.completed[position.queue] = max(self.completed[position.queue], position.value)
        if message.sequence:
            self.received = message.sequence
            self._acknowledge()

    def _acknowledge(self) -> None:
        self.outgoing.put(self.pb.ClientMessage(ack=self.received).SerializeToString())

    def wait(self, queue_id: int, value: int) -> None:
        """Until all commands of the queue up to `value` have ended."""
        while self.completed[queue_id] < value:
            if not self.receive():
                raise ValueError("the daemon has ended the session")

    def finish(self) -> None:
        """The daemon completes everything and ends the call."""
        self.send(finish={})
        while self.receive():
            pass
        self.close()

    def close(self) -> None:
        """Ends the connection. A session that was not finished lives on until its reconnect timeout."""
        self.outgoing.put(None)
        self.channel.close()
