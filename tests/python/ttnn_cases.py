"""Operations of TTNN files, and what NumPy says they give."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

RANDOM = np.random.default_rng(32)


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
    found.append(Case("EltwiseUnaryOp", {"type": "Neg", "in": "%0", "out": "%out"}, [a], -a.astype(np.float32), exact=True))
    chosen = {"first": "%0", "second": "%1", "third": "%2", "out": "%out"}
    choice, row = RANDOM.integers(0, 2, (40, 70), np.int32) * np.int32(7), RANDOM.integers(-9, 9, (1, 70)).astype(np.int32)
    x, y = some(40, 70), some(40, 70)
    found += [
        Case("EltwiseTernaryWhereOp", chosen, [choice, a, b], np.where(choice, a, b), "Int32", exact=True),
        Case("EltwiseTernaryWhereOp", chosen, [choice[:, :1], row, b], np.where(choice[:, :1], row, b), "Int32", exact=True),
        Case("EltwiseTernaryWhereOp", chosen, [choice, x, y], np.where(choice, x, y), exact=True),
        Case("EltwiseTernaryWhereOp", chosen, [x * (choice > 0), a, b], np.where(choice, a, b), exact=True),
        Case("EltwiseTernaryWhereOp", chosen, [choice, a, b], np.where(choice, a, b).astype(np.float32), exact=True),
    ]
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


def group_norms() -> list[Case]:
    """Of images with all pixels in rows, with a weight and a bias of each channel and without."""
    x, weight, bias = some(2, 1, 60, 96, low=1, high=4), some(1, 1, 3, 32), some(1, 1, 3, 32)
    found = []
    for groups in (1, 8, 96):
        grouped = x.reshape(2, 60, groups, -1)
        wanted = ((grouped - grouped.mean((1, 3), keepdims=True)) / np.sqrt(grouped.var((1, 3), keepdims=True) + 1e-3)).reshape(x.shape)
        fields = {"input": "%0", "num_groups": groups, "epsilon": 1e-3, "out": "%out"}
        found += [Case("GroupNormOp", fields, [x], wanted, "BFloat16"),
                  Case("GroupNormOp", {**fields, "weight": "%1", "bias": "%2"}, [x, weight, bias], wanted * weight.ravel() + bias.ravel(), "BFloat16")]
    return found


def cases() -> list[Case]:
    x, y, positive = some(3, 40, 70), some(3, 40, 70), some(40, 70, low=0.1, high=4)
    choices = RANDOM.integers(0, 70, (40, 8)).astype(np.uint32)
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
        Case("EltwiseUnaryCompositeOp", {"type": "ClampTensor", "in": "%0", "params_type": "ClampTensorOpParams", **out, "params": {"min": "%1", "max": "%2"}},
             [x, y - 0.5, row], np.clip(x, y - 0.5, np.maximum(row, -9)), exact=False),
        Case("MatmulOp", {"a": "%0", "b": "%1", **out}, [a, b], a @ b),
        Case("MatmulOp", {"a": "%0", "b": "%1", "transpose_a": True, "transpose_b": True, **out}, [some(50, 33), some(40, 50)], np.empty(0)),
        Case("MatmulOp", {"a": "%0", "b": "%1", "matmul_program_config_type": "MatmulMultiCoreReuseMultiCast1DProgramConfig",
             "matmul_program_config": {"fused_activation": {"op_type": "Relu"}}, **out}, [a, b], np.maximum(a @ b, 0)),
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
        *[Case("GatherOp", {"input": "%0", "index": "%1", "dim": dim, **out}, [x, where], np.take_along_axis(x, where.astype(np.int64), dim), exact=True)
          for dim, where in ((1, RANDOM.integers(0, 40, (3, 9, 70)).astype(np.uint32)), (-1, RANDOM.integers(0, 70, (3, 40, 5)).astype(np.uint32)))],
        Case("GatherOp", {"input": "%0", "index": "%1", "dim": 0, **out}, [x, RANDOM.integers(0, 3, (5, 20, 30)).astype(np.uint32)], np.empty(0), exact=True),
        Case("GatherOp", {"input": "%0", "index": "%1", "dim": 1, **out}, [RANDOM.integers(-3, 4, (40, 70)).astype(np.float32), choices], np.empty(0),
             "BFP_BFloat8", exact=True),
        Case("DropoutOp", {"in": "%0", "prob": 0.0, "scale": 1.0, "seed": 3, **out}, [x], x, exact=True),
        Case("DropoutOp", {"in": "%0", "prob": 0.0, "scale": 0.5, **out}, [x], x / 2),
        *group_norms(),
        *images(),
        Case("RotaryEmbeddingOp", {"input": "%0", "cos_cache": "%1", "sin_cache": "%2", **out}, [qkv[0], angles[0], angles[1]],
             qkv[0] * angles[0] + rotated(qkv[0]) * angles[1], "BFloat16"),
        Case("NLPConcatHeadsOp", {"in": "%0", **out}, [qkv[0]], qkv[0].transpose(0, 2, 1, 3).reshape(2, 1, 40, 128), exact=True),
        Case("NLPConcatHeadsDecodeOp", {"in": "%0", "num_heads": 4, **out}, [qkv[0][:1]], qkv[0][:1, :, :4].reshape(1, 1, 4, 128), exact=True),
        Case("ReductionArgMaxOp", {"in": "%0", "dim": -1, "keep_dim": False, **out}, [x], x.argmax(-1).astype(np.uint32), exact=True),
        Case("ReductionProdOp", {"in": "%0", "dim_arg": 1, "keep_dim": True, **out}, [x[:, :6]], x[:, :6].prod(1, keepdims=True)),
        Case("AssignOp", {"input": "%0", "output": "%out"}, [x], x, exact=True),
        Case("ToMemoryConfigOp", {"in0": "%0", **out}, [x], x, exact=True),
        Case("ToDeviceOp", {"in": "%0", **out}, [x], x, exact=True),
        Case("FromDeviceOp", {"in": "%0", **out}, [x], x, exact=True),
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
        elif one.kind == "GatherOp" and one.wanted.size == 0:
            given, where = one.inputs
            one.wanted = np.take_along_axis(given if given.ndim == 2 else given[:, :20, :30], where.astype(np.int64), one.fields["dim"])
        elif one.wanted.size == 0:
            one.wanted = one.inputs[0].T @ one.inputs[1].T
    return found
