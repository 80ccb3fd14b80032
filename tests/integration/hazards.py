#!/usr/bin/env python3
"""Runs test programs on a device model with every hazard on: hazards.py --seeds 1-12 [--share N] BINARY[:FILTER]...

Each program runs once a seed, with TTFD_TEST_SIM=hazards=on,seed=S. With --share N a seed runs one test in N, and N
seeds in a row run every test once. Prints a line for every program as it ends, and of a failure how to repeat it."""

import argparse
import os
import pathlib
import subprocess
import sys
import time

TIMEOUT_S = 900  # one program under one seed, on a busy machine
TAIL_LINES = 40  # of the output of a program that failed


def seeds_of(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def run(program: str, seed: int, share: int, hazards: str) -> bool:
    binary, _, tests = program.partition(":")
    device = f"hazards={hazards},seed={seed}"
    words = [binary, "--gtest_brief=1", f"--gtest_filter={tests or '*'}"]
    environment = dict(os.environ, TTFD_TEST_SIM=device, GTEST_TOTAL_SHARDS=str(share),
                       GTEST_SHARD_INDEX=str(seed % share))
    start = time.monotonic()
    try:
        done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=TIMEOUT_S, check=False)
        ending, output = f"exit code {done.returncode}", done.stdout
    except subprocess.TimeoutExpired as expired:
        ending, output = f"no end after {TIMEOUT_S} s", expired.stdout or b""
    good = ending == "exit code 0"
    print(f"seed {seed}: {pathlib.Path(binary).name} {'ok' if good else ending}, {time.monotonic() - start:.1f} s", flush=True)
    if not good:
        print("\n".join(output.decode(errors="replace").splitlines()[-TAIL_LINES:]))
        print(f"repeat: TTFD_TEST_SIM={device} GTEST_TOTAL_SHARDS={share} GTEST_SHARD_INDEX={seed % share} "
              f"{binary} --gtest_filter='{tests or '*'}'", flush=True)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=seeds_of, required=True, help="FIRST-LAST or one")
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--hazards", default="on")
    parser.add_argument("programs", nargs="+", metavar="BINARY[:FILTER]")
    options = parser.parse_args()
    failed = sum(not run(program, seed, options.share, options.hazards)
                 for seed in options.seeds for program in options.programs)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
