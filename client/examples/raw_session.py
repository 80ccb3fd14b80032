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
        self.finished = self.ended = False
        self._open()
        while self.welcome is None:
            self.receive()

    def _open(self) -> None:
        self.outgoing = queue.SimpleQueue()
        self.channel = grpc.insecure_channel(self.address, options=[("grpc.use_local_subchannel_pool", 1)])
        self.call = self.channel.stream_stream(METHOD)(iter(self.outgoing.get, None))
        self.outgoing.put(self.pb.ClientMessage(hello=self.hello).SerializeToString())  # Hello is alone

    def _reconnect(self, lost: grpc.RpcError) -> None:
        ended = any(key == "grpc-status-details-bin" for key, _ in lost.trailing_metadata() or ())  # by the daemon
        unavailable = lost.code() == grpc.StatusCode.UNAVAILABLE and not ended
        resumable = unavailable and self.welcome is not None and self.reconnect_s > 0
        if not resumable or time.monotonic() > self.lost_at + self.reconnect_s:
            self.ended = True
            raise lost
        self.outgoing.put(None)
        self.channel.close()
        time.sleep(0.02)
        self.hello.resume.session = self.welcome.session
        self.hello.resume.token = self.welcome.token
        self.hello.resume.received = self.received
        self._open()

    def send(self, **fields) -> None:
        """One message of the session: open_queues, batches, data, cancels, finish, leave."""
        message = self.pb.ClientMessage(**fields)
        charged = bool(message.batches or message.data)
        commands = sum(len(batch.commands) for batch in message.batches)
        cost = commands * self.welcome.limits.command_bytes
        while charged and self.cost + cost + message.ByteSize() + 24 > self.window:  # 24: sequence and ack, at most
            self.receive()
        self.sent += 1
        message.sequence, message.ack = self.sent, self.received
        encoded = message.SerializeToString()
        if charged:
            self.cost += cost + len(encoded)
        self.kept.append((self.sent, encoded))
        self.outgoing.put(encoded)

    def receive(self) -> bool:
        """Takes the next message of the daemon. False: the call has ended, as Finish asked."""
        self.lost_at = time.monotonic()
        while True:
            try:
                message = self.pb.ServerMessage.FromString(next(self.call))
            except StopIteration:
                self.ended = True
                return False
            except grpc.RpcError as lost:
                self._reconnect(lost)
                continue
            if message.HasField("welcome"):
                self._take_welcome(message.welcome)
            while self.kept and self.kept[0][0] <= message.ack:
                self.kept.popleft()
            self.window = max(self.window, message.window_bytes)
            if message.sequence and message.sequence <= self.received:
                continue  # it came again after a resume
            if message.sequence > self.received + 1 or message.ack > self.sent:
                raise ValueError(f"the daemon sent message {message.sequence} after {self.received}, ack {message.ack} of {self.sent}")
            self._take(message)
            return True

    def _take_welcome(self, welcome) -> None:
        resumed, self.welcome = self.welcome is not None, welcome
        self.window = max(self.window, welcome.window_bytes)
        if resumed:
            while self.kept and self.kept[0][0] <= welcome.received:
                self.kept.popleft()
            for _, encoded in self.kept:  # unchanged, and before anything new
                self.outgoing.put(encoded)

    def _take(self, message) -> None:
        self.notices += message.notices
        for data in message.data:
            self.data[data.queue, data.value] += data.payload
        self.errors += message.errors
        for position in message.progress:
            self.completed[position.queue] = max(self.completed[position.queue], position.value)
        if message.sequence:
            self.received = message.sequence
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
        self.outgoing.put(None)
        self.channel.close()
