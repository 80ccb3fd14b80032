"""Launches as the API says them. Used by ttfd.session only."""

from __future__ import annotations

from typing import Sequence

from ttfd.errors import Code, Error
from ttfd.resources import Buffer
from ttfd.types import Arguments, Launch
from ttfd.v1 import ttfd_pb2
from ttfd.words import word, word_array

_SEGMENT_BYTES = 256 << 10  # of the launches of one command that records


def fill_arguments(entry: ttfd_pb2.Arguments, given: Arguments) -> None:
    """What one kernel gets."""
    entry.kernel = given.kernel
    for index, value in enumerate(given.common):
        if isinstance(value, Buffer):
            entry.buffers.add(word=index, buffer=value.handle)
            entry.common.append(0)
        else:
            entry.common.append(word(value, f"arguments.common[{index}]"))
    if given.per_core is not None:
        words = word_array(given.per_core, "arguments.per_core")
        if words.ndim != 2:
            raise Error(Code.INVALID_ARGUMENT, "per_core has the shape (tiles of the kernel, words per tile), not "
                        f"{words.shape}", reason="INVALID", field="arguments.per_core")
        entry.words_per_core = words.shape[1]
        entry.per_core.extend(words.ravel().tolist())


def fill_launch(entry: ttfd_pb2.Launch, launch: Launch) -> None:
    """One run of a program."""
    entry.program = launch.program.handle
    if launch.timeout:
        entry.timeout_ms = max(1, int(launch.timeout * 1000))
    for given in launch.arguments:
        fill_arguments(entry.arguments.add(), given)


def record_commands(handle: int, launches: Sequence[Launch]) -> list[ttfd_pb2.Command]:
    """The commands that record a trace: as many launches in each as fit into a message, but at least one."""
    commands = [ttfd_pb2.Command()]
    commands[-1].record_trace.handle = handle
    size = 0
    for launch in launches:
        entry = ttfd_pb2.Launch()
        fill_launch(entry, launch)
        if size and size + entry.ByteSize() > _SEGMENT_BYTES:
            commands[-1].record_trace.more = True
            commands.append(ttfd_pb2.Command())
            commands[-1].record_trace.handle = handle
            size = 0
        commands[-1].record_trace.launches.append(entry)
        size += entry.ByteSize()
    return commands
