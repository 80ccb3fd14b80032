#!/usr/bin/python3
"""The sizes of classes and functions: data members, lines in all files, pure virtuals; lines of a function; and in the
daemon's middle the sources of a class besides its header.

What is above the limits of ceilings.py is held to its ceiling of today, the rest to the limits.
"""

import os
import re

import ceilings
import cpp_outline
import project

# Plain values, a field for each fact that somebody else decided: their members and lines are not limited.
PLAIN_VALUES = re.compile(
    r"runtime/(abi|hw)/|client/cpp/include/ttfd/(admin_types|types)\.h$|daemon/api/(reply|request|session_limits)\.h$|(^|[/_])options\.h$|_report\.h$")

# Folders in which a class has one header and one source.
ONE_SOURCE = re.compile(r"daemon/(api|card|core|session)/")


def owner(path, function, classes):
    """The class that a function of `path` is a member of, of those with the fitting name the nearest; or None."""
    name = function.name.rpartition("::")[0]
    def nearness(key):
        return key[1] == path, os.path.splitext(key[1])[0] == os.path.splitext(path)[0], len(os.path.commonpath([key[1], path]))
    return max((key for key in classes.get(name, ())), key=nearness, default=None)


def figures(root):
    """{(kind, file and name): figure} of every class and function, and what could not be read."""
    found, classes, functions, unreadable = {}, {}, [], []
    sources = {}
    for path in project.files(root):
        if not path.endswith((".h", ".cc")):
            continue
        try:
            in_file = cpp_outline.outline(project.text(path, root) or "")
        except cpp_outline.Unbalanced as error:
            unreadable.append(f"{path}: {error}")
            continue
        for one in in_file[0]:
            key = f"{path} {one.name}"
            found["virtuals", key] = one.virtuals
            if not PLAIN_VALUES.search(path):
                found["members", key] = one.members
                found["lines", key] = one.lines
                classes.setdefault(one.name, []).append(("lines", path, key, one))
        functions += [(path, one) for one in in_file[1]]
    for path, one in functions:
        key = ("function", f"{path} {one.name}")
        found[key] = max(found.get(key, 0), one.lines)
        holder = owner(path, one, classes)
        inside = holder and holder[1] == path and holder[3].first <= one.first and one.last <= holder[3].last
        if holder and not inside:
            found["lines", holder[2]] += one.lines
        if holder and path != holder[1] and ONE_SOURCE.match(path):
            sources.setdefault(holder[2], set()).add(path)
    found.update({("sources", key): len(paths) for key, paths in sources.items()})
    return found, unreadable


def advice(_):
    return "split it by concept; if it was only renamed or moved: ./dev lint --ratchet"


if __name__ == "__main__":
    FOUND, UNREADABLE = figures(project.ROOT)
    project.report("shape", UNREADABLE + ceilings.findings(FOUND, advice))
