"""Programs and launches as the API says them. Used by ttfd.session only."""

from __future__ import annotations

from typing import Sequence

from ttfd import check
from ttfd.cores import add_ranges, processor_number
from ttfd.resources import Buffer, ComputeKernel, Kernel, Program, Trace
from ttfd.types import TRISC0, Arguments, CircularBuffer, ComputeUse, KernelUse, Launch, Patch, Semaphore
from ttfd.v1 import ttfd_pb2, types_pb2
from ttfd.words import word, word_array

_SEGMENT_BYTES = 256 << 10  # of the launches of one command that records
_FORMATS = {name: types_pb2.DataFormat.Value(f"DATA_FORMAT_{name.upper()}") for name in ("float32", "float16_b", "bfp8_b", "int32", "uint16")}
_FORMATS["bfloat16"] = _FORMATS["float16_b"]


def _format_number(name: str | None, field: str) -> int:
    """The API's number of an element format."""
    if name is None:
        return 0
    if not isinstance(name, str) or name not in _FORMATS:
        check.refuse_value(name, field, f"{', '.join(map(repr, _FORMATS))} or None")
    return _FORMATS[name]


def _kernel_uses(use: KernelUse | ComputeUse, field: str) -> list[KernelUse]:
    """The entries of the API for one of the package."""
    if not isinstance(use, ComputeUse):
        return [check.one(use, KernelUse, field)]
    kernels = check.one(use.kernels, ComputeKernel, f"{field}.kernels").kernels
    return [KernelUse(kernel, TRISC0 + number, use.cores) for number, kernel in enumerate(kernels)]


def fill_program(create: ttfd_pb2.CreateProgram, kernels: Sequence[KernelUse | ComputeUse],
                 circular_buffers: Sequence[CircularBuffer], semaphores: Sequence[Semaphore]) -> list[range]:
    """Fills in the kernels of a program, their tiles and what they use; the numbers of each of `kernels` in the API."""
    numbers = []
    for index, given in enumerate(check.items(kernels, "create_program.kernels", "a list of ttfd.KernelUse")):
        field = f"create_program.kernels[{index}]"
        first = len(create.kernels)
        for use in _kernel_uses(given, field):
            entry = create.kernels.add(kernel=check.one(use.kernel, Kernel, f"{field}.kernel").handle)
            entry.processor = processor_number(use.processor, f"{field}.processor")
            add_ranges(entry.cores, use.cores, f"{field}.cores")
        numbers.append(range(first, len(create.kernels)))
    for index, buffer in enumerate(check.several(circular_buffers, CircularBuffer, "create_program.circular_buffers")):
        field = f"create_program.circular_buffers[{index}]"
        entry = create.circular_buffers.add(index=check.integer(buffer.index, f"{field}.index"),
                                            pages=check.integer(buffer.pages, f"{field}.pages"),
                                            page_bytes=check.integer(buffer.page_bytes, f"{field}.page_bytes"))
        add_ranges(entry.cores, buffer.cores, f"{field}.cores")
        entry.format = _format_number(buffer.format, f"{field}.format")
    for index, semaphore in enumerate(check.several(semaphores, Semaphore, "create_program.semaphores")):
        field = f"create_program.semaphores[{index}]"
        entry = create.semaphores.add(index=check.integer(semaphore.index, f"{field}.index"),
                                      initial=check.integer(semaphore.initial, f"{field}.initial"))
        add_ranges(entry.cores, semaphore.cores, f"{field}.cores")
    return numbers


def _numbers_of(kernel: int, numbers: Sequence[range]) -> range:
    """The numbers in the API of a kernel of a program."""
    index = check.integer(kernel, "arguments.kernel")
    if index >= len(numbers):
        check.refuse_value(index, "arguments.kernel", f"below {len(numbers)}, the number of the program's kernels")
    return numbers[index]


def fill_arguments(entry: ttfd_pb2.Arguments, given: Arguments, number: int) -> None:
    """What one kernel gets."""
    entry.kernel = number
    for index, value in enumerate(check.items(given.common, "arguments.common", "a list of words and buffers")):
        if isinstance(value, Buffer):
            entry.buffers.add(word=index, buffer=value.handle)
            entry.common.append(0)
        else:
            entry.common.append(word(value, f"arguments.common[{index}]"))
    if given.per_core is not None:
        words = word_array(given.per_core, "arguments.per_core")
        if words.ndim != 2:
            check.refuse(f"per_core has the shape (tiles of the kernel, words per tile), not {words.shape}", "arguments.per_core")
        entry.words_per_core = words.shape[1]
        entry.per_core.extend(words.ravel().tolist())


def fill_launch(entry: ttfd_pb2.Launch, launch: Launch) -> None:
    """One run of a program."""
    entry.program = check.one(launch.program, Program, "launch.program").handle
    timeout = check.seconds(launch.timeout, "launch.timeout")
    if timeout:
        entry.timeout_ms = max(1, int(timeout * 1000))
    for given in check.several(launch.arguments, Arguments, "launch.arguments"):
        for number in _numbers_of(given.kernel, launch.program._numbers):
            fill_arguments(entry.arguments.add(), given, number)


def fill_replay(replay: ttfd_pb2.ReplayTrace, trace: Trace, patches: Sequence[Patch]) -> None:
    """One replay, with the arguments that differ from the replay before."""
    replay.trace = check.one(trace, Trace, "replay_trace.trace").handle
    for index, patch in enumerate(check.several(patches, Patch, "replay_trace.patches")):
        field = f"replay_trace.patches[{index}]"
        launch = check.integer(patch.launch, f"{field}.launch")
        if launch >= trace.launches:
            check.refuse_value(launch, f"{field}.launch", f"below {trace.launches}, the number of the trace's launches")
        given = check.one(patch.arguments, Arguments, f"{field}.arguments")
        for number in _numbers_of(given.kernel, trace._numbers[launch]):
            fill_arguments(replay.patches.add(launch=launch).arguments, given, number)


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
