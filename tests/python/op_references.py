"""What each operation of the table gives, in double precision, and random calls of it."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Callable, Sequence

import numpy as np

EXACT, ULP, PCC = "exact", "ulp", "pcc"


@dataclasses.dataclass(frozen=True)
class Call:
    """Arrays in float32 or uint32, the types they have on the card, and the attributes."""

    arrays: list[np.ndarray]
    dtypes: list[str]
    attributes: dict[str, Any]
    layouts: Sequence[str | None] = ()  # of the first inputs; None: the usual one


@dataclasses.dataclass(frozen=True)
class Reference:
    """How an operation is called, what it gives for doubles, and how close it has to be."""

    make: Callable[[np.random.Generator], Call]
    compute: Callable[..., np.ndarray]
    bar: str


def extent(random: np.random.Generator, largest: int = 100) -> int:
    """Lengths at and around tiles, and any."""
    return int(random.choice([1, 31, 32, 33, 64, 65, random.integers(1, largest)]))


def shape(random: np.random.Generator) -> tuple[int, ...]:
    """One to five extents, the batch small."""
    batch = [int(random.integers(1, 4)) for _ in range(random.integers(0, 4))]
    matrix = [extent(random), extent(random)]
    return tuple(batch + matrix if batch else matrix[random.integers(0, 2):])


def broadcast(random: np.random.Generator, whole: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that is broadcast to `whole`."""
    kept = [1 if random.random() < 0.3 else length for length in whole]
    return tuple(kept[random.integers(0, len(kept)):] if random.random() < 0.3 else kept)


def numbers(random: np.random.Generator, of: tuple[int, ...], low: float, high: float) -> np.ndarray:
    """Numbers of a range, some of them equal to one another."""
    return random.choice(random.uniform(low, high, 997), of).astype(np.float32)


def unary(low: float, high: float, function: Callable[[np.ndarray], np.ndarray], change: Callable[[np.ndarray], np.ndarray] = np.array) -> Reference:
    """An operation of one tensor, on numbers of a range."""
    def make(random: np.random.Generator) -> Call:
        return Call([change(numbers(random, shape(random), low, high))], [str(random.choice(["bfloat16", "bfloat16", "float32"]))], {"dtype": "bfloat16"})
    return Reference(make, lambda x, **_: function(x), ULP)


def binary(function: Callable[[np.ndarray, np.ndarray], np.ndarray], low: float = -4, high: float = 4) -> Reference:
    """An operation of two tensors, each of which may be broadcast."""
    def make(random: np.random.Generator) -> Call:
        whole = shape(random)
        shapes = [whole, broadcast(random, whole)]
        random.shuffle(shapes)
        return Call([numbers(random, each, low, high) for each in shapes], ["bfloat16", str(random.choice(["bfloat16", "bfp8"]))], {})
    return Reference(make, lambda a, b, **_: function(a, b), ULP)


def scalar(function: Callable[..., np.ndarray], **ranges: tuple[float, float]) -> Reference:
    """An operation of one tensor and numbers."""
    def make(random: np.random.Generator) -> Call:
        return Call([numbers(random, shape(random), -4, 4)], ["bfloat16"],
                    {name: float(np.float32(random.uniform(*each))) for name, each in ranges.items()})
    return Reference(make, function, ULP)


def products(has_bias: bool) -> Reference:
    """Batches, broadcast or not, of matrix products."""
    def make(random: np.random.Generator) -> Call:
        m, k, n = (extent(random, 200) for _ in range(3))
        batch = tuple(int(random.integers(1, 4)) for _ in range(random.integers(0, 3)))
        transposes = bool(random.integers(0, 2))
        a, b = batch + (m, k), (broadcast(random, batch) if batch and random.random() < 0.5 else batch) + ((n, k) if transposes else (k, n))
        arrays = [random.standard_normal(each).astype(np.float32) for each in (a, b) + (((n,),) if has_bias else ())]
        dtypes = ["bfloat16", str(random.choice(["bfloat16", "bfp8"])), "bfloat16"][:len(arrays)]
        return Call(arrays, dtypes, {"transpose_b": transposes, "activation": str(random.choice(["", "relu", "tanh"]))})

    def compute(a: np.ndarray, b: np.ndarray, bias: np.ndarray | float = 0.0, transpose_b: bool = False, activation: str = "") -> np.ndarray:
        product = a @ (np.swapaxes(b, -1, -2) if transpose_b else b) + bias
        return {"": product, "relu": np.maximum(product, 0), "tanh": np.tanh(product)}[activation]
    return Reference(make, compute, PCC)


def where() -> Reference:
    """A third of the conditions are 0."""
    def make(random: np.random.Generator) -> Call:
        whole = shape(random)
        condition = random.integers(0, 3, whole).astype(np.float32)
        return Call([condition, numbers(random, broadcast(random, whole), -4, 4), numbers(random, whole, -4, 4)], ["bfloat16"] * 3, {})
    return Reference(make, lambda c, a, b, **_: np.where(c != 0, a, b), EXACT)


def typecast() -> Reference:
    """To float32 from all types, and to integers."""
    def make(random: np.random.Generator) -> Call:
        dtype = str(random.choice(["bfloat16", "bfp8", "uint32", "integer"]))
        if dtype == "integer":
            return Call([np.round(numbers(random, shape(random), 0, 2**20))], [str(random.choice(["bfloat16", "float32"]))], {"dtype": "uint32"})
        array = random.integers(0, 1 << 24, shape(random), np.uint32) if dtype == "uint32" else numbers(random, shape(random), -4, 4)
        return Call([array], [dtype], {"dtype": "float32"}, [str(random.choice(["tile", "row_major"])) if dtype == "uint32" else None])
    return Reference(make, lambda x: x, EXACT)


def moved(compute: Callable[..., Any], **attributes: Callable[[np.random.Generator, tuple[int, ...]], Any]) -> Reference:
    """An operation that moves the elements of one tensor: of all types of 16 and 32 bits, in both layouts."""
    def make(random: np.random.Generator) -> Call:
        of = shape(random)
        dtype = str(random.choice(["bfloat16", "float32", "uint32"]))
        array = random.integers(0, 1 << 32, of, np.uint32) if dtype == "uint32" else numbers(random, of, -4, 4)
        return Call([array], [dtype], {name: make_value(random, of) for name, make_value in attributes.items()},
                    [str(random.choice(["tile", "row_major"]))])
    return Reference(make, compute, EXACT)


def new_shape(random: np.random.Generator, of: tuple[int, ...]) -> list[int]:
    """Other extents with the same number of elements, one of them left open."""
    rest, extents = math.prod(of), []
    while len(extents) < 4 and rest > 1:
        divisor = int(random.choice([each for each in range(1, rest + 1) if rest % each == 0]))
        extents.append(divisor)
        rest //= divisor
    return extents + [-1]


def window(random: np.random.Generator, of: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """Begin, end and step in each extent."""
    begins = [int(random.integers(0, length)) for length in of]
    return [(begin, int(random.integers(begin + 1, length + 1)), int(random.integers(1, 4))) for begin, length in zip(begins, of)]


def slices() -> Reference:
    """Parts with steps."""
    def make(random: np.random.Generator) -> Call:
        of = shape(random)
        begins, ends, steps = (list(each) for each in zip(*window(random, of)))
        return Call([numbers(random, of, -4, 4)], ["bfloat16"], {"begins": begins, "ends": ends, "steps": steps})
    return Reference(make, lambda x, begins, ends, steps: x[tuple(map(slice, begins, ends, steps))], EXACT)


def concatenations() -> Reference:
    """One to seven tensors."""
    def make(random: np.random.Generator) -> Call:
        of = shape(random)
        dim = int(random.integers(0, len(of)))
        arrays = [numbers(random, of[:dim] + (extent(random, 40),) + of[dim + 1:], -4, 4) for _ in range(random.integers(1, 8))]
        return Call(arrays, ["bfloat16"] * len(arrays), {"dim": dim - (len(of) if random.random() < 0.5 else 0)})
    return Reference(make, lambda *tensors, dim: np.concatenate(tensors, dim), EXACT)


def embeddings() -> Reference:
    """Some indices have no row."""
    def make(random: np.random.Generator) -> Call:
        rows, of = extent(random), tuple(int(random.integers(1, 40)) for _ in range(random.integers(1, 3)))
        return Call([random.integers(0, rows + 2, of, np.uint32), numbers(random, (rows, extent(random)), -4, 4)], ["uint32", "bfloat16"], {})

    def compute(indices: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return np.vstack([weight, np.zeros((2, weight.shape[1]))])[indices.astype(int)]
    return Reference(make, compute, EXACT)


def copies() -> Reference:
    """A tensor written into another one."""
    def make(random: np.random.Generator) -> Call:
        of = shape(random)
        return Call([numbers(random, of, -4, 4) for _ in range(2)], [str(random.choice(["bfloat16", "float32"]))] * 2, {},
                    [str(random.choice(["tile", "row_major"])) for _ in range(2)])
    return Reference(make, lambda target, x: x, EXACT)


def caches(by_user: bool) -> Reference:
    """[users, heads, rows, columns], part of which is written."""
    def make(random: np.random.Generator) -> Call:
        users, heads, rows, columns = int(random.integers(1, 5)), int(random.integers(1, 4)), extent(random), extent(random, 70)
        written = int(random.integers(1, users + 1))
        count = 1 if by_user else int(random.integers(1, rows + 1))
        attributes = {"batch_offset": int(random.integers(0, users - written + 1)), "update_index": int(random.integers(0, rows - count + 1))}
        given = (1, heads, written, columns) if by_user else (written, heads, count, columns)
        arrays = [numbers(random, each, -4, 4) for each in ((users, heads, rows, columns), given)]
        if by_user and random.random() < 0.5:
            del attributes["update_index"]
            return Call(arrays + [random.integers(0, rows + 1, written, np.uint32)], ["bfloat16"] * 2 + ["uint32"], attributes)
        return Call(arrays, ["bfloat16"] * 2, attributes)

    def compute(cache: np.ndarray, given: np.ndarray, indices: np.ndarray | None = None, batch_offset: int = 0, update_index: int = 0) -> np.ndarray:
        result = cache.copy()
        if not by_user:
            result[batch_offset:batch_offset + len(given), :, update_index:update_index + given.shape[2]] = given
            return result
        for user in range(given.shape[2]):
            row = update_index if indices is None else int(indices[user])
            if row < cache.shape[2]:
                result[batch_offset + user, :, row] = given[0, :, user]
        return result
    return Reference(make, compute, EXACT)


def split_heads() -> Reference:
    """Queries, keys and values of one tensor or of two."""
    def make(random: np.random.Generator) -> Call:
        users, rows, columns = int(random.integers(1, 3)), extent(random), int(random.choice([16, 32, 64]))
        kv_heads = int(random.integers(1, 3))
        heads = kv_heads * int(random.integers(1, 4))
        widths = [(heads + 2 * kv_heads) * columns] if random.random() < 0.5 else [heads * columns, 2 * kv_heads * columns]
        between = (1,) * int(random.integers(0, 2))
        return Call([numbers(random, (users, *between, rows, width), -4, 4) for width in widths], ["bfloat16"] * len(widths),
                    {"num_heads": heads, "num_kv_heads": kv_heads, "transpose_key": bool(random.integers(0, 2))})

    def compute(given: np.ndarray, kv: np.ndarray | None = None, num_heads: int = 1, num_kv_heads: int = 1, transpose_key: bool = True) -> list[np.ndarray]:
        whole = given if kv is None else np.concatenate([given, kv], -1)
        users, rows, width = len(whole), *whole.shape[-2:]
        parts = whole.reshape(users, rows, num_heads + 2 * num_kv_heads, width // (num_heads + 2 * num_kv_heads)).transpose(0, 2, 1, 3)
        query, key, value = np.split(parts, [num_heads, num_heads + num_kv_heads], 1)
        return [query, key.swapaxes(-1, -2) if transpose_key else key, value]
    return Reference(make, compute, EXACT)


def join_heads() -> Reference:
    def make(random: np.random.Generator) -> Call:
        of = (int(random.integers(1, 3)), int(random.integers(1, 5)), extent(random), extent(random, 70))
        return Call([numbers(random, of, -4, 4)], ["bfloat16"], {})
    return Reference(make, lambda x: x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1), EXACT)


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, seen: np.ndarray, mask: np.ndarray | float, scale: float) -> np.ndarray:
    """softmax(q * k^T * scale + mask) * v of the keys that are seen; one head of keys serves several of q."""
    k, v = (np.repeat(each, q.shape[1] // k.shape[1], 1) for each in (k, v))
    scores = np.where(seen, q @ k.swapaxes(-1, -2) * (scale or q.shape[-1] ** -0.5) + mask, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def attention_inputs(random: np.random.Generator, of: Sequence[tuple[int, ...]]) -> tuple[list[np.ndarray], list[str], dict[str, Any]]:
    """Queries, keys and values of shapes, their types, and attributes."""
    kind = str(random.choice(["bfloat16", "bfp8"]))
    attributes = {"scale": float(np.float32(random.uniform(0.05, 0.3)))} if random.random() < 0.3 else {}
    return [numbers(random, each, -2, 2) for each in of], ["bfloat16", kind, kind], attributes


def attention_mask(random: np.random.Generator, of: tuple[int, ...]) -> np.ndarray:
    """A tenth of the keys are not seen; extents but the last may be 1."""
    shape = tuple(1 if random.random() < 0.4 else length for length in of[:-1]) + of[-1:]
    mask = np.where(random.random(shape) < 0.1, -np.inf, random.uniform(-2, 2, shape)).astype(np.float32)
    mask[..., 0] = 0
    return mask


def attentions() -> Reference:
    """Groups of heads, with and without masks and windows."""
    def make(random: np.random.Generator) -> Call:
        users, kv_heads, rows, columns = int(random.integers(1, 3)), int(random.integers(1, 3)), extent(random), int(random.choice([16, 32, 64, 80, 128]))
        heads, kind = kv_heads * int(random.integers(1, 4)), int(random.integers(0, 4))
        keys = rows if kind else extent(random, 150)
        arrays, dtypes, attributes = attention_inputs(random, [(users, heads, rows, columns), (users, kv_heads, keys, columns),
                                                               (users, kv_heads, keys, int(random.choice([columns, 96])))])
        attributes["is_causal"] = kind in (1, 2)
        if kind > 1:
            attributes["sliding_window"] = int(random.integers(1, rows + 5))
        if random.random() < 0.5 and not kind:
            return Call(arrays + [attention_mask(random, (users, heads, rows, keys))], dtypes + ["bfloat16"], attributes)
        return Call(arrays, dtypes, attributes)

    def compute(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | float = 0.0, is_causal: bool = False, scale: float = 0.0,
                sliding_window: int = 0) -> np.ndarray:
        ahead = np.arange(k.shape[2]) - np.arange(q.shape[2])[:, None]
        back, limit = (sliding_window - 1, 0) if is_causal else (sliding_window // 2, sliding_window // 2)
        seen = (ahead <= limit if is_causal or sliding_window else ahead < np.inf) & (ahead >= -back if sliding_window else ahead > -np.inf)
        return attention(q, k, v, seen, mask, scale)
    return Reference(make, compute, PCC)


def decoded_attentions(is_paged: bool) -> Reference:
    """A query of each head, for all keys or for those up to a position; blocks of pages in any order."""
    def make(random: np.random.Generator) -> Call:
        users, kv_heads, columns = int(random.integers(1, 5)), int(random.choice([1, 2, 3, 8])), int(random.choice([16, 32, 64, 128]))
        heads, block, blocks = kv_heads * int(random.choice([1, 3, 4, 8])), 32 * int(random.integers(1, 3)), int(random.integers(1, 4))
        keys = block * blocks if is_paged else extent(random, 200)
        cache = (users * blocks, kv_heads, block, columns) if is_paged else (users, kv_heads, keys, columns)
        arrays, dtypes, attributes = attention_inputs(random, [(1, users, heads, columns), cache, cache])
        if is_paged:
            arrays.append(random.permutation(users * blocks).reshape(users, blocks).astype(np.uint32))
            dtypes = dtypes + ["uint32"]
        if random.random() < 0.7:
            one = random.random() < 0.2
            arrays.append(random.integers(0, keys + 1, 1 if one else users, np.uint32))
            dtypes = dtypes + ["uint32"]
            if random.random() < 0.3:
                attributes["sliding_window"] = int(random.integers(1, keys + 1))
                return Call(arrays, dtypes, attributes)
        else:
            attributes["is_causal"] = False
        if random.random() < 0.5:
            return Call(arrays + [attention_mask(random, (users, 1, heads, keys))], dtypes + ["bfloat16"], attributes)
        return Call(arrays, dtypes, attributes)

    def compute(q: np.ndarray, k: np.ndarray, v: np.ndarray, *more: np.ndarray, is_causal: bool = True, scale: float = 0.0,
                sliding_window: int = 0) -> np.ndarray:
        rest = list(more)
        if is_paged:
            table = rest.pop(0).astype(int)
            k, v = (np.concatenate([each[table[:, i]] for i in range(table.shape[1])], 2) for each in (k, v))
        keys, index = k.shape[2], np.arange(k.shape[2])
        positions = np.minimum(rest.pop(0), keys - 1).reshape(-1, 1, 1, 1) if is_causal else np.full((1, 1, 1, 1), keys)
        seen = (index <= positions) & (index > positions - (sliding_window or keys + 2))
        mask = rest[0].swapaxes(1, 2) if rest else 0.0
        return attention(q[0][:, :, None], k, v, seen, mask, scale)[None, :, :, 0]
    return Reference(make, compute, PCC)


def reduction(function: Callable[..., np.ndarray], bar: str) -> Reference:
    """Along one of the last two extents, or along any of them."""
    def make(random: np.random.Generator) -> Call:
        of = shape(random)
        array = numbers(random, of, -4, -0.5) if random.random() < 0.5 else numbers(random, of, 0.5, 4)
        if random.random() < 0.6:
            return Call([array], ["bfloat16"], {"dim": int(random.integers(-min(2, len(of)), 0)), "keepdim": bool(random.integers(0, 2))})
        dims = [int(each) for each in random.permutation(len(of))[:random.integers(1, len(of) + 1)]]
        return Call([array], ["bfloat16"], {"dims": dims, "keepdim": bool(random.integers(0, 2))})

    def compute(x: np.ndarray, keepdim: bool, dim: int = 0, dims: list[int] | None = None) -> np.ndarray:
        return np.atleast_1d(function(x, axis=tuple(dims) if dims else dim, keepdims=keepdim))
    return Reference(make, compute, bar)


def norm(function: Callable[[np.ndarray, float], np.ndarray], bar: str) -> Reference:
    """Rows with or without weights and biases."""
    def make(random: np.random.Generator) -> Call:
        of = shape(random)
        rows = [numbers(random, (of[-1],), 0.5, 2) for _ in range(random.integers(0, 3))]
        return Call([numbers(random, of, -4, 4)] + rows, ["bfloat16"] * (1 + len(rows)), {"epsilon": 1e-5})

    def compute(x: np.ndarray, weight: np.ndarray | float = 1.0, bias: np.ndarray | float = 0.0, epsilon: float = 0.0) -> np.ndarray:
        return function(x, epsilon) * weight + bias
    return Reference(make, compute, bar)


def softmax() -> Reference:
    def make(random: np.random.Generator) -> Call:
        return Call([numbers(random, shape(random), -8, 8)], ["bfloat16"], {})

    def compute(x: np.ndarray) -> np.ndarray:
        weights = np.exp(x - x.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True)
    return Reference(make, compute, ULP)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


ERF = np.vectorize(math.erf, otypes=[np.float64])

REFERENCES: dict[str, Reference] = {
    "exp": unary(-20, 20, np.exp),
    "reciprocal": unary(-50, 50, lambda x: 1 / x),
    "sqrt": unary(0, 1000, np.sqrt),
    "rsqrt": unary(0.01, 1000, lambda x: 1 / np.sqrt(x)),
    "silu": unary(-20, 20, lambda x: x * sigmoid(x)),
    "sigmoid": unary(-20, 20, sigmoid),
    "gelu": unary(-6, 6, lambda x: x * (1 + ERF(x / math.sqrt(2))) / 2),
    "tanh": unary(-6, 6, np.tanh),
    "relu": unary(-4, 4, lambda x: np.maximum(x, 0)),
    "abs": unary(-4, 4, np.abs),
    "neg": unary(-4, 4, np.negative),
    "square": unary(-40, 40, np.square),
    "log": unary(0.001, 1000, np.log),
    "sin": unary(-100, 100, np.sin),
    "cos": unary(-100, 100, np.cos),
    "floor": unary(-100, 100, np.floor),
    "add": binary(np.add),
    "subtract": binary(np.subtract),
    "multiply": binary(np.multiply),
    "div": binary(np.divide, 0.5, 4),
    "maximum": binary(np.maximum),
    "minimum": binary(np.minimum),
    "eq": binary(lambda a, b: (a == b).astype(np.float64), -0.02, 0.02),
    "ne": binary(lambda a, b: (a != b).astype(np.float64), -0.02, 0.02),
    "lt": binary(lambda a, b: (a < b).astype(np.float64)),
    "le": binary(lambda a, b: (a <= b).astype(np.float64)),
    "gt": binary(lambda a, b: (a > b).astype(np.float64)),
    "ge": binary(lambda a, b: (a >= b).astype(np.float64)),
    "add_scalar": scalar(lambda x, scalar: x + scalar, scalar=(-4, 4)),
    "multiply_scalar": scalar(lambda x, scalar: x * scalar, scalar=(-4, 4)),
    "clamp": scalar(lambda x, low, high: np.clip(x, low, high), low=(-4, 0), high=(0, 4)),
    "where": where(),
    "typecast": typecast(),
    "matmul": products(False),
    "linear": products(True),
    "sum": reduction(np.sum, ULP),
    "mean": reduction(np.mean, ULP),
    "max": reduction(np.max, EXACT),
    "min": reduction(np.min, EXACT),
    "softmax": softmax(),
    "rms_norm": norm(lambda x, epsilon: x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon), PCC),
    "layer_norm": norm(lambda x, epsilon: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon), PCC),
    "to_layout": moved(lambda x, layout: x, layout=lambda random, of: str(random.choice(["tile", "row_major"]))),
    "copy_into": copies(),
    "reshape": moved(lambda x, shape: x.reshape(shape), shape=new_shape),
    "permute": moved(lambda x, dims: x.transpose(dims), dims=lambda random, of: [int(each) for each in random.permutation(len(of))]),
    "transpose": moved(lambda x, dim0, dim1: x.swapaxes(dim0, dim1), dim0=lambda random, of: int(random.integers(-len(of), len(of))),
                       dim1=lambda random, of: int(random.integers(-len(of), len(of)))),
    "slice": slices(),
    "concat": concatenations(),
    "repeat": moved(lambda x, repeats: np.tile(x, repeats), repeats=lambda random, of: [int(random.integers(1, 4)) if i < 3 else 1
                                                                                          for i in random.permutation(len(of))]),
    "pad": moved(lambda x, padding, value: np.pad(x, np.reshape(padding, (-1, 2)), constant_values=value),
                 padding=lambda random, of: [int(each) for each in random.integers(0, 5, 2 * len(of))], value=lambda random, of: float(random.integers(0, 9))),
    "embedding": embeddings(),
    "fill_cache": caches(False),
    "update_cache": caches(True),
    "split_query_key_value_and_split_heads": split_heads(),
    "concatenate_heads": join_heads(),
    "scaled_dot_product_attention": attentions(),
    "scaled_dot_product_attention_decode": decoded_attentions(False),
    "paged_scaled_dot_product_attention_decode": decoded_attentions(True),
}
