"""Why no daemon can be reached at an address. Used by ttfd.errors only."""

from __future__ import annotations

import errno
import grp
import os
import pathlib
import pwd
import socket
import stat


def _connect_error(path: str) -> int:
    """The errno of connect(2), or 0 if a process listens there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            return probe.connect_ex(path)
        except OSError:  # the path is too long
            return errno.ENAMETOOLONG


def _obstacle(path: str) -> str:
    """The first folder above `path` that cannot be entered, or `path` itself."""
    for folder in reversed(pathlib.PurePath(path).parents):
        if not os.access(folder, os.X_OK, effective_ids=True):
            return str(folder)
    return path


def _missing_permission(path: str) -> str:
    """The permission that is missing, and how to get it."""
    obstacle = _obstacle(path)
    try:
        file = os.stat(obstacle)
    except OSError:
        return f"{obstacle} cannot be reached by this user"
    wanted = stat.S_IXGRP if stat.S_ISDIR(file.st_mode) else stat.S_IWGRP
    if not file.st_mode & wanted or file.st_gid in (os.getegid(), *os.getgroups()):
        return f"{obstacle} is not open to this user"
    try:
        group = grp.getgrgid(file.st_gid).gr_name
        user = pwd.getpwuid(os.geteuid())
    except KeyError:
        return f"{obstacle} belongs to group {file.st_gid}, of which you are not a member"
    if file.st_gid in os.getgrouplist(user.pw_name, user.pw_gid):
        return f"{obstacle} belongs to group {group}, of which {user.pw_name} is a member, but not since this login: log in again"
    return f"{obstacle} belongs to group {group}, of which you are not a member (adduser {user.pw_name} {group})"


def failure(address: str, detail: str) -> tuple[bool, str]:
    """Whether permission is denied at a gRPC address, and a sentence; `detail` is gRPC's message."""
    if address.startswith("unix:"):
        path = address[len("unix:"):]
        path = path[2:] if path.startswith("//") else path
        error = _connect_error(path)
        if error == errno.EACCES:
            return True, _missing_permission(path)
        if error == errno.ENOENT:
            detail = "there is no such socket; is the daemon running?"
        if error == errno.ECONNREFUSED:
            detail = "nothing listens on the socket; the daemon has ended"
    return False, f"no ttfd daemon answers at {address}: {detail}"
