"""What kernels print, and the calls of the user's functions. Used by ttfd.connection only."""

from __future__ import annotations

import sys
import traceback
from typing import Callable, TypeVar

from ttfd.types import KernelPrint, Position
from ttfd.v1 import ttfd_pb2

_Notice = TypeVar("_Notice")


def write_to_stderr(line: KernelPrint) -> None:
    """Where lines go when nobody else wants them."""
    if line.lost:
        print(f"[ttfd] {line.lost} lines of kernels were not read in time and are lost", file=sys.stderr)
    print(line, file=sys.stderr, flush=True)


def kernel_print(line: ttfd_pb2.KernelPrint) -> KernelPrint:
    """The message as users see it."""
    return KernelPrint(Position(line.queue, line.value), line.launch, line.kernel, line.x, line.y, line.processor,
                       line.text, line.lost)


def call(callback: Callable[[_Notice], None] | None, notice: _Notice) -> None:
    """Calls the user's function; what it raises ends neither the session nor its thread."""
    if callback is None:
        return
    try:
        callback(notice)
    except Exception:  # whatever a user may do
        traceback.print_exc()
