"""Two layers of a neural network with operations on tensors, [128, 768] through 768-3072-768 with bias and GELU.

NumPy makes the numbers, rounds them to bfloat16, and compares the result with its own in double precision. The last line is
"demo mlp: verified" if Pearson's correlation coefficient is at least 0.9999.
"""

from __future__ import annotations

import math
import pathlib

import numpy as np

import daemon
from daemon import Daemon, Failed

SHOWS = "a neural network of two layers, by operations on tensors in C++ and Python, compared with NumPy"
TARGET = "ttfd_demo_mlp"
BUILT = daemon.BUILT | {"mlp": "client/examples/mlp"}

SHAPES = {"x": (128, 768), "w1": (768, 3072), "b1": (3072,), "w2": (3072, 768), "b2": (768,)}
MIN_PCC = 0.9999
MAX_ERROR = 0.05
TIMEOUT_S = 240


def bfloat16(numbers: np.ndarray) -> np.ndarray:
    """Rounds to bfloat16, halves away from zero, as the client does."""
    bits = numbers.astype(np.float32).view(np.uint32)
    return ((bits + 0x8000) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def expected(given: dict[str, np.ndarray]) -> np.ndarray:
    """The network's result in double precision."""
    x, w1, b1, w2, b2 = (given[name].astype(np.float64) for name in SHAPES)
    return gelu(x @ w1 + b1) @ w2 + b2


def gelu(x: np.ndarray) -> np.ndarray:
    """GELU with the error function."""
    return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2


def compare(name: str, result: np.ndarray, wanted: np.ndarray, min_pcc: float, max_error: float) -> None:
    """Prints how close a result is; raises Failed if it is not close enough. The PCC sees neither an offset nor a factor."""
    pcc = np.corrcoef(result.ravel(), wanted.ravel())[0, 1]
    worst = np.abs(result - wanted).max()
    print(f"{name}: PCC {pcc:.7f}, largest error {worst:.4f} of numbers up to {np.abs(wanted).max():.2f}", flush=True)
    if not (pcc >= min_pcc and worst <= max_error):
        raise Failed(f"the PCC is below {min_pcc}, or an error above {max_error}")


def run(build: pathlib.Path) -> int:
    """Runs the demo; the exit code."""
    random = np.random.default_rng(1)
    given = {name: bfloat16(random.standard_normal(shape) / math.sqrt(shape[0] if name[0] == "w" else 1))
             for name, shape in SHAPES.items()}
    programs = {"mlp": [build / BUILT["mlp"]], "mlp.py": [daemon.PYTHON, daemon.EXAMPLES / "mlp.py"]}
    wanted = expected(given)
    with Daemon(build, "sim") as served:
        for name, numbers in given.items():
            numbers.tofile(served.scratch / name)
        served.start()
        for name, command in programs.items():
            served.run_example(name, [*command, served.scratch], TIMEOUT_S)
            compare(name, np.fromfile(served.scratch / "y", np.float32).reshape(wanted.shape), wanted, MIN_PCC, MAX_ERROR)
            (served.scratch / "y").unlink()
        if not served.stop():
            raise Failed(f"the daemon did not stop cleanly:\n{served.log()}")
    print("demo mlp: verified", flush=True)
    return 0
