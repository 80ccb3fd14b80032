"""ttfdctl lease and the clients under it, against the real daemon: nothing that dies keeps a lease."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

import ttfd
from conftest import BUILD, KERNELS, eventually

JOINS = """
import os, sys, ttfd
with ttfd.connect(client_name="member") as session:
    buffer = session.allocate_dram(4096)
    session.queue.fill(buffer, 7)
    assert session.queue.read(buffer)[0] == 7
print("worked under", os.environ["TTFD_LEASE"][:4] and "a lease")
sys.exit(23)
"""


def leases(daemon):
    """What ttfdctl leases says."""
    result = daemon.ctl("leases", "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["leases"]


def start_lease(daemon, *words, **more):
    """ttfdctl lease in the background."""
    return subprocess.Popen([BUILD / "client/cli/ttfdctl", "lease", *words],
                            env=dict(os.environ, TTFD_ADDRESS=daemon.address), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, **more)


def states(daemon):
    """In the order of the list."""
    return [lease["state"] for lease in leases(daemon)]


def test_a_command_runs_under_the_lease_and_its_exit_code_is_passed_on(daemon):
    result = daemon.ctl("lease", "--", sys.executable, "-c", JOINS)
    assert result.returncode == 23, result.stderr
    assert "worked under a lease" in result.stdout
    eventually(lambda: not leases(daemon))
    ctl = BUILD / "client/cli/ttfdctl"  # of libttfd: without the token it would wait for ever
    run = daemon.ctl("lease", "--", ctl, "run", KERNELS / "empty.elf", "--cores", "0,0")
    assert run.returncode == 0, run.stderr
    assert daemon.ctl("lease", "--tiles", "0,0-3,3", "--tiles", "5,5", "--", "true").returncode == 0
    assert daemon.ctl("lease", "--", "sh", "-c", "kill -TERM $$").returncode == 128 + signal.SIGTERM
    missing = daemon.ctl("lease", "--", "/nonexistent/command")
    assert missing.returncode == 127 and "cannot run" in missing.stderr
    eventually(lambda: not leases(daemon))


@pytest.mark.parametrize("options", [
    [], ["--tiles", "0,0-3,9"], ["--wait", "60000"], ["--wait", "60000", "--tiles", "0,0-3,9"],
    ["--tiles", "0,0-3,9", "--wait", "60000"], ["--json"], ["--tiles", "0,0", "--timeout", "60"]])
def test_words_after_the_mark_reach_the_command(daemon, options):
    words = ["--json", "--timeout", "3", "--help", "-c", "--tiles=1,1", "[a,b]", "", "--", "two words"]
    shows = [sys.executable, "-c", "import sys; print(sys.argv[1:])"]
    result = daemon.ctl("lease", *options, "--", *shows, *words)
    assert (result.returncode, result.stdout) == (0, f"{words}\n"), result.stderr


def test_wrong_command_lines_and_nested_leases_are_refused(daemon):
    assert daemon.ctl("lease").returncode == 2
    assert daemon.ctl("lease", "--tiles", "nonsense", "--", "true").returncode == 2
    assert daemon.ctl("lease", "--tiles", "0,0-99,99", "--", "true").returncode == 4
    nested = daemon.ctl("lease", "--", BUILD / "client/cli/ttfdctl", "lease", "--", "true")
    assert nested.returncode == 2 and "TTFD_LEASE" in nested.stderr


def test_who_waits_is_told_and_comes_next(daemon):
    first = start_lease(daemon, "--", "sleep", "60")
    eventually(lambda: states(daemon) == ["held"])
    second = start_lease(daemon, "--", "true")
    eventually(lambda: states(daemon) == ["held", "waiting"])
    waiting = leases(daemon)[1]
    assert waiting["position"] == 1 and waiting["pid"] == second.pid and waiting["expected_wait_ms"] > 0
    (blocking,) = waiting["holders"]
    assert blocking["pid"] == first.pid and "sleep" in blocking["client_name"] and waiting["more_holders"] == 0
    text = daemon.ctl("leases").stdout
    assert re.search(r"^\d+ +waiting +\S+ +ttfdctl lease -- true +0 +all ", text, re.MULTILINE), text
    late = daemon.ctl("lease", "--wait", "100", "--", "true")
    assert late.returncode == 5 and "sleep" in late.stderr, late.stderr
    first.terminate()  # reaches the command
    assert first.wait(20) == 128 + signal.SIGTERM
    assert second.wait(20) == 0
    assert "number 1, held by session" in second.stderr.read()


def test_a_killed_ttfdctl_gives_its_lease_back_and_takes_its_command_along(daemon):
    doomed = start_lease(daemon, "--", "sleep", "61")
    eventually(lambda: states(daemon) == ["held"])
    children = pathlib.Path(f"/proc/{doomed.pid}/task/{doomed.pid}/children")
    eventually(children.read_text)  # it starts its command when it has the lease
    child = int(children.read_text())
    after = start_lease(daemon, "--", "true")
    eventually(lambda: states(daemon) == ["held", "waiting"])
    doomed.kill()
    doomed.wait()
    assert after.wait(20) == 0
    eventually(lambda: not os.path.exists(f"/proc/{child}"))


def test_a_killed_ttfdctl_ends_what_its_command_does_under_the_lease(daemon, tmp_path):
    script = """
import signal, sys, time, ttfd
signal.signal(signal.SIGTERM, signal.SIG_IGN)
session = ttfd.connect()
open(sys.argv[1], "w").write("in")
try:
    while True:
        session.queue.wait(session.queue.enqueue_barrier())
        time.sleep(0.01)
except ttfd.Error as error:
    open(sys.argv[1], "w").write(error.reason)
"""
    told = tmp_path / "told"
    doomed = start_lease(daemon, "--", sys.executable, "-c", script, told)
    eventually(lambda: told.exists() and told.read_text() == "in")
    doomed.kill()
    doomed.wait()
    eventually(lambda: told.read_text() == "LEASE_ENDED")
    eventually(lambda: not leases(daemon))


def test_a_killed_waiter_leaves_the_queue(daemon):
    first = start_lease(daemon, "--", "sleep", "62")
    eventually(lambda: states(daemon) == ["held"])
    second = start_lease(daemon, "--", "true")
    eventually(lambda: len(leases(daemon)) == 2)
    third = start_lease(daemon, "--", "true")
    eventually(lambda: len(leases(daemon)) == 3)
    second.kill()
    second.wait()
    eventually(lambda: [lease["position"] for lease in leases(daemon)] == [None, 1])
    first.terminate()
    assert third.wait(20) == 0


def test_python_asks_holds_and_joins(daemon, monkeypatch):
    waits = []
    with ttfd.connect(daemon.address, client_name="holder", lease=ttfd.Lease()) as holder:
        assert len(holder.lease_token) == 32
        with pytest.raises(ttfd.Error) as late:
            ttfd.connect(daemon.address, lease=ttfd.Lease(wait=2), on_waiting=waits.append)
        assert late.value.code == ttfd.Code.DEADLINE_EXCEEDED and "holder" in str(late.value)
        assert waits[0].position == 1 and [h.client_name for h in waits[0].holders] == ["holder"] and waits[0].expected > 0
        with ttfd.connect(daemon.address, lease_token=holder.lease_token) as member:
            assert leases(daemon)[0]["sessions"] == 2
            member.allocate_dram(4096)
        monkeypatch.setenv("TTFD_LEASE", holder.lease_token)
        ttfd.connect(daemon.address).close()
        monkeypatch.setenv("TTFD_LEASE", "00" * 16)
        with pytest.raises(ttfd.Error) as wrong:
            ttfd.connect(daemon.address)
        assert wrong.value.reason == "LEASE_ENDED"
        monkeypatch.setenv("TTFD_LEASE", "nonsense")
        with pytest.raises(ttfd.Error, match="TTFD_LEASE"):
            ttfd.connect(daemon.address)
        monkeypatch.delenv("TTFD_LEASE")


def test_others_launch_beside_a_lease_of_tiles(daemon):
    def program(session, x):
        kernel = session.load_kernel(KERNELS / "empty.elf", name="empty")
        return session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, [ttfd.CoreRange(x, 0, x, 0)])])

    with ttfd.connect(daemon.address) as shared:
        beside, there = program(shared, 3), program(shared, 0)
        shared.queue.launch(there)
        with ttfd.connect(daemon.address, lease=ttfd.Lease([ttfd.CoreRange(0, 0, 1, 9)])) as holder:
            holder.queue.launch(program(holder, 0))
            with pytest.raises(ttfd.Error, match="outside the sub-device"):
                holder.queue.launch(program(holder, 3))
            for _ in range(20):
                shared.queue.launch(beside)
                holder.queue.launch(program(holder, 1))
            position = shared.queue.enqueue_launch(there)
            with pytest.raises(ttfd.Error) as waits:
                shared.queue.wait(position, 0.2)
            assert waits.value.reason == "WAIT"
        shared.queue.wait(position, 20)
        shared.queue.launch(beside)
