"""The Python client's promises: arrays in and out, launches, queues, threads."""

import pathlib

import numpy as np
import pytest

import ttfd
from conftest import KERNELS, join, start_thread

PAGE_BYTES = 2048


def add(session, a, b, tiles):
    """a + b on the card."""
    pages = -(-a.nbytes // PAGE_BYTES)
    counts = np.full(tiles, pages // tiles)
    counts[: pages % tiles] += 1
    shares = np.stack([np.cumsum(counts) - counts, counts], axis=1)
    cores = ttfd.first_cores(session.device.grid_x, tiles)
    with session.allocate_dram(pages * PAGE_BYTES) as x, session.allocate_dram(pages * PAGE_BYTES) as y:
        z = session.allocate_dram(pages * PAGE_BYTES)
        x.write(a)
        y.write(b)
        kernel = session.load_kernel(KERNELS / "vector_add.elf")
        program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, cores)],
                                         [ttfd.CircularBuffer(0, 4, PAGE_BYTES, cores)])
        session.launch(program, [ttfd.Arguments(common=[x, y, z, PAGE_BYTES], per_core=shares)])
        return z.read(a.dtype, a.shape)


def test_describes_the_device_and_its_limits(session):
    assert session.device.board == "p150"
    assert session.device.workers == 130
    assert session.limits.message_bytes == 4 << 20
    assert session.id > 0


@pytest.mark.parametrize("shape, dtype", [((16,), np.uint8), ((3, 64, 128), np.float32), ((1 << 20,), np.int64)])
def test_arrays_come_back_as_they_were_written(session, shape, dtype):
    array = np.random.default_rng(1).integers(0, 200, shape).astype(dtype)
    buffer = session.allocate_dram(array.nbytes)
    buffer.write(array)
    assert np.array_equal(buffer.read(dtype, shape), array)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_kernels_load_from_any_bytes(session, kind):
    elf = kind((KERNELS / "empty.elf").read_bytes())
    program = session.create_program([ttfd.KernelUse(session.load_kernel(elf), ttfd.BRISC, [ttfd.CoreRange(0, 0, 0, 0)])])
    session.launch(program)


@pytest.mark.parametrize("name, named", [("", "kernel: too short"), ("mine", "kernel mine: too short")])
def test_a_refused_kernel_has_one_traceback(session, name, named):
    with pytest.raises(ttfd.Error, match=named) as caught:
        session.load_kernel(b"no ELF", name=name)
    assert caught.value.reason == "KERNEL_REFUSED"
    assert caught.value.__context__ is None


def test_objects_say_what_they_are(daemon, session):
    buffer = session.allocate_dram(4096, 1024)
    kernel = session.load_kernel(KERNELS / "empty.elf")
    assert repr(session) == f"<ttfd.Session {session.id} at {daemon.address}>"
    assert repr(session.queue) == "<ttfd.Queue 1: 0 of 0 commands completed>"
    assert repr(buffer) == f"<ttfd.Buffer {buffer.handle}: 4096 bytes in pages of 1024>"
    assert repr(kernel) == f"<ttfd.Kernel {kernel.handle} 'empty.elf'>"
    program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, [ttfd.CoreRange(0, 0, 0, 0)])])
    assert repr(program) == f"<ttfd.Program {program.handle}>"
    buffer.free()
    assert repr(buffer) == "<ttfd.Buffer freed>"


def test_the_package_has_a_version_and_types(session):
    assert ttfd.__version__ == session.daemon_version
    assert (pathlib.Path(ttfd.__file__).parent / "py.typed").is_file()


def test_more_than_the_credit_window_is_written_in_one_call(session):
    array = np.arange(6 << 20, dtype=np.uint32)  # 24 MiB
    buffer = session.allocate_dram(array.nbytes)
    buffer.write(array)
    assert np.array_equal(buffer.read(np.uint32), array)


def test_arrays_that_are_not_contiguous_are_written_in_c_order(session):
    array = np.arange(64, dtype=np.uint32).reshape(8, 8)
    buffer = session.allocate_dram(256)
    buffer.write(array.T)
    assert np.array_equal(buffer.read(np.uint32, (8, 8)), array.T)


def test_parts_of_a_buffer_can_be_read(session):
    buffer = session.allocate_dram(4096)
    buffer.write(np.arange(1024, dtype=np.uint32))
    assert buffer.read(np.uint32, 3, offset=400).tolist() == [100, 101, 102]
    assert buffer.read(np.uint8, 1, offset=5).tolist() == [0]


def test_l1_buffers_and_single_banks_hold_bytes(session):
    array = np.arange(26 * 256, dtype=np.uint32)
    for buffer in (session.allocate_l1(array.nbytes), session.allocate_dram(array.nbytes, bank=2)):
        buffer.write(array)
        assert np.array_equal(buffer.read(np.uint32), array)


def test_buffers_on_cores_and_in_shards_hold_bytes_in_pages_of_any_size(session):
    cores = ttfd.first_cores(session.device.grid_x, 4)
    array = np.arange(4850, dtype=np.uint8)  # 49 pages, the last in part
    for buffer in (session.allocate_l1(array.nbytes, 100, cores), session.allocate_dram(array.nbytes, 100),
                   session.allocate_sharded(array.nbytes, 100, cores, row_pages=1, shard_rows=13, shard_row_pages=1),
                   session.allocate_sharded(array.nbytes, 100, cores, row_pages=8, shard_rows=4, shard_row_pages=4)):
        buffer.write(array)
        assert np.array_equal(buffer.read(), array)
        assert np.array_equal(buffer.read(np.uint8, 333, offset=1234), array[1234:1567])


def test_kernels_add_arrays_on_every_tile(session):
    generator = np.random.default_rng(2)
    a, b = (generator.integers(-(2**31), 2**31, 100_000, dtype=np.int32) for _ in range(2))
    assert np.array_equal(add(session, a, b, session.device.workers), a + b)


def test_fill_sets_words(session):
    buffer = session.allocate_dram(4096)
    session.queue.fill(buffer, 0xABCD, offset=1024, size_bytes=64)
    words = buffer.read(np.uint32)
    assert words[256:272].tolist() == [0xABCD] * 16
    assert np.count_nonzero(words) == 16


def test_enqueued_commands_end_in_order(session):
    positions = [session.queue.enqueue_barrier() for _ in range(1000)]
    session.queue.wait(positions[-1])
    assert session.queue.completed >= positions[-1].value
    assert [p.value for p in positions] == list(range(positions[0].value, positions[0].value + 1000))


def test_reads_can_be_enqueued_into_arrays(session):
    buffer = session.allocate_dram(4096)
    buffer.write(np.arange(1024, dtype=np.uint32))
    into = np.empty(1024, np.uint32)
    position = session.queue.enqueue_read(buffer, into)
    session.queue.wait(position)
    assert into.tolist() == list(range(1024))


def test_queues_wait_for_one_another(session):
    other = session.open_queue(transfer=True)
    buffer = session.allocate_dram(1 << 20)
    array = np.arange(1 << 18, dtype=np.uint32)
    other.after(session.queue.enqueue_write(buffer, array))
    assert np.array_equal(other.read(buffer, np.uint32), array)


def test_several_sessions_work_at_once(daemon):
    failures = []

    def work(seed):
        try:
            with ttfd.connect(daemon.address) as session:
                a = np.random.default_rng(seed).integers(0, 2**31, 20_000, dtype=np.int32)
                for _ in range(3):
                    assert np.array_equal(add(session, a, a, 10 + seed), a + a)
        except BaseException as failure:  # pylint: disable=broad-except
            failures.append(failure)

    join(*[start_thread(work, seed) for seed in range(3)])
    assert not failures


def test_the_address_comes_from_the_environment(daemon, monkeypatch):
    monkeypatch.setenv("TTFD_ADDRESS", daemon.address)
    with ttfd.connect() as session:
        assert session.daemon_version
