"""What each operation of the table gives, in double precision, and random calls of it."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Callable

import numpy as np

EXACT, ULP, PCC = "exact", "ulp", "pcc"


@dataclasses.dataclass(frozen=True)
class Call:
    """Arrays in float32, the types they have on the card, and the attributes."""

    arrays: list[np.ndarray]
    dtypes: list[str]
    attributes: dict[str, Any]


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


def unary(low: float, high: float, function: Callable[[np.ndarray], np.ndarray]) -> Reference:
    """An operation of one tensor, on numbers of a range."""
    def make(random: np.random.Generator) -> Call:
        return Call([numbers(random, shape(random), low, high)], [str(random.choice(["bfloat16", "bfloat16", "float32"]))], {"dtype": "bfloat16"})
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
    """To bfloat16, from all types."""
    def make(random: np.random.Generator) -> Call:
        return Call([numbers(random, shape(random), -4, 4)], [str(random.choice(["bfloat16", "bfp8"]))], {"dtype": "float32"})
    return Reference(make, lambda x, **_: x, EXACT)


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
}
