"""A client in a process of its own: says "ready", runs the scenario at every address it reads, writes what came out, or null.

A process, for what is done to its stream may end more than a session: gRPC's C core under Python has died of corrupted input.
SIGUSR1 makes it write where its threads are.
"""

from __future__ import annotations

import faulthandler
import json
import signal
import sys

import numpy as np

import ttfd
from conftest import KERNELS


def scenario(address: str) -> np.ndarray:
    """What a client does; its sum is right, or somebody said why not."""
    with ttfd.connect(address, client_name="faulty", reconnect_for=0) as session:
        cores = ttfd.first_cores(session.device.grid_x, 2)
        a, b, c = (session.allocate_dram(4096) for _ in range(3))
        words = np.arange(1024, dtype=np.uint32)
        a.write(words)
        b.write(words[::-1])
        kernel = session.load_kernel(KERNELS / "vector_add.elf")
        program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, cores)],
                                         [ttfd.CircularBuffer(0, 4, 2048, cores)])
        session.launch(program, [ttfd.Arguments(common=[a, b, c, 2048], per_core=[[0, 1], [1, 1]])])
        return c.read(np.uint32)


def main() -> None:
    """One line in, one line out."""
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    print("ready", flush=True)
    for line in sys.stdin:
        try:
            result = scenario(line.strip()).tolist()
        except Exception:  # pylint: disable=broad-exception-caught  # any error is an answer
            result = None
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
