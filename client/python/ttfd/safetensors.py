"""Files of tensors in the format safetensors, as models are published.

    weights = safetensors.SafetensorsFile("model.safetensors")
    w = card.tensor(weights["model.norm.weight"])

A file may come from anyone: whatever it has, it is read, or refused with `ttfd.Error`; or MemoryError, where there is no memory for it.
"""

from __future__ import annotations

import os
from typing import Iterator, Mapping

import numpy as np

from ttfd import _native, check

__all__ = ["SafetensorsFile"]


class SafetensorsFile(Mapping[str, np.ndarray]):
    """The tensors of a file by name. One is read when it is looked up, as a new array of np.float32 with exactly its values, from F32, F16
    or BF16; another type is an error. Any thread may use it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = check.path(path, "path")
        self._native = _native.Safetensors(self._path)
        self._names = dict.fromkeys(self._native.names())

    def __repr__(self) -> str:
        return f"<ttfd.safetensors.SafetensorsFile {self._path!r} of {len(self)} tensors>"

    def __getitem__(self, name: str) -> np.ndarray:
        array = np.empty(self.shape(name), np.float32)
        self._native.read(name, array)
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def shape(self, name: str) -> tuple[int, ...]:
        """The extents of a tensor, without reading it. KeyError: there is none of that name."""
        return self._native.shape(self._known(name))

    def dtype(self, name: str) -> str:
        """Its type as the format calls it, such as "BF16". KeyError: there is none of that name."""
        return self._native.dtype(self._known(name))

    def _known(self, name: str) -> str:
        if name not in self:
            raise KeyError(name)
        return name
