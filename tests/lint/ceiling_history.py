"""The commits that raised a ceiling by hand: each version of ceilings.txt against those of its parents, up to the working tree.

A version keeps to its parent as today's figures keep to ceilings.txt: ceilings.lowered decides. A merge keeps to the file that
git's union driver makes of its parents: the lower of two ceilings for one name. A raised ceiling is found until it is lowered
again, and a word whose line was removed keeps its ceiling.
"""

import os
import subprocess

import ceilings


class Unavailable(Exception):
    """Says why the history cannot be read."""


def _git(root, *arguments, stdin=b""):
    try:
        done = subprocess.run(["git", "-C", root, *arguments], input=stdin, capture_output=True, check=False)
    except OSError as error:
        raise Unavailable(str(error)) from error
    if done.returncode != 0:
        raise Unavailable(done.stderr.decode().strip())
    return done.stdout


def versions(root, path):
    """[(commit, its parents, its ceilings)], parents first and the working tree last: the commits that changed the file, and
    merges. A parent is the latest commit of this list that the commit descends from on that side."""
    if _git(root, "rev-parse", "--is-shallow-repository").strip() == b"true":
        raise Unavailable("the clone is shallow (git fetch --unshallow)")
    # Without --full-history git omits the side of a merge whose version the merge discarded.
    listed = _git(root, "rev-list", "--full-history", "--parents", "--topo-order", "--reverse", "HEAD", "--", path).decode()
    commits = [[commit[:12] for commit in line.split()] for line in listed.splitlines()]
    contents = _git(root, "cat-file", "--batch", stdin="".join(f"{commit[0]}:./{path}\n" for commit in commits).encode())
    found = []
    for commit, *parents in commits:
        head, _, contents = contents.partition(b"\n")
        text = b""
        if not head.endswith(b" missing"):
            size = int(head.split()[-1])
            text, contents = contents[:size], contents[size + 1:]
        found.append((commit, parents, ceilings.parse(text.decode())))
    return found + [("the working tree", [commit[0] for commit in commits[-1:]], ceilings.load(os.path.join(root, path)) or {})]


def raised(history):
    """Sentences about the ceilings in the last of these versions that are above what its ancestors allow."""
    allowed = {}  # by commit: its ceilings, but of each that was raised the one before
    raised_by = {}  # by commit: {ceiling that is above the allowed one: the commit that raised it}
    own = refused = {}
    for commit, parents, own in history:
        base = {}
        for parent in parents:
            base |= {key: min(figure, base.get(key, figure)) for key, figure in allowed[parent].items()}
        needed, refused = ceilings.lowered(own, base or None)
        words = {key: figure for key, figure in base.items() if key[0] not in ceilings.LIMITS}
        allowed[commit] = words | needed
        raised_by[commit] = {
            key: next((raised_by[parent][key] for parent in parents if key in raised_by[parent]), commit) for key in refused}
    return [f"{key[1]}: {raised_by[history[-1][0]][key]} raised the ceiling from {limit} to {own[key]} {ceilings.WHAT[key[0]]}"
            for key, limit in sorted(refused.items())]
