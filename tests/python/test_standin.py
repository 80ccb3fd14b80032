"""The daemon on a card behind a stand-in for the vendor's driver (tests/support/ttfd_on_standin.cc)."""

import importlib
import json
import re
import signal
import subprocess

import numpy as np
import pytest

import ttfd
from conftest import BUILD, SOURCE, Daemon, eventually

STANDIN = "tests/ttfd_on_standin"
CARD = "kmd:/dev/tenstorrent/0"


def test_three_clients_of_the_demo_are_served(monkeypatch, capfd):
    monkeypatch.syspath_prepend(SOURCE / "client/demo")
    clients = importlib.import_module("clients")
    monkeypatch.setitem(clients.daemon.BUILT, "ttfd", STANDIN)
    monkeypatch.setattr(clients, "Daemon", lambda build, _: clients.daemon.Daemon(build, CARD))
    assert clients.run(BUILD) == 0
    assert capfd.readouterr().out.splitlines()[-1] == "demo: 3/3 clients verified"


@pytest.fixture(name="daemon")
def on_standin():
    """A daemon that finds its card by itself."""
    daemon = Daemon(device="auto", program=BUILD / STANDIN)
    yield daemon
    daemon.end()


def state_of(daemon):
    """What `ttfdctl status --json` says."""
    return json.loads(daemon.ctl("status", "--json").stdout)


def test_status_shows_what_the_card_reports(daemon):
    card = state_of(daemon)["devices"][0]["card"]
    assert (card["node"], card["pci_address"], card["driver_version"]) == ("/dev/tenstorrent/0", "0000:03:00.0", "2.10.0")
    assert (card["temperature_celsius"], card["aiclk_mhz"], card["power_watts"]) == (40, 1350, None)  # as the model has them
    assert card["link"] == {"speed": "16.0 GT/s PCIe", "max_speed": "32.0 GT/s PCIe", "width": "16", "max_width": "16"}
    shown = daemon.ctl("status").stdout
    assert re.search(r"^temperature +40[.]0 C$", shown, re.MULTILINE)
    assert re.search(r"^PCIe link +16[.]0 GT/s PCIe x16 [(]at most 32[.]0 GT/s PCIe x16[)]$", shown, re.MULTILINE)


def test_the_tests_for_a_card_are_the_list_of_the_document():
    shown = subprocess.run(["ctest", "--test-dir", BUILD, "-N", "-L", "hardware"], capture_output=True, text=True, timeout=60, check=True).stdout
    documented = re.findall(r"^\| `(hardware[.]\d+[.]\w+)`", (SOURCE / "docs/bring-up.md").read_text(), re.MULTILINE)
    assert re.findall(r"Test +#\d+: (hardware\S+)", shown) == documented != []


@pytest.mark.parametrize("driver, config, device, code, says", [
    ("driver=1.34.0", "", "auto", 12, "the tenstorrent driver is 1.34.0"),
    ("iommu=off,pages=2M", "issue_ring_bytes = 67108864", "auto", 16, "the host has no IOMMU on for the card"),
    ("iommu=off", "boot_ms = 1", "auto", 22, "boot: "),
    ("iommu=off", "", "kmd:0000:09:00.0", 11, "there is no node for PCI address 0000:09:00.0"),
])
def test_a_card_that_cannot_be_served_is_an_exit_code(monkeypatch, tmp_path, driver, config, device, code, says):
    monkeypatch.setenv("TTFD_TEST_DEVICE", f"kmd-standin:{driver}")
    (tmp_path / "ttfd.toml").write_text(f"[device]\n{config}\n")
    ended = subprocess.run([BUILD / STANDIN, "--config", tmp_path / "ttfd.toml", "--socket", tmp_path / "ttfd.sock", "--device", device],
                           capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == code, ended.stderr
    assert says in ended.stderr.splitlines()[-1]


@pytest.mark.parametrize("shared, may", [("false", "only one user and root may submit"), ("true", "several users may")])
def test_without_an_iommu_status_says_who_may_submit(monkeypatch, shared, may):
    monkeypatch.setenv("TTFD_TEST_DEVICE", "kmd-standin:iommu=off")
    daemon = Daemon(device=CARD, config=f"[device]\nshare_without_iommu = {shared}\n", program=BUILD / STANDIN)
    warning, = state_of(daemon)["warnings"]
    assert "the IOMMU is not on for a card" in warning and may in warning
    assert f"warning: {warning}\n" in daemon.ctl("status").stdout
    assert f"warning {warning}" in daemon.log()
    daemon.end()


def test_a_card_that_goes_ends_its_sessions_and_is_served_when_it_is_back(daemon):
    assert state_of(daemon)["devices"][0]["backend"] == "kmd"
    assert daemon.log().splitlines()[0].endswith("info device kmd:/dev/tenstorrent/0 (auto: the card of this host)")
    assert state_of(daemon)["device"] == CARD
    session = ttfd.connect(daemon.address)
    buffer = session.allocate_dram(4096)
    session.queue.write(buffer, np.arange(1024, dtype=np.uint32))

    daemon.process.send_signal(signal.SIGUSR1)
    with pytest.raises(ttfd.Error) as raised:
        while True:
            session.queue.read(buffer)
    assert (raised.value.code, raised.value.reason) == (ttfd.Code.UNAVAILABLE, "DEVICE_RESET")
    assert "was reset or removed by another process" in raised.value.message
    with pytest.raises(ttfd.Error, match="was reset or removed by another process") as raised:
        ttfd.connect(daemon.address)
    assert raised.value.reason == "DEVICE_RESET"
    assert state_of(daemon)["state"] == "failed"

    daemon.process.send_signal(signal.SIGUSR2)
    eventually(lambda: state_of(daemon)["state"] == "ready")
    with ttfd.connect(daemon.address) as session:
        buffer = session.allocate_dram(4096)
        session.queue.write(buffer, np.full(1024, 7, np.uint32))
        assert set(session.queue.read(buffer, np.uint32)) == {7}
    assert daemon.process.poll() is None


def test_a_chip_that_answers_all_ones_is_reset(daemon):
    session = ttfd.connect(daemon.address)
    buffer = session.allocate_dram(4096)
    daemon.process.send_signal(signal.SIGRTMIN)
    with pytest.raises(ttfd.Error) as raised:
        while True:
            session.queue.read(buffer)
    assert (raised.value.code, raised.value.reason) == (ttfd.Code.UNAVAILABLE, "DEVICE_RESET")
    assert "answers all ones" in raised.value.message
    eventually(lambda: state_of(daemon)["state"] == "ready")
    with ttfd.connect(daemon.address) as session:
        buffer = session.allocate_dram(4096)
        session.queue.write(buffer, np.full(1024, 7, np.uint32))
        assert set(session.queue.read(buffer, np.uint32)) == {7}
