"""Programs of TTNN files: every operation that runs, against NumPy; the samples; wrong programs and inputs."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import subprocess
from typing import Any

import numpy as np
import pytest

import compiled_files as files
import ttfd.tensor as tt
from conftest import BUILD, Daemon

RANDOM = np.random.default_rng(32)
MIN_PCC = {"Float32": 0.9999, "BFloat16": 0.999}  # float32 passes the engine with ten bits of its fraction
SAMPLES = os.environ.get("TTFD_TTMLIR_SAMPLES")


@dataclasses.dataclass
class Case:
    """An operation with its fields, in which "%0" is an input and "%out" the output."""

    kind: str
    fields: dict[str, Any]
    inputs: list[np.ndarray]
    wanted: np.ndarray
    dtype: str = "Float32"
    exact: bool = False
    layout: str = "tile"

    def __str__(self) -> str:
        return f"{self.kind}.{self.fields.get('type', '')}"


def some(*shape: int, low: float = -2, high: float = 2) -> np.ndarray:
    return RANDOM.uniform(low, high, shape).astype(np.float32)


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float, seen: np.ndarray) -> np.ndarray:
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], 1) for x in (k, v))
    return softmax(np.where(seen, q @ k.swapaxes(2, 3) * scale, -1e30), -1) @ v


def rotated(x: np.ndarray) -> np.ndarray:
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)


def integers() -> list[Case]:
    """Of signed integers, as the bits of unsigned ones."""
    a, b = (RANDOM.integers(-1000, 1000, (40, 70)).astype(np.int32) for _ in range(2))
    both = {"lhs": "%0", "rhs": "%1", "out": "%out"}
    functions = {"Add": np.add, "Subtract": np.subtract, "Multiply": np.multiply, "Equal": np.equal, "GreaterThan": np.greater, "LessEqual": np.less_equal}
    found = [Case("EltwiseBinaryOp", {"type": name, **both}, [a, b], f(a, b).astype(np.int32), "Int32", exact=True) for name, f in functions.items()]
    found += [Case("EltwiseBinaryCompositeOp", {"type": name, **both}, [a, b], f(a, b), "Int32", exact=True)
              for name, f in (("Maximum", np.maximum), ("Minimum", np.minimum), ("BitwiseXor", np.bitwise_xor))]
    found.append(Case("EltwiseUnaryOp", {"type": "Neg", "in": "%0", "out": "%out"}, [a], -a, "Int32", exact=True))
    found.append(Case("TypecastOp", {"in": "%0", "dtype": "Float32", "out": "%out"}, [a], a.astype(np.float32), exact=True))
    found.append(Case("TypecastOp", {"in": "%0", "dtype": "Int32", "out": "%out"}, [some(40, 70, low=-90, high=90)], np.empty(0), "Int32", exact=True))
    found[-1].wanted = found[-1].inputs[0].astype(np.int32)
    found.append(Case("EltwiseBinaryOp", {"type": "GreaterEqual", **both}, [a, b], (a >= b).astype(np.float32), exact=True))
    return found


def convolved(x: np.ndarray, w: np.ndarray, stride: int, pad: int) -> np.ndarray:
    padded = np.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[2:], (1, 2))[:, ::stride, ::stride]
    return np.einsum("nhwcij,ocij->nhwo", windows, w)


def images() -> list[Case]:
    """Convolutions and what belongs to them; images as the compiler describes them, in one matrix."""
    x, w, bias = some(2, 9, 8, 16), some(24, 16, 3, 3, low=-0.2, high=0.2), some(1, 1, 1, 24)
    flat = x.reshape(1, 1, 144, 16)
    out = {"out": "%out"}
    sizes = {"batch_size": 2, "input_height": 9, "input_width": 8, "kernel_size": [3, 3], "stride": [2, 2], "padding": [1, 1], "dilation": [1, 1]}
    channels = {"in_channels": 16, "out_channels": 24, "groups": 1}
    wanted = convolved(x, w, 2, 1)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), constant_values=-9), (3, 3), (1, 2))[:, ::2, ::2]
    mean, variance = some(1, 6, 1, 1), some(1, 6, 1, 1, low=0.5, high=2)
    image = some(2, 6, 5, 4)
    relu = {"activation": {"op_type": "Relu"}}
    return [
        Case("Conv2dOp", {"input": "%0", "weight": "%1", "bias": "%2", **sizes, **channels, **out}, [flat, w, bias],
             wanted.reshape(1, 1, -1, 24) + bias, "BFloat16"),
        Case("Conv2dOp", {"input": "%0", "weight": "%1", "conv2d_config": relu, **sizes, **channels, **out}, [flat, w],
             np.maximum(wanted.reshape(1, 1, -1, 24), 0), "BFloat16"),
        Case("Pool2dOp", {"type": "MaxPool2d", "in": "%0", "channels": 16, **sizes, **out}, [flat], windows.max((-1, -2)).reshape(1, 1, -1, 16), exact=False),
        Case("GlobalAvgPool2dOp", {"in": "%0", **out}, [x], x.mean((1, 2), keepdims=True)),
        Case("UpsampleOp", {"in": "%0", "mode": "nearest", "scale_factor_type": "UniformScale2D", "scale_factor": {"scale": 2}, **out}, [x],
             x.repeat(2, 1).repeat(2, 2), exact=True),
        Case("BatchNormInferenceOp", {"input": "%0", "running_mean": "%1", "running_var": "%2", "epsilon": 1e-5, **out}, [image, mean, variance],
             (image - mean) / np.sqrt(variance + 1e-5)),
    ]


def cases() -> list[Case]:
    x, y, positive = some(3, 40, 70), some(3, 40, 70), some(40, 70, low=0.1, high=4)
    row, a, b = some(70), some(2, 33, 50), some(50, 40)
    angles = some(1, 1, 40, 32), some(1, 1, 40, 32)
    qkv = [some(2, 4, 40, 32), some(2, 2, 40, 32), some(2, 2, 40, 32)]
    out = {"out": "%out"}
    unary = {"Abs": np.abs, "Cos": np.cos, "Floor": np.floor, "Neg": np.negative, "Relu": lambda v: np.maximum(v, 0),
             "Sigmoid": lambda v: 1 / (1 + np.exp(-v)), "Sin": np.sin, "Tanh": np.tanh, "Exp": np.exp,
             "Silu": lambda v: v / (1 + np.exp(-v))}
    of_positive = {"Sqrt": np.sqrt, "Rsqrt": lambda v: 1 / np.sqrt(v), "Reciprocal": lambda v: 1 / v, "Log": np.log}
    binary = {"Add": np.add, "Multiply": np.multiply, "Subtract": np.subtract, "GreaterThan": np.greater, "LessEqual": np.less_equal,
              "GreaterEqual": np.greater_equal, "LessThan": np.less, "NotEqual": np.not_equal}
    found = [Case("EltwiseUnaryOp", {"type": name, "in": "%0", **out}, [x], f(x)) for name, f in unary.items()]
    found += [Case("EltwiseUnaryOp", {"type": name, "in": "%0", **out}, [positive], f(positive)) for name, f in of_positive.items()]
    found += [Case("EltwiseBinaryOp", {"type": name, "lhs": "%0", "rhs": "%1", **out}, [x, y], f(x, y).astype(np.float32)) for name, f in binary.items()]
    found += [
        Case("EltwiseBinaryOp", {"type": "Add", "lhs": "%0", "rhs": "%1", **out}, [x, row], x + row, "BFloat16"),
        Case("EltwiseBinaryOp", {"type": "Divide", "lhs": "%0", "rhs": "%1", **out}, [x[0], positive], x[0] / positive),
        Case("EltwiseBinaryCompositeOp", {"type": "Maximum", "lhs": "%0", "rhs": "%1", **out}, [x, y], np.maximum(x, y)),
        Case("EltwiseBinaryCompositeOp", {"type": "Minimum", "lhs": "%0", "rhs": "%1", **out}, [x, y], np.minimum(x, y)),
        Case("EltwiseBinaryCompositeScalarOp", {"type": "PowScalar", "lhs": "%0", "rhs_type": "FP", "rhs": {"value": 2.0}, **out}, [x], x * x),
        Case("EltwiseTernaryWhereOp", {"first": "%0", "second": "%1", "third": "%2", **out}, [(x > 0).astype(np.float32), x, y], np.where(x > 0, x, y)),
        Case("EltwiseUnaryCompositeOp", {"type": "ClampScalar", "in": "%0", "params_type": "ClampScalarOpParams", **out,
             "params": {"min_type": "FP", "min": {"value": -0.5}, "max_type": "I32", "max": {"value": 1}}}, [x], np.clip(x, -0.5, 1)),
        Case("MatmulOp", {"a": "%0", "b": "%1", **out}, [a, b], a @ b),
        Case("MatmulOp", {"a": "%0", "b": "%1", "transpose_a": True, "transpose_b": True, **out}, [some(50, 33), some(40, 50)], np.empty(0)),
        Case("LinearOp", {"a": "%0", "b": "%1", "bias": "%2", "activation": "relu", **out}, [a, b, row[:40]], np.maximum(a @ b + row[:40], 0), "BFloat16"),
        Case("SoftmaxOp", {"in": "%0", "dimension": -1, **out}, [x], softmax(x, -1)),
        Case("SoftmaxOp", {"in": "%0", "dimension": 1, **out}, [x], softmax(x, 1)),
        Case("ReductionOp", {"type": "Sum", "in": "%0", "dim_arg": [2], "keep_dim": True, **out}, [x], x.sum(2, keepdims=True)),
        Case("ReductionOp", {"type": "Mean", "in": "%0", "dim_arg": [1, 2], "keep_dim": False, **out}, [x], x.mean((1, 2))),
        Case("ReductionOp", {"type": "Max", "in": "%0", "dim_arg": [-2], "keep_dim": False, **out}, [x], x.max(1)),
        Case("LayerNormOp", {"input": "%0", "weight": "%1", "epsilon": 1e-5, **out}, [x, row],
             (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * row),
        Case("RMSNormOp", {"input": "%0", "weight": "%1", "epsilon": 1e-5, **out}, [x, row],
             x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * row),
        Case("TransposeOp", {"in": "%0", "dim0": 1, "dim1": -1, **out}, [x], x.swapaxes(1, 2), exact=True),
        Case("PermuteOp", {"in": "%0", "permutation": [2, 0, 1], **out}, [x], x.transpose(2, 0, 1), exact=True),
        Case("ReshapeOp", {"in": "%0", "shape": [12, 700], **out}, [x], x.reshape(12, 700), exact=True),
        Case("ConcatOp", {"inputs": ["%0", "%1"], "dim": 1, **out}, [x, y], np.concatenate([x, y], 1), exact=True),
        Case("SliceOp", {"type": "SliceStaticOp", "in": "%0", "step": [1, 2, 1], "params_type": "SliceStaticOpParams",
             "params": {"begins": [0, 3, 5], "ends": [2, 39, 70]}, **out}, [x], x[0:2, 3:39:2, 5:70], exact=True),
        Case("RepeatOp", {"in": "%0", "repeat_dims": [2, 1, 3], **out}, [x], np.tile(x, (2, 1, 3)), exact=True),
        Case("RepeatInterleaveOp", {"input": "%0", "repeats": 3, "dim": 1, **out}, [x], np.repeat(x, 3, 1), exact=True),
        Case("PadOp", {"in": "%0", "padding": [0, 0, 1, 2, 3, 0], "value": 1.5, **out}, [x],
             np.pad(x, ((0, 0), (1, 2), (3, 0)), constant_values=1.5), exact=True),
        Case("EmbeddingOp", {"input": "%0", "weight": "%1", **out}, [np.array([[3, 0, 49]], np.uint32), b], b[[[3, 0, 49]]], exact=True, layout="row"),
        Case("ToLayoutOp", {"in": "%0", "layout": "RowMajor", **out}, [x], x, exact=True, layout="row"),
        Case("TypecastOp", {"in": "%0", "dtype": "BFloat16", **out}, [x], x, "BFloat16"),
        Case("FullOp", {"shape": [3, 40], "fill_value_type": "I32", "fill_value": {"value": -7}, **out}, [], np.full((3, 40), -7, np.float32), exact=True),
        Case("NamedFullOp", {"type": "Ones", "shape": [3, 40], **out}, [], np.ones((3, 40), np.float32), exact=True),
        Case("ArangeOp", {"start": 2, "end": 42, "step": 2, **out}, [], np.arange(2, 42, 2, np.float32), exact=True),
        Case("ConstantOp", {"input": list(row[:6].tobytes()), "input_dtype": "Float32", **out}, [], row[:6].reshape(2, 3), exact=True),
        Case("ScaledDotProductAttentionOp", {"query": "%0", "key": "%1", "value": "%2", "is_causal": True, "scale": 0.2, **out}, qkv,
             attention(*qkv, 0.2, np.tril(np.ones((40, 40), bool))), "BFloat16"),
        Case("ScaledDotProductAttentionDecodeOp", {"query": "%0", "key": "%1", "value": "%2", "cur_pos_tensor": "%3", "is_causal": True, **out},
             [qkv[0][:, :, 0][None], *qkv[1:], np.array([7, 39], np.uint32)], np.stack(
                 [attention(qkv[0][u:u + 1, :, :1], qkv[1][u:u + 1], qkv[2][u:u + 1], 32**-0.5, np.arange(40) <= last)[0, :, 0]
                  for u, last in enumerate([7, 39])])[None], "BFloat16"),
        *integers(),
        *images(),
        Case("RotaryEmbeddingOp", {"input": "%0", "cos_cache": "%1", "sin_cache": "%2", **out}, [qkv[0], angles[0], angles[1]],
             qkv[0] * angles[0] + rotated(qkv[0]) * angles[1], "BFloat16"),
        Case("NLPConcatHeadsOp", {"in": "%0", **out}, [qkv[0]], qkv[0].transpose(0, 2, 1, 3).reshape(2, 1, 40, 128), exact=True),
        Case("NLPConcatHeadsDecodeOp", {"in": "%0", "num_heads": 4, **out}, [qkv[0][:1]], qkv[0][:1, :, :4].reshape(1, 1, 4, 128), exact=True),
        Case("ReductionArgMaxOp", {"in": "%0", "dim": -1, "keep_dim": False, **out}, [x], x.argmax(-1).astype(np.uint32), exact=True),
        Case("ReductionProdOp", {"in": "%0", "dim_arg": 1, "keep_dim": True, **out}, [x[:, :6]], x[:, :6].prod(1, keepdims=True)),
        Case("CumSumOp", {"in": "%0", "dim": 1, **out}, [x], x.cumsum(1)),
        Case("EltwiseUnaryOp", {"type": "LeakyRelu", "params_type": "EltwiseOpWithFloatParams", "params": {"parameter": 0.3}, "in": "%0", **out}, [x],
             np.where(x > 0, x, 0.3 * x)),
        Case("EltwiseBinaryCompositeScalarOp", {"type": "PowScalar", "lhs": "%0", "rhs_type": "FP", "rhs": {"value": 1.5}, **out}, [positive], positive**1.5),
        Case("EltwiseBinaryOp", {"type": "LogicalAnd", "lhs": "%0", "rhs": "%1", **out}, [(x > 0).astype(np.float32), y],
             ((x > 0) & (y != 0)).astype(np.float32)),
        Case("ConcatenateHeadsOp", {"in": "%0", **out}, [some(2, 4, 33, 32)], np.empty(0), exact=True),
    ]
    for one in found:
        if one.kind == "ConcatenateHeadsOp":
            one.wanted = one.inputs[0].transpose(0, 2, 1, 3).reshape(2, 33, 128)
        elif one.wanted.size == 0:
            one.wanted = one.inputs[0].T @ one.inputs[1].T
    return found


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
    text = daemon.ctl("inspect", file, "--as", "python", "--program", "main").stdout
    module: dict[str, Any] = {}
    exec(compile(text, "network.py", "exec"), module)
    with tt.open(daemon.address) as card:
        outputs = module["program_0_main"](card, *(card.tensor(array, "float32") for array in inputs))
        assert np.array_equal(outputs[0].numpy(), made)


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
    ({"calls": 1}, "program 1 calls itself"),
    ({"calls": 7}, "it calls program 7, and there are 2"),
]


@pytest.mark.parametrize("change,problem", WRONG, ids=[problem[:50] for _, problem in WRONG])
def test_what_cannot_run_is_refused_before_anything_runs(daemon, tmp_path, change, problem):
    file = files.write(tmp_path / "wrong.ttnn", broken(change))
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
reference* greedy(reference* in) { volatile char* p = malloc(3ull << 30); for (int64_t i = 0; i < 3ll << 30; i += 4096) p[i] = 1; return in; }
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
    ("endless", "it did not end within"), ("wild", "it ended by signal 11"), ("greedy", "it ended by signal"),
    ("other_shape", "an output has another shape"), ("missing", "the library has no such function"), ("", "is not a shared library")])
def test_native_code_that_fails_is_contained(daemon, tmp_path, native, function, problem):
    file = native_file(tmp_path / "native.ttnn", native if function else b"no library", function or "any")
    np.save(tmp_path / "x.npy", some(3, 2))
    done = daemon.ctl("run", file, "--input", tmp_path / "x.npy", "--allow-native")
    assert done.returncode != 0 and problem in done.stderr and "main" in done.stderr, done.stderr


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
