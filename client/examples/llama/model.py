"""A Llama of operations on tensors: a token of each user is decoded together.

    config = Config.read("config.json")
    llama = Llama(card, config, weights)      # arrays by the names that Hugging Face gives them

Users are the rows of a tile, so up to 32 take the time of one. Keys and values lie in pages of 32 rows; a page table has the pages of
each user. Positions, tokens and the page table are tensors on the card: a recording of `Llama.step` is replayed without the host.

Rotary embedding has two conventions. Hugging Face's weights are made for the one that takes element i of a head together with element
i + head / 2 ("halves"); the other takes neighbours ("pairs"), which the engine does by a product with a matrix of a tile. For pairs the
rows of the weights of queries and keys change places; both give the same numbers but for rounding.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Mapping

import numpy as np

import ttfd.tensor as tt

PAGE = 32  # rows of keys or values


@dataclasses.dataclass(frozen=True)
class Config:
    """What the model takes from Hugging Face's config.json."""
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    rms_norm_eps: float = 1e-5
    rope_theta: float = 10000.0

    @classmethod
    def read(cls, path: pathlib.Path) -> Config:
        """Of a file; head_dim may be missing there."""
        given = json.loads(path.read_text(encoding="utf-8"))
        given.setdefault("head_dim", given["hidden_size"] // given["num_attention_heads"])
        return cls(**{field.name: given[field.name] for field in dataclasses.fields(cls) if field.name in given})


def paired(rows: np.ndarray, head: int) -> np.ndarray:
    """Rows of heads, of weights made for halves, in the order for pairs: 0, head / 2, 1, head / 2 + 1, ..."""
    halves = rows.reshape(-1, 2, head // 2, *rows.shape[1:])
    return np.swapaxes(halves, 1, 2).reshape(rows.shape)


class Rotation:
    """Rotary embedding by one of the conventions: angles of all positions, on the card."""

    def __init__(self, card: tt.Card, config: Config, context: int, convention: str) -> None:
        self.is_paired, self.head = {"pairs": True, "halves": False}[convention], config.head_dim
        angles = np.outer(np.arange(context), config.rope_theta ** (-np.arange(0, self.head, 2) / self.head))
        angles = np.repeat(angles, 2, 1) if self.is_paired else np.tile(angles, 2)
        self.cos, self.sin = card.tensor(np.cos(angles)), card.tensor(np.sin(angles))
        turn = np.zeros((32, 32))
        turn[range(0, 32, 2), range(1, 32, 2)], turn[range(1, 32, 2), range(0, 32, 2)] = 1, -1
        self.turn = card.tensor(turn)

    def ordered(self, rows: np.ndarray) -> np.ndarray:
        """Weights of queries or keys as the convention wants them."""
        return paired(rows, self.head) if self.is_paired else rows

    def angles(self, positions: tt.Tensor) -> tuple[tt.Tensor, tt.Tensor]:
        """cos and sin at each user's position, [1, users, 1, head]."""
        rows = tt.reshape(positions, shape=[1, positions.shape[0], 1])
        return tt.embedding(rows, self.cos, layout="tile"), tt.embedding(rows, self.sin, layout="tile")

    def __call__(self, x: tt.Tensor, cos: tt.Tensor, sin: tt.Tensor) -> tt.Tensor:
        if self.is_paired:
            return tt.rotary_embedding_llama(x, cos, sin, self.turn, decode=True)
        return tt.rotary_embedding(x, cos, sin, decode=True)


@dataclasses.dataclass
class Place:
    """Where users are in a step: what all layers need of it."""
    positions: tt.Tensor   # uint32 [users]
    page_table: tt.Tensor  # uint32 [users, pages of a user]
    cos: tt.Tensor
    sin: tt.Tensor


class Layer:
    """A decoder layer and its cache. `dtype` is that of the weights; q_norm and k_norm are there or not."""

    def __init__(self, card: tt.Card, config: Config, weights: Mapping[str, np.ndarray], prefix: str, rotation: Rotation, pages: int,
                 dtype: str) -> None:
        def matrix(*parts: np.ndarray) -> tt.Tensor:
            return card.tensor(np.concatenate(parts).T, dtype)

        def row(name: str, ordered=lambda rows: rows) -> tt.Tensor | None:
            return card.tensor(ordered(weights[prefix + name])) if prefix + name in weights else None
        q, k, v, o = (weights[f"{prefix}self_attn.{name}_proj.weight"] for name in "qkvo")
        gate, up, down = (weights[f"{prefix}mlp.{name}_proj.weight"] for name in ("gate", "up", "down"))
        self.config, self.rotation = config, rotation
        self.wqkv, self.wo = matrix(rotation.ordered(q), rotation.ordered(k), v), matrix(o)
        self.gate, self.up, self.down = matrix(gate), matrix(up), matrix(down)
        self.norm1, self.norm2 = row("input_layernorm.weight"), row("post_attention_layernorm.weight")
        self.q_norm, self.k_norm = (row(f"self_attn.{name}_norm.weight", rotation.ordered) for name in "qk")
        self.keys, self.values = (card.tensor(np.zeros((pages, config.num_key_value_heads, PAGE, config.head_dim))) for _ in "kv")

    def norm(self, x: tt.Tensor, weight: tt.Tensor) -> tt.Tensor:
        return tt.rms_norm(x, weight, epsilon=self.config.rms_norm_eps)

    def heads(self, x: tt.Tensor, place: Place) -> tuple[tt.Tensor, tt.Tensor, tt.Tensor]:
        """Queries, keys and values of each user, [1, users, heads, head], the first two rotated."""
        q, k, v = tt.nlp_create_qkv_heads_decode(x @ self.wqkv, num_heads=self.config.num_attention_heads,
                                                 num_kv_heads=self.config.num_key_value_heads)
        if self.q_norm is not None:
            q, k = self.norm(q, self.q_norm), self.norm(k, self.k_norm)
        return self.rotation(q, place.cos, place.sin), self.rotation(k, place.cos, place.sin), v

    def attention(self, x: tt.Tensor, place: Place) -> tt.Tensor:
        q, k, v = self.heads(x, place)
        for cache, rows in ((self.keys, k), (self.values, v)):
            tt.paged_update_cache(cache, rows, place.positions, place.page_table)
        seen = tt.paged_scaled_dot_product_attention_decode(q, self.keys, self.values, place.page_table, place.positions)
        return tt.nlp_concat_heads_decode(seen) @ self.wo

    def mlp(self, x: tt.Tensor) -> tt.Tensor:
        return (tt.matmul(x, self.gate, activation="silu") * (x @ self.up)) @ self.down

    def __call__(self, x: tt.Tensor, place: Place) -> tt.Tensor:
        x = x + self.attention(self.norm(x, self.norm1), place)
        return x + self.mlp(self.norm(x, self.norm2))
