"""Chips of a mesh gather or add what each of them has over the links between them, in C++ and in Python, compared with NumPy.

The chips are modelled ones. Where TTFD_TTSIM_LIB names a libttsim.so of several chips, the programs run once more on these. The
last line is "demo ring: verified" if every number is right.
"""

from __future__ import annotations

import os
import pathlib
import re

import numpy as np

import daemon
from daemon import Daemon, Failed

OPERATIONS = ("all_gather", "reduce_scatter", "all_reduce")
SHOWS = "chips of a mesh that gather or add data over their links, in C++ and Python, compared with NumPy; --mesh ROWSxCOLUMNS: 2x2 if not given; --op OPERATION: all_gather, reduce_scatter or all_reduce"
TARGET = "ttfd_demo_ring"
BUILT = daemon.BUILT | {"collectives": "client/examples/collectives", "ttsim_child": "libexec/ttfd/ttfd-ttsim-child"}
OPTIONS = ("mesh", "op")

CHIP_BYTES = 1 << 20
TTSIM_CHIP_BYTES = 100_000  # slow, and not a multiple of what a link carries at once
TIMEOUT_S = 120
TTSIM_TIMEOUT_S = 900


def expected(numbers: np.ndarray, operation: str, axis: int) -> np.ndarray:
    """What each chip has after an operation along an axis; `numbers` are rows x columns x those of a chip."""
    length = numbers.shape[axis]
    if operation == "all_gather":
        return np.repeat(np.concatenate(np.split(numbers, length, axis), 2), length, axis)
    total = numbers.sum(axis, np.int32, keepdims=True)  # modulo 2^32
    return np.repeat(total, length, axis) if operation == "all_reduce" else np.concatenate(np.split(total, length, 2), axis)


def verify(build: pathlib.Path, shape: tuple[int, int], operation: str, device: str, chip_bytes: int, timeout_s: int) -> None:
    """Runs both programs on a device."""
    mesh = f"{shape[0]}x{shape[1]}"
    count = chip_bytes // 4 // (shape[0] * shape[1]) * (shape[0] * shape[1])  # which every line can divide
    numbers = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, (*shape, count), np.int32)
    programs = {"collectives": [build / BUILT["collectives"]], "collectives.py": [daemon.PYTHON, daemon.EXAMPLES / "collectives.py"]}
    with Daemon(build, device) as served:
        numbers.tofile(served.scratch / "in")
        served.start()
        for name, command in programs.items():
            served.run_example(name, [*command, mesh, operation, served.scratch], timeout_s)
            for axis, length in enumerate(shape):
                if length == 1:
                    continue
                result = served.scratch / f"axis{axis}"
                wanted = expected(numbers, operation, axis)
                wrong = np.count_nonzero(np.fromfile(result, np.int32) != wanted.ravel())
                print(f"{name}: axis {axis}: {wanted.size - wrong} of {wanted.size} numbers equal NumPy's", flush=True)
                if wrong:
                    raise Failed(f"{wrong} numbers are wrong")
                result.unlink()
        if not served.stop():
            raise Failed(f"the daemon did not stop cleanly:\n{served.log()}")


def run(build: pathlib.Path, mesh: str = "2x2", op: str = OPERATIONS[0]) -> int:
    """Runs the demo on a mesh; the exit code."""
    if op not in OPERATIONS:
        raise Failed(f"--op {op}: {', '.join(OPERATIONS[:-1])} or {OPERATIONS[-1]}")
    match = re.fullmatch(r"([1-9]\d?)x([1-9]\d?)", mesh)
    if not match or not 2 <= int(match[1]) * int(match[2]) <= 64:
        raise Failed(f"--mesh {mesh}: ROWSxCOLUMNS of 2 to 64 chips, such as 1x4")
    shape = int(match[1]), int(match[2])
    library = os.environ.get("TTFD_TTSIM_LIB", "")
    if library and not pathlib.Path(library).is_file():
        raise Failed(f"TTFD_TTSIM_LIB names {library}, which is not there")
    verify(build, shape, op, f"sim:cluster={mesh}", CHIP_BYTES, TIMEOUT_S)
    if library:
        print(f"on {library}:", flush=True)
        verify(build, shape, op, f"ttsim:{library}", TTSIM_CHIP_BYTES, TTSIM_TIMEOUT_S)
    else:
        print("TTFD_TTSIM_LIB=/path/to/libttsim.so ./dev demo ring also runs on Tenstorrent's simulator, of as many chips")
    print("demo ring: verified", flush=True)
    return 0
