"""exp(a * b + c) of a thousand tiles on the Tensix engines of 64 worker tiles, by a client in Python and one in C++.

Both compare with the host's own result in double precision. The last line is "demo chain: verified" if all is right.
"""

from __future__ import annotations

import pathlib
import subprocess

import daemon
from daemon import Daemon, Failed

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
    clients = {"chain.py": [daemon.PYTHON, daemon.EXAMPLES / "chain.py"], "chain": [build / BUILT["chain"]]}
    with Daemon(build, "sim") as served:
        served.start()
        for name, command in clients.items():
            print(f"{name} on the embedded device:", flush=True)
            try:
                code = subprocess.run([*command, build / KERNELS], env=served.environment, stdin=subprocess.DEVNULL,
                                      timeout=TIMEOUT_S, check=False).returncode
            except subprocess.TimeoutExpired as late:
                raise Failed(f"{name} was not done after {TIMEOUT_S} s:\n{served.log()}") from late
            if code != 0:
                raise Failed(f"{name} ended with exit code {code}")
        if not served.stop():
            raise Failed(f"the daemon did not stop cleanly:\n{served.log()}")
    print("demo chain: verified", flush=True)
    return 0
