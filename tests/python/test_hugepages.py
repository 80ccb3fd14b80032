"""ttfd-hugepages over prepared trees: what it reserves for which card, and what it says."""

from __future__ import annotations

import pathlib
import re
import subprocess

import pytest

from conftest import SOURCE

PROGRAM = SOURCE / "deploy/ttfd-hugepages"
LARGE, SMALL = "hugepages-1048576kB", "hugepages-2048kB"


class Host:
    """A tree with /sys as far as the program reads it."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.devices = root / "sys/bus/pci/devices"
        self.devices.mkdir(parents=True)

    def card(self, name: str = "0000:03:00.0", *, group: str | None = None, node: int | None = -1, device: str = "0xb140",
             vendor: str = "0x1e52") -> None:
        folder = self.devices / name
        folder.mkdir()
        (folder / "vendor").write_text(f"{vendor}\n")
        (folder / "device").write_text(f"{device}\n")
        if node is not None:
            (folder / "numa_node").write_text(f"{node}\n")
        if group is not None:
            (folder / "iommu_group").mkdir()
            (folder / "iommu_group/type").write_text(f"{group}\n")

    def folder(self, size: str, node: int) -> pathlib.Path:
        parent = "sys/kernel/mm" if node < 0 else f"sys/devices/system/node/node{node}"
        return self.root / parent / "hugepages" / size

    def pages(self, size: str, node: int = -1, *, total: int = 0, free: int = 0, gives: bool = True) -> None:
        folder = self.folder(size, node)
        folder.mkdir(parents=True)
        (folder / "free_hugepages").write_text(f"{free}\n")
        if gives:
            (folder / "nr_hugepages").write_text(f"{total}\n")
        else:
            (folder / "nr_hugepages").symlink_to("/dev/null")  # what is written has no effect

    def total(self, size: str, node: int = -1) -> int:
        return int((self.folder(size, node) / "nr_hugepages").read_text())

    def run(self) -> tuple[int, list[str]]:
        done = subprocess.run([PROGRAM, self.root], capture_output=True, text=True, timeout=30, check=False)
        assert done.stderr == ""
        return done.returncode, done.stdout.splitlines()


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


def test_a_host_without_cards_reserves_nothing(host):
    host.pages(LARGE)
    host.card("0000:01:00.0", vendor="0x8086")
    host.card("0000:02:00.0", device="0x401e")
    assert host.run() == (0, ["no Blackhole card: needs no hugepages"])
    assert host.total(LARGE) == 0


@pytest.mark.parametrize("group", ["DMA", "DMA-FQ"])
def test_a_card_behind_an_iommu_needs_none(host, group):
    host.pages(LARGE)
    host.card(group=group)
    assert host.run() == (0, ["0000:03:00.0: behind an IOMMU, needs no hugepages"])
    assert host.total(LARGE) == 0


@pytest.mark.parametrize("group", [None, "identity"])
@pytest.mark.parametrize("node, where", [(-1, "any NUMA node"), (None, "any NUMA node"), (0, "NUMA node 0"), (3, "NUMA node 3")])
def test_any_other_gets_a_page_of_its_node(host, group, node, where):
    host.pages(LARGE)
    for each in (0, 3):
        host.pages(LARGE, each)
    host.card(group=group, node=node)
    assert host.run() == (0, [f"0000:03:00.0: one hugepage of 1 GiB on {where}"])
    assert [host.total(LARGE, each) for each in (-1, 0, 3)] == [int(each == (-1 if node is None else node)) for each in (-1, 0, 3)]


@pytest.mark.parametrize("total, free, after", [(0, 0, 1), (4, 0, 5), (4, 1, 4), (1, 1, 1)])
def test_free_pages_count(host, total, free, after):
    host.pages(LARGE, total=total, free=free)
    host.card()
    assert host.run()[0] == 0
    assert host.total(LARGE) == after


def test_each_card_has_pages_of_its_own(host):
    host.pages(LARGE, 0, total=1, free=1)
    host.pages(LARGE, 1)
    for name, node in (("0000:03:00.0", 0), ("0000:04:00.0", 0), ("0000:83:00.0", 1)):
        host.card(name, node=node)
    code, lines = host.run()
    assert (code, len(lines)) == (0, 3)
    assert (host.total(LARGE, 0), host.total(LARGE, 1)) == (2, 1)


@pytest.mark.parametrize("free, after", [(0, 9), (4, 5), (9, 0)])
def test_small_pages_stand_in(host, free, after):
    host.pages(LARGE, gives=False)
    host.pages(SMALL, free=free)
    host.card()
    assert host.run() == (0, ["0000:03:00.0: no hugepage of 1 GiB, but 9 of 2 MiB on any NUMA node"])
    assert host.total(SMALL) == after


def test_less_than_needed_is_said_and_the_exit_status(host):
    host.pages(LARGE, gives=False)
    host.pages(SMALL, free=4, gives=False)
    host.card()
    host.card("0000:04:00.0", group="DMA")
    host.card("0000:05:00.0", node=7)  # a node without hugepages at all
    code, lines = host.run()
    assert (code, len(lines)) == (1, 3)
    assert lines[0].startswith("0000:03:00.0: no hugepage of 1 GiB, and 4 of 9 of 2 MiB on any NUMA node: turn on the IOMMU")
    assert lines[2].startswith("0000:05:00.0: no hugepage of 1 GiB, and 0 of 9 of 2 MiB on NUMA node 7: ")


def test_small_pages_are_as_many_as_the_arena_has():
    header = (SOURCE / "runtime/device/kmd/host_arena.h").read_text()
    mebibytes = int(re.search(r"kDefaultArenaBytes = uint64_t\{(\d+)\} << 20;", header)[1])
    assert f"SMALL_PAGES={mebibytes // 2} " in PROGRAM.read_text()
