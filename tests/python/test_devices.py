"""One daemon with several cards: sessions on each, and what one card's hang or reset leaves to the others."""

import contextlib
import json
import threading

import numpy as np
import pytest

import ttfd
from conftest import KERNELS, Daemon, eventually

LINKED, BEHIND = "sim:cluster=1x2", "sim:cluster=1x2,remote=1"  # both chips with ports; chip 1 behind chip 0


@contextlib.contextmanager
def daemon_of(*devices):
    daemon = Daemon(devices)
    try:
        yield daemon
    finally:
        daemon.end()


def devices_of(daemon):
    return json.loads(daemon.ctl("status", "--json").stdout)["devices"]


def hang(address, device):
    """A launch that hangs on this card; returns its error."""
    with ttfd.connect(address, device=device) as session:
        session.on_print = None
        cores = [ttfd.CoreRange(1, 2, 2, 2)]
        kernel = session.load_kernel(KERNELS / "print_brisc.elf", name="waiter")
        program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, cores)], semaphores=[ttfd.Semaphore(0, 0, cores)])
        with pytest.raises(ttfd.Error) as raised:
            session.launch(program, [ttfd.Arguments(common=[1, 1, 5])])
        return raised.value


class Bystander(threading.Thread):
    """A session on a card that writes and reads without end. It must see no error and none of its bytes changed."""

    def __init__(self, address, device):
        super().__init__()
        self.address, self.device, self.rounds, self.error, self.ending = address, device, 0, None, threading.Event()

    def run(self):
        try:
            with ttfd.connect(self.address, device=self.device) as session:
                kept, buffer = session.allocate_dram(1 << 16), session.allocate_dram(1 << 18)
                mark = np.random.default_rng(self.device).bytes(1 << 16)
                session.queue.write(kept, mark)
                while not self.ending.is_set():
                    data = np.random.default_rng(self.rounds).bytes(1 << 18)
                    session.queue.write(buffer, data)
                    assert bytes(session.queue.read(buffer)) == data
                    self.rounds += 1
                assert bytes(session.queue.read(kept)) == mark
        except Exception as error:  # pylint: disable=broad-except
            self.error = error

    def more(self):
        """Waits for further rounds."""
        before = self.rounds
        eventually(lambda: self.error or self.rounds > before + 1)
        assert self.error is None

    def end(self):
        self.ending.set()
        self.join()
        assert self.error is None


@pytest.mark.parametrize("device", [LINKED, BEHIND])
def test_a_card_serves_while_the_other_hangs_or_is_reset(device):
    with daemon_of(device) as daemon:
        for disturbed in (0, 1):
            bystander = Bystander(daemon.address, 1 - disturbed)
            bystander.start()
            bystander.more()
            error = hang(daemon.address, disturbed)
            assert error.reason == "HANG"
            bystander.more()
            assert daemon.ctl("reset", "--device", str(disturbed)).returncode == 0
            bystander.more()
            bystander.end()
            assert [one["resets"] for one in devices_of(daemon)] == [2, 0 if disturbed == 0 else 2]
            assert json.loads(daemon.ctl("hang", "list", "--json").stdout)["reports"][-1]["report"] == error.hang_report
            assert f"HANG {error.hang_report} of device {disturbed}," in daemon.ctl("hang", "last").stdout


def test_sessions_name_a_card_or_take_the_one_with_the_fewest(monkeypatch):
    with daemon_of("sim:board=p100a", "sim:board=p150") as daemon:
        assert [(one["index"], one["board"], one["state"]) for one in devices_of(daemon)] == [(0, "p100a", "ready"), (1, "p150", "ready")]
        with contextlib.ExitStack() as sessions:
            chosen = [sessions.enter_context(ttfd.connect(daemon.address)).device.index for _ in range(3)]
            assert chosen == [0, 1, 0]
            named = sessions.enter_context(ttfd.connect(daemon.address, device=0))
            assert (named.device.index, named.device.board, len(named.devices)) == (0, "p100a", 2)
            monkeypatch.setenv("TTFD_DEVICE", "1")
            assert sessions.enter_context(ttfd.connect(daemon.address)).device.board == "p150"
            listed = json.loads(daemon.ctl("sessions", "--json").stdout)["sessions"]
            assert [one["devices"] for one in listed] == [[0], [1], [0], [0], [1]]
        with pytest.raises(ttfd.Error) as raised:
            ttfd.connect(daemon.address, device=2)
        assert (raised.value.code, raised.value.field) == (ttfd.Code.NOT_FOUND, "hello.device") and "devices 0 to 1" in str(raised.value)


def test_commands_of_ttfdctl_name_a_card():
    with daemon_of(BEHIND) as daemon:
        for device in ("0", "1"):
            assert daemon.ctl("--device", device, "run", KERNELS / "empty.elf", "--cores", "all").returncode == 0
        assert [one["launches_completed"] for one in devices_of(daemon)] == [1, 1]
        assert daemon.ctl("lease", "--device", "1", "--", "true").returncode == 0
        with ttfd.connect(daemon.address, device=1, lease=ttfd.Lease()):
            (lease,) = json.loads(daemon.ctl("leases", "--json").stdout)["leases"]
            assert (lease["device"], lease["workers"]) == (1, [])
            assert daemon.ctl("--device", "0", "run", KERNELS / "empty.elf", "--cores", "all").returncode == 0, "the other card is free"
        missing = daemon.ctl("reset", "--device", "2")
        assert missing.returncode == 4 and "there is no device 2; this daemon serves devices 0 to 1" in missing.stderr
