"""ttfdctl system-desc: the card that a daemon reports, in the files of the tt-mlir compiler.

TTFD_TTMLIR_SAMPLES and TTFD_TTMLIR_SCHEMAS: see test_compiled_programs.py.
"""

from __future__ import annotations

import json
import os
import pathlib
import platform
import shutil
from typing import Any

import pytest

import compiled_files
import ttfd
from conftest import Daemon
from test_compiled_programs import FOLDERS, as_flatc_prints, assert_same, inspect
from ttfd import ttmlir

PROFILES = sorted(path.stem for path in compiled_files.PROFILES.glob("system-*.profile"))
NEWEST = "system-92f6a8a87b72"
# As other cards of the kind come: nothing harvested; two columns; two columns and a bank.
CARDS = {"p150": "sim", "p150 harvested": "sim:board=p150,columns=4+13", "p100a": "sim:board=p100a"}
# Of the sample of a p150, what says how much of the card a runtime has, or by which compiler it was written.
OF_RUNTIME = {"l1_unreserved_base", "erisc_l1_unreserved_base", "dram_unreserved_base", "dram_unreserved_end",
              "supported_data_types", "supported_tile_sizes", "num_cbs"}


@pytest.fixture(scope="module", params=CARDS, ids=str)
def card(request: pytest.FixtureRequest) -> Daemon:
    running = Daemon(CARDS[request.param])
    running.kind = request.param
    yield running
    running.end()


@pytest.fixture(scope="module")
def device(card: Daemon) -> ttfd.Device:
    with ttfd.connect(card.address) as session:
        return session.device


def dim(x: int, y: int) -> dict[str, int]:
    return {"y": y, "x": x}


def described(device: ttfd.Device) -> dict[str, Any]:
    """A chip's fields in all versions of the schema, by what the daemon reports."""
    nearest = [dim(*bank.nearest_worker) for bank in device.banks]
    workers = [dim(x, y) for y in device.worker_y for x in device.worker_x]
    return {
        "arch": "Blackhole", "grid_size": dim(device.grid_x, device.grid_y), "coord_translation_offsets": workers[0],
        "l1_size": device.l1_base + device.l1_bytes, "num_dram_channels": device.dram_banks,
        "dram_channel_size": device.dram_bank_size, "noc_l1_address_align_bytes": device.l1_alignment,
        "pcie_address_align_bytes": 64, "noc_dram_address_align_bytes": device.dram_alignment,
        "l1_unreserved_base": device.l1_base, "erisc_l1_unreserved_base": 512 << 10, "dram_unreserved_base": device.dram_base,
        "dram_unreserved_end": device.dram_base + device.dram_bank_bytes,
        "physical_cores": {"worker": workers, "dram": [dim(*bank.port) for bank in device.banks], "eth": [], "eth_inactive": []},
        "supported_data_types": ["BFloat16", "Float32", "BFP_BFloat8", "UInt32", "Int32"], "supported_tile_sizes": [dim(32, 32)],
        "dst_physical_size_tiles": 16, "num_cbs": device.circular_buffers, "num_compute_threads": 1, "num_datamovement_threads": 2,
        "dram_grid_size": dim(device.dram_banks, 1), "dram_bank_to_logical_worker_noc0": nearest,
        "dram_bank_to_logical_worker_noc1": nearest}


def expected(device: ttfd.Device, profile: str) -> dict[str, Any]:
    """The root of the file, with the fields of the schema alone."""
    digits = compiled_files.full_hash(profile)
    is_commit = len(digits) == 40
    text = "".join((compiled_files.PROFILES / f"{base}.profile").read_text() for base in bases(profile))
    fields = {word.split("@")[0] for word in next(line for line in text.splitlines() if line.startswith("table ChipDesc ")).split()[2:]}
    chip = {name: value for name, value in described(device).items() if name in fields}
    assert set(chip) == fields, "a field of the schema is missing here"
    if is_commit and "supported_data_types" in chip:
        chip["supported_data_types"].remove("Int32")  # no type of 2024
    system = {"chip_descs": [chip], "chip_desc_indices": [0], "chip_coords": [{"rack": 0, "shelf": 0, "y": 0, "x": 0}],
              "chip_capabilities": ["PCIE HostMMIO" if is_commit else "HostMMIO"], "chip_channels": []}
    if not is_commit:
        system["cpu_descs"] = [{"role": "Host", "target_triple": f"{platform.machine()}-pc-linux-gnu"}]
    return {"version": {"major": 0, "minor": 0, "patch": 0}, "product_identifier": device.board, "system_desc": system,
            **({} if is_commit else {"schema_hash": digits}), "ttmlir_git_hash": digits if is_commit else "0" * 40}


def bases(profile: str) -> list[str]:
    """The profile and what it extends, the last word first."""
    lines = (compiled_files.PROFILES / f"{profile}.profile").read_text().splitlines()
    return [profile, *(name for line in lines if line.startswith("extends ") for name in bases(line.split()[1]))]


def test_the_cards_differ_as_they_are_made(card: Daemon, device: ttfd.Device) -> None:
    columns, banks = {"p150": (13, 8), "p150 harvested": (11, 8), "p100a": (11, 7)}[card.kind]
    assert (device.grid_x, device.dram_banks, len(device.worker_x), len(device.banks)) == (columns, banks, columns, banks)
    middle = 7 if card.kind == "p150" else 6  # columns at the left of the second column of DRAM
    assert {bank.nearest_worker[0] for bank in device.banks} == {0, middle}
    assert all(bank.nearest_worker[1] < device.grid_y for bank in device.banks)
    assert len({bank.port for bank in device.banks}) == banks


@pytest.mark.parametrize("profile", PROFILES)
def test_a_file_has_what_the_daemon_reports(card: Daemon, device: ttfd.Device, tmp_path: pathlib.Path, profile: str) -> None:
    path = tmp_path / "card.ttsys"
    done = card.ctl("system-desc", "-o", path, "--schema", compiled_files.full_hash(profile))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{path}: {device.board}, {device.grid_x}x{device.grid_y} workers") and profile in done.stdout
    assert json.loads(inspect(path, "--json")) == expected(device, profile)


@pytest.mark.skipif(not FOLDERS["TTFD_TTMLIR_SCHEMAS"], reason="TTFD_TTMLIR_SCHEMAS is not set")
@pytest.mark.skipif(shutil.which("flatc") is None, reason="no flatc; Debian: flatbuffers-compiler")
def test_flatc_reads_it_with_the_public_schema(card: Daemon, device: ttfd.Device, tmp_path: pathlib.Path) -> None:
    for profile in PROFILES:
        path = tmp_path / "card.ttsys"
        assert card.ctl("system-desc", "-o", path, "--schema", profile.split("-")[1]).returncode == 0
        assert path.read_bytes()[8:12] == b"TTSY"
        assert_same(expected(device, profile), as_flatc_prints(path, profile, tmp_path), profile)


@pytest.mark.skipif(not FOLDERS["TTFD_TTMLIR_SAMPLES"], reason="TTFD_TTMLIR_SAMPLES is not set")
def test_a_card_is_described_as_its_sample_is(card: Daemon, tmp_path: pathlib.Path) -> None:
    if card.kind != "p150 harvested":
        pytest.skip("the sample is of a p150 with 11 columns for programs")
    path = tmp_path / "card.ttsys"
    assert card.ctl("system-desc", "-o", path, "--schema", "7f252e8a9f2f").returncode == 0
    ours, sample = (json.loads(inspect(file, "--json"))["system_desc"]
                    for file in (path, pathlib.Path(FOLDERS["TTFD_TTMLIR_SAMPLES"], "p150_system_desc.ttsys")))
    for system in (ours, sample):
        for cpu in system["cpu_descs"]:
            cpu["target_triple"] = cpu["target_triple"].split("-")[0]
    differing = {name for name, value in sample["chip_descs"][0].items() if ours["chip_descs"][0][name] != value}
    assert differing == OF_RUNTIME
    del ours["chip_descs"], sample["chip_descs"]
    assert ours == sample


def test_json_and_python_agree(daemon: Daemon, session: ttfd.Session, tmp_path: pathlib.Path) -> None:
    path, other = tmp_path / "card.ttsys", tmp_path / "other.ttsys"
    shown = json.loads(daemon.ctl("--json", "system-desc", "-o", path).stdout)
    assert (shown["file"], shown["profile"], shown["schema_hash"]) == (str(path), NEWEST, compiled_files.full_hash(NEWEST))
    assert shown["system"] == expected(session.device, NEWEST)["system_desc"]
    ttmlir.write_system_description(session.device, str(other))
    assert other.read_bytes() == path.read_bytes()
    with pytest.raises(ttfd.Error, match="no profile"):
        ttmlir.write_system_description(session.device, str(other), schema="00")


@pytest.mark.parametrize("words, code, text", [
    (["-o", "/nonexistent/card.ttsys"], 1, "cannot write /nonexistent/card.ttsys"),
    (["-o", "/dev/null"], 4, "/dev/null is not a regular file"),
    (["-o", "FILE", "--schema", "00"], 4, "there is no profile of system descriptions with schema 00"),
    (["-o", "FILE", "--schema", "f"], 4, "schema f is one of several"),
    (["-o", "FILE", "--profiles", "/nonexistent"], 4, "none in /nonexistent"),
    (["-o", "FILE", "--address", "unix:/nonexistent/socket"], 3, "/nonexistent/socket"),
    ([], 2, "--output is required")])
def test_what_cannot_be_done_changes_no_file(daemon: Daemon, tmp_path: pathlib.Path, words: list[str], code: int, text: str) -> None:
    path = tmp_path / "card.ttsys"
    path.write_text("before")
    done = daemon.ctl("system-desc", *(str(path) if word == "FILE" else word for word in words))
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert text in done.stderr
    assert path.read_text() == "before" and os.listdir(tmp_path) == ["card.ttsys"]
