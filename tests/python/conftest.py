"""The daemon, a session and the build's files, for every test of this folder.

TTFD_BUILD names the build folder, such as build/dev.
"""

from __future__ import annotations

import faulthandler
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import Sequence

import pytest

import ttfd

BUILD = pathlib.Path(os.environ["TTFD_BUILD"])
SOURCE = pathlib.Path(__file__).resolve().parents[2]
KERNELS = BUILD / "firmware/kernels"
START_TIMEOUT_S = 60
JOIN_S = 100  # for a thread of a test to end: longer than any call of a client
EVENTUALLY_S = 60  # for what comes by itself; a bound of a test that fails, not of one that passes
CRASHES = {signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE}
CRASHED: list[str] = []  # logs of daemons that ended by one of these
EXIT_S = 30  # for the process to exit after the last test
# Temporary files in memory where the system has such a place: hang reports are synchronised to the disk, and no result
# may depend on how fast that is. Of pytest's tmp_path, too.
MEMORY = "/dev/shm"
if os.access(MEMORY, os.W_OK | os.X_OK) and not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
    tempfile.tempdir = MEMORY


class Daemon:
    """The real daemon on the embedded device, or on several."""

    def __init__(self, device: str | Sequence[str] = "sim", config: str = "# defaults\n", program: pathlib.Path = BUILD / "daemon/ttfd") -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ttfd_pytest_"))
        self.address = f"unix:{self.folder}/ttfd.sock"
        file = self.folder / "ttfd.toml"
        file.write_text(config)
        more = os.environ.get("TTFD_TEST_SIM")  # see tests/support/test_device_text.h
        devices = [device] if isinstance(device, str) else device
        words = [f"--device={one}{',' if ':' in one else ':'}{more}" if more else f"--device={one}" for one in devices]
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                [program, "--config", file, "--socket", self.folder / "ttfd.sock", *words],
                stdout=log, stderr=log, env=dict(os.environ, XDG_STATE_HOME=str(self.folder)))  # hang reports
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
        if -self.process.wait() in CRASHES:
            CRASHED.append(f"the daemon ended by signal {-self.process.returncode}\n{self.log()}")
        shutil.rmtree(self.folder, ignore_errors=True)


def eventually(condition) -> None:
    """Waits until the condition holds."""
    deadline = time.monotonic() + EVENTUALLY_S
    while not condition():
        assert time.monotonic() < deadline, "this never came to be"
        time.sleep(0.02)


def pytest_unconfigure():
    """Shows the logs of daemons that crashed. A process that does not exit shows where its threads are, and fails."""
    print("\n".join(CRASHED), end="", file=sys.__stderr__)
    faulthandler.dump_traceback_later(EXIT_S, exit=True, file=sys.__stderr__)


def start_thread(target, *arguments) -> threading.Thread:
    """A thread that the process does not wait for when it exits."""
    thread = threading.Thread(target=target, args=arguments, daemon=True)
    thread.start()
    return thread


def join(*threads: threading.Thread) -> None:
    """Waits for the threads."""
    for thread in threads:
        thread.join(JOIN_S)
        assert not thread.is_alive(), thread


@pytest.fixture(scope="session")
def installed():
    """The folder /usr of an installation of the build, below a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="ttfd_installed_") as root:
        install(pathlib.Path(root), "/usr")
        yield pathlib.Path(root) / "usr"


def install(root: pathlib.Path, prefix: str) -> None:
    """Installs the build below `root`, as a package would be made."""
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], check=True, env={**os.environ, "DESTDIR": str(root)},
                   capture_output=True, text=True, timeout=100)


def succeed(*words: str | pathlib.Path, **environment: str) -> str:
    """Runs a program that has to end with 0; what it prints."""
    result = subprocess.run([str(word) for word in words], env={**os.environ, **environment}, capture_output=True, text=True,
                            timeout=240, check=False)
    assert result.returncode == 0, f"{words}\n{result.stdout}{result.stderr}"
    return result.stdout


@pytest.fixture(scope="session")
def publish():
    """Copies a program or a file to a place where every user can read it: the build may be in a folder closed to others."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ttfd_public_"))
    folder.chmod(0o755)
    yield lambda path: pathlib.Path(shutil.copy(path, folder))
    shutil.rmtree(folder)


@pytest.fixture(autouse=True, scope="session")
def kernel_cache():
    """A folder of compiled kernels for the tests alone."""
    with tempfile.TemporaryDirectory(prefix="ttfd_cache_") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", folder)
        yield


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
