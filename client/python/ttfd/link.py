"""The client's end of the numbered transport: what was sent and is not acknowledged, what was received, the window.

Used by ttfd.connection only, under its lock. docs/api.md has the rules.
"""

from __future__ import annotations

import collections

from google.protobuf import message as protobuf

from ttfd.errors import Code, Error
from ttfd.v1 import ttfd_pb2

ACK_S = 0.02  # a received message is acknowledged within this time
_ACK_SHARE = 4  # ... or once this part of what the daemon sends ahead has been received


def nested_messages(message: protobuf.Message) -> int:
    """Messages nested in `message`, at any depth: what the window charges besides encoded bytes."""
    count = 0
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        parts = value if field.label == field.LABEL_REPEATED else (value,)
        count += sum(1 + nested_messages(part) for part in parts)
    return count


class Link:
    """One session's numbering, across its connections."""

    def __init__(self) -> None:
        self.sent = 0  # sequence of the last message numbered
        self.received = 0  # sequence of the last message accepted from the daemon
        self.window = 0  # cost that may have been sent in total
        self.cost = 0  # that has been sent
        self.nested_bytes = 0  # charged for each nested message
        self.ack_due = False  # something was received and not acknowledged
        self._ack_after = 1 << 20  # received bytes
        self._unacknowledged_bytes = 0  # received
        self._kept: collections.deque[tuple[int, bytes]] = collections.deque()

    def start(self, welcome: ttfd_pb2.Welcome) -> None:
        """The first Welcome."""
        self.window = welcome.window_bytes
        self.nested_bytes = welcome.limits.nested_message_bytes
        self._ack_after = max(1, welcome.limits.unacknowledged_bytes // _ACK_SHARE)

    def cost_of(self, encoded_bytes: int, nested: int) -> int:
        """What the window charges for a message with batches or data."""
        return encoded_bytes + nested * self.nested_bytes

    def number(self, message: ttfd_pb2.ClientMessage) -> bytes:
        """Gives the message its sequence and an ack. The encoded message is kept until it is acknowledged."""
        self.sent += 1
        message.sequence = self.sent
        encoded = self._with_ack(message)
        self._kept.append((self.sent, encoded))
        return encoded

    def ack(self) -> bytes:
        """A message that only acknowledges."""
        return self._with_ack(ttfd_pb2.ClientMessage())

    def accept(self, message: ttfd_pb2.ServerMessage, encoded_bytes: int) -> bool:
        """Takes the ack and the window; whether the message is new. Raises for what breaks the protocol."""
        if message.ack > self.sent:
            raise Error(Code.INTERNAL, f"the daemon acknowledged message {message.ack} of {self.sent}")
        self._drop(message.ack)
        self.window = max(self.window, message.window_bytes)
        if message.sequence == 0:
            return True  # the handshake, or an ack alone
        if message.sequence <= self.received:
            return False
        if message.sequence != self.received + 1:
            raise Error(Code.INTERNAL, f"the daemon sent message {message.sequence} after {self.received}")
        self.received = message.sequence
        self.ack_due = True
        self._unacknowledged_bytes += encoded_bytes
        return True

    @property
    def ack_urgent(self) -> bool:
        """The daemon may soon stop sending."""
        return self._unacknowledged_bytes >= self._ack_after

    def resume(self, received: int) -> list[bytes]:
        """What the daemon, which has accepted messages up to `received`, has to get again, in order."""
        self._drop(received)
        return [encoded for _, encoded in self._kept]

    def _with_ack(self, message: ttfd_pb2.ClientMessage) -> bytes:
        message.ack = self.received
        self.ack_due = False
        self._unacknowledged_bytes = 0
        return message.SerializeToString()

    def _drop(self, ack: int) -> None:
        while self._kept and self._kept[0][0] <= ack:
            self._kept.popleft()
