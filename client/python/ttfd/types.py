"""Plain values: tiles, positions, leases, and what programs and launches are made of."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple, Sequence, Tuple, Union

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ttfd.resources import Buffer, ComputeKernel, Kernel, Program

# The processors of a worker tile a kernel can be built for.
BRISC, NCRISC, TRISC0, TRISC1, TRISC2 = 1, 2, 3, 4, 5


class Position(NamedTuple):
    """A point on the timeline of a queue: the command with this value, or everything up to it."""

    queue: int
    value: int


class CoreRange(NamedTuple):
    """Inclusive rectangle of worker tiles, logical coordinates."""

    x0: int
    y0: int
    x1: int
    y1: int

    @property
    def count(self) -> int:
        """Tiles in the rectangle."""
        return (self.x1 - self.x0 + 1) * (self.y1 - self.y0 + 1)


# Tiles: one (x, y), a rectangle (x0, y0, x1, y1), or a list of these; what has an order takes them in theirs.
CoreRangeLike = Union[CoreRange, Tuple[int, int], Tuple[int, int, int, int]]
Cores = Union[CoreRangeLike, Sequence[CoreRangeLike]]


@dataclasses.dataclass(frozen=True)
class Lease:
    """The card for a session alone, or the tiles of `workers`; granted first come first served.

    devices: indices of devices, none twice; several are leased as a whole, with the links between them
    (`Queue.connect_links`), when all are free. None: the device of the session.
    """

    workers: Cores = ()  # none: the whole device
    wait: float = 0.0  # seconds at most; 0: as long as the daemon lets one wait
    devices: Sequence[int] = ()


@dataclasses.dataclass(frozen=True)
class LinkPlace:
    """One end of a link: a worker of a device, and the Ethernet channel. Its kernels name it by `end`, 0 to 3."""

    device: int
    channel: int
    worker: tuple[int, int] = (0, 0)
    end: int = 0


@dataclasses.dataclass(frozen=True)
class KernelUse:
    """Runs `kernel` on `processor` of every tile in `cores`.

    processor: BRISC ... TRISC2, or its name in letters of any case. cores: one tile (x, y), a rectangle (x0, y0, x1, y1),
    which `CoreRange` is, or a list of these. callable: placed there and not started; the kernel that the program starts on
    the same processor calls it (<ttfd/callable.h>), by its number among the program's callable kernels. configured: of a callable
    kernel; its caller gives it circular buffers and common arguments of its own, and which of them it uses is not checked.
    """

    kernel: Kernel
    processor: int | str
    cores: Cores
    callable: bool = False
    configured: bool = False


@dataclasses.dataclass(frozen=True)
class ComputeUse:
    """Runs the three kernels of `Session.load_kernels` on their processors, TRISC0 to TRISC2, of every tile in `cores`.

    One entry of the `kernels` of a program: `Arguments` with its index are those of all three.
    """

    kernels: ComputeKernel
    cores: Cores


@dataclasses.dataclass(frozen=True)
class CircularBuffer:
    """`pages` of `page_bytes` (a multiple of 16) in the L1 of every tile in `cores`.

    format: of the elements, for kernels that ask for it; then a page is one tile of 32 x 32. "float32" and "int32" have
    tiles of 4096 bytes, "float16_b" (or "bfloat16") and "uint16" of 2048, "bfp8_b" of 1088. None: pages are bytes.

    buffer: in L1, on which it lies: at the start of each tile's part, which every tile in `cores` must have, with at least
    pages * page_bytes bytes. Several may lie on one buffer, those of a program on at most `device.circular_buffers`
    different ones. The program refers to the `Buffer`; after its `free` a launch raises Error with NOT_FOUND. None: memory of
    the launch, whose contents are undefined.
    """

    index: int
    pages: int
    page_bytes: int
    cores: Cores
    format: str | None = None
    buffer: Buffer | None = None


@dataclasses.dataclass(frozen=True)
class Semaphore:
    """A counter in every tile of `cores`."""

    index: int
    initial: int
    cores: Cores


@dataclasses.dataclass(frozen=True)
class Arguments:
    """What one kernel of a program gets in one launch.

    kernel: the index of its `KernelUse` or `ComputeUse` in the program. common: words that every tile sees; a `Buffer` stands
    for its address. per_core: shape (tiles of the kernel, words per tile), the tiles in the order of its ranges, row by row.
    A word is an integer from -2^31 to 2^32 - 1 (a bool is 0 or 1), or an np.float32, of which the kernel gets the bits.
    Anything else, a Python float too, raises Error with reason INVALID when the launch is made.
    """

    kernel: int = 0
    common: Sequence[Union[int, np.float32, Buffer]] = ()
    per_core: npt.ArrayLike | None = None


@dataclasses.dataclass(frozen=True)
class Launch:
    """One run of a program, as a value to record. timeout: seconds, when shorter than the daemon's; 0: that one."""

    program: Program
    arguments: Sequence[Arguments] = ()
    timeout: float = 0.0


@dataclasses.dataclass(frozen=True)
class Patch:
    """New arguments of one kernel of launch `launch` (counted from 0) of a trace, as many words as recorded."""

    launch: int
    arguments: Arguments
