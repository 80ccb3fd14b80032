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
            assert (lease["devices"], lease["workers"]) == ([1], [])
            assert daemon.ctl("--device", "0", "run", KERNELS / "empty.elf", "--cores", "all").returncode == 0, "the other card is free"
        missing = daemon.ctl("reset", "--device", "2")
        assert missing.returncode == 4 and "there is no device 2; this daemon serves devices 0 to 1" in missing.stderr


# ---- Links between the devices of a lease.

SEGMENTS, PLACES, PLACE_BYTES, SEGMENT_BYTES = 40, 4, 34 * 1024, 4096  # more segments than a link buffers


@contextlib.contextmanager
def leased_pair(address):
    """Sessions on devices 0 and 1 under one lease of both."""
    with ttfd.connect(address, device=0, lease=ttfd.Lease(devices=[1, 0])) as first:
        with ttfd.connect(address, device=1, lease_token=first.lease_token) as second:
            yield first, second


def ends(session, index=0, worker=(0, 0), peer_worker=(0, 0), end=0, peer_end=0):
    """Both ends of a link from the session's device to another."""
    link = session.device.neighbours[index]
    return (ttfd.LinkPlace(session.device.index, link.channel, worker, end),
            ttfd.LinkPlace(link.device, link.peer_channel, peer_worker, peer_end))


def start_stream(session, place, sends, data=None, timeout=0.0):
    """Launches the kernel that sends or receives SEGMENTS over the link; returns its places and position."""
    x, y = place.worker
    cores = [ttfd.CoreRange(x, y, x, y)]
    places = session.allocate_l1(PLACES * PLACE_BYTES, PLACES * PLACE_BYTES, cores)
    if data is not None:
        places.write(data)
    report = session.allocate_l1(64, 64, cores)
    program = session.create_program([ttfd.KernelUse(session.load_kernel(KERNELS / "link_stream_ncrisc.elf"), ttfd.NCRISC, cores)])
    words = [place.end, SEGMENTS, SEGMENT_BYTES, places, PLACES, int(sends), report]
    position = session.queue.enqueue_launch(program, [ttfd.Arguments(common=words)], timeout=timeout)
    session.queue.flush()
    return places, position


def send_over(sender, receiver, link):
    """Random segments arrive as they were sent."""
    data = np.random.default_rng(1).integers(0, 1 << 32, PLACES * PLACE_BYTES // 4, dtype=np.uint32)
    received, taken = start_stream(receiver, link[1], sends=False)
    _, given = start_stream(sender, link[0], sends=True, data=data)
    receiver.queue.wait(taken)
    sender.queue.wait(given)
    expected = data.reshape(PLACES, -1)[:, :SEGMENT_BYTES // 4].copy()
    expected[:, 0] = np.arange(SEGMENTS - PLACES, SEGMENTS)  # the kernel numbers them
    np.testing.assert_array_equal(received.read(np.uint32).reshape(PLACES, -1)[:, :SEGMENT_BYTES // 4], expected)


def refused(session, links):
    with pytest.raises(ttfd.Error) as raised:
        session.queue.connect_links(links)
    return str(raised.value)


def test_kernels_of_two_devices_exchange_segments_while_the_lease_lasts():
    with daemon_of(LINKED) as daemon:
        with leased_pair(daemon.address) as (first, second):
            link = ends(first, worker=(3, 2), end=1, peer_end=3)
            first.queue.connect_links([link])
            send_over(first, second, link)
            send_over(second, first, link[::-1])
            moved = ends(first, worker=(3, 2), end=1, peer_worker=(5, 1))  # the same channel, to another worker
            first.queue.connect_links([moved, ends(first, 1, (3, 2), (5, 1), 2, 2)])
            send_over(first, second, moved)
            send_over(first, second, ends(first, 1, (3, 2), (5, 1), 2, 2))
            with pytest.raises(ttfd.Error, match="opens link end 3, which is not connected"):
                second.queue.wait(start_stream(second, link[1], sends=False, timeout=0.5)[1])  # device 0 might still end its wait
        with ttfd.connect(daemon.address, device=0) as session, pytest.raises(ttfd.Error, match="opens link end 1, which is not connected"):
            session.queue.wait(start_stream(session, link[0], sends=True)[1])


def test_links_that_cannot_be_connected_are_refused_by_name():
    with daemon_of(BEHIND) as daemon:
        with leased_pair(daemon.address) as (first, second):
            a, b = ends(first, 1)
            assert "daemon drives one of the chips" in refused(first, [ends(first)])
            assert f"0.{a.channel} leads to 1.{b.channel}" in refused(first, [(a, ends(first)[1])])
            assert "0.9 leads to no device" in refused(first, [(ttfd.LinkPlace(0, 9), b)])
            assert "link end 4" in refused(first, [(a, ttfd.LinkPlace(1, b.channel, end=4))])
            assert "worker (99,0)" in refused(first, [(ttfd.LinkPlace(0, a.channel, (99, 0)), b)])
            assert "device 2" in refused(first, [(a, ttfd.LinkPlace(2, b.channel))])
            assert "1 to 16" in refused(first, [])
            assert "1 to 16" in refused(first, [(a, b)] * 17)
            first.queue.connect_links([(a, b)])
            waits = start_stream(second, b, sends=False)[1]
            eventually(lambda: devices_of(daemon)[1]["hardware_queues"][0]["in_flight"] > 0)
            assert "kernels run on device 1" in refused(first, [(a, b)])
            start_stream(first, a, sends=True)
            second.queue.wait(waits)
        with ttfd.connect(daemon.address, device=0, lease=ttfd.Lease()) as alone:
            assert "under a lease of several devices" in refused(alone, [(a, b)])


def test_a_lease_of_several_devices_is_of_devices_that_links_join():
    with daemon_of("sim:cluster=1x2,remote=1,links=1", "sim") as daemon:
        def lease(**given):
            with pytest.raises(ttfd.Error) as raised:
                ttfd.connect(daemon.address, **given)
            return str(raised.value)
        assert "lead from device 0 to device 1" in lease(lease=ttfd.Lease(devices=[0, 1]))
        assert "named twice" in lease(lease=ttfd.Lease(devices=[0, 0]))
        assert "device 7" in lease(lease=ttfd.Lease(devices=[0, 7]))
        assert "device 1; the lease is of device 0" in lease(device=1, lease=ttfd.Lease(devices=[0]))
        assert "all their workers" in lease(lease=ttfd.Lease(devices=[0, 1], workers=[ttfd.CoreRange(0, 0, 1, 1)]))
