"""What kernels print, handed to whoever wants it. Used by ttfd.connection only."""

from __future__ import annotations

import sys
import traceback
from typing import Callable

from ttfd.types import KernelPrint, Position
from ttfd.v1 import ttfd_pb2


def write_to_stderr(line: KernelPrint) -> None:
    """Where lines go when nobody else wants them."""
    if line.lost:
        print(f"[ttfd] {line.lost} lines of kernels were not read in time and are lost", file=sys.stderr)
    print(line, file=sys.stderr, flush=True)


def tell(on_print: Callable[[KernelPrint], None] | None, line: ttfd_pb2.KernelPrint) -> None:
    """Calls the user's function; what it raises ends neither the session nor its thread."""
    if on_print is None:
        return
    try:
        on_print(KernelPrint(Position(line.queue, line.value), line.launch, line.kernel, line.x, line.y, line.processor,
                             line.text, line.lost))
    except Exception:  # whatever a user may do
        traceback.print_exc()
