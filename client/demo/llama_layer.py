"""One layer of a Llama for 32 users at positions of their own: grouped queries, rotary embedding, a cache of keys and values in pages.

NumPy makes weights and a cache, in which users have between 0 and 160 keys, and compares what the layer adds to its input with its own
result in double precision. The cache must have, bit by bit, what it had before and what the layer has written. The last line is
"demo llama-layer: verified" if Pearson's correlation coefficient is at least 0.99 for weights of bfloat16 and bfp8, both conventions of
rotary embedding, with and without norms of queries and keys.
"""

from __future__ import annotations

import json
import math
import pathlib

import numpy as np

import daemon
import llama_reference
from daemon import Daemon, Failed
from mlp import bfloat16, compare

SHOWS = "a layer of a Llama for 32 users, one recording, clocks of each operation, compared with NumPy"
TARGET = "ttfd_demo_llama_layer"
BUILT = daemon.BUILT

USERS, PAGES, PAGE = 32, 6, 32  # pages of each user, rows of a page
CONFIG = {"vocab_size": 32, "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 1, "num_attention_heads": 8,
          "num_key_value_heads": 2, "head_dim": 64, "rms_norm_eps": 1e-5, "rope_theta": 10000.0}
# Type of the weights, convention of the rotary embedding, norms of queries and keys.
CASES = [("bfloat16", "pairs", False), ("bfloat16", "halves", True), ("bfp8", "pairs", True), ("bfp8", "halves", False)]
MIN_PCC, MAX_ERROR = 0.99, 0.25
TIMEOUT_S = 240


def title(dtype: str, rope: str, with_norms: bool) -> str:
    """A case in words."""
    return f"weights of {dtype}, rotary embedding by {rope}, {'with' if with_norms else 'no'} norms of queries and keys"


def make_weights(with_norms: bool) -> dict[str, np.ndarray]:
    """Weights of the layer, which bfloat16 can represent."""
    random = np.random.default_rng(3)
    hidden, heads, kv_heads, head = (CONFIG[name] for name in ("hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim"))
    shapes = {"self_attn.q": (heads * head, hidden), "self_attn.k": (kv_heads * head, hidden), "self_attn.v": (kv_heads * head, hidden),
              "self_attn.o": (hidden, heads * head), "mlp.gate": (CONFIG["intermediate_size"], hidden),
              "mlp.up": (CONFIG["intermediate_size"], hidden), "mlp.down": (hidden, CONFIG["intermediate_size"])}
    made = {f"{name}_proj": random.standard_normal(shape) / math.sqrt(shape[1]) for name, shape in shapes.items()}
    rows = {"input_layernorm": hidden, "post_attention_layernorm": hidden} | ({"self_attn.q_norm": head, "self_attn.k_norm": head} if with_norms else {})
    made |= {name: 1 + random.standard_normal(length) / 4 for name, length in rows.items()}
    return {f"model.layers.0.{name}.weight": bfloat16(array) for name, array in made.items()}


def make_state() -> dict[str, np.ndarray]:
    """The input, a cache without an element that is 0, pages of users in a random order, positions."""
    random = np.random.default_rng(4)
    cache = (USERS * PAGES, CONFIG["num_key_value_heads"], PAGE, CONFIG["head_dim"])
    positions = random.integers(0, 161, USERS)
    positions[:5] = 0, 31, 32, 160, 1
    return {"x": bfloat16(random.standard_normal((1, 1, USERS, CONFIG["hidden_size"]))),
            "keys": bfloat16(random.standard_normal(cache)), "values": bfloat16(random.standard_normal(cache)),
            "page_table": random.permutation(USERS * PAGES).reshape(USERS, PAGES).astype(np.uint32), "positions": positions.astype(np.uint32)}


def rows_of(cache: np.ndarray, table: np.ndarray) -> np.ndarray:
    """A user's rows, [heads, rows, head], of pages."""
    return cache[table].transpose(1, 0, 2, 3).reshape(cache.shape[1], -1, cache.shape[3])


def ordered(rows: np.ndarray, rope: str) -> np.ndarray:
    """Elements of heads that were made for pairs as halves have them."""
    if rope == "halves":
        return rows
    return np.concatenate([rows[..., 0::2], rows[..., 1::2]], -1)


def expected(weights: dict[str, np.ndarray], state: dict[str, np.ndarray], rope: str) -> np.ndarray:
    """The layer's result in double precision, [users, hidden]."""
    weights = {name: array.astype(np.float64) for name, array in weights.items()}
    made = []
    for user in range(USERS):
        first, table = int(state["positions"][user]), state["page_table"][user]
        keys, values = ordered(rows_of(state["keys"], table), rope)[:, :first], rows_of(state["values"], table)[:, :first]
        made.append(llama_reference.layer(state["x"][0, 0, user:user + 1].astype(np.float64), CONFIG, weights, "model.layers.0.",
                                          keys.astype(np.float64), values.astype(np.float64), first)[0][0])
    return np.array(made)


def check_cache(folder: pathlib.Path, state: dict[str, np.ndarray]) -> None:
    """Fails unless the cache has its old rows, and the new ones where they belong, bit by bit."""
    users, positions = np.arange(USERS), state["positions"]
    pages = state["page_table"][users, positions // PAGE]
    for name in ("keys", "values"):
        wanted = state[name].copy()
        wanted[pages, :, positions % PAGE] = np.load(folder / f"new_{name}.npy")[0]
        if not np.array_equal(np.load(folder / f"{name}.npy"), wanted):
            raise Failed(f"the cache of {name} has other rows than it should")
    print(f"  the cache has {USERS} new rows of keys and of values, and all others as they were, bit by bit", flush=True)


def run(build: pathlib.Path) -> int:
    """Runs the demo; the exit code."""
    state = make_state()
    with Daemon(build, "sim") as served:
        served.start()
        (served.scratch / "config.json").write_text(json.dumps(CONFIG))
        for dtype, rope, with_norms in CASES:
            weights = make_weights(with_norms)
            np.savez(served.scratch / "weights.npz", **weights)
            for name, array in state.items():
                np.save(served.scratch / f"{name}.npy", array)
            print(f"{title(dtype, rope, with_norms)}:", flush=True)
            served.run_example("layer.py", [daemon.PYTHON, daemon.EXAMPLES / "llama/layer.py", served.scratch, "--dtype", dtype, "--rope", rope], TIMEOUT_S)
            check_cache(served.scratch, state)
            added = np.load(served.scratch / "y.npy")[0, 0] - state["x"][0, 0].astype(np.float64)
            compare("  what the layer adds", added, expected(weights, state, rope) - state["x"][0, 0], MIN_PCC, MAX_ERROR)
        if not served.stop():
            raise Failed(f"the daemon did not stop cleanly:\n{served.log()}")
    print("demo llama-layer: verified", flush=True)
    return 0
