"""The daemon of a demo: started on one device in a scratch folder of its own, stopped, and killed if that is all that is left."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile
import time

START_TIMEOUT_S = 60
STOP_TIMEOUT_S = 20

PYTHON = "/usr/bin/python3"  # Debian's, to which python3-grpcio and python3-numpy belong
EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"

# The daemon, its command line and the Python client, in the build folder.
BUILT = {
    "ttfd": "daemon/ttfd",
    "ttfdctl": "client/cli/ttfdctl",
    "python": "client/python/ttfd/__init__.py",
}


class Failed(Exception):
    """The demo cannot continue."""


class Daemon:
    """A daemon on `device`. As a context it ends with its scratch folder gone and no process left."""

    def __init__(self, build: pathlib.Path, device: str) -> None:
        self.build = build
        self.device = device
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="ttfd-demo-"))
        self.address = f"unix:{self.scratch}/ttfd.sock"
        self.environment = dict(os.environ, TTFD_ADDRESS=self.address, PYTHONPATH=str(build / "client/python"),
                                XDG_STATE_HOME=str(self.scratch))  # hang reports
        self.environment.pop("TTFD_CONFIG", None)
        self.process: subprocess.Popen | None = None

    def __enter__(self) -> Daemon:
        return self

    def __exit__(self, *_) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def start(self) -> None:
        """Starts the daemon and waits until it is healthy."""
        config = self.scratch / "ttfd.toml"
        config.write_text("# the demo's daemon: defaults\n")
        with open(self.scratch / "ttfd.log", "wb") as log:
            self.process = subprocess.Popen(
                [self.build / BUILT["ttfd"], "--config", config, "--socket", self.scratch / "ttfd.sock",
                 "--device", self.device], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment)
        deadline = time.monotonic() + START_TIMEOUT_S
        while self.control("health", "--timeout", "5", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) != 0:
            if self.process.poll() is not None:
                raise Failed(f"the daemon ended with {self.process.returncode} while starting:\n{self.log()}")
            if time.monotonic() > deadline:
                raise Failed(f"the daemon did not become healthy within {START_TIMEOUT_S} s:\n{self.log()}")
            time.sleep(0.05)

    def control(self, *words: str, **streams) -> int:
        """Runs ttfdctl against this daemon; its exit code."""
        return subprocess.run([self.build / BUILT["ttfdctl"], *words], env=self.environment, check=False, timeout=30,
                              **streams).returncode

    def run_example(self, name: str, command: list[str | pathlib.Path], timeout_s: int) -> None:
        """Runs an example against this daemon. Failed: it did not end in time, or with an error."""
        try:
            code = subprocess.run(command, env=self.environment, stdin=subprocess.DEVNULL, timeout=timeout_s,
                                  check=False).returncode
        except subprocess.TimeoutExpired as late:
            raise Failed(f"{name} was not done after {timeout_s} s:\n{self.log()}") from late
        if code != 0:
            raise Failed(f"{name} ended with exit code {code}:\n{self.log()}")

    def log(self) -> str:
        """The end of what the daemon wrote."""
        return (self.scratch / "ttfd.log").read_text(errors="replace")[-4000:]

    def stop(self) -> bool:
        """A graceful stop; True if it was one."""
        if self.process is None or self.process.poll() is not None:
            return False
        self.process.terminate()
        try:
            return self.process.wait(STOP_TIMEOUT_S) == 0
        except subprocess.TimeoutExpired:
            return False


def run_examples(build: pathlib.Path, commands: dict[str, list[str | pathlib.Path]], timeout_s: int) -> None:
    """Runs examples, each by its name, one after the other against one daemon on the embedded device."""
    with Daemon(build, "sim") as served:
        served.start()
        for name, command in commands.items():
            print(f"{name} on the embedded device:", flush=True)
            served.run_example(name, command, timeout_s)
        if not served.stop():
            raise Failed(f"the daemon did not stop cleanly:\n{served.log()}")
