"""Plain values: tiles, positions, the device, and what programs and launches are made of."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple, Sequence, Tuple, Union

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ttfd.resources import Buffer, ComputeKernel, Kernel, Program

# The processors of a worker tile a kernel can be built for.
BRISC, NCRISC, TRISC0, TRISC1, TRISC2 = 1, 2, 3, 4, 5
# By their numbers in the API.
PRIORITIES = ("normal", "low", "normal", "high")
BACKENDS = ("", "embedded", "ttsim", "kmd")


class Position(NamedTuple):
    """A point on the timeline of a queue: the command with this value, or everything up to it."""

    queue: int
    value: int


PROCESSOR_NAMES = {BRISC: "brisc", NCRISC: "ncrisc", TRISC0: "trisc0", TRISC1: "trisc1", TRISC2: "trisc2"}


@dataclasses.dataclass(frozen=True)
class KernelPrint:
    """One print of a kernel. Those of a processor of a tile come in their order.

    position: of the launch or replay. launch: of a trace, which of its launches. kernel: the name it was loaded with.
    x, y: the tile. text: without the newline at its end. lost: so many prints of the session before this one were not
    read in time, and dropped. `str()` makes the line that goes to standard error.
    """

    position: Position
    launch: int
    kernel: str
    x: int
    y: int
    processor: int
    text: str
    lost: int = 0

    def __str__(self) -> str:
        processor = PROCESSOR_NAMES.get(self.processor, "unknown processor")
        return f"[{self.kernel} ({self.x},{self.y}) {processor}] {self.text}"


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
class Device:
    """A card. Sizes in bytes; `*_alignment` says what offsets, sizes and pages must be multiples of."""

    index: int
    board: str
    backend: str
    grid_x: int
    grid_y: int
    dram_banks: int
    dram_bank_bytes: int
    dram_alignment: int
    l1_bytes: int
    l1_alignment: int
    clock_hz: int
    circular_buffers: int
    semaphores: int
    argument_words: int
    circular_buffer_bytes: int
    transfer_alignment: int
    kernel_bytes: int
    iommu: bool

    @property
    def workers(self) -> int:
        """Tiles that run kernels."""
        return self.grid_x * self.grid_y


@dataclasses.dataclass(frozen=True)
class Limits:
    """What one session may use; exceeding one is RESOURCE_EXHAUSTED naming it. None: no limit."""

    message_bytes: int
    chunk_bytes: int
    inline_bytes: int
    commands_per_batch: int
    waits_per_batch: int
    queues: int
    handles: int
    dram_bytes: int
    l1_bytes: int
    transfer_bytes: int
    kernel_elf_bytes: int
    sessions_per_user: int
    client_name_bytes: int
    trace_bytes: int
    buffers: int
    kernels: int
    programs: int
    kernel_bytes: int
    idle_ms: int | None
    lease_ms: int | None
    lease_idle_ms: int | None
    lease_wait_ms: int
    weight: int
    priority: str  # the highest that is allowed without being an administrator
    nested_message_bytes: int  # as the rest of what the transport uses (types.proto)
    nested_messages: int
    unacknowledged_bytes: int
    reconnect_timeout_ms: int


@dataclasses.dataclass(frozen=True)
class Lease:
    """The card for a session alone, or the tiles of `workers`; granted first come first served."""

    workers: Cores = ()  # none: the whole device
    wait: float = 0.0  # seconds at most; 0: as long as the daemon lets one wait


@dataclasses.dataclass(frozen=True)
class LeaseWait:
    """How it stands with a lease that is waited for. Position 1 is next; 0: no lease was asked for, commands wait for one to end."""

    position: int
    holder: str
    expected: float  # seconds, a guess


@dataclasses.dataclass(frozen=True)
class KernelUse:
    """Runs `kernel` on `processor` of every tile in `cores`.

    processor: BRISC ... TRISC2, or its name in letters of any case. cores: one tile (x, y), a rectangle (x0, y0, x1, y1),
    which `CoreRange` is, or a list of these.
    """

    kernel: Kernel
    processor: int | str
    cores: Cores


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
    """

    index: int
    pages: int
    page_bytes: int
    cores: Cores
    format: str | None = None


@dataclasses.dataclass(frozen=True)
class Semaphore:
    """A counter in every tile of `cores`."""

    index: int
    initial: int
    cores: Cores


@dataclasses.dataclass(frozen=True)
class Arguments:
    """What one kernel of a program gets in one launch.

    kernel: the index of its `KernelUse` or `ComputeUse` in the program. common: words that every tile sees; a `Buffer` stands for its address.
    per_core: shape (tiles of the kernel, words per tile), the tiles in the order of its ranges, row by row; None: none.
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
