#!/usr/bin/python3
"""Links, and paths below a folder of the tree that documents and comments name, exist.

Decisions (docs/adr) and the changelog speak of their time and are not held to it.
"""

import os
import re

import project

QUOTED = re.compile(r"`([\w./{},-]+/[\w./{},-]*)`")
LINK = re.compile(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)")
COMMENT = re.compile(r"//.*?(?<![\w/.])([\w-]+/[\w./-]+\.(?:h|cc|md|py|proto|toml|cmake)\b)")
HISTORY = ("docs/adr/", "CHANGELOG.md")


def alternatives(path):
    """a/{b,c} is a/b and a/c."""
    found = re.fullmatch(r"(.*?)\{([^{}]*)\}(.*)", path)
    return [one for part in found[2].split(",") for one in alternatives(found[1] + part + found[3])] if found else [path]


def named(path, line, folders):
    """Paths from the root that a line names; those that are no link begin with a folder of the tree."""
    if not path.endswith(".md"):
        return [one for one in COMMENT.findall(line) if one.split("/")[0] in folders]
    links = [os.path.normpath(os.path.join(os.path.dirname(path), link)) for link in LINK.findall(line)]
    quoted = [one for quoted in QUOTED.findall(line) for one in alternatives(quoted)]
    return links + [one for one in quoted if one.split("/")[0] in folders]


def check(root):
    files = project.files(root)
    folders = {path.split("/")[0] for path in files if "/" in path}
    # Files, folders, and files without their extensions.
    existing = {path[:end.start()] for path in files for end in re.finditer(r"[/.]|$", path)}
    findings = []
    for path in files:
        if path.startswith(HISTORY) or not path.endswith((".md", ".proto", *project.CODE)):
            continue
        for number, line in enumerate((project.text(path, root) or "").split("\n"), 1):
            findings += [f"{path}:{number}: {one} does not exist" for one in named(path, line, folders)
                         if one.rstrip("/") not in existing]
    return findings


if __name__ == "__main__":
    project.report("paths", check(project.ROOT))
