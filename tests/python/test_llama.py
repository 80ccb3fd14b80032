"""Llama: the operations of a decoder layer of Llama3-70B at the shapes that one of 32 chips has, against NumPy in double precision.

On a mesh of 8 x 4 chips a chip has 1/4 of the 8192 hidden elements, 1/8 of heads and hidden elements of the MLP, and 1/4 of the 32 users
where attention is split by users. What chips exchange is left out: an operation that ends in a reduction over chips adds the parts that
they would send.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import ttfd.tensor as tt
from op_references import numbers

USERS, HIDDEN, HEADS, HEAD, FFN = 32, 8192 // 4, 64 // 8, 128, 28672 // 8
QKV = (HEADS + 2) * HEAD
OWN_USERS = USERS // 4  # where a chip has the attention of some of them
PAGE, PAGES = 32, 32    # rows of a page, pages of a user: 1,024 keys
PCC = {"bfloat16": 0.9999, "bfp8": 0.999}


@pytest.fixture(scope="module")
def card(daemon):
    with tt.open(daemon.address, client_name="Llama") as opened:
        yield opened


@pytest.fixture
def random():
    return np.random.default_rng(70)


def close(result: tt.Tensor, wanted: np.ndarray, pcc: float = PCC["bfloat16"], length: float = 0.01) -> None:
    """Both the direction and, but for this part, the length of the result are those wanted."""
    made = result.numpy().astype(np.float64)
    assert made.shape == wanted.shape
    assert np.corrcoef(made.ravel(), wanted.ravel())[0, 1] >= pcc
    assert abs(np.linalg.norm(made) / np.linalg.norm(wanted) - 1) < length


def tensor(card: tt.Card, random: np.random.Generator, shape: tuple[int, ...], dtype: str = "bfloat16", scale: float = 1) -> tuple[tt.Tensor, np.ndarray]:
    """Numbers on the card, and as it has rounded them."""
    made = card.tensor(numbers(random, shape, -scale, scale), dtype)
    return made, made.numpy().astype(np.float64)


def product(card: tt.Card, random: np.random.Generator, k: int, n: int, dtype: str, fidelity: int) -> None:
    x, a = tensor(card, random, (1, 1, USERS, k))
    w, b = tensor(card, random, (k, n), dtype)
    close(tt.matmul(x, w, fidelity=fidelity), a @ b, PCC[dtype])


def total(card: tt.Card, random: np.random.Generator, chips: int, columns: int) -> None:
    """What a reduction over chips computes: the sum of their parts, in their order."""
    parts = [tensor(card, random, (1, 1, USERS, columns)) for _ in range(chips)]
    made, wanted = parts[0]
    for part, array in parts[1:]:
        made, wanted = tt.add(made, part, dtype="float32"), wanted + array
    close(made, wanted)


@pytest.mark.parametrize("chips", [1, 4])
def test_01_and_10_norm(card, random, chips):
    """By a chip alone, and with the mean squares of all chips: here of parts that differ in size."""
    x, a = tensor(card, random, (1, 1, USERS, HIDDEN))
    weight, w = tensor(card, random, (HIDDEN,))
    others = np.square(random.uniform(0, chips, (USERS, 1)))
    mean = np.square(a).mean(-1, keepdims=True)
    if chips == 1:
        return close(tt.rms_norm(x, weight, epsilon=1e-5), a / np.sqrt(mean + 1e-5) * w)
    statistics = tt.mean(tt.square(x, dtype="float32"), keepdim=True)
    together = (statistics + card.tensor(others.reshape(1, 1, USERS, 1), "float32")) / chips
    close(x * tt.rsqrt(together + 1e-5) * weight, a / np.sqrt((mean + others) / chips + 1e-5) * w)


def test_02_query_key_value(card, random):
    product(card, random, HIDDEN, QKV, "bfloat16", 2)


def test_03_reduce_scatter_and_heads(card, random):
    total(card, random, 4, QKV)
    x, a = tensor(card, random, (1, 1, OWN_USERS, QKV))
    wanted = np.split(a.reshape(1, OWN_USERS, HEADS + 2, HEAD), [HEADS, HEADS + 1], 2)
    heads = tt.nlp_create_qkv_heads_decode(x, num_heads=HEADS, num_kv_heads=1)
    matrices = tt.split_query_key_value_and_split_heads(x, num_heads=HEADS, num_kv_heads=1, transpose_key=False)
    for made, dense, each in zip(heads, matrices, wanted, strict=True):
        assert np.array_equal(made.numpy(), each)
        assert np.array_equal(dense.numpy(), each.swapaxes(1, 2)) and np.array_equal(tt.permute(dense, dims=[0, 2, 1, 3]).numpy(), each)


@pytest.mark.parametrize("heads", [HEADS, 1])
@pytest.mark.parametrize("pairs", [True, False])
def test_04_rotary_embedding(card, random, heads, pairs):
    x, a = tensor(card, random, (1, heads, OWN_USERS, HEAD))
    angles = np.outer(random.integers(0, 131072, OWN_USERS), 500000.0 ** (-np.arange(0, HEAD, 2) / HEAD))
    angles = (np.repeat(angles, 2, 1) if pairs else np.tile(angles, 2)).reshape(1, 1, OWN_USERS, HEAD)
    (cos, c), (sin, s) = ((made, made.numpy().astype(np.float64)) for made in map(card.tensor, (np.cos(angles), np.sin(angles))))
    if pairs:
        turn = np.kron(np.eye(16), [[0, 1], [-1, 0]])
        turned = np.stack([-a[..., 1::2], a[..., 0::2]], -1).reshape(a.shape)
        made = tt.rotary_embedding_llama(x, cos, sin, card.tensor(turn))
    else:
        turned = np.concatenate([-a[..., HEAD // 2:], a[..., :HEAD // 2]], -1)
        made = tt.rotary_embedding(x, cos, sin)
    close(made, a * c + turned * s)


def test_05_cache_update(card, random):
    cache, before = tensor(card, random, (OWN_USERS * PAGES, 1, PAGE, HEAD))
    new, rows = tensor(card, random, (1, OWN_USERS, 1, HEAD))
    table, positions = random.permutation(OWN_USERS * PAGES).reshape(OWN_USERS, PAGES), random.integers(0, PAGES * PAGE, OWN_USERS)
    tt.paged_update_cache(cache, new, card.tensor(positions, "uint32"), card.tensor(table, "uint32"))
    before[table[np.arange(OWN_USERS), positions // PAGE], 0, positions % PAGE] = rows[0, :, 0]
    assert np.array_equal(cache.numpy(), before)


def test_06_attention(card, random):
    q, queries = tensor(card, random, (1, OWN_USERS, HEADS, HEAD), scale=3)
    (k, keys), (v, values) = (tensor(card, random, (OWN_USERS * PAGES, 1, PAGE, HEAD)) for _ in "kv")
    table, positions = random.permutation(OWN_USERS * PAGES).reshape(OWN_USERS, PAGES), random.integers(0, PAGES * PAGE, OWN_USERS)
    positions[:2] = 0, PAGES * PAGE - 1
    wanted = []
    for user, last in enumerate(positions):
        seen, weighed = (cache[table[user], 0].reshape(-1, HEAD)[:last + 1] for cache in (keys, values))
        scores = np.exp(queries[0, user] @ seen.T / math.sqrt(HEAD))
        wanted.append(scores / scores.sum(-1, keepdims=True) @ weighed)
    made = tt.paged_scaled_dot_product_attention_decode(q, k, v, card.tensor(table, "uint32"), card.tensor(positions, "uint32"))
    close(made, np.array([wanted]))


def test_07_concatenated_heads(card, random):
    """Users of four chips, gathered; heads side by side."""
    parts = [tensor(card, random, (1, OWN_USERS, HEADS, HEAD)) for _ in range(4)]
    made = tt.nlp_concat_heads_decode(tt.concat([part for part, _ in parts], dim=1))
    assert np.array_equal(made.numpy(), np.concatenate([array for _, array in parts], 1).reshape(1, 1, USERS, HEADS * HEAD))


def test_08_output_projection(card, random):
    product(card, random, HEADS * HEAD, HIDDEN, "bfp8", 2)


def test_09_and_16_all_reduce(card, random):
    """After the output projection and after the MLP."""
    total(card, random, 8, HIDDEN)


@pytest.mark.parametrize("fidelity", [1, 2])
def test_11_gate_and_up(card, random, fidelity):
    """Both products. Fidelity 1 cuts the factors to a few bits, for weights of 4 bits."""
    x, a = tensor(card, random, (1, 1, USERS, HIDDEN))
    for _ in ("gate", "up"):
        w, b = tensor(card, random, (HIDDEN, FFN), "bfp8")
        close(tt.matmul(x, w, fidelity=fidelity), a @ b, PCC["bfp8"], 0.03 / fidelity)


def test_11_and_12_reduce_scatter(card, random):
    """Of gate and of up: a chip has a quarter of the sum."""
    total(card, random, 4, FFN // 4)


def test_13_silu_times_up(card, random):
    (gate, a), (up, b) = (tensor(card, random, (1, 1, USERS, FFN // 4), scale=4) for _ in range(2))
    close(tt.silu(gate, dtype="float32") * up, a / (1 + np.exp(-a)) * b)


def test_14_all_gather(card, random):
    parts = [tensor(card, random, (1, 1, USERS, FFN // 4)) for _ in range(4)]
    made = tt.concat([part for part, _ in parts], dim=3)
    assert np.array_equal(made.numpy(), np.concatenate([array for _, array in parts], -1))


def test_15_down(card, random):
    product(card, random, FFN, HIDDEN, "bfp8", 2)
