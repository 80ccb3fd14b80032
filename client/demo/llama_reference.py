"""A Llama in double precision: what the card's results are compared with. Weights are named as Hugging Face names them."""

from __future__ import annotations

import json
import math
import pathlib
from typing import Any, Mapping

import numpy as np

Weights = Mapping[str, np.ndarray]


def read_weights(path: pathlib.Path) -> dict[str, np.ndarray]:
    """The tensors of a file of safetensors, all bfloat16, by a reader of its own: the card's come from libttfd_tensor's."""
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    header.pop("__metadata__", None)
    weights = {}
    for name, entry in header.items():
        assert entry["dtype"] == "BF16", name
        first, last = entry["data_offsets"]
        bits = np.frombuffer(data[begin + first:begin + last], np.uint16).astype(np.uint32) << 16
        weights[name] = bits.view(np.float32).astype(np.float64).reshape(entry["shape"])
    return weights


def rms_norm(x: np.ndarray, weight: np.ndarray, epsilon: float) -> np.ndarray:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * weight


def rotate(x: np.ndarray, positions: np.ndarray, theta: float) -> np.ndarray:
    """x is [heads, rows, head]; element i of a head turns with element i + head / 2."""
    head = x.shape[-1]
    angles = np.tile(np.outer(positions, theta ** (-np.arange(0, head, 2) / head)), 2)
    low, high = np.split(x, 2, -1)
    return x * np.cos(angles) + np.concatenate([-high, low], -1) * np.sin(angles)


def softmax(x: np.ndarray) -> np.ndarray:
    weights = np.exp(x - x.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def layer(x: np.ndarray, config: Mapping[str, Any], weights: Weights, prefix: str, keys: np.ndarray, values: np.ndarray,
          first: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of one user, [rows, hidden], of positions from `first` on, through a layer, and the keys and values of these rows, [heads, rows,
    head]. `keys` and `values` are those of the positions before."""
    epsilon, heads = config["rms_norm_eps"], config["num_attention_heads"]
    rows, positions = len(x), np.arange(first, first + len(x))

    def linear(given: np.ndarray, name: str) -> np.ndarray:
        return given @ weights[f"{prefix}{name}_proj.weight"].T

    def split(name: str) -> np.ndarray:
        made = linear(normed, f"self_attn.{name}").reshape(rows, -1, config["head_dim"]).transpose(1, 0, 2)
        scale = weights.get(f"{prefix}self_attn.{name}_norm.weight")
        return made if scale is None else rms_norm(made, scale, epsilon)
    normed = rms_norm(x, weights[prefix + "input_layernorm.weight"], epsilon)
    q, k, v = (split(name) for name in "qkv")
    q, k = (rotate(each, positions, config["rope_theta"]) for each in (q, k))
    group = heads // config["num_key_value_heads"]
    all_keys, all_values = (np.repeat(np.concatenate(each, 1), group, 0) for each in ((keys, k), (values, v)))
    mask = np.where(np.arange(all_keys.shape[1]) <= positions[:, None], 0, -math.inf)
    scores = softmax(q @ all_keys.transpose(0, 2, 1) / math.sqrt(config["head_dim"]) + mask)
    x = x + linear((scores @ all_values).transpose(1, 0, 2).reshape(rows, -1), "self_attn.o")
    normed = rms_norm(x, weights[prefix + "post_attention_layernorm.weight"], epsilon)
    gate = linear(normed, "mlp.gate")
    return x + linear(gate / (1 + np.exp(-gate)) * linear(normed, "mlp.up"), "mlp.down"), k, v


def logits(tokens: np.ndarray, config: Mapping[str, Any], weights: Weights) -> np.ndarray:
    """For each token of one text, [rows], those of the token after it, [rows, vocabulary]."""
    x = weights["model.embed_tokens.weight"][tokens]
    none = np.zeros((config["num_key_value_heads"], 0, config["head_dim"]))
    for number in range(config["num_hidden_layers"]):
        x, _, _ = layer(x, config, weights, f"model.layers.{number}.", none, none, 0)
    return rms_norm(x, weights["model.norm.weight"], config["rms_norm_eps"]) @ weights["lm_head.weight"].T
