"""Task graphs in Python: ttfd.graph, and the names of PTO's runtime."""

import collections
import json
import sys
import time

import numpy as np
import pytest

import ttfd
from conftest import KERNELS, SOURCE, join, start_thread
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


def slice_at(slices, event):
    """The slice that an arrow's end is bound to: the last one of its thread that has begun, if it has not ended."""
    begun = [one for one in slices[event["pid"], event["tid"]] if one["ts"] <= event["ts"]]
    return begun[-1] if begun and event["ts"] < begun[-1]["ts"] + begun[-1]["dur"] else None


def test_a_timeline_is_a_trace_that_keeps_the_formats_rules(session, report, tmp_path):
    buffer, kernel = report
    graph = Graph(session, classes={"VECTOR": (1, 0, 8, 0), "CUBE": [(0, 3, 3, 3)]})
    vector, cube = graph.function("add", kernel), graph.function("mul", kernel, on="CUBE")
    for task in range(REPORTS):
        graph.add(cube if task % 3 == 0 else vector, [buffer, task])
    edges = [(task - back, task) for task in range(20, REPORTS) for back in (1 + task % 7, 20)]
    graph.add_edges(edges)
    timeline = graph.run_with_timeline()
    timeline.write_trace(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    names, slices, arrows, counters = {}, collections.defaultdict(list), collections.defaultdict(list), collections.defaultdict(list)
    for event in trace["traceEvents"]:
        kind, thread = event["ph"], (event["pid"], event.get("tid", 0))
        if kind == "M" and event["name"] in ("process_name", "thread_name"):
            assert thread not in names
            names[thread] = event["args"]["name"]
        elif kind == "X":
            slices[thread].append(event)
        elif kind in "sf":
            arrows[event["id"]].append(event)
        elif kind == "C":
            counters[event["pid"], event["name"]].append((event["ts"], *event["args"].values()))
        else:
            assert (kind, event["name"]) == ("M", "thread_sort_index")
    assert [names[process, 0] for process in (1, 2)] == ["Vector Workers (8)", "Cube Workers (4)"] and len(names) == 2 + 8 + 4
    tiles = reports(buffer)[0]
    seen = []
    for thread, ones in slices.items():
        ones.sort(key=lambda one: one["ts"])
        assert all(before["ts"] + before["dur"] <= after["ts"] + 1e-6 for before, after in zip(ones, ones[1:])), "slices of a thread overlap"
        for one in ones:
            seen.append(one["args"]["task"])
            assert names[thread].endswith("({},{})".format(*tiles[seen[-1]])) and one["name"] == ("add" if seen[-1] % 3 else "mul")
    assert sorted(seen) == list(range(REPORTS))
    bound = []
    for begin, end in arrows.values():
        assert (begin["ph"], end["ph"], end["bp"]) == ("s", "f", "e") and begin["ts"] <= end["ts"]
        bound.append(tuple(slice_at(slices, one)["args"]["task"] for one in (begin, end)))
    assert sorted(bound) == sorted(set(edges))
    for (process, name), values in counters.items():
        workers = {1: 8, 2: 4}[process]
        assert [time for time, _ in values] == sorted(time for time, _ in values)
        assert values[-1][1] == {"ready": 0, "idle": workers}[name] and all(0 <= value <= REPORTS for _, value in values)
        assert name == "ready" or max(value for _, value in values) == workers
    summary = timeline.summarize()
    assert trace["otherData"]["tasks"] == summary.tasks == REPORTS and summary.classes[1].workers == 4
    assert 0 < summary.classes[0].utilization < 1 and summary.clocks == timeline.tasks["end"].max()
    assert np.array_equal(timeline.tasks["in_class"], [int(task % 3 == 0) for task in range(REPORTS)])
    assert "No such file" in refusal(timeline.write_trace, tmp_path / "missing" / "trace.json").message


def test_ttfdctl_traces_a_run_of_a_command(daemon, tmp_path):
    path = tmp_path / "trace.json"
    words = [sys.executable, SOURCE / "client/examples/task_graph.py", KERNELS, "--tasks", "200", "--relaunches", "2"]
    result = daemon.ctl("graph", "trace", "-o", path, "--run", "3", "--", *words)
    assert result.returncode == 0, result.stderr
    assert "verified" in result.stdout and "200 tasks in " in result.stdout and "ALL" in result.stdout
    assert len([one for one in json.loads(path.read_text())["traceEvents"] if one["ph"] == "X"]) == 200
    summary = json.loads(daemon.ctl("graph", "trace", "--json", "-o", path, "--", *words).stdout.partition("host\n{")[2].join(["{", ""]))
    assert summary["tasks"] == 4 and summary["file"] == str(path)  # run 1 is the formula
    for command, code in (["true"], 1), (["sh", "-c", "exit 7"], 7):
        result = daemon.ctl("graph", "trace", "-o", path, "--", *command)
        assert result.returncode == code and "has not written the timeline of run 1 of a graph" in result.stderr
    assert not path.exists()
    directory = daemon.ctl("graph", "trace", "-o", tmp_path, "--", "touch", tmp_path / "ran")
    missing = daemon.ctl("graph", "trace", "-o", tmp_path / "no/trace.json", "--", "touch", tmp_path / "ran")
    assert (directory.returncode, missing.returncode) == (1, 1) and not (tmp_path / "ran").exists()
    assert "it is no regular file" in directory.stderr and "No such file" in missing.stderr
    for text in "{}", '{"otherData": 1}', '{"otherData": {"classes": 3, "tasks": "x"}},':
        result = daemon.ctl("graph", "trace", "-o", path, "--", "sh", "-c", f"echo '{text}' > {path}")
        assert result.returncode in (0, 1) and "terminate" not in result.stderr, result.stderr


def test_tasks_of_the_engine_run_in_recordings_too(session):
    tile_bytes = ttfd.tile_bytes("float32")
    graph = Graph(session, scratch=[Scratch(index, 2, tile_bytes, "float32") for index in range(4)])
    reader, writer = (session.load_kernel(KERNELS / f"task_tile_{name}.elf") for name in ("reader", "writer"))
    exp = graph.function("exp", writer, ncrisc=reader, compute=session.load_kernels(KERNELS / "task_exp"))
    given, made = (session.allocate_dram(2 * tile_bytes, tile_bytes) for _ in range(2))
    values = np.linspace(-1, 1, 2048, dtype=np.float32).reshape(32, 64)
    given.write(ttfd.to_tiles(values, "float32"))
    none = [given, 0, 0, 1]
    graph.add(exp, [given, 0, 2, 1, *none, *none, made, 0, 2])
    graph.run()
    first = made.read(np.uint8)
    assert np.allclose(ttfd.from_tiles(first, values.shape, "float32"), np.exp(values), rtol=1e-5)
    with session.queue.record_trace([graph.launch()]) as trace:
        session.queue.fill(made, 0)
        session.queue.replay(trace)
        assert np.array_equal(made.read(np.uint8), first)
    assert refusal(graph.function, "two", writer, compute=ttfd.ComputeKernel([reader, writer])).field == "compute"


def test_tasks_may_have_a_configuration_of_their_own(session, report):
    buffer, _ = report
    graph = Graph(session)
    function = graph.function("own", session.load_kernel(KERNELS / "task_configured.elf"), configured=True)
    join = graph.function("join", None, configured=True)
    tasks = [graph.add_configured(function, graph.configuration([Scratch(2, 1 + i, 64, None)], {"brisc": [buffer, i, 500 + i, 2]})) for i in range(20)]
    last = graph.add_configured(join, graph.configuration(), after=tasks)
    graph.add_configured(function, graph.configuration([Scratch(0, 7, 4096, "float32")], {ttfd.BRISC: [buffer, 20, 520, 0]}), after=[last])
    graph.run()
    words = buffer.read(np.uint32, (REPORTS, PAGE // 4))
    assert np.array_equal(words[:20, :4], [[500 + i, 1 + i, 64, 0] for i in range(20)]) and list(words[20, :4]) == [520, 7, 4096, 1]
    assert "configuration must be a ttfd.Configuration" in str(refusal(graph.add_configured, function, 3))


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
