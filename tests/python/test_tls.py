"""TCP with certificates of both sides: who gets in, as whom, with which role; new certificates without a restart."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from typing import Any

import numpy as np
import pytest

import ttfd
from certificates import Authority
from conftest import BUILD, KERNELS, Daemon, eventually

RELOAD_TIMEOUT_S = 20


class Place:
    """A daemon with a TCP port, and the certificates around it."""

    def __init__(self, tls: str = "", more: str = "") -> None:
        self.more_tls, self.more = tls, more
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ttfd_tls_"))
        self.ca = Authority(self.folder / "ca", "ttfd test CA")
        self.other = Authority(self.folder / "other", "another CA")
        server, key = self.ca.issue("daemon", alternative="IP:127.0.0.1,DNS:card.test")
        self.files = {"certificate": self.folder / "server.pem", "key": self.folder / "server.key",
                      "client_ca": self.folder / "clients.pem"}
        self.install(server, key, self.ca.certificate)
        self.daemon = Daemon(config=self.config())
        self.await_log(" (TLS)\n")
        found = re.search(r"127\.0\.0\.1:(\d+) \(TLS\)", self.daemon.log())
        assert found, self.daemon.log()
        self.port = int(found.group(1))
        self.address = f"127.0.0.1:{self.port}"

    def install(self, certificate: pathlib.Path, key: pathlib.Path, clients: pathlib.Path) -> None:
        for name, source in (("certificate", certificate), ("key", key), ("client_ca", clients)):
            new = self.files[name].with_suffix(".new")
            shutil.copy(source, new)
            new.rename(self.files[name])

    def config(self, port: int = 0) -> str:
        return f"""
[listen]
connections_per_user = 8
hello_ms = 2000
[tls]
address = "127.0.0.1:{port}"
certificate = "{self.files['certificate']}"
key = "{self.files['key']}"
client_ca = "{self.files['client_ca']}"
{self.more_tls}
[roles]
submit_certificates = ["worker", "host.example"]
observe_certificates = ["watcher"]
admin_certificates = ["boss"]
{self.more}
"""

    def tls(self, name: str, **more) -> dict[str, str]:
        """What a client with a certificate of the CA gives."""
        certificate, key = self.ca.folder / f"{name}.pem", self.ca.folder / f"{name}.key"
        if not certificate.exists():
            self.ca.issue(name, **more)
        return {"ca": str(self.ca.certificate), "certificate": str(certificate), "key": str(key)}

    def connect(self, tls: dict[str, str], timeout: float = 10.0) -> ttfd.Session:
        return ttfd.connect(self.address, tls=tls, connect_timeout=timeout)

    def await_connect(self, tls: dict[str, str], works: bool) -> None:
        """Until a connection is let in, or is not any more."""
        deadline = time.monotonic() + RELOAD_TIMEOUT_S
        while True:
            try:
                self.connect(tls, timeout=1.0).close()
                if works:
                    return
            except ttfd.Error:
                if not works:
                    return
            assert time.monotonic() < deadline, self.daemon.log()
            time.sleep(0.1)

    def await_log(self, text: str) -> None:
        deadline = time.monotonic() + RELOAD_TIMEOUT_S
        while text not in self.daemon.log():
            assert time.monotonic() < deadline, self.daemon.log()
            time.sleep(0.05)

    def ctl(self, name: str, *words: str | pathlib.Path) -> subprocess.CompletedProcess[str]:
        tls = self.tls(name)
        environment = dict(os.environ, TTFD_ADDRESS=self.address, TTFD_TLS_CA=tls["ca"],
                           TTFD_TLS_CERTIFICATE=tls["certificate"], TTFD_TLS_KEY=tls["key"])
        return subprocess.run([BUILD / "client/cli/ttfdctl", *words], env=environment, capture_output=True, text=True,
                              timeout=60, check=False)

    def end(self) -> None:
        self.daemon.end()
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="module")
def place():
    made = Place()
    yield made
    made.end()


def refused(place: Place, tls: dict[str, str]) -> ttfd.Error:
    with pytest.raises(ttfd.Error) as raised:
        place.connect(tls, timeout=30.0)
    return raised.value


def test_a_certificate_of_the_ca_computes(place: Place) -> None:
    with place.connect(place.tls("worker")) as session:
        data = np.arange(50_000, dtype=np.uint32)
        buffer = session.allocate_dram(data.nbytes)
        session.queue.write(buffer, data)
        assert (session.queue.read(buffer, np.uint32) == data).all()
        row = json.loads(place.daemon.ctl("sessions", "list", "--json").stdout)["sessions"][0]
        assert (row["user"], row["pid"]) == ("worker", None)
        assert row["uid"] >= 1 << 31, "a number that no user of this machine has"
    result = place.ctl("worker", "run", KERNELS / "empty.elf", "--cores", "0,0")
    assert result.returncode == 0, result.stderr


def test_an_alternative_name_names_who_has_no_common_name(place: Place) -> None:
    place.ca.issue("", alternative="DNS:host.example", file="alternative")
    with place.connect(place.tls("alternative")) as session:
        assert session.id > 0


def test_common_name_counts_without_alternative_names_only(place: Place) -> None:
    place.ca.issue("boss", alternative="DNS:host.example", file="dns")
    place.connect(place.tls("dns")).close()
    assert place.ctl("dns", "status").returncode == 4, "host.example may submit, boss alone may observe"
    place.ca.issue("boss", alternative="DNS:host.example,URI:spiffe://example/stranger", file="uri")
    assert "certificate 'spiffe://example/stranger'" in refused(place, place.tls("uri")).message
    place.ca.issue("boss", alternative="email:boss@host.example", file="mail")
    assert "certificate 'boss@host.example'" in refused(place, place.tls("mail")).message


def test_without_a_certificate_of_the_ca_nobody_gets_in(place: Place) -> None:
    before = place.daemon.ctl("sessions", "list", "--json").stdout
    certificate, key = place.other.issue("worker")
    wrong_ca = {"ca": str(place.ca.certificate), "certificate": str(certificate), "key": str(key)}
    assert refused(place, wrong_ca).code == ttfd.Code.UNAVAILABLE
    assert refused(place, place.tls("expired", days=-1)).code == ttfd.Code.UNAVAILABLE
    # A client that shows nothing, and one that does not speak TLS.
    import grpc

    from ttfd.v1 import ttfd_pb2, ttfd_pb2_grpc
    root = place.ca.certificate.read_bytes()
    for channel in (grpc.secure_channel(place.address, grpc.ssl_channel_credentials(root)), grpc.insecure_channel(place.address)):
        with pytest.raises(grpc.RpcError) as raised:
            ttfd_pb2_grpc.DeviceServiceStub(channel).ListDevices(ttfd_pb2.ListDevicesRequest(), timeout=3.0)
        assert raised.value.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
        channel.close()
    assert place.daemon.ctl("sessions", "list", "--json").stdout == before


def test_a_client_does_not_talk_to_a_daemon_that_it_cannot_verify(place: Place) -> None:
    tls = place.tls("worker")
    assert refused(place, dict(tls, ca=str(place.other.certificate))).code == ttfd.Code.UNAVAILABLE
    assert refused(place, dict(tls, server_name="another.test")).code == ttfd.Code.UNAVAILABLE
    with place.connect(dict(tls, server_name="card.test")) as session:
        assert session.id > 0
    with pytest.raises(ttfd.Error, match="needs certificates: no key"):
        ttfd.connect(place.address, tls={"ca": tls["ca"], "certificate": tls["certificate"]})
    bare = subprocess.run([BUILD / "client/cli/ttfdctl", "--address", place.address, "--tls-ca", "/nowhere", "status"],
                          capture_output=True, text=True, timeout=60, check=False)
    assert bare.returncode == 4 and "cannot read the CA /nowhere" in bare.stderr


def test_each_role_may_what_it_may(place: Place) -> None:
    may = {
        "worker": (True, False, False),
        "watcher": (False, True, False),
        "boss": (True, True, True),
        "stranger": (False, False, False),
    }
    for name, (submit, observe, admin) in may.items():
        assert (place.ctl(name, "status").returncode == 0) == observe, name
        changed = place.ctl(name, "timeouts", "set", "--stalled-client", "50000")
        assert (changed.returncode == 0) == admin, name
        if submit:
            place.connect(place.tls(name)).close()
        else:
            error = refused(place, place.tls(name))
            assert error.code == ttfd.Code.PERMISSION_DENIED and "role submit" in error.message, name


def test_the_audit_trail_names_the_certificate(place: Place) -> None:
    assert place.ctl("boss", "timeouts", "set", "--kernel", "54321").returncode == 0
    assert place.ctl("stranger", "drain").returncode == 4
    deadline = time.monotonic() + 20
    lines: list[dict[str, Any]] = []
    while time.monotonic() < deadline and not any(line["certificate"] == "stranger" for line in lines):
        time.sleep(0.001)  # a thread of its own writes them, in their order
        lines = [json.loads(line.split(" audit ", 1)[1]) for line in place.daemon.log().splitlines(keepends=True)
                 if " audit " in line and line.endswith("\n")]
    done = [line for line in lines if line["certificate"] == "boss"][-1]
    assert (done["action"], done["outcome"], done["arguments"]) == ("SetTimeouts", "OK", {"timeouts": {"kernel_ms": 54321}})
    tried = [line for line in lines if line["certificate"] == "stranger"][-1]
    assert (tried["action"], tried["outcome"], tried["pid"]) == ("Drain", "PERMISSION_DENIED", 0)
    assert "certificate 'stranger'" in tried["message"]


def test_connections_are_limited_by_host_and_then_by_certificate(place: Place) -> None:
    # Eight that say nothing take the host's share until the handshake's deadline passes.
    silent = [socket.create_connection(("127.0.0.1", place.port)) for _ in range(8)]
    assert refused(place, place.tls("worker")).code == ttfd.Code.UNAVAILABLE
    deadline = time.monotonic() + RELOAD_TIMEOUT_S
    while True:
        try:
            sessions = [place.connect(place.tls("worker"), timeout=1.0)]
            break
        except ttfd.Error:
            assert time.monotonic() < deadline, "silent connections are never closed"
    for each in silent:
        each.close()
    # Connections with a certificate count for it, not for the host.
    sessions += [place.connect(place.tls("worker")) for _ in range(7)]
    assert refused(place, place.tls("worker")).code == ttfd.Code.RESOURCE_EXHAUSTED
    with place.connect(place.tls("boss")) as other:
        assert other.id > 0
    for session in sessions:
        session.close()


def test_new_certificates_are_used_without_a_restart(place: Place) -> None:
    with place.connect(place.tls("worker")) as old:
        new = Authority(place.folder / "new", "the next CA")
        certificate, key = new.issue("daemon", alternative="IP:127.0.0.1")
        place.install(certificate, key, new.certificate)
        worker, worker_key = new.issue("worker")
        tls = {"ca": str(new.certificate), "certificate": str(worker), "key": str(worker_key)}
        place.await_connect(tls, works=True)
        assert refused(place, place.tls("worker")).code == ttfd.Code.UNAVAILABLE, "the old CA lets nobody in any more"
        buffer = old.allocate_dram(4096)
        old.queue.write(buffer, np.ones(4096, np.uint8))
        assert old.queue.read(buffer).all(), "connections that stand go on"
        # A key that does not belong to its certificate lets nobody in, says so when asked, and is mended like this.
        _, wrong = new.issue("wrong")
        place.install(certificate, wrong, new.certificate)
        place.await_connect(tls, works=False)
        place.daemon.process.send_signal(signal.SIGHUP)
        place.await_log("is not that of the certificate")
        place.install(certificate, key, new.certificate)
        place.await_connect(tls, works=True)


def test_wrong_files_stop_the_daemon_at_its_start(place: Place) -> None:
    def check(text: str) -> str:
        config = place.folder / "wrong.toml"
        config.write_text(text)
        result = subprocess.run([BUILD / "daemon/ttfd", "--config", config, "--check-config"], capture_output=True,
                                text=True, timeout=60, check=False)
        assert result.returncode == 2, text
        return result.stderr

    good = place.config(7443)
    assert "all or none" in check(good.replace("client_ca", "#client_ca"))
    assert "is not that of the certificate" in check(good.replace("server.key", "ca/boss.key"))
    assert "cannot read the client CA" in check(good.replace("clients.pem", "nothing.pem"))
    assert "holds no certificate" in check(good.replace("server.pem", "server.key"))
    assert "names are not" in check(good.replace("127.0.0.1:7443", "localhost:7443"))


class Cable:
    """Between one TCP port and another; pulled out, it swallows what its connections say and closes none of them."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.sockets: list[socket.socket] = []
        self.down = False  # nothing new gets through, either
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if self.down:
                client.close()
                continue
            daemon = socket.create_connection(("127.0.0.1", self.port))
            self.sockets += [client, daemon]
            plugged = threading.Event()
            plugged.set()
            self.plugged = plugged
            for source, to in ((client, daemon), (daemon, client)):
                threading.Thread(target=self._carry, args=(source, to, plugged), daemon=True).start()

    @staticmethod
    def _carry(source: socket.socket, to: socket.socket, plugged: threading.Event) -> None:
        try:
            while data := source.recv(65536):
                if plugged.is_set():
                    to.sendall(data)
        except OSError:
            pass
        if plugged.is_set():  # else the other end hears nothing of it
            for end in (source, to):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def pull(self) -> None:
        """What is connected now; what connects from now on gets through."""
        self.plugged.clear()

    def close(self) -> None:
        for end in [self.listener, *self.sockets]:
            end.close()


KEEPALIVE_MS = 1500  # a busy machine must answer within it


@pytest.fixture(scope="module")
def far_place():
    made = Place(tls=f"keepalive_ms = {KEEPALIVE_MS}", more="[limits]\nreconnect_timeout_ms = 1500")
    yield made
    made.end()


def test_a_client_that_vanishes_without_a_word_loses_its_session_and_nobody_else_does(far_place: Place) -> None:
    def there() -> set[int]:
        listed = json.loads(far_place.daemon.ctl("sessions", "list", "--json").stdout)["sessions"]
        return {entry["session"] for entry in listed}

    def leases() -> list:
        return json.loads(far_place.daemon.ctl("leases", "--json").stdout)["leases"]

    cable = Cable(far_place.port)
    local = ttfd.connect(far_place.daemon.address)
    quiet = far_place.connect(far_place.tls("worker"))
    kept = quiet.allocate_dram(4096)
    kept.write(np.full(1024, 3, np.uint32))
    before = json.loads(far_place.daemon.ctl("status", "--json").stdout)["devices"][0]["memory"]
    gone = ttfd.connect(cable.address, tls=dict(far_place.tls("worker"), keepalive_ms=KEEPALIVE_MS),
                        lease=ttfd.Lease(workers=[ttfd.CoreRange(8, 8, 9, 9)]))
    lost = gone.allocate_dram(1 << 20)
    lost.write(np.ones(1 << 18, np.uint32))
    assert there() == {local.id, quiet.id, gone.id} and len(leases()) == 1
    cable.down = True
    cable.pull()
    eventually(lambda: there() == {local.id, quiet.id})
    assert not leases()
    assert json.loads(far_place.daemon.ctl("status", "--json").stdout)["devices"][0]["memory"] == before
    cable.down = False
    # Those who only had nothing to say are there as before; the one that was away hears what is gone.
    assert (kept.read(np.uint32) == 3).all() and there() == {local.id, quiet.id}
    with pytest.raises(ttfd.Error) as told:
        lost.read(np.uint32)
    assert told.value.reason in ("SESSION_LOST", "CONNECTION_LOST") and "1 buffer" in str(told.value)
    for session in (local, quiet):
        session.close()
    cable.close()


@pytest.fixture
def own_place():
    made = Place()
    yield made
    made.end()


def test_a_client_whose_daemon_vanishes_without_a_word_connects_anew_and_goes_on(own_place: Place) -> None:
    place = own_place
    cable = Cable(place.port)
    with ttfd.connect(cable.address, tls=dict(place.tls("worker"), keepalive_ms=KEEPALIVE_MS)) as session:
        buffer = session.allocate_dram(4096)
        buffer.write(np.arange(1024, dtype=np.uint32))
        cable.pull()
        buffer.write(np.arange(1024, dtype=np.uint32)[::-1])  # waits until the silence is noticed
        assert session.reconnects >= 1
        assert (buffer.read(np.uint32) == np.arange(1024)[::-1]).all()
    lost = ttfd.connect(cable.address, tls=dict(place.tls("worker"), keepalive_ms=KEEPALIVE_MS), reconnect_for=0)
    buffer = lost.allocate_dram(4096)
    cable.pull()
    with pytest.raises(ttfd.Error) as told:
        buffer.read(np.uint32)
    assert told.value.code == ttfd.Code.UNAVAILABLE and told.value.retryable
    cable.close()


def test_a_certificate_that_is_just_being_renewed_ends_no_session(own_place: Place) -> None:
    cable = Cable(own_place.port)
    tls = own_place.tls("worker")
    key = pathlib.Path(tls["key"])
    with ttfd.connect(cable.address, tls=tls) as session:
        buffer = session.allocate_dram(4096)
        buffer.write(np.arange(1024, dtype=np.uint32))
        away = key.rename(key.with_suffix(".away"))
        for end in cable.sockets:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        time.sleep(0.2)
        away.rename(key)
        assert (buffer.read(np.uint32) == np.arange(1024)).all()
        assert session.reconnects == 1
    cable.close()
