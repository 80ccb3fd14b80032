"""Traces of TTNN files: captured by the first run of a loaded file and replayed by later ones, in both ways that compilers write them."""

from __future__ import annotations

import pathlib
import threading
from typing import Any

import numpy as np
import pytest

import compiled_files as files
import ttfd
import ttfd.tensor as tt
from ttfd import ttmlir
from ttnn_cases import some

OF_2025 = ["ttnn-8dd857800ba8", "ttnn-abf3b3dc0d02", "ttnn-daf072817298"]  # the program that captures makes the slots
PROFILES = [*OF_2025, files.NEWEST]  # the newest one has a program that allocates them
SIZE = (32, 32)
DEVICE = files.operation("GetDeviceOp", {"mesh": {"y": 1, "x": 1}, "chip_ids": [0], "out": {"global_id": 900}})
NUMBER = files.tensor(800, (), "UInt32", "row")  # of the trace
BEGIN = files.operation("BeginTraceCaptureOp", {"trace_id": NUMBER, "cq_id": 0})
END = files.operation("EndTraceCaptureOp", {"trace_id": NUMBER, "cq_id": 0})
REPLAY = files.operation("ExecuteTraceOp", {"trace_id": NUMBER, "cq_id": 0, "blocking": False})


def ref(number: int, shape: tuple[int, ...] = SIZE) -> dict[str, Any]:
    return files.tensor(number, shape, "BFloat16")


def call(kind: str, **fields: Any) -> dict[str, Any]:
    return files.operation(kind, fields, f"{kind.lower()}.mlir:5:7")


def write_into(slot: dict[str, Any], source: dict[str, Any]) -> dict[str, Any]:
    return call("WriteTensorOp", host_tensor=source, device_tensor=slot, blocking=False, cq_id=0)


def traced(path: pathlib.Path, profile: str, body: list[dict[str, Any]], own: list[dict[str, Any]], inputs: list[dict[str, Any]],
           output: dict[str, Any], before: list[dict[str, Any]] | None = None, extra: list[dict[str, Any]] | None = None,
           **changes: Any) -> ttmlir.Binary:
    """Program 0 runs `body`, which makes `output` of `own` and `inputs`, as a trace; `own` are their own slots. Other programs: the function, the one that
    captures, the one that executes, the one that allocates, `extra`."""
    arguments = [*own, *inputs]
    shape = tuple(output["desc"]["shape"])
    slots = [ref(600 + i, tuple(one["desc"]["shape"])) for i, one in enumerate(inputs)]
    result, made = ref(700, shape), ref(701, shape)
    empty = [call("EmptyOp", shape=slot["desc"]["shape"], out=slot) for slot in slots]
    ids = {"capture_program_id": 2, "execute_program_id": 3}
    if profile in OF_2025:
        host = [ref(500 + i, tuple(one["desc"]["shape"])) for i, one in enumerate(inputs)]
        writes = [each for pair in zip(inputs, host, slots) for each in (call("FromDeviceOp", **{"in": pair[0], "out": pair[1]}), write_into(pair[2], pair[1]))]
        function = files.program("trace", arguments, [output], body, private=True, **changes.get("function", {}))
        run, captured = (call("FuncCallOp", program_id=1, inputs=[*own, *slots], outputs=[out]) for out in (made, result))
        capture = files.program("capture", arguments, [NUMBER, made, *own, *slots, result], [DEVICE, *empty, *writes, run, BEGIN, captured, END], private=True)
        allocate = files.program("unused", [], [], [], private=True)
    else:
        ids["allocate_slots_program_id"] = 4
        slot = ref(950, shape)
        function = files.program("trace", [*arguments, slot], [], [*body, call("CopyOp", src=output, dst=slot)], private=True)
        run = call("FuncCallOp", program_id=1, inputs=[*own, *slots, result], outputs=[])
        writes = [write_into(slot, one) for one, slot in zip(inputs, slots)]
        capture = files.program("capture", [*inputs, *own, *slots, result], [NUMBER], [DEVICE, *writes, run, BEGIN, run, END, REPLAY], private=True)
        allocate = files.program("allocate", own, [*own, *slots, result],
                                 [DEVICE, *empty, call("EmptyOp", shape=list(shape), out=result)], private=True)
    execute = files.program("execute", [NUMBER], [], [REPLAY], private=True)
    before = before or []
    given = [one for one in arguments if all(one is not each for step in before for each in step["type"].get("outputs", []))]
    for step in before:
        given += [one for one in step["type"]["inputs"] if all(one is not each for each in given)]
    step = call("CaptureOrExecuteTraceOp", **{**ids, "inputs": arguments, "outputs": [output], **changes.get("step", {})})
    programs = [files.program("main", given, [output], [DEVICE, *before, step]), function, changes.get("capture", capture), execute, allocate]
    return ttmlir.Binary(str(files.write(path / "trace.ttnn", programs + (extra or []), profile)))


def product(path: pathlib.Path, profile: str, **changes: Any) -> ttmlir.Binary:
    """relu(x @ w), where w is its own slot."""
    w, x, y, z = (ref(i) for i in range(1, 5))
    return traced(path, profile, [call("MatmulOp", a=x, b=w, out=y), call("EltwiseUnaryOp", type="Relu", **{"in": y, "out": z})], [w], [x], z, **changes)


def close(made: tt.Tensor, wanted: np.ndarray) -> bool:
    return bool(np.linalg.norm(made.numpy() - wanted) <= 0.02 * np.linalg.norm(wanted))


@pytest.mark.parametrize("profile", PROFILES)
def test_later_runs_replay_with_their_inputs(daemon, tmp_path, profile):
    binary = product(tmp_path, profile)
    assert binary.problems() == []
    with tt.open(daemon.address) as card:
        numbers = [some(*SIZE) for _ in range(4)]
        w = card.tensor(numbers[0])
        made, launches = [], []
        for x in numbers[1:]:
            before = card.counts["launches"]
            made.append(binary.submit(card, 0, [w, card.tensor(x)])[0])
            launches.append(card.counts["launches"] - before)
        # All results are those of their run. A copy to the slot and one of the result are launched, the rest is replayed.
        assert all(close(one, np.maximum(x @ numbers[0], 0)) for one, x in zip(made, numbers[1:])) and launches == [2, 2, 2]
        # Another tensor in the place of one that is read where it is: from then on there is a slot for it, too.
        other, before = card.tensor(numbers[3]), card.counts["launches"]
        for i in range(4):
            weights = numbers[3] if i % 2 == 0 else numbers[0]
            assert close(binary.submit(card, 0, [other if i % 2 == 0 else w, card.tensor(numbers[1])])[0], np.maximum(numbers[1] @ weights, 0))
        assert card.counts["launches"] - before == 4 * 3
        assert np.array_equal(w.numpy(), card.tensor(numbers[0]).numpy())
        # An input that is its own slot may change in place.
        tt.copy_into(other, card.tensor(numbers[2]))
        assert close(binary.submit(card, 0, [other, card.tensor(numbers[0])])[0], np.maximum(numbers[0] @ numbers[2], 0))
        with pytest.raises(ttfd.Error, match=r"trace.ttnn: program main: input 1 is bfloat16 \[64, 32\]"):
            binary.submit(card, 0, [w, card.tensor(some(64, 32))])


@pytest.mark.parametrize("profile", [OF_2025[0], files.NEWEST])
def test_python_and_recordings_of_ones_own_give_the_same(daemon, tmp_path, profile):
    binary = product(tmp_path, profile)
    module: dict[str, Any] = {}
    exec(compile(binary.python(0), "trace.py", "exec"), module)
    with tt.open(daemon.address) as card:
        w, x = card.tensor(some(*SIZE)), card.tensor(some(*SIZE))
        wanted = binary.submit(card, 0, [w, x])[0].numpy()
        assert np.array_equal(module["program_0_main"](card, w, x)[0].numpy(), wanted)
        with card.record() as recording:
            made = binary.submit(card, 0, [w, x])[0]
        before = x.numpy()
        tt.copy_into(x, card.tensor(-before))
        recording.replay(times=2)
        assert np.array_equal(made.numpy(), binary.submit(card, 0, [w, x])[0].numpy()) and not np.array_equal(made.numpy(), wanted)


@pytest.mark.parametrize("profile", [OF_2025[0], files.NEWEST])
def test_sessions_and_threads_have_their_own_results(daemon, tmp_path, profile):
    binary = product(tmp_path, profile)
    w, found = some(*SIZE), []

    def run() -> None:
        with tt.open(daemon.address) as card:
            weights = card.tensor(w)
            for x in (some(*SIZE) for _ in range(4)):
                found.append(close(binary.submit(card, 0, [weights, card.tensor(x)])[0], np.maximum(x @ w, 0)))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8
    with tt.open(daemon.address) as card:
        weights, given = card.tensor(w), [some(*SIZE) for _ in range(6)]
        made: dict[int, tt.Tensor] = {}

        def submit(first: int) -> None:
            for i in range(first, 6, 2):
                made[i] = binary.submit(card, 0, [weights, card.tensor(given[i])])[0]

        threads = [threading.Thread(target=submit, args=(first,)) for first in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(close(made[i], np.maximum(given[i] @ w, 0)) for i in range(6))


@pytest.mark.parametrize("profile", [OF_2025[0], files.NEWEST])
def test_constants_before_and_in_a_trace_follow_their_inputs(daemon, tmp_path, profile):
    w, x, c, y, z, w2, c2, d = (ref(i) for i in range(1, 9))
    double = files.program("double", [w2], [c2], [call("EltwiseBinaryOp", type="Add", lhs=w2, rhs=w2, out=c2)], private=True)
    load = {"callee_name": "double", "program_idx": 5}
    before = [call("LoadCachedOp", inputs=[w], outputs=[c], **load)]
    body = [call("LoadCachedOp", inputs=[c], outputs=[d], **load), call("EltwiseBinaryOp", type="Multiply", lhs=x, rhs=d, out=y),
            call("NamedFullOp", type="Ones", shape=list(SIZE), out=ref(9)), call("EltwiseBinaryOp", type="Add", lhs=y, rhs=ref(9), out=z)]
    binary = traced(tmp_path, profile, body, [c], [x], z, before, [double])
    with tt.open(daemon.address) as card:
        for weights in (some(*SIZE), some(*SIZE)):
            given = card.tensor(weights)
            for numbers in (some(*SIZE), some(*SIZE)):
                assert close(binary.submit(card, 0, [card.tensor(numbers), given])[0], 4 * weights * numbers + 1)


@pytest.mark.parametrize("profile", [OF_2025[0], files.NEWEST])
def test_a_cache_is_changed_in_place_by_each_run(daemon, tmp_path, profile):
    shape = (1, 1, 32, 32)
    cache, x, z = (ref(i, shape) for i in range(1, 4))
    body = [call("FillCacheOp", cache=cache, input=x, batch_offset=0), call("EltwiseBinaryOp", type="Add", lhs=cache, rhs=cache, out=z)]
    double = files.program("double", [ref(20, shape)], [ref(21, shape)],
                           [call("EltwiseBinaryOp", type="Add", lhs=ref(20, shape), rhs=ref(20, shape), out=ref(21, shape))], private=True)
    binary = traced(tmp_path, profile, body, [cache], [x], z, extra=[double])
    with tt.open(daemon.address) as card:
        given = [card.tensor(np.zeros(shape)), card.tensor(np.zeros(shape))]
        for number in range(1, 5):
            made = binary.submit(card, 0, [given[number // 3], card.tensor(np.full(shape, number))])[0]
            assert np.all(made.numpy() == 2 * number) and [float(one.numpy()[0, 0, 0, 0]) for one in given] == [min(number, 2), number * (number > 2)]
        with pytest.raises(ttfd.Error, match="changes it in place"):
            binary.submit(card, 0, [card.tensor(np.zeros(shape), "float32"), card.tensor(np.ones(shape))])
    # A cache with a slot would not see the change.
    refused = traced(tmp_path, profile, body, [], [cache, x], z)
    assert "operation 1 CaptureOrExecuteTraceOp at captureorexecutetraceop.mlir:5:7: program trace changes %1 in place, of which the trace has a copy" in refused.problems()[0]


def test_a_program_that_is_too_large_for_a_trace_runs_without(daemon, tmp_path):
    x, y, z = (ref(i) for i in range(1, 4))
    body = [call("EltwiseUnaryOp", type="Neg", **{"in": one, "out": two}) for one, two in [(x, y)] + [(y, z), (z, y)] * 8200]
    binary = traced(tmp_path, files.NEWEST, body, [], [x], y)
    with tt.open(daemon.address) as card:
        numbers = card.tensor(some(*SIZE))
        for _ in range(2):
            before = card.counts["launches"]
            assert np.array_equal(binary.submit(card, 0, [numbers])[0].numpy(), -numbers.numpy())
            assert card.counts["launches"] - before > 16400


def test_what_is_no_trace_is_refused(tmp_path):
    w, x = ref(1), ref(2)
    capture = files.program("capture", [w, x], [NUMBER], [DEVICE, BEGIN, END], private=True)
    reason = "program capture captures its trace in an unknown way: "
    for profile in (OF_2025[0], files.NEWEST):
        assert reason + "between its begin and its end are 0 calls" in product(tmp_path, profile, capture=capture).problems()[0]
        assert "it calls program 9, and there are 5" in product(tmp_path, profile, step={"capture_program_id": 9}).problems()[0]
        assert "; the trace has 1 and 1" in product(tmp_path, profile, step={"inputs": [x]}).problems()[0]
        run = call("FuncCallOp", program_id=1, inputs=[w, x] + ([ref(3)] if profile == files.NEWEST else []),
                   outputs=[] if profile == files.NEWEST else [ref(3)])
        inputs, outputs = ([x, w, ref(4), ref(3)], [NUMBER]) if profile == files.NEWEST else ([w, x], [NUMBER, ref(3), w, ref(4), ref(3)])
        no_write = files.program("capture", inputs, outputs, [call("EmptyOp", shape=list(SIZE), out=ref(4)), BEGIN, run, END], private=True)
        assert reason + "it does not write %2 into its slot" in product(tmp_path, profile, capture=no_write).problems()[0]
        binary = product(tmp_path, profile)
        assert "runs the function that is captured" in " ".join(binary.problems(2)) and "runs the function that is captured" in " ".join(binary.problems(3))


def test_native_code_in_a_trace_is_refused(daemon, tmp_path):
    x, y = files.tensor(1, SIZE), files.tensor(2, SIZE)
    native = [call("CpuOp", ins=[x], out=y, func_name="any", dylib_id=4)]
    binary = traced(tmp_path, OF_2025[0], native, [], [x], y, function={"dylibs": [{"dylib_id": 4, "raw_file": [1, 2, 3]}]})
    problem = "operation 1 CaptureOrExecuteTraceOp at captureorexecutetraceop.mlir:5:7: program trace has native code of the CPU, which a trace cannot have"
    with tt.open(daemon.address) as card, pytest.raises(ttfd.Error, match=problem):
        binary.submit(card, 0, [card.tensor(some(*SIZE), "float32")], allow_native=True)
