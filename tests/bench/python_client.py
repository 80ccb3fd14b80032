#!/usr/bin/python3
"""A Python client as a child of ttfd_bench: python_client.py PACKAGE_FOLDER ADDRESS KERNEL_ELF.

Says "ready", then answers each line with "figure" and a number:

    launch MS       the median of the microseconds of blocking launches, which it does for so many milliseconds
    upload TASKS    seconds from the first call that describes a graph of so many tasks until it is on the card

It ends with its standard input.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

NEAR = 1000  # edges of a graph come from the last so many tasks


def launches(session: Any, program: Any, milliseconds: float) -> float:
    """Blocking launches."""
    times = []
    now = start = time.perf_counter()
    while not times or now - start < milliseconds / 1000:
        session.launch(program)
        before, now = now, time.perf_counter()
        times.append(now - before)
    return statistics.median(times) * 1e6


def upload(session: Any, kernel: Any, tasks: int) -> float:
    """A graph with two edges a task."""
    import numpy as np  # pylint: disable=import-outside-toplevel
    from ttfd.graph import Graph  # pylint: disable=import-outside-toplevel

    numbers = np.arange(tasks, dtype=np.uint32)
    after = np.repeat(numbers[1:], 2)
    back = np.random.default_rng(1).integers(1, np.minimum(after, NEAR) + 1)
    words, edges = numbers[:, None] + np.arange(3, dtype=np.uint32), np.stack([after - back, after], axis=1)
    start = time.perf_counter()
    graph = Graph(session)
    graph.add_many(graph.function("empty", kernel), words)
    graph.add_edges(edges)
    graph.load()
    return time.perf_counter() - start


def main() -> None:
    """One session for all lines."""
    package, address, elf = sys.argv[1:]
    sys.path.insert(0, package)
    import ttfd  # pylint: disable=import-outside-toplevel

    with ttfd.connect(address, client_name="bench-python") as session:
        kernel = session.load_kernel(elf)
        program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, (0, 0))])
        print("ready", flush=True)
        for line in sys.stdin:
            what, number = line.split()
            figure = launches(session, program, float(number)) if what == "launch" else upload(session, kernel, int(number))
            print("figure", figure, flush=True)


if __name__ == "__main__":
    main()
