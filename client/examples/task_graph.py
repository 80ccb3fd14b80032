"""Example: task graphs that the card schedules itself, checked against the host.

    task_graph.py KERNELS_FOLDER [--tasks N] [--relaunches N]

First (a + b + 1)(a + b + 2) as four tasks under the names of PTO's runtime. Then a random graph of integer tasks, whose values
are hashes of those of the tasks before them: a task that ran too early, twice or not at all would change them. The graph runs
on the host, on the card, and many times more on the card without another upload.
"""

import argparse
import pathlib
import sys
import time

import numpy as np

import ttfd
from ttfd import pto_runtime
from ttfd.graph import Graph

ADD, ADD_SCALAR, MULTIPLY = range(3)
FUNCTIONS = ("task_add", "task_add_scalar", "task_multiply")
PAGE_BYTES = 64  # of a value of the random graph
NONE = 0xFFFFFFFF
MOST_READ = 4  # values that a task reads
NEAR = 1000  # tasks read values of the last 1000 before them


def formula(folder: pathlib.Path) -> bool:
    """(a + b + 1)(a + b + 2) of 128 x 128 numbers."""
    size = 128 * 128
    runner = pto_runtime.DeviceRunner.get()
    runner.init(device_id=0, cores=3, aicore_kernel=[folder / f"{name}.elf" for name in FUNCTIONS])
    a, b, c, d, e, f = (runner.allocate_tensor(size * 4) for _ in range(6))
    runner.copy_to_device(a, np.full((128, 128), 2.0, dtype=np.float32))
    runner.copy_to_device(b, np.full((128, 128), 3.0, dtype=np.float32))
    graph = pto_runtime.Graph()
    t0 = graph.add_task([a, b, c, size], func_id=ADD)
    t1 = graph.add_task([c, np.float32(1.0), d, size], func_id=ADD_SCALAR)
    t2 = graph.add_task([c, np.float32(2.0), e, size], func_id=ADD_SCALAR)
    t3 = graph.add_task([d, e, f, size], func_id=MULTIPLY)
    for before, after in ((t0, t1), (t0, t2), (t1, t3), (t2, t3)):
        graph.add_successor(before, after)
    runner.run(graph)
    result = np.zeros((128, 128), dtype=np.float32)
    runner.copy_from_device(result, f)
    runner.finalize()
    right = bool(np.all(result == 42.0))
    print(f"(a + b + 1)(a + b + 2) with a = 2, b = 3: 4 tasks, {size} numbers, {'all 42' if right else 'WRONG'}")
    return right


def mix(value: int) -> int:
    """The hash of task_mix.cc."""
    value ^= value >> 16
    value = value * 0x7FEB352D & NONE
    return value ^ value >> 15


def host_mix(values: np.ndarray, number: int, *read: int) -> None:
    """The function of task_mix.cc."""
    value = number + 1
    for task in read:
        if task != NONE:
            value = mix(value + int(values[task, 0]) & NONE)
    values[number, 0] = value


def random_graph(session: ttfd.Session, kernel: ttfd.Kernel, tasks: int) -> tuple[Graph, ttfd.Buffer]:
    """The graph and the buffer of its values."""
    generator = np.random.default_rng(seed=1)
    values = session.allocate_dram(tasks * PAGE_BYTES, PAGE_BYTES)
    # Numbers say nothing of the order.
    numbers = generator.permutation(tasks).astype(np.uint32)
    words = np.full((tasks, 2 + MOST_READ), NONE, dtype=np.uint32)
    words[:, 1] = np.arange(tasks)
    edges = []
    for place in range(1, tasks):
        before = numbers[generator.integers(max(0, place - NEAR), place, size=generator.integers(0, MOST_READ + 1))]
        words[numbers[place], 2:2 + len(before)] = before
        edges += [(task, numbers[place]) for task in before]
    graph = Graph(session)
    function = graph.function("mix", kernel, host=host_mix)
    graph.add_many(function, words, buffers={0: values})
    if edges:
        graph.add_edges(np.array(edges, dtype=np.uint32))
    return graph, values


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", metavar="KERNELS_FOLDER", type=pathlib.Path, help="the folder of task_mix.elf and the others")
    parser.add_argument("--tasks", metavar="N", type=int, default=10_000, help="tasks of the random graph (default 10000)")
    parser.add_argument("--relaunches", metavar="N", type=int, default=1000, help="further runs of it (default 1000)")
    options = parser.parse_args()
    if options.tasks < 1 or options.relaunches < 0:
        parser.error("--tasks is at least 1, --relaunches at least 0")
    right = formula(options.folder)
    with ttfd.connect(client_name="task_graph") as session:
        graph, values = random_graph(session, session.load_kernel(options.folder / "task_mix.elf"), options.tasks)
        expected = np.zeros((options.tasks, PAGE_BYTES // 4), dtype=np.uint32)
        graph.run_on_host({values: expected})

        def check(what: str) -> bool:
            found = values.read(np.uint32, expected.shape)
            wrong = int(np.count_nonzero(found[:, 0] != expected[:, 0]))
            print(f"{what}: {wrong} of {options.tasks} values differ from the host's")
            return wrong == 0

        graph.run()
        right &= check(f"{graph.tasks} integer tasks with {graph.edges} edges")
        elapsed = 0.0
        for _ in range(options.relaunches):
            session.queue.fill(values, 0)  # nothing of the last run helps
            start = time.perf_counter()
            graph.run()
            elapsed += time.perf_counter() - start
        if options.relaunches:
            right &= check(f"after {options.relaunches} relaunches")
            report = graph.report()
            print(f"{options.relaunches * options.tasks / elapsed / 1e6:.2f} million tasks a second, {report.clocks / options.tasks:.1f} "
                  f"clocks a task, {1e3 * elapsed / options.relaunches:.2f} ms a launch on {session.device.workers - 1} workers")
    if right:
        print("verified: all values are those of the host")
    return 0 if right else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ttfd.Error as error:
        sys.exit(f"task_graph.py: {error}")
