"""A transformer block with operations on tensors: embedding, norm, attention by matrix products and softmax, MLP.

NumPy makes the numbers, rounds them to bfloat16, and compares the result with its own in double precision. The last line is
"demo block: verified" if Pearson's correlation coefficient is at least 0.999.
"""

from __future__ import annotations

import math
import pathlib

import numpy as np

import daemon
from daemon import Daemon, Failed
from mlp import bfloat16, compare, gelu

SHOWS = "a transformer block of embedding, norm, attention and MLP, by operations on tensors, compared with NumPy"
TARGET = "ttfd_demo_block"
BUILT = daemon.BUILT

TOKENS, VOCABULARY, WIDTH, HEADS, HIDDEN = 90, 1000, 256, 4, 1024
MATRICES = {"embedding": (VOCABULARY, WIDTH), "wq": (WIDTH, WIDTH), "wk": (WIDTH, WIDTH), "wv": (WIDTH, WIDTH), "wo": (WIDTH, WIDTH),
            "w1": (WIDTH, HIDDEN), "w2": (HIDDEN, WIDTH)}
ROWS = {"norm1": WIDTH, "norm2": WIDTH, "bias2": WIDTH, "b1": HIDDEN, "b2": WIDTH}
MIN_PCC = 0.999
TIMEOUT_S = 240


def make() -> dict[str, np.ndarray]:
    """The tokens and the parameters."""
    random = np.random.default_rng(2)
    given = {name: bfloat16(random.standard_normal(shape) / math.sqrt(1 if name == "embedding" else shape[0]))
             for name, shape in MATRICES.items()}
    given |= {name: bfloat16(1 + random.standard_normal(length) / 4) for name, length in ROWS.items()}
    return given | {"tokens": random.integers(0, VOCABULARY, TOKENS).astype(np.uint32)}


def expected(p: dict[str, np.ndarray]) -> np.ndarray:
    """The block's result in double precision."""
    p = {name: array if name == "tokens" else array.astype(np.float64) for name, array in p.items()}
    x = p["embedding"][p["tokens"]]
    normed = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * p["norm1"]
    q, k, v = ((normed @ p[name]).reshape(TOKENS, HEADS, -1).transpose(1, 0, 2) for name in ("wq", "wk", "wv"))
    scores = q @ k.transpose(0, 2, 1) / math.sqrt(WIDTH // HEADS) + np.triu(np.full((TOKENS, TOKENS), -1e9), 1)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    attended = weights / weights.sum(-1, keepdims=True) @ v
    x = x + attended.transpose(1, 0, 2).reshape(TOKENS, WIDTH) @ p["wo"]
    normed = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * p["norm2"] + p["bias2"]
    return x + gelu(normed @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]


def run(build: pathlib.Path) -> int:
    """Runs the demo; the exit code."""
    given = make()
    with Daemon(build, "sim") as served:
        for name, array in given.items():
            np.save(served.scratch / f"{name}.npy", array)
        served.start()
        served.run_example("block.py", [daemon.PYTHON, daemon.EXAMPLES / "block.py", served.scratch], TIMEOUT_S)
        compare("block.py", np.load(served.scratch / "y.npy"), expected(given), MIN_PCC, 0.25)
        if not served.stop():
            raise Failed(f"the daemon did not stop cleanly:\n{served.log()}")
    print("demo block: verified", flush=True)
    return 0
