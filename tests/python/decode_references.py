"""What operations that decode give, in double precision, and random calls of them; as op_references.py."""

from __future__ import annotations

import numpy as np

from op_references import EXACT, ULP, Call, Reference, extent, numbers, shape


def rotary() -> Reference:
    """Rows of their own, or one row of the angles for all."""
    def make(random: np.random.Generator) -> Call:
        users, heads, rows, columns = int(random.integers(1, 3)), int(random.integers(1, 4)), extent(random, 70), 2 * int(random.choice([8, 16, 32, 40]))
        token = int(random.integers(-1, rows))
        angles = (1, 1, rows + int(random.integers(0, 3)), columns)
        arrays = [numbers(random, (users, heads, rows, columns), -4, 4)] + [numbers(random, angles, -1, 1) for _ in range(2)]
        return Call(arrays, ["bfloat16"] * 3, {"token_index": token})

    def compute(x: np.ndarray, cos: np.ndarray, sin: np.ndarray, token_index: int) -> np.ndarray:
        rows = slice(0, x.shape[2]) if token_index == -1 else slice(token_index, token_index + 1)
        low, high = np.split(x, 2, -1)
        return x * cos[:, :, rows] + np.concatenate([-high, low], -1) * sin[:, :, rows]
    return Reference(make, compute, ULP)


def llama_rotary() -> Reference:
    """Rows of prompts, or heads of users."""
    def make(random: np.random.Generator) -> Call:
        decode = bool(random.integers(0, 2))
        heads, rows, columns = int(random.integers(1, 4)), extent(random, 40), 32 * int(random.integers(1, 4))
        angles = (1, heads, 1, columns) if decode else (1, 1, rows + int(random.integers(0, 3)), columns)
        trans = np.zeros((1, 1, 32, 32), np.float32)
        for pair in range(0, 32, 2):
            trans[0, 0, pair, pair + 1], trans[0, 0, pair + 1, pair] = 1, -1
        arrays = [numbers(random, (1, heads, rows, columns), -4, 4)] + [numbers(random, angles, -1, 1) for _ in range(2)] + [trans]
        return Call(arrays, ["bfloat16"] * 4, {"decode": decode})

    def compute(x: np.ndarray, cos: np.ndarray, sin: np.ndarray, trans_mat: np.ndarray, decode: bool) -> np.ndarray:
        turned = (x.reshape(-1, 32) @ trans_mat[0, 0]).reshape(x.shape)
        rows = slice(0, 1 if decode else x.shape[2])
        return x * cos[:, :, rows] + turned * sin[:, :, rows]
    return Reference(make, compute, ULP)


def page_tables(random: np.random.Generator, users: int, pages: int, lost: float) -> np.ndarray:
    """Pages of a cache that has all of them once; some that it does not have."""
    table = random.permutation(users * pages).reshape(users, pages).astype(np.uint32)
    return np.where(random.random(table.shape) < lost, users * pages + 3, table).astype(np.uint32)


def paged_update() -> Reference:
    """A row of each user; some have none in the cache."""
    def make(random: np.random.Generator) -> Call:
        users, pages, heads = int(random.integers(1, 5)), int(random.integers(1, 4)), int(random.integers(1, 4))
        rows, columns = extent(random, 70), extent(random, 70)
        is_paged = bool(random.integers(0, 2))
        arrays = [numbers(random, (users * pages, heads, rows, columns), -4, 4), numbers(random, (1, users, heads, columns), -4, 4),
                  random.integers(0, rows * (pages if is_paged else 1) + 2, users, np.uint32)]
        if is_paged:
            arrays.append(page_tables(random, users, pages, 0.1))
        return Call(arrays, ["bfloat16"] * 2 + ["uint32"] * (len(arrays) - 2), {})

    def compute(cache: np.ndarray, given: np.ndarray, positions: np.ndarray, table: np.ndarray | None = None) -> np.ndarray:
        result, rows = cache.copy(), cache.shape[2]
        for user, position in enumerate(positions.astype(int)):
            page = user if table is None else int(table[user, position // rows]) if position // rows < table.shape[1] else len(cache)
            row = position if table is None else position % rows
            if page < len(cache) and row < rows:
                result[page, :, row] = given[0, user]
        return result
    return Reference(make, compute, EXACT)


def paged_fill() -> Reference:
    """The rows of one user, the last page in part."""
    def make(random: np.random.Generator) -> Call:
        users, pages, heads = int(random.integers(1, 3)), int(random.integers(1, 4)), int(random.integers(1, 4))
        rows, columns = int(random.choice([5, 32, 64])), extent(random, 70)
        user = int(random.integers(0, users))
        arrays = [numbers(random, (users * pages, heads, rows, columns), -4, 4),
                  numbers(random, (1, heads, int(random.integers(1, pages * rows + 1)), columns), -4, 4), page_tables(random, users, pages, 0.1)]
        if random.random() < 0.5:
            return Call(arrays + [np.array([user + (random.random() < 0.1) * users], np.uint32)], ["bfloat16"] * 2 + ["uint32"] * 2, {})
        return Call(arrays, ["bfloat16"] * 2 + ["uint32"], {"batch_offset": user})

    def compute(cache: np.ndarray, given: np.ndarray, table: np.ndarray, index: np.ndarray | None = None, batch_offset: int = 0) -> np.ndarray:
        result, rows, user = cache.copy(), cache.shape[2], batch_offset if index is None else int(index[0])
        for page in range(-(-given.shape[2] // rows)) if user < len(table) else ():
            part = given[0, :, page * rows:(page + 1) * rows]
            if table[user, page] < len(cache):
                result[int(table[user, page]), :, :part.shape[1]] = part
        return result
    return Reference(make, compute, EXACT)


def decode_heads() -> Reference:
    def make(random: np.random.Generator) -> Call:
        users, kv_heads, columns = extent(random, 40), int(random.integers(1, 3)), int(random.choice([16, 32, 64]))
        heads = kv_heads * int(random.integers(1, 4))
        return Call([numbers(random, (1, 1, users, (heads + 2 * kv_heads) * columns), -4, 4)], ["bfloat16"], {"num_heads": heads, "num_kv_heads": kv_heads})

    def compute(given: np.ndarray, num_heads: int, num_kv_heads: int) -> list[np.ndarray]:
        parts = given.reshape(1, given.shape[2], num_heads + 2 * num_kv_heads, -1)
        return np.split(parts, [num_heads, num_heads + num_kv_heads], 2)
    return Reference(make, compute, EXACT)


def join_decode_heads() -> Reference:
    def make(random: np.random.Generator) -> Call:
        of = (1, extent(random, 40), int(random.integers(1, 9)), int(random.choice([16, 32, 64])))
        return Call([numbers(random, of, -4, 4)], ["bfloat16"], {"num_heads": int(random.integers(0, of[2] + 1))})

    def compute(x: np.ndarray, num_heads: int) -> np.ndarray:
        return x[:, :, :num_heads or x.shape[2]].reshape(1, 1, x.shape[1], -1)
    return Reference(make, compute, EXACT)


def join_prefill_heads() -> Reference:
    def make(random: np.random.Generator) -> Call:
        of = (int(random.integers(1, 3)), int(random.integers(1, 5)), extent(random), extent(random, 70))
        return Call([numbers(random, of, -4, 4)], ["bfloat16"], {})
    return Reference(make, lambda x: x.transpose(0, 2, 1, 3).reshape(x.shape[0], 1, x.shape[2], -1), EXACT)


def argmax() -> Reference:
    """Many elements are equal; one row in four is long."""
    def make(random: np.random.Generator) -> Call:
        of = shape(random) if random.random() < 0.75 else (1, int(random.integers(1000, 5000)))
        return Call([np.round(numbers(random, of, -40, 40))], [str(random.choice(["bfloat16", "float32"]))], {"keepdim": bool(random.integers(0, 2))})
    return Reference(make, lambda x, keepdim: np.argmax(x, -1, keepdims=keepdim or x.ndim == 1), EXACT)


REFERENCES: dict[str, Reference] = {
    "rotary_embedding": rotary(),
    "rotary_embedding_llama": llama_rotary(),
    "paged_update_cache": paged_update(),
    "paged_fill_cache": paged_fill(),
    "nlp_create_qkv_heads_decode": decode_heads(),
    "nlp_concat_heads_decode": join_decode_heads(),
    "nlp_concat_heads": join_prefill_heads(),
    "argmax": argmax(),
}
