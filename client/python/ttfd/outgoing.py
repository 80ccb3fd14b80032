"""The message that will be sent next: commands of several queues gathered into batches, and payload.

Used by ttfd.connection only, under its lock.
"""

from __future__ import annotations

from ttfd.link import nested_messages
from ttfd.timeline import Timeline
from ttfd.types import Position
from ttfd.v1 import ttfd_pb2


def _nested_in(command: ttfd_pb2.Command) -> int:
    # As nested_messages counts, without looking at every field of what is launched often.
    op = command.WhichOneof("op")
    if op == "launch":
        return 1 + sum(1 + len(arguments.buffers) for arguments in command.launch.arguments)
    if op in ("write", "read", "barrier", "fill", "copy"):
        return 1
    return nested_messages(command)


class Outgoing:
    """Gathers; `bytes` and `nested` are what the message has so far."""

    def __init__(self) -> None:
        self.message = ttfd_pb2.ClientMessage()
        self.bytes = 0  # about, never too few
        self.nested = 0
        self.commands = 0

    def __bool__(self) -> bool:
        return self.bytes > 0

    def add_command(self, queue_id: int, timeline: Timeline, command: ttfd_pb2.Command, size: int, per_batch: int) -> None:
        """`size`: of the encoded command, about, never too small."""
        timeline.submitted += 1
        batches = self.message.batches
        last = batches[-1] if batches else None
        if (last is None or last.queue != queue_id or timeline.waits or timeline.clears_error is not None
                or len(last.commands) >= per_batch):
            last = batches.add(queue=queue_id, first_value=timeline.submitted)
            if timeline.clears_error is not None:
                last.clears_error = timeline.clears_error
            for position in timeline.waits:
                last.waits.add(queue=position.queue, value=position.value)
            self.nested += 1 + len(timeline.waits)
            self.bytes += 32 + 20 * len(timeline.waits)
            timeline.waits, timeline.clears_error = [], None
        last.commands.append(command)
        self.nested += 1 + _nested_in(command)
        self.commands += 1
        self.bytes += size

    def add_data(self, position: Position, offset: int, payload: bytes) -> None:
        """Payload of a streamed command."""
        self.message.data.add(queue=position.queue, value=position.value, offset=offset, payload=payload)
        self.nested += 1
        self.bytes += 48 + len(payload)

    def add_cancel(self, position: Position) -> None:
        """Of commands from there on."""
        self.message.cancels.add(queue=position.queue, from_value=position.value)
        self.nested += 1
        self.bytes += 32

    def add_queue(self, open_queue: ttfd_pb2.OpenQueue) -> None:
        """Opens a queue, before every batch of this message."""
        self.message.open_queues.append(open_queue)
        self.nested += nested_messages(self.message.open_queues[-1]) + 1
        self.bytes += 16 + open_queue.ByteSize()
