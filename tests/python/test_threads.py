"""Ctrl-C, callbacks, the garbage collector and arrays in the binding of libttfd: what threads may do at any time."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
import time
import tracemalloc
import weakref

import numpy as np
import pytest

import ttfd
from conftest import EVENTUALLY_S, KERNELS, eventually, join, start_thread

SOON_S = 5  # for Ctrl-C; nothing that is interrupted here would end before its timeout of 60 s
LARGE = 32 << 20  # more than the daemon's window


@contextlib.contextmanager
def silent(daemon):
    """The daemon does not answer inside of this."""
    daemon.process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, daemon.process.pid, os.WSTOPPED)  # all of its threads
    try:
        yield
    finally:
        daemon.process.send_signal(signal.SIGCONT)


class Things:
    """Objects that the calls below need."""

    def __init__(self, address):
        self.address = address
        self.session = ttfd.connect(address)
        self.queue = self.session.queue
        self.buffer = self.session.allocate_dram(4096)
        self.large = self.session.allocate_dram(LARGE)
        self.array = np.ones(LARGE, np.uint8)
        self.kernel = self.session.load_kernel(KERNELS / "empty.elf")
        self.program = self.session.create_program([ttfd.KernelUse(self.kernel, "brisc", (0, 0))])
        self.trace = self.queue.record_trace([ttfd.Launch(self.program)])

    def fill_window(self):
        """Enqueues until there is no space."""
        while True:
            self.queue.enqueue_write(self.buffer, self.array[:4096])


CALLS = {
    "launch": lambda t: t.session.launch(t.program),
    "read": lambda t: t.buffer.read(),
    "read large": lambda t: t.large.read(),
    "write": lambda t: t.buffer.write(t.array[:4096]),
    "write large": lambda t: t.large.write(t.array),
    "fill": lambda t: t.queue.fill(t.buffer, 1),
    "record": lambda t: t.queue.record_trace([ttfd.Launch(t.program)]),
    "replay": lambda t: t.queue.replay(t.trace),
    "wait": lambda t: t.queue.wait(t.queue.enqueue_barrier()),
    "finish": lambda t: (t.queue.enqueue_barrier(), t.queue.finish()),
    "enqueue": Things.fill_window,
    "allocate": lambda t: t.session.allocate_dram(4096),
    "load": lambda t: t.session.load_kernel(KERNELS / "echo_brisc.elf"),
    "program": lambda t: t.session.create_program([ttfd.KernelUse(t.kernel, "brisc", (0, 0))]),
    "queue": lambda t: t.session.open_queue(transfer=True),
    "connect": lambda t: ttfd.connect(t.address, connect_timeout=60),
    "lease": lambda t: ttfd.connect(t.address, connect_timeout=60, lease=ttfd.Lease()),
}


def interrupt_soon():
    """Ctrl-C, once the call waits."""
    def interrupt():
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    start_thread(interrupt)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_ctrl_c_interrupts_every_call_and_leaves_the_session_usable(own_daemon, call):
    things = Things(own_daemon.address)
    with silent(own_daemon):
        interrupt_soon()
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            call(things)
        assert time.monotonic() - start < SOON_S
    things.buffer.write(things.array[:4096])
    assert (things.buffer.read() == 1).all() and things.queue.error is None
    things.session.close()


def test_a_write_that_ctrl_c_interrupts_still_arrives(own_daemon):
    things = Things(own_daemon.address)
    with silent(own_daemon):
        interrupt_soon()
        with pytest.raises(KeyboardInterrupt):
            things.large.write(things.array)
        things.array[:] = 2  # the rest was copied
    things.queue.finish()
    assert (things.large.read() == 1).all()
    things.session.close()


def test_close_sends_the_rest_of_an_interrupted_write(own_daemon):
    things = Things(own_daemon.address)
    with silent(own_daemon):
        interrupt_soon()
        with pytest.raises(KeyboardInterrupt):
            things.large.write(things.array)
    things.session.close()
    assert things.queue.completed == things.queue.submitted


def test_ctrl_c_interrupts_close_and_the_session_ends(own_daemon):
    things = Things(own_daemon.address)
    with silent(own_daemon):
        interrupt_soon()
        with pytest.raises(KeyboardInterrupt):
            things.session.close()
        things.session.__exit__(KeyboardInterrupt, None, None)
    with pytest.raises(ttfd.Error) as ended:
        things.session.launch(things.program)
    assert ended.value.code == ttfd.Code.CANCELLED
    eventually(lambda: '"sessions": 0' in own_daemon.ctl("status", "--json").stdout)


def test_other_threads_run_while_one_waits(own_daemon):
    things = Things(own_daemon.address)
    counted = []

    def count():
        while len(counted) < 1000:
            counted.append(time.monotonic())

    with silent(own_daemon):
        counting = start_thread(count)
        with pytest.raises(ttfd.Error) as late:
            things.queue.wait(things.queue.enqueue_barrier(), 1.0)
        assert late.value.reason == "WAIT" and len(counted) == 1000
        join(counting)
    things.session.close()


def printing(session):
    """A launch that prints a line."""
    kernel = session.load_kernel(KERNELS / "print_brisc.elf")
    program = session.create_program([ttfd.KernelUse(kernel, "brisc", (0, 0))], semaphores=[ttfd.Semaphore(0, 0, (0, 0))])
    return program, [ttfd.Arguments(common=[1, 0, 5])]


class Cycle:
    """Garbage that only the collector finds."""

    def __init__(self, kept):
        self.kept, self.itself = kept, self


def test_resources_are_freed_on_any_thread_at_any_time(session):
    """By hand while the session's thread is in a callback, by the collector on that thread and on another."""
    program, arguments = printing(session)
    buffers = [session.allocate_dram(4096) for _ in range(5)]
    inside, leave = threading.Event(), threading.Event()

    def collects(_):
        Cycle(buffers.pop())
        gc.collect()
        inside.set()
        leave.wait(EVENTUALLY_S)

    session.on_print = collects
    launched = session.queue.enqueue_launch(program, arguments)
    session.queue.flush()
    assert inside.wait(EVENTUALLY_S)
    freeing = start_thread(lambda: (buffers.pop().free(), Cycle(buffers.pop()), gc.collect()))
    freeing.join(10)
    blocked = freeing.is_alive()
    leave.set()
    assert not blocked
    session.queue.wait(launched)
    with session.allocate_dram(4096):
        pass


def test_a_session_dropped_in_its_own_callback_ends(daemon):
    session = ttfd.connect(daemon.address, client_name="dropped")
    program, arguments = printing(session)
    inside, dropped, threads = threading.Event(), threading.Event(), []
    session.on_print = lambda _: (threads.append(threading.get_native_id()), inside.set(), dropped.wait(EVENTUALLY_S))
    session.queue.enqueue_launch(program, arguments)
    session.queue.flush()
    assert inside.wait(EVENTUALLY_S)
    kept = weakref.ref(session)
    del session  # the call on the session's thread has the last reference
    assert kept() is not None
    dropped.set()
    eventually(lambda: kept() is None)
    eventually(lambda: not os.path.exists(f"/proc/self/task/{threads[0]}"))
    assert "dropped" not in daemon.ctl("sessions", "list", "--json").stdout


def test_a_callback_that_calls_its_session_gets_an_error(session):
    program, arguments = printing(session)
    errors = []

    def calls(_):
        for call in (session.queue.finish, session.close, lambda: session.allocate_dram(64)):
            try:
                call()
            except ttfd.Error as error:
                errors.append(error.code)

    session.on_print = calls
    session.launch(program, arguments)
    assert errors == [ttfd.Code.FAILED_PRECONDITION] * 3


def test_on_waiting_may_raise_and_close_other_sessions(own_daemon, monkeypatch):
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: raised.append(unraisable.exc_type))
    holder = ttfd.connect(own_daemon.address, lease=ttfd.Lease())

    def waiting(_):
        holder.close()
        raise RuntimeError("a defect of the user's function")

    with ttfd.connect(own_daemon.address, lease=ttfd.Lease(wait=60), on_waiting=waiting) as session:
        assert session.lease_token
    assert raised and set(raised) == {RuntimeError}


def test_an_array_that_is_read_into_lives_until_its_read_has_ended(own_daemon):
    things = Things(own_daemon.address)
    things.buffer.write(things.array[:4096])
    into = np.zeros(4096, np.uint8)
    kept = weakref.ref(into)
    with silent(own_daemon):
        position = things.queue.enqueue_read(things.buffer, into)
        things.queue.flush()
        del into
        gc.collect()
        assert kept() is not None
    things.queue.wait(position)
    assert kept() is None
    things.session.close()


def test_arrays_are_not_copied(session):
    array = np.ones(LARGE, np.uint8)
    buffer = session.allocate_dram(LARGE)
    tracemalloc.start()  # of NumPy's memory, too
    try:
        buffer.write(array)
        session.queue.finish()
        _, peak = tracemalloc.get_traced_memory()
        assert peak < 1 << 20, "writing"
        session.queue.wait(session.queue.enqueue_read(buffer, array))
        assert tracemalloc.get_traced_memory()[1] < 1 << 20, "reading into an array"
        back = buffer.read(np.float32)
        assert back.nbytes <= tracemalloc.get_traced_memory()[1] < LARGE + (1 << 20), "reading"
    finally:
        tracemalloc.stop()
