#!/usr/bin/python3
"""Ceilings that only come down. ceilings.txt has a line for each class, function or word: kind, ceiling, name.

usage: ceilings.py [--check], which `./dev lint --ratchet` calls. It lowers every ceiling to the figure of today and removes
those that are no longer needed; --check changes nothing and fails if there is something to lower, or if a commit raised a
ceiling (ceiling_history.py). No ceiling is raised: what is new keeps to LIMITS, and what was renamed takes the ceiling of its
old name. Branches that both lower ceilings merge without conflicts (.gitattributes keeps the lines of both): of two lines for
one name the lower counts. Without the file the figures of today become the ceilings.
"""

import os
import re
import sys

import project

# For what has no ceiling. A word without one is new in check_words.py and gets its count of today.
LIMITS = {"members": 15, "lines": 400, "virtuals": 7, "function": 60, "sources": 1}
WHAT = {"members": "data members", "lines": "lines in all its files", "virtuals": "pure virtual functions",
        "function": "lines", "sources": "sources besides its header", "word": "times in the tree"}
PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ceilings.txt")
HEAD = "# kind, ceiling, name. They only come down: ./dev lint --ratchet (ceilings.py says how).\n"


def parse(text):
    """{(kind, name): ceiling}."""
    ceilings = {}
    for kind, figure, name in re.findall(r"^(\w+) (\d+) (.+)$", text, re.MULTILINE):
        ceilings[kind, name] = min(int(figure), ceilings.get((kind, name), int(figure)))
    return ceilings


def load(path=PATH):
    """The same of a file; None if there is none."""
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as stream:
        return parse(stream.read())


def written(ceilings):
    """The content of the file."""
    return HEAD + "".join(f"{kind} {ceilings[kind, name]} {name}\n" for kind, name in sorted(ceilings))


def ceiling(key, ceilings):
    return ceilings.get(key, LIMITS.get(key[0]))


def findings(figures, advice, path=PATH):
    """Sentences about what is above its ceiling; `advice` says what to do about a key."""
    ceilings = load(path) or {}
    found = []
    for key, figure in sorted(figures.items()):
        limit = ceiling(key, ceilings)
        if limit is None:
            found.append(f"{key[1]}: no ceiling yet: ./dev lint --ratchet")
        elif figure > limit:
            which = "ceiling" if key in ceilings else "limit"
            found.append(f"{key[1]}: {figure} {WHAT[key[0]]}, the {which} is {limit}: {advice(key)}")
    return found


def lowered(figures, ceilings):
    """(the ceilings that today's figures need, {what is refused because it would be raised: the ceiling or limit it has})."""
    if ceilings is None:
        return {key: figure for key, figure in figures.items() if figure > LIMITS.get(key[0], -1)}, {}
    unused = {key: figure for key, figure in ceilings.items() if key not in figures}
    result, refused = {}, {}
    for key, figure in sorted(figures.items(), key=lambda item: -item[1]):
        limit = ceilings.get(key)
        if figure <= LIMITS.get(key[0], -1):
            continue
        if limit is None and key[0] in LIMITS:  # renamed? The lowest unused ceiling that is enough.
            enough = [old for old in unused if old[0] == key[0] and unused[old] >= figure]
            limit = unused.pop(min(enough, key=unused.get)) if enough else LIMITS[key[0]]
        if limit is not None and figure > limit:
            refused[key] = limit
            limit = ceilings.get(key)
        if limit is not None or key[0] not in LIMITS:
            result[key] = figure if limit is None else min(figure, limit)
    return result, refused


def check_history():
    """Sentences about ceilings that were raised."""
    import ceiling_history  # it uses this module
    try:
        return ceiling_history.raised(ceiling_history.versions(project.ROOT, os.path.relpath(PATH, project.ROOT)))
    except ceiling_history.Unavailable as error:
        print(f"the ceilings are not compared with those of earlier commits: {error}")
        return []


def main():
    import check_shape  # they use this module
    import check_words
    figures, found = check_shape.figures(project.ROOT)
    figures.update(check_words.figures(project.ROOT))
    needed, refused = lowered(figures, load())
    found += [f"{name}: {figures[kind, name]} {WHAT[kind]}, the ceiling is {limit} and is not raised"
              for (kind, name), limit in refused.items()]
    before = ""
    if os.path.exists(PATH):
        with open(PATH, encoding="utf-8") as stream:
            before = stream.read()
    after = written(needed)
    if "--check" not in sys.argv:
        with open(PATH, "w", encoding="utf-8") as stream:
            stream.write(after)
    else:
        found += check_history()
        if before != after:
            found += [f"{name}: below its ceiling of {figure} {WHAT[kind]}; lower the ceiling: ./dev lint --ratchet"
                      for (kind, name), figure in sorted((load() or {}).items()) if needed.get((kind, name)) != figure]
            found += ["ceilings.txt is not as ./dev lint --ratchet writes it"]
    project.report("ratchet", found)


if __name__ == "__main__":
    main()
