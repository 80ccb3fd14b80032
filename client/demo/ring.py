"""Chips of a mesh gather what each of them has over the links between them, in C++ and in Python, compared with NumPy.

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

SHOWS = "chips of a mesh that gather data over their links, in C++ and Python, compared with NumPy; --mesh ROWSxCOLUMNS: 2x2 if not given"
TARGET = "ttfd_demo_ring"
BUILT = daemon.BUILT | {"collectives": "client/examples/collectives", "ttsim_child": "libexec/ttfd/ttfd-ttsim-child"}
OPTIONS = ("mesh",)

PART_BYTES = 1 << 20  # of each chip
TTSIM_PART_BYTES = 100_004  # slow, and not a multiple of what a link carries at once
TIMEOUT_S = 120
TTSIM_TIMEOUT_S = 900


def expected(parts: np.ndarray, axis: int) -> np.ndarray:
    """What each chip has after a gathering along an axis; `parts` are rows x columns x numbers."""
    rows, columns, _ = parts.shape
    lines = parts.swapaxes(0, 1) if axis == 0 else parts
    gathered = lines.reshape(lines.shape[0], -1)
    return np.array([[gathered[column if axis == 0 else row] for column in range(columns)] for row in range(rows)])


def verify(build: pathlib.Path, shape: tuple[int, int], device: str, part_bytes: int, timeout_s: int) -> None:
    """Runs both programs on a device."""
    mesh = f"{shape[0]}x{shape[1]}"
    parts = np.random.default_rng(1).integers(-(1 << 31), 1 << 31, (*shape, part_bytes // 4), np.int32)
    programs = {"collectives": [build / BUILT["collectives"]], "collectives.py": [daemon.PYTHON, daemon.EXAMPLES / "collectives.py"]}
    with Daemon(build, device) as served:
        parts.tofile(served.scratch / "in")
        served.start()
        for name, command in programs.items():
            served.run_example(name, [*command, mesh, served.scratch], timeout_s)
            for axis, length in enumerate(shape):
                if length == 1:
                    continue
                result = served.scratch / f"axis{axis}"
                wanted = expected(parts, axis)
                wrong = np.count_nonzero(np.fromfile(result, np.int32) != wanted.ravel())
                print(f"{name}: axis {axis}: {wanted.size - wrong} of {wanted.size} numbers equal NumPy's", flush=True)
                if wrong:
                    raise Failed(f"{wrong} numbers are wrong")
                result.unlink()
        if not served.stop():
            raise Failed(f"the daemon did not stop cleanly:\n{served.log()}")


def run(build: pathlib.Path, mesh: str = "2x2") -> int:
    """Runs the demo on a mesh; the exit code."""
    match = re.fullmatch(r"([1-9]\d?)x([1-9]\d?)", mesh)
    if not match or not 2 <= int(match[1]) * int(match[2]) <= 64:
        raise Failed(f"--mesh {mesh}: ROWSxCOLUMNS of 2 to 64 chips, such as 1x4")
    shape = int(match[1]), int(match[2])
    library = os.environ.get("TTFD_TTSIM_LIB", "")
    if library and not pathlib.Path(library).is_file():
        raise Failed(f"TTFD_TTSIM_LIB names {library}, which is not there")
    verify(build, shape, f"sim:cluster={mesh}", PART_BYTES, TIMEOUT_S)
    if library:
        print(f"on {library}:", flush=True)
        verify(build, shape, f"ttsim:{library}", TTSIM_PART_BYTES, TTSIM_TIMEOUT_S)
    else:
        print("TTFD_TTSIM_LIB=/path/to/libttsim.so ./dev demo ring also runs on Tenstorrent's simulator, of as many chips")
    print("demo ring: verified", flush=True)
    return 0
