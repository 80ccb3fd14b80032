#!/usr/bin/python3
"""Runs a program with every card it opens on the official simulator or on a real card, and says how its cases ended.

usage: run_on.py ttsim --library PATH PROGRAM [ARGUMENTS]    TTFD_TTSIM_LIB in the environment comes before --library
       run_on.py card PROGRAM [ARGUMENTS]                    TTFD_CARD in the environment names it: kmd:/dev/tenstorrent/0

PROGRAM is one of GoogleTest, or any other, of which the exit code counts; from 30 on it is a warning (ttfdctl doctor). Exits with 77
(skipped) when there is no simulator or card.
"""

import os
import re
import subprocess
import sys

SKIPPED = 77
FIRST_WARNING = 30
# Where the program knows the simulator as one of several backends by itself, and where all cases together take too long.
FILTERS = {"device_conformance": "*/ttsim",
           "graph_random_test": "Workers/*",
           "tensor_move_test": "*.Embedding*:*.Heads*:*.Integers*:*.WholeTiles*:*.ARecorded*"}


def device_of(arguments):
    """What there is to run on, as TTFD_TEST_DEVICE names it, and the program; no device: why not."""
    if arguments[:1] == ["card"] and len(arguments) > 1:
        if not os.environ.get("TTFD_CARD", "kmd:").startswith(("kmd:", "kmd-standin")):
            sys.exit("TTFD_CARD has to name a card: kmd:/dev/tenstorrent/0")
        return os.environ.get("TTFD_CARD", ""), arguments[1:], "TTFD_CARD does not name a card (kmd:/dev/tenstorrent/0)"
    if arguments[:2] == ["ttsim", "--library"] and len(arguments) > 3:
        library = os.environ.get("TTFD_TTSIM_LIB") or arguments[2]
        if library and not os.path.exists(library):
            sys.exit(f"TTFD_TTSIM_LIB names {library}, which is not there")
        os.environ["TTFD_TTSIM_LIB"] = library
        return library and f"ttsim:{library}", arguments[3:], "TTFD_TTSIM_LIB does not name a libttsim.so"
    sys.exit(__doc__)


def main(arguments):
    device, program, why_not = device_of(arguments)
    if not device:
        print(f"skipped: {why_not}")
        return SKIPPED
    if pattern := FILTERS.get(os.path.basename(program[0])):
        program.append(f"--gtest_filter={pattern}")
    environment = dict(os.environ, TTFD_TEST_DEVICE=device)
    with subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        reason = ""
        why = {}
        passed = failed = 0
        for line in run.stdout:
            print(line, end="")
            if match := re.match(r"\[  SKIPPED \] (\S+) \(", line):
                why[match[1]] = reason
            passed += line.startswith("[       OK ]")
            failed += bool(re.match(r"\[  FAILED  \] .*\(\d+ ms\)", line))
            reason = line.strip()
    print(f"on {device}: {passed} passed, {failed} failed, {len(why)} skipped")
    for text in sorted(set(why.values())):
        print(f"  skipped {sum(1 for one in why.values() if one == text)}: {text}")
    # A program that skipped all it has shows nothing.
    if run.returncode == 0:
        return SKIPPED if why and passed == 0 else 0
    return 0 if run.returncode >= FIRST_WARNING else run.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
