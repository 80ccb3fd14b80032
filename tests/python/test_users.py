"""Several real users at one real daemon, each a process of its own: nobody drives the session of another, limits are counted apart, and
groups decide who may administer."""

from __future__ import annotations

import grp
import json
import multiprocessing
import os
import pwd
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from typing import Any, Callable

import grpc
import pytest

import ttfd
from conftest import BUILD, KERNELS, SOURCE, Daemon, eventually
# Every module before a User is forked, who may be unable to read the folder that they are in.
from ttfd.v1 import admin_pb2, admin_pb2_grpc, ttfd_pb2, ttfd_pb2_grpc

sys.path.insert(0, str(SOURCE / "client/examples"))
import raw_session  # pylint: disable=wrong-import-position

ANN, BOB, CAROL = 51_001, 51_002, 51_003
ADMINS = "games"  # a group that every Debian has
CONFIG = f"""
[listen]
mode = "0666"
[roles]
admin = ["{ADMINS}"]
observe = ["{ADMINS}"]
[limits]
sessions_per_user = 2
buffers_per_user = 3
"""

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become other users")


def _serve(pipe: Connection, uid: int, groups: list[int]) -> None:
    os.setgroups(groups)
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    kept: dict[str, Any] = {}
    while True:
        function, arguments = pipe.recv()
        try:
            pipe.send((True, function(kept, *arguments)))
        except ttfd.Error as error:
            pipe.send((False, (error.code.name, error.reason, error.limit, error.limit_value, error.limit_used, error.message)))
        except BaseException as error:  # pylint: disable=broad-exception-caught
            pipe.send((False, repr(error)))


class User:
    """A process that runs as one user, and does there what it is told."""

    def __init__(self, uid: int, groups: list[int] | None = None) -> None:
        # Forked before this process has used gRPC, which does not outlive a fork.
        context = multiprocessing.get_context("fork")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other, uid, groups or []), daemon=True)
        self.process.start()

    def tries(self, function: Callable[..., Any], *arguments: Any) -> tuple[bool, Any]:
        """Whether it succeeded, and what came of it."""
        self.pipe.send((function, arguments))
        assert self.pipe.poll(60), "no answer"
        done, result = self.pipe.recv()
        return done, result

    def does(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What came of it."""
        done, result = self.tries(function, *arguments)
        assert done, result
        return result

    def end(self) -> None:
        """Kills it."""
        self.process.kill()
        self.process.join()


@pytest.fixture(name="place")
def _place():
    """A daemon that everybody may connect to, and three users: Carol is an administrator."""
    users = [User(ANN), User(BOB), User(CAROL, [grp.getgrnam(ADMINS).gr_gid])]
    daemon = Daemon(config=CONFIG)
    os.chmod(daemon.folder, 0o755)
    yield daemon, *users
    for user in users:
        user.end()
    daemon.end()


# ---- What users do, in their processes.


def opens(kept: dict[str, Any], address: str, name: str, **how: Any) -> int:
    """Opens a session, which is kept under this name."""
    kept[name] = ttfd.connect(address, client_name=name, **how)
    return kept[name].id


def opens_with(kept: dict[str, Any], address: str, name: str, how: dict[str, Any]) -> int:
    """The same, with more to say."""
    return opens(kept, address, name, **how)


def allocates(kept: dict[str, Any], name: str) -> None:
    """One buffer, which is kept."""
    kept.setdefault("buffers", []).append(kept[name].allocate_dram(4096))


def opens_raw(kept: dict[str, Any], address: str) -> tuple[int, bytes]:
    """Opens a session with client/examples/raw_session.py; its id, and the secret with which it could be resumed."""
    kept["raw"] = session = raw_session.Session(ttfd_pb2, address)
    session.send(open_queues=[{"queue": 1}])
    return session.welcome.session, session.welcome.token


def works_on(kept: dict[str, Any], value: int) -> tuple[bytes, int]:
    """Has that session do something; its secret after that, and the number of the last message from the daemon."""
    session = kept["raw"]
    session.send(batches=[{"queue": 1, "first_value": value, "commands": [{"barrier": {}}]}])
    session.wait(1, value)
    return session.welcome.token, session.received


def resumes(_: dict[str, Any], address: str, session: int, token: bytes, received: int = 0) -> str:
    """Tries to take over a session; the end of the call."""
    message = ttfd_pb2.ClientMessage()
    message.hello.min_revision = message.hello.max_revision = 1
    message.hello.reconnect_timeout_ms = 1000
    message.hello.resume.session = session
    message.hello.resume.token = token
    message.hello.resume.received = received
    with grpc.insecure_channel(address) as channel:
        call = ttfd_pb2_grpc.DeviceServiceStub(channel).Session(iter([message]), timeout=20)
        try:
            for answer in call:
                return f"welcome {answer.welcome.session}"
            return "nothing"
        except grpc.RpcError as error:
            return error.code().name


def ends(_: dict[str, Any], address: str, session: int) -> tuple[int, str]:
    """An administrator's call, by the program that has the user's rights alone."""
    with grpc.insecure_channel(address) as channel:
        try:
            admin_pb2_grpc.AdminServiceStub(channel).TerminateSession(admin_pb2.TerminateSessionRequest(session=session, reason="test"), timeout=20)
            return 0, "OK"
        except grpc.RpcError as error:
            return 1, error.code().name


# ---- The tests.


def test_nobody_drives_the_session_of_another_user(place):
    daemon, ann, bob, carol = place
    session, token = ann.does(opens_raw, daemon.address)
    assert len(token) >= 16
    for stranger in (bob, carol):
        assert stranger.does(resumes, daemon.address, session, token) == "NOT_FOUND"
    kept_token, received = ann.does(works_on, 1)
    assert kept_token == token, "it did not notice, and was not resumed"
    # Its own user, who has the token, can.
    assert ann.does(resumes, daemon.address, session, token, received) == f"welcome {session}"


@pytest.fixture(name="closed")
def _closed():
    """A daemon for members of a group, and a user who is none."""
    stranger = User(pwd.getpwnam("nobody").pw_uid)
    daemon = Daemon(config=f'[listen]\ngroup = "{ADMINS}"\nmode = "0660"\n')
    os.chmod(daemon.folder, 0o755)
    yield daemon, stranger
    stranger.end()
    daemon.end()


def test_a_user_outside_the_group_is_denied(closed, publish):
    daemon, stranger = closed
    socket = daemon.address.removeprefix("unix:")
    sentence = f"{socket} belongs to group {ADMINS}, of which you are not a member (adduser nobody {ADMINS})"
    done, error = stranger.tries(opens, daemon.address, "stranger")
    assert not done and (error[0], error[1], error[-1]) == ("PERMISSION_DENIED", "UNREACHABLE", sentence)
    program, kernel = publish(BUILD / "client/cli/ttfdctl"), publish(KERNELS / "empty.elf")
    for words in (["status"], ["run", kernel, "--cores", "0,0"]):
        result = subprocess.run([program, *words], user="nobody", group="nogroup", extra_groups=[], capture_output=True, text=True,
                                env={"TTFD_ADDRESS": daemon.address}, timeout=60, check=False)
        assert (result.returncode, result.stderr) == (4, f"ttfdctl: PERMISSION_DENIED: {sentence} [UNREACHABLE]\n")


def test_the_lease_of_a_user_is_not_for_another(place):
    daemon, ann, bob, _ = place
    ann.does(opens_with, daemon.address, "holder", {"lease": ttfd.Lease()})
    token = ann.does(lambda_token, "holder")
    done, error = bob.tries(opens_with, daemon.address, "thief", {"lease_token": token})
    assert not done and error[:2] == ("NOT_FOUND", "LEASE_ENDED")
    ann.does(opens_with, daemon.address, "member", {"lease_token": token})


def lambda_token(kept: dict[str, Any], name: str) -> str:
    """Of the lease that the session holds."""
    return kept[name].lease_token


def test_limits_of_users_are_counted_apart(place):
    daemon, ann, bob, _ = place
    for name in ("one", "two"):
        ann.does(opens, daemon.address, name)
    done, error = ann.tries(opens, daemon.address, "three")
    assert not done and error[:5] == ("RESOURCE_EXHAUSTED", "LIMIT", "sessions_per_user", 2, 2)
    bob.does(opens, daemon.address, "one")
    for name in ("one", "two", "one"):
        ann.does(allocates, name)
    done, error = ann.tries(allocates, "two")
    assert not done and error[2:5] == ("buffers_per_user", 3, 3)
    bob.does(allocates, "one")
    uses = {entry["uid"]: {use["name"]: use["used"] for use in entry["uses"]}
            for entry in json.loads(daemon.ctl("limits", "--json").stdout)["usage"] if entry["scope"] == "user"}
    assert (uses[ANN]["sessions_per_user"], uses[ANN]["buffers_per_user"]) == (2, 3)
    assert (uses[BOB]["sessions_per_user"], uses[BOB]["buffers_per_user"]) == (1, 1)


def test_the_admin_group_administers_and_others_do_not(place):
    daemon, ann, bob, carol = place
    session = ann.does(opens, daemon.address, "ann")
    for user in (ann, bob):
        assert user.does(ends, daemon.address, session) == (1, "PERMISSION_DENIED"), "not even its own"
    assert carol.does(ends, daemon.address, session) == (0, "OK")
    eventually(lambda: not json.loads(daemon.ctl("sessions", "list", "--json").stdout)["sessions"])
    deadline = time.monotonic() + 20
    while '"outcome":"PERMISSION_DENIED","uid":51002' not in daemon.log():  # a thread of its own writes the lines
        assert time.monotonic() < deadline, daemon.log()
        time.sleep(0.01)


def test_only_administrators_ask_for_more_weight_and_priority_than_the_limits(place):
    daemon, ann, _, carol = place
    done, error = ann.tries(opens_with, daemon.address, "high", {"priority": "high"})
    assert not done and error[:3] == ("RESOURCE_EXHAUSTED", "LIMIT", "priority")
    done, error = ann.tries(opens_with, daemon.address, "heavy", {"weight": 2})
    assert not done and error[:4] == ("RESOURCE_EXHAUSTED", "LIMIT", "weight", 1)
    ann.does(opens_with, daemon.address, "allowed", {"weight": 1})
    carol.does(opens_with, daemon.address, "boss", {"priority": "high", "weight": 1000})
    shown = {entry["client_name"]: (entry["priority"], entry["weight"])
             for entry in json.loads(daemon.ctl("sessions", "list", "--json").stdout)["sessions"]}
    assert shown == {"allowed": ("normal", 1), "boss": ("high", 1000)}
    done, error = carol.tries(opens_with, daemon.address, "too heavy", {"weight": 1001})
    assert not done and error[:4] == ("RESOURCE_EXHAUSTED", "LIMIT", "weight", 1000)
