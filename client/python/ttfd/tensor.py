"""Tensors on the card, and operations with them.

    import numpy as np
    import ttfd.tensor as tt

    with tt.open() as card:
        x, w = card.tensor(np.ones((64, 128))), card.tensor(np.full((128, 32), 0.5), dtype="bfp8")
        with card.record() as step:
            y = tt.softmax(tt.matmul(x, w) + 1.0)
        step.replay(times=16)
        print(y, y.numpy().shape)

The functions are the operations of a table (`ttfdctl op --list`), with the names that TT-NN gives them: inputs are tensors,
attributes are keywords. In `add`, `subtract`, `multiply` and `div` the second input may be a number. A wrong call raises
`ttfd.Error`, and nothing is enqueued; errors of the card come from `numpy()` and `Card.finish()`. Any thread may use a card;
a recording has the operations of the thread that made it. docs/tensors.md is the guide and has the contract.
"""

from __future__ import annotations

import contextlib
import inspect
import os
from typing import Any, Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

import ttfd
from ttfd import _native, check
from ttfd._native import DTYPES
from ttfd.arguments import core_ranges
from ttfd.graph import Graph
from ttfd.types import Cores

LAYOUTS = ["tile", "row_major"]


def _choice(value: object, values: Sequence[str], field: str) -> int:
    if not isinstance(value, str) or value not in values:
        check.refuse_value(value, field, " or ".join(map(repr, values)))
    return values.index(value)


def _element(dtype: str) -> type[np.generic]:
    return np.uint32 if dtype == "uint32" else np.float32


class Tensor:
    """A tensor on a card. Nothing but a cache's operations changes its elements; its memory is used again when it is collected, or
    deallocated. Operators are operations: + - * / @ and unary -."""

    def __init__(self, native: _native.Tensor, card: Card) -> None:
        self._native = native
        self.card = card

    shape = property(lambda self: self._native.shape, doc="The extents, a tuple of integers.")
    dtype, layout = property(lambda self: self._native.dtype, doc="One of DTYPES."), property(lambda self: self._native.layout, doc="One of LAYOUTS.")

    def __repr__(self) -> str:
        return f"<ttfd.tensor.Tensor {list(self.shape)} {self.dtype}, layout {self.layout}>"

    def numpy(self) -> np.ndarray:
        """The elements as a new array of np.float32, or np.uint32. Waits for all operations enqueued before."""
        array = np.empty(self.shape, _element(self.dtype))
        self._native.read(array)
        return array

    __array__ = lambda self, dtype=None: self.numpy().astype(dtype or _element(self.dtype))

    @property
    def buffer(self) -> ttfd.Buffer:
        """Where the elements lie, for programs of one's own on `card.session`. It is the tensor's: freeing it does nothing."""
        found = self._native.buffer
        if found is None:
            check.refuse("the tensor is deallocated", "tensor")
        buffer = ttfd.Buffer(_native.Resource(found[0]), self.card.session, *found[1:])
        buffer.tensor = self  # which keeps the memory
        return buffer

    def deallocate(self) -> None:
        """Gives the memory back; it is an error to use the tensor from here. What has been enqueued is not affected."""
        self._native.deallocate()

    __neg__ = lambda self: _apply("neg", [self], {})
    __rsub__ = lambda self, number: -self + number
    __rtruediv__ = lambda self, number: _apply("reciprocal", [self], {}) * number


class Card:
    """A place for tensors, in a session. Made by `open`, or for a session that exists by `Card(session)`. `launch` is the session's."""

    def __init__(self, session: ttfd.Session, *, cores: Cores = (), launch_products: int = 4096) -> None:
        self.session = check.one(session, ttfd.Session, "session")
        self._native = _native.Card(session._native, core_ranges(cores, "cores"), check.integer(launch_products, "launch_products"))

    def __repr__(self) -> str:
        return f"<ttfd.tensor.Card of {self._native.cores} cores in {self.session!r}>"

    def __enter__(self) -> Card:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.session.__exit__(*exception)

    def tensor(self, array: npt.ArrayLike, dtype: str = "bfloat16", layout: str | None = None) -> Tensor:
        """A tensor with the numbers of an array, which is not copied before if it is np.float32 (for "uint32": np.uint32) in C
        order. layout: None: "tile", but "row_major" for "uint32"."""
        number, numbers = _choice(dtype, DTYPES, "dtype"), np.asarray(array)
        order = _choice(layout or LAYOUTS[dtype == "uint32"], LAYOUTS, "layout")
        if numbers.dtype.kind not in "fiub":
            check.refuse_value(array, "array", "an array of numbers")
        if dtype == "uint32" and (numbers.dtype.kind == "f" or (numbers.size and not 0 <= numbers.min() <= numbers.max() <= check.UINT32)):
            check.refuse_value(array, "array", f"an array of integers from 0 to {check.UINT32}")
        with np.errstate(over="ignore"):  # a double beyond np.float32 is infinity
            numbers = np.ascontiguousarray(numbers, _element(dtype))
        return Tensor(self._native.tensor(numbers, numbers.shape, number, order), self)

    def record(self, *, clocks: bool = False) -> contextlib.AbstractContextManager[Recording]:
        """Records the operations of the block in place of running them; an exception in the block abandons the recording. clocks:
        replays read the clock between operations, for Recording.clocks, which takes about a launch for each of them."""
        return self._recorded(Recording(), bool(clocks), lambda: self._native.end_recording())

    def record_tasks(self, graph: Graph) -> contextlib.AbstractContextManager[TaskRecording]:
        """Makes the operations of the block tasks of a graph in this session, in place of running them: a task for each core of each
        operation, which starts when the tasks have ended whose tensors it reads or writes. An exception abandons them."""
        tasks = check.one(graph, Graph, "graph")
        return self._recorded(TaskRecording(), False, lambda: self._native.end_recording_as_tasks(tasks._native))

    @contextlib.contextmanager
    def _recorded(self, recording: Any, clocks: bool, end: Callable[[], Any]) -> Iterator[Any]:
        self._native.begin_recording(clocks)
        try:
            yield recording
        except BaseException:
            with contextlib.suppress(ttfd.Error):
                self._native.end_recording()
            raise
        recording._native = end()

    launch = lambda self, *arguments, **named: self.session.launch(*arguments, **named)  # a program of one's own

    def finish(self) -> None:
        """Waits until all operations enqueued so far have ended. The first error of one fails all after it."""
        self._native.finish()

    def clear_error(self) -> None:
        """Lets operations run again after an error of the card."""
        self._native.clear_error()

    counts = property(lambda self: dict(zip(("operations", "launches", "programs", "pooled_bytes"), self._native.counts())),
                      doc="Operations and launches so far, programs that exist, bytes of buffers that wait for a tensor.")


class Recording:
    """Operations that replay without the host. It keeps the tensors that it reads and makes."""
    _native: _native.Recording | None = None

    def replay(self, times: int = 1) -> None:
        """Enqueues replays, after all operations enqueued before."""
        if self._native is None:
            check.refuse("the block of the recording has not ended, or has failed", "recording")
        self._native.replay(check.integer(times, "times"))

    def clocks(self) -> list[tuple[str, int, int]]:
        """Name, launches and clocks of each operation in the last replay, in their order: clocks of the card's first core from the end of
        the operation before it to its own; launches of other sessions that come between count, too. An operation that is made of several has several entries. Waits for all operations enqueued
        before. It is an error without `clocks` in Card.record, or before the first replay."""
        if self._native is None:
            check.refuse("the block of the recording has not ended, or has failed", "recording")
        return self._native.clocks()

    launches = property(lambda self: 0 if self._native is None else self._native.launches, doc="Launches of a replay, with those that read the clock.")


class TaskRecording:
    """Operations as tasks of a graph. It keeps the tensors that they read and make, and has to exist while the graph may run; tensors of
    the block have no defined content before the first run."""
    _native: _native.TaskRecording | None = None

    tasks = property(lambda self: 0 if self._native is None else self._native.tasks, doc="Tasks that it has added.")


def open(address: str | os.PathLike[str] | None = None, *, cores: Cores = (), launch_products: int = 4096, **options: Any) -> Card:
    """Opens a session (`ttfd.connect`, which takes `options`) and a card in it; a context manager that closes both. cores: the workers
    that operations may use; none: all. launch_products: longest launch, in products of two tiles; larger operations become several,
    so that other sessions are served between them."""
    lease = options.get("lease")
    return Card(ttfd.connect(address, **options), cores=cores or (lease.workers if lease else ()), launch_products=launch_products)


# With a number in place of the second input: that operation with an attribute of the number.
_WITH_NUMBER = {"add": ("add_scalar", lambda number: number), "subtract": ("add_scalar", lambda number: -number),
                "multiply": ("multiply_scalar", lambda number: number), "div": ("multiply_scalar", lambda number: np.float64(1) / number)}


def _apply(name: str, inputs: Sequence[Any], attributes: dict[str, Any]) -> Any:
    """One tensor, or a list of several."""
    if len(inputs) == 2 and name in _WITH_NUMBER and isinstance(inputs[1], (int, float, np.number)):
        name, scalar = _WITH_NUMBER[name][0], _WITH_NUMBER[name][1](inputs[1])
        inputs, attributes = inputs[:1], {**attributes, "scalar": float(scalar)}
    tensors = [tensor for _, tensor in check.several(inputs, Tensor, name)]
    made = [Tensor(output, tensors[0].card) for output in _native.apply(name, [tensor._native for tensor in tensors], attributes)]
    return made[0] if len(made) == 1 else made


def _function(name: str, inputs: list[tuple[str, bool, bool]], attributes: list[tuple[str, Any, str]], doc: str) -> Any:
    """The operation as a function; its signature is the table's."""
    signature = inspect.Signature(
        [inspect.Parameter(given, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None if optional else inspect.Parameter.empty)
         for given, optional, _ in inputs]
        + [inspect.Parameter(given, inspect.Parameter.KEYWORD_ONLY, default=standard) for given, standard, _ in attributes])

    def function(*positional: Any, **named: Any) -> Any:
        try:
            bound = signature.bind(*positional, **named).arguments
        except TypeError as problem:
            check.refuse(f"{name}: {problem}", name)
        given = [bound.pop(each) for each, _, _ in inputs if bound.get(each) is not None]
        return _apply(name, check.items(given[0], name, "a list of tensors") if inputs[0][2] else given, bound)

    function.__name__ = function.__qualname__ = name
    function.__signature__ = signature
    function.__doc__ = "\n".join([doc, ""] + [f"{given}: {text}." for given, _, text in attributes])
    return function


__all__ = ["Card", "DTYPES", "LAYOUTS", "Recording", "TaskRecording", "Tensor", "open"]
for _entry in _native.operations():
    globals()[_entry[0]] = _function(*_entry)
    __all__.append(_entry[0])
for _operator, _name in {"add": "add", "radd": "add", "sub": "subtract", "mul": "multiply", "rmul": "multiply", "truediv": "div",
                         "matmul": "matmul"}.items():
    setattr(Tensor, f"__{_operator}__", globals()[_name])
