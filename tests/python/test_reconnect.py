"""The Python client finds its way back to its session, and says what is gone where it cannot."""

from __future__ import annotations

import contextlib
import os
import pathlib
import socket
import tempfile
import threading

import numpy as np
import pytest

import ttfd
from conftest import KERNELS, eventually


class Relay:
    """A unix socket before the daemon's that breaks when told to, after so many bytes in one direction."""

    def __init__(self, address: str) -> None:
        self.target = address.removeprefix("unix:")
        self.folder = tempfile.mkdtemp(prefix="ttfd_relay_")
        self.address = f"unix:{self.folder}/socket"
        self.left = {"up": 1 << 62, "down": 1 << 62}
        self.passed = {"up": 0, "down": 0}
        self.again = {"up": 0, "down": 0}
        self.cuts = 0
        self.refuse = False
        self.silent = False  # connections are accepted and never answered
        self.held: list[socket.socket] = []
        self.pairs: list[tuple[socket.socket, socket.socket]] = []
        self.lock = threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(f"{self.folder}/socket")
        self.listener.listen(16)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                daemon = socket.socket(socket.AF_UNIX)
                if self.refuse:
                    client.close()
                    continue
                if self.silent:
                    self.held.append(client)
                    continue
                daemon.connect(self.target)
                self.pairs.append((client, daemon))
                threading.Thread(target=self._pass, args=(client, daemon, "up"), daemon=True).start()
                threading.Thread(target=self._pass, args=(daemon, client, "down"), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, way: str) -> None:
        cut = False
        with contextlib.suppress(OSError):
            while not cut and (data := source.recv(65536)):
                with self.lock:
                    data = data[:self.left[way]]
                    self.left[way] -= len(data)
                    self.passed[way] += len(data)
                    if self.left[way] == 0:
                        self.left[way] = self.again[way] or 1 << 62
                        self.cuts += 1
                        cut = True
                sink.sendall(data)
        self.cut(source, sink)

    def cut(self, *ends: socket.socket) -> None:
        """Breaks these connections, or all."""
        for end in ends or [end for pair in self.pairs for end in pair]:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.listener.close()
        self.cut()
        self.cut(*self.held)
        os.unlink(f"{self.folder}/socket")
        pathlib.Path(self.folder).rmdir()


@pytest.fixture(name="relay")
def _relay(daemon):
    relay = Relay(daemon.address)
    yield relay
    relay.close()


def play(session: ttfd.Session) -> list:
    """Creation, data both ways, launches that count, an error and what follows it, a second queue; what was seen."""
    seen = []
    numbers = session.allocate_dram(200_000)
    data = np.arange(50_000, dtype=np.uint32)
    queue = session.queue
    queue.enqueue_write(numbers, data)
    kernel = session.load_kernel(KERNELS / "print_brisc.elf")
    program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, [ttfd.CoreRange(1, 1, 1, 1)])])
    lines = []
    session.on_print = lambda line: lines.append(line.text)
    for i in range(10):
        queue.enqueue_launch(program, [ttfd.Arguments(common=[3, 0, i])])
    seen.append(bool((numbers.read(np.uint32) == data).all()))
    bad = queue.enqueue_write(numbers, data[:16], 1)
    after = queue.enqueue_barrier()
    for position in (bad, after):
        with pytest.raises(ttfd.Error) as caught:
            queue.wait(position)
        seen.append((caught.value.code, caught.value.reason, position.value))
    queue.clear_error()
    other = session.open_queue(transfer=True)
    other.write(numbers, data[::-1], 0)
    seen.append(bool((numbers.read(np.uint32) == data[::-1]).all()))
    session.close()
    return seen + lines


@pytest.mark.parametrize("way", ["up", "down"])
def test_a_cut_anywhere_changes_nothing(daemon, relay, way):
    session = ttfd.connect(relay.address)
    before = relay.passed[way]
    whole = play(session)
    size = relay.passed[way] - before
    points = 60
    cuts = 0
    for point in range(points):
        session = ttfd.connect(relay.address, call_timeout=20)
        relay.left[way] = 1 + (size - 1) * point // points
        cuts -= relay.cuts
        assert play(session) == whole, point
        relay.left[way] = 1 << 62
        cuts += relay.cuts
    assert cuts >= points * 9 // 10
    eventually(lambda: '"sessions": 0' in daemon.ctl("status", "--json").stdout)


def test_what_is_gone_is_said_and_the_next_use_begins_anew(daemon, relay):
    session = ttfd.connect(relay.address)
    first, queue = session.id, session.queue
    buffer = session.allocate_dram(4096)
    relay.refuse = True
    relay.cut()
    assert daemon.ctl("sessions", "terminate", str(first)).returncode == 0
    relay.refuse = False
    with pytest.raises(ttfd.Error) as caught:
        queue.wait(queue.enqueue_barrier())
    assert (caught.value.code, caught.value.reason, caught.value.retryable) == (
        ttfd.Code.UNAVAILABLE, "SESSION_LOST", True)
    assert "gone: 1 buffer, 0 kernels, 0 programs, 0 traces" in caught.value.message
    again = session.allocate_dram(4096)
    assert session.id != first and again.handle != buffer.handle
    with pytest.raises(ttfd.Error) as caught:
        session.queue.write(buffer, np.zeros(16, np.uint32))
    assert caught.value.reason == "UNKNOWN_HANDLE"
    again.write(np.zeros(16, np.uint32))
    session.close()


def test_a_session_closed_while_its_connection_is_broken_leaves_nothing(daemon, relay):
    for _ in range(3):
        session = ttfd.connect(relay.address, reconnect_for=240)
        session.allocate_dram(4096)
        relay.cut()
        session.__exit__(RuntimeError, None, None)
    eventually(lambda: '"sessions": 0' in daemon.ctl("status", "--json").stdout)


@pytest.mark.parametrize("away", ["refuse", "silent"])
def test_a_daemon_that_is_away_for_too_long_is_a_lost_connection(relay, away):
    session = ttfd.connect(relay.address, reconnect_for=0.3)
    session.allocate_dram(4096)
    setattr(relay, away, True)
    relay.cut()
    with pytest.raises(ttfd.Error) as caught:
        session.queue.wait(session.queue.enqueue_barrier())
    assert (caught.value.reason, caught.value.retryable) == ("CONNECTION_LOST", True)
    setattr(relay, away, False)
    assert session.allocate_dram(4096).handle > 1
    session.close()
