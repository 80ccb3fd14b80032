"""Arguments of kernels as 32-bit words. Used by ttfd.messages and ttfd.session only."""

from __future__ import annotations

import operator

import numpy as np
import numpy.typing as npt

from ttfd import check

_SMALLEST, _LARGEST = -(1 << 31), (1 << 32) - 1


def word(value: object, field: str) -> int:
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
    """Words of any shape, as uint32: an array of integers or of np.float32, or (nested) lists of what `word` takes."""
    try:
        array = values if isinstance(values, np.ndarray) else np.array(values, dtype=object)
    except ValueError:  # arrays of different shapes
        check.refuse_value(values, field, "an array of words")
    if array.dtype == np.float32:
        return np.ascontiguousarray(array).view(np.uint32)
    if array.dtype.kind in "iub":
        wide = array[(array < _SMALLEST) | (array > _LARGEST)] if array.dtype.itemsize == 8 else array[:0]
        if wide.size:
            word(wide.flat[0], field)  # raises
        return array.astype(np.int64 if array.dtype.kind == "i" else np.uint64).astype(np.uint32)
    return np.array([word(value, field) for value in array.flat], dtype=np.uint32).reshape(array.shape)
