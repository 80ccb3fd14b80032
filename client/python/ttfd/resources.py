"""What a session owns on the card: buffers, kernels, programs, traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

import numpy as np
import numpy.typing as npt

from ttfd import _native

if TYPE_CHECKING:
    from ttfd.session import Session


class Kernel(_native.Resource):
    """A kernel ELF the daemon has checked and holds ready."""

    def __init__(self, owner: _native.Resource, name: str) -> None:
        super().__init__(owner, f" {name!r}")
        self.name = name


class ComputeKernel:
    """The three kernels of one source for the Tensix engine (`ttfd_add_kernel` with COMPUTE), by `Session.load_kernels`.

    kernels: for TRISC0, TRISC1 and TRISC2.
    """

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        self.kernels = tuple(kernels)

    def __repr__(self) -> str:
        return f"<ttfd.ComputeKernel {', '.join(map(repr, self.kernels))}>"

    def free(self) -> None:
        """Frees all three."""
        for kernel in self.kernels:
            kernel.free()

    def __enter__(self) -> ComputeKernel:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()


class Program(_native.Resource):
    """Kernels on tiles, with circular buffers and semaphores."""

    def __init__(self, owner: _native.Resource, numbers: Sequence[range], buffers: Sequence[Buffer]) -> None:
        super().__init__(owner, "")
        self._numbers = tuple(numbers)  # of each of the kernels it was created from, in the API
        self._buffers = tuple(buffers)  # that circular buffers lie on: a launch needs them


class Trace(_native.Resource):
    """Launches compiled once on the card, made by `Queue.record_trace`.

    Replayed on the queue it was recorded on, or one of the same kind with the same workers. It holds the programs and the
    memory its arguments name, also when those are freed.
    """

    def __init__(self, owner: _native.Resource, programs: Sequence[Program]) -> None:
        super().__init__(owner, f": {len(programs)} launches")
        self.launches = len(programs)
        self._numbers = [program._numbers for program in programs]


class Buffer(_native.Resource):
    """Memory on the card: pages over DRAM banks, or in the L1 of worker tiles. New buffers are zero."""

    def __init__(self, owner: _native.Resource, session: Session, size_bytes: int, page_bytes: int) -> None:
        super().__init__(owner, f": {size_bytes} bytes in pages of {page_bytes}")
        self._session, self.size_bytes, self.page_bytes = session, size_bytes, page_bytes

    def write(self, array: npt.ArrayLike, offset: int = 0) -> None:
        """Copies an array's bytes (any shape, C order) to `offset` and waits until they are there.

        Both ends must be multiples of `session.device.transfer_alignment` from the start of their page, or the end
        of a page or of the buffer.
        """
        self._session.queue.write(self, array, offset)

    def read(self, dtype: npt.DTypeLike = np.uint8, shape: int | tuple[int, ...] | None = None,
             offset: int = 0) -> np.ndarray:
        """A new array of `shape` from the bytes at `offset`; shape None: everything from there on, one-dimensional."""
        return self._session.queue.read(self, dtype, shape, offset)
