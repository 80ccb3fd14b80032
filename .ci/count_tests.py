#!/usr/bin/python3
"""Adds up the JUnit files that ctest wrote and prints how many tests passed, failed and were skipped, and what those
that failed said: where a log is cut, its end tells why.

Exit code 1 if a test failed, a file is missing or nothing ran at all.
"""

import argparse
import os
import sys
import xml.etree.ElementTree

SAID_LINES = 30  # of a failed test


def said(case):
    """The end of a test's output, without gtest's frame."""
    output = case.findtext("system-out") or ""
    lines = [line for line in output.splitlines() if not line.startswith(("[---", "[===", "Note:", "Running main"))]
    return "".join(f"\n    {line}" for line in lines[-SAID_LINES:])


def count(path):
    """Returns (passed, what failed, skipped as (name, reason)) of one JUnit file."""
    preset = os.path.splitext(os.path.basename(path))[0]
    passed, failed, skipped = 0, [], []
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        name = case.get("name", "?")
        status = case.get("status", "")
        if case.find("failure") is not None or status == "fail":
            failed.append(f"{name} ({preset}){said(case)}")
        elif case.find("skipped") is not None or status in ("notrun", "disabled"):
            skip = case.find("skipped")
            skipped.append((name, "" if skip is None else skip.get("message", "")))
        else:
            passed += 1
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--title", default="", help="goes before the counts")
    parser.add_argument("--show-skipped", action="store_true")
    parser.add_argument("--also-passed", type=int, default=0, help="steps that are no ctest")
    parser.add_argument("--also-failed", action="append", default=[], metavar="NAME")
    options = parser.parse_args()

    passed, failed, skipped = options.also_passed, list(options.also_failed), []
    for path in options.files:
        try:
            one = count(path)
        except (OSError, xml.etree.ElementTree.ParseError) as error:
            failed.append(f"{path}: {error}")
            continue
        passed, failed, skipped = passed + one[0], failed + one[1], skipped + one[2]

    for name in failed:
        print(f"FAILED {name}")
    if options.show_skipped:
        for name, reason in skipped:
            print(f"skipped {name} {reason}".rstrip())
    line = f"{passed} passed, {len(failed)} failed"
    if skipped:
        line += f", {len(skipped)} skipped"
    print(f"{options.title}: {line}" if options.title else line)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
