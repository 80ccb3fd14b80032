"""What convolutions and pools give, in double precision, and random calls of them; as op_references.py."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from op_references import EXACT, PCC, ULP, Call, Reference, numbers


def pairs(random: np.random.Generator, low: int, high: int) -> list[int]:
    return [int(each) for each in random.integers(low, high + 1, 2)]


def sides(padding: list[int]) -> list[int]:
    """Above, below, left, right."""
    return [padding[0], padding[0], padding[1], padding[1]] if len(padding) == 2 else list(padding) or [0] * 4


def images(x: np.ndarray, batch_size: int = 0, input_height: int = 0, input_width: int = 0, **_: Any) -> np.ndarray:
    return x.reshape(batch_size or x.shape[0], input_height or x.shape[1], input_width or x.shape[2], x.shape[3])


def patches(x: np.ndarray, size: list[int], stride: list[int], dilation: list[int], counts: tuple[int, int]) -> np.ndarray:
    """[images, rows, columns, height, width, channels] of padded images."""
    down = np.arange(counts[0])[:, None] * stride[0] + np.arange(size[0]) * dilation[0]
    across = np.arange(counts[1])[:, None] * stride[1] + np.arange(size[1]) * dilation[1]
    return x[:, down[:, None, :, None], across[None, :, None, :]]


def fitting(length: int, size: int, stride: int, dilation: int) -> int:
    return (length - (size - 1) * dilation - 1) // stride + 1


def convolve(x: np.ndarray, weight: np.ndarray, stride: list[int], dilation: list[int], groups: int) -> np.ndarray:
    """Of padded images; [images, rows, columns, channels]."""
    size = list(weight.shape[2:])
    counts = tuple(fitting(x.shape[1 + i], size[i], stride[i], dilation[i]) for i in range(2))
    parts = patches(x, size, stride, dilation, counts)
    each = [np.einsum("nrchwi,oihw->nrco", part, kernel)
            for part, kernel in zip(np.split(parts, groups, -1), np.split(weight, groups, 0))]
    return np.concatenate(each, -1)


def image_call(random: np.random.Generator, of: tuple[int, ...], low: float, high: float) -> tuple[np.ndarray, dict[str, int]]:
    """Images as they are, or all pixels in rows."""
    x = numbers(random, of, low, high)
    if random.random() < 0.5:
        return x, {}
    return x.reshape(1, 1, -1, of[3]), {"batch_size": of[0], "input_height": of[1], "input_width": of[2]}


def window_attributes(random: np.random.Generator, most: int) -> dict[str, Any]:
    padding = pairs(random, 0, most) if random.random() < 0.5 else pairs(random, 0, most) + pairs(random, 0, most)
    return {"stride": pairs(random, 1, 2), "padding": padding, "dilation": pairs(random, 1, 2)}


def prepare(weight: np.ndarray, groups: int, transposed: bool) -> np.ndarray:
    """[groups, output channels, elements of a window]."""
    parts = weight.reshape(groups, -1, *weight.shape[1:])
    parts = parts[..., ::-1, ::-1].transpose(0, 2, 3, 4, 1) if transposed else parts.transpose(0, 1, 3, 4, 2)
    return parts.reshape(groups, parts.shape[1], -1)


def convolution(transposed: bool) -> Reference:
    """With groups, of one channel or several."""
    def make(random: np.random.Generator) -> Call:
        groups = int(random.choice([1, 1, 2, 4]))
        inputs, outputs = groups * int(random.choice([1, 3, 16])), groups * int(random.choice([1, 5, 32]))
        size = [1, 1] if random.random() < 0.2 else pairs(random, 1, 3)
        attributes = window_attributes(random, 0 if transposed else 2)
        if transposed:
            attributes["padding"] = [int(random.integers(0, (side - 1) * step + 1)) for side, step in zip(size, attributes["dilation"])]
            attributes["output_padding"] = [int(random.integers(0, step)) for step in attributes["stride"]]
        x, shape = image_call(random, (int(random.integers(1, 3)), int(random.integers(5, 10)), int(random.integers(5, 10)), inputs), -4, 4)
        weight = (inputs, outputs // groups) if transposed else (outputs, inputs // groups)
        arrays = [x, random.standard_normal(weight + tuple(size)).astype(np.float32)]
        if random.random() < 0.5:
            arrays.append(numbers(random, (1, 1, 1, outputs), -4, 4))
        attributes = {**attributes, **shape, "groups": groups, "activation": str(random.choice(["", "relu"]))}
        if random.random() < 0.3:
            arrays[1] = prepare(arrays[1], groups, transposed)
            return Call(arrays, ["bfloat16"] * len(arrays), {**attributes, "kernel_size": size})
        return Call(arrays, ["bfloat16"] * len(arrays), attributes, ["tile", str(random.choice(["tile", "row_major"]))])

    def compute(x: np.ndarray, weight: np.ndarray, bias: np.ndarray | float = 0.0, stride: Any = None, padding: Any = None, dilation: Any = None,
                groups: int = 1, activation: str = "", output_padding: Any = None, kernel_size: Any = None, **shape: int) -> np.ndarray:
        x, (top, bottom, left, right) = images(x, **shape), sides(padding)
        size = kernel_size or weight.shape[2:]
        rows = weight if kernel_size else prepare(weight, groups, transposed)
        weight = rows.reshape(-1, *size, x.shape[3] // groups).transpose(0, 3, 1, 2)
        if transposed:
            spread = np.zeros((x.shape[0], (x.shape[1] - 1) * stride[0] + 1, (x.shape[2] - 1) * stride[1] + 1, x.shape[3]))
            spread[:, ::stride[0], ::stride[1]] = x
            reach = [(side - 1) * step for side, step in zip(weight.shape[2:], dilation)]
            around = [(reach[0] - top, reach[0] - bottom + output_padding[0]), (reach[1] - left, reach[1] - right + output_padding[1])]
            x, stride = np.pad(spread, [(0, 0), *around, (0, 0)]), [1, 1]
        else:
            x = np.pad(x, [(0, 0), (top, bottom), (left, right), (0, 0)])
        result = convolve(x, weight, stride, dilation, groups)
        result = result.reshape(1, 1, -1, result.shape[-1]) + bias
        return np.maximum(result, 0) if activation else result
    return Reference(make, compute, PCC)


def prepared(transposed: bool) -> Reference:
    """As the rows that images are multiplied with."""
    def make(random: np.random.Generator) -> Call:
        groups = int(random.choice([1, 2, 4]))
        of = (groups * int(random.choice([1, 3, 16])), int(random.choice([1, 5, 32])), *pairs(random, 1, 4))
        return Call([numbers(random, of, -4, 4)], ["bfloat16"], {"groups": groups}, [str(random.choice(["tile", "row_major"]))])

    return Reference(make, lambda weight, groups: prepare(weight, groups, transposed), EXACT)


def convolution_1d() -> Reference:
    def make(random: np.random.Generator) -> Call:
        inputs, outputs, size = int(random.choice([1, 3, 16])), int(random.choice([1, 5, 32])), int(random.integers(1, 5))
        arrays = [numbers(random, (int(random.integers(1, 3)), int(random.integers(9, 40)), inputs), -4, 4),
                  random.standard_normal((outputs, inputs, size)).astype(np.float32)]
        return Call(arrays, ["bfloat16"] * 2, {"stride": int(random.integers(1, 3)), "padding": pairs(random, 0, 2), "dilation": int(random.integers(1, 3))})

    def compute(x: np.ndarray, weight: np.ndarray, stride: int, padding: list[int], dilation: int) -> np.ndarray:
        padded = np.pad(x, [(0, 0), tuple(padding), (0, 0)])[:, None]
        return convolve(padded, weight[:, :, None], [1, stride], [1, dilation], 1)[:, 0]
    return Reference(make, compute, PCC)


def pool(is_max: bool) -> Reference:
    def make(random: np.random.Generator) -> Call:
        size = pairs(random, 1, 3)
        attributes = {"kernel_size": size, "stride": pairs(random, 1, 3), "padding": [int(random.integers(0, each // 2 + 1)) for each in size],
                      "dilation": pairs(random, 1, 2) if is_max else [1, 1], "ceil_mode": bool(random.integers(0, 2))}
        if not is_max:
            attributes["count_include_pad"] = bool(random.integers(0, 2))
        of = (int(random.integers(1, 3)), int(random.integers(6, 10)), int(random.integers(6, 10)), int(random.choice([1, 5, 33])))
        x, shape = image_call(random, of, -4 if is_max else 0.5, 4)
        return Call([x], ["bfloat16"], {**attributes, **shape})

    def compute(x: np.ndarray, kernel_size: list[int], stride: list[int], padding: list[int], dilation: list[int], ceil_mode: bool,
                count_include_pad: bool = False, **shape: int) -> np.ndarray:
        x, counts, around = images(x, **shape), [], [(0, 0)]
        for i in range(2):
            extent = x.shape[1 + i]
            rest = extent + 2 * padding[i] - (kernel_size[i] - 1) * dilation[i] - 1
            count = (math.ceil(rest / stride[i]) if ceil_mode else rest // stride[i]) + 1
            counts.append(count - (ceil_mode and (count - 1) * stride[i] >= extent + padding[i]))
            around.append((padding[i], padding[i] + stride[i] + kernel_size[i]))
        parts = patches(np.pad(x, around + [(0, 0)], constant_values=-np.inf if is_max else 0), kernel_size, stride, dilation, tuple(counts))
        if is_max:
            return parts.max((3, 4)).reshape(1, 1, -1, x.shape[3])
        ones = np.ones(x.shape[:3] + (1,))
        if count_include_pad:
            ones = np.pad(ones, [(0, 0)] + [(each, each) for each in padding] + [(0, 0)], constant_values=1)
            around = [(0, 0)] + [(0, size + step) for size, step in zip(kernel_size, stride)]
        pixels = patches(np.pad(ones, around + [(0, 0)]), kernel_size, stride, dilation, tuple(counts)).sum((3, 4))
        return (parts.sum((3, 4)) / pixels).reshape(1, 1, -1, x.shape[3])
    return Reference(make, compute, EXACT if is_max else ULP)


def global_pool() -> Reference:
    def make(random: np.random.Generator) -> Call:
        of = (int(random.integers(1, 4)), *pairs(random, 1, 9), int(random.choice([1, 5, 33])))
        return Call([numbers(random, of, 0.5, 4)], ["bfloat16"], {})
    return Reference(make, lambda x: x.mean((1, 2), keepdims=True), ULP)


def upsample() -> Reference:
    def make(random: np.random.Generator) -> Call:
        of = (int(random.integers(1, 4)), *pairs(random, 1, 9), int(random.choice([1, 5, 33])))
        return Call([numbers(random, of, -4, 4)], ["bfloat16"], {"scale_factor": pairs(random, 1, 3)}, [str(random.choice(["tile", "row_major"]))])
    return Reference(make, lambda x, scale_factor: x.repeat(scale_factor[0], 1).repeat(scale_factor[1], 2), EXACT)


def batch_norm() -> Reference:
    def make(random: np.random.Generator) -> Call:
        of = (int(random.integers(1, 3)), int(random.integers(1, 6)), *pairs(random, 1, 40))
        rows = [numbers(random, (1, of[1], 1, 1), low, 2) for low in (-2, 0.5, 0.5, -2)[:random.choice([2, 3, 4])]]
        return Call([numbers(random, of, -4, 4)] + rows, ["bfloat16"] * (1 + len(rows)), {"epsilon": 1e-5})

    def compute(x: np.ndarray, mean: np.ndarray, variance: np.ndarray, weight: np.ndarray | float = 1.0, bias: np.ndarray | float = 0.0,
                epsilon: float = 0.0) -> np.ndarray:
        return (x - mean) / np.sqrt(variance + epsilon) * weight + bias
    return Reference(make, compute, PCC)


REFERENCES: dict[str, Reference] = {
    "conv1d": convolution_1d(),
    "conv2d": convolution(False),
    "conv_transpose2d": convolution(True),
    "prepare_conv2d_weights": prepared(False),
    "prepare_conv_transpose2d_weights": prepared(True),
    "max_pool2d": pool(True),
    "avg_pool2d": pool(False),
    "global_avg_pool2d": global_pool(),
    "upsample": upsample(),
    "batch_norm_inference": batch_norm(),
}
