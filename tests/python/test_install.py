"""Where the files of an installation lie, and that they work there: as a package would be made, with DESTDIR."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import BUILD, Daemon, install, succeed

# Paths under the prefix /usr, as Debian expects them.
EXPECTED = [
    "usr/bin/ttfd",
    "usr/bin/ttfdctl",
    "usr/libexec/ttfd/ttfd-hugepages",
    "usr/libexec/ttfd/ttfd-ttsim-child",
    "usr/lib/systemd/system/ttfd.service",
    "usr/lib/systemd/system/ttfd.socket",
    "usr/lib/systemd/system/ttfd-hugepages.service",
    "usr/lib/udev/rules.d/60-ttfd.rules",
    "usr/lib/sysusers.d/ttfd.conf",
    "usr/include/ttfd/ttsim_api.h",
    "usr/share/ttfd/proto/ttfd/v1/ttfd.proto",
    "usr/share/ttfd/kernels/vector_add.elf",
    "etc/ttfd/ttfd.toml",
]
UNIT = "lib/systemd/system/ttfd.service"
KERNELS = {"blur_edge", "chain_reader", "chain_writer", "sha256_chunks", "task_add", "task_add_scalar", "task_mix",
           "task_multiply", "task_tile_reader", "task_tile_writer", "tile_reader", "tile_report", "tile_writer", "vector_add"}
COMPUTE_KERNELS = {"chain_compute", "task_exp", "task_matmul", "task_row_expand", "task_row_reduce", "tile_math"}
ELFS = KERNELS | {f"{name}_trisc{i}" for name in COMPUTE_KERNELS for i in range(3)}


def test_files_lie_where_debian_expects_them(installed):
    assert [path for path in EXPECTED if not (installed.parent / path).is_file()] == []
    assert {path.stem for path in (installed / "share/ttfd/kernels").iterdir()} == ELFS
    assert {path.stem for path in (installed / "share/doc/ttfd/examples/kernels").glob("*.cc")} == KERNELS | COMPUTE_KERNELS


def test_nothing_of_the_build_folder_is_named(installed):
    for path in EXPECTED:
        if path.endswith((".service", ".socket", ".conf", ".toml", ".rules")):
            text = (installed.parent / path).read_text()
            assert str(BUILD) not in text, path
            assert "@" not in text.replace("SystemCallFilter=@", "").replace("=~@privileged @resources", ""), path


def test_the_installed_daemon_serves_the_installed_model(installed):
    """The model as a library, in the installed child process."""
    found = list((installed / "lib").rglob("libttfd_sim.so"))
    assert [path.parent.name for path in found] == ["ttfd"]
    daemon = Daemon(device=f"ttsim:{found[0]}", program=installed / "bin/ttfd")
    try:
        shown = succeed(installed / "bin/ttfdctl", "status", TTFD_ADDRESS=daemon.address)
        assert "ttsim" in shown, shown
    finally:
        daemon.end()


def test_the_installed_python_package_finds_libttfd(installed):
    """By a path relative to itself; without gRPC for Python, which only the raw examples need."""
    package = installed / "lib/python3/dist-packages"
    script = "import sys, ttfd; print(*(line.split()[-1] for line in open('/proc/self/maps') if 'libttfd.so' in line)); print('grpc' in sys.modules)"
    loaded, grpc = succeed("/usr/bin/python3", "-B", "-c", script, PYTHONPATH=str(package)).splitlines()
    assert {pathlib.Path(path).parent.resolve() for path in loaded.split()} == {next(installed.rglob("libttfd.so.0")).parent.resolve()}
    assert grpc == "False"
    assert {path.name for path in (package / "ttfd").iterdir()} >= {"py.typed", "_native.pyi", "v1"}


def test_the_installed_configuration_is_valid(installed):
    configuration = installed.parent / "etc/ttfd/ttfd.toml"
    assert "ttfd.toml: configuration OK" in succeed(installed / "bin/ttfd", "--check-config", "--config", configuration)


def test_unit_names_the_installed_paths(installed):
    unit = (installed / UNIT).read_text()
    assert "ExecStart=/usr/bin/ttfd --config /etc/ttfd/ttfd.toml\n" in unit
    assert "ExecStart=/usr/libexec/ttfd/ttfd-hugepages\n" in (installed / "lib/systemd/system/ttfd-hugepages.service").read_text()
    for line in ("DeviceAllow=char-tenstorrent rw", "Wants=ttfd-hugepages.service", "Type=notify", "User=ttfd", "Restart=on-failure", "RuntimeDirectory=ttfd", "NoNewPrivileges=yes"):
        assert f"{line}\n" in unit
    assert "WatchdogSec=" in unit and "LimitNOFILE=" in unit


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze")
def test_units_are_valid_and_leave_the_daemon_little(installed):
    result = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", f"--root={installed.parent}",
                             "ttfd.service", "ttfd.socket", "ttfd-hugepages.service"], check=False, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")
    succeed("systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold=10", installed / UNIT)  # exposure 1.0 of 10


@pytest.mark.parametrize("wanted, found", [("0.1", True), ("0.2", False), ("1.0", False)])
def test_find_package_knows_the_version(installed, tmp_path, wanted, found):
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.25)\nproject(x LANGUAGES CXX)\nfind_package(ttfd {wanted} REQUIRED)\n")
    result = subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={installed}"], check=False,
                            capture_output=True, text=True, timeout=60)
    assert (result.returncode == 0) == found, result.stderr


def test_configuration_of_an_administrator_is_kept(tmp_path):
    (tmp_path / "etc/ttfd").mkdir(parents=True)
    path = tmp_path / "etc/ttfd/ttfd.toml"
    path.write_text("# mine\n")
    install(tmp_path, "/usr")
    assert path.read_text() == "# mine\n"
    assert pathlib.Path(f"{path}.new").read_text().startswith("#")


def test_another_prefix_keeps_everything_below_it(tmp_path):
    install(tmp_path, "/opt/ttfd")
    unit = (tmp_path / "opt/ttfd" / UNIT).read_text()
    assert "ExecStart=/opt/ttfd/bin/ttfd --config /opt/ttfd/etc/ttfd/ttfd.toml\n" in unit
    assert (tmp_path / "opt/ttfd/etc/ttfd/ttfd.toml").is_file()
    assert os.listdir(tmp_path) == ["opt"]
