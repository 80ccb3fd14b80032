"""ttfdctl's promises: JSON that parses, exit codes that scripts can use, and a kernel run from the command line."""

import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import termios
import threading

import pytest

import ttfd
from conftest import BUILD, JOIN_S, KERNELS, Daemon, eventually, join, start_thread


def as_json(result):
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def on_terminal(daemon, columns, *words):
    """The lines that ttfdctl writes to a terminal."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([BUILD / "client/cli/ttfdctl", *words], env=dict(os.environ, TTFD_ADDRESS=daemon.address),
                          stdout=its) as process:
        os.close(its)
        output = b""
        try:
            while more := os.read(ours, 4096):
                output += more
        except OSError:  # EIO: the other end is closed
            pass
        assert process.wait(60) == 0, output
    os.close(ours)
    return output.decode().splitlines()


@pytest.mark.parametrize("command", ["status", "devices", "sessions", "leases", "limits", "timeouts", "hang"])
def test_no_screen_is_wider_than_its_terminal(daemon, command):
    with ttfd.connect(daemon.address, client_name="a client with a name of many words"):
        for columns in (60, 80):
            lines = on_terminal(daemon, columns, command)
            assert lines and max(map(len, lines)) <= columns, "\n".join(lines)


def test_a_narrow_table_names_what_it_leaves_out(daemon):
    with ttfd.connect(daemon.address, client_name="narrow"):
        text = " ".join(on_terminal(daemon, 80, "sessions"))
        assert "no room for" in text and "COMPLETED/SUBMITTED" in text
        piped = daemon.ctl("sessions").stdout
        assert "COMPLETED/SUBMITTED" in piped.splitlines()[0] and "no room" not in piped


def test_limits_show_the_priority_by_name(daemon):
    assert re.search(r"^session +priority +normal ", daemon.ctl("limits").stdout, re.MULTILINE)


def test_status_says_what_the_daemon_does(daemon):
    status = as_json(daemon.ctl("status", "--json"))
    assert status["state"] == "ready"
    [device] = status["devices"]
    assert (device["board"], device["state"], device["resets"]) == ("p150", "ready", 0)
    assert {use["kind"] for use in device["memory"]} == {"dram", "l1"}
    assert len(device["harts"]) == 6  # three a hardware queue
    text = daemon.ctl("status").stdout
    assert "ready" in text and re.search(r"^0 +ready +p150 +embedded +PCIe +13x10 .* - +-$", text, re.MULTILINE), "no clock, no IOMMU"


def test_status_lists_links(daemon):
    read = as_json(daemon.ctl("status", "--links", "--json"))
    links = read["devices"][0]["links"]
    assert [link["channel"] for link in links] == list(range(12))
    assert {(link["state"], link["peer"], link["use"], link["retrains"]) for link in links} == {("unused", None, "", 0)}
    lines = daemon.ctl("status", "--links").stdout.splitlines()
    assert len(lines) == 13 and re.match(r"0\.11 +unused +- +- +0 +1\.7\.0$", lines[-1])


def test_status_lists_the_chips_of_a_cluster_and_their_links():
    daemon = Daemon("sim:cluster=1x2,links=1")
    try:
        status = as_json(daemon.ctl("status", "--json"))
        first, second = status["devices"]
        assert (first["index"], first["grid_x"], second["index"], second["grid_x"]) == (0, 13, 1, 13)
        lines = daemon.ctl("status", "--links").stdout.splitlines()
        up = [line for line in lines if " up " in line]
        assert [line.split()[0] for line in up] == ["0.0", "1.0"]
        assert first["links"][0]["peer"] == {"device": 1, "board": second["board_id"], "asic": second["asic_id"], "asic_location": 0, "channel": 0}
        assert (first["behind"], second["behind"]) == (None, None)
    finally:
        daemon.end()


def test_status_shows_through_which_chip_another_is_reached():
    daemon = Daemon("sim:cluster=1x2,links=2,remote=0")
    try:
        first, second = as_json(daemon.ctl("status", "--json"))["devices"]
        assert (first["asic_id"], first["behind"], second["asic_id"], second["behind"]) == (2, None, 1, 0)
        lines = daemon.ctl("status", "--links").stdout.splitlines()
        assert [line.split()[:4] for line in lines if " up " in line] == [["0.0", "up", "1.0", "system"], ["0.1", "up", "1.1", "kernels"],
                                                                          ["1.0", "up", "0.0", "system"], ["1.1", "up", "0.1", "kernels"]]
        assert "link of 0" in daemon.ctl("status").stdout
    finally:
        daemon.end()


def test_no_hang_report_yet(daemon, tmp_path):
    listed = daemon.ctl("hang", "list")
    assert (listed.returncode, listed.stdout, listed.stderr) == (0, "no hang reports yet\n", "")
    assert as_json(daemon.ctl("--json", "hang", "list")) == {"reports": []}
    for words in (("hang", "last"), ("hang", "show", "last"), ("hang", "show", "7"), ("hang", "fetch", "last", tmp_path / "copy")):
        shown = daemon.ctl(*words)
        assert (shown.returncode, shown.stdout) == (4, "") and "there are no hang reports yet" in shown.stderr, words
    assert not (tmp_path / "copy").exists()


def test_status_counts_what_each_hardware_queue_has_done(daemon):
    with ttfd.connect(daemon.address) as session:
        buffer = session.allocate_dram(4096)
        transfer = session.open_queue(transfer=True)
        for queue in (session.queue, transfer):
            before = as_json(daemon.ctl("status", "--json"))["devices"][0]["hardware_queues"]
            assert [entry["index"] for entry in before] == [0, 1]
            queue.fill(buffer, 1)
            after = as_json(daemon.ctl("status", "--json"))["devices"][0]["hardware_queues"]
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
    assert as_json(daemon.ctl("--json", "health", "ttfd.v1.DeviceService"))["status"] == "SERVING"
    devices = as_json(daemon.ctl("devices", "--json"))["devices"]
    assert devices[0]["grid_x"] * devices[0]["grid_y"] == 130


def test_sessions_are_listed_and_terminated(daemon):
    session = ttfd.connect(daemon.address, client_name="to be ended")
    listed = as_json(daemon.ctl("sessions", "list", "--json"))["sessions"]
    assert [entry["client_name"] for entry in listed if entry["session"] == session.id] == ["to be ended"]
    assert "to be ended" in daemon.ctl("sessions", "list").stdout
    ended = daemon.ctl("sessions", "terminate", str(session.id), "--reason", "testing the end")
    assert ended.returncode == 0, ended.stderr
    with pytest.raises(ttfd.Error, match="testing the end"):
        session.queue.wait(session.queue.enqueue_barrier())
    again = daemon.ctl("sessions", "terminate", str(session.id))
    assert again.returncode == 4
    assert "NOT_FOUND" in again.stderr


def test_release_of_a_session_without_quarantine_is_refused(daemon):
    released = daemon.ctl("sessions", "release", "123456")
    assert released.returncode == 4 and "NOT_FOUND" in released.stderr


def test_optional_values_are_null(daemon):
    with ttfd.connect(daemon.address) as session:
        listed = as_json(daemon.ctl("sessions", "list", "--json"))["sessions"]
        (entry,) = [entry for entry in listed if entry["session"] == session.id]
        assert (entry["lease"], entry["pid"], entry["priority"]) == (None, os.getpid(), "normal")


def test_status_is_watched_until_the_daemon_ends():
    daemon = Daemon()
    try:
        with subprocess.Popen([BUILD / "client/cli/ttfdctl", "status", "--watch", "0.1", "--json"], text=True,
                              env=dict(os.environ, TTFD_ADDRESS=daemon.address), stdout=subprocess.PIPE) as watch:
            assert json.loads(watch.stdout.readline())["sessions"] == 0
            with ttfd.connect(daemon.address):
                while json.loads(watch.stdout.readline())["sessions"] != 1:
                    pass
            daemon.end()
            watch.stdout.read()
            assert watch.wait(60) == 3
    finally:
        daemon.end()


@pytest.mark.parametrize("interval", ["0.01", "7000", "often"])
def test_watch_interval_outside_its_range_is_a_usage_error(daemon, interval):
    assert daemon.ctl("status", "--watch", interval).returncode == 2


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
    launched, done = threading.Event(), threading.Event()

    def launch_deep_calls():
        with ttfd.connect(daemon.address) as session:
            kernel = session.load_kernel(KERNELS / "overflow_stack.elf", name="deep")
            program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, [ttfd.CoreRange(2, 1, 2, 1)])])
            while not done.is_set():
                session.launch(program, [ttfd.Arguments(common=[12])])
                launched.set()

    client = start_thread(launch_deep_calls)
    try:
        assert launched.wait(JOIN_S)
        result = daemon.ctl("profile", "--seconds", "2", "--interval", "20", "--cores", "2,1", "-o", folded)
        assert result.returncode == 0 and "whole stacks, every 20 clocks" in result.stderr
        report = as_json(daemon.ctl("profile", "--seconds", "2", "--interval", "20", "--json"))
    finally:
        done.set()
        join(client)
    stacks = dict(line.rsplit(" ", 1) for line in folded.read_text().splitlines())
    assert any(re.fullmatch(r"program \d+ of session \d+ \(.*\);deep;BRISC;Deeper(;Deeper)+", stack) for stack in stacks), stacks
    assert not any("dispatch" in stack for stack in stacks), "only the tile that was asked for"
    assert all(int(count) > 0 for count in stacks.values())
    assert report["whole_stacks"] and report["samples"] > 0 and "dispatcher firmware" in report["folded"]
    assert daemon.ctl("profile", "--seconds", "0.01", "--cores", "99,99").returncode == 4


@pytest.mark.parametrize("words, message", [
    (["bogus"], "there is no command 'bogus'; see ttfdctl --help"),
    (["sessions", "bogus"], "there is no command 'bogus'; see ttfdctl sessions --help"),
    (["--addres", "x", "status"], "there is no option --addres; see ttfdctl status --help"),
    (["status", "--bogus"], "there is no option --bogus; see ttfdctl status --help"),
    (["status", "word"], "unexpected word 'word'; see ttfdctl status --help"),
    ([], "no command was given; see ttfdctl --help"),
    (["sessions", "terminate"], "SESSION is required; see ttfdctl sessions terminate --help"),
    (["--timeout", "0", "status"], "--timeout: '0' is not a number from 0.001 to 86400; see ttfdctl status --help"),
    (["status", "--", "x"], "only lease and graph trace take words after --; see ttfdctl --help"),
    (["lease", "--tiles", "0,0"], "lease needs a command after --; see ttfdctl lease --help")])
def test_wrong_command_lines_get_one_line(daemon, words, message):
    result = daemon.ctl(*words)
    assert (result.returncode, result.stdout, result.stderr) == (2, "", f"ttfdctl: {message}\n")


@pytest.fixture(name="doctor")
def doctor_without_a_card():
    """Runs `ttfdctl doctor` on this host, which has no card and needs no daemon."""
    vendors = [file.read_text().strip() for file in pathlib.Path("/sys/bus/pci/devices").glob("*/vendor")]
    if "0x1e52" in vendors or pathlib.Path("/dev/tenstorrent").exists():
        pytest.skip("this host has a card, or its driver a node")
    return lambda *words: subprocess.run([BUILD / "client/cli/ttfdctl", "doctor", *words], capture_output=True, text=True, timeout=60,
                                         check=False)


def test_doctor_finds_no_card_here(doctor):
    result = doctor("--json")
    report = json.loads(result.stdout)
    assert (result.returncode, report["exit_code"], report["cards"], result.stderr) == (11, 11, [], "")
    results = {check["check"]: (check["result"], check["exit_code"]) for check in report["host"]}
    assert results["cards"] == ("failed", 11)
    assert results["driver"] in [("skipped", None), ("ok", None)]


def test_table_and_json_of_doctor_say_the_same(doctor):
    table = doctor()
    lines = [re.sub(" {2,}", "  ", line.strip()) for line in table.stdout.splitlines()]
    report = json.loads(doctor("--json").stdout)
    expected = ["host", "CHECK  RESULT  FOUND"]
    for check in report["host"]:
        expected.append(f"{check['check']}  {check['result']}  {check['found']}")
        if check["exit_code"] is not None:
            expected += [f"cause: {check['cause']}", f"fix: {check['fix']}", f"exit code: {check['exit_code']}"]
    assert lines == expected + ["", f"exit code: {report['exit_code']}"]
    assert table.returncode == report["exit_code"]


def test_version_is_the_daemons(daemon):
    version = as_json(daemon.ctl("status", "--json"))["version"]
    result = daemon.ctl("--version")
    assert (result.returncode, result.stdout) == (0, f"ttfdctl {version}\n")


@pytest.mark.parametrize("words", [
    [], ["status"], ["health"], ["doctor"], ["sessions"], ["sessions", "terminate"], ["lease"], ["timeouts", "set"], ["drain"], ["log-level"],
    ["hang", "fetch"], ["profile"], ["run"]])
def test_help_names_values_and_fits_a_terminal(daemon, words):
    text = daemon.ctl(*words, "--help").stdout
    assert max(map(len, text.splitlines())) <= 80, text
    assert not re.search(r"TEXT:|FLOAT|UINT|INT |=\[\]|POSITIVE|REQUIRED| in \[", text), text
    if not words:
        assert re.search(r"--timeout SECONDS .*\(0\.001 to 86400,\s+default 10\)", text), text


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


def test_drain_refuses_sessions_until_undrain():
    daemon = Daemon()
    try:
        drained = daemon.ctl("drain", "--within", "5")
        assert (drained.returncode, drained.stdout, drained.stderr) == (0, "drained\n", "")
        assert daemon.ctl("health").returncode == 1
        with pytest.raises(ttfd.Error):
            ttfd.connect(daemon.address)
        undrained = daemon.ctl("undrain")
        assert undrained.returncode == 0, undrained.stderr
        assert daemon.ctl("health").returncode == 0
        with ttfd.connect(daemon.address) as session:
            session.allocate_dram(64)
        again = daemon.ctl("undrain")
        assert again.returncode == 4 and "FAILED_PRECONDITION" in again.stderr
    finally:
        daemon.end()


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_drain_lists_the_sessions_that_hold_it_up(words):
    daemon = Daemon()
    try:
        session = ttfd.connect(daemon.address, client_name="endless")
        core = [ttfd.CoreRange(0, 0, 0, 0)]
        flag = session.allocate_l1(1024, cores=core)
        spin = session.create_program([ttfd.KernelUse(session.load_kernel(KERNELS / "spin.elf"), ttfd.BRISC, core)])
        session.queue.enqueue_launch(spin, [ttfd.Arguments(common=[flag])])
        session.queue.flush()
        eventually(lambda: as_json(daemon.ctl("sessions", "--json"))["sessions"][0]["waits_for"] == "commands")
        drained = daemon.ctl("drain", "--within", "0.5", *words)
        assert drained.returncode == 0, drained.stderr
        lines = drained.stdout.splitlines()
        if words:
            steps = [json.loads(line) for line in lines]
            assert [(step["step"], step["left"], step["done"]) for step in steps] == [
                ("sessions left", 1, False), ("the sessions left were ended", 1, True)]
            holds = {"client_name": "endless", "pid": os.getpid(), "state": "active", "waits_for": "commands",
                     "l1_bytes": 1024, "lease": None}
            assert [{key: step["sessions"][0][key] for key in holds} for step in steps] == [holds, holds]
        else:
            row = rf"^1 +endless +\S+ +{os.getpid()} +active +its commands +1 +0 B +1.0 KiB +\d+ +-$"
            assert (lines[0], lines[3]) == ("sessions left: 1", "the sessions left were ended: 1"), lines
            assert re.match(row, lines[2]) and re.match(row, lines[5]), lines
    finally:
        daemon.end()


def test_reset_brings_the_device_back():
    daemon = Daemon()
    try:
        missing = daemon.ctl("reset", "--device", "3")
        assert (missing.returncode, missing.stdout) == (4, "")
        assert "there is no device 3; this daemon serves one device, 0" in missing.stderr
        reset = daemon.ctl("reset")
        assert reset.returncode == 0, reset.stderr + daemon.log()
        assert reset.stdout.splitlines() in (["resetting", "ready"], ["ready"])
        assert as_json(daemon.ctl("status", "--json"))["devices"][0]["resets"] == 1
        assert daemon.ctl("run", KERNELS / "empty.elf", "--cores", "all").returncode == 0
    finally:
        daemon.end()
