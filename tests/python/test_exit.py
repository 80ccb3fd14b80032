"""No wait of the Python client outlasts its session or the interpreter, whatever its threads are doing then."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import threading

import pytest

import ttfd
from conftest import join, start_thread

EXIT_S = 60  # for a process that waits for nothing


def run(script: str, address: str) -> subprocess.CompletedProcess[str]:
    """The script in an interpreter of its own, with the daemon's address as its argument, to its end."""
    return subprocess.run([sys.executable, "-B", "-c", script, address], capture_output=True, text=True, timeout=EXIT_S,
                          check=False)


def test_free_takes_no_lock(session):
    buffer = session.allocate_dram(4096)
    held, done = threading.Event(), threading.Event()

    def hold():
        with session._connection.news:  # pylint: disable=protected-access
            held.set()
            done.wait(EXIT_S)

    holder = start_thread(hold)
    assert held.wait(EXIT_S)
    freeing = start_thread(buffer.free)  # as the garbage collector does, on any thread
    freeing.join(10)
    blocked = freeing.is_alive()
    done.set()
    join(holder)
    assert not blocked
    session.allocate_dram(4096).free()


def test_freed_handles_go_with_the_next_message(daemon, session):
    def used():
        listed = json.loads(daemon.ctl("limits", "--json").stdout)["usage"]
        uses = next(entry["uses"] for entry in listed if entry["session"] == session.id)
        return {use["name"]: use["used"] for use in uses}["buffers"]

    buffers = [session.allocate_dram(4096) for _ in range(3)]
    assert used() == 3
    buffers.clear()
    session.queue.wait(session.queue.enqueue_barrier())
    session.queue.finish()
    keep = session.allocate_dram(4096)
    assert used() == 1
    keep.free()


def test_exit_ends_open_sessions(daemon):
    ended = run("""
import sys, ttfd
session = ttfd.connect(sys.argv[1], client_name="left open", reconnect_for=300)
buffer = session.allocate_dram(4096)
""", daemon.address)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "left open" not in daemon.ctl("sessions", "list", "--json").stdout, "the daemon keeps nothing for it"


def test_exit_waits_for_no_reconnecting_thread(own_daemon):
    # The buffer lies in a module that the interpreter clears after it has stopped all threads.
    ended = run(f"""
import os, signal, sys, threading, time, types, ttfd
from ttfd import stream

sys.modules["keeper"] = types.ModuleType("keeper")
session = ttfd.connect(sys.argv[1], reconnect_for=300)
sys.modules["keeper"].buffer = session.allocate_dram(4096)
connecting = threading.Event()

def never_connects(*_):
    connecting.set()
    time.sleep(10 * {EXIT_S})

stream.make_channel = never_connects
os.kill({own_daemon.process.pid}, signal.SIGKILL)
assert connecting.wait({EXIT_S})
print("exits")
""", own_daemon.address)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "exits\n", "")


def test_failed_reading_thread_ends_the_session(daemon, monkeypatch):
    failures = []
    monkeypatch.setattr(threading, "excepthook", lambda arguments: failures.append(arguments.exc_type))
    session = ttfd.connect(daemon.address)
    connection = session._connection  # pylint: disable=protected-access

    def fails(_):
        raise RuntimeError("a defect of the client")

    monkeypatch.setattr(connection, "_handle", fails)
    with pytest.raises(ttfd.Error) as ended:
        session.allocate_dram(4096)
    assert ended.value.code == ttfd.Code.INTERNAL
    connection.abandon()
    assert failures == [RuntimeError]


@contextlib.contextmanager
def stopped_once_waiting(daemon):
    """What `on_waiting` has to do for the daemon to be silent from then on."""
    try:
        yield lambda _: daemon.process.send_signal(signal.SIGSTOP)
    finally:
        daemon.process.send_signal(signal.SIGCONT)


def test_lease_wait_has_a_deadline_of_its_own(own_daemon):
    with ttfd.connect(own_daemon.address, lease=ttfd.Lease()), stopped_once_waiting(own_daemon) as stop:
        with pytest.raises(ttfd.Error) as ended:
            ttfd.connect(own_daemon.address, lease=ttfd.Lease(wait=5.0), connect_timeout=2, on_waiting=stop)
    assert (ended.value.code, ended.value.reason) == (ttfd.Code.UNAVAILABLE, "UNREACHABLE")
    assert "7.0 s" in ended.value.message


def test_on_waiting_may_raise(own_daemon):
    holder = ttfd.connect(own_daemon.address, lease=ttfd.Lease())

    def waiting(_):
        holder.close()
        raise RuntimeError("a defect of the user's function")

    with ttfd.connect(own_daemon.address, lease=ttfd.Lease(wait=EXIT_S), on_waiting=waiting) as session:
        assert session.lease_token
