"""Three clients at the same time on the embedded device.

picture_filter (C++) filters a picture on all worker tiles, vector_add.py (Python) adds two large arrays,
file_checksum (C++) hashes a real file chunk by chunk; each compares its result with one computed without the card.
The last line is "demo: 3/3 clients verified" if all three are right.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import subprocess
import time

import daemon
from daemon import Daemon, Failed

SHOWS = "three clients at once: a filter of a picture (PICTURE.png), a sum of arrays, SHA-256 of a file"
TARGET = "ttfd_demo"
BUILT = daemon.BUILT | {
    "sample_picture": "client/examples/sample_picture",
    "picture_filter": "client/examples/picture_filter",
    "file_checksum": "client/examples/file_checksum",
    "blur_edge": "firmware/kernels/blur_edge.elf",
    "vector_add": "firmware/kernels/vector_add.elf",
    "sha256_chunks": "firmware/kernels/sha256_chunks.elf",
}

CLIENTS_TIMEOUT_S = 120
ELEMENTS = 4 << 20
MIN_FILE_BYTES = 1 << 20


@dataclasses.dataclass
class Client:
    name: str
    command: list[str]
    process: subprocess.Popen | None = None
    seconds: float = 0.0


class Clients:
    """The clients of one daemon. As a context they end with no process left."""

    def __init__(self, served: Daemon, picture: str, result: str, file: str) -> None:
        build = served.build
        self.served = served
        self.clients = [
            Client("picture_filter", [str(build / BUILT["picture_filter"]), str(build / BUILT["blur_edge"]), picture, result]),
            Client("vector_add.py", [daemon.PYTHON, str(daemon.EXAMPLES / "vector_add.py"), str(build / BUILT["vector_add"]),
                                     str(ELEMENTS)]),
            Client("file_checksum", [str(build / BUILT["file_checksum"]), str(build / BUILT["sha256_chunks"]), file]),
        ]

    def __enter__(self) -> Clients:
        return self

    def __exit__(self, *_) -> None:
        for client in self.clients:
            if client.process is not None and client.process.poll() is None:
                client.process.kill()
                client.process.wait()

    def start(self) -> None:
        for client in self.clients:
            with open(self._output(client), "wb") as out:
                client.process = subprocess.Popen(client.command, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                                  env=self.served.environment)

    def wait(self) -> None:
        """Waits until all have ended, or their time is over."""
        start = time.monotonic()
        running = list(self.clients)
        while running and time.monotonic() - start < CLIENTS_TIMEOUT_S:
            for client in [c for c in running if c.process.poll() is not None]:
                client.seconds = time.monotonic() - start
                running.remove(client)
            time.sleep(0.005)

    def report(self) -> int:
        """Prints how each ended; the number of those that verified their result."""
        verified = 0
        for client in self.clients:
            code = client.process.poll()
            output = self._output(client).read_text(errors="replace").strip()
            right = code == 0 and "verified:" in output
            verified += right
            how = f"{client.seconds:.2f} s" if code is not None else f"not done after {CLIENTS_TIMEOUT_S} s"
            print(f"{'ok    ' if right else 'FAILED'} {client.name} ({how}{'' if code in (0, None) else f', exit code {code}'})")
            for line in output.splitlines()[-12:]:
                print(f"         {line}")
        return verified

    def _output(self, client: Client) -> pathlib.Path:
        return self.served.scratch / f"{client.name}.out"


def picture_for(build: pathlib.Path, given: str | None, results: pathlib.Path) -> str:
    """The picture to filter: the one that was given, or one that the demo draws."""
    if given is not None:
        if not pathlib.Path(given).is_file():
            raise Failed(f"there is no picture {given}")
        return given
    sample = str(results / "sample.png")
    subprocess.run([build / BUILT["sample_picture"], sample], check=True, timeout=60)
    return sample


def run(build: pathlib.Path, given: str | None = None) -> int:
    """Runs the demo with the given picture; the exit code."""
    results = build / "demo"
    results.mkdir(exist_ok=True)
    result = str(results / "edges.png")
    pathlib.Path(result).unlink(missing_ok=True)
    file = os.path.realpath("/usr/bin/python3")
    if os.path.getsize(file) < MIN_FILE_BYTES:
        file = str(build / BUILT["ttfd"])
    picture = picture_for(build, given, results)
    with Daemon(build, "sim") as served, Clients(served, picture, result, file) as clients:
        served.start()
        print(f"ttfd runs on the embedded device at {served.address}; three clients start at once:\n"
              f"  a picture filter over {picture}\n"
              f"  a sum of two arrays of {ELEMENTS} elements\n"
              f"  SHA-256 of every 64 KiB of {file} ({os.path.getsize(file)} bytes)\n", flush=True)
        clients.start()
        clients.wait()
        verified = clients.report()
        print("\n$ ttfdctl status", flush=True)
        sound = served.control("status") == 0
        if not served.stop():
            print(f"\nthe daemon did not stop cleanly:\n{served.log()}")
            sound = False
        if pathlib.Path(result).exists():
            print(f"\nthe filtered picture is {result} (from {picture})")
        print(f"demo: {verified}/{len(clients.clients)} clients verified", flush=True)
        return 0 if sound and verified == len(clients.clients) else 1
