"""What ttfdctl tells of a hang on the real daemon, and what becomes of the session it was."""

import json
import os
import stat
import subprocess
import time

import pytest

import ttfd
from conftest import KERNELS, SOURCE, Daemon

FILES = {"host.json", "records.txt", "log.txt", "device.json", "card.json", "report.json", "report.txt", "summary.json"}


@pytest.fixture(scope="module")
def hangs(tmp_path_factory):
    """A daemon that keeps reports and has had one hang: the daemon, its folder, the session and program, the error."""
    folder = tmp_path_factory.mktemp("hangs")
    daemon = Daemon(config=f'[hangs]\nfolder = "{folder}"\nquarantine_hangs = 2\n')
    session = ttfd.connect(daemon.address, client_name="hanging")
    kernel = session.load_kernel(KERNELS / "print_brisc.elf", name="waiter")
    cores = [ttfd.CoreRange(1, 2, 2, 2)]
    program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, cores)], semaphores=[ttfd.Semaphore(0, 0, cores)])
    with pytest.raises(ttfd.Error) as raised:
        session.launch(program, [ttfd.Arguments(common=[1, 1, 5])])
    session.on_print = None
    yield daemon, folder, session, program, raised.value
    session.close()
    daemon.end()


def listed_report(daemon):
    (report,) = json.loads(daemon.ctl("hang", "list", "--json").stdout)["reports"]
    return report


def test_its_owner_is_told_the_id_of_the_report_that_is_listed(hangs):
    daemon, _, session, _, error = hangs
    assert (error.code, error.reason) == (ttfd.Code.ABORTED, "HANG")
    deadline = time.monotonic() + 20
    while not (report := listed_report(daemon))["complete"] and time.monotonic() < deadline:
        time.sleep(0.01)  # the card is being repaired
    assert report["report"] == error.hang_report and report["complete"]
    offender = report["offender"]
    assert (offender["client"]["session"], offender["client"]["client_name"], offender["client"]["pid"]) == (session.id, "hanging", os.getpid())
    assert offender["client"]["uid"] == os.getuid() and offender["kernels"] == ["waiter"] and offender["value"] > 0
    assert report["reason"] == "HANG" and report["headline"] == str(error).splitlines()[0].partition("; ttfdctl")[0].removeprefix("ABORTED: ")
    assert abs(report["time_unix_ms"] / 1000 - time.time()) < 3600
    listed = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(report["time_unix_ms"] // 1000))
    assert f"{error.hang_report:6}  {listed}  {report['headline']}\n" in daemon.ctl("hang", "list").stdout


def test_the_last_one_says_what_ran_where_it_stood_and_what_was_done(hangs):
    daemon, _, session, _, error = hangs
    text = daemon.ctl("hang", "last").stdout
    assert text == daemon.ctl("hang", "show", error.hang_report).stdout
    assert "caused by: launch of program" in text and f"of session {session.id}" in text
    assert "the card was reset and works again" in text
    assert "kernel_main" in text, "program counters have names"
    workers = text[text.index("\nworkers\n"):text.index("\nrecords\n")]
    assert workers.count("launches ended, at KSEM, program") == workers.count("launches ended") == 1, "those that wait, no others"
    assert " (and 1 identical: " in workers
    assert "CQ0 stream 48:" in workers and "answers" in workers
    assert "SEND_GO_SIGNAL" in text[text.index("\nrecords\n"):], "what was in flight is decoded"
    assert "serving a model of a p150 (no card)" in text[text.index("\nlog\n"):], "the last lines of the log"
    report = json.loads(daemon.ctl("hang", "last", "--json").stdout)
    assert report["recovered"] and report["offender"]["client"]["session"] == session.id
    busy = [tile for tile in report["workers"] if tile["waypoint"] == "KSEM"]
    assert len(busy) == 2, "the two that wait"
    assert {one["outcome"] for one in report["slices"]} == {"aborted"}


def test_its_files_are_fetched_and_are_for_the_daemons_group_alone(hangs, tmp_path):
    daemon, folder, _, _, error = hangs
    result = daemon.ctl("hang", "fetch", error.hang_report, tmp_path / "copy")
    assert result.returncode == 0, result.stderr
    assert {path.name for path in (tmp_path / "copy").iterdir()} == FILES
    kept = folder / f"hang-{error.hang_report}"
    assert {path.name for path in kept.iterdir()} == FILES
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept.iterdir()} == {0o640}
    missing = daemon.ctl("hang", "show", "20200101T000000Z-000001")
    assert missing.returncode == 4 and "NOT_FOUND" in missing.stderr


def test_second_hang_quarantines_until_released(hangs):
    daemon, _, session, program, error = hangs
    queue = session.open_queue()
    with pytest.raises(ttfd.Error, match="HANG"):
        queue.launch(program, [ttfd.Arguments(common=[1, 1, 5])])
    listed = json.loads(daemon.ctl("sessions", "list", "--json").stdout)["sessions"]
    assert [(entry["state"], entry["hangs"]) for entry in listed if entry["session"] == session.id] == [("quarantined", 2)]
    with pytest.raises(ttfd.Error, match="an administrator can release it"):
        session.launch(program, [ttfd.Arguments(common=[1, 0, 5])])
    with ttfd.connect(daemon.address) as other:
        other.queue.wait(other.queue.enqueue_barrier())
    assert daemon.ctl("sessions", "release", str(session.id)).returncode == 0
    session.launch(program, [ttfd.Arguments(common=[1, 0, 5])])
    again = daemon.ctl("sessions", "release", str(session.id))
    assert again.returncode == 4 and "is not quarantined" in again.stderr
    assert len(json.loads(daemon.ctl("hang", "list", "--json").stdout)["reports"]) == 2


def test_a_session_that_leaves_the_engine_in_use_changes_no_result_of_the_next(daemon):
    with ttfd.connect(daemon.address) as careless:
        kernel = careless.load_kernel(KERNELS / "leave_in_engine.elf", name="careless")
        program = careless.create_program([ttfd.KernelUse(kernel, "trisc0", (0, 0))])
        with pytest.raises(ttfd.Error, match="in use: SrcA: 1 bank filled and not freed; by kernel 'careless' on TRISC0, program") as raised:
            careless.launch(program, [ttfd.Arguments(common=[1])])
    assert raised.value.reason == "DEVICE_FAULT"
    result = subprocess.run(["/usr/bin/python3", SOURCE / "client/examples/tile_math.py", KERNELS], capture_output=True, text=True, check=False,
                            env={**os.environ, "TTFD_ADDRESS": daemon.address}, timeout=100)
    assert result.returncode == 0 and "verified: 3 operations" in result.stdout, result.stdout + result.stderr
