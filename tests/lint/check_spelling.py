#!/usr/bin/python3
"""codespell over every text file. Words it does not know but we do: codespell_words.txt beside this file."""

import os
import subprocess

import project


def check(root):
    paths = [path for path in project.files(root)
             if project.text(path, root) is not None and not path.startswith(("tests/lint/golden/", "tests/fuzz/corpus/"))
             and path not in ("LICENSE", "tests/lint/codespell_words.txt")]
    words = os.path.join(os.path.dirname(os.path.abspath(__file__)), "codespell_words.txt")
    run = subprocess.run(["codespell", "--ignore-words", words, *paths], cwd=root, capture_output=True, text=True, check=False)
    return run.stdout.splitlines() + run.stderr.splitlines()


if __name__ == "__main__":
    project.report("spelling", check(project.ROOT))
