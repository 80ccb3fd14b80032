"""exp(a * b + c) of a thousand tiles on the Tensix engines of 64 worker tiles, by a client in Python and one in C++.

Both compare with the host's own result in double precision. The last line is "demo chain: verified" if all is right.
"""

from __future__ import annotations

import pathlib

import daemon

SHOWS = "exp(a * b + c) of a thousand tiles on the Tensix engines of 64 worker tiles, by clients in Python and C++"
TARGET = "ttfd_demo_chain"
KERNELS = "firmware/kernels"
BUILT = daemon.BUILT | {
    "chain": "client/examples/chain",
} | {f"chain_{name}": f"{KERNELS}/chain_{name}.elf"
     for name in ("reader", "compute_trisc0", "compute_trisc1", "compute_trisc2", "writer")}

TIMEOUT_S = 120


def run(build: pathlib.Path) -> int:
    """Runs the demo; the exit code."""
    daemon.run_examples(build, {
        "chain.py": [daemon.PYTHON, daemon.EXAMPLES / "chain.py", build / KERNELS],
        "chain": [build / BUILT["chain"], build / KERNELS],
    }, TIMEOUT_S)
    print("demo chain: verified", flush=True)
    return 0
