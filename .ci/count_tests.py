#!/usr/bin/python3
"""Adds up the JUnit files that ctest wrote and prints what those tests said that failed, the names of those that passed only when
they were run once more (retry), for each reason how many were skipped, and one line of counts.

Exit code 1 if a test failed, a file is missing or nothing ran at all.
"""

import argparse
import collections
import os
import re
import sys
import xml.etree.ElementTree

SAID_LINES = 30  # of a failed test
# GoogleTest's words, pytest's (-rs: some tests of a file that passed).
SKIPPED = re.compile(r": Skipped\n(.+?)\n|^SKIPPED \[\d+\] \S+: (.+)$", re.MULTILINE)


def said(case):
    """The end of a test's output, without gtest's frame."""
    output = case.findtext("system-out") or ""
    lines = [line for line in output.splitlines() if not line.startswith(("[---", "[===", "Note:", "Running main"))]
    return "".join(f"\n    {line}" for line in lines[-SAID_LINES:])


class Counts:
    """The results of the cases of all files."""

    def __init__(self):
        self.passed, self.failed, self.flaky, self.skipped = 0, [], [], collections.Counter()

    def add(self, path):
        """The cases of one JUnit file."""
        preset = os.path.splitext(os.path.basename(path))[0]
        for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
            name = f"{case.get('name', '?')} ({preset})"
            skip = case.find("skipped")
            reasons = [" ".join(found).strip() for found in SKIPPED.findall(case.findtext("system-out") or "")]
            if case.find("failure") is not None or case.get("status") == "fail":
                self.failed.append(name + said(case))
            elif skip is not None or case.get("status") in ("notrun", "disabled"):
                self.skipped[reasons[0] if reasons else "no reason given" if skip is None else skip.get("message")] += 1
            else:
                self.passed += 1
                self.flaky += [name for one in case.iter("property") if one.get("name") == "flaky"]
                self.skipped.update(reasons)

    def line(self):
        return f"{self.passed} passed, {len(self.failed)} failed" + (f", {self.skipped.total()} skipped" if self.skipped else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--title", default="", help="goes before the counts")
    parser.add_argument("--also-passed", type=int, default=0, help="steps that are no ctest")
    parser.add_argument("--also-failed", action="append", default=[], metavar="NAME")
    options = parser.parse_args()

    counts = Counts()
    counts.passed, counts.failed = options.also_passed, list(options.also_failed)
    for path in options.files:
        try:
            counts.add(path)
        except (OSError, xml.etree.ElementTree.ParseError) as error:
            counts.failed.append(f"{path}: {error}")
    for name in counts.failed:
        print(f"FAILED {name}")
    for name in counts.flaky:
        print(f"FLAKY {name}: failed, then passed alone; docs/testing.md lists it until its cause is found")
    for reason, count in counts.skipped.most_common():
        print(f"skipped {count}: {reason}")
    print(f"{options.title}: {counts.line()}" if options.title else counts.line())
    return 1 if counts.failed or not counts.passed else 0


if __name__ == "__main__":
    sys.exit(main())
