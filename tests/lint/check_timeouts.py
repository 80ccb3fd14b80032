#!/usr/bin/python3
"""Every test has a TIMEOUT, of at most 300 seconds if `./dev test` runs it: check_timeouts.py --build FOLDER.

Cases of GoogleTest are seen once their program is built.
"""

import json
import subprocess

import project

LONGEST_S = 300  # on a busy machine
NOT_RUN_BY_DEV_TEST = {"slow", "ttsim", "hardware"}


def check(description):
    """Findings about the tests of `ctest --show-only=json-v1`."""
    for test in description["tests"]:
        properties = {one["name"]: one["value"] for one in test.get("properties", ())}
        timeout = properties.get("TIMEOUT")
        if test["name"].endswith("_NOT_BUILT"):
            continue
        if timeout is None:
            yield f"{test['name']}: no TIMEOUT"
        elif timeout > LONGEST_S and not NOT_RUN_BY_DEV_TEST & set(properties.get("LABELS", ())):
            yield f"{test['name']}: TIMEOUT {timeout:.0f}, at most {LONGEST_S}: split it, or give it the label slow"


if __name__ == "__main__":
    SHOWN = subprocess.run(["ctest", "--test-dir", project.option("--build"), "--show-only=json-v1"], check=True,
                           capture_output=True, text=True).stdout
    project.report("timeouts", list(check(json.loads(SHOWN))))
