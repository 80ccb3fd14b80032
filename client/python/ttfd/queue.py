"""Queues: the commands of a session."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
import numpy.typing as npt

from ttfd import _native, check
from ttfd.arguments import to_word, word_array
from ttfd.resources import Buffer, Program, Trace
from ttfd.types import Arguments, Launch, LinkPlace, Patch, Position


def _arguments(given: Arguments, numbers: Sequence[range]) -> list[tuple[Any, ...]]:
    """What the kernels get that one of the program's, by its index, consists of."""
    index = check.integer(given.kernel, "arguments.kernel")
    if index >= len(numbers):
        check.refuse_value(index, "arguments.kernel", f"below {len(numbers)}, the number of the program's kernels")
    common, buffers = [], []
    for at, value in enumerate(check.items(given.common, "arguments.common", "a list of words and buffers")):
        if isinstance(value, Buffer):
            buffers.append((at, check.live(value, Buffer, f"arguments.common[{at}]").handle))
        common.append(0 if isinstance(value, Buffer) else to_word(value, f"arguments.common[{at}]"))
    per_core = None if given.per_core is None else word_array(given.per_core, "arguments.per_core")
    if per_core is not None and per_core.ndim != 2:
        check.refuse(f"per_core has the shape (tiles of the kernel, words per tile), not {per_core.shape}", "arguments.per_core")
    words = 0 if per_core is None else per_core.shape[1]
    return [(number, common, buffers, words, per_core) for number in numbers[index]]


def _launch_tuple(launch: Launch) -> tuple[Any, ...]:
    """One run of a program."""
    program = check.live(launch.program, Program, "launch.program")
    timeout_ms = check.milliseconds(launch.timeout, "launch.timeout")
    entries: list[tuple[Any, ...]] = []
    for field, given in check.several(launch.arguments, Arguments, "launch.arguments"):
        more = _arguments(given, program._numbers)
        if any(entry[0] == more[0][0] for entry in entries):
            check.refuse(f"kernel {given.kernel} has arguments already", f"{field}.kernel")
        entries += more
    return program.handle, entries, timeout_ms


def _patch_tuples(trace: Trace, patches: Sequence[Patch]) -> list[tuple[int, tuple[Any, ...]]]:
    """The arguments of a replay that differ from the replay before."""
    entries = []
    for field, patch in check.several(patches, Patch, "replay_trace.patches"):
        launch = check.integer(patch.launch, f"{field}.launch")
        if launch >= trace.launches:
            check.refuse_value(launch, f"{field}.launch", f"below {trace.launches}, the number of the trace's launches")
        given = check.one(patch.arguments, Arguments, f"{field}.arguments")
        entries += [(launch, arguments) for arguments in _arguments(given, trace._numbers[launch])]
    return entries


def _link_tuples(links: Sequence[tuple[LinkPlace, LinkPlace]]) -> list[tuple[Any, Any]]:
    field, tuples = "connect_links.connections", []
    for pair in check.items(links, field, "a list of pairs of ttfd.LinkPlace"):
        ends = check.several(pair, LinkPlace, field)
        if len(ends) != 2:
            check.refuse_value(pair, field, "a pair of ttfd.LinkPlace")
        tuples.append(tuple((*check.integers(end, name, "device", "channel"), *_worker(end, name), check.integer(end.end, f"{name}.end"))
                            for name, end in ends))
    return tuples


def _worker(end: LinkPlace, name: str) -> list[int]:
    place = check.items(end.worker, f"{name}.worker", "a tile (x, y)")
    if len(place) != 2:
        check.refuse_value(end.worker, f"{name}.worker", "a tile (x, y)")
    return [check.integer(one, f"{name}.worker") for one in place]


def _target(buffer: Buffer, offset: int, command: str) -> tuple[int, int]:
    """Handle and offset of what a command reads or writes."""
    return check.live(buffer, Buffer, f"{command}.buffer").handle, check.integer(offset, f"{command}.offset", check.LARGEST)


class Queue(_native.Queue):
    """An ordered stream of commands of a session; queues are independent of each other, but for `after`.

    Every command has a blocking form, which raises what went wrong, and an `enqueue_` form, which returns its `Position` at
    once. The first error of an enqueued command fails the queue: what follows ends ABORTED, unexecuted, until `clear_error`.
    A blocking form that raises leaves the queue open again. Enqueued commands leave when `batch_commands` have gathered,
    at `flush`, and whenever something waits.
    """

    def __repr__(self) -> str:
        return f"<ttfd.Queue {self.id}: {self.completed} of {self.submitted} commands completed>"

    def enqueue_write(self, buffer: Buffer, array: npt.ArrayLike, offset: int = 0) -> Position:
        """Like `write`; returns when the bytes have been taken."""
        payload = check.payload(array, "write.array")
        return Position(self.id, self._enqueue_write(*_target(buffer, offset, "write"), payload))

    def write(self, buffer: Buffer, array: npt.ArrayLike, offset: int = 0) -> None:
        """Copies an array's bytes (any shape, C order) to byte `offset` of the buffer."""
        payload = check.payload(array, "write.array")
        self._write(*_target(buffer, offset, "write"), payload)

    def enqueue_read(self, buffer: Buffer, into: np.ndarray, offset: int = 0) -> Position:
        """Fills the C-contiguous array `into`, which the session keeps, by the time its position is done."""
        target = check.array_to_fill(into, "into")
        return Position(self.id, self._enqueue_read(*_target(buffer, offset, "read"), target))

    def read(self, buffer: Buffer, dtype: npt.DTypeLike = np.uint8, shape: int | tuple[int, ...] | None = None,
             offset: int = 0) -> np.ndarray:
        """A new array of `shape` from byte `offset` of the buffer; shape None: all that follows, one-dimensional."""
        target = _target(buffer, offset, "read")
        array = check.empty_array(shape, dtype, max(0, buffer.size_bytes - target[1]))
        self._read(*target, check.array_to_fill(array, "into"))
        return array

    def fill(self, buffer: Buffer, word: int, offset: int = 0, size_bytes: int | None = None) -> None:
        """Sets every 32-bit word of a range (None: to the end) to `word`: an integer, or the bits of an np.float32."""
        target = _target(buffer, offset, "fill")
        size = max(0, buffer.size_bytes - target[1]) if size_bytes is None else size_bytes
        self._fill(*target, check.integer(size, "fill.size", check.LARGEST), to_word(word, "fill.word"))

    def enqueue_launch(self, program: Program, arguments: Sequence[Arguments] = (), timeout: float = 0.0) -> Position:
        """Like `launch`, without waiting."""
        return Position(self.id, self._enqueue_launch(_launch_tuple(Launch(program, arguments, timeout))))

    def launch(self, program: Program, arguments: Sequence[Arguments] = (), timeout: float = 0.0) -> None:
        """Runs a program and returns when every tile has finished and its writes have landed.

        timeout: seconds the launch may run, when shorter than the daemon's kernel timeout; 0: that one.
        """
        self._launch(_launch_tuple(Launch(program, arguments, timeout)))

    def record_trace(self, launches: Sequence[Launch]) -> Trace:
        """Compiles launches into device memory, to be replayed any number of times. Nothing runs yet.

        What was enqueued on this queue before is waited for.
        """
        steps = [step for _, step in check.several(launches, Launch, "record_trace.launches")]
        return Trace(self._record_trace([_launch_tuple(step) for step in steps]), [step.program for step in steps])

    def enqueue_replay(self, trace: Trace, patches: Sequence[Patch] = ()) -> Position:
        """Like `replay`, without waiting."""
        handle = check.live(trace, Trace, "replay_trace.trace").handle
        return Position(self.id, self._enqueue_replay(handle, _patch_tuples(trace, patches)))

    def replay(self, trace: Trace, patches: Sequence[Patch] = ()) -> None:
        """Runs the launches of a trace and returns when the last has finished. What is patched stays for later replays."""
        self._replay(check.live(trace, Trace, "replay_trace.trace").handle, _patch_tuples(trace, patches))

    def enqueue_connect_links(self, links: Sequence[tuple[LinkPlace, LinkPlace]]) -> Position:
        """Like `connect_links`, without waiting."""
        return Position(self.id, self._enqueue_connect_links(_link_tuples(links)))

    def connect_links(self, links: Sequence[tuple[LinkPlace, LinkPlace]]) -> None:
        """Connects workers of neighbouring devices, 1 to 16 pairs of ends, under a lease of all of these devices.

        Their kernels send segments to each other from then on (<ttfd/link.h>). An end or a channel that is connected
        already is disconnected first. Kernels must not run on any of the devices: FAILED_PRECONDITION. A link that does
        not answer: UNAVAILABLE with reason LINK_DOWN.
        """
        self._connect_links(_link_tuples(links))

    def enqueue_barrier(self) -> Position:
        """Nothing but a position: done when everything before it on this queue is done."""
        return Position(self.id, self._enqueue_barrier())

    def after(self, *positions: Position) -> None:
        """The next command of this queue starts only when these positions are done."""
        self._after([check.position(position, "positions") for position in positions])

    def wait(self, position: Position, timeout: float | None = None) -> None:
        """Waits for a command; raises its error, or DEADLINE_EXCEEDED with reason WAIT after `timeout` seconds."""
        self._wait(*check.position(position, "position"), None if timeout is None else check.milliseconds(timeout, "timeout"))

    def cancel(self, from_value: int) -> None:
        """Commands from this value on that have not started end CANCELLED; started ones run out."""
        self._cancel(check.integer(from_value, "from_value", check.LARGEST))
