"""Matrices as tiles of the Tensix engine, and back.

    >>> tiles = ttfd.to_tiles(np.ones((100, 70), np.float32), "bfp8_b")  # 4 x 3 tiles
    >>> ttfd.from_tiles(tiles, (100, 70), "bfp8_b").sum()
    7000.0

A tile has 32 x 32 numbers: four faces of 16 x 16, top left, top right, bottom left, bottom right, each row by row. The
tiles of a matrix lie row by row, too. libttfd converts numbers as the packer of the engine does a 32-bit number of Dst
(<ttfd/tiles.h>, docs/tensix.md), so that the host and a kernel make equal tiles. Formats:

    "float32"    the number's own bits
    "bfloat16"   rounded to 8 bits of mantissa, halves away from zero; also called "float16_b"; NaN becomes infinity
    "bfp8_b"     the 16 numbers of a row of a face share the exponent of the largest one: a sign and 7 bits each
"""

from __future__ import annotations

import math
from typing import Sequence

import numpy as np
import numpy.typing as npt

from ttfd import _native, check
from ttfd.arguments import FORMATS

_TILE = 32
_BYTES = {"float32": 4096, "bfloat16": 2048, "float16_b": 2048, "bfp8_b": 1088}


def tile_bytes(format: str) -> int:
    """Bytes of a tile: 4096, 2048, or 1088 ("bfp8_b": 64 exponents, then 1024 numbers)."""
    if not isinstance(format, str) or format not in _BYTES:
        check.refuse_value(format, "format", f"{', '.join(map(repr, _BYTES))}")
    return _BYTES[format]


def to_tiles(values: npt.ArrayLike, format: str) -> np.ndarray:
    """The tiles of a matrix, or of several: the last two axes of `values` are rows and columns. Numbers of other types
    become np.float32 first. Where they do not fill the last tiles of a matrix, zeros do.

    Returns uint8, one row a tile: (number of tiles, tile_bytes(format)). Raises Error (INVALID_ARGUMENT)."""
    size = tile_bytes(format)
    try:
        matrices = np.asarray(values)
    except (TypeError, ValueError):  # such as lists of different lengths
        matrices = np.empty(0)
    if matrices.ndim < 2 or matrices.size == 0 or matrices.dtype.kind not in "fiub":
        check.refuse_value(values, "values", "an array of numbers with at least two axes, none of them empty")
    rows, columns = matrices.shape[-2:]
    with np.errstate(over="ignore", invalid="ignore"):  # a double beyond np.float32 is infinity, and NaN remains NaN
        numbers = np.ascontiguousarray(matrices, np.float32).reshape(-1, rows, columns)
    tiles = np.empty((len(numbers) * _tiles(rows) * _tiles(columns), size), np.uint8)
    _native.to_tiles(numbers, numbers.shape, FORMATS[format], tiles)
    return tiles


def from_tiles(tiles: np.ndarray, shape: Sequence[int], format: str) -> np.ndarray:
    """The reverse of to_tiles: np.float32 of `shape`, from the bytes of an array of any type and shape: exactly their values.
    Of "bfp8_b" the unpacker reads others where NumPy has denormals or, with the exponent 255, infinity. Raises Error
    (INVALID_ARGUMENT)."""
    size = tile_bytes(format)
    allowed = "at least two lengths: rows and columns"
    lengths = [check.integer(length, "shape", smallest=1) for length in check.items(shape, "shape", allowed)]
    if len(lengths) < 2:
        check.refuse_value(shape, "shape", allowed)
    matrices, (rows, columns) = math.prod(lengths[:-2]), lengths[-2:]
    expected = matrices * _tiles(rows) * _tiles(columns) * size
    if not isinstance(tiles, np.ndarray) or tiles.dtype.hasobject or tiles.nbytes != expected:
        check.refuse_value(tiles, "tiles", f"an array of {expected} bytes")
    numbers = np.empty(lengths, np.float32)
    raw = np.ascontiguousarray(tiles).reshape(-1).view(np.uint8)
    _native.from_tiles(raw, (matrices, rows, columns), FORMATS[format], numbers)
    return numbers


def _tiles(length: int) -> int:
    return -(-length // _TILE)
