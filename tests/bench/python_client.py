#!/usr/bin/python3
"""A Python client as a child of ttfd_bench: python_client.py PACKAGE_FOLDER ADDRESS KERNEL_ELF LLAMA_FOLDER.

Says "ready", then answers each line with "figure" and a number:

    launch MS       the median of the microseconds of blocking launches, which it does for so many milliseconds
    llama MS        the median of the milliseconds of steps of the tiny Llama, for 32 users at position 128, which it does for so many
    upload TASKS    seconds from the first call that describes a graph of so many tasks until it is on the card

It ends with its standard input.
"""

from __future__ import annotations

import functools
import pathlib
import statistics
import sys
import time
from typing import Any

POSITION = 128  # of the tokens of a Llama that are measured
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


class Llama:
    """The tiny model with a recording of its step."""

    def __init__(self, session: Any, folder: str) -> None:
        import numpy as np  # pylint: disable=import-outside-toplevel
        import ttfd.tensor as tt  # pylint: disable=import-outside-toplevel
        from ttfd.safetensors import SafetensorsFile  # pylint: disable=import-outside-toplevel
        sys.path.insert(0, folder)
        from model import Llama as Model  # pylint: disable=import-outside-toplevel,import-error
        from model_files import Config  # pylint: disable=import-outside-toplevel,import-error

        tiny = pathlib.Path(folder) / "tiny"
        self.card = tt.Card(session)
        self.model = Model(self.card, Config.read(tiny / "config.json"), SafetensorsFile(tiny / "model.safetensors"))
        self.model.start([[token] for token in np.arange(32) + 64])
        with self.card.record() as self.step:
            self.model.step()
        self.step.replay(times=POSITION)
        self.position = self.card.tensor(np.full((1, 1, 32), POSITION), "uint32")

    def steps(self, milliseconds: float) -> float:
        """Each of them at the same position."""
        import ttfd.tensor as tt  # pylint: disable=import-outside-toplevel
        times: list[float] = []
        while not times or sum(times) < milliseconds / 1000:
            tt.copy_into(self.model.positions, self.position)
            self.card.finish()
            start = time.perf_counter()
            self.step.replay()
            self.card.finish()
            times.append(time.perf_counter() - start)
        return statistics.median(times) * 1e3


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
    package, address, elf, folder = sys.argv[1:]
    sys.path.insert(0, package)
    import ttfd  # pylint: disable=import-outside-toplevel

    with ttfd.connect(address, client_name="bench-python") as session:
        kernel = session.load_kernel(elf)
        program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, (0, 0))])
        figures = {"launch": functools.partial(launches, session, program), "upload": lambda tasks: upload(session, kernel, int(tasks))}
        print("ready", flush=True)
        for line in sys.stdin:
            what, number = line.split()
            if what == "llama" and what not in figures:
                figures[what] = Llama(session, folder).steps
            print("figure", figures[what](float(number)), flush=True)


if __name__ == "__main__":
    main()
