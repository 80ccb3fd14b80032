"""Task graphs that the card schedules itself, by clients in Python and one in C++.

Two run a random graph of 10,000 integer tasks on the host and on the card, and 1,000 times more; the one in Python also runs
(a + b + 1)(a + b + 2) as four tasks. The third computes softmax(a b + bias) as tasks of the Tensix engines and compares it with the
operations. The last line is "demo graph: verified" if all is right.
"""

from __future__ import annotations

import pathlib

import daemon

SHOWS = "graphs of 10,000 tasks that the card schedules itself, compared with the host, by clients in Python and C++; softmax as tasks"
TARGET = "ttfd_demo_graph"
KERNELS = "firmware/kernels"
BUILT = daemon.BUILT | {
    "task_graph": "client/examples/task_graph",
} | {name: f"{KERNELS}/{name}.elf" for name in ("task_add", "task_add_scalar", "task_mix", "task_multiply", "task_tile_reader", "task_tile_writer")
} | {
    f"{name}_trisc{i}": f"{KERNELS}/{name}_trisc{i}.elf"
    for name in ("task_exp", "task_matmul", "task_row_expand", "task_row_reduce") for i in range(3)
}

TIMEOUT_S = 240


def run(build: pathlib.Path) -> int:
    """Runs the demo; the exit code."""
    daemon.run_examples(build, {
        "task_graph.py": [daemon.PYTHON, daemon.EXAMPLES / "task_graph.py", build / KERNELS],
        "task_graph": [build / BUILT["task_graph"], build / KERNELS],
        "task_softmax.py": [daemon.PYTHON, daemon.EXAMPLES / "task_softmax.py", build / KERNELS],
    }, TIMEOUT_S)
    print("demo graph: verified", flush=True)
    return 0
