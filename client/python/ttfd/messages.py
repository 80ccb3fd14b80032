"""Programs and launches as ttfd._native takes them: tuples of checked numbers. Used by ttfd.session and ttfd.queue only."""

from __future__ import annotations

from typing import Any, Sequence

from ttfd import check
from ttfd.cores import core_ranges, processor_number
from ttfd.resources import Buffer, ComputeKernel, Kernel, Program, Trace
from ttfd.types import TRISC0, Arguments, CircularBuffer, ComputeUse, KernelUse, Launch, Patch, Semaphore
from ttfd.words import word, word_array

FORMATS = {"float32": 1, "float16_b": 6, "bfp8_b": 7, "int32": 9, "uint16": 10, "bfloat16": 6}  # numbers of the API


def _format_number(name: str | None, field: str) -> int:
    if name is None:
        return 0
    if not isinstance(name, str) or name not in FORMATS:
        check.refuse_value(name, field, f"{', '.join(map(repr, FORMATS))} or None")
    return FORMATS[name]


def _kernel_uses(use: KernelUse | ComputeUse, field: str) -> list[KernelUse]:
    """The entries of the API for one of the package."""
    if not isinstance(use, ComputeUse):
        return [check.one(use, KernelUse, field)]
    kernels = check.one(use.kernels, ComputeKernel, f"{field}.kernels").kernels
    return [KernelUse(kernel, TRISC0 + number, use.cores) for number, kernel in enumerate(kernels)]


def kernel_uses(kernels: Sequence[KernelUse | ComputeUse]) -> tuple[list[tuple[Any, ...]], list[range]]:
    """The kernels of a program and their tiles; and the numbers of each of `kernels` among them."""
    entries: list[tuple[Any, ...]] = []
    numbers = []
    for index, given in enumerate(check.items(kernels, "create_program.kernels", "a list of ttfd.KernelUse")):
        field = f"create_program.kernels[{index}]"
        first = len(entries)
        for use in _kernel_uses(given, field):
            entries.append((check.one(use.kernel, Kernel, f"{field}.kernel").handle,
                            processor_number(use.processor, f"{field}.processor"), core_ranges(use.cores, f"{field}.cores")))
        numbers.append(range(first, len(entries)))
    return entries, numbers


def circular_buffer(buffer: CircularBuffer, field: str) -> tuple[Any, ...]:
    """One circular buffer of a program."""
    return (check.integer(buffer.index, f"{field}.index"), check.integer(buffer.pages, f"{field}.pages"),
            check.integer(buffer.page_bytes, f"{field}.page_bytes"), core_ranges(buffer.cores, f"{field}.cores"),
            _format_number(buffer.format, f"{field}.format"))


def semaphore(given: Semaphore, field: str) -> tuple[Any, ...]:
    """One semaphore of a program."""
    return (check.integer(given.index, f"{field}.index"), check.integer(given.initial, f"{field}.initial"),
            core_ranges(given.cores, f"{field}.cores"))


def _arguments(given: Arguments, numbers: Sequence[range]) -> list[tuple[Any, ...]]:
    """What the kernels get that one of the program's, by its index, consists of."""
    index = check.integer(given.kernel, "arguments.kernel")
    if index >= len(numbers):
        check.refuse_value(index, "arguments.kernel", f"below {len(numbers)}, the number of the program's kernels")
    common, buffers = [], []
    for at, value in enumerate(check.items(given.common, "arguments.common", "a list of words and buffers")):
        if isinstance(value, Buffer):
            buffers.append((at, value.handle))
        common.append(0 if isinstance(value, Buffer) else word(value, f"arguments.common[{at}]"))
    words, per_core = 0, None
    if given.per_core is not None:
        per_core = word_array(given.per_core, "arguments.per_core")
        if per_core.ndim != 2:
            check.refuse(f"per_core has the shape (tiles of the kernel, words per tile), not {per_core.shape}", "arguments.per_core")
        words = per_core.shape[1]
    return [(number, common, buffers, words, per_core) for number in numbers[index]]


def launch_tuple(launch: Launch) -> tuple[Any, ...]:
    """One run of a program."""
    program = check.one(launch.program, Program, "launch.program")
    timeout = check.seconds(launch.timeout, "launch.timeout")
    entries: list[tuple[Any, ...]] = []
    for index, given in enumerate(check.several(launch.arguments, Arguments, "launch.arguments")):
        more = _arguments(given, program._numbers)
        if any(entry[0] == more[0][0] for entry in entries):
            check.refuse(f"kernel {given.kernel} has arguments already", f"launch.arguments[{index}].kernel")
        entries += more
    return program.handle, entries, max(1, int(timeout * 1000)) if timeout else 0


def patch_tuples(trace: Trace, patches: Sequence[Patch]) -> list[tuple[int, tuple[Any, ...]]]:
    """The arguments of a replay that differ from the replay before."""
    entries = []
    for index, patch in enumerate(check.several(patches, Patch, "replay_trace.patches")):
        field = f"replay_trace.patches[{index}]"
        launch = check.integer(patch.launch, f"{field}.launch")
        if launch >= trace.launches:
            check.refuse_value(launch, f"{field}.launch", f"below {trace.launches}, the number of the trace's launches")
        given = check.one(patch.arguments, Arguments, f"{field}.arguments")
        entries += [(launch, arguments) for arguments in _arguments(given, trace._numbers[launch])]
    return entries
