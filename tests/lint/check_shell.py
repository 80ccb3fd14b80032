#!/usr/bin/python3
"""shellcheck over every shell script."""

import re
import subprocess

import project


def scripts(root):
    for path in project.files(root):
        content = project.text(path, root)
        if content and re.match(r"#!.*\b(ba)?sh\b", content):
            yield path


def check(root):
    run = subprocess.run(["shellcheck", "--format=gcc", *scripts(root)], cwd=root, capture_output=True, text=True, check=False)
    return run.stdout.splitlines() + run.stderr.splitlines()


if __name__ == "__main__":
    project.report("shell", check(project.ROOT))
