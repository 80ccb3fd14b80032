"""The daemon under what its systemd unit leaves it: the unit's system calls, address families and memory rules, without
capabilities, as a user of its own and, where this process may make namespaces, with a file system that can be read only and
without a network. systemd itself is not needed: its sets of system calls are asked of systemd-analyze, and the filter that
systemd would load is made here."""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import platform
import pwd
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np
import pytest

import ttfd
from conftest import BUILD, KERNELS, SOURCE, START_TIMEOUT_S, eventually

UNIT = SOURCE / "deploy/ttfd.service.in"
NUMBERS = pathlib.Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
EPERM, EAFNOSUPPORT = 1, 97
# What systemd lets through whatever a unit says (systemd.exec(5), SystemCallFilter).
ALWAYS = ["@default", "execve", "exit", "exit_group", "getrlimit", "rt_sigreturn", "sigreturn"]
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_PDEATHSIG = 38, 22, 24, 1
CLONE_NEWNS, CLONE_NEWNET = 0x20000, 0x40000000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
AF_UNIX = 1
PROT_WRITE, PROT_EXEC = 2, 4

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can become the daemon's user"),
    pytest.mark.skipif(platform.machine() != "x86_64" or not NUMBERS.exists(), reason="no numbers of system calls here"),
    pytest.mark.skipif(any(word in (BUILD / "daemon/ttfd").read_bytes() for word in (b"__asan_init", b"__tsan_init")),
                       reason="a sanitizer makes calls of its own"),
    pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze to ask what the sets hold"),
]


def setting(name: str) -> list[str]:
    """Its values in the unit, in their order."""
    return [line.split("=", 1)[1] for line in UNIT.read_text().splitlines() if line.startswith(name + "=")]


def expand(name: str) -> set[str]:
    """The system calls of a set, or the one named."""
    if not name.startswith("@"):
        return {name}
    told = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager", name], capture_output=True, text=True,
                          check=True).stdout
    found: set[str] = set()
    for word in (line.strip() for line in told.splitlines()[1:]):
        if word and not word.startswith("#"):
            found |= expand(word)
    return found


def allowed_calls() -> set[int]:
    """Numbers of what the unit's SystemCallFilter lets through: a list first, then what is taken from it and added to it."""
    names: set[str] = set().union(*(expand(name) for name in ALWAYS))
    filters = setting("SystemCallFilter")
    assert not filters[0].startswith("~"), "the first says what is allowed"
    for line in filters:
        calls = set().union(*(expand(name) for name in line.removeprefix("~").split()))
        names = names - calls if line.startswith("~") else names | calls
    numbers = dict(re.findall(r"#define __NR_(\w+) (\d+)", NUMBERS.read_text()))
    return {int(numbers[name]) for name in names if name in numbers}


class Filter:
    """A program of the kernel's filter machine, for x86-64."""

    LOAD, EQUAL, BITS, AND, RETURN = 0x20, 0x15, 0x45, 0x54, 0x06
    ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
    ARCHITECTURE = 0xC000003E

    def __init__(self, refused: int) -> None:
        self.words: list[tuple[int, int, int, int]] = [
            (self.LOAD, 0, 0, 4), (self.EQUAL, 1, 0, self.ARCHITECTURE), (self.RETURN, 0, 0, self.KILL)]
        families = setting("RestrictAddressFamilies")
        assert families == ["AF_UNIX"]
        number = {name: int(value) for name, value in re.findall(r"#define __NR_(\w+) (\d+)", NUMBERS.read_text())}
        # socket(2) and socketpair(2): unix only.
        for call in ("socket", "socketpair"):
            self.words += [(self.LOAD, 0, 0, 0), (self.EQUAL, 0, 3, number[call]), (self.LOAD, 0, 0, 16),
                           (self.EQUAL, 1, 0, AF_UNIX), (self.RETURN, 0, 0, self.ERRNO | EAFNOSUPPORT)]
        assert setting("MemoryDenyWriteExecute") == ["yes"]
        # mmap(2) of what can be both, and making executable what was not.
        self.words += [(self.LOAD, 0, 0, 0), (self.EQUAL, 0, 4, number["mmap"]), (self.LOAD, 0, 0, 32),
                       (self.AND, 0, 0, PROT_WRITE | PROT_EXEC), (self.EQUAL, 0, 1, PROT_WRITE | PROT_EXEC),
                       (self.RETURN, 0, 0, self.ERRNO | EPERM)]
        self.words += [(self.LOAD, 0, 0, 0)]
        for call in sorted(allowed_calls()):
            self.words += [(self.EQUAL, 0, 1, call), (self.RETURN, 0, 0, self.ALLOW)]
        self.words.append((self.RETURN, 0, 0, refused))

    def load(self) -> None:
        """From here on this process and its children have no more."""
        packed = b"".join(struct.pack("HBBI", *word) for word in self.words)
        program = ctypes.create_string_buffer(packed, len(packed))
        head = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(self.words), ctypes.addressof(program)))
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
        assert libc.prctl(PR_SET_SECCOMP, 2, head, 0, 0) == 0, os.strerror(ctypes.get_errno())


def isolate(folder: pathlib.Path) -> None:
    """ProtectSystem=strict, but for the folder, and PrivateNetwork=yes; nothing where a container allows no namespaces."""
    assert setting("ProtectSystem") == ["strict"] and setting("PrivateNetwork") == ["yes"]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS | CLONE_NEWNET) != 0:
        return
    writable = os.fsencode(folder)
    for source, target, flags in ((None, b"/", MS_REC | MS_PRIVATE), (writable, writable, MS_BIND),
                                  (None, b"/", MS_REMOUNT | MS_BIND | MS_RDONLY)):
        assert libc.mount(source, target, None, ctypes.c_ulong(flags), None) == 0, os.strerror(ctypes.get_errno())


def confine(filter_: Filter, folder: pathlib.Path) -> None:
    """In the child, before the daemon: what systemd does with User, capabilities, limits, umask and filter."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0)
    isolate(folder)
    assert setting("CapabilityBoundingSet") == [""] and setting("AmbientCapabilities") == [""]
    for capability in range(64):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    for which, wanted in ((resource.RLIMIT_NOFILE, int(setting("LimitNOFILE")[0])),
                          (resource.RLIMIT_NICE, 20 - int(setting("LimitNICE")[0]))):
        most = resource.getrlimit(which)[1]  # a container may have less, and may not raise it
        limit = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
        resource.setrlimit(which, (limit, limit))
    os.umask(int(setting("UMask")[0], 8))
    user = pwd.getpwnam("nobody")
    os.setgroups([])
    os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
    os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
    filter_.load()  # nothing of the clone is read from here on: this user may be unable to


class Confined:
    """The daemon as the unit runs it; its folder stands for RuntimeDirectory, StateDirectory and LogsDirectory."""

    def __init__(self, program: pathlib.Path, refused: int) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ttfd_sandbox_"))
        user = pwd.getpwnam("nobody")
        os.chown(self.folder, user.pw_uid, user.pw_gid)
        self.address = f"unix:{self.folder}/ttfd.sock"
        config = self.folder / "ttfd.toml"
        config.write_text(f'[hangs]\nfolder = "{self.folder}/hangs"\n[log]\naudit_file = "{self.folder}/audit.log"\n')
        filter_ = Filter(refused)
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen(  # pylint: disable=consider-using-with
                [program, "--config", config, "--socket", self.folder / "ttfd.sock", "--device", "sim"],
                stdout=log, stderr=log, preexec_fn=lambda: confine(filter_, self.folder))  # pylint: disable=subprocess-popen-preexec-fn
        deadline = time.monotonic() + START_TIMEOUT_S
        while self.ctl("health").returncode != 0:
            assert self.process.poll() is None and time.monotonic() < deadline, (self.process.poll(), self.log())
            time.sleep(0.05)

    def ctl(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs ttfdctl, unconfined."""
        return subprocess.run([BUILD / "client/cli/ttfdctl", *words], env=dict(os.environ, TTFD_ADDRESS=self.address),
                              capture_output=True, text=True, timeout=60, check=False)

    def log(self) -> str:
        """What it wrote."""
        return (self.folder / "log").read_text(errors="replace")

    def end(self) -> None:
        """Kills it and removes its files."""
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def computes(session: ttfd.Session) -> None:
    """Bytes there and back, and launches."""
    data = np.arange(1 << 18, dtype=np.uint32)
    buffer = session.allocate_dram(data.nbytes, page_bytes=4096)
    buffer.write(data)
    assert (buffer.read(np.uint32) == data).all()
    cores = ttfd.first_cores(session.device.grid_x, 2)
    kernel = session.load_kernel(KERNELS / "empty.elf")
    program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, cores)])
    for _ in range(3):
        session.launch(program, [])


def hangs(session: ttfd.Session) -> None:
    """A kernel that never ends."""
    session.on_print = None
    cores = ttfd.first_cores(session.device.grid_x, 1)
    kernel = session.load_kernel(KERNELS / "print_brisc.elf")
    program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, cores)],
                                     semaphores=[ttfd.Semaphore(0, 0, cores)])
    with pytest.raises(ttfd.Error) as ended:
        session.launch(program, [ttfd.Arguments(common=[2, 1, 5])])
    assert ended.value.reason == "HANG" and ended.value.hang_report


@pytest.mark.parametrize("refused", [Filter.ERRNO | EPERM, Filter.KILL], ids=["refused", "killed"])
def test_everything_works_under_the_units_sandbox(refused, publish):
    """With EPERM, as the unit says; and where a call that the unit refuses would be the daemon's death: it makes none."""
    daemon = Confined(publish(BUILD / "daemon/ttfd"), refused)
    try:
        status = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text().splitlines()
                      if ":\t" in line)
        assert (status["Seccomp"], status["NoNewPrivs"], int(status["CapEff"], 16), int(status["CapBnd"], 16)) == ("2", "1", 0, 0)
        own = os.readlink("/proc/self/ns/mnt")
        if os.readlink(f"/proc/{daemon.process.pid}/ns/mnt") != own:
            root = next(line.split() for line in pathlib.Path(f"/proc/{daemon.process.pid}/mountinfo").read_text().splitlines()
                        if line.split()[4] == "/")
            assert "ro" in root[5].split(",")
            assert os.readlink(f"/proc/{daemon.process.pid}/ns/net") != os.readlink("/proc/self/ns/net")
        assert status["Uid"].split() == [str(pwd.getpwnam("nobody").pw_uid)] * 4
        with ttfd.connect(daemon.address, client_name="computes") as session:
            computes(session)
        with ttfd.connect(daemon.address, client_name="hangs", reconnect_for=0) as session:
            hangs(session)
        with ttfd.connect(daemon.address, client_name="again") as session:
            computes(session)
        for words in (["timeouts", "set", "--kernel", "54321"], ["reset"], ["hang", "last"], ["limits"], ["log-level", "debug"],
                      ["sessions", "list"], ["profile", "--seconds", "0.05"]):
            result = daemon.ctl(*words)
            assert result.returncode == 0, (words, result.stderr)
        daemon.process.send_signal(1)
        report = next((daemon.folder / "hangs").rglob("report.json"))
        assert json.loads(report.read_text())
        eventually(lambda: "SetTimeouts" in (daemon.folder / "audit.log").read_text())  # a thread of its own writes it
        daemon.process.terminate()
        assert daemon.process.wait(60) == 0, daemon.log()
    finally:
        daemon.end()


PROBE = """
import errno, mmap, os, socket, sys
def told(act):
    try:
        act()
        return "done"
    except OSError as error:
        return errno.errorcode[error.errno]
print(told(lambda: socket.socket(socket.AF_INET)), told(lambda: socket.socket(socket.AF_UNIX).close()),
      told(lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)),
      told(lambda: os.sched_setaffinity(0, {0})), told(lambda: os.chroot("/")))
"""


def test_the_sandbox_of_these_tests_does_refuse(tmp_path):
    filter_ = Filter(Filter.ERRNO | EPERM)
    probe = subprocess.run([sys.executable, "-c", PROBE], preexec_fn=lambda: confine(filter_, tmp_path),  # pylint: disable=subprocess-popen-preexec-fn
                           capture_output=True, text=True, timeout=60, check=False)
    assert probe.stdout.split() == ["EAFNOSUPPORT", "done", "EPERM", "EPERM", "EPERM"], probe.stderr
