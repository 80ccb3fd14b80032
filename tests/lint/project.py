"""What the lints share: the project's files, findings and how they are reported."""

import os
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
CODE = (".h", ".cc", ".inc")


def files(root=ROOT):
    """Paths of all files of the project relative to root: tracked ones, and new ones that git does not ignore."""
    try:
        listed = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            check=True, capture_output=True).stdout.decode().split("\0")
        paths = {path for path in listed if path}
    except (OSError, subprocess.CalledProcessError):  # an unpacked archive
        paths = set()
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if name not in (".git", "build", "__pycache__")]
            paths.update(os.path.relpath(os.path.join(folder, name), root) for name in names)
    return sorted(path for path in paths if os.path.isfile(os.path.join(root, path)))


def text(path, root=ROOT):
    """The file as text, or None if it is not text."""
    with open(os.path.join(root, path), "rb") as stream:
        data = stream.read()
    try:
        return None if b"\0" in data else data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def report(name, findings):
    """Prints the findings and exits: 0 if there are none."""
    for finding in findings:
        print(finding)
    print(f"{name}: {len(findings)} findings" if findings else f"{name}: ok")
    sys.exit(1 if findings else 0)


def option(name, default=None):
    """The value behind --name on the command line."""
    arguments = sys.argv[1:]
    return arguments[arguments.index(name) + 1] if name in arguments else default
