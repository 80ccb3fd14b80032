"""The three files of a compute kernel, loaded, placed and given arguments as one."""

import shutil

import pytest

import ttfd
from conftest import KERNELS

TRISCS = [ttfd.TRISC0, ttfd.TRISC1, ttfd.TRISC2]


@pytest.fixture(name="lines")
def _lines(session):
    """What kernels of the session print: the processor, and the word that it was given."""
    lines = []
    session.on_print = lambda line: lines.append((line.processor, int(line.text.rsplit(" ", 1)[1])))
    return lines


def printing(word):
    """The arguments of the kernel `print` for one line with `word`."""
    return [1, 0, word]


def program_of(session):
    """A program with a compute kernel between two others."""
    return session.create_program([ttfd.KernelUse(session.load_kernel(KERNELS / "print_ncrisc.elf"), "ncrisc", (0, 0)),
                                   ttfd.ComputeUse(session.load_kernels(KERNELS / "print"), (0, 0)),
                                   ttfd.KernelUse(session.load_kernel(KERNELS / "print_brisc.elf"), "brisc", (0, 0))])


def test_a_compute_kernel_is_one_entry_of_a_program(session, lines):
    session.launch(program_of(session), [ttfd.Arguments(index, printing(10 + index)) for index in range(3)])
    assert sorted(lines) == [(ttfd.BRISC, 12), (ttfd.NCRISC, 10)] + [(trisc, 11) for trisc in TRISCS]


def test_a_patch_reaches_all_three_kernels(session, lines):
    arguments = [ttfd.Arguments(index, printing(10)) for index in range(3)]
    with session.queue.record_trace([ttfd.Launch(program_of(session), arguments)]) as trace:
        session.queue.replay(trace, [ttfd.Patch(0, ttfd.Arguments(1, printing(20)))])
    assert sorted(lines) == [(ttfd.BRISC, 10), (ttfd.NCRISC, 10)] + [(trisc, 20) for trisc in TRISCS]


def test_free_frees_all_three(session):
    with session.load_kernels(KERNELS / "print") as compute:
        assert [kernel.name for kernel in compute.kernels] == [f"print_trisc{number}.elf" for number in range(3)]
    assert [kernel.handle for kernel in compute.kernels] == [0, 0, 0]


@pytest.mark.parametrize("third, code", [(None, ttfd.Code.NOT_FOUND), (b"no ELF", ttfd.Code.INVALID_ARGUMENT)])
def test_an_error_names_the_file(session, tmp_path, third, code):
    for number in range(2):
        shutil.copy(KERNELS / f"print_trisc{number}.elf", tmp_path / f"mine_trisc{number}.elf")
    failing = tmp_path / "mine_trisc2.elf"
    if third is not None:
        failing.write_bytes(third)
    with pytest.raises(ttfd.Error) as caught:
        session.load_kernels(tmp_path / "mine")
    assert caught.value.code == code and str(failing) in caught.value.message
    assert str(failing) in str(caught.value)


def test_a_file_for_another_processor_is_refused(session, tmp_path):
    for number, source in enumerate([0, 2, 1]):
        shutil.copy(KERNELS / f"print_trisc{source}.elf", tmp_path / f"mine_trisc{number}.elf")
    with pytest.raises(ttfd.Error, match="was built for TRISC2 and is used on TRISC1"):
        session.create_program([ttfd.ComputeUse(session.load_kernels(tmp_path / "mine"), (0, 0))])
