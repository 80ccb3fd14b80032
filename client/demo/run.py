#!/usr/bin/python3
"""The demo: the daemon on the embedded device, and three clients at the same time.

    run.py --build build/dev [PICTURE.png]

picture_filter (C++) filters a picture on all worker tiles, vector_add.py (Python) adds two large arrays,
file_checksum (C++) hashes a real file chunk by chunk; each compares its result with one computed without the card.
Exit code 0 and the last line "demo: 3/3 clients verified" if all three are right; anything else is a failure.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

START_TIMEOUT_S = 60
CLIENTS_TIMEOUT_S = 120
STOP_TIMEOUT_S = 20
ELEMENTS = 4 << 20
MIN_FILE_BYTES = 1 << 20

# What the demo runs and loads, in the build folder: what the CMake target ttfd_demo makes.
BUILT = {
    "ttfd": "daemon/ttfd",
    "ttfdctl": "client/cli/ttfdctl",
    "sample_picture": "client/examples/sample_picture",
    "picture_filter": "client/examples/picture_filter",
    "file_checksum": "client/examples/file_checksum",
    "blur_edge": "firmware/kernels/blur_edge.elf",
    "vector_add": "firmware/kernels/vector_add.elf",
    "sha256_chunks": "firmware/kernels/sha256_chunks.elf",
    "python": "client/python/ttfd/__init__.py",
}


class Failed(Exception):
    """The demo cannot go on."""


@dataclasses.dataclass
class Client:
    name: str
    command: list[str]
    process: subprocess.Popen | None = None
    seconds: float = 0.0


class Demo:
    def __init__(self, build: pathlib.Path, scratch: pathlib.Path) -> None:
        self.build = build
        self.scratch = scratch
        self.address = f"unix:{scratch}/ttfd.sock"
        self.environment = dict(os.environ, TTFD_ADDRESS=self.address, PYTHONPATH=str(build / "client/python"),
                                XDG_STATE_HOME=str(scratch))  # hang reports
        self.environment.pop("TTFD_CONFIG", None)
        self.daemon: subprocess.Popen | None = None
        self.clients: list[Client] = []

    def path(self, name: str) -> str:
        return str(self.build / BUILT[name])

    def start_daemon(self) -> None:
        config = self.scratch / "ttfd.toml"
        config.write_text("# the demo's daemon: defaults\n")
        with open(self.scratch / "ttfd.log", "wb") as log:
            self.daemon = subprocess.Popen(
                [self.path("ttfd"), "--config", str(config), "--socket", str(self.scratch / "ttfd.sock"),
                 "--device", "sim"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment)
        control = self.path("ttfdctl")
        deadline = time.monotonic() + START_TIMEOUT_S
        while subprocess.run([control, "health", "--timeout", "5"], env=self.environment, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, check=False).returncode != 0:
            if self.daemon.poll() is not None:
                raise Failed(f"the daemon ended with {self.daemon.returncode} while starting:\n{self.log()}")
            if time.monotonic() > deadline:
                raise Failed(f"the daemon did not become healthy within {START_TIMEOUT_S} s:\n{self.log()}")
            time.sleep(0.05)

    def log(self) -> str:
        return (self.scratch / "ttfd.log").read_text(errors="replace")[-4000:]

    def start_clients(self, picture: str, result: str, file: str) -> None:
        self.clients = [
            Client("picture_filter", [self.path("picture_filter"), self.path("blur_edge"), picture, result]),
            Client("vector_add.py", ["/usr/bin/python3", str(pathlib.Path(__file__).parent.parent / "examples/vector_add.py"),
                                     self.path("vector_add"), str(ELEMENTS)]),
            Client("file_checksum", [self.path("file_checksum"), self.path("sha256_chunks"), file]),
        ]
        for client in self.clients:
            with open(self.scratch / f"{client.name}.out", "wb") as out:
                client.process = subprocess.Popen(client.command, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                                  env=self.environment)

    def await_clients(self) -> None:
        start = time.monotonic()
        running = list(self.clients)
        while running and time.monotonic() - start < CLIENTS_TIMEOUT_S:
            for client in [c for c in running if c.process.poll() is not None]:
                client.seconds = time.monotonic() - start
                running.remove(client)
            time.sleep(0.005)

    def report_clients(self) -> int:
        verified = 0
        for client in self.clients:
            code = client.process.poll()
            output = (self.scratch / f"{client.name}.out").read_text(errors="replace").strip()
            right = code == 0 and "verified:" in output
            verified += right
            how = f"{client.seconds:.2f} s" if code is not None else f"not done after {CLIENTS_TIMEOUT_S} s"
            print(f"{'ok    ' if right else 'FAILED'} {client.name} ({how}{'' if code in (0, None) else f', exit code {code}'})")
            for line in output.splitlines()[-12:]:
                print(f"         {line}")
        return verified

    def show_status(self) -> bool:
        print("\n$ ttfdctl status", flush=True)
        return subprocess.run([self.path("ttfdctl"), "status"], env=self.environment, check=False,
                              timeout=30).returncode == 0

    def stop_daemon(self) -> bool:
        """A graceful stop; True if it was one."""
        if self.daemon is None or self.daemon.poll() is not None:
            return False
        self.daemon.terminate()
        try:
            return self.daemon.wait(STOP_TIMEOUT_S) == 0
        except subprocess.TimeoutExpired:
            return False

    def kill_everything(self) -> None:
        for process in [client.process for client in self.clients] + [self.daemon]:
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()


def picture_for(demo: Demo, given: str | None, results: pathlib.Path) -> str:
    if given is not None:
        if not pathlib.Path(given).is_file():
            raise Failed(f"there is no picture {given}")
        return given
    sample = str(results / "sample.png")
    subprocess.run([demo.path("sample_picture"), sample], check=True, timeout=60)
    return sample


def run(build: pathlib.Path, given: str | None, scratch: pathlib.Path) -> int:
    missing = [path for path in BUILT.values() if not (build / path).exists()]
    if missing:
        raise Failed(f"missing in {build}: {', '.join(missing)}; ./dev build dev ttfd_demo")
    demo = Demo(build, scratch)
    results = build / "demo"
    results.mkdir(exist_ok=True)
    result = str(results / "edges.png")
    pathlib.Path(result).unlink(missing_ok=True)
    file = os.path.realpath("/usr/bin/python3")
    if os.path.getsize(file) < MIN_FILE_BYTES:
        file = demo.path("ttfd")
    try:
        picture = picture_for(demo, given, results)
        demo.start_daemon()
        print(f"ttfd runs on the embedded device at {demo.address}; three clients start at once:\n"
              f"  a picture filter over {picture}\n"
              f"  a sum of two arrays of {ELEMENTS} elements\n"
              f"  SHA-256 of every 64 KiB of {file} ({os.path.getsize(file)} bytes)\n", flush=True)
        demo.start_clients(picture, result, file)
        demo.await_clients()
        verified = demo.report_clients()
        sound = demo.show_status()
        if not demo.stop_daemon():
            print(f"\nthe daemon did not stop cleanly:\n{demo.log()}")
            sound = False
        if pathlib.Path(result).exists():
            print(f"\nthe filtered picture is {result} (from {picture})")
        print(f"demo: {verified}/{len(demo.clients)} clients verified", flush=True)
        return 0 if sound and verified == len(demo.clients) else 1
    finally:
        demo.kill_everything()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build folder, such as build/dev")
    parser.add_argument("picture", nargs="?", help="a PNG; none: one the demo draws")
    arguments = parser.parse_args()
    # Ctrl-C and TERM become exceptions, so that the daemon is always stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="ttfd-demo-"))
    try:
        return run(arguments.build.resolve(), arguments.picture, scratch)
    except (Failed, OSError, subprocess.SubprocessError) as failure:
        print(f"demo: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
