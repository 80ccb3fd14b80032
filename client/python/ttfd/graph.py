"""Graphs of tasks, given to the card once and scheduled there.

    import numpy as np
    import ttfd
    from ttfd.graph import Graph

    with ttfd.connect() as session:
        graph = Graph(session)
        add = graph.function("add", session.load_kernel("task_add.elf"))
        t = graph.add(add, [a, b, c, 128 * 128])
        u = graph.add(add, [c, b, d, 128 * 128], after=[t])
        graph.run()  # any number of times

A function is an ordinary kernel, built for BRISC, or one and others for further harts of the tile: the task's arguments are
their `Argument(i)`. A task runs when the tasks before it have ended, on any worker of its class that has nothing to do. Wrong
arguments raise `ttfd.Error` at once; what is wrong with the graph, such as a cycle, is raised by `run`, and names tasks.
docs/task-graphs.md is the guide.
"""

from __future__ import annotations

import dataclasses
import os
import threading
from typing import Any, Callable, Mapping, Sequence, Union

import numpy as np
import numpy.typing as npt

from ttfd import _native, check
from ttfd.arguments import core_ranges, format_number, processor_number, to_word, word_array
from ttfd.queue import Queue
from ttfd.resources import Buffer, ComputeKernel, Kernel, Program
from ttfd.session import Session
from ttfd.types import Arguments, Cores, Launch, Position

Argument = Union[int, np.float32, Buffer]


@dataclasses.dataclass(frozen=True)
class Function:
    """A function of a graph, by `Graph.function`."""

    number: int


@dataclasses.dataclass(frozen=True)
class Task:
    """A task of a graph, by `Graph.add`."""

    number: int


@dataclasses.dataclass(frozen=True)
class Scratch:
    """A circular buffer that every worker has, for the functions: `pages` of `page_bytes`, a multiple of 16.

    index: from 0 to 27. Its pages are what the last task left. format: as in `ttfd.CircularBuffer`.
    """

    index: int
    pages: int
    page_bytes: int
    format: str | None = None


@dataclasses.dataclass(frozen=True)
class Configuration:
    """Circular buffers and common arguments for tasks, by `Graph.configuration`."""

    number: int


@dataclasses.dataclass(frozen=True)
class Report:
    """The last run. cancelled: by `Graph.cancel`. blocks: of 64 records, that have ended; joins are records, too. clocks: of the
    scheduler, from the first task to the end of the last. rounds: of its loop."""

    cancelled: bool
    blocks: int
    clocks: int
    rounds: int


@dataclasses.dataclass(frozen=True)
class ClassSummary:
    """A class in a timeline. utilization: part of the workers' time in which they were in tasks, 0 to 1."""

    name: str
    workers: int
    tasks: int
    utilization: float


@dataclasses.dataclass(frozen=True)
class Summary:
    """A timeline in numbers. clocks: from the begin of the first task to the end of the last. tasks_per_second: at the card's
    clock."""

    tasks: int
    clocks: int
    clocks_per_task: float
    tasks_per_second: float
    classes: tuple[ClassSummary, ...]


_TASK = np.dtype({"names": ["begin", "end", "function", "in_class", "worker"], "formats": ["u8", "u8", "u4", "u4", "u4"],
                  "offsets": [0, 8, 16, 20, 24], "itemsize": 32})


class Timeline:
    """When and where the tasks of a run were, by `Graph.run_with_timeline`.

    tasks: an array by task, with fields begin and end (of the last of its kernels), in clocks since the begin of the first
    task; function, an index in functions; in_class, an index in classes; worker, an index in the tiles of that class.
    classes: (name, tiles (x, y)). functions: names. edges: an array of pairs of tasks, before and after, each once. clock_hz: of
    the card.
    """

    def __init__(self, native: _native.Timeline) -> None:
        self._native = native
        self.tasks: np.ndarray = np.frombuffer(native.tasks(), _TASK)
        self.classes = native.classes
        self.functions = native.functions
        self.edges: np.ndarray = np.frombuffer(native.edges(), np.uint32).reshape(-1, 2)
        self.clock_hz = native.clock_hz

    def __repr__(self) -> str:
        return f"<ttfd.graph.Timeline {len(self.tasks)} tasks>"

    def summarize(self) -> Summary:
        """The timeline in numbers."""
        *numbers, classes = self._native.summarize()
        return Summary(*numbers, tuple(ClassSummary(*one) for one in classes))

    def write_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes a file in Chrome's trace event format, for ui.perfetto.dev: a process for each class, a thread for each worker, a
        slice for each task, an arrow for each edge, and for each class counters of tasks that are ready and of workers that are
        idle. An existing file is replaced once the new one is whole."""
        self._native.write_trace(check.path(path, "path"))


def _spaces(given: Sequence[Scratch], field: str) -> list[tuple[int, int, int, int]]:
    return [(*check.integers(one, name, "index", "pages", "page_bytes"), format_number(one.format, f"{name}.format"))
            for name, one in check.several(given, Scratch, field)]


def _numbers(tasks: Sequence[Task]) -> list[int]:
    return [one.number for _, one in check.several(tasks, Task, "after")] if tasks else []


class Graph:
    """A graph in a session.

    scheduler: the tile that schedules, and runs no task. classes: workers by name; a class has whole groups of 16 workers, of
    which there are 14. None: one class "ALL" of all other workers. timeout: longest run in seconds; 0: the daemon's kernel
    timeout. Any thread may use a graph; calls take turns, and a host form must not call its graph.
    """

    def __init__(self, session: Session, scheduler: tuple[int, int] = (0, 0), classes: Mapping[str, Cores] | None = None,
                 scratch: Sequence[Scratch] = (), timeout: float = 0.0) -> None:
        tile = core_ranges(scheduler, "scheduler")[0]
        named = [(check.text(name, "classes"), core_ranges(cores, f"classes[{name!r}]")) for name, cores in dict(classes or {}).items()]
        spaces = _spaces(scratch, "scratch")
        self._session = session
        self._native = _native.Graph(session._native, (tile.x0, tile.y0), named, spaces, check.milliseconds(timeout, "timeout"))
        self._buffers: dict[int, Buffer] = {}  # that the tasks name, by their handles
        self._kernels: list[Kernel] = []
        self._memory: dict[int, np.ndarray] = {}  # of a run on the host, by handle
        self._on_host = threading.Lock()
        self._timeout = timeout

    tasks = property(lambda self: self._native.tasks, doc="Number of tasks.")
    edges = property(lambda self: self._native.edges, doc="Number of edges.")

    def __repr__(self) -> str:
        return f"<ttfd.graph.Graph {self.tasks} tasks, {self.edges} edges>"

    def function(self, name: str, kernel: Kernel | None, on: str = "", host: Callable[..., None] | None = None,
                 ncrisc: Kernel | None = None, compute: ComputeKernel | None = None, configured: bool = False) -> Function:
        """A function: its name in messages, its kernel, the class of its tasks (the first if none is given).

        host: what it does, for `run_on_host`; it gets the arguments of a task, arrays in place of buffers. ncrisc, compute:
        kernels that run together with that for BRISC, with the same arguments: for NCRISC, and for the Tensix engine (by
        `Session.load_kernels`). A task ends when all of them have. configured: its tasks have a `configuration` each, and which
        circular buffers and arguments its kernels use is not checked; it may have no kernel for BRISC (None).
        """
        check.callback(host, "host")
        own = 0 if kernel is None and configured else self._live(kernel, "kernel").handle
        reader = 0 if ncrisc is None else self._live(ncrisc, "ncrisc").handle
        parts = () if compute is None else check.one(compute, ComputeKernel, "compute").kernels
        if compute is not None and len(parts) != 3:
            check.refuse(f"compute has {len(parts)} kernels; one of Session.load_kernels has three", "compute")
        engine = [self._live(one, "compute").handle for one in parts]
        memory = self._memory  # not self: the native graph keeps the function
        call = None if host is None else lambda words: host(*[word if word >= 0 else memory[-word] for word in words])
        return Function(self._native.add_function(check.text(name, "name"), own, check.text(on, "on"), call, engine, reader, bool(configured)))

    def add(self, function: Function, arguments: Sequence[Argument], after: Sequence[Task] = (), on: str = "") -> Task:
        """A task: at most 16 arguments, words as in `ttfd.Arguments` or buffers; tasks that end before it starts; its class."""
        return Task(self._native.add(self._number(function), self._words(arguments, "arguments"), _numbers(after), check.text(on, "on")))

    def configuration(self, circular_buffers: Sequence[Scratch] = (), common: Mapping[int | str, Sequence[Argument]] | None = None) -> Configuration:
        """Circular buffers and common arguments, by processor, for tasks of functions that are configured: one of these is what a
        launch of its function's kernels on one tile is. At most 4 KiB."""
        spaces = _spaces(circular_buffers, "circular_buffers")
        words = [(processor_number(processor, "common"), self._words(given, "common")) for processor, given in dict(common or {}).items()]
        return Configuration(self._native.add_configuration(spaces, words))

    def add_configured(self, function: Function, configuration: Configuration, after: Sequence[Task] = (), on: str = "") -> Task:
        """A task of a function that is configured."""
        number = check.one(configuration, Configuration, "configuration").number
        return Task(self._native.add_configured(self._number(function), number, _numbers(after), check.text(on, "on")))

    def add_many(self, function: Function, words: npt.ArrayLike, buffers: Mapping[int, Buffer] | None = None, on: str = "") -> Task:
        """A task for each row of an array of words; a buffer of `buffers` replaces a column. Returns the first task."""
        array = np.ascontiguousarray(word_array(words, "words"))
        if array.ndim != 2:
            check.refuse(f"words has the shape (tasks, arguments), not {array.shape}", "words")
        named = {check.integer(column, "buffers", array.shape[1] - 1): self._handle(buffer, "buffers")
                 for column, buffer in dict(buffers or {}).items()}
        return Task(self._native.add_many(self._number(function), array, array.shape[0], named, check.text(on, "on")))

    def add_edge(self, before: Task, after: Task) -> None:
        """`after` starts when `before` has ended."""
        self.add_edges([[check.one(before, Task, "before").number, check.one(after, Task, "after").number]])

    def add_edges(self, pairs: npt.ArrayLike) -> None:
        """The same for each row of an array (edges, 2) of the numbers of tasks."""
        array = np.ascontiguousarray(word_array(pairs, "pairs"))
        if array.ndim != 2 or array.shape[1] != 2:
            check.refuse(f"pairs has the shape (edges, 2), not {array.shape}", "pairs")
        self._native.add_edges(array)

    def load(self, queue: Queue | None = None) -> None:
        """Puts the graph on the card, without running it; `run` does so if it has changed."""
        self._native.load(self._queue(queue))

    def run(self, queue: Queue | None = None) -> None:
        """Runs the graph on a queue, the session's if none is given, and waits until all tasks have ended."""
        self._native.run(self._queue(queue))

    def run_with_timeline(self, queue: Queue | None = None) -> Timeline:
        """`run` with a log of 16 bytes a task in DRAM, which workers write and the client reads at the end. A run that fails or
        is cancelled has no timeline."""
        return Timeline(self._native.run_with_timeline(self._queue(queue)))

    def enqueue(self, queue: Queue | None = None) -> Position:
        """`run` without waiting."""
        used = self._queue(queue)
        return Position(used.id, self._native.enqueue(used))

    def launch(self, queue: Queue | None = None) -> Launch:
        """The launch of the graph as it is now, for `Queue.record_trace`. Replays of it cannot be cancelled."""
        program, kernels = self._native.launch(self._queue(queue))
        arguments = []
        for index, (_, words, buffers) in enumerate(kernels):
            common: list[Argument] = list(words)
            for word, handle in buffers:
                common[word] = self._buffers.get(handle) or Buffer(_native.Resource(handle), self._session, 0, 0)
            arguments.append(Arguments(index, common))
        numbers = [range(kernel, kernel + 1) for kernel, _, _ in kernels]
        return Launch(Program(_native.Resource(program), numbers, ()), arguments, self._timeout)

    def cancel(self, transfers: Queue) -> None:
        """Ends the runs that have begun, after the tasks that workers have: `run` raises `ttfd.Error` with code CANCELLED. From
        any thread, also while another is in `run`. Nothing is left to repair. transfers: a queue that does not wait for the
        run, such as `session.open_queue(transfer=True)`."""
        self._native.cancel(check.one(transfers, Queue, "transfers"))

    def rebind(self, old: Buffer, new: Buffer) -> None:
        """Tasks that name `old` use `new` in its place, from the next run on, without another upload."""
        handle = check.one(old, Buffer, "old").handle
        self._native.rebind(handle, check.live(new, Buffer, "new").handle)
        self._buffers.pop(handle, None)
        self._handle(new, "new")

    def report(self, queue: Queue | None = None) -> Report:
        """Of the last run, after all that was enqueued on the queue."""
        return Report(*self._native.report(self._queue(queue)))

    def run_on_host(self, memory: Mapping[Buffer, np.ndarray]) -> None:
        """Runs the functions' host forms, in an order that the edges allow, on arrays that stand for buffers: the same results
        without a card."""
        arrays = {check.one(buffer, Buffer, "memory").handle: array for buffer, array in memory.items()}
        if not self._on_host.acquire(blocking=False):
            check.refuse("a run on the host is under way", "memory")
        try:
            self._memory.update(arrays)
            self._native.run_on_host(list(arrays))
        finally:
            self._memory.clear()
            self._on_host.release()

    def _words(self, values: Sequence[Argument], field: str) -> list[tuple[int, bool]]:
        return [(self._handle(value, field), True) if isinstance(value, Buffer) else (to_word(value, field), False)
                for value in check.items(values, field, "a list of words and buffers")]

    def _live(self, kernel: Kernel, field: str) -> Kernel:
        self._kernels.append(check.live(kernel, Kernel, field))
        return kernel

    def _handle(self, buffer: Buffer, field: str) -> int:
        handle = check.live(buffer, Buffer, field).handle
        self._buffers[handle] = buffer
        return handle

    def _queue(self, queue: Queue | None) -> Queue:
        return self._session.queue if queue is None else check.one(queue, Queue, "queue")

    @staticmethod
    def _number(function: Function) -> int:
        return check.one(function, Function, "function").number
