"""How mistakes look: wrong kernels and wrong calls, each with the first line that its user reads.

A first line has at most 100 characters and says what happened to which kernel, where, and at which line of the user's
source. Of a launch that stopped the card it ends with the command that shows the report.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re

import numpy as np
import pytest

import ttfd
from conftest import KERNELS, Daemon

MISTAKES = pathlib.Path(os.environ["TTFD_MISTAKES"])
CORE = [ttfd.CoreRange(1, 2, 1, 2)]
PAIR = [ttfd.CoreRange(1, 2, 2, 2)]
L1 = 0x9F000  # memory of circular buffers, which these programs do not reach


@dataclasses.dataclass(frozen=True)
class Wrong:
    """A program of one kernel and its launch."""

    kernel: str
    line: str
    processor: str = "brisc"
    cores: list[ttfd.CoreRange] = dataclasses.field(default_factory=lambda: CORE)
    buffers: tuple[int, ...] = ()  # indices of circular buffers of two pages
    semaphores: tuple[int, ...] = ()
    common: tuple[int, ...] = ()
    words: int = 0  # per core
    also: tuple[str, str] = ()  # another kernel of the program, with its processor
    options: dict[str, float] = dataclasses.field(default_factory=dict)


REFUSED = [
    Wrong("no_buffer", "kernel 'no_buffer' uses circular buffer 0 at no_buffer.cc:7, which it is not given"),
    Wrong("no_buffer", "kernel 'no_buffer' uses circular buffer 0 at no_buffer.cc:7, which it is not given", buffers=(1, 2)),
    Wrong("no_semaphore", "kernel 'no_semaphore' uses semaphore 1 at no_semaphore.cc:6, which it is not given", semaphores=(0,)),
    Wrong("no_argument", "kernel 'no_argument' uses argument 1 at no_argument.cc:7, which it is not given", common=(L1, 0, L1)),
    Wrong("no_argument", "kernel 'no_argument' uses common argument 2 at no_argument.cc:8, which it is not given", common=(L1,), words=2),
    Wrong("waits", "kernel 'waits' was built for BRISC and is used on NCRISC", processor="ncrisc", semaphores=(0,)),
]

STOPPED = [
    Wrong("computed", "kernel 'computed' faulted on (1,2) at computed.cc:9: no argument 2", common=(3,), words=2, buffers=(3,)),
    Wrong("computed", "kernel 'computed' faulted on (1,2) at computed.cc:11: no circular buffer 1", common=(1,), words=2,
          buffers=(0,)),
    Wrong("computed", "kernel 'computed' faulted on (1,2) at computed.cc:11: no circular buffer 1", common=(1,), words=2,
          buffers=(0, 2)),
    Wrong("odd_load", "'odd_load' faulted on (1,2) at odd_load.cc:8: misaligned access at 0x9f001", common=(L1,)),
    Wrong("no_memory", "'no_memory' faulted on (1,2) at no_memory.cc:6: unmapped address 0x40000000"),
    Wrong("null_call", "kernel 'null_call' faulted on (1,2) at null_call.cc:7: illegal instruction", common=(L1,)),
    Wrong("from_stack", "'from_stack' faulted on (1,2) at from_stack.cc:8: NoC transfer outside L1"),
    Wrong("unaligned", "'unaligned' faulted on (1,2) at unaligned.cc:6: NoC alignment at 0x9f024"),
    Wrong("off_grid", "kernel 'off_grid' faulted on (1,2) at off_grid.cc:6: no such tile"),
    Wrong("waits", "kernel 'waits' hung on (1,2) at waits.cc:6, waiting for a semaphore", semaphores=(0,)),
    Wrong("waits", "kernel 'waits' hung on 2 tiles at waits.cc:6, waiting for a semaphore", semaphores=(0,), cores=PAIR),
    Wrong("consumer", "'consumer' hung on (1,2) at consumer.cc:6, waiting for a circular buffer", buffers=(0,)),
    Wrong("producer", "'producer' hung on (1,2) at producer.cc:9, waiting for a circular buffer", buffers=(0,)),
    Wrong("waits", "kernel 'waits' hung on (1,2) at waits.cc:6, waiting for a semaphore", buffers=(0,), semaphores=(0,),
          also=("consumer_ncrisc", "ncrisc")),
    Wrong("spins", "kernel 'spins' hung on (1,2) at spins.cc:8, still running after 200 ms", options={"timeout": 0.2}),
    Wrong("deep", "kernel 'deep' faulted on (1,2) at deep.cc:9: its stack overflowed", common=(100,)),
    Wrong("at_zero", "'at_zero' faulted where BRISC firmware of worker (1,2) was overwritten"),
    Wrong("leave_in_engine", "kernel 'leave_in_engine' faulted on (1,2): it left the Tensix engine in use", processor="trisc0", common=(1,)),
    Wrong("wait_in_engine", "'wait_in_engine' hung on (1,2) at wait_in_engine.cc:8, waiting in SEMWAIT",
          processor="trisc1"),
    Wrong("wrong_dst_trisc1", "'wrong_dst...' faulted on (1,2) at wrong_dst.cc:9: Tensix instruction ELWADD",
          processor="trisc1", buffers=(0,)),
]


def path_of(kernel):
    file = f"{kernel}.elf"
    return MISTAKES / file if (MISTAKES / file).exists() else KERNELS / file


def name_of(wrong):
    return f"{wrong.kernel}-{wrong.processor}-{len(wrong.buffers)}-{len(wrong.common)}-{len(wrong.cores)}"


@pytest.fixture(scope="module")
def daemon():
    running = Daemon(config="[hangs]\nquarantine_hangs = 0\n")
    yield running
    running.end()


@pytest.fixture
def session(daemon):
    with ttfd.connect(daemon.address, client_name="beginner") as opened:
        yield opened


def launch(session, wrong):
    """Creates the program and launches it; the error that this ends with."""
    uses = [(wrong.kernel, wrong.processor)] + ([wrong.also] if wrong.also else [])
    kernels = [ttfd.KernelUse(session.load_kernel(path_of(kernel), name=kernel), processor, wrong.cores) for kernel, processor in uses]
    buffers = [ttfd.CircularBuffer(index, 2, 2048, wrong.cores) for index in wrong.buffers]
    semaphores = [ttfd.Semaphore(index, 0, wrong.cores) for index in wrong.semaphores]
    tiles = sum((cores.x1 - cores.x0 + 1) * (cores.y1 - cores.y0 + 1) for cores in wrong.cores)
    with pytest.raises(ttfd.Error) as raised:
        program = session.create_program(kernels, buffers, semaphores)
        arguments = ttfd.Arguments(common=list(wrong.common), per_core=[[7] * wrong.words] * tiles if wrong.words else None)
        session.launch(program, [arguments], **wrong.options)
    return raised.value


def first_line(error):
    line = error.message.splitlines()[0]
    assert len(line) <= 100, line
    return line


@pytest.mark.parametrize("wrong", REFUSED, ids=name_of)
def test_is_refused_before_anything_runs(session, wrong):
    error = launch(session, wrong)
    assert first_line(error) == wrong.line
    assert error.code == ttfd.Code.INVALID_ARGUMENT and not error.hang_report


def test_a_kernel_built_unchecked_is_not_refused(session):
    kernel = session.load_kernel(path_of("unchecked"), name="unchecked")
    session.create_program([ttfd.KernelUse(kernel, "brisc", CORE)])


@pytest.mark.parametrize("wrong", STOPPED, ids=name_of)
def test_says_what_stopped_where(session, wrong):
    error = launch(session, wrong)
    assert first_line(error) == f"{wrong.line}; ttfdctl hang show {error.hang_report}"
    assert error.code == ttfd.Code.ABORTED


def run_alone(session, kernel, common):
    loaded = session.load_kernel(path_of(kernel), name=kernel)
    program = session.create_program([ttfd.KernelUse(loaded, "brisc", CORE)], [ttfd.CircularBuffer(0, 1, 2048, CORE)])
    session.launch(program, [ttfd.Arguments(common=common)])


BOUNDS = [
    ("past_end", lambda dram, l1: [dram, 0, 16], "'past_end' faulted on (1,2) at past_end.cc:11: read 2048 B past buffer"),
    ("past_end", lambda dram, l1: [dram, 1000, 1], "'past_end' faulted on (1,2) at past_end.cc:11: read 250 KiB past buffer"),
    ("sends", lambda dram, l1: [dram, 1], "kernel 'sends' faulted on (1,2) at sends.cc:9: write 128 B before buffer"),
    ("sends", lambda dram, l1: [l1, 0], "kernel 'sends' faulted on (1,2) at sends.cc:9: write 128 B before buffer"),
    ("counts", lambda dram, l1: [l1, 1025], "kernel 'counts' faulted on (1,2) at counts.cc:8: write 4 B past buffer"),
]


@pytest.mark.parametrize(("kernel", "arguments", "line"), BOUNDS)
def test_what_other_sessions_have_is_out_of_bounds(daemon, session, kernel, arguments, line):
    """The buffers of another session lie before and behind those of this one, in DRAM and in L1."""
    data = np.arange(8 * 512, dtype=np.uint32)
    with ttfd.connect(daemon.address) as other:
        def pair(owner):
            made = owner.allocate_dram(data.nbytes), owner.allocate_l1(4096, cores=CORE)
            made[0].write(data)
            made[1].write(data[:1024])
            return made

        theirs, mine, also_theirs = pair(other), pair(session), pair(other)
        run_alone(session, "past_end", [mine[0], 0, 8])  # all that it has
        with pytest.raises(ttfd.Error) as raised:
            run_alone(session, kernel, arguments(*mine))
        number = re.search(r"buffer (\d+);", first_line(raised.value)).group(1)
        assert first_line(raised.value) == f"{line} {number}; ttfdctl hang show {raised.value.hang_report}"
        assert raised.value.code == ttfd.Code.ABORTED
        for dram, l1 in (theirs, also_theirs):
            assert (dram.read(np.uint32) == data).all() and (l1.read(np.uint32) == data[:1024]).all()
        assert f"Buffer {number}:" in repr(mine)


def test_names_no_offender_where_several_kernels_may_have_done_it(daemon, session):
    good = Wrong("spins", "", options={})
    with ttfd.connect(daemon.address) as earlier:
        kernel = earlier.load_kernel(KERNELS / "empty.elf")
        earlier.launch(earlier.create_program([ttfd.KernelUse(kernel, "brisc", good.cores)]))
    error = launch(session, Wrong("at_zero", ""))
    assert first_line(error) == f"firmware or a kernel was overwritten, by a kernel of yours or an earlier one; ttfdctl hang show {error.hang_report}"
    assert error.code == ttfd.Code.UNAVAILABLE and error.retryable
    (report,) = [report for report in reports(daemon) if report["report"] == error.hang_report]
    assert not report["offender"]
    assert report["headline"].startswith("BRISC firmware of worker (1,2) was overwritten")


def reports(daemon):
    return json.loads(daemon.ctl("hang", "list", "--json").stdout)["reports"]


def program_of(session, cores, buffers=(), kernels=1):
    kernel = session.load_kernel(KERNELS / "empty.elf", name="empty")
    return session.create_program([ttfd.KernelUse(kernel, "brisc", cores)] * kernels, list(buffers))


def freed_buffer(session):
    buffer = session.allocate_dram(4096)
    buffer.free()
    buffer.read(np.uint32)


CALLS = [
    ("no core", lambda s: program_of(s, [ttfd.CoreRange(0, 0, 99, 0)]),
     "core range (0,0)-(99,0) is not a rectangle inside the worker grid (0,0)-(12,9)"),
    ("two kernels on a processor", lambda s: program_of(s, CORE, kernels=2), "kernels 0 and 1 both want BRISC of core (1,2)"),
    ("an odd page", lambda s: program_of(s, CORE, [ttfd.CircularBuffer(0, 2, 24, CORE)]),
     "circular buffer 0: 2 pages of 24 bytes; both must be positive and the page a multiple of 16"),
    ("too large a circular buffer", lambda s: program_of(s, CORE, [ttfd.CircularBuffer(0, 1 << 20, 16, CORE)]),
     "circular buffer 0: 16777216 bytes do not fit; the circular buffers of one core may take 524288 bytes, 524288 are left"),
    ("no kernel", lambda s: s.create_program([]), "a program needs at least one kernel"),
    ("no ELF file", lambda s: s.load_kernel(b"#!/bin/sh", name="script"), "kernel script: too short to be an ELF file"),
    ("beyond the end", lambda s: s.allocate_dram(4096).write(bytes(8192)), "8192 bytes at offset 0 leave the buffer, which has 4096 bytes"),
    ("a freed buffer", freed_buffer, "read.buffer: the buffer was freed"),
]


@pytest.mark.parametrize(("call", "line"), [call[1:] for call in CALLS], ids=[call[0] for call in CALLS])
def test_a_wrong_call_says_what_is_allowed(session, call, line):
    with pytest.raises(ttfd.Error) as raised:
        call(session)
        session.queue.wait(session.queue.enqueue_barrier())
    assert raised.value.message.splitlines()[0] == line
    assert raised.value.code in (ttfd.Code.INVALID_ARGUMENT, ttfd.Code.NOT_FOUND, ttfd.Code.OUT_OF_RANGE)
