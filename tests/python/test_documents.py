"""What the documents show runs as it stands: blocks of code below these comments are taken out and tried.

<!-- file: NAME -->: the file NAME of the first program. <!-- continues: NAME -->: goes to the end of it, a program of its
own for the test. <!-- prints: NAME -->: what the program shows. <!-- run: sh -->: commands for a shell.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import textwrap

import numpy as np
import pytest

import ttfd
from conftest import BUILD, SOURCE

BLOCK = re.compile(r"<!-- (file|continues|prints|run): (\S+) -->\n```\w*\n(.*?)```", re.DOTALL)
DOUBLED = "[   0    2    4 ... 2042 2044 2046]\n"  # what the package's docstring prints
HEADER_MAIN = """
int main() {
  std::vector<uint32_t> input(1024, 21), output(1024);
%s
  return status.ok() && output.front() == 42 && output.back() == 42 ? 0 : 1;
}
"""


def blocks(kind):
    """(name, text) of every block of a kind."""
    documents = [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]
    return [(name, text) for path in documents for found, name, text in BLOCK.findall(path.read_text()) if found == kind]


def whole(name):
    """A file with all that continues it."""
    text = dict(blocks("file"))[name]
    more = textwrap.indent("".join(more for where, more in blocks("continues") if where == name), "    ")
    return text.removesuffix("}\n") + more + "}\n" if name.endswith(".cc") else text + more


def example_of_header():
    """The example in the comment of ttfd/session.h, as a program."""
    text = (SOURCE / "client/cpp/include/ttfd/session.h").read_text()
    lines = [line[len("//   "):] for line in text.splitlines() if line.startswith("//   ")]
    top = [line for line in lines if line.startswith(("#include", "using"))]
    return "\n".join([*top, HEADER_MAIN % "\n".join(line for line in lines if line not in top)])


def example_of_package():
    """The example in the docstring of the package."""
    return textwrap.dedent(re.search(r"\n\n((?:    .*\n|\n)+)", ttfd.__doc__).group(1))


def run(words, folder, **environment):
    """Runs a program; what it prints."""
    result = subprocess.run([str(word) for word in words], cwd=folder, env={**os.environ, **environment}, capture_output=True,
                            text=True, timeout=240, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(name="installed", scope="module")
def _installed():
    """The build, installed as a user has it."""
    with tempfile.TemporaryDirectory(prefix="ttfd_documents_") as root:
        run(["cmake", "--install", BUILD, "--prefix", "/usr"], root, DESTDIR=root)
        yield pathlib.Path(root) / "usr"


@pytest.fixture(name="built", scope="module")
def _built(installed):
    """The folder in which the documents' project was built, with the programs that the test adds to it."""
    project = installed.parent / "project"
    project.mkdir()
    for name, text in blocks("file"):
        (project / name).write_text(text)
    for name, text in (("whole.cc", whole("first.cc")), ("header.cc", example_of_header())):
        (project / name).write_text(text)
        with open(project / "CMakeLists.txt", "a", encoding="utf-8") as stream:
            stream.write(f"add_executable({name[:-3]} {name})\ntarget_link_libraries({name[:-3]} ttfd::ttfd)\n")
    compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE).group(1)
    run(["cmake", "-G", "Ninja", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={installed}",
         f"-DCMAKE_CXX_COMPILER={compiler}"], project)
    run(["cmake", "--build", project / "build"], project)
    return project / "build"


def shown(name):
    """What the documents say that a program prints."""
    return dict(blocks("prints"))[name]


def python(daemon, text, folder):
    """Runs a program as a file of its own; what it prints."""
    file = folder / "program.py"
    file.write_text(text)
    return run(["/usr/bin/python3", file], folder, TTFD_ADDRESS=daemon.address, PYTHONPATH=str(BUILD / "client/python"))


def test_the_first_program_prints_what_is_shown(own_daemon, built):
    assert run([built / "first"], built, TTFD_ADDRESS=own_daemon.address) == shown("first.cc")


def test_the_first_python_program_prints_what_is_shown(own_daemon, built):
    assert python(own_daemon, dict(blocks("file"))["first.py"], built) == shown("first.py")


def test_what_continues_the_programs_runs(own_daemon, built):
    assert run([built / "whole"], built, TTFD_ADDRESS=own_daemon.address) == shown("first.cc")
    assert python(own_daemon, whole("first.py"), built) == shown("first.py")


def test_the_examples_of_the_libraries_run(own_daemon, built):
    run([built / "header"], built, TTFD_ADDRESS=own_daemon.address)
    assert python(own_daemon, example_of_package(), built) == DOUBLED


def test_the_commands_that_are_shown_run(own_daemon, installed, tmp_path):
    shells = [text for name, text in blocks("run") if name == "sh"]
    assert shells
    for text in shells:
        text = text.replace("/usr/share/ttfd", str(installed / "share/ttfd"))
        run(["sh", "-e", "-c", text], tmp_path, TTFD_ADDRESS=own_daemon.address, PATH=f"{installed}/bin:{os.environ['PATH']}")
    a, b, c = (np.fromfile(tmp_path / f"{name}.bin", np.uint32) for name in "abc")
    assert np.array_equal(a + b, c)


def test_no_block_is_marked_in_vain():
    names = {name for name, _ in blocks("file")}
    assert names == {"double_them.cc", "CMakeLists.txt", "first.cc", "first.py"}
    assert {name for kind in ("continues", "prints") for name, _ in blocks(kind)} == {"first.cc", "first.py"}
