"""ttfd.tensor: what is Python's own of it. The operations themselves are in test_op_table.py."""

from __future__ import annotations

import ast
import gc
import inspect
import pathlib
import subprocess

import numpy as np
import pytest

import ttfd
import ttfd.tensor as tt
from conftest import KERNELS, join, start_thread
from ttfd.graph import Graph


@pytest.fixture(scope="module")
def card(daemon):
    with tt.open(daemon.address) as opened:
        yield opened


def test_operators_are_operations(card):
    x, w = card.tensor([[1, 2], [3, 4]]), card.tensor([[2, 0], [0, 0.5]])
    given = np.array([[1, 2], [3, 4]], np.float32)
    for made, wanted in [(x + w, [[3, 2], [3, 4.5]]), (x - 1, given - 1), (1 - x, 1 - given), (x * 2, given * 2), (2.5 * x, 2.5 * given),
                         (x / 2, given / 2), (4 / (x * 0 + 2), given * 0 + 2), (x @ w, [[2, 1], [6, 2]]), (-x, -given)]:
        assert np.array_equal(made.numpy(), wanted)


def test_arrays_of_all_kinds_become_tensors(card):
    for array in (np.arange(6).reshape(2, 3), [[0, 1, 2], [3, 4, 5]], np.arange(6.0).reshape(3, 2).T, np.ones((2, 3), bool)):
        tensor = card.tensor(array, dtype="float32")
        assert (tensor.shape, tensor.dtype, tensor.layout) == ((2, 3), "float32", "tile")
        assert np.array_equal(tensor.numpy(), np.asarray(array, np.float32))
        assert np.array_equal(np.asarray(tensor, np.float64), np.asarray(array))


@pytest.mark.parametrize("call, message", [
    (lambda card, x: tt.add(x, card.tensor(np.ones((5, 7)))),
     "add: b is bfloat16 [5, 7] in layout tile; it cannot be broadcast with [2, 3]"),
    (lambda card, x: tt.add(x), "add: missing a required argument: 'b'"),
    (lambda card, x: tt.matmul(x, x, speed=1), "matmul: got an unexpected keyword argument 'speed'"),
    (lambda card, x: tt.exp("x"), "exp[0] must be a ttfd.Tensor, not 'x'"),
    (lambda card, x: x + "x", "add[1] must be a ttfd.Tensor, not 'x'"),
    (lambda card, x: card.tensor(["x"]), "array must be an array of numbers, not ['x']"),
    (lambda card, x: card.tensor([1.0], dtype="int7"), "dtype must be 'bfloat16' or 'float32' or 'bfp8' or 'uint32', not 'int7'"),
    (lambda card, x: card.tensor([-1], dtype="uint32"), "array must be an array of integers from 0 to 4294967295, not [-1]"),
    (lambda card, x: tt.Recording().replay(), "the block of the recording has not ended, or has failed"),
    (lambda card, x: tt.Card("session"), "session must be a ttfd.Session, not 'session'"),
])
def test_wrong_calls_say_what_is_allowed(card, call, message):
    x = card.tensor(np.ones((2, 3)))
    before = card.counts["operations"]
    with pytest.raises(ttfd.Error) as raised:
        call(card, x)
    assert (raised.value.code, raised.value.message) == (ttfd.Code.INVALID_ARGUMENT, message)
    assert card.counts["operations"] == before


def test_integers_are_indices(card):
    indices = card.tensor([3, 0, 2], dtype="uint32")
    assert (indices.dtype, indices.layout, indices.numpy().dtype) == ("uint32", "row_major", np.uint32)
    rows = np.arange(12.0).reshape(4, 3)
    assert np.array_equal(tt.embedding(indices, card.tensor(rows)).numpy(), rows[[3, 0, 2]])
    assert np.array_equal(tt.concat([indices, card.tensor([7], dtype="uint32")]).numpy(), [3, 0, 2, 7])


def test_integers_are_computed_with(card):
    """Modulo 2^32, and without a sign."""
    a, b = (np.random.default_rng(seed).integers(0, 1 << 32, (3, 70), np.uint32) for seed in (1, 2))
    b[0] = a[0] | 1
    x, y = card.tensor(a, "uint32"), card.tensor(b, "uint32", "tile")
    for name, function in (("add", np.add), ("subtract", np.subtract), ("multiply", np.multiply), ("div", np.floor_divide), ("maximum", np.maximum),
                           ("minimum", np.minimum), ("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal), ("gt", np.greater),
                           ("ge", np.greater_equal)):
        result = getattr(tt, name)(x, y)
        assert np.array_equal(result.numpy(), function(a, b)) and result.dtype == "uint32" and result.layout == "row_major", name
    assert np.array_equal(tt.add(y, card.tensor(np.array([5], np.uint32), "uint32")).numpy(), b + np.uint32(5))
    numbers = np.array([0, 1, 2.75, 255.5, -1, -2.5, 1 << 31, 3e9, 0.4], np.float32)
    integers = numbers.astype(np.int64).astype(np.uint32)
    assert np.array_equal(tt.typecast(card.tensor(numbers, "float32"), dtype="uint32").numpy(), integers)
    for dtype, steps in (("float32", 1), ("bfloat16", 1 << 16)):
        assert (np.abs(tt.typecast(x, dtype=dtype).numpy() - a.astype(np.float64)) <= np.spacing(a.astype(np.float32)) * steps / 2).all()
    for wrong, message in ((lambda: tt.add(x, y, activation="relu"), "add: activation is"), (lambda: tt.add(x, card.tensor(np.ones(70))), "add: a is uint32"),
                           (lambda: tt.exp(card.tensor(np.ones(3)), dtype="uint32"), 'exp: dtype is "uint32"')):
        with pytest.raises(ttfd.Error, match=message):
            wrong()


def test_a_recording_replays(card):
    x = card.tensor(np.linspace(-1, 1, 64 * 64).reshape(64, 64))
    def model():
        return tt.tanh(x @ x) + 0.5
    wanted = model().numpy()
    with card.record() as step:
        y = model()
    with pytest.raises(ttfd.Error, match="has not been replayed"):
        y.numpy()
    step.replay(times=3)
    assert step.launches == 3
    assert np.array_equal(y.numpy(), wanted)
    with pytest.raises(ttfd.Error, match="without clocks"):
        step.clocks()
    with card.record(clocks=True) as step:
        model()
    step.replay()
    assert [(name, launches) for name, launches, clocks in step.clocks() if clocks > 0] == [("matmul", 1), ("tanh", 1), ("add_scalar", 1)]


def test_a_recording_of_attention_follows_positions_and_pages_on_the_card(card):
    random = np.random.default_rng(5)
    q, pages = card.tensor(random.normal(0, 1, (1, 2, 8, 32))), [card.tensor(random.normal(0, 1, (6, 2, 32, 32))) for _ in range(2)]
    positions, table = (card.tensor(np.zeros(of, int), "uint32") for of in ((1, 1, 1, 2), (1, 1, 2, 3)))
    with card.record() as step:
        y = tt.paged_scaled_dot_product_attention_decode(q, *pages, tt.reshape(table, shape=[2, 3]), positions)
    for given, blocks in ([40, 90], [[1, 5, 0], [2, 3, 4]]), ([5, 64], [[4, 0, 1], [3, 5, 2]]):
        tt.fill_cache(positions, card.tensor(np.reshape(given, (1, 1, 1, 2)), "uint32"))
        tt.fill_cache(table, card.tensor(np.reshape(blocks, (1, 1, 2, 3)), "uint32"))
        step.replay()
        again = tt.paged_scaled_dot_product_attention_decode(q, *pages, card.tensor(blocks, "uint32"), card.tensor(given, "uint32"))
        assert np.array_equal(y.numpy(), again.numpy())


def test_a_recording_reads_positions_and_pages_at_each_replay(card):
    """The indices are results of operations within the recording: the host never has them."""
    pages, rows, columns = 6, 4, 32
    given = np.random.default_rng(3).normal(0, 1, (1, 2, 1, columns)).astype(np.float32)
    cache, row = card.tensor(np.zeros((pages, 1, rows, columns), np.float32)), card.tensor(given)
    table = card.tensor(np.array([[4, 1, 0], [2, 5, 3]], np.uint32), "uint32")
    position, following = (card.tensor(np.arange(begin, begin + 12, dtype=np.uint32).reshape(12, 1), "uint32") for begin in (0, 1))
    state = card.tensor(np.zeros((1, 1, 2, 1), np.uint32), "uint32")
    with card.record() as step:
        indices = tt.reshape(tt.embedding(tt.reshape(state, shape=[2]), position), shape=[2])
        tt.paged_update_cache(cache, row, indices, table)
        tt.fill_cache(state, tt.reshape(tt.embedding(indices, following), shape=[1, 1, 2, 1]))
    step.replay(times=7)
    wanted = np.zeros((pages, 1, rows, columns), np.float32)
    for user, own in enumerate([[4, 1], [2, 5]]):
        for at in range(7):
            wanted[own[at // rows], 0, at % rows] = row.numpy()[0, user, 0]
    assert np.array_equal(cache.numpy(), wanted)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_argmax_of_long_rows(card, dtype):
    array = np.random.default_rng(4).normal(0, 1, (2, 200_000)).astype(np.float32)
    array[0, [150_001, 199_999]] = array[1, [0, 7]] = 9
    assert tt.argmax(card.tensor(array, dtype)).numpy().tolist() == [150_001, 0]
    array[0, 199_999] = 10
    assert tt.argmax(card.tensor(array, dtype)).numpy().tolist() == [199_999, 0]


def test_operations_become_tasks_of_a_graph(card):
    x = card.tensor(np.linspace(-1, 1, 64 * 64).reshape(64, 64))
    wanted = tt.softmax(x @ x).numpy()
    graph = Graph(card.session)
    with card.record_tasks(graph) as recording:
        y = tt.softmax(x @ x)
    assert recording.tasks == graph.tasks >= 3
    graph.run()
    assert np.array_equal(y.numpy(), wanted)
    with pytest.raises(ZeroDivisionError), card.record_tasks(graph) as recording:
        tt.exp(x)
        1 / 0  # pylint: disable=expression-not-assigned,pointless-statement
    assert recording.tasks == 0
    with pytest.raises(ttfd.Error, match="graph must be a ttfd.Graph"), card.record_tasks("graph"):
        pass
    assert np.array_equal(tt.softmax(x @ x).numpy(), wanted)


def test_an_exception_abandons_the_recording(card):
    x = card.tensor(np.ones((2, 3)))
    with pytest.raises(ZeroDivisionError), card.record():
        tt.exp(x)
        raise ZeroDivisionError
    with pytest.raises(ttfd.Error, match="add: b"), card.record():
        tt.add(x, card.tensor(np.ones(7)))
    assert tt.abs(x).numpy().sum() == 6  # operations run again


def test_programs_of_ones_own_use_the_memory_of_tensors(card):
    kernel = card.session.load_kernel(KERNELS / "vector_add.elf")
    tiles = [ttfd.CoreRange(0, 0, 0, 0)]
    program = card.session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, tiles)], [ttfd.CircularBuffer(0, 4, 4096, tiles)])
    ones = card.tensor(np.zeros((32, 32)), dtype="float32")
    sums = tt.abs(ones)
    before = ones.buffer.read(np.uint32)
    card.launch(program, [ttfd.Arguments(common=[ones.buffer, ones.buffer, sums.buffer, 4096], per_core=[[0, 1]])])
    assert np.array_equal(sums.buffer.read(np.uint32), before + before)


def test_memory_returns_when_tensors_are_collected(card):
    gc.collect()
    x = card.tensor(np.ones((96, 96)))
    before = card.counts["pooled_bytes"]
    cycle = [tt.exp(x)]
    cycle.append(cycle)
    del cycle
    gc.collect()
    assert card.counts["pooled_bytes"] >= before


def test_threads_share_a_card_and_its_garbage(card):
    wanted = tt.exp(card.tensor(np.ones((64, 64)))).numpy()
    wrong = []

    def work():
        for _ in range(30):
            y = tt.exp(card.tensor(np.ones((64, 64))))
            if not np.array_equal(y.numpy(), wanted):
                wrong.append(y)
    join(*[start_thread(work) for _ in range(3)])
    assert not wrong


def test_a_card_in_a_session_that_exists(daemon):
    with ttfd.connect(daemon.address) as session:
        card = tt.Card(session, cores=[(2, 2, 3, 3)])
        assert np.array_equal((card.tensor(np.eye(40)) @ card.tensor(np.eye(40))).numpy(), np.eye(40))
    with pytest.raises(ttfd.Error):
        card.tensor([1.0])


def test_exit_with_tensors_in_use(daemon):
    script = "import sys, ttfd.tensor as tt; card = tt.open(sys.argv[1]); x = card.tensor([1.0]); y = tt.exp(x); print(y)"
    ended = subprocess.run(["/usr/bin/python3", "-c", script, daemon.address], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_functions_say_what_they_take():
    assert str(inspect.signature(tt.matmul)).startswith("(a, b, *, transpose_b=False, fidelity=4")
    assert "passes of a product" in tt.matmul.__doc__


def test_the_types_name_what_the_module_has():
    stub = ast.parse(pathlib.Path(tt.__file__).with_suffix(".pyi").read_text())
    named = [node.name if hasattr(node, "name") else node.target.id for node in stub.body if not isinstance(node, (ast.Import, ast.ImportFrom))]
    assert sorted(named) == sorted(tt.__all__)
