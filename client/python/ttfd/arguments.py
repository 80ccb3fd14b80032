"""Tiles, processors, formats and words, in every form in which users give them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from ttfd import _native, check
from ttfd.types import BRISC, NCRISC, TRISC0, TRISC1, TRISC2, Cores, CoreRange

_PROCESSORS = {"brisc": BRISC, "ncrisc": NCRISC, "trisc0": TRISC0, "trisc1": TRISC1, "trisc2": TRISC2}
_TILES = "a tile (x, y), a rectangle (x0, y0, x1, y1), a ttfd.CoreRange, or a list of these, in integers from 0"
FORMATS = {"float32": 1, "float16_b": 6, "bfp8_b": 7, "int32": 9, "uint16": 10, "bfloat16": 6}  # numbers of the API
_SMALLEST, _LARGEST = -(1 << 31), (1 << 32) - 1


def first_cores(grid_x: int, count: int) -> list[CoreRange]:
    """The first `count` tiles of a grid `grid_x` wide, row by row, as at most two rectangles."""
    ranges = _native.first_cores(check.integer(grid_x, "grid_x", smallest=1), check.integer(count, "count"))
    return [CoreRange(*tiles) for tiles in ranges]


def _is_integer(value: object) -> bool:
    return hasattr(type(value), "__index__") and getattr(value, "ndim", 0) == 0


def _range(value: Any, field: str) -> CoreRange:
    numbers = [operator.index(number) if _is_integer(number) else -1 for number in check.items(value, field, _TILES)]
    if len(numbers) not in (2, 4) or not all(0 <= number <= check.UINT32 for number in numbers):
        check.refuse_value(value, field, _TILES)
    return CoreRange(*(numbers * 2 if len(numbers) == 2 else numbers))


def core_ranges(cores: Cores, field: str) -> list[CoreRange]:
    """The tiles as rectangles."""
    found = check.items(cores, field, _TILES)
    if found and _is_integer(found[0]):
        return [_range(found, field)]
    return [_range(value, f"{field}[{index}]") for index, value in enumerate(found)]


def processor_number(processor: int | str, field: str) -> int:
    """The API's number of a processor."""
    number = processor
    if isinstance(processor, str):
        number = _PROCESSORS.get(processor.lower(), 0)
    elif _is_integer(processor):
        number = operator.index(processor)
    if not isinstance(number, int) or number not in _PROCESSORS.values():
        check.refuse_value(processor, field, "ttfd.BRISC, NCRISC, TRISC0, TRISC1 or TRISC2, or the name of one, such as 'brisc'")
    return number


def format_number(name: str | None, field: str) -> int:
    """The API's number of an element format; None: 0."""
    if name is not None and (not isinstance(name, str) or name not in FORMATS):
        check.refuse_value(name, field, f"{', '.join(map(repr, FORMATS))} or None")
    return 0 if name is None else FORMATS[name]


def to_word(value: object, field: str) -> int:
    """One word: an integer from -2^31 to 2^32 - 1, or the bits of an np.float32. `field` names it in what is raised."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.float32):
        return int(value.view(np.uint32))
    if isinstance(value, np.bool_):
        return int(value)
    try:
        number = operator.index(value)  # also of a bool: 0 or 1
    except TypeError:
        if isinstance(value, (float, np.floating)):
            check.refuse(f"the argument {value!r} is a {type(value).__name__}, not a 32-bit word; pass np.float32({value}) "
                         "for the bits of a 32-bit float, or an integer", field)
        check.refuse(f"an argument of type {type(value).__name__} is not a 32-bit word: pass an integer, an np.float32 or, "
                     "among common arguments, a Buffer", field)
    if not _SMALLEST <= number <= _LARGEST:
        check.refuse(f"the argument {number} does not fit a 32-bit word: from {_SMALLEST} to {_LARGEST}", field)
    return number & _LARGEST


def word_array(values: npt.ArrayLike, field: str) -> np.ndarray:
    """Words of any shape, as uint32: an array of integers or of np.float32, or (nested) lists of what `to_word` takes."""
    try:
        array = values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
    except ValueError:  # arrays of different shapes
        check.refuse_value(values, field, "an array of words")
    if array.dtype == np.float32:
        return np.ascontiguousarray(array).view(np.uint32)
    if array.dtype.kind in "iub":
        wide = array[(array < _SMALLEST) | (array > _LARGEST)] if array.dtype.itemsize == 8 else array[:0]
        if wide.size:
            to_word(wide.flat[0], field)  # raises
        return array.astype(np.int64 if array.dtype.kind == "i" else np.uint64).astype(np.uint32)
    return np.array([to_word(value, field) for value in array.flat], dtype=np.uint32).reshape(array.shape)
