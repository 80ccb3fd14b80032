"""The daemon, a session and the build's files, for every test of this folder.

TTFD_BUILD names the build folder, such as build/dev.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import pytest

import ttfd

BUILD = pathlib.Path(os.environ["TTFD_BUILD"])
SOURCE = pathlib.Path(__file__).resolve().parents[2]
KERNELS = BUILD / "firmware/kernels"
START_TIMEOUT_S = 60


class Daemon:
    """The real daemon on the embedded device."""

    def __init__(self, device: str = "sim", config: str = "# defaults\n") -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ttfd_pytest_"))
        self.address = f"unix:{self.folder}/ttfd.sock"
        file = self.folder / "ttfd.toml"
        file.write_text(config)
        more = os.environ.get("TTFD_TEST_SIM")  # see tests/support/test_device_text.h
        if more:
            device += f"{',' if ':' in device else ':'}{more}"
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                [BUILD / "daemon/ttfd", "--config", file, "--socket", self.folder / "ttfd.sock", "--device", device],
                stdout=log, stderr=log)
        deadline = time.monotonic() + START_TIMEOUT_S
        while self.ctl("health").returncode != 0:
            assert self.process.poll() is None and time.monotonic() < deadline, self.log()
            time.sleep(0.05)

    def ctl(self, *words: str | pathlib.Path) -> subprocess.CompletedProcess[str]:
        """Runs ttfdctl against this daemon."""
        return subprocess.run([BUILD / "client/cli/ttfdctl", *words], env=dict(os.environ, TTFD_ADDRESS=self.address),
                              capture_output=True, text=True, timeout=60, check=False)

    def log(self) -> str:
        """What the daemon wrote."""
        return (self.folder / "log").read_text(errors="replace")

    def end(self) -> None:
        """Kills it and removes its files."""
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="module")
def daemon():
    """One daemon for the tests of a file."""
    running = Daemon()
    yield running
    running.end()


@pytest.fixture
def own_daemon():
    """A daemon that a test may kill."""
    running = Daemon()
    yield running
    running.end()


@pytest.fixture
def session(daemon):
    """A session of its own for each test."""
    with ttfd.connect(daemon.address, client_name="pytest") as opened:
        yield opened
