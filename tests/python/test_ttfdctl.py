"""ttfdctl's promises: JSON that parses, exit codes that scripts can use, and a kernel run from the command line."""

import json
import re
import struct
import threading

import pytest

import ttfd
from conftest import KERNELS, Daemon


def as_json(result):
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_status_says_what_the_daemon_does(daemon):
    status = as_json(daemon.ctl("status", "--json"))
    assert status["state"] == "ready"
    assert status["devices"][0]["board"] == "p150"
    assert {use["kind"] for use in status["memory"]} == {"dram", "l1"}
    assert len(status["harts"]) == 6  # three a hardware queue
    text = daemon.ctl("status").stdout
    assert "ready" in text and "p150" in text


def test_status_counts_what_each_hardware_queue_has_done(daemon):
    with ttfd.connect(daemon.address) as session:
        buffer = session.allocate_dram(4096)
        transfer = session.open_queue(transfer=True)
        for queue in (session.queue, transfer):
            before = as_json(daemon.ctl("status", "--json"))["hardware_queues"]
            assert [entry["index"] for entry in before] == [0, 1]
            queue.fill(buffer, 1)
            after = as_json(daemon.ctl("status", "--json"))["hardware_queues"]
            more = [later["completed"] - earlier["completed"] for earlier, later in zip(before, after)]
            assert more[1 if queue is transfer else 0] > 0
            assert [entry["in_flight"] for entry in after] == [0, 0]
    text = daemon.ctl("status").stdout
    assert "CQ0" in text and "CQ1" in text


@pytest.mark.parametrize("group, shows", [("sessions", "list"), ("timeouts", "get"), ("hang", "list")])
def test_a_group_named_alone_shows_what_it_is_about(daemon, group, shows):
    alone = daemon.ctl(group, "--json")
    assert alone.returncode == 0
    assert as_json(alone).keys() == as_json(daemon.ctl(group, shows, "--json")).keys()


def test_health_and_devices(daemon):
    assert daemon.ctl("health").stdout == "SERVING\n"
    assert as_json(daemon.ctl("--json", "health", "ttfd.v1.Ttfd"))["status"] == "SERVING"
    devices = as_json(daemon.ctl("devices", "--json"))["devices"]
    assert devices[0]["grid_x"] * devices[0]["grid_y"] == 130


def test_sessions_are_listed_and_ended(daemon):
    session = ttfd.connect(daemon.address, client_name="to be ended")
    listed = as_json(daemon.ctl("sessions", "list", "--json"))["sessions"]
    assert [entry["client_name"] for entry in listed if entry["session"] == session.id] == ["to be ended"]
    assert "to be ended" in daemon.ctl("sessions", "list").stdout
    ended = daemon.ctl("sessions", "end", str(session.id), "--reason", "testing the end")
    assert ended.returncode == 0, ended.stderr
    with pytest.raises(ttfd.Error, match="testing the end"):
        session.queue.wait(session.queue.enqueue_barrier())
    again = daemon.ctl("sessions", "end", str(session.id))
    assert again.returncode == 4
    assert "NOT_FOUND" in again.stderr


def test_timeouts_are_read_and_set(daemon):
    before = as_json(daemon.ctl("timeouts", "get", "--json"))
    after = as_json(daemon.ctl("timeouts", "set", "--kernel", "4321", "--json"))
    assert after == {**before, "kernel_ms": 4321}
    assert "4321 ms" in daemon.ctl("timeouts", "get").stdout
    as_json(daemon.ctl("timeouts", "set", "--kernel", str(before["kernel_ms"]), "--json"))


def test_log_level_can_be_changed(daemon):
    assert daemon.ctl("log-level", "warning").returncode == 0
    assert daemon.ctl("log-level", "info").returncode == 0
    assert daemon.ctl("log-level", "loud").returncode == 2


def test_run_adds_two_files(daemon, tmp_path):
    words = [list(range(1024)), [7] * 1024]
    for name, values in zip("ab", words):
        (tmp_path / name).write_bytes(struct.pack("<1024I", *values))
    report = as_json(daemon.ctl(
        "run", KERNELS / "vector_add.elf", "--cores", "0,0-1,0", "--in", tmp_path / "a", "--in", tmp_path / "b", "--out",
        f"{tmp_path}/c:4K", "--cb", "0:4:2K", "--arg", "in0", "--arg", "in1", "--arg", "out0", "--arg", "2048",
        "--words-per-core", "2", "--per-core", "0,1,1,1", "--repeat", "3", "--json"))
    assert report["tiles"] == 2 and report["launches"] == 3
    assert struct.unpack("<1024I", (tmp_path / "c").read_bytes()) == tuple(a + 7 for a in range(1024))


def test_profile_shows_whose_functions_harts_run(daemon, tmp_path):
    folded = tmp_path / "folded"
    done = threading.Event()

    def launch_deep_calls():
        with ttfd.connect(daemon.address) as session:
            kernel = session.load_kernel(KERNELS / "overflow_stack.elf", name="deep")
            program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, [ttfd.CoreRange(2, 1, 2, 1)])])
            while not done.is_set():
                session.launch(program, [ttfd.Arguments(common=[12])])

    client = threading.Thread(target=launch_deep_calls)
    client.start()
    try:
        result = daemon.ctl("profile", "--seconds", "0.3", "--interval", "20", "--cores", "2,1", "-o", folded)
        assert result.returncode == 0 and "whole stacks, every 20 clocks" in result.stderr
        report = as_json(daemon.ctl("profile", "--seconds", "0.3", "--interval", "20", "--json"))
    finally:
        done.set()
        client.join()
    stacks = dict(line.rsplit(" ", 1) for line in folded.read_text().splitlines())
    assert any(re.fullmatch(r"program \d+ of session \d+ \(.*\);deep;BRISC;Deeper(;Deeper)+", stack) for stack in stacks), stacks
    assert not any("dispatch" in stack for stack in stacks), "only the tile that was asked for"
    assert all(int(count) > 0 for count in stacks.values())
    assert report["whole_stacks"] and report["samples"] > 0 and "dispatcher firmware" in report["folded"]
    assert daemon.ctl("profile", "--seconds", "0.01", "--cores", "99,99").returncode == 4


def test_exit_codes_tell_the_kinds_of_failure_apart(daemon, tmp_path):
    kernel = KERNELS / "empty.elf"
    garbage = tmp_path / "garbage.elf"
    garbage.write_bytes(b"not an ELF")
    assert daemon.ctl("run", kernel, "--cores", "0,0").returncode == 0
    assert daemon.ctl("run", kernel, "--cores", "0,0", "--out", f"{tmp_path}/no/file:64").returncode == 1
    assert daemon.ctl().returncode == 2
    assert daemon.ctl("no-such-command").returncode == 2
    assert daemon.ctl("run", kernel, "--cores", "nonsense").returncode == 2
    assert daemon.ctl("run", kernel, "--cores", "0,0", "--arg", "in0").returncode == 2
    assert daemon.ctl("run", "/nonexistent.elf", "--cores", "0,0").returncode == 2
    unreachable = daemon.ctl("--address", "/nonexistent.sock", "status")
    assert unreachable.returncode == 3 and "UNREACHABLE" in unreachable.stderr
    refused = daemon.ctl("run", garbage, "--cores", "0,0")
    assert refused.returncode == 4 and "KERNEL_REFUSED" in refused.stderr
    assert daemon.ctl("run", kernel, "--cores", "99,99").returncode == 4
    assert "Exit codes" in daemon.ctl("--help").stdout


def test_drain_ends_new_work():
    daemon = Daemon()
    try:
        drained = daemon.ctl("drain", "--within", "5")
        assert drained.returncode == 0, drained.stderr
        assert daemon.ctl("health").returncode == 1
        with pytest.raises(ttfd.Error):
            ttfd.connect(daemon.address)
    finally:
        daemon.end()


def test_reset_brings_the_device_back():
    daemon = Daemon()
    try:
        reset = daemon.ctl("reset")
        assert reset.returncode == 0, reset.stderr + daemon.log()
        assert as_json(daemon.ctl("status", "--json"))["device_resets"] == 1
        assert daemon.ctl("run", KERNELS / "empty.elf", "--cores", "all").returncode == 0
    finally:
        daemon.end()
