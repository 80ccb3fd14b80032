"""Fault injection around the daemon: the stream of a client, the ELF files it loads, the disk.

The n-th bytes fail, come late, are corrupted, or are the first that never come; for some n, or for all of them with
TTFD_FAULT_POINTS=all. Afterwards nothing has leaked and another client's data is what it was.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import ttfd
from conftest import KERNELS, START_TIMEOUT_S, Daemon, eventually, join, start_thread

ALL = os.environ.get("TTFD_FAULT_POINTS") == "all"
STEP = 32  # bytes of a stream between points
TO_DAEMON, TO_CLIENT = 0, 1
SECONDS = 10  # for anything to end


def points(count, most):
    """1 to count, or about `most` of them."""
    return range(1, count + 1) if ALL else range(1, count + 1, max(count // most, 1))


class Proxy:
    """Stands between one client and the daemon's socket, with one fault at the n-th STEP bytes of a direction."""

    def __init__(self, daemon, action="none", direction=TO_DAEMON, nth=0):
        self.action, self.direction, self.at = action, direction, nth * STEP
        self.passed = [0, 0]
        self.dead = False
        self.path = str(daemon.folder / "proxy.sock")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        self.ends = [socket.socket(socket.AF_UNIX)]
        self.ends[0].connect(str(daemon.folder / "ttfd.sock"))
        self.lock = threading.Lock()  # guards `ends`
        self.closed = False
        self.threads = [start_thread(self._accept)]

    def _accept(self):
        try:
            client, _ = self.listener.accept()
        except OSError:
            return
        with self.lock:
            self.ends.append(client)
            if self.closed:
                return
        for source, to, direction in ((client, self.ends[0], TO_DAEMON), (self.ends[0], client, TO_CLIENT)):
            self.threads.append(start_thread(self._carry, source, to, direction))

    def _carry(self, source, to, direction):
        while True:
            try:
                data = source.recv(65536)
                if not data:
                    break
                if not self._deliver(to, direction, data):
                    break
            except OSError:
                break
        self.close()

    def _deliver(self, to, direction, data):
        """False: the connection ends here."""
        before = self.passed[direction]
        self.passed[direction] += len(data)
        if self.dead:
            return True
        hit = direction == self.direction and before < self.at <= self.passed[direction]
        if self.action == "none" or not hit:
            to.sendall(data)
            return True
        cut = self.at - before - 1
        if self.action == "delay":
            to.sendall(data[:cut])
            time.sleep(0.02)
            to.sendall(data[cut:])
            return True
        if self.action == "corrupt":
            to.sendall(data[:cut] + bytes([data[cut] ^ 1 << self.at // STEP % 8]) + data[cut + 1:])
            return True
        to.sendall(data[:cut])
        if self.action == "kill":  # nobody hears from the other side any more, then both are gone
            self.dead = True
            start_thread(self._close_later)
            return True
        return False

    def _close_later(self):
        time.sleep(0.05)
        self.close()

    def close(self):
        """Of both connections. Their threads may still use them, so they are closed at the end."""
        with self.lock:
            self.closed = True
            for end in [*self.ends, self.listener]:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def end(self):
        """Waits for the threads."""
        self.close()
        join(*self.threads)
        for end in [*self.ends, self.listener]:
            end.close()


class Witness:
    """Another client, whose data must not change; and what the daemon has when only it is there."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.session = ttfd.connect(daemon.address, client_name="witness")
        self.words = np.random.default_rng(5).integers(0, 1 << 32, 8192, dtype=np.uint32)
        self.buffer = self.session.allocate_dram(self.words.nbytes)
        self.buffer.write(self.words)
        self.memory = self.status()["devices"][0]["memory"]

    def status(self):
        """ttfdctl status."""
        return json.loads(self.daemon.ctl("status", "--json").stdout)

    def alone(self):
        """Is nobody else there?"""
        listed = json.loads(self.daemon.ctl("sessions", "list", "--json").stdout)["sessions"]
        return [entry["session"] for entry in listed] == [self.session.id]

    def check(self):
        """Nothing has leaked, nothing has changed."""
        assert np.array_equal(self.buffer.read(np.uint32), self.words)

    def check_alone(self):
        """The same, and the other client is gone."""
        eventually(self.alone)
        assert self.status()["devices"][0]["memory"] == self.memory
        self.check()


@pytest.fixture(scope="module")
def witness(daemon):
    """One for the tests of this file."""
    one = Witness(daemon)
    yield one
    one.session.close()


class FaultyClient:
    """Runs the scenario through one proxy after another, in a process that is started anew when it has died."""

    def __init__(self):
        self.process, self.died = None, 0

    def run(self, proxy, patience=2):
        """What the scenario brought, whatever becomes of it: its result, or None. It has `patience` seconds."""
        if self.process is None:
            # Its stderr is pytest's own, for what it says about its threads.
            self.process = subprocess.Popen([sys.executable, "-B", pathlib.Path(__file__).with_name("faulty_client.py")],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            assert self._answers_within(START_TIMEOUT_S)
            assert self.process.stdout.readline() == "ready\n"
        self.process.stdin.write(f"unix:{proxy.path}\n")
        self.process.stdin.flush()
        answered = self._answers_within(patience)  # what was corrupted may have told both sides to wait
        proxy.end()
        if not answered and not self._answers_within(SECONDS):
            self.process.send_signal(signal.SIGUSR1)
            time.sleep(1)
            self.end()
            pytest.fail("the client goes on without a connection; where its threads are is above")
        line = self.process.stdout.readline()
        if line:
            result = json.loads(line)
            return None if result is None else np.array(result, dtype=np.uint32)
        self.died += 1
        self.end()
        return None

    def _answers_within(self, seconds):
        return bool(select.select([self.process.stdout], [], [], seconds)[0])

    def end(self):
        """Ends the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


@pytest.fixture(scope="module")
def faulty():
    """One for the tests of this file."""
    client = FaultyClient()
    yield client
    client.end()


@pytest.mark.parametrize("direction", [TO_DAEMON, TO_CLIENT])
@pytest.mark.parametrize("action", ["fail", "delay", "corrupt", "kill"])
def test_a_stream_that_breaks_costs_its_session_alone(daemon, witness, faulty, action, direction):
    clean = Proxy(daemon)
    expected = faulty.run(clean, SECONDS)
    assert expected is not None and (expected == 1023).all()
    tried, died = 0, faulty.died
    for nth in points(clean.passed[direction] // STEP, 4):
        result = faulty.run(Proxy(daemon, action, direction, nth), SECONDS if action == "delay" else 2)
        if action == "delay":
            assert np.array_equal(result, expected), f"point {nth}"
        if action in ("fail", "kill") and result is not None:
            assert np.array_equal(result, expected), f"point {nth}"
        witness.check()
        tried += 1
    witness.check_alone()
    assert faulty.died == died or (action, direction) == ("corrupt", TO_CLIENT), "only what is corrupted may end a process"
    print(f"stream {action} {'to daemon' if direction == TO_DAEMON else 'to client'}: {tried} points, "
          f"{faulty.died - died} ended the client's process")


def test_a_broken_elf_file_is_refused_or_loaded_and_leaves_nothing(daemon, witness):
    elf = (KERNELS / "vector_add.elf").read_bytes()
    tried = refused = 0
    with ttfd.connect(daemon.address, client_name="elf") as session:
        for nth in points(len(elf), 150):
            flipped = elf[:nth - 1] + bytes([elf[nth - 1] ^ 1 << nth % 8]) + elf[nth:]
            for broken in (flipped, elf[:nth - 1]):
                tried += 1
                try:
                    session.load_kernel(broken).free()
                except ttfd.Error as error:
                    assert error.reason in ("KERNEL_REFUSED", "INVALID"), error
                    refused += 1
        session.queue.wait(session.queue.enqueue_barrier())
        usage = json.loads(daemon.ctl("limits", "--json").stdout)["usage"]
        used = next({use["name"]: use["used"] for use in entry["uses"]} for entry in usage
                    if entry["session"] == session.id)
        assert (used["kernels"], used["kernel_bytes"]) == (0, 0)
    assert tried // 2 <= refused < tried  # what is cut is no ELF file; names may well be misspelt
    witness.check_alone()
    print(f"ELF: {tried} points, {refused} refused")


def ended_with_line(audit, number):
    """Whether the audit file ends with the line of this attempt; a thread of its own writes it, soon after."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        text = audit.read_text()
        if text.endswith("}\n") and json.loads(text.splitlines()[-1])["id"] == number:
            return True
        time.sleep(0.001)
    return False


def test_a_disk_that_is_full_at_any_byte_costs_lines_alone(tmp_path):
    audit = tmp_path / "audit.log"
    daemon = Daemon(config=f'[log]\naudit_file = "{audit}"\n')
    try:
        watcher = Witness(daemon)
        limits = resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE)
        tried = whole = 0
        for extra in points(300, 12):
            size = (audit, daemon.folder / "log")[tried % 2].stat().st_size
            resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (size + extra, limits[1]))
            assert daemon.ctl("log-level", "info").returncode == 0
            watcher.check()
            resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, limits)
            assert daemon.ctl("log-level", "info").returncode == 0
            tried += 1
            whole += ended_with_line(audit, 2 * tried)
        assert whole == tried, "when there is room again, whole lines are written"
        assert daemon.process.poll() is None
        print(f"disk: {tried} points")
    finally:
        daemon.end()


def hang(daemon):
    """What a client is told whose kernel hangs."""
    with ttfd.connect(daemon.address, client_name="hangs", reconnect_for=0) as session:
        session.on_print = None
        cores = ttfd.first_cores(session.device.grid_x, 1)
        kernel = session.load_kernel(KERNELS / "print_brisc.elf")
        program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, cores)],
                                         semaphores=[ttfd.Semaphore(0, 0, cores)])
        with pytest.raises(ttfd.Error) as ended:
            session.launch(program, [ttfd.Arguments(common=[2, 1, 5])])
    assert (ended.value.code, ended.value.reason) == (ttfd.Code.ABORTED, "HANG")
    return ended.value


HANG_FILES = {"host.json", "records.txt", "log.txt", "device.json", "card.json", "report.json", "report.txt", "summary.json"}


def test_a_disk_that_is_full_at_any_byte_of_a_hang_report_costs_parts_of_it_alone(tmp_path):
    folder = tmp_path / "hangs"
    daemon = Daemon(config=f'[hangs]\nfolder = "{folder}"\nreports = 4\nquarantine_hangs = 0\n')

    def kept():
        report = newest()["report"]  # answers when the files are written, which a thread of its own does
        return {file.name: file.stat().st_size for file in (folder / f"hang-{report}").iterdir()}

    def newest():
        reports = json.loads(daemon.ctl("hang", "list", "--json").stdout)["reports"]
        assert len(reports) <= 4
        return reports[-1]

    try:
        watcher = Witness(daemon)
        assert hang(daemon).hang_report == newest()["report"]
        whole = kept()
        assert set(whole) == HANG_FILES
        largest = max(whole.values())
        limits = resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE)
        tried = parts = 0
        # 400: enough for the summary alone, which then is not kept either.
        for room in (0, 400, *range(1, largest, largest // (300 if ALL else 4))):
            resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (room, limits[1]))
            error = hang(daemon)
            files = kept()
            entry = newest()
            assert error.hang_report == (entry["report"] if files else ""), "no id of what cannot be shown"
            assert all(size <= room for size in files.values()) and set(files) <= HANG_FILES
            assert entry["complete"] == (set(files) == HANG_FILES)
            known_early = HANG_FILES - {"report.json", "report.txt", "summary.json"}
            assert ("not all of the hang report could be kept" in str(error)) == (bool(files) and not known_early <= set(files))
            if not files:
                assert "no hang report could be kept" in str(error)
                shown = daemon.ctl("hang", "show", entry["report"])
                assert shown.returncode != 0 and "could be kept" in shown.stderr
            watcher.check()
            resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, limits)
            assert hang(daemon).hang_report == newest()["report"]
            assert set(kept()) == HANG_FILES and newest()["complete"]
            watcher.check()
            tried += 1
            parts += 0 < len(files) < len(HANG_FILES)
        assert parts > 1
        watcher.check_alone()
        assert daemon.process.poll() is None
        print(f"disk under a hang report: {tried} points")
    finally:
        daemon.end()
