"""Arguments that the Python package takes, and its errors for those that it cannot send."""

import numpy as np
import pytest

import ttfd
from conftest import KERNELS
from ttfd.v1 import types_pb2

HALF = np.float32(1.5).view(np.uint32).item()


@pytest.fixture(name="echo")
def _echo(session):
    """What the kernel sees of a common argument and two per-core ones."""
    tiles = [ttfd.CoreRange(0, 0, 0, 0)]
    kernel = session.load_kernel(KERNELS / "echo_brisc.elf")
    program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, tiles)])
    report = session.allocate_l1(1024, 1024, tiles)

    def run(common, per_core):
        session.launch(program, [ttfd.Arguments(common=[report, common], per_core=per_core)])
        return report.read(np.uint32, 7)[4:].tolist()

    return run


@pytest.mark.parametrize("common, per_core, words", [
    (-1, [[1, 2]], [2**32 - 1, 1, 2]),
    (2**32 - 1, np.array([[-(2**31), -1]]), [2**32 - 1, 2**31, 2**32 - 1]),
    (np.float32(1.5), [[7, np.float32(1.5)]], [HALF, 7, HALF]),
    (np.uint8(200), np.array([[1.5, 1.5]], dtype=np.float32), [200, HALF, HALF]),
    (True, np.array([[True, False]]), [1, 1, 0]),
    (np.array(5), ([3, np.bool_(True)],), [5, 3, 1])])
def test_words_reach_the_kernel_bit_by_bit(echo, common, per_core, words):
    assert echo(common, per_core) == words


@pytest.mark.parametrize("value, sentence", [
    (1.5, r"the argument 1\.5 is a float(64)?, not a 32-bit word; pass np\.float32\(1\.5\)"),
    (np.float64(2), r"is a float64, not a 32-bit word"),
    (np.float16(1), r"is a float16, not a 32-bit word"),
    (2**32, r"4294967296 does not fit a 32-bit word: from -2147483648 to 4294967295"),
    (-(2**31) - 1, r"-2147483649 does not fit"),
    ("7", r"of type str_? is not a 32-bit word"),
    (None, r"of type NoneType is not a 32-bit word")])
def test_what_is_no_word_is_refused(echo, value, sentence):
    for common, per_core in ((value, [[0, 0]]), (0, [[0, value]]), (0, np.array([[value, value]]))):
        with pytest.raises(ttfd.Error, match=sentence) as caught:
            echo(common, per_core)
        assert caught.value.code == ttfd.Code.INVALID_ARGUMENT and caught.value.reason == "INVALID"
        assert caught.value.field == ("arguments.common[1]" if common is value else "arguments.per_core")
        assert not caught.value.retryable


def test_fill_takes_the_same_words(session):
    buffer = session.allocate_dram(64)
    session.queue.fill(buffer, np.float32(1.5))
    assert (buffer.read(np.float32) == 1.5).all()
    session.queue.fill(buffer, -1)
    assert (buffer.read(np.uint32) == 2**32 - 1).all()
    with pytest.raises(ttfd.Error, match="is a float, not a 32-bit word"):
        session.queue.fill(buffer, 1.0)


@pytest.fixture(name="tiles_of", scope="module")
def _tiles_of(daemon):
    """Runs a kernel; its tiles, in order, and its processor."""
    with ttfd.connect(daemon.address) as session:
        def run(cores, processor="brisc"):
            lines = []
            session.on_print = lines.append
            kernel = session.load_kernel(KERNELS / f"print_{processor.lower()}.elf")
            program = session.create_program([ttfd.KernelUse(kernel, processor, cores)],
                                             [ttfd.CircularBuffer(0, 1, 64, cores)], [ttfd.Semaphore(0, 0, cores)])
            session.launch(program, [ttfd.Arguments(common=[1, 0, 5])])
            return sorted((line.x, line.y) for line in lines), {line.processor for line in lines}

        yield run


@pytest.mark.parametrize("cores, tiles", [
    ((2, 1), [(2, 1)]),
    (np.array([2, 1]), [(2, 1)]),
    ([(2, 1)], [(2, 1)]),
    ([(0, 0), [1, 0]], [(0, 0), (1, 0)]),
    (np.array([[0, 0], [1, 0]]), [(0, 0), (1, 0)]),
    ((0, 0, 1, 1), [(0, 0), (0, 1), (1, 0), (1, 1)]),
    ([(0, 0, 1, 0), (3, 3)], [(0, 0), (1, 0), (3, 3)]),
    (ttfd.CoreRange(0, 0, 1, 0), [(0, 0), (1, 0)]),
    ([ttfd.CoreRange(0, 0, 1, 0), (np.uint8(2), 0)], [(0, 0), (1, 0), (2, 0)]),
    (ttfd.first_cores(13, 14), sorted([(x, 0) for x in range(13)] + [(0, 1)]))], ids=str)
def test_tiles_are_pairs_rectangles_or_lists(tiles_of, cores, tiles):
    assert tiles_of(cores)[0] == tiles


@pytest.mark.parametrize("processor, number", [
    ("BRISC", ttfd.BRISC), ("ncrisc", ttfd.NCRISC), ("Trisc0", ttfd.TRISC0), ("trisc1", ttfd.TRISC1), ("trisc2", ttfd.TRISC2)])
def test_processors_have_names(tiles_of, processor, number):
    assert tiles_of((0, 0), processor)[1] == {number}


@pytest.mark.parametrize("name", [name for name, number in types_pb2.DataFormat.items() if number])
def test_every_format_of_the_api_has_a_name_here(things, name):
    name = name.removeprefix("DATA_FORMAT_").lower()
    page_bytes = {"float32": 4096, "int32": 4096, "float16_b": 2048, "uint16": 2048, "bfp8_b": 1088}[name]
    things.circular_buffer(index=0, pages=1, page_bytes=page_bytes, cores=(0, 0), format=name)  # the daemon checks the size
    with pytest.raises(ttfd.Error, match=f"a page of format {name} is one tile of {page_bytes} bytes"):
        things.circular_buffer(index=0, pages=1, page_bytes=64, cores=(0, 0), format=name)
    if name in ("float32", "float16_b", "bfp8_b"):  # that matrices are converted to
        assert ttfd.tile_bytes(name) == page_bytes


def test_tiles_of_buffers_queues_and_leases_have_the_same_forms(session, daemon):
    assert session.allocate_l1(1024, 1024, (0, 0)).size_bytes == 1024
    assert session.allocate_sharded(2048, 1024, [(0, 0), (1, 0)], 1, 1, 1).size_bytes == 2048
    session.open_queue(workers=(0, 0, 1, 1)).finish()
    with ttfd.connect(daemon.address, lease=ttfd.Lease(workers=[(12, 9)])) as leasing:
        assert leasing.lease_token


def test_a_program_refers_to_the_buffers_under_its_circular_buffers(session):
    kernel = session.load_kernel(KERNELS / "vector_add.elf")
    program = session.create_program([ttfd.KernelUse(kernel, "brisc", (0, 0))], [
        ttfd.CircularBuffer(0, 4, 64, (0, 0), buffer=session.allocate_l1(256, 64, (0, 0)))])
    vectors = [session.allocate_dram(64) for _ in range(3)]
    for vector, values in zip(vectors, np.arange(32, dtype=np.uint32).reshape(2, 16)):
        vector.write(values)
    words = [ttfd.Arguments(common=[*vectors, 64], per_core=[[0, 1]])]
    session.launch(program, words)
    assert (vectors[2].read(np.uint32) == 2 * np.arange(16) + 16).all()
    program._buffers[0].free()
    with pytest.raises(ttfd.Error, match="which was freed; create the program again") as caught:
        session.launch(program, words)
    assert (caught.value.code, caught.value.field) == (ttfd.Code.NOT_FOUND, "launch.program")


class Things:
    """Objects that the calls of the tables below need."""

    def __init__(self, session, address):
        self.session, self.queue, self.address = session, session.queue, address
        self.buffer = session.allocate_dram(64)
        self.kernel = session.load_kernel(KERNELS / "empty.elf")
        self.compute_kernel = session.load_kernels(KERNELS / "print")
        self.program = session.create_program([ttfd.KernelUse(self.kernel, "brisc", (0, 0))])
        self.trace = self.queue.record_trace([ttfd.Launch(self.program)])
        self.position = self.queue.enqueue_barrier()

    def connect(self, **named):
        """Opens a session and ends it."""
        ttfd.connect(**{"address": self.address, **named}).close()

    def tls(self, **named):
        """The same with certificates."""
        self.connect(tls=named)

    def lease(self, **named):
        """The same with a lease."""
        self.connect(lease=ttfd.Lease(**named))

    def use(self, kernel, processor, cores):
        """A program of one kernel."""
        self.session.create_program([ttfd.KernelUse(kernel, processor, cores)])

    def compute(self, kernels, cores):
        """A program of a compute kernel."""
        self.session.create_program([ttfd.ComputeUse(kernels, cores)])

    def circular_buffer(self, **named):
        """A program with a circular buffer."""
        self.session.create_program([ttfd.KernelUse(self.kernel, "brisc", (0, 0))], [ttfd.CircularBuffer(**named)])

    def semaphore(self, **named):
        """A program with a semaphore."""
        self.session.create_program([ttfd.KernelUse(self.kernel, "brisc", (0, 0))], semaphores=[ttfd.Semaphore(**named)])

    def arguments(self, **named):
        """A launch with arguments."""
        self.session.launch(self.program, [ttfd.Arguments(**named)])

    def launch(self, **named):
        """A launch that is recorded."""
        self.queue.record_trace([ttfd.Launch(**named)])

    def patch(self, **named):
        """A replay with a patch."""
        self.queue.replay(self.trace, [ttfd.Patch(**named)])

    def wait(self, queue, value, timeout):
        """A wait for a position."""
        self.queue.wait(ttfd.Position(queue, value), timeout)

    def on_print(self, callback):
        """The session's function for prints."""
        self.session.on_print = callback


@pytest.fixture(name="things", scope="module")
def _things(daemon):
    with ttfd.connect(daemon.address) as session:
        yield Things(session, daemon.address)


TILES = r"must be a tile \(x, y\), a rectangle \(x0, y0, x1, y1\), a ttfd.CoreRange, or a list of these, in integers from 0, not "
NAMES = r"must be ttfd.BRISC, NCRISC, TRISC0, TRISC1 or TRISC2, or the name of one, such as 'brisc', not "
USE = "create_program.kernels[0]"


@pytest.mark.parametrize("call, field, sentence", [
    (lambda t: t.use(t.kernel, "brisc", (0,)), f"{USE}.cores", TILES + r"\[0\]"),
    (lambda t: t.use(t.kernel, "brisc", (0, 0, 1)), f"{USE}.cores", TILES + r"\[0, 0, 1\]"),
    (lambda t: t.use(t.kernel, "brisc", (0, -1)), f"{USE}.cores", TILES),
    (lambda t: t.use(t.kernel, "brisc", (0, 0.5)), f"{USE}.cores", TILES),
    (lambda t: t.use(t.kernel, "brisc", "all"), f"{USE}.cores", TILES + "'all'"),
    (lambda t: t.use(t.kernel, "brisc", None), f"{USE}.cores", TILES + "None"),
    (lambda t: t.use(t.kernel, "brisc", [(0, 0), (1,)]), f"{USE}.cores[1]", TILES + r"\(1,\)"),
    (lambda t: t.use(t.kernel, "brisc", []), f"{USE}.cores", "no cores; name at least one"),
    (lambda t: t.use(t.kernel, "brsic", (0, 0)), f"{USE}.processor", NAMES + "'brsic'"),
    (lambda t: t.use(t.kernel, 6, (0, 0)), f"{USE}.processor", NAMES + "6"),
    (lambda t: t.use(t.kernel, None, (0, 0)), f"{USE}.processor", NAMES + "None"),
    (lambda t: t.use("empty.elf", "brisc", (0, 0)), f"{USE}.kernel", "must be a ttfd.Kernel, not 'empty.elf'"),
    (lambda t: t.session.create_program(t.kernel), "create_program.kernels", "must be a list of ttfd.KernelUse, not <ttfd.Kernel"),
    (lambda t: t.session.create_program([t.kernel]), USE, "must be a ttfd.KernelUse, not <ttfd.Kernel"),
    (lambda t: t.circular_buffer(index="0", pages=1, page_bytes=16, cores=(0, 0)), "create_program.circular_buffers[0].index",
     "must be an integer from 0 to 4294967295, not '0'"),
    (lambda t: t.circular_buffer(index=0, pages=1, page_bytes=2048, cores=(0, 0), format="float16"),
     "create_program.circular_buffers[0].format", "must be 'float32', 'float16_b', 'bfp8_b', 'int32', 'uint16', 'bfloat16' or None, not 'float16'"),
    (lambda t: t.circular_buffer(index=0, pages=1, page_bytes=2048, cores=(0, 0), format="bfp8_b"), "create_program",
     "pages of 2048 bytes; a page of format bfp8_b is one tile of 1088 bytes"),
    (lambda t: t.circular_buffer(index=0, pages=1, page_bytes=64, cores=(0, 0), buffer=5), "create_program.circular_buffers[0].buffer",
     "must be a ttfd.Buffer, not 5"),
    (lambda t: t.circular_buffer(index=0, pages=1, page_bytes=64, cores=(0, 0), buffer=t.buffer), "create_program.circular_buffers[0].buffer",
     "lies in DRAM; a circular buffer lies on one in L1"),
    (lambda t: t.session.launch(t.kernel), "launch.program", "must be a ttfd.Program"),
    (lambda t: t.session.launch(t.program, ttfd.Arguments()), "launch.arguments", "must be a list of ttfd.Arguments"),
    (lambda t: t.session.launch(t.program, timeout=-1), "launch.timeout", "must be a number of seconds from 0 to 4294967, not -1"),
    (lambda t: t.arguments(common=t.buffer), "arguments.common", "must be a list of words and buffers, not <ttfd.Buffer"),
    (lambda t: t.arguments(common="ab"), "arguments.common", "must be a list of words and buffers, not 'ab'"),
    (lambda t: t.arguments(per_core=[1, 2]), "arguments.per_core", r"the shape \(tiles of the kernel, words per tile\)"),
    (lambda t: t.patch(launch=None, arguments=ttfd.Arguments()), "replay_trace.patches[0].launch", "must be an integer from 0"),
    (lambda t: t.queue.record_trace(t.program), "record_trace.launches", "must be a list of ttfd.Launch"),
    (lambda t: t.session.allocate_dram(-1), "allocate.size_bytes", "must be an integer from 0 to 9007199254740991, not -1"),
    (lambda t: t.session.allocate_dram("4K"), "allocate.size_bytes", "must be an integer .*, not '4K'"),
    (lambda t: t.session.allocate_dram(64, 64.0), "allocate.page_bytes", "must be an integer from 0 to 4294967295, not 64.0"),
    (lambda t: t.session.allocate_l1(64, 64, ttfd), "allocate.l1.cores", TILES),
    (lambda t: t.buffer.write("text"), "write.array", "must be bytes, or an array of numbers, not 'text'"),
    (lambda t: t.buffer.write(None), "write.array", "must be bytes, or an array of numbers, not None"),
    (lambda t: t.buffer.write([[1], [1, 2]]), "write.array", "must be bytes, or an array of numbers"),
    (lambda t: t.buffer.write(b"a" * 16, -16), "write.offset", "must be an integer from 0"),
    (lambda t: t.buffer.read(shape=-1), "shape", "must be an integer or a tuple of integers from 0, not -1"),
    (lambda t: t.buffer.read(dtype="words"), "dtype", "must be a NumPy dtype, not 'words'"),
    (lambda t: t.buffer.read(dtype=object), "dtype", "must be a NumPy dtype of numbers"),
    (lambda t: t.queue.enqueue_read(t.buffer, bytearray(64)), "into", "must be a C-contiguous and writeable NumPy array"),
    (lambda t: t.queue.enqueue_read(t.buffer, np.zeros((4, 4))[:, 1]), "into", "must be a C-contiguous and writeable NumPy array"),
    (lambda t: t.queue.write(1, b""), "write.buffer", "must be a ttfd.Buffer, not 1"),
    (lambda t: t.queue.wait(5), "position", "must be a ttfd.Position, not 5"),
    (lambda t: t.wait(99, 1, 1.0), "position", "no command of this session has position 1 of queue 99"),
    (lambda t: t.wait(1, 1, "soon"), "timeout", "must be a number of seconds"),
    (lambda t: t.queue.after((1, 1)), "positions", r"must be a ttfd.Position, not \(1, 1\)"),
    (lambda t: t.on_print(sorted("ab")), "on_print", "must be a function or None"),
    (lambda t: t.session.load_kernel(7), "load_kernel.elf", "must be the bytes of an ELF file, or its path, not 7"),
    (lambda t: t.session.load_kernel(b"", name=b"k"), "load_kernel.name", "must be a str of Unicode characters"),
    (lambda t: t.session.load_kernels(7), "load_kernels.path", "must be a path, not 7"),
    (lambda t: t.compute(t.kernel, (0, 0)), "create_program.kernels[0].kernels", "must be a ttfd.ComputeKernel, not <ttfd.Kernel"),
    (lambda t: t.session.launch(t.program, [ttfd.Arguments(), ttfd.Arguments()]), "launch.arguments[1].kernel", "kernel 0 has arguments already"),
    (lambda t: t.arguments(kernel=1), "arguments.kernel", "must be below 1, the number of the program's kernels, not 1"),
    (lambda t: t.patch(launch=1, arguments=ttfd.Arguments()), "replay_trace.patches[0].launch",
     "must be below 1, the number of the trace's launches, not 1"),
    (lambda t: t.connect(address=b"/run/ttfd.sock"), "address", "must be a str of Unicode characters"),
    (lambda t: t.connect(client_name="\ud800"), "hello.client_name", "must be a str of Unicode characters without surrogates"),
    (lambda t: t.connect(priority=3), "hello.priority", "priority 3 is none of low, normal, high"),
    (lambda t: t.connect(reconnect_for=float("nan")), "reconnect_for", "must be a number of seconds .* not nan"),
    (lambda t: t.connect(lease="all"), "lease", "must be a ttfd.Lease, not 'all'"),
    (lambda t: t.connect(tls={"cert": "a.pem"}), "tls", "must be a dict with keys of ca, certificate, key, server_name, keepalive_ms"),
    (lambda t: t.lease(workers=[(0, "1")]), "lease.workers[0]", TILES),
    (lambda t: ttfd.first_cores(0, 4), "grid_x", "must be an integer from 1 to 4294967295, not 0")])
def test_a_refusal_says_what_is_wrong_and_what_is_allowed(things, call, field, sentence):
    with pytest.raises(ttfd.Error, match=sentence) as caught:
        call(things)
    assert (caught.value.code, caught.value.reason, caught.value.field) == (ttfd.Code.INVALID_ARGUMENT, "INVALID", field)


def good_calls(t):
    """Every public call, with values that it takes."""
    session, queue = t.session, t.queue
    words = np.zeros(16, np.uint32)
    tile = {"cores": (0, 0)}
    memory = {"size_bytes": 64, "page_bytes": 64}
    return [
        (t.connect, {"address": t.address, "client_name": "", "weight": 1, "priority": "low", "connect_timeout": 9.0, "call_timeout": 9.0,
                     "batch_commands": 9, "tls": {}, "lease": None, "lease_token": None, "on_waiting": None, "reconnect_for": 9.0}),
        (t.tls, {"ca": None, "certificate": None, "key": None, "server_name": None, "keepalive_ms": 9}),
        (t.lease, {"workers": (0, 0), "wait": 9.0}),
        (t.use, {"kernel": t.kernel, "processor": "brisc", **tile}),
        (t.compute, {"kernels": t.compute_kernel, **tile}),
        (t.circular_buffer, {"index": 0, "pages": 1, "page_bytes": 2048, "format": "bfloat16", "buffer": None, **tile}),
        (t.semaphore, {"index": 0, "initial": 0, **tile}),
        (t.arguments, {"kernel": 0, "common": [1], "per_core": [[1]]}),
        (t.launch, {"program": t.program, "arguments": [], "timeout": 9.0}),
        (t.patch, {"launch": 0, "arguments": ttfd.Arguments()}),
        (t.wait, {"queue": 1, "value": 1, "timeout": 9.0}),
        (t.on_print, {"callback": None}),
        (ttfd.first_cores, {"grid_x": 13, "count": 4}),
        (session.load_kernel, {"elf": KERNELS / "empty.elf", "name": "name"}),
        (session.load_kernels, {"path": KERNELS / "print"}),
        (session.create_program, {"kernels": [ttfd.KernelUse(t.kernel, "brisc", (0, 0))], "circular_buffers": [], "semaphores": []}),
        (session.launch, {"program": t.program, "arguments": [], "timeout": 9.0}),
        (session.allocate_dram, {**memory, "bank": 0}),
        (session.allocate_l1, {**memory, **tile}),
        (session.allocate_sharded, {**memory, **tile, "row_pages": 1, "shard_rows": 1, "shard_row_pages": 1}),
        (session.open_queue, {"workers": (0, 0)}),
        (queue.write, {"buffer": t.buffer, "array": words, "offset": 0}),
        (queue.enqueue_read, {"buffer": t.buffer, "into": words, "offset": 0}),
        (queue.read, {"buffer": t.buffer, "dtype": np.uint8, "shape": 64, "offset": 0}),
        (queue.fill, {"buffer": t.buffer, "word": 0, "offset": 0, "size_bytes": 64}),
        (queue.record_trace, {"launches": [ttfd.Launch(t.program)]}),
        (queue.replay, {"trace": t.trace, "patches": []}),
        (lambda position: queue.after(position), {"position": t.position}),
        (queue.cancel, {"from_value": 1 << 40}),
        (t.buffer.write, {"array": words, "offset": 0}),
        (t.buffer.read, {"dtype": np.uint8, "shape": 64, "offset": 0}),
    ]


ODD = [None, "x", "\ud800", b"x", -1, 1.5, float("nan"), 1 << 70, True, object(), (), [()], [None], (0, "x"), {}, {"x": 1}, {1}, [[1], [1, 2]],
       np.zeros(3), np.array(7), np.array(["x"]), np.array([None]), memoryview(b"x"), ttfd, int]


def test_every_odd_argument_is_taken_or_refused_with_an_error_of_the_package(things):
    for call, arguments in good_calls(things):
        for name in arguments:
            for odd in ODD:
                try:
                    call(**{**arguments, name: odd})
                except ttfd.Error as error:
                    assert "has type" not in error.message, (call, name, odd)
                except Exception as leaked:
                    raise AssertionError(f"{call} with {name}={odd!r}") from leaked
                things.queue.clear_error()
        call(**arguments)
