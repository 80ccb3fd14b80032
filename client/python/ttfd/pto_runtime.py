"""Task graphs under the names of PTO's runtime, for programs that were written for it.

    from ttfd import pto_runtime

    runner = pto_runtime.DeviceRunner.get()
    runner.init(device_id=0, cores=3, aicore_kernel=["task_add.elf", "task_add_scalar.elf", "task_multiply.elf"])
    a = runner.allocate_tensor(128 * 128 * 4)
    runner.copy_to_device(a, np.full((128, 128), 2.0, dtype=np.float32))
    graph = pto_runtime.Graph()
    graph.add_task([a, b, c, 128 * 128], func_id=0)
    runner.run(graph)

Differences: the scheduler is part of ttfd, so `aicpu_kernel` is not used; `aicore_kernel` is the list of the functions' ELF
files, of which `func_id` is the index; and device pointers are `ttfd.Buffer`s. `ttfd.graph` has what this module lacks.
"""

from __future__ import annotations

import os
from typing import Sequence

import numpy as np

import ttfd
from ttfd import check, graph

CORE_TYPES = ("vector", "cube")


class Graph:
    """Tasks and edges, before a runner runs them."""

    def __init__(self) -> None:
        self._tasks: list[tuple[list[graph.Argument], int, str]] = []
        self._edges: list[tuple[int, int]] = []

    def add_task(self, arguments: Sequence[graph.Argument], func_id: int, core_type: str = "vector") -> int:
        """A task of function `func_id`, on a core of type "vector" or "cube". Returns its number."""
        if core_type not in CORE_TYPES:
            check.refuse_value(core_type, "core_type", " or ".join(map(repr, CORE_TYPES)))
        self._tasks.append((check.items(arguments, "arguments", "a list of words and buffers"), check.integer(func_id, "func_id"), core_type))
        return len(self._tasks) - 1

    def add_successor(self, task: int, successor: int) -> None:
        """`successor` starts when `task` has ended."""
        pair = [check.integer(number, "task", len(self._tasks) - 1) for number in (task, successor)]
        self._edges.append((pair[0], pair[1]))


class DeviceRunner:
    """A session with the daemon. Each of `cores` is a cube core and two vector cores, as on the device that the names come from."""

    _only: DeviceRunner | None = None

    def __init__(self) -> None:
        self._session: ttfd.Session | None = None
        self._functions: list[ttfd.Kernel] = []
        self._classes: dict[str, list[ttfd.CoreRange]] = {}

    @classmethod
    def get(cls) -> DeviceRunner:
        """The process's runner."""
        if cls._only is None:
            cls._only = cls()
        return cls._only

    def init(self, device_id: int = 0, cores: int = 3, aicpu_kernel: object = None,
             aicore_kernel: Sequence[str | os.PathLike[str]] = ()) -> None:
        """Connects to the daemon and loads the functions."""
        if self._session is not None:
            check.refuse("the runner is initialised; finalize() ends it", "init")
        check.integer(device_id, "device_id", 0)
        session = ttfd.connect(client_name="pto_runtime")
        try:
            device = session.device
            count = check.integer(cores, "cores", (device.workers - 1) // 3, smallest=1)
            tiles = [ttfd.CoreRange(x, y, x, y) for y in range(device.grid_y) for x in range(device.grid_x)][1:]
            functions = [session.load_kernel(path) for path in aicore_kernel]
        except BaseException:
            session.close()
            raise
        self._session, self._functions = session, functions
        self._classes = {"vector": tiles[: 2 * count], "cube": tiles[2 * count: 3 * count]}

    def allocate_tensor(self, size_bytes: int) -> ttfd.Buffer:
        """Memory on the card."""
        return self._open().allocate_dram(size_bytes)

    def free_tensor(self, tensor: ttfd.Buffer) -> None:
        """Frees it."""
        tensor.free()

    def copy_to_device(self, tensor: ttfd.Buffer, array: np.ndarray) -> None:
        """Copies an array's bytes to the card."""
        tensor.write(array)

    def copy_from_device(self, array: np.ndarray, tensor: ttfd.Buffer) -> None:
        """Fills an array from the card."""
        array[...] = tensor.read(array.dtype, array.shape)

    def run(self, tasks: Graph) -> None:
        """Runs a graph and waits until its tasks have ended."""
        built = graph.Graph(self._open(), classes=self._classes)
        functions = [built.function(kernel.name, kernel) for kernel in self._functions]
        numbers = []
        for arguments, func_id, core_type in tasks._tasks:
            if func_id >= len(functions):
                check.refuse_value(func_id, "func_id", f"below {len(functions)}, the number of the runner's functions")
            numbers.append(built.add(functions[func_id], arguments, on=core_type))
        for before, after in tasks._edges:
            built.add_edge(numbers[before], numbers[after])
        built.run()

    def finalize(self) -> None:
        """Ends the session."""
        if self._session is not None:
            self._session.close()
        self._session, self._functions = None, []

    def _open(self) -> ttfd.Session:
        if self._session is None:
            check.refuse("the runner is not initialised; call init()", "init")
        return self._session
