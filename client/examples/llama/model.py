"""A Llama of operations on tensors, which decodes a token of each user at once.

    llama = Llama(card, Config.read(folder / "config.json"), weights)  # arrays by the names that Hugging Face gives them
    llama.start([[72, 105], [87]])                                     # tokens of each user
    with card.record() as step:
        llama.step()
    step.replay(times=64)                                              # the card reads its own tokens
    print(llama.tokens())

Users are the rows of tiles, so 32 of them take the time of one. Keys and values lie in pages of 32 rows; a page table has the pages of
each user. Text, positions and page table are tensors on the card, which a step advances: the host reads tokens, and nothing else. A step
takes the next token of the user's text where there is one, so a prompt is read by the same steps, for all users at once.

Rotary embedding has two conventions. Hugging Face's weights are made for the one that takes element i of a head together with element
i + head / 2 ("halves"); the other takes neighbours ("pairs"), which the engine does by a product with a matrix of a tile. For pairs the
rows of the weights of queries and keys change places; both give the same numbers but for rounding.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Mapping, Sequence

import numpy as np

import ttfd.tensor as tt
from model_files import Config, Weights

PAGE = 32  # rows of keys or values


def frequencies(config: Config) -> np.ndarray:
    """Radians a position, of each pair of elements of a head. rope_scaling makes low ones smaller, for longer texts than trained on."""
    plain = config.rope_theta ** (-np.arange(0, config.head_dim, 2) / config.head_dim)
    if config.rope_scaling is None:
        return plain
    scaling = config.rope_scaling
    if scaling.get("rope_type") != "llama3":
        raise ValueError(f"rope_scaling is {dict(scaling)}; its rope_type must be 'llama3'")
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    turns = scaling["original_max_position_embeddings"] * plain / (2 * np.pi)  # within the texts trained on
    share = np.clip((turns - low) / (high - low), 0, 1)  # of the plain frequency
    return share * plain + (1 - share) * plain / scaling["factor"]


def paired(rows: np.ndarray, head: int) -> np.ndarray:
    """Rows of heads, of weights made for halves, in the order for pairs: 0, head / 2, 1, head / 2 + 1, ..."""
    halves = rows.reshape(-1, 2, head // 2, *rows.shape[1:])
    return np.swapaxes(halves, 1, 2).reshape(rows.shape)


class Rotation:
    """Rotary embedding by one of the conventions: angles of all positions, on the card."""

    def __init__(self, card: tt.Card, config: Config, context: int, convention: str) -> None:
        if convention not in ("pairs", "halves"):
            raise ValueError(f"convention is {convention!r}; it must be 'pairs' or 'halves'")
        self.is_paired, self.head = convention == "pairs", config.head_dim
        angles = np.outer(np.arange(context), frequencies(config))
        angles = np.repeat(angles, 2, 1) if self.is_paired else np.tile(angles, 2)
        self.cos, self.sin = (card.tensor(each, layout="row_major") for each in (np.cos(angles), np.sin(angles)))
        turn = np.zeros((32, 32))
        turn[range(0, 32, 2), range(1, 32, 2)], turn[range(1, 32, 2), range(0, 32, 2)] = 1, -1
        self.turn = card.tensor(turn)

    def ordered(self, rows: np.ndarray) -> np.ndarray:
        """Weights of queries or keys as the convention wants them."""
        return paired(rows, self.head) if self.is_paired else rows

    def angles(self, positions: tt.Tensor) -> tuple[tt.Tensor, tt.Tensor]:
        """cos and sin at each user's position, [1, 1, users, head]."""
        return tt.embedding(positions, self.cos, layout="tile"), tt.embedding(positions, self.sin, layout="tile")

    def __call__(self, x: tt.Tensor, cos: tt.Tensor, sin: tt.Tensor) -> tt.Tensor:
        """x is [1, heads, users, head]."""
        return tt.rotary_embedding_llama(x, cos, sin, self.turn) if self.is_paired else tt.rotary_embedding(x, cos, sin)


@dataclasses.dataclass
class Place:
    """Where users are in a step: what all layers need of it."""
    positions: tt.Tensor   # uint32 [1, 1, users]
    page_table: tt.Tensor  # uint32 [users, pages of a user]
    cos: tt.Tensor
    sin: tt.Tensor


def linear(x: tt.Tensor, weight: tt.Tensor, **attributes: Any) -> tt.Tensor:
    """The product with a weight. For bfp8 two passes do: what the others add is less than the rounding of the weights."""
    return tt.matmul(x, weight, fidelity=2 if weight.dtype == "bfp8" else 4, **attributes)


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
        """Queries, keys and values of each user, [1, users, heads, head], the first two rotated. Until then users are rows, of which a
        tile has 32, and heads are matrices."""
        q, k, v = tt.split_query_key_value_and_split_heads(linear(x, self.wqkv), num_heads=self.config.num_attention_heads,
                                                           num_kv_heads=self.config.num_key_value_heads, transpose_key=False)
        if self.q_norm is not None:
            q, k = self.norm(q, self.q_norm), self.norm(k, self.k_norm)
        q, k = (self.rotation(each, place.cos, place.sin) for each in (q, k))
        return tuple(tt.permute(each, dims=[0, 2, 1, 3]) for each in (q, k, v))

    def attention(self, x: tt.Tensor, place: Place) -> tt.Tensor:
        q, k, v = self.heads(x, place)
        for cache, rows in ((self.keys, k), (self.values, v)):
            tt.paged_update_cache(cache, rows, place.positions, place.page_table)
        seen = tt.paged_scaled_dot_product_attention_decode(q, self.keys, self.values, place.page_table, place.positions)
        return linear(tt.nlp_concat_heads_decode(seen), self.wo)

    def mlp(self, x: tt.Tensor) -> tt.Tensor:
        return linear(linear(x, self.gate, activation="silu") * linear(x, self.up), self.down)

    def __call__(self, x: tt.Tensor, place: Place) -> tt.Tensor:
        x = x + self.attention(self.norm(x, self.norm1), place)
        return x + self.mlp(self.norm(x, self.norm2))


OPEN = 0xFFFFFFFF  # a token of a text that is not known yet


class Llama:
    """The model and the texts of its users, any number. context: tokens of a text, at most max_position_embeddings; the cache has whole
    pages. dtype: of the weights, "bfloat16" or "bfp8". convention: of the rotary embedding, "pairs" or "halves". ValueError: weights,
    config and these do not fit."""

    def __init__(self, card: tt.Card, config: Config, weights: Mapping[str, np.ndarray], *, users: int = 32, context: int = 256,
                 dtype: str = "bfloat16", convention: str = "pairs") -> None:
        if users < 1 or not 1 <= context <= config.max_position_embeddings:
            raise ValueError(f"there are {users} users with a context of {context}; at least 1 of each, and a context of at most "
                             f"{config.max_position_embeddings}, are allowed")
        weights, pages, head = Weights(weights), -(-context // PAGE), "lm_head.weight"
        self.card, self.config, self.users, self.context, self.pages = card, config, users, context, pages
        self.rotation = Rotation(card, config, pages * PAGE, convention)
        self.layers = [Layer(card, config, weights, f"model.layers.{i}.", self.rotation, users * pages, dtype)
                       for i in range(config.num_hidden_layers)]
        embedding = weights["model.embed_tokens.weight"]
        if embedding.shape != (config.vocab_size, config.hidden_size):
            raise ValueError(f"model.embed_tokens.weight is {embedding.shape}, not vocab_size {config.vocab_size} x hidden_size {config.hidden_size}")
        self.embedding, self.norm = card.tensor(embedding, layout="row_major"), card.tensor(weights["model.norm.weight"])
        self.head = card.tensor((weights[head] if head in weights else embedding).T, dtype)
        weights.check_all_used()
        # Numbers for each user.
        self.one, self.last, self.page_rows, self.open = (self.integers([number] * users) for number in (1, context - 1, PAGE, OPEN))
        self.first_text, self.first_page = (self.integers(np.arange(users) * each) for each in (context, pages))
        self.page_zero = card.tensor(np.zeros((users, 1), int), "uint32")
        # State that a step changes: texts and page tables one after another.
        self.positions, self.current = self.integers([0] * users), self.integers([0] * users)
        self.text, self.page_table = self.column([OPEN] * users * context), self.column([0] * users * pages)
        self.page_order = self.column(np.random.default_rng(0).permutation(users * pages))

    def integers(self, numbers: Sequence[int] | np.ndarray) -> tt.Tensor:
        return self.card.tensor(np.reshape(numbers, (1, 1, -1)), "uint32")

    def column(self, numbers: Sequence[int] | np.ndarray) -> tt.Tensor:
        return self.card.tensor(np.reshape(numbers, (1, 1, -1, 1)), "uint32")

    def start(self, prompts: Sequence[Sequence[int]]) -> None:
        """Gives each user a text, which begins with the tokens of a prompt."""
        if len(prompts) != self.users or not all(0 < len(prompt) <= self.context for prompt in prompts):
            raise ValueError(f"there must be {self.users} prompts of 1 to {self.context} tokens")
        if not all(0 <= token < self.config.vocab_size for prompt in prompts for token in prompt):
            raise ValueError(f"tokens must be 0 to {self.config.vocab_size - 1}")
        text = np.full((self.users, self.context), OPEN, np.uint32)
        for user, prompt in enumerate(prompts):
            text[user, :len(prompt)] = prompt
        for target, new in ((self.positions, self.integers([0] * self.users)), (self.current, self.integers(text[:, 0])), (self.text, self.column(text))):
            tt.copy_into(target, new)
        self.enter_pages(self.positions)

    def step(self) -> None:
        """Reads the token at each user's position and advances to the next one, which is the most likely one unless the text has it."""
        place = Place(self.positions, tt.reshape(self.page_table, shape=[self.users, self.pages]), *self.rotation.angles(self.positions))
        x = tt.embedding(self.current, self.embedding, layout="tile")
        for layer in self.layers:
            x = layer(x, place)
        normed = tt.rms_norm(x, self.norm, epsilon=self.config.rms_norm_eps)
        self.advance(tt.argmax(linear(normed, self.head, dtype="float32")))  # logits of bfloat16 would often be equal

    def advance(self, likely: tt.Tensor) -> None:
        """Text, token, position and page table of the next step. At the end of the context it stays where it is."""
        positions = tt.minimum(self.positions + self.one, self.last)
        at = positions + self.first_text
        given = tt.reshape(tt.embedding(at, self.text), shape=[1, 1, self.users])
        token = given + tt.eq(given, self.open) * (likely - given)
        self.write(self.text, at, token)
        tt.copy_into(self.current, token)
        tt.copy_into(self.positions, positions)
        self.enter_pages(positions)

    def enter_pages(self, positions: tt.Tensor) -> None:
        """Enters the page in which each user's position lies into the page table: users have as many, in an order of no meaning."""
        at = tt.div(positions, self.page_rows) + self.first_page
        self.write(self.page_table, at, tt.embedding(at, self.page_order))

    def write(self, target: tt.Tensor, at: tt.Tensor, numbers: tt.Tensor) -> None:
        """Writes a number of each user into rows of a column."""
        tt.paged_update_cache(target, tt.reshape(numbers, shape=[1, self.users, 1, 1]), at, self.page_zero)

    def tokens(self) -> np.ndarray:
        """The texts, [users, context], with OPEN for what is not known yet."""
        return self.text.numpy().reshape(self.users, self.context)
