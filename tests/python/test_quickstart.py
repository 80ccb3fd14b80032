"""README and the quickstart as a newcomer meets them, on what `./dev demo` has built."""

from __future__ import annotations

import pathlib
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
    script = (SOURCE / ".ci/run").read_text()
    for page in ("README.md", "docs/quickstart.md"):
        for block in pages.blocks(page):
            if block.kind == "run by":
                assert block.name == ".ci/run"
                commands = [line.split("#")[0] for line in block.text.splitlines() if line.startswith("$ ./dev ")]
                assert commands and [line for line in commands if line.removeprefix("$ ").strip() not in script] == []


def test_the_demo_target_makes_what_the_quickstart_uses():
    steps = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", "ttfd_demo"], capture_output=True, text=True, timeout=60,
                           check=True).stdout
    for path in ("daemon/ttfd", "client/cli/ttfdctl", "client/python/ttfd/session.py", "client/cpp/libttfd.so"):
        assert path in steps
