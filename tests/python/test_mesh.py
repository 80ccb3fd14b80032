"""Meshes of modelled chips: what they gather and add is NumPy's, in any size; which meshes and buffers are refused."""

import contextlib
import itertools
import os

import numpy as np
import pytest

import ttfd
from conftest import KERNELS, Daemon
from ttfd import mesh

SIZES = (1, 63, 4096, 65_537, 300_000)  # a byte, less than a unit of DRAM, a page, two pages, many


@contextlib.contextmanager
def chips_of(device, shape, **options):
    """A mesh on a daemon with `device`."""
    daemon = Daemon((device,))
    try:
        with mesh.connect(shape, daemon.address, **options) as chips:
            yield chips
    finally:
        daemon.end()


@contextlib.contextmanager
def refused(field, text):
    """What is inside is refused for this field, with this text."""
    with pytest.raises(ttfd.Error, match=text) as raised:
        yield
    assert raised.value.field == field


def fill(chips, part_bytes, parts=1):
    """A buffer with random bytes, and these bytes: rows x columns x bytes of a chip."""
    buffer = chips.allocate(part_bytes, parts)
    values = np.random.default_rng(part_bytes).integers(0, 256, (*chips.shape, parts * part_bytes), np.uint8)
    for chip, one in enumerate(values.reshape(len(chips), -1)):
        buffer.write(chip, one)
    return buffer, values


def gathered(values, axis):
    """The same after a gathering: what every chip of a line has is the line's."""
    whole = np.concatenate(np.split(values, values.shape[axis], axis), 2)
    return np.repeat(whole, values.shape[axis], axis)


def contents(buffer, chips):
    return np.stack([buffer.read(chip) for chip in range(len(chips))]).reshape(*chips.shape, -1)


def add(element, a, b):
    """As chips add: Float32, of bfloat16 rounded to the nearest, halves away from zero."""
    return a + b if element != "bfloat16" else ((a + b).view(np.uint32) + 0x8000 & 0xFFFF0000).view(np.float32)


def total(element, chips):
    """The sum of numbers of chips in this order."""
    chips = iter(chips)
    result = next(chips)
    for one in chips:
        result = add(element, result, one)
    return result


def page_total(element, line, chunk, forward, closed, small):
    """The sum of a page of all chips of a line, in the order that docs/meshes.md gives. `line`: the page of each chip."""
    k = len(line)
    if small:  # one sum in Float32
        return add(element, total("float32", line), np.zeros_like(line[0]))
    if closed:
        step = 1 if forward else -1
        return total(element, [line[(chunk + step * (1 + i)) % k] for i in range(k)])
    start, end = line[:chunk + 1], line[:chunk:-1]
    return total(element, start) if not end else add(element, total(element, start), total(element, end))


def line_total(element, line, chunks, shares, closed, page_bytes, small=False, first=0):
    """The sum of all pages. `line`: the numbers of each chip, which are `chunks` chunks from number `first` on; of each chunk `shares`
    shares go either way in turn."""
    of_page = page_bytes // (2 if element == "bfloat16" else 4)
    padded = [in_pages(one, of_page) for one in line]
    pages = len(padded[0])
    in_chunk = -(-pages // chunks)
    forward = [share % 2 == 0 for share in range(shares) for _ in range(in_chunk * share // shares, in_chunk * (share + 1) // shares)]
    with np.errstate(over="ignore"):
        sums = [page_total(element, [one[page] for one in padded], first + page // in_chunk, forward[page % in_chunk], closed, small) for page in range(pages)]
    return np.concatenate(sums)[:line[0].size]


def in_pages(values, of_page):
    """Numbers as pages of `of_page`; zeros fill up the last one."""
    return np.pad(values, (0, -values.size % of_page)).reshape(-1, of_page)


def numbers(element, shape, seed):
    """Random ones; bfloat16 as Float32."""
    generator = np.random.default_rng(seed)
    if element == "int32":
        return generator.integers(-(1 << 31), 1 << 31, shape, np.int32)
    values = generator.standard_normal(shape, np.float32)
    return values if element == "float32" else (values.view(np.uint32) & 0xFFFF0000).view(np.float32)


def to_bytes(element, values):
    return values if element != "bfloat16" else (values.view(np.uint32) >> 16).astype(np.uint16)


def filled(chips, element, parts, count):
    """A buffer with `parts` parts of `count` numbers on every chip, and these: rows x columns x parts x count."""
    values = numbers(element, (*chips.shape, parts, count), count)
    buffer = chips.allocate(to_bytes(element, values[0, 0, 0]).nbytes, parts)
    for chip, one in enumerate(values.reshape(len(chips), -1)):
        buffer.write(chip, to_bytes(element, one))
    return buffer, values


def lines_along(values, axis):
    """Lists of (chip, what it has)."""
    rows, columns = values.shape[:2]
    if axis == 1:
        return [[(row * columns + column, values[row, column]) for column in range(columns)] for row in range(rows)]
    return [[(row * columns + column, values[row, column]) for row in range(rows)] for column in range(columns)]


def check_reduce_scatter(chips, element, links, count, axis):
    """As many parts of `count` numbers as the lines along the axis have chips."""
    length = chips.shape[axis]
    buffer, values = filled(chips, element, length, count)
    scattered = chips.reduce_scatter(buffer, element, axis)
    for line in lines_along(values, axis):
        for at, (chip, _) in enumerate(line):
            wanted = line_total(element, [one[at] for _, one in line], 1, 2 * links, chips.closed[axis], buffer.page_bytes, first=at)
            assert scattered.read(chip).tobytes() == to_bytes(element, wanted).tobytes(), (element, axis, count, chip)


def check_all_reduce(chips, element, links, count, axis, in_place):
    """A part of `count` numbers; chunks are whole pages, and the last ones shorter."""
    length = chips.shape[axis]
    buffer, values = filled(chips, element, 1, count)
    result = chips.all_reduce(buffer, element, axis, buffer if in_place else None)
    assert (result is buffer) == in_place
    padded = -(-buffer.part_bytes // buffer.page_bytes) * buffer.page_bytes
    for line in lines_along(values, axis):
        wanted = line_total(element, [one[0] for _, one in line], length, 2 * links, chips.closed[axis], buffer.page_bytes, padded < 65536)
        for chip, own in line:
            assert result.read(chip).tobytes() == to_bytes(element, wanted).tobytes(), (element, axis, count, chip)
            assert in_place or buffer.read(chip).tobytes() == to_bytes(element, own).tobytes()


DEVICES = pytest.mark.parametrize("device, shape, closed, links", [
    ("sim:cluster=1x2", (1, 2), (False, False), 2),
    ("sim:cluster=1x4", (1, 4), (False, True), 2),
    ("sim:cluster=1x3,hazards=on,seed=5", (3, 1), (True, False), 2),
    ("sim:cluster=1x4,wrap=none,hazards=on,seed=6", (1, 4), (False, False), 2),
    ("sim:cluster=2x3,links=1", (2, 3), (False, True), 1),
    ("sim:cluster=1x3,wrap=none,remote=0+2", (1, 3), (False, False), 1),  # over the links that the daemon has left
])


@DEVICES
def test_a_gathering_gives_every_chip_the_parts_of_its_line(device, shape, closed, links):
    with chips_of(device, shape) as chips:
        assert chips.closed == closed
        for size in SIZES:
            buffer, values = fill(chips, size)
            for axis in (0, 1):
                whole = chips.all_gather(buffer, axis)
                assert whole.parts == shape[axis]
                assert np.array_equal(contents(whole, chips), gathered(values, axis)), (size, axis)
                if shape[axis] > 1:
                    assert 0 < chips.clocks() < 10_000_000
            assert np.array_equal(contents(buffer, chips), values)


@DEVICES
def test_sums_are_numpys_in_the_order_of_the_line(device, shape, closed, links):
    with chips_of(device, shape) as chips:
        for element, axis in itertools.product(("int32", "float32", "bfloat16"), (0, 1)):
            for count in (2, 5_000, 50_002):
                check_reduce_scatter(chips, element, links, count, axis)
            # The last: 5 pages of Float32 or 3 of bfloat16.
            for count, in_place in ((2, False), (5_000, True), (37_000, False), (40_000, True)):
                check_all_reduce(chips, element, links, count, axis, in_place)


def test_sums_of_several_groups_of_segments_are_numpys():
    for device, shape, closed in (("sim:cluster=1x4,links=1", (1, 4), True), ("sim:cluster=1x4,links=1,wrap=none", (1, 4), False)):
        with chips_of(device, shape) as chips:
            assert chips.closed[1] == closed
            check_reduce_scatter(chips, "float32", 1, 180_000, 1)
            check_all_reduce(chips, "float32", 1, 500_000, 1, in_place=True)


@pytest.mark.parametrize("variable, ports, shape, closed, links", [
    ("TTFD_TTSIM_X2_LIB", "", (1, 2), (False, False), 2),
    ("TTFD_TTSIM_X2_LIB", ",ports=1", (1, 2), (False, False), 1),  # chip 1 behind chip 0
    ("TTFD_TTSIM_X4_LIB", "", (1, 4), (False, True), 2),
    ("TTFD_TTSIM_X4_LIB", "", (2, 2), (False, False), 2),
])
def test_gatherings_and_sums_on_ttsim_are_numpys(variable, ports, shape, closed, links):
    library = os.environ.get(variable)
    if not library:
        pytest.skip(f"{variable} does not name a libttsim.so of so many chips")
    with chips_of(f"ttsim:{library}{ports}", shape) as chips:
        assert chips.closed == closed
        for size in (63, 100_001):
            buffer, values = fill(chips, size)
            for axis in (0, 1):
                assert np.array_equal(contents(chips.all_gather(buffer, axis), chips), gathered(values, axis)), (size, axis)
        for element in ("int32", "float32", "bfloat16"):
            check_reduce_scatter(chips, element, links, 10_002, 1)
            check_all_reduce(chips, element, links, 37_000, 1, in_place=False)


def test_gathering_along_both_axes_gives_every_chip_everything():
    with chips_of("sim:cluster=2x2", (2, 2)) as chips:
        buffer, values = fill(chips, 5000, parts=3)
        rows = chips.enqueue_all_gather(buffer, 1)
        whole = chips.enqueue_all_gather(rows, 0)
        assert chips.enqueue_all_gather(rows, 0, whole) is whole
        chips.finish()
        assert np.array_equal(contents(whole, chips), np.tile(values.reshape(-1), (2, 2, 1)))


def test_summing_along_both_axes_gives_every_chip_the_sum_of_all():
    with chips_of("sim:cluster=2x3", (2, 3)) as chips:
        for count in (1000, 30_000):  # of which chips gather all before they add, or not
            buffer, values = filled(chips, "int32", 1, count)
            rows = chips.enqueue_all_reduce(buffer, "int32", 1)
            chips.enqueue_all_reduce(rows, "int32", 0, rows)
            chips.finish()
            wanted = values.sum((0, 1, 2), np.int32)
            for chip in range(6):
                assert np.array_equal(rows.read(chip, np.int32), wanted)


def test_the_chips_of_a_mesh_run_programs_of_their_own_on_its_buffers():
    with chips_of("sim:cluster=1x2", (1, 2)) as chips:
        part = chips.allocate(8192)
        for chip, session in enumerate(chips.sessions):
            tile, given = [ttfd.CoreRange(5, 5, 5, 5)], session.allocate_dram(8192, part.page_bytes)
            given.write(np.arange(2048, dtype=np.int32) * (chip + 1))
            program = session.create_program([ttfd.KernelUse(session.load_kernel(KERNELS / "vector_add.elf"), ttfd.BRISC, tile)],
                                             [ttfd.CircularBuffer(0, 4, 8192, tile)])
            session.queue.enqueue_launch(program, [ttfd.Arguments(common=[given, given, part.on(chip), 8192], per_core=[[0, 1]])])
        whole = chips.all_gather(part, 1)  # behind these
        for chip in range(2):
            assert np.array_equal(whole.read(chip, np.int32, (2, 2048)), np.outer([2, 4], np.arange(2048)))


def test_meshes_and_buffers_that_do_not_fit_are_refused():
    daemon = Daemon(("sim:cluster=1x3,wrap=none",))
    try:
        for shape, options, field, text in (((2, 2), {}, "mesh.shape", "there are 3 devices"), (3, {}, "mesh.shape", "rows, columns"),
                                            ((1, 2), {"devices": (0, 2)}, "mesh.shape", "0.0 to 1.0"),
                                            ((1, 2), {"devices": (7,)}, "mesh.devices", "there is no device 7"),
                                            ((1, 2), {"device": 0}, "device", "not an option of a mesh")):
            with refused(field, text):
                mesh.connect(shape, daemon.address, **options)
        with mesh.connect((1, 2), daemon.address, devices=[1, 2]) as chips:
            assert [one.device.index for one in chips.sessions] == [1, 2]
            with pytest.raises(ttfd.Error, match="lease"):  # of both; a second mesh waits for it
                mesh.connect((1, 2), daemon.address, devices=[1, 2], wait=0.2)
            part, whole = chips.allocate(100), chips.allocate(100, 2)
            with mesh.connect((1, 1), daemon.address, devices=[0]) as other:
                with refused("buffer", "another mesh"):
                    other.all_gather(part, 0)
                with refused("into", "another mesh"):
                    other.all_gather(other.allocate(100), 0, part)
            for call, field, text in ((lambda: chips.all_gather(part, 2), "axis", "0 or 1"),
                                      (lambda: chips.all_gather(part, 1, part), "to", "`to` has 2 times the parts"),
                                      (lambda: chips.reduce_scatter(whole, "int32", 1, whole), "to", "`from` has 2 times the parts"),
                                      (lambda: chips.reduce_scatter(part, "int32", 1), "buffer", "1 parts are not the same for each of 2"),
                                      (lambda: chips.all_reduce(part, "int32", 1, whole), "to", "`to` has 1 times the parts"),
                                      (lambda: chips.all_reduce(part, "float64", 1), "element", "int32, float32 and bfloat16"),
                                      (lambda: chips.all_reduce(chips.allocate(102), "int32", 1), "from", "whole elements of 4 bytes"),
                                      (lambda: chips.all_gather(part, 0, part), "to", "the same buffer"),
                                      (lambda: chips.all_gather(part, 1, chips.allocate(101, 2)), "to", "101"),
                                      (lambda: part.write(2, b"x" * 100), "chip", "no chip of this mesh"),
                                      (lambda: part.write(0, b"x" * 99), "bytes", "99 bytes"),
                                      (lambda: chips.allocate(0), "parts", "at least one"),
                                      (lambda: chips.allocate(2**52 + 2**15, 2**12), "parts", "at most")):
                with refused(field, text):
                    call()
            chips.all_gather(part, 1, whole)
        with mesh.connect((1, 2), daemon.address) as chips:  # the lease has ended with the mesh
            assert [one.device.index for one in chips.sessions] == [0, 1]
    finally:
        daemon.end()


def test_a_mesh_whose_operation_has_failed_refuses_others_and_says_why():
    with chips_of("sim:cluster=1x3,wrap=none", (1, 3)) as chips:
        part, whole = chips.allocate(100), chips.allocate(100, 3)
        chips.sessions[2].close()
        with pytest.raises(ttfd.Error, match="chip 2"):  # before anything is begun
            chips.enqueue_all_gather(part, 1, whole)
        chips.sessions[0].queue.finish()
    with chips_of("sim:cluster=1x3,wrap=none", (1, 3)) as chips:
        part, whole = chips.allocate(100), chips.allocate(100, 3)
        tile = [ttfd.CoreRange(4, 0, 4, 0)]  # a worker of axis 1
        session = chips.sessions[2]
        faulty = session.create_program([ttfd.KernelUse(session.load_kernel(KERNELS / "vector_add.elf"), ttfd.BRISC, tile)],
                                        [ttfd.CircularBuffer(0, 4, 8192, tile)])
        session.queue.enqueue_launch(faulty, [ttfd.Arguments(common=[16, 16, 16, 8192], per_core=[[0, 1]])])
        with pytest.raises(ttfd.Error) as raised:
            chips.all_gather(part, 1, whole)
        assert raised.value.reason == "DEVICE_FAULT" and "chip 2" in str(raised.value)
        with pytest.raises(ttfd.Error, match="connect it again") as raised:
            chips.all_gather(part, 1, whole)
        assert raised.value.code is ttfd.Code.FAILED_PRECONDITION
        # The others have waited for it, and were reset with it or before they could begin.
        for other in chips.sessions[:2]:
            with pytest.raises(ttfd.Error) as raised:
                other.queue.finish()
            assert raised.value.reason in ("DEVICE_RESET", "DEVICE_FAULT")


def test_a_reset_of_a_chip_ends_its_links_and_the_next_operation_fails_at_once():
    daemon = Daemon(("sim:cluster=1x4",))
    try:
        with mesh.connect((1, 4), daemon.address) as chips:
            part, whole = chips.allocate(100), chips.allocate(100, 4)
            chips.all_gather(part, 1, whole)
            assert daemon.ctl("--device", "1", "reset").returncode == 0
            with pytest.raises(ttfd.Error, match="not con") as raised:
                chips.all_gather(part, 1, whole)
            assert raised.value.reason == "DEVICE_FAULT"
        with mesh.connect((1, 4), daemon.address) as chips:
            buffer, values = fill(chips, 5000)
            assert np.array_equal(contents(chips.all_gather(buffer, 1), chips), gathered(values, 1))
    finally:
        daemon.end()
