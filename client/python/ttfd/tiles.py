"""Matrices as tiles of the Tensix engine, and back.

    >>> tiles = ttfd.to_tiles(np.ones((100, 70), np.float32), "bfp8_b")  # 4 x 3 tiles
    >>> ttfd.from_tiles(tiles, (100, 70), "bfp8_b").sum()
    7000.0

A tile has 32 x 32 numbers: four faces of 16 x 16, top left, top right, bottom left, bottom right, each row by row. The
tiles of a matrix lie row by row, too. Numbers are converted as the packer of the engine converts a 32-bit number of Dst
(docs/tensix.md), so that the host and a kernel make equal tiles:

    "float32"    the number's own bits
    "bfloat16"   rounded to 8 bits of mantissa, halves away from zero; also called "float16_b"
    "bfp8_b"     the 16 numbers of a row of a face share the exponent of the largest one: a sign and 7 bits each, which
                 are rounded twice, halves away from zero: to 7 bits of their own, then to the shared exponent

In the latter two NaN becomes infinity, and what is below 2^-126 when it is rounded to bfloat16 becomes 0. "bfp8_b" has no
infinity: it counts as a number of 2^128, and those of its row below 2^121 become 0.
"""

from __future__ import annotations

import math
from typing import Sequence

import numpy as np
import numpy.typing as npt

from ttfd import check

_TILE = 32
_FACE = 16
_FACE_ROWS = 64  # of the four faces of a tile
_BYTES = {"float32": 4096, "bfloat16": 2048, "float16_b": 2048, "bfp8_b": _FACE_ROWS + 1024}
_SIGN, _INFINITY = np.uint32(0x80000000), np.uint32(0x7F800000)


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
    numbers = np.zeros((matrices.size // (rows * columns), _padded(rows), _padded(columns)), np.float32)
    with np.errstate(over="ignore", invalid="ignore"):  # a double beyond np.float32 is infinity, and NaN remains NaN
        numbers[:, :rows, :columns] = matrices.reshape(-1, rows, columns)
    # Axes: matrix, tile row, face row, row, tile column, face column, column.
    faces = numbers.reshape(-1, _padded(rows) // _TILE, 2, _FACE, _padded(columns) // _TILE, 2, _FACE)
    bits = faces.transpose(0, 1, 4, 2, 5, 3, 6).reshape(-1, _FACE_ROWS, _FACE).view(np.uint32)
    if format == "float32":
        words = bits
    elif format == "bfp8_b":
        return _pack_bfp8(bits)
    else:
        rounded = (bits + np.uint32(0x8000)) >> 16
        words = _finish(bits, np.where(rounded & 0x7FFF < 0x80, np.uint32(0), rounded)).astype(np.uint16)
    return np.ascontiguousarray(words).view(np.uint8).reshape(-1, size)


def from_tiles(tiles: np.ndarray, shape: Sequence[int], format: str) -> np.ndarray:
    """The reverse of to_tiles: np.float32 of `shape`, from the bytes of an array of any type and shape: exactly their values.
    Of "bfp8_b" the unpacker reads others where NumPy has denormals or, with the exponent 255, infinity. Raises Error
    (INVALID_ARGUMENT)."""
    size = tile_bytes(format)
    allowed = "at least two lengths: rows and columns"
    shape = tuple(check.integer(length, "shape", smallest=1) for length in check.items(shape, "shape", allowed))
    if len(shape) < 2:
        check.refuse_value(shape, "shape", allowed)
    rows, columns = shape[-2:]
    across, down = _padded(columns) // _TILE, _padded(rows) // _TILE
    expected = math.prod(shape[:-2]) * across * down * size
    if not isinstance(tiles, np.ndarray) or tiles.dtype.hasobject or tiles.nbytes != expected:
        check.refuse_value(tiles, "tiles", f"an array of {expected} bytes")
    raw = np.ascontiguousarray(tiles).reshape(-1).view(np.uint8)
    if format == "float32":
        numbers = raw.view(np.float32)
    elif format == "bfp8_b":
        numbers = _unpack_bfp8(raw.reshape(-1, size))
    else:
        numbers = (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    faces = numbers.reshape(-1, down, across, 2, 2, _FACE, _FACE).transpose(0, 1, 3, 5, 2, 4, 6)
    return faces.reshape(-1, down * _TILE, across * _TILE)[:, :rows, :columns].reshape(shape)


def _padded(length: int) -> int:
    return -(-length // _TILE) * _TILE


def _finish(bits: np.ndarray, halves: np.ndarray) -> np.ndarray:
    """bfloat16 of numbers that are none as the packer has them."""
    return np.where(bits & ~_SIGN > _INFINITY, (bits & _SIGN | _INFINITY) >> 16, halves)


def _pack_bfp8(bits: np.ndarray) -> np.ndarray:
    rounded = (bits >> 16) + 1 & 0xFFFE
    halves = _finish(bits, np.where(rounded & 0x7FFF < 0x80, np.uint32(0), rounded)).astype(np.uint32)
    exponents = halves >> 7 & 0xFF
    largest = exponents.max(axis=-1, keepdims=True)
    distance = largest - exponents
    shift = np.minimum(distance, 8)
    magnitude = np.minimum((halves & 0x7F | 0x80) + (np.uint32(1) << shift) >> shift + 1, 127)
    magnitude[(exponents == 0) | (distance >= 8)] = 0
    data = np.where(magnitude == 0, np.uint32(0), magnitude | halves >> 15 << 7)
    return np.concatenate([largest[..., 0], data.reshape(len(data), -1)], axis=1).astype(np.uint8)


def _unpack_bfp8(tiles: np.ndarray) -> np.ndarray:
    exponents = tiles[:, :_FACE_ROWS, np.newaxis].astype(np.int32)
    data = tiles[:, _FACE_ROWS:].reshape(-1, _FACE_ROWS, _FACE)
    with np.errstate(over="ignore"):
        values = np.ldexp((data & 0x7F).astype(np.float32), exponents - 133)
    values[data == 0x80] = np.inf  # the unpacker takes the -0 that no packer writes for -infinity
    return np.where(data >= 0x80, -values, values)
