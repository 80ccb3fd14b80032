"""One layer of a Llama as a graph of tasks that the card schedules itself: the bits of the launches.

The layer and its cache are those of the demo `llama-layer`. Its operations become tasks, one for each core that an operation has; a task
starts when the tasks have ended whose tensors it needs, on any worker, and the host takes no part. The last line is "demo graph-llama:
verified" if output and cache are equal, bit by bit, to those of the operations as launches, and if the output is NumPy's.
"""

from __future__ import annotations

import json
import pathlib

import numpy as np

import daemon
import llama_layer
from daemon import Daemon, Failed
from mlp import compare

SHOWS = "a layer of a Llama as tasks that the card schedules itself, equal to its launches; --trace FILE: their timeline"
TARGET = "ttfd_demo_graph_llama"
BUILT = daemon.BUILT
OPTIONS = ("trace",)

CASES = [("bfloat16", "pairs", True), ("bfp8", "halves", False)]


def run(build: pathlib.Path, trace: str = "") -> int:
    """Runs the demo; `trace` is a file for the timeline of the first case. The exit code."""
    state = llama_layer.make_state()
    with Daemon(build, "sim") as served:
        served.start()
        (served.scratch / "config.json").write_text(json.dumps(llama_layer.CONFIG))
        for name, array in state.items():
            np.save(served.scratch / f"{name}.npy", array)
        for dtype, rope, with_norms in CASES:
            weights = llama_layer.make_weights(with_norms)
            np.savez(served.scratch / "weights.npz", **weights)
            print(f"{llama_layer.title(dtype, rope, with_norms)}:", flush=True)
            options = ["--trace", pathlib.Path(trace).resolve()] if trace and dtype == CASES[0][0] else []
            served.run_example("layer_graph.py", [daemon.PYTHON, daemon.EXAMPLES / "llama/layer_graph.py", served.scratch, "--dtype", dtype, "--rope", rope,
                                                  *options], llama_layer.TIMEOUT_S)
            added = np.load(served.scratch / "y.npy")[0, 0] - state["x"][0, 0].astype(np.float64)
            wanted = llama_layer.expected(weights, state, rope) - state["x"][0, 0]
            compare("  what the layer adds", added, wanted, llama_layer.MIN_PCC, llama_layer.MAX_ERROR)
        if trace:
            print(f"{trace} is a timeline for ui.perfetto.dev")
        if not served.stop():
            raise Failed(f"the daemon did not stop cleanly:\n{served.log()}")
    print("demo graph-llama: verified", flush=True)
    return 0
