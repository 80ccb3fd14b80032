"""Checks of the arguments that users pass. Used by the package only.

What cannot be sent raises Error with code INVALID_ARGUMENT and reason INVALID; `field` names it, as the API does.
"""

from __future__ import annotations

import numbers
import operator
import os
import reprlib
from typing import Any, Iterable, Mapping, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from ttfd._native import Resource
from ttfd.errors import Code, Error
from ttfd.types import Position

UINT32 = (1 << 32) - 1
LARGEST = (1 << 53) - 1  # of handles, values and sizes
_MOST_SECONDS = UINT32 // 1000  # times are sent in 32 bits of milliseconds
_Kind = TypeVar("_Kind")
_Owned = TypeVar("_Owned", bound=Resource)


def refuse(message: str, field: str) -> NoReturn:
    """Raises the error."""
    raise Error(Code.INVALID_ARGUMENT, message, reason="INVALID", field=field) from None


def refuse_value(value: object, field: str, allowed: str) -> NoReturn:
    """Raises the error for a value, with what is allowed in its place."""
    refuse(f"{field} must be {allowed}, not {reprlib.repr(value)}", field)


def integer(value: Any, field: str, largest: int = UINT32, smallest: int = 0) -> int:
    """An integer of any type, in a range."""
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if not smallest <= number <= largest:
        refuse_value(value, field, f"an integer from {smallest} to {largest}")
    return number


def milliseconds(seconds: object, field: str) -> int:
    """A time, which is not 0 unless it was."""
    if not isinstance(seconds, numbers.Real) or not 0 <= seconds <= _MOST_SECONDS:
        refuse_value(seconds, field, f"a number of seconds from 0 to {_MOST_SECONDS}")
    return max(1, round(float(seconds) * 1000)) if seconds else 0


def text(value: object, field: str) -> str:
    """A str that UTF-8 can encode, and C can read."""
    if not isinstance(value, str) or any("\ud800" <= character <= "\udfff" or character == "\0" for character in value):
        refuse_value(value, field, "a str of Unicode characters without surrogates and NUL")
    return value


def path(value: object, field: str) -> str:
    """A path, as a text."""
    return text(os.fspath(value) if isinstance(value, os.PathLike) else value, field)


def callback(value: object, field: str) -> None:
    """A function, or None."""
    if value is not None and not callable(value):
        refuse_value(value, field, "a function or None")


def live(value: object, kind: type[_Owned], field: str) -> _Owned:
    """The same of a resource, which must not have been freed."""
    resource = one(value, kind, field)
    if resource.handle == 0:
        refuse(f"{field}: the {kind.__name__.lower()} was freed", field)
    return resource


def one(value: object, kind: type[_Kind], field: str) -> _Kind:
    """An object of a class of this package."""
    if not isinstance(value, kind):
        refuse_value(value, field, f"a ttfd.{kind.__name__}")
    return value


def items(values: object, field: str, allowed: str) -> list[Any]:
    """The elements of a list or another sequence."""
    if not isinstance(values, Iterable) or isinstance(values, (str, bytes, bytearray, memoryview, Mapping, set, frozenset)):
        refuse_value(values, field, allowed)
    try:
        return list(values)
    except TypeError:  # an array without dimensions
        refuse_value(values, field, allowed)


def several(values: object, kind: type[_Kind], field: str) -> list[tuple[str, _Kind]]:
    """A list of objects of a class of this package, each with the name of its field."""
    found = items(values, field, f"a list of ttfd.{kind.__name__}")
    return [(f"{field}[{index}]", one(value, kind, f"{field}[{index}]")) for index, value in enumerate(found)]


def integers(value: object, field: str, *names: str) -> list[int]:
    """32-bit attributes of an object."""
    return [integer(getattr(value, name), f"{field}.{name}") for name in names]


def position(value: object, field: str) -> Position:
    """A point of a timeline."""
    at = one(value, Position, field)
    return Position(integer(at.queue, f"{field}.queue"), integer(at.value, f"{field}.value", LARGEST))


def payload(array: npt.ArrayLike, field: str) -> memoryview:
    """The bytes of an array, in C order."""
    if isinstance(array, (bytes, bytearray, memoryview)):
        view = memoryview(array)
        return view.cast("B") if view.nbytes and view.c_contiguous else memoryview(view.tobytes())
    try:
        values = np.ascontiguousarray(array)
    except (TypeError, ValueError):  # such as lists of different lengths
        refuse_value(array, field, "bytes, or an array of numbers")
    if values.dtype.hasobject or values.dtype.kind == "U" or not values.dtype.itemsize:
        refuse_value(array, field, "bytes, or an array of numbers")
    return memoryview(values.reshape(-1).view(np.uint8))


def empty_array(shape: Any, dtype: npt.DTypeLike, size: int) -> np.ndarray:
    """An array to read into; shape None: of `size` bytes."""
    try:
        kind = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):
        refuse_value(dtype, "dtype", "a NumPy dtype")
    if kind.hasobject or not kind.itemsize:
        refuse_value(dtype, "dtype", "a NumPy dtype of numbers")
    try:
        return np.empty(size // kind.itemsize if shape is None else shape, kind)
    except (TypeError, ValueError, OverflowError):
        refuse_value(shape, "shape", "an integer or a tuple of integers from 0")


def array_to_fill(array: object, field: str) -> memoryview:
    """The bytes of an array that is read into."""
    if (not isinstance(array, np.ndarray) or not array.flags.c_contiguous or not array.flags.writeable
            or array.dtype.hasobject or not array.dtype.itemsize):
        refuse_value(array, field, "a C-contiguous and writeable NumPy array of numbers")
    return memoryview(array.reshape(-1).view(np.uint8))
