#!/usr/bin/python3
"""Every C++ file is as clang-format 14 would write it. `./dev format` makes it so."""

import os
import subprocess

import project


def check(root):
    paths = [path for path in project.files(root) if path.endswith((".h", ".cc"))]
    findings = set()
    style = "--style=file:" + os.path.join(project.ROOT, ".clang-format")
    for first in range(0, len(paths), 50):
        run = subprocess.run(["clang-format", style, "--dry-run", *paths[first:first + 50]],
                             cwd=root, capture_output=True, text=True, check=True)
        for line in run.stderr.splitlines():
            if "clang-format-violations" in line:
                path, number = line.split(":")[:2]
                findings.add(f"{path}:{number}: not formatted")
    return sorted(findings)


if __name__ == "__main__":
    project.report("format", check(project.ROOT))
