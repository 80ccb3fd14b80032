"""README and the quickstart as a newcomer meets them, on what `./dev demo` has built."""

from __future__ import annotations

import pathlib
import re
import subprocess
import tempfile

import pytest

import pages
from conftest import BUILD, SOURCE


@pytest.fixture(name="shell")
def _shell():
    """A shell in the clone. The home directory and the daemon's socket are in a folder of the test's own."""
    with tempfile.TemporaryDirectory(prefix="ttfd_quickstart_") as home:
        shell = pages.Shell(pathlib.Path(home), {"build/dev": str(BUILD.relative_to(SOURCE)), "/tmp/ttfd.sock": f"{home}/ttfd.sock"})
        shell.run(f"cd {SOURCE}")
        yield shell
        shell.end()


@pytest.mark.parametrize("page, last", [("README.md", ""), ("docs/quickstart.md", "## 5. The installed way")])
def test_commands_and_programs_give_what_is_shown(shell, page, last):
    shell.play(pages.blocks(page, last=last))


def test_continuous_integration_runs_what_is_said_to_be_run_there():
    script = re.sub(r'#.*|"[^"]*"', "", (SOURCE / ".ci/run").read_text())
    for page in pages.PAGES:
        for block in pages.blocks(page):
            if block.kind == "run by":
                assert block.name == ".ci/run"
                commands = re.findall(r"^\$ (?:\.|\$TTFD)/(dev \w+)", block.text, re.MULTILINE)
                assert commands
                for command in commands:
                    assert re.search(rf"\./{command}(?: --prefix)? *(?:;|$)", script, re.MULTILINE), command


def test_a_command_that_fails_is_noticed(shell):
    assert shell.run("false") == (1, "")
    with pytest.raises(AssertionError):
        shell.play([pages.Block("", "console", "", "$ false\n...\n")])


def test_the_demo_target_makes_what_the_quickstart_uses():
    steps = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", "ttfd_demo"], capture_output=True, text=True, timeout=60,
                           check=True).stdout
    for path in ("daemon/ttfd", "client/cli/ttfdctl", "client/python/ttfd/session.py", "client/cpp/libttfd.so"):
        assert path in steps
