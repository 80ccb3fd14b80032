"""Task graphs in Python: ttfd.graph, and the names of PTO's runtime."""

import time

import numpy as np
import pytest

import ttfd
from conftest import KERNELS, join, start_thread
from test_errors import refusal
from ttfd import pto_runtime
from ttfd.graph import Graph, Scratch

PAGE = 64
REPORTS = 100


@pytest.fixture(name="report")
def _report(session):
    """A buffer of pages, and the kernel that reports what a task sees in one of them."""
    return session.allocate_dram(REPORTS * PAGE, PAGE), session.load_kernel(KERNELS / "task_report.elf")


def reports(buffer):
    """The tiles on which the tasks ran, as (x, y), and their arguments 1 to 15."""
    words = buffer.read(np.uint32, (REPORTS, PAGE // 4))
    return [(int(word) & 255, int(word) >> 8) for word in words[:, 0]], words[:, 1:]


def test_tasks_run_with_their_arguments_on_workers_of_their_class(session, report):
    buffer, kernel = report
    other = session.allocate_dram(PAGE)  # not at address 0, as the first buffer of a card is
    graph = Graph(session, scheduler=(3, 3), classes={"A": [(0, 0, 3, 0)], "B": (0, 1, 0, 1)}, scratch=[Scratch(0, 2, 64)])
    on_a, on_b = graph.function("a", kernel), graph.function("b", kernel, on="B")
    first = graph.add(on_a, [buffer, 0, -1, np.float32(1.5), other])
    graph.add(on_b, [buffer, 1], after=[first])
    graph.add(on_a, [buffer, 2], after=[first], on="B")
    words = np.arange(10)[:, None] * [0, 1, 100] + [0, 3, 0]
    assert graph.add_many(on_a, words, buffers={0: buffer}).number == 3
    graph.add_edges([[0, task] for task in range(3, 13)])
    assert (graph.tasks, graph.edges) == (13, 12)
    for _ in range(2):
        graph.run()
        tiles, seen = reports(buffer)
        assert {tile[1] for tile in [tiles[0], *tiles[3:13]]} == {0} and tiles[1:3] == [(0, 1)] * 2
        assert seen[0, 1:3].tolist() == [0xFFFFFFFF, np.float32(1.5).view(np.uint32)] and seen[0, 3] != 0 and not seen[0, 4:].any()
        assert np.array_equal(seen[3:13, :2], np.arange(10)[:, None] * [1, 100] + [3, 0])
    position = graph.enqueue()
    session.queue.wait(position)
    assert graph.report().blocks == 1 and graph.report().clocks > 0


def test_the_host_runs_the_same_graph(session, report):
    buffer, kernel = report
    order, memory = [], np.zeros(4)

    def host(array, number):
        assert array is memory
        order.append(number)

    graph = Graph(session)
    function = graph.function("f", kernel, host=host)
    tasks = [graph.add(function, [buffer, number]) for number in range(3)]
    graph.add_edge(tasks[2], tasks[0])
    graph.add_edge(tasks[0], tasks[1])
    graph.run_on_host({buffer: memory})
    assert order == [2, 0, 1]
    assert "no memory is bound" in str(refusal(graph.run_on_host, {}))

    def broken(*_):
        raise ValueError("broken")

    other = Graph(session)
    other.add(other.function("f", kernel, host=broken), [buffer])
    with pytest.raises(ValueError, match="broken"):
        other.run_on_host({buffer: memory})


def test_what_is_wrong_is_named(session, report):
    buffer, kernel = report
    graph = Graph(session)
    function = graph.function("f", kernel)
    assert "is a float, not a 32-bit word" in str(refusal(graph.add, function, [buffer, 1.5]))
    assert "words has the shape (tasks, arguments)" in str(refusal(graph.add_many, function, [1, 2]))
    assert "pairs has the shape (edges, 2)" in str(refusal(graph.add_edges, [1, 2]))
    with pytest.raises(ttfd.Error, match="scheduler"):
        Graph(session, scheduler=(99, 0)).run()
    a, b = graph.add(function, [buffer, 0]), graph.add(function, [buffer, 1])
    graph.add_edges([[a.number, b.number], [b.number, a.number]])
    with pytest.raises(ttfd.Error, match="tasks wait for each other: 0 'f' -> 1 'f' -> 0 'f'") as error:
        graph.run()
    assert (error.value.code, error.value.reason) == (ttfd.Code.INVALID_ARGUMENT, "INVALID")


def test_programs_for_ptos_runtime_run(daemon, monkeypatch):
    monkeypatch.setenv("TTFD_ADDRESS", daemon.address)
    runner = pto_runtime.DeviceRunner.get()
    assert runner is pto_runtime.DeviceRunner.get()
    assert "call init()" in str(refusal(runner.allocate_tensor, 4))
    runner.init(device_id=0, cores=3, aicpu_kernel="./aicpu/libaicpu_graph_kernel.so", aicore_kernel=[KERNELS / "task_add.elf"])
    try:
        count = 700  # two pages, the second one in part
        a, b, c = (runner.allocate_tensor(count * 4) for _ in range(3))
        left, right = np.linspace(-3, 5, count, dtype=np.float32), np.linspace(7, 2, count, dtype=np.float32)
        runner.copy_to_device(a, left)
        runner.copy_to_device(b, right)
        graph = pto_runtime.Graph()
        sums = [graph.add_task([a, b, c, count], func_id=0), graph.add_task([c, b, c, count], func_id=0, core_type="cube")]
        graph.add_successor(*sums)
        runner.run(graph)
        result = np.zeros(count, dtype=np.float32)
        runner.copy_from_device(result, c)
        assert np.array_equal(result, left + right + right)
        assert "core_type" in str(refusal(graph.add_task, [a], 0, "tensor"))
        assert "task must be an integer from 0 to 1" in str(refusal(graph.add_successor, 0, 2))
        runner.free_tensor(a)
        graph = pto_runtime.Graph()
        graph.add_task([c], func_id=1)
        assert "below 1, the number of the runner's functions" in str(refusal(runner.run, graph))
    finally:
        runner.finalize()
    assert "call init()" in str(refusal(runner.run, graph))


def test_a_graph_is_cancelled_rebound_and_recorded(session, report):
    buffer, kernel = report
    other = session.allocate_dram(REPORTS * PAGE, PAGE)
    graph = Graph(session)
    function = graph.function("f", kernel)
    graph.add_many(function, np.arange(10)[:, None] * [0, 1], buffers={0: buffer})
    with session.queue.record_trace([graph.launch()]) as trace:
        graph.rebind(buffer, other)
        graph.run()
        assert not buffer.read(np.uint32).any() and reports(other)[1][9, 0] == 9
        session.queue.replay(trace)
        assert reports(buffer)[1][9, 0] == 9
    assert "no task names buffer" in str(refusal(graph.rebind, buffer, other))

    large = Graph(session, classes={"ONE": (1, 0)})
    task = large.function("f", kernel)
    large.add_many(task, np.zeros((200_000, 2), dtype=np.uint32), buffers={0: buffer})
    large.load()
    caught = []

    def run():
        caught.append(refusal(large.run))

    thread = start_thread(run)
    time.sleep(0.05)
    large.cancel(session.open_queue(transfer=True))
    join(thread)
    assert caught[0].code == ttfd.Code.CANCELLED and "cancelled after" in str(caught[0])
    assert large.report().cancelled
    graph.run()
    assert not graph.report().cancelled and session.queue.error is None
