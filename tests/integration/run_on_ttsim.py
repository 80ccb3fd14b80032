#!/usr/bin/python3
"""Runs a GoogleTest program with every card it opens on the official simulator, and says how its cases ended.

usage: run_on_ttsim.py --library PATH PROGRAM [ARGUMENTS]. TTFD_TTSIM_LIB in the environment comes before --library.
Exits with 77 (skipped) when there is no library.
"""

import os
import re
import subprocess
import sys

SKIPPED = 77
# Where the program knows the simulator as one of several backends by itself.
FILTERS = {"device_conformance": "*/ttsim"}


def main(arguments):
    if len(arguments) < 3 or arguments[0] != "--library":
        sys.exit(__doc__)
    library = os.environ.get("TTFD_TTSIM_LIB") or arguments[1]
    program = arguments[2:]
    if not library:
        print("skipped: TTFD_TTSIM_LIB does not name a libttsim.so")
        return SKIPPED
    if not os.path.exists(library):
        print(f"TTFD_TTSIM_LIB names {library}, which is not there")
        return 1
    if pattern := FILTERS.get(os.path.basename(program[0])):
        program.append(f"--gtest_filter={pattern}")
    environment = dict(os.environ, TTFD_TTSIM_LIB=library, TTFD_TEST_DEVICE=f"ttsim:{library}")
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
    print(f"on {library}: {passed} passed, {failed} failed, {len(why)} skipped")
    for text in sorted(set(why.values())):
        print(f"  skipped {sum(1 for one in why.values() if one == text)}: {text}")
    # A program that skipped all it has shows nothing.
    return run.returncode if passed > 0 or run.returncode != 0 else SKIPPED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
