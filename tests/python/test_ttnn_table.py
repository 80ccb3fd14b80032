"""Operations of TTNN files that are one of the table: the random calls of its tests, as files; then whether every operation that runs has a file."""

from __future__ import annotations

import dataclasses
import itertools
import json
import zlib
from typing import Any, Callable

import numpy as np
import pytest

import compiled_files as files
import convolution_references
import decode_references
import op_references
import ttfd.tensor as tt
from op_references import EXACT, Call
from ttfd import ttmlir

REFERENCES = op_references.REFERENCES | decode_references.REFERENCES | convolution_references.REFERENCES
CALLS = 6  # of each
SCHEMA_TYPES = {"bfloat16": "BFloat16", "float32": "Float32", "bfp8": "BFP_BFloat8", "uint32": "UInt32"}


@dataclasses.dataclass
class Row:
    """The operation of a file, and that of the table; `fields` gives those that are no tensors, or None if the file cannot say it."""

    kind: str
    operation: str
    inputs: list[str]
    outputs: list[str]  # none: the first input, in place
    fields: Callable[[Call], dict[str, Any] | None]
    profile: str = files.NEWEST

    def __str__(self) -> str:
        return f"{self.kind}.{self.operation}.{self.profile}"


def kept(*names: str) -> Callable[[Call], dict[str, Any] | None]:
    """The attributes of these names; no other one may be set."""
    def fields(call: Call) -> dict[str, Any] | None:
        return {name: value for name, value in call.attributes.items() if value} if all(name in names for name, value in call.attributes.items() if value) else None
    return fields


def attention(call: Call) -> dict[str, Any] | None:
    return {"is_causal": call.attributes.get("is_causal", True), "scale": call.attributes.get("scale") or None,
            "sliding_window_size": call.attributes.get("sliding_window")}


def update(call: Call) -> dict[str, Any] | None:
    return {"batch_offset": call.attributes["batch_offset"]} if len(call.arrays) == 3 else None


def images(call: Call) -> dict[str, int]:
    of = call.arrays[0].shape
    return {"batch_size": call.attributes.get("batch_size", of[0]), "input_height": call.attributes.get("input_height", of[1]),
            "input_width": call.attributes.get("input_width", of[2])}


def convolution(is_transposed: bool, early: bool = False) -> Callable[[Call], dict[str, Any] | None]:
    def fields(call: Call) -> dict[str, Any] | None:
        given = call.attributes
        if call.arrays[1].ndim != 4:
            return None  # prepared, which another test has
        outer, inner = call.arrays[1].shape[0], call.arrays[1].shape[1] * given["groups"]
        found = {**images(call), "in_channels": outer if is_transposed else inner, "out_channels": inner if is_transposed else outer, "groups": given["groups"]}
        pairs = {"kernel_size": list(call.arrays[1].shape[2:]), **{name: given[name] for name in ("stride", "padding", "dilation")}}
        if not early:
            if is_transposed:
                found["output_padding"] = given["output_padding"]
            return {**found, **pairs, "conv2d_config": {"activation": {"op_type": "Relu"}} if given["activation"] else None}
        pairs["kernel"] = pairs.pop("kernel_size")
        if given["activation"] or len(pairs["padding"]) != 2:
            return None
        return {**found, **{f"{name}_{side}": pair[i] for name, pair in pairs.items() for i, side in enumerate(("height", "width"))}}
    return fields


def pool(kind: str) -> Callable[[Call], dict[str, Any] | None]:
    def fields(call: Call) -> dict[str, Any] | None:
        pairs = {name: call.attributes[name] for name in ("kernel_size", "stride", "padding", "dilation")}
        found = {**images(call), "channels": call.arrays[0].shape[3], "ceil_mode": call.attributes["ceil_mode"]}
        if kind == "early":
            pairs["kernel"] = pairs.pop("kernel_size")
            return {**found, **{f"{name}_{side}": pair[i] for name, pair in pairs.items() for i, side in enumerate(("height", "width"))}}
        if kind == "AvgPool2d":
            found |= {"extra_params_type": "AvgPool2dExtraParams", "extra_params": {"count_include_pad": call.attributes["count_include_pad"]}}
        return {**found, **pairs, "type": kind}
    return fields


CACHE = ["cache", "input"]
ATTENTION = ["query", "key", "value"]
EARLY = files.OF_2024[0]
ROWS = [
    Row("FillCacheOp", "fill_cache", CACHE, [], kept("batch_offset")),
    Row("UpdateCacheOp", "update_cache", [*CACHE, "update_index"], [], update),
    Row("PagedUpdateCacheOp", "paged_update_cache", [*CACHE, "update_index", "page_table"], [], kept()),
    Row("PagedFillCacheOp", "paged_fill_cache", [*CACHE, "page_table", "batch_idx_tensor"], [], kept()),
    Row("SplitQueryKeyValueAndSplitHeadsOp", "split_query_key_value_and_split_heads", ["in", "kv_input"], ["q_out", "k_out", "v_out"],
        kept("num_heads", "num_kv_heads", "transpose_key")),
    Row("NLPCreateQKVHeadsDecodeOp", "nlp_create_qkv_heads_decode", ["input"], ["q_out", "k_out", "v_out"], kept("num_heads", "num_kv_heads")),
    Row("RotaryEmbeddingLlamaOp", "rotary_embedding_llama", ["input", "cos_cache", "sin_cache", "trans_mat"], ["out"],
        lambda call: {"is_decode_mode": call.attributes["decode"]}),
    Row("Conv2dOp", "conv2d", ["input", "weight", "bias"], ["out"], convolution(False)),
    Row("Conv2dOp", "conv2d", ["input", "weight", "bias"], ["out"], convolution(False, early=True), EARLY),
    Row("ConvTranspose2dOp", "conv_transpose2d", ["input", "weight", "bias"], ["out"], convolution(True)),
    Row("Pool2dOp", "avg_pool2d", ["in"], ["out"], pool("AvgPool2d")),
    Row("Pool2dOp", "max_pool2d", ["in"], ["out"], pool("MaxPool2d")),
    Row("MaxPool2dOp", "max_pool2d", ["in"], ["out"], pool("early"), EARLY),
    Row("PagedScaledDotProductAttentionDecodeOp", "paged_scaled_dot_product_attention_decode", [*ATTENTION, "page_table"], ["out"], attention),
    Row("ScaledDotProductAttentionDecodeOp", "scaled_dot_product_attention_decode", ATTENTION, ["out"], attention),
]


def calls(row: Row, count: int = CALLS) -> list[tuple[Call, dict[str, Any]]]:
    """Some that the file can say, with their fields; the same ones in each run."""
    random = np.random.default_rng(zlib.crc32(str(row).encode()))
    found: list[tuple[Call, dict[str, Any]]] = []
    while len(found) < count:
        call = REFERENCES[row.operation].make(random)
        fields = row.fields(call)
        if fields is not None:
            found.append((call, fields))
    return found


def names(row: Row, call: Call) -> list[str]:
    """The fields of the inputs of a call; of attention it has positions if it is causal, and a mask if there is one more."""
    found = list(row.inputs)
    if row.fields is attention:
        found += (["cur_pos_tensor"] if call.attributes.get("is_causal", True) else []) + ["attention_mask"]
    return found[:len(call.arrays)]


@pytest.fixture(name="card", scope="module")
def _card(daemon):
    with tt.open(daemon.address) as opened:
        yield opened


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_call_of_the_table_is_the_same_in_a_file(card, tmp_path, row):
    make = files.early_tensor if row.profile in files.OF_2024 else files.tensor
    for call, fields in calls(row):
        given = [card.tensor(array, dtype, layout) for array, dtype, layout in itertools.zip_longest(call.arrays, call.dtypes, call.layouts)]
        refs = [make(i, tuple(one.shape), SCHEMA_TYPES[one.dtype], "tile" if one.layout == "tile" else "row") for i, one in enumerate(given)]
        rounded = [one.numpy().astype(np.float64) for one in given]
        wanted = REFERENCES[row.operation].compute(*rounded, **{key: value for key, value in call.attributes.items() if key != "dtype"})
        wanted = wanted if isinstance(wanted, list) else [wanted]
        outs = [make(90 + i, wanted[i].shape, SCHEMA_TYPES[call.dtypes[0]]) for i in range(len(row.outputs))]
        fields = {**fields, **dict(zip(names(row, call), refs)), **dict(zip(row.outputs, outs))}
        program = files.program("main", refs, outs or refs[:1], [files.operation(row.kind, fields)])
        made = ttmlir.Binary(str(files.write(tmp_path / "row.ttnn", [program], row.profile))).submit(card, 0, given)
        assert row.outputs or np.array_equal(made[0].numpy(), given[0].numpy())
        for one, each in zip(made, wanted):
            result = one.numpy()
            assert result.shape == each.shape
            if REFERENCES[row.operation].bar == EXACT:
                assert np.array_equal(result, each), call.attributes
            else:
                assert np.linalg.norm(result - each) <= 0.01 * np.linalg.norm(each) + 1e-6, call.attributes


OF_TWO = {"Add": np.add, "Multiply": np.multiply, "Subtract": np.subtract, "Maximum": np.maximum, "Div": np.divide, "GreaterEqual": np.greater_equal}
OF_EARLY = {**OF_TWO, "Relu": lambda x: np.maximum(x, 0), "Sqrt": np.sqrt, "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
            "Reciprocal": lambda x: 1 / x, "Exp": np.exp, "Abs": np.abs, "Neg": np.negative}


@pytest.mark.parametrize("profile", files.OF_2024)
def test_a_function_of_2024_gives_what_numpy_gives(card, tmp_path, profile):
    random = np.random.default_rng(24)
    x, y = (random.uniform(0.5, 2, (40, 70)).astype(np.float32) for _ in range(2))
    given = [card.tensor(array, "float32") for array in (x, y)]
    known = (files.PROFILES / f"{profile}.profile").read_text().split("enum EltwiseOpType u32 ")[1].splitlines()[0]
    for name, function in OF_EARLY.items():
        if f"{name}=" not in known:
            continue
        inputs = [files.early_tensor(i, x.shape) for i in range(2 if name in OF_TWO else 1)]
        empty, out = files.early_tensor(8, x.shape), files.early_tensor(9, x.shape)
        device = {"global_id": 90} if profile == files.OF_2024[1] else None
        opened = [] if device is None else [files.operation("OpenDeviceOp", {"mesh": {"y": 1, "x": 1}, "chip_ids": [0], "out": device})]
        freed = "DeallocOp" if device is None else "CloseDeviceOp"
        operations = [*opened, files.operation("EmptyOp", {"out": empty}), files.operation("EltwiseOp", {"type": name, "ins": inputs, "out": out}),
                      files.operation(freed, {"in": inputs[0]} if device is None else {"in0": device})]
        binary = ttmlir.Binary(str(files.write(tmp_path / "early.ttnn", [files.program("main", inputs, [out], operations)], profile)))
        made, wanted = binary.submit(card, 0, given[:len(inputs)])[0].numpy(), function(*[x, y][:len(inputs)])
        assert np.linalg.norm(made - wanted) <= 0.01 * np.linalg.norm(wanted), name


@pytest.mark.parametrize("kind,fields", [("ToDTypeOp", {"dtype": "BFloat16"}), ("MorehCumSumOp", {"dim": 0}),
                                         ("MeshShardOp", {"shard_direction": "FullToShardShape", "shard_type": "Identity"})])
def test_an_operation_of_2025_gives_what_numpy_gives(card, tmp_path, kind, fields):
    x = np.random.default_rng(25).uniform(-2, 2, (40, 70)).astype(np.float32)
    refs = files.tensor(0, x.shape), files.tensor(1, x.shape, "BFloat16")
    operation = files.operation(kind, {"in": refs[0], "out": refs[1], **fields})
    binary = ttmlir.Binary(str(files.write(tmp_path / "of_2025.ttnn", [files.program("main", [refs[0]], [refs[1]], [operation])], files.OF_2025)))
    made, wanted = binary.submit(card, 0, [card.tensor(x, "float32")])[0].numpy(), x.cumsum(0) if kind == "MorehCumSumOp" else x
    assert np.linalg.norm(made - wanted) <= 0.01 * np.linalg.norm(wanted)


@pytest.mark.parametrize("is_transposed", [False, True])
def test_weights_and_bias_are_prepared_for_a_convolution(card, tmp_path, is_transposed):
    name = "ConvTranspose2d" if is_transposed else "Conv2d"
    row = next(row for row in ROWS if row.kind == f"{name}Op")
    call, fields = next((call, fields) for call, fields in calls(row, 40) if len(call.arrays) == 3 and fields["groups"] == 1)
    given = [card.tensor(array, dtype) for array, dtype in zip(call.arrays, call.dtypes)]
    wanted = REFERENCES[row.operation].compute(*[one.numpy().astype(np.float64) for one in given], **call.attributes)
    x, weight, bias = refs = [files.tensor(i, one.shape, "BFloat16") for i, one in enumerate(call.arrays)]
    elements = call.arrays[1].size // fields["out_channels"]
    weights, prepared, out = (files.tensor(5, (1, 1, elements, fields["out_channels"]), "BFloat16"), files.tensor(6, call.arrays[2].shape, "BFloat16"),
                              files.tensor(9, wanted.shape, "BFloat16"))
    sizes = {key: value for key, value in fields.items() if key != "conv2d_config" and (key != "output_padding" or is_transposed)}
    for_bias = {key: value for key, value in sizes.items() if key != "output_padding"}
    operations = [files.operation(f"Prepare{name}WeightsOp", {"weight_tensor": weight, "out": weights, **sizes}),
                  files.operation(f"Prepare{name}BiasOp", {"bias_tensor": bias, "out": prepared, **for_bias}),
                  files.operation(f"{name}Op", {"input": x, "weight": weights, "bias": prepared, "out": out, **fields})]
    made = ttmlir.Binary(str(files.write(tmp_path / "prepared.ttnn", [files.program("main", refs, [out], operations)]))).submit(card, 0, given)[0].numpy()
    assert np.linalg.norm(made - wanted) <= 0.01 * np.linalg.norm(wanted)


def test_every_operation_that_runs_has_a_file(daemon, request):
    folder = request.path.parent
    if request.config.option.keyword or {path.name for path in folder.glob("test_ttnn*.py")} != {item.path.name for item in request.session.items}:
        pytest.skip("not all tests of TTNN files run")
    supported = {one["type"] for one in json.loads(daemon.ctl("--json", "inspect", "--list").stdout)}
    assert supported - files.WRITTEN == set()
