"""A Llama as it is published: its config.json, and its weights by the names that Hugging Face gives them."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any, Iterator, Mapping

import numpy as np


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
    rope_scaling: Mapping[str, Any] | None = None  # of rope_type "llama3", or none
    max_position_embeddings: int = 2048            # tokens of a text, at most

    @classmethod
    def read(cls, path: pathlib.Path) -> Config:
        """Of a file. ValueError: it is that of another model."""
        given = json.loads(path.read_text(encoding="utf-8"))
        try:
            given = {"num_key_value_heads": given["num_attention_heads"], **given}
            if given.get("head_dim") is None:
                given["head_dim"] = given["hidden_size"] // given["num_attention_heads"]
            rope = given.get("rope_parameters") or {}  # where newer files have both
            given.update({"rope_theta": rope["rope_theta"], "rope_scaling": rope} if rope else {})
            if (given.get("rope_scaling") or {}).get("rope_type") == "default":
                given["rope_scaling"] = None
            config = cls(**{field.name: given[field.name] for field in dataclasses.fields(cls) if field.name in given})
        except (TypeError, KeyError, AttributeError) as wrong:
            raise ValueError(f"{path} is not the config.json of a Llama: {wrong!r}") from wrong
        if given.get("hidden_act", "silu") != "silu":
            raise ValueError(f"{path}: hidden_act is {given['hidden_act']!r}; it must be 'silu'")
        return config


class Weights(Mapping[str, np.ndarray]):
    """Weights of which it is known which have been used."""

    def __init__(self, given: Mapping[str, np.ndarray]) -> None:
        self.given, self.used = given, set()

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.given:
            raise ValueError(f"the weights do not have {name}")
        self.used.add(name)
        return self.given[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.given)

    def __len__(self) -> int:
        return len(self.given)

    def __contains__(self, name: object) -> bool:
        return name in self.given

    def check_all_used(self) -> None:
        """ValueError: there are others, so the model is another one. Frequencies of the rotary embedding are computed here."""
        rest = sorted(name for name in self.given if name not in self.used and not name.endswith("rotary_emb.inv_freq"))
        if rest:
            raise ValueError(f"the weights have {len(rest)} that this model does not have, such as {rest[0]}")
