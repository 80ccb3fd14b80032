"""A Llama in double precision: what the card's results are compared with. Weights are named as Hugging Face names them."""

from __future__ import annotations

import math
from typing import Any, Mapping

import numpy as np

Weights = Mapping[str, np.ndarray]


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
