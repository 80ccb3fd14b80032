"""Example: one layer of a Llama as a graph of tasks that the card schedules itself.

    layer_graph.py FOLDER [--trace FILE] [--dtype bfp8] [--rope halves]

Takes the files of layer.py. Runs the layer by launches, then as tasks, and compares bits: of the output and of the cache. Writes y.npy,
and with --trace a timeline of the tasks for ui.perfetto.dev. The demo `graph-llama` makes the files.
"""

import collections
import pathlib
import sys

import numpy as np

import ttfd.tensor as tt
from layer import State, parser
from ttfd.graph import Graph


def main(folder: pathlib.Path, dtype: str, rope: str, trace: pathlib.Path | None) -> None:
    with tt.open(client_name="llama layer as tasks") as card:
        state = State(card, folder, dtype, rope)

        def results(y: tt.Tensor) -> list[np.ndarray]:
            return [tensor.numpy() for tensor in (y, *state.cache.values())]
        by_launches = results(state.layer(state.x, state.place))
        state.reset()
        graph = Graph(card.session)
        with card.record_tasks(graph) as recording:
            y = state.layer(state.x, state.place)
        graph.run()
        by_tasks = results(y)
        wrong = sum(int((a.view(np.uint32) != b.view(np.uint32)).sum()) for a, b in zip(by_launches, by_tasks))
        numbers = sum(array.size for array in by_tasks)
        print(f"  {recording.tasks} tasks, {graph.edges} edges: {wrong} of {numbers} numbers of the output and the cache differ from those of the launches")
        np.save(folder / "y.npy", by_tasks[0])
        timeline = graph.run_with_timeline()
        names = collections.Counter(timeline.functions[task["function"]] for task in timeline.tasks)
        print(f"  {timeline.summarize().clocks:,} clocks on {timeline.summarize().classes[0].workers} workers: " + ", ".join(f"{count} {name}" for name, count in names.items()))
        if trace:
            timeline.write_trace(trace)
    if wrong:
        sys.exit("layer_graph.py: the tasks give other numbers")


if __name__ == "__main__":
    arguments = parser(__doc__.splitlines()[0])
    arguments.add_argument("--trace", type=pathlib.Path, help="file for a timeline of the second run")
    main(**vars(arguments.parse_args()))
