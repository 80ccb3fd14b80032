"""Example: a matrix product tile by tile and softmax as five tasks a row, as one task graph on the Tensix engines.

The graph works on tensors of ttfd.tensor, and its results equal those of the operations `linear` and `softmax` bit for bit. Products
and reductions run on one class of workers, the rest on another.
"""

from __future__ import annotations

import argparse
import pathlib
import sys

import numpy as np

import ttfd
from ttfd import tensor as tt
from ttfd.graph import Graph, Scratch, Task

FORMAT = "float32"
TILE_BYTES = ttfd.tile_bytes(FORMAT)
SIZE = 32  # of a tile
CLASSES = {"VECTOR": (1, 0, 8, 0), "MATRIX": (1, 1, 8, 1)}


class Tiles:
    """Tiles of a buffer: the first, how many, the step from one to the next."""

    def __init__(self, buffer: ttfd.Buffer, first: int = 0, count: int = 0, step: int = 1) -> None:
        self.words = [buffer, first, count, step]


class SoftmaxGraph:
    """softmax(a b + bias) of `rows` x `inner` and `inner` x `columns` tiles."""

    def __init__(self, session: ttfd.Session, kernels: pathlib.Path) -> None:
        self.session = session
        self.kernels = kernels
        self.graph = Graph(session, classes=CLASSES, scratch=[Scratch(i, 2, TILE_BYTES, FORMAT) for i in range(4)])
        self.reader = session.load_kernel(kernels / "task_tile_reader.elf")
        self.writer = session.load_kernel(kernels / "task_tile_writer.elf")
        self.matmul = self.function("matmul", "task_matmul", "MATRIX")
        self.row_max = self.function("rowmax", "task_row_reduce", "MATRIX")
        self.row_sum = self.function("rowsum", "task_row_reduce", "MATRIX")
        self.subtract = self.function("rowexpandsub", "task_row_expand", "VECTOR")
        self.exp = self.function("exp", "task_exp", "VECTOR")
        self.divide = self.function("rowexpanddiv", "task_row_expand", "VECTOR")

    def function(self, name: str, compute: str, on: str):
        """A function of all five harts: NCRISC reads tiles, the engine computes, BRISC writes."""
        return self.graph.function(name, self.writer, on, ncrisc=self.reader, compute=self.session.load_kernels(self.kernels / compute))

    def task(self, function, inputs: list[Tiles], output: Tiles, mode: int = 0, after: list[Task] = ()) -> Task:
        """The arguments of task_tile_reader, task_tile_writer and the compute kernel: task_matmul.cc and the others say them."""
        inputs = [*inputs, Tiles(inputs[0].words[0]), Tiles(inputs[0].words[0])][:3]
        words = [word for one in inputs for word in one.words] + output.words[:3] + [mode]
        return self.graph.add(function, words, after=after)

    def build(self, a: tt.Tensor, b: tt.Tensor, bias: tt.Tensor, output: tt.Tensor, extents: tuple[int, int, int]) -> None:
        """The tasks: rows do not wait for each other."""
        rows, inner, columns = extents
        new = lambda count: self.session.allocate_dram(count * TILE_BYTES, TILE_BYTES)
        products, differences, exponentials = (new(rows * columns) for _ in range(3))
        maxima, sums = new(rows), new(rows)
        for row in range(rows):
            every = lambda buffer: Tiles(buffer, row * columns, columns)
            one = lambda buffer: Tiles(buffer, row, 1)
            before = [self.task(self.matmul, [Tiles(a.buffer, row * inner, inner), Tiles(b.buffer, column, inner, columns), Tiles(bias.buffer, column, 1)],
                                Tiles(products, row * columns + column, 1)) for column in range(columns)]
            t = self.task(self.row_max, [every(products)], one(maxima), after=before)
            t = self.task(self.subtract, [every(products), one(maxima)], every(differences), after=[t])
            t = self.task(self.exp, [every(differences)], every(exponentials), after=[t])
            t = self.task(self.row_sum, [every(exponentials)], one(sums), mode=1, after=[t])
            self.task(self.divide, [every(exponentials), one(sums)], every(output.buffer), mode=1, after=[t])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", metavar="KERNELS_FOLDER", type=pathlib.Path, help="the folder of the kernels task_*.elf")
    parser.add_argument("--tiles", metavar="N", type=int, nargs=3, default=(8, 4, 4), help="rows, inner extent and columns (default 8 4 4)")
    parser.add_argument("--trace", metavar="FILE", help="write a timeline of the second run, for ui.perfetto.dev")
    options = parser.parse_args()
    rows, inner, columns = options.tiles
    random = np.random.default_rng(1)
    with ttfd.connect(client_name="task_softmax") as session, tt.Card(session) as card:
        shapes = [(rows * SIZE, inner * SIZE), (inner * SIZE, columns * SIZE), (1, columns * SIZE)]
        a, b, bias = (card.tensor(random.normal(size=shape).astype(np.float32), FORMAT) for shape in shapes)
        output = card.tensor(np.zeros((rows * SIZE, columns * SIZE), np.float32), FORMAT)
        softmax = SoftmaxGraph(session, options.folder)
        softmax.build(a, b, bias, output, (rows, inner, columns))
        card.finish()
        softmax.graph.run()
        found, wanted = output.numpy(), tt.softmax(tt.linear(a, b, bias)).numpy()
        wrong = int(np.count_nonzero(found.view(np.uint32) != wanted.view(np.uint32)))
        print(f"softmax(a b + bias) of {rows} x {inner} x {columns} tiles as {softmax.graph.tasks} tasks: {wrong} of {found.size} values differ from "
              "the operations'")
        if options.trace:
            timeline = softmax.graph.run_with_timeline()
            timeline.write_trace(options.trace)
            for one in timeline.summarize().classes:
                print(f"{one.name}: {one.tasks} tasks on {one.workers} workers, busy {one.utilization:.0%} of the time")
    if wrong == 0:
        print("verified: all values are those of the operations")
    return 0 if wrong == 0 else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ttfd.Error as error:
        sys.exit(f"task_softmax.py: {error}")
