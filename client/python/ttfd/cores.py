"""Worker tiles and their processors, in every form in which users give them."""

from __future__ import annotations

import operator
from typing import Any

from ttfd import _native, check
from ttfd.types import BRISC, NCRISC, TRISC0, TRISC1, TRISC2, Cores, CoreRange

_PROCESSORS = {"brisc": BRISC, "ncrisc": NCRISC, "trisc0": TRISC0, "trisc1": TRISC1, "trisc2": TRISC2}
_TILES = "a tile (x, y), a rectangle (x0, y0, x1, y1), a ttfd.CoreRange, or a list of these, in integers from 0"


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
