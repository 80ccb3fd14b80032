"""Arithmetic of tiles by the Tensix engine: sum, product and matrix product, each compared with the host's own result.

tile_math.py runs on the embedded device. Where TTFD_TTSIM_LIB names a libttsim.so it runs once more, on that simulator, and
every word of the results has to be equal. The last line is "demo tile: verified" if all is right.
"""

from __future__ import annotations

import os
import pathlib
import subprocess

import daemon
from daemon import Daemon, Failed

SHOWS = "sum, product and matrix product of tiles by the Tensix engine, compared with libttsim if TTFD_TTSIM_LIB names it"
TARGET = "ttfd_demo_tile"
KERNELS = "firmware/kernels"
BUILT = daemon.BUILT | {
    "ttsim_child": "libexec/ttfd/ttfd-ttsim-child",
} | {f"tile_{name}": f"{KERNELS}/tile_{name}.elf" for name in ("reader", "math_trisc0", "math_trisc1", "math_trisc2", "writer")}

RESULT_BYTES = 3 * 1024 * 2  # three tiles of 16-bit words
SIM_TIMEOUT_S = 120
TTSIM_TIMEOUT_S = 600


def result_words(build: pathlib.Path, device: str, timeout_s: int) -> list[bytes]:
    """Runs the example on a device, prints its lines, and returns the words of its results."""
    with Daemon(build, device) as served:
        served.start()
        file = served.scratch / "words"
        command = [daemon.PYTHON, daemon.EXAMPLES / "tile_math.py", build / KERNELS, "--words", file]
        try:
            example = subprocess.run(command, env=served.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True, timeout=timeout_s, check=False)
        except subprocess.TimeoutExpired as late:
            raise Failed(f"tile_math.py on {device} was not done after {timeout_s} s:\n{served.log()}") from late
        print(example.stdout, end="", flush=True)
        if example.returncode != 0:
            raise Failed(f"tile_math.py on {device} ended with exit code {example.returncode}")
        words = file.read_bytes()
        if len(words) != RESULT_BYTES:
            raise Failed(f"tile_math.py on {device} wrote {len(words)} bytes of results, not {RESULT_BYTES}")
        if not served.stop():
            raise Failed(f"the daemon on {device} did not stop cleanly:\n{served.log()}")
        return [words[i:i + 2] for i in range(0, len(words), 2)]


def run(build: pathlib.Path) -> int:
    """Runs the demo; the exit code."""
    library = os.environ.get("TTFD_TTSIM_LIB", "")
    if library and not pathlib.Path(library).is_file():
        raise Failed(f"TTFD_TTSIM_LIB names {library}, which is not there")
    print("tile_math.py on the embedded device:", flush=True)
    ours = result_words(build, "sim", SIM_TIMEOUT_S)
    if library:
        print(f"tile_math.py on {library}:", flush=True)
        theirs = result_words(build, f"ttsim:{library}", TTSIM_TIMEOUT_S)
        equal = sum(map(bytes.__eq__, ours, theirs))
        print(f"equal to libttsim: {equal} of {len(ours)} words")
        if equal != len(ours):
            raise Failed(f"the embedded device and {library} differ in {len(ours) - equal} of {len(ours)} words")
    else:
        print("TTFD_TTSIM_LIB=/path/to/libttsim.so ./dev demo tile compares every word with Tenstorrent's simulator")
    print("demo tile: verified", flush=True)
    return 0
