"""Client of ttfd, the daemon that owns a Blackhole card.

    import numpy as np
    import ttfd

    with ttfd.connect(client_name="example") as session:
        numbers = session.allocate_dram(4096)
        numbers.write(np.arange(1024, dtype=np.uint32))
        kernel = session.load_kernel("double_them.elf")
        tiles = [ttfd.CoreRange(0, 0, 0, 0)]
        program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, tiles)],
                                         [ttfd.CircularBuffer(0, 1, 2048, tiles)])  # the kernel's scratch
        session.launch(program, [ttfd.Arguments(common=[numbers, 2048], per_core=[[0, 2]])])  # from page 0, two
        print(numbers.read(np.uint32))

What fails raises `ttfd.Error` with `code`, `reason`, `field`, `cause` and `retryable`; Python values that cannot be
sent at all, such as a negative size, raise it with code INVALID_ARGUMENT before anything is sent. Coordinates are
logical: (0, 0) is the top left worker tile and the grid has no holes. docs/clients.md is the guide, examples/ has whole
programs.

Threads: a session may be used from any thread. It has one thread of its own, which moves its stream. Every call may be
interrupted by a signal. A process that has forked must open its own sessions.
"""

from ttfd._native import Code, Device, KernelPrint, LeaseWait, Limits, Neighbour, SessionClient, __version__
from ttfd.arguments import first_cores
from ttfd.errors import Error
from ttfd.queue import Queue
from ttfd.resources import Buffer, ComputeKernel, Kernel, Program, Trace
from ttfd.session import Session, connect
from ttfd.tiles import from_tiles, tile_bytes, to_tiles
from ttfd.types import BRISC, NCRISC, TRISC0, TRISC1, TRISC2, CoreRange, Lease, LinkPlace, Position
from ttfd.types import Arguments, CircularBuffer, ComputeUse, KernelUse, Launch, Patch, Semaphore

__all__ = [
    "BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2", "Arguments", "Buffer", "CircularBuffer", "Code", "ComputeKernel", "ComputeUse",
    "CoreRange", "Device", "Error", "Kernel", "KernelPrint", "KernelUse", "Launch", "Lease", "LeaseWait", "Limits", "LinkPlace",
    "Neighbour", "Patch", "Position",
    "Program", "Queue", "Semaphore", "Session", "SessionClient", "Trace", "__version__", "connect", "first_cores", "from_tiles", "tile_bytes", "to_tiles",
]
