#!/usr/bin/python3
"""Runs a client library through every scenario: run.py [--list] [--only NAME] [--most N] -- DRIVER [ARGUMENT ...].

The driver is a program that uses the library. It is started as DRIVER ... ADDRESS RECONNECT_MS [lease] [leave], connects to
ADDRESS with that reconnect timeout (asking for a lease of the whole device with `lease`), and does one job:

  allocates a buffer of 64 KiB and one of 4 KiB; writes the first, which takes several chunks; writes 16 small pieces of the
  second; opens another queue, which waits for these writes and reads them back; sends 24 barriers; loads a kernel of 20 KiB,
  makes a program of it and launches it 8 times; reads the first buffer; compares all it has read; then closes the session,
  or with `leave` ends it at once.

A library without one of these features leaves that part out. The driver prints a line of JSON and exits with 0:

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
import subprocess
import sys
import tempfile
from typing import Any

FOLDER = pathlib.Path(__file__).resolve().parent
RUN_S = 60


def run_once(name: str, scenario: Any, driver: list[str], numbers: dict[str, int]) -> tuple[list[str], dict[str, int]]:
    """What was wrong with one run, and what the daemon counted."""
    with tempfile.TemporaryDirectory(prefix="ttfd_conf_") as folder:
        path = folder + "/s"
        with subprocess.Popen([sys.executable, str(FOLDER / "fake_daemon.py"), path, name,
                               *(f"{key}={value}" for key, value in numbers.items())],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as daemon:
            try:
                assert daemon.stdout is not None
                if daemon.stdout.readline() != "ready\n":
                    return ["the fake daemon did not start"], {}
                options = [option for option in ("lease", "leave") if getattr(scenario, option)]
                try:
                    client = subprocess.run([*driver, "unix:" + path, str(scenario.reconnect_ms), *options], timeout=RUN_S,
                                            capture_output=True, text=True, check=False)
                except subprocess.TimeoutExpired as late:
                    return [f"the client did not end within {RUN_S} s: {late.stderr!r}"], {}
                seen = json.loads(daemon.communicate("", timeout=RUN_S)[0])
            finally:
                daemon.kill()
    wrong = list(seen["violations"])
    try:
        report = json.loads(client.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return wrong + [f"the driver's report is missing: exit code {client.returncode}, {client.stdout}{client.stderr}"], {}
    for key, value in scenario.expect.items():
        if value != "" and report.get(key) != value:
            wrong.append(f"the client reports {key} {report.get(key)!r}, not {value!r}: {report}")
    for key, value in scenario.least.items():
        if seen["counts"].get(key, 0) < value:
            wrong.append(f"{seen['counts'].get(key, 0)} {key}, at least {value} are expected")
    if scenario.ends and seen["unended"]:
        wrong.append("the client has ended and its session has not")
    return wrong, seen["counts"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="prints the scenarios")
    parser.add_argument("--only", default="", help="scenarios whose name contains this")
    parser.add_argument("--most", type=int, default=1000, help="runs of one scenario, evenly chosen (default: all)")
    parser.add_argument("driver", nargs="*")
    options = parser.parse_args()
    from scenarios import SCENARIOS  # pylint: disable=import-outside-toplevel

    if options.list:
        for name, scenario in SCENARIOS.items():
            print(f"{name:28} {(scenario.script.__doc__ or '').splitlines()[0]}")
        return 0
    wrong, counts = run_once("undisturbed", SCENARIOS["undisturbed"], options.driver, {})
    failed = runs = 0
    for name, scenario in SCENARIOS.items():
        if options.only not in name:
            continue
        points = [{}] if wrong else scenario.points(counts)
        points = points[::-(-len(points) // options.most)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            ended = pool.map(lambda numbers, n=name, s=scenario: run_once(n, s, options.driver, numbers)[0], points)
        runs += len(points)
        for numbers, complaints in zip(points, ended):
            if complaints:
                failed += 1
                print(f"FAILED {name} {numbers}", *complaints, sep="\n    ", flush=True)
        print(f"{name}: {len(points)} runs", flush=True)
    print(f"conformance: {runs - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.exit(main())
