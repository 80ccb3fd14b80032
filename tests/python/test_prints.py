"""What kernels print reaches the Python session that launched them."""

import sys

import ttfd
from conftest import KERNELS


def printing(session, cores=((0, 0, 0, 0),), processor=ttfd.BRISC, name="print_brisc"):
    kernel = session.load_kernel(KERNELS / f"{name}.elf", name="printer")
    cores = [ttfd.CoreRange(*core) for core in cores]
    return session.create_program([ttfd.KernelUse(kernel, processor, cores)], semaphores=[ttfd.Semaphore(0, 0, cores)])


def test_lines_are_heard_before_the_launch_has_ended(session):
    lines = []
    session.on_print = lines.append
    program = printing(session, [(1, 2, 3, 2)], ttfd.NCRISC, "print_ncrisc")
    session.launch(program, [ttfd.Arguments(common=[70, 0, 5])])
    for x in (1, 2, 3):
        own = [line for line in lines if line.x == x]
        assert [line.text for line in own] == [f"line {i} of ({x},2) hart 1: 5" for i in range(70)]
        assert all(line.y == 2 and line.processor == ttfd.NCRISC and line.kernel == "printer" for line in own)
    assert len(lines) == 210


def test_every_conversion_arrives_as_python_would_format_it(session):
    lines = []
    session.on_print = lines.append
    program = printing(session, name="print_all")
    session.launch(program, [ttfd.Arguments(common=[0xDEADBEEF, -42, 7])])
    assert lines[1].text == "%d %d %d %x %X %o %#x q" % (0xDEADBEEF, -42, -42, 0xDEADBEEF, 0xDEADBEEF, 0xDEADBEEF,
                                                         0xDEADBEEF)
    assert lines[-1].text == "two\nlines and the last end is dropped"


def test_the_last_words_of_a_kernel_that_hangs_are_heard(session):
    lines = []
    session.on_print = lines.append
    program = printing(session)
    try:
        session.launch(program, [ttfd.Arguments(common=[2, 1, 5])])
        raise AssertionError("it hangs")
    except ttfd.Error as error:
        assert error.reason == "HANG"
    assert [line.text for line in lines] == [f"line {i} of (0,0) hart 0: 5" for i in range(2)]


def test_lines_go_to_standard_error_if_nobody_asks_and_nowhere_if_told_so(session, capsys):
    program = printing(session)
    session.launch(program, [ttfd.Arguments(common=[1, 0, 5])])
    assert capsys.readouterr().err == "[printer (0,0) brisc] line 0 of (0,0) hart 0: 5\n"
    session.on_print = None
    session.launch(program, [ttfd.Arguments(common=[1, 0, 5])])
    assert capsys.readouterr().err == ""


def test_a_callback_that_raises_does_not_end_the_session(session, capsys, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)  # pytest's keeps standard error clean

    def bad(line):
        raise ValueError(line.text)

    session.on_print = bad
    program = printing(session)
    session.launch(program, [ttfd.Arguments(common=[2, 0, 5])])
    assert capsys.readouterr().err.count("ValueError: line") == 2
    session.launch(program, [ttfd.Arguments(common=[0, 0, 5])])
