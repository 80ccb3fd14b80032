"""Meshes of modelled chips: what they gather is NumPy's, in any size; which meshes and buffers are refused."""

import contextlib
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


@pytest.mark.parametrize("device, shape, closed", [
    ("sim:cluster=1x2", (1, 2), (False, False)),
    ("sim:cluster=1x4", (1, 4), (False, True)),
    ("sim:cluster=1x3,hazards=on,seed=5", (3, 1), (True, False)),
    ("sim:cluster=1x4,wrap=none,hazards=on,seed=6", (1, 4), (False, False)),
    ("sim:cluster=2x3,links=1", (2, 3), (False, True)),
    ("sim:cluster=1x3,wrap=none,remote=0+2", (1, 3), (False, False)),  # over the links that the daemon has left
])
def test_a_gathering_gives_every_chip_the_parts_of_its_line(device, shape, closed):
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


@pytest.mark.parametrize("variable, ports, shape, closed", [
    ("TTFD_TTSIM_X2_LIB", "", (1, 2), (False, False)),
    ("TTFD_TTSIM_X2_LIB", ",ports=1", (1, 2), (False, False)),  # chip 1 behind chip 0
    ("TTFD_TTSIM_X4_LIB", "", (1, 4), (False, True)),
    ("TTFD_TTSIM_X4_LIB", "", (2, 2), (False, False)),
])
def test_a_gathering_on_ttsim_is_numpys(variable, ports, shape, closed):
    library = os.environ.get(variable)
    if not library:
        pytest.skip(f"{variable} does not name a libttsim.so of so many chips")
    with chips_of(f"ttsim:{library}{ports}", shape) as chips:
        assert chips.closed == closed
        for size in (63, 100_001):
            buffer, values = fill(chips, size)
            for axis in (0, 1):
                assert np.array_equal(contents(chips.all_gather(buffer, axis), chips), gathered(values, axis)), (size, axis)


def test_gathering_along_both_axes_gives_every_chip_everything():
    with chips_of("sim:cluster=2x2", (2, 2)) as chips:
        buffer, values = fill(chips, 5000, parts=3)
        rows = chips.enqueue_all_gather(buffer, 1)
        whole = chips.enqueue_all_gather(rows, 0)
        assert chips.enqueue_all_gather(rows, 0, whole) is whole
        chips.finish()
        assert np.array_equal(contents(whole, chips), np.tile(values.reshape(-1), (2, 2, 1)))


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
                                      (lambda: chips.all_gather(part, 1, part), "to", "takes 2 parts"),
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
    with pytest.raises(KeyboardInterrupt), chips_of("sim:cluster=1x2", (1, 2)) as chips:
        part, whole = chips.allocate(100), chips.allocate(100, 2)
        tile = [ttfd.CoreRange(1, 0, 1, 0)]  # the worker of axis 1
        session = chips.sessions[1]
        faulty = session.create_program([ttfd.KernelUse(session.load_kernel(KERNELS / "vector_add.elf"), ttfd.BRISC, tile)],
                                        [ttfd.CircularBuffer(0, 4, 8192, tile)])
        session.queue.enqueue_launch(faulty, [ttfd.Arguments(common=[16, 16, 16, 8192], per_core=[[0, 1]])])
        with pytest.raises(ttfd.Error) as raised:
            chips.all_gather(part, 1, whole)
        assert raised.value.reason == "DEVICE_FAULT" and "chip 1" in str(raised.value)  # chip 0 has waited for it, and hangs
        with pytest.raises(ttfd.Error, match="connect it again") as raised:
            chips.all_gather(part, 1, whole)
        assert raised.value.code is ttfd.Code.FAILED_PRECONDITION
        raise KeyboardInterrupt  # leaves at once: chip 0 waits until its kernel timeout
