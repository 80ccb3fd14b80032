#!/usr/bin/python3
"""Runs a client library through every scenario: run.py [--list] [--only NAME] [--most N] -- DRIVER [ARGUMENT ...].

The driver is a program that uses the library. It reads jobs from its standard input, one a line, and ends with it:

  ADDRESS RECONNECT_MS [lease] [lease-token] [leave] [cancel]

For each it connects to ADDRESS with that reconnect timeout (asking for a lease of the whole device with `lease`, joining the
one whose token is 1ea5e0 in hexadecimal digits with `lease-token`), and

  allocates a buffer of 64 KiB and one of 4 KiB; writes the first, which takes several chunks; writes 16 small pieces of the
  second; opens another queue, which waits for these writes and reads them back; sends 24 barriers; loads a kernel of 20 KiB,
  makes a program of it and launches it 8 times; reads the first buffer; with `cancel`, writes the first once more,
  cancels that and waits for it; compares all it has read; then closes the session, or with `leave` ends it at once.

A library without one of these features leaves that part out. The driver answers each job with a line of JSON:

  {"outcome": "ok"}, {"outcome": "wrong bytes"}, or {"outcome": "error", "code": "NOT_FOUND", "reason": ..., "field": ...,
  "limit": ..., "limit_value": 0, "limit_used": 0, "hang_report": ..., "retryable": false, "execution_state": "UNSPECIFIED"}
  for the first error it met.

A scenario passes if the report has what the scenario expects and the fake daemon saw no rule broken.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import pathlib
import queue
import select
import subprocess
import sys
import tempfile
import time
from typing import Any, BinaryIO

RUN_S = 60.0
END_S = 10.0  # for a session to end after its client has


class Driver:
    """A process of the driver, for one job at a time. It is started when it is needed, and again after a job that failed."""

    def __init__(self, command: list[str]) -> None:
        self.command = command
        self.process: subprocess.Popen[bytes] | None = None
        self.errors: BinaryIO = tempfile.TemporaryFile()  # pylint: disable=consider-using-with

    def run(self, job: str, timeout_s: float) -> dict[str, Any] | str:
        """The report; or why there is none."""
        if self.process is None:
            self.errors.truncate(0)
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                            bufsize=0)
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(job.encode() + b"\n")
        line, deadline = b"", time.monotonic() + timeout_s
        while not line.endswith(b"\n"):
            if not select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
                return self.fail(f"the client did not end within {timeout_s:g} s")
            part = os.read(self.process.stdout.fileno(), 65536)
            if not part:
                return self.fail(f"the driver ended: exit code {self.process.wait()}")
            line += part
        try:
            return dict(json.loads(line))
        except ValueError:
            return self.fail(f"no report: {line!r}")

    def fail(self, why: str) -> str:
        self.close()
        self.errors.seek(0)
        return f"{why}; {self.errors.read()[-2000:].decode(errors='replace')}"

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


class Pool:
    """Drivers for the runs that are under way."""

    def __init__(self, command: list[str], size: int) -> None:
        self.size = size
        self.idle: queue.SimpleQueue[Driver] = queue.SimpleQueue()
        for _ in range(size):
            self.idle.put(Driver(command))

    def run(self, job: str, timeout_s: float) -> dict[str, Any] | str:
        driver = self.idle.get()
        try:
            return driver.run(job, timeout_s)
        finally:
            self.idle.put(driver)

    def close(self) -> None:
        for _ in range(self.size):
            self.idle.get().close()


def run_once(scenario: Any, drivers: Pool, numbers: dict[str, int], timeout_s: float = RUN_S,
             end_s: float = END_S) -> tuple[list[str], dict[str, int]]:
    """What was wrong with one run, and what the daemon counted."""
    from fake_daemon import FakeDaemon  # pylint: disable=import-outside-toplevel

    with tempfile.TemporaryDirectory(prefix="ttfd_conf_") as folder:
        daemon = FakeDaemon(folder + "/s", scenario.script, numbers)
        report = drivers.run(" ".join((f"unix:{folder}/s", str(scenario.reconnect_ms), *scenario.options)), timeout_s)
        deadline = time.monotonic() + (end_s if scenario.ends and not isinstance(report, str) else 0)
        while (unended := daemon.unended()) and time.monotonic() < deadline and not daemon.violations:
            time.sleep(0.005)
        counts = daemon.summary()
        wrong = list(daemon.violations)
        daemon.close()
    if isinstance(report, str):
        return [*wrong, report], counts
    for key, value in scenario.expect.items():
        if value != "" and report.get(key) != value:
            wrong.append(f"the client reports {key} {report.get(key)!r}, not {value!r}: {report}")
    for key, value in scenario.least.items():
        if counts.get(key, 0) < value:
            wrong.append(f"{counts.get(key, 0)} {key}, at least {value} are expected")
    if scenario.ends and unended:
        wrong.append("the client has ended and its session has not")
    return wrong, counts


def run_all(drivers: Pool, only: str, most: int) -> int:
    """How many runs have failed."""
    from scenarios import SCENARIOS  # pylint: disable=import-outside-toplevel

    wrong, counts = run_once(SCENARIOS["undisturbed"], drivers, {})
    failed = runs = 0
    with concurrent.futures.ThreadPoolExecutor(drivers.size) as pool:
        ended = []
        for name, scenario in SCENARIOS.items():
            if only not in name:
                continue
            points = [{}] if wrong else scenario.points(counts)
            for numbers in points[::-(-len(points) // most)]:
                ended.append((name, numbers, pool.submit(run_once, scenario, drivers, numbers)))
        for name, numbers, run in ended:
            runs += 1
            if complaints := run.result()[0]:
                failed += 1
                print(f"FAILED {name} {numbers}", *complaints, sep="\n    ", flush=True)
    print(f"conformance: {runs - failed} passed, {failed} failed")
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="prints the scenarios")
    parser.add_argument("--only", default="", help="scenarios whose name contains this")
    parser.add_argument("--most", type=int, default=1000, help="runs of one scenario, evenly chosen (default: all)")
    parser.add_argument("--needs", default="", help="a path without which there is no driver: exit code 77")
    parser.add_argument("driver", nargs="*")
    options = parser.parse_args()
    if options.needs and not os.path.exists(options.needs):
        print(f"skipped: there is no {options.needs}: its language's packages are not installed (deploy/packages.txt)")
        return 77
    if options.list:
        from scenarios import SCENARIOS  # pylint: disable=import-outside-toplevel

        for name, scenario in SCENARIOS.items():
            print(f"{name:28} {(scenario.script.__doc__ or '').splitlines()[0]}")
        return 0
    drivers = Pool(options.driver, 4)
    try:
        return 1 if run_all(drivers, options.only, options.most) else 0
    finally:
        drivers.close()


if __name__ == "__main__":
    os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    status = main()
    sys.stdout.flush()
    os._exit(status)  # threads of calls may still wait
