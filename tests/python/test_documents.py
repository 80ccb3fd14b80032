"""The guides and the examples in comments of headers, with an installed ttfd as a user has it."""

from __future__ import annotations

import os
import pathlib
import re
import textwrap

import numpy as np
import pytest

import pages
import ttfd
from conftest import SOURCE

QUICKSTART, INSTALLED = "docs/quickstart.md", "## 5. The installed way"
GUIDES = ["docs/kernels.md", "docs/compute-kernels.md", "docs/tensors.md", "docs/clients.md", "docs/compiled-programs.md"]
DOUBLED = "[   0    2    4 ... 2042 2044 2046]\n"  # what the package's docstring prints

# Examples in comments of headers: what makes a program of each. A client's `main` returns 0 if all is well.
CLIENT_EXAMPLES = {
    "session.h": ("int main() {\n  std::vector<uint32_t> input(1024, 21), output(1024);\n",
                  "  return status.ok() && output.front() == 42 && output.back() == 42 ? 0 : 1;\n}\n"),
    "status.h": ("", ""),
    "tiles.h": ("", "int main() {}\n"),
    "trace.h": ("", "int main() {}\n"),
}
FILE_EXAMPLES = {
    "binary.h": ("", ""),
    "submit.h": ("int main(int argc, char** argv) {\n  if (argc < 2) return 0;\n  const std::vector<float> a(64 * 128), b(a);\n", "}\n"),
    "system_description.h": ("", ""),
}
IN_KERNEL = ("#include <ttfd/kernel.h>\nusing namespace ttfd::kernel;\nvoid kernel_main() {\n", "}\n")
KERNEL_EXAMPLES = {"callable.h": IN_KERNEL, "compute.h": ("", ""), "kernel.h": ("", ""), "link.h": ("", ""), "note.h": IN_KERNEL, "print.h": ("", "")}


def example(header: pathlib.Path) -> str:
    """The code in a header's first comment: its lines that are indented by three, if one of them ends a statement."""
    comment = re.match(r"(?://.*\n)*", header.read_text()).group(0)
    lines = [line[len("//   "):] for line in comment.splitlines() if line.startswith("//   ") or line == "//"]
    text = "\n".join(lines).strip("\n") + "\n"
    return text if re.search(r";(\s*//.*)?$", text, re.MULTILINE) else ""


def programs(folder: str, examples: dict[str, tuple[str, str]]) -> dict[str, str]:
    """The examples of the headers of a folder as programs, by the header's stem."""
    found = {path.name: example(path) for path in sorted((SOURCE / folder).glob("*.h"))}
    assert {name for name, text in found.items() if text} == set(examples)
    whole = {}
    for name, (before, after) in examples.items():
        lines = found[name].splitlines(keepends=True)
        top = [line for line in lines if line.startswith(("#include", "using"))]
        whole[name.removesuffix(".h")] = "".join(top) + before + "".join(line for line in lines if line not in top) + after
    return whole


@pytest.fixture(name="shell")
def _shell(own_daemon, installed, tmp_path):
    """A shell of a user with an installed ttfd, a running daemon, and the files of the quickstart."""
    # The package lies where Debian's python3 looks in an installation below /usr, not below this folder.
    here = {"/usr/share/": f"{installed}/share/", "unset TTFD PYTHONPATH": "unset TTFD"}
    shell = pages.Shell(tmp_path, here, PYTHONPATH=f"{installed}/lib/python3/dist-packages", TTFD_ADDRESS=own_daemon.address,
                        PATH=f"{installed}/bin:{os.environ['PATH']}", CMAKE_PREFIX_PATH=str(installed))
    shell.play([block for block in pages.blocks(QUICKSTART) if block.kind == "file"])
    shell.run("mkdir build")
    yield shell
    shell.end()


def test_the_installed_way_gives_what_is_shown(shell):
    shell.play(pages.blocks(QUICKSTART, first=INSTALLED))


def test_what_continues_the_programs_runs(shell, tmp_path):
    more = [block for page in pages.PAGES for block in pages.blocks(page)]
    for name in pages.PROGRAMS:
        program = pages.continued(pages.file_text(QUICKSTART, name), name, more)
        assert program != pages.file_text(QUICKSTART, name)
        (tmp_path / name).write_text(program)
    commands = "$ cmake -B build && cmake --build build\n...\n$ ./build/first\n0 2 ... 16382\n...\n"
    commands += "$ /usr/bin/python3 first.py 2>/dev/null\n[    0 ... 16382]\n"
    shell.play([pages.Block("what continues", "console", "", commands)])


@pytest.mark.parametrize("page", GUIDES)
def test_commands_of_the_guides_run(shell, page):
    shell.play(pages.blocks(page))


def test_commands_of_ttfdctl_add_two_files(shell, tmp_path):
    shell.play(pages.blocks("docs/ttfdctl.md"))
    a, b, c = (np.fromfile(tmp_path / f"{name}.bin", np.uint32) for name in "abc")
    assert np.array_equal(a + b, c)


def test_lines_of_another_file_are_there():
    for page in pages.PAGES:
        for block in pages.blocks(page):
            if block.kind == "part of":
                lines = {line.strip() for line in (SOURCE / block.name).read_text().splitlines()}
                assert [line for line in block.text.splitlines() if line.strip() not in lines] == []


def test_examples_in_headers_build_and_run(shell, tmp_path):
    clients, kernels = programs("client/cpp/include/ttfd", CLIENT_EXAMPLES), programs("firmware/sdk/include/ttfd", KERNEL_EXAMPLES)
    files = programs("client/ttmlir/include/ttfd/ttmlir", FILE_EXAMPLES)
    project = pages.file_text(QUICKSTART, "CMakeLists.txt").split("include(")[0]
    project += "find_package(ttfd 0.1 REQUIRED)\nttfd_add_kernel(double_them PROCESSOR brisc SOURCES double_them.cc)\n"
    for name, text in {**clients, **files}.items():
        (tmp_path / f"{name}.cc").write_text(text)
        library = "ttfd::ttmlir" if name in files else "ttfd::ttfd"
        project += f"add_executable({name} {name}.cc)\ntarget_link_libraries({name} {library})\n"
    for name, text in kernels.items():
        (tmp_path / f"{name}_kernel.cc").write_text(text)
        processor = "COMPUTE" if name == "compute" else "PROCESSOR brisc"
        project += f"ttfd_add_kernel({name}_kernel {processor} SOURCES {name}_kernel.cc)\n"
    (tmp_path / "CMakeLists.txt").write_text(project)
    shell.play([pages.Block("headers", "console", "", "$ cmake -B build && cmake --build build\n...\n")])
    for name in [*clients, *files]:
        code, output = shell.run(f"./build/{name}")
        assert code == 0, f"{name}.h: {output}"


def test_the_example_of_the_package_runs(shell, tmp_path):
    (tmp_path / "example.py").write_text(textwrap.dedent(re.search(r"\n\n((?:    .*\n|\n)+)", ttfd.__doc__).group(1)))
    commands = "$ cmake -B build . && cmake --build build\n...\n$ cp build/double_them.elf .\n"
    commands += f"$ /usr/bin/python3 example.py\n{DOUBLED}"
    shell.play([pages.Block("the package", "console", "", commands)])
