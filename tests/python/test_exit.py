"""No session of the Python client outlasts the interpreter, whatever its threads are doing then."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import time

import pytest

import ttfd
from conftest import KERNELS

EXIT_S = 60  # for a process that waits for nothing
PROMPT_S = 10  # for the end of sessions whose daemon does not answer


def run(script: str, *arguments: str) -> tuple[subprocess.CompletedProcess[str], float]:
    """The script in an interpreter of its own, to its end; and the seconds since it printed "exits"."""
    with subprocess.Popen([sys.executable, "-B", "-X", "faulthandler", "-c", script, *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        start = time.monotonic()
        out, err = process.communicate(timeout=EXIT_S)
        return subprocess.CompletedProcess(script, process.returncode, said + out, err), time.monotonic() - start


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
    ended, _ = run("""
import sys, ttfd
session = ttfd.connect(sys.argv[1], client_name="left open", reconnect_for=300)
buffer = session.allocate_dram(4096)
print("exits", flush=True)
""", daemon.address)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "left open" not in daemon.ctl("sessions", "list", "--json").stdout, "the daemon keeps nothing for it"


def test_exit_waits_for_no_daemon_that_is_away(own_daemon):
    # The buffer lies in a module that the interpreter clears last.
    ended, seconds = run("""
import os, signal, sys, time, types, ttfd
sys.modules["keeper"] = types.ModuleType("keeper")
session = ttfd.connect(sys.argv[1], reconnect_for=300)
sys.modules["keeper"].buffer = session.allocate_dram(4096)
os.kill(int(sys.argv[2]), signal.SIGKILL)
try:
    session.queue.wait(session.queue.enqueue_barrier(), 0.5)
except ttfd.Error as error:
    assert error.reason == "WAIT", error
print("exits", flush=True)
""", own_daemon.address, str(own_daemon.process.pid))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "exits\n", "")
    assert seconds < PROMPT_S


THREADS = """
import os, signal, sys, threading, time, ttfd
address, pid, work = sys.argv[1], int(sys.argv[2]), sys.argv[3]
sessions = [ttfd.connect(address, reconnect_for=300) for _ in range(4)]
begun = threading.Barrier(5)

def waits(session):
    os.kill(pid, signal.SIGSTOP)
    begun.wait()
    session.queue.wait(session.queue.enqueue_barrier(), 1000)

def repeats(session):
    begun.wait()
    while True:
        try:
            session.allocate_dram(4096).free()
        except ttfd.Error:
            pass

def connects(session):
    os.kill(pid, signal.SIGSTOP)
    begun.wait()
    ttfd.connect(address, connect_timeout=1000)

for session in sessions:
    threading.Thread(target=globals()[work], args=(session,), daemon=True).start()
begun.wait()
time.sleep(0.3)
print("exits", flush=True)
"""


@pytest.mark.parametrize("work", ["waits", "repeats", "connects"])
def test_exit_with_threads_inside_of_calls_is_prompt(own_daemon, work):
    ended, seconds = run(THREADS, own_daemon.address, str(own_daemon.process.pid), work)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "exits\n", "")
    assert seconds < PROMPT_S


def test_exit_does_not_wait_for_a_callback_that_never_returns(daemon):
    ended, seconds = run(f"""
import sys, threading, time, ttfd
inside = threading.Event()

def never_returns(line):
    inside.set()
    time.sleep({10 * EXIT_S})

session = ttfd.connect(sys.argv[1])
session.on_print = never_returns
kernel = session.load_kernel("{KERNELS}/print_brisc.elf")
program = session.create_program([ttfd.KernelUse(kernel, "brisc", (0, 0))], semaphores=[ttfd.Semaphore(0, 0, (0, 0))])
session.queue.enqueue_launch(program, [ttfd.Arguments(common=[1, 0, 5])])
session.queue.flush()
assert inside.wait({EXIT_S})
print("exits", flush=True)
""", daemon.address)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "exits\n", "")
    assert seconds < PROMPT_S


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
            ttfd.connect(own_daemon.address, lease=ttfd.Lease(wait=1.0), connect_timeout=2, on_waiting=stop)
    assert (ended.value.code, ended.value.reason) == (ttfd.Code.UNAVAILABLE, "UNREACHABLE")
    assert "3000 ms" in ended.value.message
