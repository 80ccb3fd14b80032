"""What functions that are made of several operations give, and reductions over other extents; as op_references.py."""

from __future__ import annotations

import math
from typing import Callable

import numpy as np

from op_references import ERF, EXACT, ULP, Call, Reference, binary, broadcast, numbers, scalar, shape, unary

ERFC = np.vectorize(math.erfc, otypes=[np.float64])


def over_dims(function: Callable[..., np.ndarray]) -> Reference:
    """Along any extents, one or several."""
    def make(random: np.random.Generator) -> Call:
        of = tuple(int(each) for each in random.integers(1, 12, random.integers(1, 4))) + (int(random.choice([1, 20, 33])),)
        dims = [int(each) for each in random.permutation(len(of))[:random.integers(1, len(of) + 1)]]
        named = {"dims": dims} if random.random() < 0.7 else {"dim": dims[0] - len(of)}
        return Call([numbers(random, of, 0.9, 1.1)], ["bfloat16"], {**named, "keepdim": bool(random.integers(0, 2))})

    def compute(x: np.ndarray, keepdim: bool, dims: list[int] | None = None, dim: int = 0) -> np.ndarray:
        return np.atleast_1d(function(x, axis=tuple(dims) if dims else dim, keepdims=keepdim))
    return Reference(make, compute, ULP)


def cumsum() -> Reference:
    def make(random: np.random.Generator) -> Call:
        of = shape(random)
        return Call([numbers(random, of, 0.5, 4)], ["bfloat16"], {"dim": int(random.integers(-len(of), len(of)))})
    return Reference(make, lambda x, dim: np.cumsum(x, axis=dim), ULP)


def clamps() -> Reference:
    """Bounds that may be broadcast."""
    def make(random: np.random.Generator) -> Call:
        whole = shape(random)
        return Call([numbers(random, whole, -4, 4), numbers(random, broadcast(random, whole), -4, 0), numbers(random, broadcast(random, whole), 0, 4)],
                    ["bfloat16"] * 3, {})
    return Reference(make, lambda x, low, high: np.minimum(np.maximum(x, low), high), ULP)


def powers() -> Reference:
    """Of positive numbers, or of all with integers."""
    def make(random: np.random.Generator) -> Call:
        whole = shape(random)
        if random.random() < 0.5:
            return Call([numbers(random, whole, 0.1, 10), numbers(random, broadcast(random, whole), -4, 4)], ["bfloat16"] * 2, {})
        return Call([numbers(random, whole, -10, 10), np.round(numbers(random, broadcast(random, whole), -4, 4))], ["bfloat16"] * 2, {})
    return Reference(make, lambda a, b: a**b, ULP)


def scalar_powers() -> Reference:
    def make(random: np.random.Generator) -> Call:
        exponent = float(random.choice([-2, -1, 0, 1, 2, 3, 0.5, 1.75]))
        low = -10 if exponent.is_integer() else 0
        return Call([numbers(random, shape(random), low, 10)], ["bfloat16"], {"scalar": exponent})
    return Reference(make, lambda x, scalar: x**scalar, ULP)


def remainders() -> Reference:
    """Many of multiples."""
    def make(random: np.random.Generator) -> Call:
        whole = shape(random)
        a, b = numbers(random, whole, -100, 100), numbers(random, broadcast(random, whole), 0.5, 7) * random.choice([-1, 1])
        return Call([np.round(a) if random.random() < 0.5 else a, np.ceil(b) + (np.ceil(b) == 0) if random.random() < 0.5 else b], ["bfloat16"] * 2, {})
    return Reference(make, np.mod, ULP)


def truth(function: Callable[..., np.ndarray]) -> Reference:
    """Half of the numbers are 0."""
    def make(random: np.random.Generator) -> Call:
        whole = shape(random)
        return Call([np.maximum(numbers(random, each, -4, 4), 0) for each in (whole, broadcast(random, whole))], ["bfloat16"] * 2, {})
    return Reference(make, lambda a, b: function(a != 0, b != 0).astype(np.float64), ULP)


def finite() -> Reference:
    def make(random: np.random.Generator) -> Call:
        x = numbers(random, shape(random), -4, 4)
        x[x > 3] = np.inf
        x[x < -3] = -np.inf
        return Call([x], [str(random.choice(["bfloat16", "float32"]))], {"dtype": "bfloat16"})
    return Reference(make, lambda x: np.isfinite(x).astype(np.float64), ULP)


def bits(function: Callable[..., np.ndarray], most: int = 0xFFFFFFFF) -> Reference:
    """Of integers, in both layouts; the second up to `most`."""
    def make(random: np.random.Generator) -> Call:
        whole = shape(random)
        arrays = [random.integers(0, 1 << 32, whole, np.uint32), random.integers(0, most + 1, broadcast(random, whole), np.uint32)]
        arrays = arrays[:1] if function is np.invert else arrays
        return Call(arrays, ["uint32"] * len(arrays), {}, [str(random.choice(["tile", "row_major"])) for _ in arrays])
    return Reference(make, lambda *given: function(*(each.astype(np.uint64) for each in given)) & 0xFFFFFFFF, EXACT)


REFERENCES: dict[str, Reference] = {
    "bitwise_and": bits(np.bitwise_and),
    "bitwise_or": bits(np.bitwise_or),
    "bitwise_xor": bits(np.bitwise_xor),
    "bitwise_not": bits(np.invert),
    "logical_left_shift": bits(np.left_shift, 33),
    "logical_right_shift": bits(np.right_shift, 33),
    "erf": unary(-5, 5, ERF),
    "erfc": unary(-5, 8, ERFC),
    "atan": unary(-20, 20, np.arctan),
    "tan": unary(-20, 20, np.tan),
    "ceil": unary(-100, 100, np.ceil),
    "sign": unary(-4, 4, lambda x: np.sign(np.where(np.abs(x) < 2.0**-120, 0, x))),
    "relu6": unary(-4, 10, lambda x: np.clip(x, 0, 6)),
    "expm1": unary(-10, 10, np.expm1),
    "log1p": unary(-0.9, 100, np.log1p),
    "mish": unary(-20, 20, lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    "cbrt": unary(-100, 100, np.cbrt),
    "hardsigmoid": unary(-5, 5, lambda x: np.clip(x / 6 + 0.5, 0, 1)),
    "isfinite": finite(),
    "logical_not": unary(-1, 1, lambda x: (x == 0).astype(np.float64), np.round),
    "logical_and": truth(np.logical_and),
    "logical_or": truth(np.logical_or),
    "logical_xor": truth(np.logical_xor),
    "remainder": remainders(),
    "pow": powers(),
    "pow_scalar": scalar_powers(),
    "clamp_tensor": clamps(),
    "leaky_relu": scalar(lambda x, slope: np.where(x < 0, x * slope, x), slope=(0, 2)),
    "prod": over_dims(np.prod),
    "cumsum": cumsum(),
}
