"""Programs of TTNN files: every operation that runs, against NumPy; the samples; wrong programs and inputs."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from typing import Any

import numpy as np
import pytest

import compiled_files as files
import ttfd
import ttfd.tensor as tt
from ttfd import ttmlir
from conftest import BUILD, Daemon
from ttnn_cases import cases, convolved, some

MIN_PCC = {"Float32": 0.9999, "BFloat16": 0.999}  # float32 passes the engine with ten bits of its fraction
SAMPLES = os.environ.get("TTFD_TTMLIR_SAMPLES")


def run(daemon: Daemon, file: pathlib.Path, inputs: list[np.ndarray], folder: pathlib.Path) -> np.ndarray:
    """The first output of the first program, by ttfdctl."""
    words: list[str | pathlib.Path] = ["run", file]
    for index, array in enumerate(inputs):
        np.save(folder / f"in{index}.npy", array.view(np.uint32) if array.dtype == np.int32 else array)
        words += ["--input", folder / f"in{index}.npy"]
    done = daemon.ctl(*words, "-o", folder / "out.npy")
    assert done.returncode == 0, done.stderr
    return np.load(folder / "out.npy")


def assert_close(made: np.ndarray, wanted: np.ndarray, dtype: str) -> None:
    assert made.shape == wanted.shape
    spread = np.std(wanted)
    if spread > 0:
        assert np.corrcoef(made.ravel(), wanted.ravel())[0, 1] >= MIN_PCC[dtype]
    assert np.linalg.norm(made - wanted) <= 0.02 * np.linalg.norm(wanted) + 1e-6


@pytest.mark.parametrize("case", cases(), ids=str)
def test_an_operation_gives_what_numpy_gives(daemon, tmp_path, case):
    refs = {f"%{i}": files.tensor(i, array.shape, files.schema_type(array, case.dtype)) for i, array in enumerate(case.inputs)}
    refs["%out"] = files.tensor(99, case.wanted.shape, files.schema_type(case.wanted, case.dtype), case.layout)
    operations = [files.operation(case.kind, files.references(case.fields, refs))]
    inputs = [refs[f"%{i}"] for i in range(len(case.inputs))]
    file = files.write(tmp_path / "case.ttnn", [files.program("main", inputs, [refs["%out"]], operations)])
    made = run(daemon, file, case.inputs, tmp_path)
    if case.exact:
        assert np.array_equal(made if made.dtype == np.float32 else made.view(case.wanted.dtype), case.wanted)
    else:
        assert_close(made, case.wanted, case.dtype)


def network(path: pathlib.Path) -> tuple[pathlib.Path, list[np.ndarray], np.ndarray]:
    """A layer with a constant computed by another program, as the compiler writes it."""
    x, w = some(40, 64), some(64, 96, low=-0.2, high=0.2)
    of = {"x": files.tensor(1, x.shape), "w": files.tensor(2, w.shape), "c": files.tensor(3, w.shape), "y": files.tensor(4, (40, 96)),
          "z": files.tensor(5, (40, 96), "BFloat16"), "w2": files.tensor(6, w.shape), "c2": files.tensor(7, w.shape)}
    main = files.program("main", [of["x"], of["w"]], [of["z"]], [
        files.operation("GetDeviceOp", {"mesh": {"y": 1, "x": 1}, "chip_ids": [0], "out": {"global_id": 90}}),
        files.operation("LoadCachedOp", {"inputs": [of["w"]], "callee_name": "constant", "program_idx": 1, "outputs": [of["c"]]}),
        files.operation("DeallocateOp", {"in": of["w"]}),
        files.operation("MatmulOp", {"a": of["x"], "b": of["c"], "out": of["y"]}),
        files.operation("EltwiseUnaryOp", {"type": "Relu", "in": of["y"], "out": of["z"]}),
    ])
    constant = files.program("constant", [of["w2"]], [of["c2"]],
                             [files.operation("EltwiseBinaryOp", {"type": "Add", "lhs": of["w2"], "rhs": of["w2"], "out": of["c2"]})], private=True)
    return files.write(path, [main, constant]), [x, w], np.maximum(x @ (w + w), 0)


def test_a_program_calls_another_and_its_python_does_the_same(daemon, tmp_path):
    file, inputs, wanted = network(tmp_path / "network.ttnn")
    made = run(daemon, file, inputs, tmp_path)
    assert_close(made, wanted, "BFloat16")
    binary = ttmlir.Binary(str(file))
    module: dict[str, Any] = {}
    exec(compile(binary.python(0), "network.py", "exec"), module)
    with tt.open(daemon.address) as card:
        tensors = [card.tensor(array, "float32") for array in inputs]
        assert np.array_equal(module["program_0_main"](card, *tensors)[0].numpy(), made)
        launches = []
        for _ in range(3):
            before = card.counts["launches"]
            assert np.array_equal(binary.submit(card, 0, tensors)[0].numpy(), made)
            launches.append(card.counts["launches"] - before)
        assert launches[1] == launches[2] < launches[0]  # the constant is computed once
        other = [tensors[0], card.tensor(inputs[1] * 2, "float32")]
        assert_close(binary.submit(card, 0, other)[0].numpy(), wanted * 2, "BFloat16")
        with pytest.raises(ttfd.Error, match="program main: it has 2 inputs, and 1 are given"):
            binary.submit(card, 0, tensors[:1])
        with pytest.raises(ttfd.Error, match="there is no program 5"):
            binary.submit(card, 5, tensors)


def test_a_constant_follows_changes_in_place(daemon, tmp_path):
    refs = [files.tensor(number, (1, 1, 32, 32)) for number in range(4)]
    main = files.program("main", [refs[0]], [refs[1]], [files.operation(
        "LoadCachedOp", {"inputs": [refs[0]], "callee_name": "double", "program_idx": 1, "outputs": [refs[1]]})])
    double = files.program("double", [refs[2]], [refs[3]], [files.operation("EltwiseBinaryOp", {"type": "Add", "lhs": refs[2], "rhs": refs[2], "out": refs[3]})])
    binary = ttmlir.Binary(str(files.write(tmp_path / "double.ttnn", [main, double])))
    with tt.open(daemon.address) as card:
        cache = card.tensor(np.ones((1, 1, 32, 32)), "float32")
        assert np.all(binary.submit(card, 0, [cache])[0].numpy() == 2)
        tt.fill_cache(cache, card.tensor(np.full((1, 1, 32, 32), 3), "float32"))
        assert np.all(binary.submit(card, 0, [cache])[0].numpy() == 6)


def cache_file(path: pathlib.Path, operations: list[dict[str, Any]], more: list[dict[str, Any]] | None = None) -> ttmlir.Binary:
    """A program of a cache and rows for it, bfloat16, that returns %9."""
    refs = [files.tensor(number, (1, 1, 32, 32), "BFloat16") for number in (0, 1, 9)]
    return ttmlir.Binary(str(files.write(path / "cache.ttnn", [files.program("main", refs[:2], refs[2:], operations), *(more or [])])))


def cache_ref(number: int) -> dict[str, Any]:
    return files.tensor(number, (1, 1, 32, 32), "BFloat16")


def test_changes_in_place_are_those_of_the_program(daemon, tmp_path):
    fill = files.operation("FillCacheOp", {"cache": cache_ref(0), "input": cache_ref(1)})
    double = files.operation("EltwiseBinaryOp", {"type": "Add", "lhs": cache_ref(0), "rhs": cache_ref(0), "out": cache_ref(9)})
    with tt.open(daemon.address) as card:
        def make(number: float, dtype: str = "bfloat16") -> tt.Tensor:
            return card.tensor(np.full((1, 1, 32, 32), number), dtype)

        cache = make(0)
        binary = cache_file(tmp_path, [fill, double])
        assert np.all(binary.submit(card, 0, [cache, make(3)])[0].numpy() == 6) and np.all(cache.numpy() == 3)
        with pytest.raises(ttfd.Error, match="input 0 is float32 .*the program has bfloat16 .*changes it in place"):
            binary.submit(card, 0, [make(0, "float32"), make(3)])
        # An assigned tensor has elements of its own.
        assign = files.operation("AssignOp", {"input": cache_ref(0), "output": cache_ref(9)})
        filled = files.operation("FillCacheOp", {"cache": cache_ref(9), "input": cache_ref(1)})
        assert np.all(cache_file(tmp_path, [assign, filled]).submit(card, 0, [cache, make(5)])[0].numpy() == 5) and np.all(cache.numpy() == 3)
        # A constant that a program changes is computed anew.
        load = files.operation("LoadCachedOp", {"inputs": [], "callee_name": "zeros", "program_idx": 1, "outputs": [cache_ref(4)]})
        total = files.operation("EltwiseBinaryOp", {"type": "Add", "lhs": cache_ref(4), "rhs": cache_ref(1), "out": cache_ref(9)})
        change = files.operation("FillCacheOp", {"cache": cache_ref(4), "input": cache_ref(9)})
        zeros = files.program("zeros", [], [cache_ref(5)], [files.operation("NamedFullOp", {"type": "Zeros", "shape": [1, 1, 32, 32], "out": cache_ref(5)})])
        binary = cache_file(tmp_path, [load, total, change], [zeros])
        assert [float(binary.submit(card, 0, [cache, make(1)])[0].numpy().max()) for _ in range(3)] == [1, 1, 1]


def chain(length: int, calls: int) -> list[dict[str, Any]]:
    """Programs of which each calls the next so often."""
    x, y = files.tensor(0, (4, 4)), files.tensor(1, (4, 4))
    last = files.program("last", [x], [y], [files.operation("EltwiseUnaryOp", {"type": "Relu", "in": x, "out": y})])
    return [files.program(f"p{i}", [x], [y], [files.operation("FuncCallOp", {"program_id": i + 1, "inputs": [x], "outputs": [y]})] * calls)
            for i in range(length)] + [last]


@pytest.mark.parametrize("length,calls,problem", [(60, 1, "nested more than 32 deep"), (25, 2, "it runs more than 1000000 operations"), (5, 2, "")])
def test_calls_of_programs_are_bounded(tmp_path, length, calls, problem):
    problems = ttmlir.Binary(str(files.write(tmp_path / "calls.ttnn", chain(length, calls)))).problems(0)
    assert problem in " ".join(problems) and bool(problem) == bool(problems)


def test_python_of_a_mask_runs(daemon, tmp_path):
    out = files.tensor(1, (32, 32))
    unused, full = (files.operation("FullOp", {"shape": [32, 32], "fill_value_type": "FP", "fill_value": {"value": -1e39}, "out": ref})
                    for ref in (files.tensor(2, (32, 32)), out))
    free = files.operation("DeallocateOp", {"in": files.tensor(2, (32, 32))})
    module: dict[str, Any] = {}
    exec(ttmlir.Binary(str(files.write(tmp_path / "mask.ttnn", [files.program("main", [], [out], [unused, free, full])]))).python(), module)
    with tt.open(daemon.address) as card:
        assert np.all(module["program_0_main"](card)[0].numpy() == -np.inf)


def test_a_file_is_listed_in_python(tmp_path):
    file, _, _ = network(tmp_path / "network.ttnn")
    binary = ttmlir.Binary(str(file))
    assert (binary.kind, binary.version, len(binary.schema_hash)) == ("TTNN", "0.0.1", 64)
    assert [(program.name, program.is_private, program.operations) for program in binary.programs] == [("main", False, 5), ("constant", True, 1)]
    assert [(one.dtype, one.shape, one.layout) for one in binary.programs[0].inputs] == [("Float32", [40, 64], "tile"), ("Float32", [64, 96], "tile")]
    matmul = binary.operations()[3]
    assert (matmul.type, [one.id for one in matmul.operands], matmul.results[0].id, matmul.location) == ("MatmulOp", [1, 3], 4, "test.mlir:1:1")
    assert binary.operations()[4].attributes == {"type": "Relu"}
    assert json.loads(binary.operations_json())[3]["type_type"] == "MatmulOp"
    assert binary.problems() == []
    with pytest.raises(ttfd.Error, match="no such file|No such file"):
        ttmlir.Binary(str(tmp_path / "missing.ttnn"))


def test_prepared_weights_pass_through_constants(daemon, tmp_path):
    """Prepared by a program that runs once, in the shape that the file says, which is larger than the weights."""
    x, w = some(1, 1, 64, 8), some(16, 8, 3, 3, low=-0.2, high=0.2)
    sizes = {"batch_size": 1, "input_height": 8, "input_width": 8, "kernel_size": [3, 3], "stride": [1, 1], "padding": [1, 1, 1, 1], "dilation": [1, 1],
             "in_channels": 8, "out_channels": 16, "groups": 1}
    of = {"x": files.tensor(1, x.shape), "w": files.tensor(2, w.shape), "p": files.tensor(3, (1, 1, 96, 16)), "y": files.tensor(4, (1, 1, 64, 16)),
          "w2": files.tensor(6, w.shape), "p2": files.tensor(7, (1, 1, 96, 16))}
    main = files.program("main", [of["x"], of["w"]], [of["y"]], [
        files.operation("LoadCachedOp", {"inputs": [of["w"]], "callee_name": "prepare", "program_idx": 1, "outputs": [of["p"]]}),
        files.operation("Conv2dOp", {"input": of["x"], "weight": of["p"], "out": of["y"], **sizes}),
    ])
    prepare = files.program("prepare", [of["w2"]], [of["p2"]], [
        files.operation("PrepareConv2dWeightsOp", {"weight_tensor": of["w2"], "out": of["p2"], **sizes})], private=True)
    made = run(daemon, files.write(tmp_path / "conv.ttnn", [main, prepare]), [x, w], tmp_path)
    assert_close(made, convolved(x.reshape(1, 8, 8, 8), w, 1, 1).reshape(1, 1, 64, 16), "Float32")


def broken(change: dict[str, Any]) -> list[dict[str, Any]]:
    """Programs with one thing wrong."""
    a, b, c = files.tensor(1, (4, 4)), files.tensor(2, (4, 4)), files.tensor(3, (4, 4))
    fields = {"in": a, "out": b, "type": "Relu", **change.get("fields", {})}
    operations = [files.operation(change.get("kind", "EltwiseUnaryOp"), fields, "wrong.mlir:7:9")]
    programs = [files.program("main", [a], [change.get("output", b)], operations)]
    if change.get("calls"):
        call = files.operation("FuncCallOp", {"program_id": change["calls"], "inputs": [a], "outputs": [b]})
        programs = [files.program("main", [a], [b], [call]), files.program("other", [a], [b], [call])]
    return programs if "missing" not in change else [files.program("main", [a], [c], operations)]


WRONG = [
    ({"kind": "SortOp", "fields": {"type": None, "out": None, "outputs": [files.tensor(2, (4, 4))]}}, "operation 0 SortOp at wrong.mlir:7:9: this library does not have it"),
    ({"fields": {"in": None}}, "operation 0 EltwiseUnaryOp at wrong.mlir:7:9: it has no in"),
    ({"fields": {"in": files.tensor(8, (4, 4))}}, "%8 is used before it is defined"),
    ({"fields": {"out": files.tensor(2, (4, 0))}}, "an extent is 0"),
    ({"fields": {"out": files.tensor(2, (65536, 65536, 65536))}}, "65536"),
    ({"fields": {"out": files.tensor(2, (4, 4), "Float16")}}, "its data type is Float16"),
    ({"fields": {"in": files.tensor(1, (4, 4)), "type": "Asinh"}}, "the table of operations has no asinh"),
    ({"kind": "ReshapeOp", "fields": {"type": None, "out": files.tensor(2, (5, 5))}}, "becomes"),
    ({"missing": True}, "%3 is used before it is defined"),
    ({"kind": "EltwiseUnaryCompositeOp", "fields": {"type": "ClampScalar", "params_type": "ClampScalarOpParams", "params": {}}}, "it has no min"),
    ({"kind": "ArangeOp", "fields": {"in": None, "type": None, "start": 0, "end": 3, "step": 1}}, "it has 3 numbers"),
    ({"kind": "SoftmaxOp", "fields": {"type": None, "dimension": 5}}, "it has no extent 5"),
    ({"kind": "PagedUpdateCacheOp", "output": files.tensor(1, (4, 4)), "fields": {"type": None, "in": None, "out": None, "cache": files.tensor(1, (4, 4)), "input": files.tensor(1, (4, 4)),
      "update_index": files.tensor(1, (4, 4)), "share_cache": True}}, "a shared cache is not supported"),
    ({"kind": "DropoutOp", "fields": {"type": None, "prob": 0.5}}, "it drops elements with probability 0.5"),
    ({"kind": "GroupNormOp", "fields": {"type": None, "in": None, "input": files.tensor(1, (4, 4)), "num_groups": 3}}, "3 groups of [4, 4]"),
    ({"kind": "GroupNormOp", "fields": {"type": None, "in": None, "input": files.tensor(1, (4, 4)), "input_mask": files.tensor(1, (4, 4)), "num_groups": 2}},
     "its input_mask is not supported"),
    ({"calls": 1}, "program 1 calls itself"),
    ({"calls": 7}, "it calls program 7, and there are 2"),
]


@pytest.mark.parametrize("change,problem", WRONG, ids=[problem[:50] for _, problem in WRONG])
def test_what_cannot_run_is_refused_before_anything_runs(daemon, tmp_path, change, problem):
    file = files.write(tmp_path / "wrong.ttnn", broken(change), runs=False)
    np.save(tmp_path / "in.npy", some(4, 4))
    done = daemon.ctl("run", file, "--input", tmp_path / "in.npy")
    assert done.returncode == 4 and problem in done.stderr and "program main" in done.stderr, done.stderr
    assert problem in daemon.ctl("inspect", file, "--support").stdout.replace("\n", " ")


def test_wrong_inputs_are_refused(daemon, tmp_path):
    file, inputs, _ = network(tmp_path / "network.ttnn")
    np.save(tmp_path / "x.npy", inputs[0])
    np.save(tmp_path / "integers.npy", np.zeros((64, 96), np.uint32))
    one = daemon.ctl("run", file, "--input", tmp_path / "x.npy")
    assert one.returncode == 2 and "program main has 2 inputs, and --input is given 1 times" in one.stderr
    same = daemon.ctl("run", file, "--input", tmp_path / "x.npy", "--input", tmp_path / "x.npy")
    assert same.returncode == 4 and "input 1 is float32 [40, 64]" in same.stderr
    assert daemon.ctl("run", file, "--cores", "0,0").returncode == 2
    assert daemon.ctl("run", file, "--program", "other").returncode == 2


def golden(key: str, array: np.ndarray) -> dict[str, Any]:
    value = {"name": key, "shape": list(array.shape), "stride": [1] * array.ndim, "dtype": "Float32", "data": list(array.astype(np.float32).tobytes())}
    return {"key": key, "value": [{"device": 0, "value": value}]}


@pytest.mark.parametrize("right", [True, False])
def test_golden_tensors_are_compared(daemon, tmp_path, right):
    x = some(33, 40)
    y = np.maximum(x, 0) if right else some(33, 40)
    refs = files.tensor(1, x.shape), files.tensor(2, x.shape)
    relu = files.operation("EltwiseUnaryOp", {"type": "Relu", "in": refs[0], "out": refs[1]}, "relu.mlir:1:1")
    debug = {"golden_info": {"golden_map": [golden("input_0", x), golden('loc("relu.mlir:1:1")', y), golden("output_0", y)]}}
    file = files.write(tmp_path / "golden.ttnn", [files.program("main", [refs[0]], [refs[1]], [relu], debug_info=debug)])
    done = daemon.ctl("run", file, "--check", "golden")
    assert done.returncode == (0 if right else 1), done.stderr
    assert "operation 0 EltwiseUnaryOp at relu.mlir:1:1" in done.stdout and "output 0" in done.stdout
    bare, inputs, _ = network(tmp_path / "bare.ttnn")
    np.save(tmp_path / "a.npy", inputs[0])
    np.save(tmp_path / "b.npy", inputs[1])
    done = daemon.ctl("run", bare, "--check", "golden", "--input", tmp_path / "a.npy", "--input", tmp_path / "b.npy")
    assert done.returncode == 1 and "has no golden tensors" in done.stderr


NATIVE = """
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
typedef struct { void* start; float* aligned; int64_t offset; int64_t* sizes; } reference;
static int64_t sizes[] = {2, 3, 1, 2};
// The transposed input plus one: its strides are exchanged.
reference* plus_one(reference* in) {
  reference* out = calloc(1, sizeof(reference));
  out->aligned = malloc(24);
  out->sizes = sizes;
  for (int i = 0; i < 6; ++i) out->aligned[i] = in->aligned[i] + 1;
  return out;
}
reference* endless(reference* in) { for (volatile int i = 0;;) ++i; }
reference* wild(reference* in) { *(volatile int*)16 = 1; return in; }
reference* greedy(reference* in) { volatile char* p = malloc(1ull << 30); for (int64_t i = 0; i < 1ll << 30; i += 4096) p[i] = 1; return in; }
reference* other_shape(reference* in) { return in; }
"""


@pytest.fixture(name="native", scope="module")
def _native(tmp_path_factory):
    folder = tmp_path_factory.mktemp("native")
    (folder / "native.c").write_text(NATIVE)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", folder / "native.so", folder / "native.c"], check=True, timeout=60)
    return (folder / "native.so").read_bytes()


def native_file(path: pathlib.Path, code: bytes, function: str) -> pathlib.Path:
    x, y = files.tensor(1, (3, 2)), files.tensor(2, (2, 3))
    call = files.operation("CpuOp", {"ins": [x], "outs": [y], "func_name": function, "dylib_id": 4}, "native.mlir:3:3")
    return files.write(path, [files.program("main", [x], [y], [call], dylibs=[{"dylib_id": 4, "raw_file": list(code)}])])


def test_native_code_runs_only_if_it_is_allowed(daemon, tmp_path, native):
    file = native_file(tmp_path / "native.ttnn", native, "plus_one")
    x = some(3, 2)
    np.save(tmp_path / "x.npy", x)
    refused = daemon.ctl("run", file, "--input", tmp_path / "x.npy")
    assert refused.returncode == 4 and "operation 0 CpuOp at native.mlir:3:3: native code of the CPU, function plus_one" in refused.stderr
    done = daemon.ctl("run", file, "--input", tmp_path / "x.npy", "-o", tmp_path / "y.npy", "--allow-native")
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.load(tmp_path / "y.npy"), x.T + 1)


@pytest.mark.parametrize("function,problem", [
    ("endless", "main: operation 0 CpuOp at native.mlir:3:3: native function endless: it did not end within"), ("wild", "it ended by signal 11"), ("greedy", "it ended by signal"),
    ("other_shape", "an output has another shape"), ("missing", "the library has no such function"), ("", "is not a shared library")])
def test_native_code_that_fails_is_contained(daemon, tmp_path, native, function, problem):
    file = native_file(tmp_path / "native.ttnn", native if function else b"no library", function or "any")
    with tt.open(daemon.address) as card, pytest.raises(ttfd.Error, match=problem):
        ttmlir.Binary(str(file)).submit(card, 0, [card.tensor(some(3, 2))], allow_native=True, native_s=1, native_bytes=1 << 26)


OF_2024 = {
    "simple_matmul": ([(64, 128), (128, 96)], np.matmul, "BFloat16"),
    "matmul_bf16": ([(64, 128), (128, 96)], np.matmul, "BFloat16"),
    "simple_multiply": ([(64, 128), (64, 128)], np.multiply, "Float32"),
    "simple_relu": ([(64, 128)], lambda x: np.maximum(x, 0), "Float32"),
    "simple_sum": ([(512, 1024)], lambda x: np.pad(x.sum(1, keepdims=True), ((0, 0), (0, 31))), "BFloat16"),
}


@pytest.mark.skipif(not SAMPLES, reason="TTFD_TTMLIR_SAMPLES is not set")
@pytest.mark.parametrize("name", OF_2024)
def test_a_sample_gives_what_numpy_gives(daemon, tmp_path, name):
    shapes, function, dtype = OF_2024[name]
    inputs = [some(*shape) for shape in shapes]
    made = run(daemon, pathlib.Path(SAMPLES, f"{name}.ttnn"), inputs, tmp_path)
    assert_close(made, function(*inputs), dtype)


@pytest.mark.skipif(not SAMPLES or not os.environ.get("TTFD_TTNN_LARGE"), reason="TTFD_TTMLIR_SAMPLES or TTFD_TTNN_LARGE is not set")
def test_a_large_sample_with_native_code_gives_what_numpy_gives(daemon, tmp_path):
    bias, weight, x = some(128), some(128), some(1, 128, 1280, 720, low=-1, high=3)
    for name, array in (("bias", bias), ("weight", weight), ("x", x)):
        np.save(tmp_path / f"{name}.npy", array)
    words = [word for name in ("bias", "weight", "x") for word in ("--input", tmp_path / f"{name}.npy")]
    command = [BUILD / "client/cli/ttfdctl", "run", pathlib.Path(SAMPLES, "zimage_norm2_alone.ttnn"), *words, "--allow-native", "-o", tmp_path / "y.npy"]
    subprocess.run(command, check=True, timeout=3000, env=dict(os.environ, TTFD_ADDRESS=daemon.address))
    groups = x.reshape(32, 4, -1)
    mean, deviation = groups.mean((1, 2), keepdims=True, dtype=np.float64), groups.std((1, 2), keepdims=True, dtype=np.float64)
    wanted = (groups - mean) / deviation * weight.reshape(32, 4, 1) + bias.reshape(32, 4, 1)
    assert_close(np.load(tmp_path / "y.npy"), wanted.reshape(x.shape), "BFloat16")
