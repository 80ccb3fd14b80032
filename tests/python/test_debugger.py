"""What docs/debugger.md promises: GDB stops, shows and steps kernels on the running daemon, and nothing counts as a hang meanwhile."""

import re
import shutil
import signal
import socket
import struct
import subprocess
import time

import numpy as np
import pytest

import ttfd
from conftest import BUILD, KERNELS, Daemon, join, start_thread

ELF = BUILD / "tests/dispatch_kernels/debugged.elf"
# Shorter than any test stops the card for.
TIMEOUT_MS = 2000
PATIENCE_S = 30
COUNT = 5
SUM = sum(number * number for number in range(COUNT))


class Rsp:
    """A debugger that speaks the protocol by hand."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.socket.settimeout(PATIENCE_S)
        self.received = b""
        assert self.ask("QStartNoAckMode") == "OK"
        self.socket.sendall(b"+")

    def send(self, packet):
        data = packet.encode()
        self.socket.sendall(b"$" + data + b"#%02x" % (sum(data) % 256))

    def take(self):
        """The next reply."""
        while not (match := re.search(rb"\$([^#]*)#..", self.received)):
            part = self.socket.recv(65536)
            assert part, "the daemon closed the connection"
            self.received += part
        self.received = self.received[match.end():]
        return match.group(1).decode()

    def ask(self, packet):
        self.send(packet)
        return self.take()

    def interrupt(self):
        self.socket.sendall(b"\x03")
        return self.take()

    def monitor(self, words):
        return bytes.fromhex(self.ask("qRcmd," + words.encode().hex())).decode()

    def register(self, number):
        return struct.unpack("<I", bytes.fromhex(self.ask(f"p{number:x}")))[0]

    def word(self, address):
        return struct.unpack("<I", bytes.fromhex(self.ask(f"m{address:x},4")))[0]

    def close(self):
        self.socket.close()


@pytest.fixture
def debugged(tmp_path):
    """A daemon that lets debuggers in and calls everything a hang after two seconds."""
    daemon = Daemon(f"sim:gdb={tmp_path}/gdb.sock")
    daemon.gdb = tmp_path / "gdb.sock"
    set_up = daemon.ctl("timeouts", "set", "--operation", str(TIMEOUT_MS), "--kernel", str(TIMEOUT_MS))
    assert set_up.returncode == 0, set_up.stderr
    yield daemon
    daemon.end()


class Squares:
    """The kernel as a client runs it, on the first worker."""

    def __init__(self, daemon):
        self.session = ttfd.connect(daemon.address, client_name="squares")
        core = [ttfd.CoreRange(0, 0, 0, 0)]
        self.sum = self.session.allocate_l1(1024, cores=core)
        kernel = self.session.load_kernel(ELF)
        self.program = self.session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, core)])
        self.result = None

    def launch(self):
        self.sum.write(np.zeros(256, np.uint32))
        self.session.launch(self.program, [ttfd.Arguments(common=[self.sum, COUNT])])
        return int(self.sum.read(np.uint32, 1)[0])

    def start(self):
        """Launches from a thread of its own."""
        def run():
            try:
                self.result = self.launch()
            except ttfd.Error as error:
                self.result = error
        self.thread = start_thread(run)

    def finish(self):
        join(self.thread)
        return self.result


def symbol(name):
    """Where a function of the kernel is, from its beginning."""
    table = subprocess.run(["riscv64-unknown-elf-nm", "-C", ELF], capture_output=True, text=True, check=True).stdout
    return int(re.search(rf"^([0-9a-f]+) . {name}\b", table, re.MULTILINE).group(1), 16)


def load_address(monitored):
    """Of the kernel, from what "monitor kernels" says."""
    return int(re.search(r"add-symbol-file \S*debugged\S* -o (0x[0-9a-f]+)", monitored).group(1), 16)


def test_a_launch_outlives_a_stop_longer_than_every_timeout(debugged):
    squares = Squares(debugged)
    assert squares.launch() == SUM  # places the kernel
    gdb = Rsp(debugged.gdb)
    square = load_address(gdb.monitor("kernels")) + symbol(r"Square")
    assert gdb.ask(f"Z0,{square:x},4") == "OK"
    gdb.send("vCont;c")
    squares.start()
    stop = gdb.take()
    assert stop.startswith("T05thread:1;") and "swbreak:;" in stop
    assert (gdb.register(32), gdb.register(10)) == (square, 0)  # pc, the argument
    time.sleep(4 * TIMEOUT_MS / 1000)

    # Step off it, meet it again, watch what it adds to.
    assert gdb.ask(f"z0,{square:x},4") == "OK"
    for step in range(1, 3):
        assert gdb.ask("vCont;s:1").startswith("T05thread:1;")
        assert gdb.register(32) in (square + 4 * step, gdb.register(1))
    assert gdb.ask(f"Z0,{square:x},4") == "OK"
    assert "swbreak" in gdb.ask("vCont;c")
    assert gdb.register(10) == 1
    assert gdb.ask(f"z0,{square:x},4") == "OK"
    sum_address = next(gdb.register(number) for number in (8, 9, *range(18, 28), 11, 12, 13, 14, 15)
                       if gdb.register(number) % 16 == 0 and 0x10000 < gdb.register(number) < 0x180000)
    assert gdb.ask(f"Z2,{sum_address:x},4") == "OK"
    assert f"watch:{sum_address:x};" in gdb.ask("vCont;c")
    assert gdb.word(sum_address) == 1
    assert f"watch:{sum_address:x};" in gdb.ask("vCont;c")
    assert gdb.word(sum_address) == 1 + 4
    time.sleep(2 * TIMEOUT_MS / 1000)
    assert gdb.ask(f"z2,{sum_address:x},4") == "OK"
    gdb.send("vCont;c")
    assert squares.finish() == SUM
    assert gdb.interrupt().startswith("T02")
    assert gdb.ask("D") == "OK"
    assert squares.launch() == SUM
    assert "device lost" not in debugged.log() and "hung" not in debugged.log()


def test_a_kernel_that_really_hangs_is_found_with_a_debugger_connected(debugged):
    with ttfd.connect(debugged.address) as session:
        core = [ttfd.CoreRange(0, 0, 0, 0)]
        flag = session.allocate_l1(1024, cores=core)
        spin = session.create_program([ttfd.KernelUse(session.load_kernel(KERNELS / "spin.elf"), ttfd.BRISC, core)])
        gdb = Rsp(debugged.gdb)
        gdb.send("c")
        with pytest.raises(ttfd.Error) as caught:
            session.launch(spin, [ttfd.Arguments(common=[flag])])
        assert caught.value.reason == "HANG"
        assert gdb.interrupt().startswith("T02")
        gdb.close()


def test_an_idle_daemon_answers_at_once(debugged):
    start = time.monotonic()
    for _ in range(20):
        gdb = Rsp(debugged.gdb)
        assert gdb.ask("D") == "OK"  # who comes while another is there is turned away
        gdb.close()
    assert time.monotonic() - start < 15, "a device thread that sleeps and is not asked looks every 2 s"
    gdb = Rsp(debugged.gdb)
    threads = gdb.ask("qXfer:threads:read::0,3fff")
    assert '<thread id="1" name="(1,2) BRISC">waits for' in threads
    gdb.close()


def test_a_fault_is_shown_before_the_daemon_recovers(debugged):
    with ttfd.connect(debugged.address) as session:
        core = [ttfd.CoreRange(1, 1, 1, 1)]
        fault = session.create_program([ttfd.KernelUse(session.load_kernel(KERNELS / "fault.elf"), ttfd.BRISC, core)])
        gdb = Rsp(debugged.gdb)
        gdb.send("c")
        errors = []

        def run():
            try:
                session.launch(fault)
            except ttfd.Error as error:
                errors.append(error)
        launching = start_thread(run)
        stop = gdb.take()
        assert re.match(r"T04thread:[0-9a-f]+;", stop), stop
        assert gdb.word(gdb.register(32)) == 0  # zeros, which are no instruction
        time.sleep(2 * TIMEOUT_MS / 1000)
        assert not errors
        gdb.send("C04")
        join(launching)
        assert errors and errors[0].reason == "DEVICE_FAULT"
        gdb.interrupt()
        assert gdb.ask("D") == "OK"
    assert Squares(debugged).launch() == SUM


def test_a_daemon_that_is_told_to_stop_sends_the_debugger_away(debugged):
    gdb = Rsp(debugged.gdb)
    debugged.process.send_signal(signal.SIGTERM)
    assert gdb.take() == "W00"
    assert debugged.process.wait(PATIENCE_S) == 0


@pytest.mark.skipif(shutil.which("gdb-multiarch") is None, reason="gdb-multiarch is not installed")
def test_gdb_breaks_by_name_prints_variables_and_watches(debugged):
    squares = Squares(debugged)
    assert squares.launch() == SUM
    first = run_gdb(debugged, ["monitor kernels", "info threads"])
    assert re.search(r'Thread 1 "\(1,2\) BRISC" \(waits for .*\)', first), first
    session = run_gdb(debugged, [
        f"add-symbol-file {ELF} -o {load_address(first):#x}",
        "break Square if number == 2", "continue", "backtrace 2", "print number", "finish", "delete",
        "print *sum", "watch -location *sum", "continue", "continue", "delete", "stepi", "info registers pc", "detach"],
        squares.start)
    assert squares.finish() == SUM
    assert re.search(r'Thread 1 "\(1,2\) BRISC" hit Breakpoint 1, Square \(number=.*2\)', session), session
    assert re.search(r"#0 +Square \(.*\) at .*debugged\.cc:\d+\n#1 .* kernel_main \(\) at .*debugged\.cc", session), session
    assert "$1 = 2\n" in session and "Value returned is $2 = 4\n" in session and "$3 = 1\n" in session, session
    assert re.search(r"hit Hardware watchpoint 2: -location \*sum\n\nOld value = 1\nNew value = 5\n", session), session
    assert re.search(r"hit Hardware watchpoint 2: -location \*sum\n\nOld value = 5\nNew value = 14\n", session), session
    assert re.search(r"^pc\s+0x[0-9a-f]+\s.*<kernel_main\(\)\+\d+>$", session, re.MULTILINE), session
    assert "device lost" not in debugged.log()


def run_gdb(daemon, commands, once_connected=lambda: None):
    """What GDB prints, connected to the daemon. The card stands still when `once_connected` is called."""
    words = ["gdb-multiarch", "-nx", "-batch", "-ex", "set pagination off", "-ex", "set confirm off",
             "-ex", f"target remote {daemon.gdb}"]
    for command in commands:
        words += ["-ex", command]
    connections = daemon.log().count("a debugger connected")
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    deadline = time.monotonic() + PATIENCE_S
    while daemon.log().count("a debugger connected") == connections:
        assert time.monotonic() < deadline, "GDB did not connect"
        time.sleep(0.01)
    once_connected()
    try:
        return running.communicate(timeout=2 * PATIENCE_S)[0]
    except subprocess.TimeoutExpired:
        running.kill()
        pytest.fail("GDB does not end; it said:\n" + running.communicate()[0])
