"""The model of client/examples/llama, its files and its tokens."""

from __future__ import annotations

import dataclasses
import importlib
import json
import struct
import sys

import numpy as np
import pytest

import ttfd
import ttfd.tensor as tt
from conftest import SOURCE
from ttfd.safetensors import SafetensorsFile

FOLDER = SOURCE / "client/examples/llama"
TINY = FOLDER / "tiny"
sys.path[:0] = [str(FOLDER), str(SOURCE / "client/demo")]
model, tokenizer, reference = (importlib.import_module(name) for name in ("model", "tokenizer", "llama_reference"))

# Shapes that no tile divides.
SMALL = {"vocab_size": 70, "hidden_size": 96, "intermediate_size": 80, "num_hidden_layers": 2, "num_attention_heads": 6, "num_key_value_heads": 2,
         "head_dim": 64, "rms_norm_eps": 1e-5, "rope_theta": 10000.0}


@pytest.fixture(scope="module")
def card(daemon):
    with tt.open(daemon.address, client_name="Llama") as opened:
        yield opened


def make_weights(config: dict, with_norms: bool = False) -> dict[str, np.ndarray]:
    """Random ones, which bfloat16 can represent."""
    random = np.random.default_rng(7)
    hidden, head, ffn = config["hidden_size"], config["head_dim"], config["intermediate_size"]
    queries, keys = config["num_attention_heads"] * head, config["num_key_value_heads"] * head
    shapes = {"model.embed_tokens": (config["vocab_size"], hidden), "model.norm": (hidden,), "lm_head": (config["vocab_size"], hidden)}
    for number in range(config["num_hidden_layers"]):
        layer = {"input_layernorm": (hidden,), "post_attention_layernorm": (hidden,), "self_attn.q_proj": (queries, hidden),
                 "self_attn.k_proj": (keys, hidden), "self_attn.v_proj": (keys, hidden), "self_attn.o_proj": (hidden, queries),
                 "mlp.gate_proj": (ffn, hidden), "mlp.up_proj": (ffn, hidden), "mlp.down_proj": (hidden, ffn)}
        layer |= {"self_attn.q_norm": (head,), "self_attn.k_norm": (head,)} if with_norms else {}
        shapes |= {f"model.layers.{number}.{name}": shape for name, shape in layer.items()}
    numbers = {f"{name}.weight": random.standard_normal(shape) * (1.5 / np.sqrt(shape[-1]) if len(shape) > 1 else 1) for name, shape in shapes.items()}
    return {name: (array.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32) for name, array in numbers.items()}


def clear_tokens(texts: np.ndarray, config: dict, weights: dict[str, np.ndarray], margin: float) -> tuple[np.ndarray, np.ndarray]:
    """What double precision makes of each text, token by token, and where it is sure."""
    weights = {name: array.astype(np.float64) for name, array in weights.items()}
    made = np.array([reference.logits(text, config, weights) for text in texts])
    ordered = np.sort(made, -1)
    return made.argmax(-1), ordered[..., -1] - ordered[..., -2] > margin


@pytest.mark.parametrize("convention, with_norms", [("pairs", True), ("halves", False)])
def test_texts_continue_as_double_precision_says(card, convention, with_norms):
    """Prompts of several lengths, pages in any order, up to the end of the context and over that of a page."""
    weights, context, users = make_weights(SMALL, with_norms), 40, 5
    prompts = [[int(token) for token in np.random.default_rng(user).integers(0, SMALL["vocab_size"], 1 + 9 * user)] for user in range(users)]
    llama = model.Llama(card, model.Config(**SMALL), weights, users=users, context=context, convention=convention)
    with card.record() as step:
        llama.step()
    runs = []
    for _ in range(2):  # the second one finds nothing of the first
        llama.start(prompts)
        assert (llama.tokens() != model.OPEN).sum() == sum(map(len, prompts))
        step.replay(times=context + 3)
        texts = llama.tokens()
        assert [list(text[:len(prompt)]) for text, prompt in zip(texts, prompts)] == prompts
        likely, is_clear = clear_tokens(texts[:, :-1], SMALL, weights, 0.2)
        is_written = np.arange(1, context) >= np.array([len(prompt) for prompt in prompts])[:, None]
        assert (texts[:, 1:] == likely)[is_clear & is_written].all()
        assert (is_clear & is_written).sum() > 0.5 * is_written.sum()
        assert np.array_equal(llama.positions.numpy().ravel(), [context - 1] * users)
        runs.append(texts)
    assert np.array_equal(*runs)


def test_users_may_be_few_and_weights_bfp8_and_shared(card):
    """One user; the head is the embedding where the file has none."""
    weights = make_weights(SMALL)
    del weights["lm_head.weight"]
    llama = model.Llama(card, model.Config(**SMALL), weights, users=1, context=8, dtype="bfp8")
    llama.start([[3, 5]])
    for _ in range(4):
        llama.step()
    texts = llama.tokens()
    assert list(texts[0, :2]) == [3, 5] and (texts[0, :5] < SMALL["vocab_size"]).all() and (texts[0, 5:] == model.OPEN).all()
    likely, is_clear = clear_tokens(texts[:, :4], SMALL, weights | {"lm_head.weight": weights["model.embed_tokens.weight"]}, 0.4)
    assert (texts[0, 2:5] == likely[0, 1:4])[is_clear[0, 1:4]].all() and is_clear[0, 1:4].any()
    for prompts, message in (([], "there must be 1 prompts"), ([[1], [2]], "there must be 1 prompts"), ([[]], "of 1 to 8 tokens"), ([[0] * 9], "of 1 to 8"),
                             ([[70]], "tokens must be 0 to 69"), ([[-1]], "tokens must be 0 to 69")):
        with pytest.raises(ValueError, match=message):
            llama.start(prompts)


@pytest.mark.parametrize("config, weights, options, message", [
    ({"num_hidden_layers": 1}, {}, {}, "the weights have 9 that this model does not have, such as model.layers.1.input_layernorm.weight"),
    ({"num_hidden_layers": 3}, {}, {}, "the weights do not have model.layers.2.self_attn.q_proj.weight"),
    ({}, {"model.layers.0.self_attn.q_proj.bias": np.zeros(384)}, {}, "the weights have 1 that this model does not have, such as .*q_proj.bias"),
    ({"vocab_size": 71}, {}, {}, r"model.embed_tokens.weight is \(70, 96\), not vocab_size 71 x hidden_size 96"),
    ({}, {}, {"context": 2049}, "a context of 2049; at least 1 of each, and a context of at most 2048, are allowed"),
    ({}, {}, {"users": 0}, "there are 0 users"), ({}, {}, {"convention": "neox"}, "convention is 'neox'; it must be 'pairs' or 'halves'"),
])
def test_models_that_are_others_are_refused(card, config, weights, options, message):
    with pytest.raises(ValueError, match=message):
        model.Llama(card, model.Config(**SMALL | config), make_weights(SMALL) | weights, **{"users": 1, "context": 8} | options)


def test_configs_of_all_ages_are_read(tmp_path):
    path = tmp_path / "config.json"

    def read(given: object) -> model.Config:
        path.write_text(json.dumps(given), encoding="utf-8")
        return model.Config.read(path)
    old = {name: value for name, value in SMALL.items() if name not in ("head_dim", "num_key_value_heads")}
    assert (read(old).head_dim, read(old).num_key_value_heads) == (16, 6)
    scaling = {"rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0}
    assert (read(old | {"rope_parameters": scaling}).rope_theta, read(old | {"rope_parameters": scaling}).rope_scaling) == (5e5, scaling)
    assert read(old | {"rope_parameters": {"rope_type": "default", "rope_theta": 7.0}}) == read(old | {"rope_theta": 7.0, "rope_scaling": None})
    for wrong, message in (([], "not the config.json of a Llama"), ({}, "'num_attention_heads'"), (old | {"hidden_act": "gelu"}, "hidden_act is 'gelu'; it must be 'silu'"),
                           (old | {"num_attention_heads": "6"}, "not the config.json of a Llama")):
        with pytest.raises(ValueError, match=message):
            read(wrong)


def test_a_step_of_80_layers_is_one_recording_of_2000_launches(card):
    """It gives the tokens of a run without recording."""
    config = SMALL | {"num_hidden_layers": 80, "hidden_size": 64, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 32, "intermediate_size": 64}
    llama = model.Llama(card, model.Config(**config), make_weights(config), users=2, context=4)
    with card.record() as step:
        llama.step()
    assert step.launches >= 2000
    llama.start([[1], [2]])
    step.replay(times=3)
    texts = llama.tokens()
    llama.start([[1], [2]])
    for _ in range(3):
        llama.step()
    assert np.array_equal(llama.tokens(), texts) and (texts != model.OPEN).all()


def test_rope_scaling_makes_low_frequencies_lower():
    """By the rule of Llama 3.1: frequencies with less than one turn in the original context are divided, those with more than four stay."""
    scaling = {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
    config = model.Config(**SMALL | {"rope_theta": 500000.0})
    plain, scaled = (model.frequencies(each) for each in (config, dataclasses.replace(config, rope_scaling=scaling)))
    turns = 8192 * plain / (2 * np.pi)
    assert np.allclose(scaled[turns > 4], plain[turns > 4]) and np.allclose(scaled[turns < 1], plain[turns < 1] / 32)
    between = (turns > 1) & (turns < 4)
    share = (turns[between] - 1) / 3
    assert between.any() and np.allclose(scaled[between], plain[between] * (share + (1 - share) / 32))
    with pytest.raises(ValueError, match="its rope_type must be 'llama3'"):
        model.frequencies(dataclasses.replace(config, rope_scaling={"rope_type": "yarn"}))


def test_the_tiny_model_is_what_its_log_says():
    weights = SafetensorsFile(TINY / "model.safetensors")
    wanted = reference.read_weights(TINY / "model.safetensors")
    assert sorted(weights) == sorted(wanted) and len(weights) == len(wanted)
    assert all(np.array_equal(weights[name], array) for name, array in wanted.items())
    log = (TINY / "training.log").read_text(encoding="utf-8")
    assert f"model: {sum(array.size for array in wanted.values())} parameters" in log
    assert "Debian package dict-jargon" in log and "public domain" in log


def test_files_of_tensors_are_mappings(tmp_path):
    path = tmp_path / "a.safetensors"
    header = json.dumps({"x": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]}, "n": {"dtype": "U8", "shape": [], "data_offsets": [8, 9]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<ff", 1.5, -2) + b"\7")
    given = SafetensorsFile(path)
    assert np.array_equal(given["x"], [[1.5], [-2]]) and given["x"].dtype == np.float32
    assert list(given) == ["n", "x"] and "x" in given and 3 not in given and (given.dtype("n"), given.shape("n")) == ("U8", ())
    for name in ("missing", "__metadata__"):
        with pytest.raises(KeyError, match=name):
            given[name]
    for read, message in ((lambda: given["n"], '"n" is U8; it must be F32, F16 or BF16'), (lambda: SafetensorsFile(tmp_path), "not a regular file"),
                          (lambda: SafetensorsFile(tmp_path / "none"), "No such file")):
        with pytest.raises(ttfd.Error, match=message):
            read()


def test_bytes_are_tokens(tmp_path):
    with pytest.raises(ValueError, match="only tokens of a model with at most 256 are bytes, and this one has 257"):
        tokenizer.tokenizer_of(tmp_path, 257)
    text = "naïve \N{SNOWMAN}"
    tokens = tokenizer.ByteTokenizer().encode(text)
    assert tokens == list(text.encode()) and tokenizer.ByteTokenizer().decode(tokens) == text
    assert tokenizer.ByteTokenizer().decode(tokens[:-1]).endswith("\N{REPLACEMENT CHARACTER}")


def test_byte_pairs_are_merged_by_rank(tmp_path):
    """A tokenizer.json of a few merges, with the pattern and the added tokens of Llama 3."""
    pytest.importorskip("regex", reason="the Debian package python3-regex is not installed")
    letters = tokenizer.byte_letters()
    assert (letters[0x20], letters[0x0A], letters[0xAD], letters[ord("a")]) == ("\u0120", "\u010a", "\u0143", "a") and len(set(letters.values())) == 256
    vocabulary = {letter: byte for byte, letter in letters.items()}
    merges = ["h e", "l l", "he ll", "hell o", "\u0120 w", "o r", "\u0120w or", "1 2", "12 3"]
    vocabulary |= {merge.replace(" ", ""): 256 + rank for rank, merge in enumerate(merges)} | {"whole": 300}
    pattern = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    path = tmp_path / "tokenizer.json"

    def load(**changes):
        given = {"model": {"type": "BPE", "vocab": vocabulary, "merges": merges, "ignore_merges": True} | changes,
                 "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": pattern}}, {"type": "ByteLevel"}]},
                 "added_tokens": [{"id": 400, "content": "<|begin|>"}, {"id": 401, "content": "<|begin|>2"}]}
        path.write_text(json.dumps(given), encoding="utf-8")
        return tokenizer.tokenizer_of(tmp_path, 402)
    for given in (load(), load(merges=[merge.split(" ") for merge in merges])):
        for text, tokens in {"hello": [259], "hello world": [259, 262, 108, 100], "hellhello": [258, 259], "1234": [264, 52], "<|begin|>hell": [400, 258],
                             "<|begin|>2": [401], "whole": [300], " whole": [260, 104, 111, 108, 101], "\u00e9": [0xC3, 0xA9], "": []}.items():
            assert given.encode(text) == tokens and given.decode(tokens) == text, text
    assert load(ignore_merges=False).encode("whole") == list(b"whole")
    assert load().decode([97, 5000, 98]) == "a\N{REPLACEMENT CHARACTER}b"
    pattern = "[a-z]+"
    assert load().encode("hell, 12") == [258, 44, 32, 263] and load().decode([258, 44, 32, 263]) == "hell, 12"
    with pytest.raises(ValueError, match="the model is Unigram; it must be BPE"):
        load(type="Unigram")
    path.write_text(path.read_text(encoding="utf-8").replace("Regex", "String").replace("Unigram", "BPE"), encoding="utf-8")
    for changed in (path.read_text(encoding="utf-8"), "{\"model\": {\"type\": \"BPE\"}, \"pre_tokenizer\": null}"):
        path.write_text(changed, encoding="utf-8")
        with pytest.raises(ValueError, match="must split by one regular expression"):
            tokenizer.tokenizer_of(tmp_path, 402)
