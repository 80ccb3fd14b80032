"""OpTable: every operation of the table, with random shapes, against NumPy in double precision."""

from __future__ import annotations

import itertools
import os
import zlib

import numpy as np
import pytest

import convolution_references
import decode_references
import function_references
import op_references
import ttfd.tensor as tt
from conftest import Daemon
from op_references import EXACT, PCC, ULP, Call
from ttfd import _native

REFERENCES = (op_references.REFERENCES | decode_references.REFERENCES | function_references.REFERENCES
              | convolution_references.REFERENCES)
CASES = 20
TTSIM_CASES = 10  # the simulator takes seconds for an operation
MIN_PCC = {"bfloat16": 0.9999, "bfp8": 0.999}
MAX_ERROR = {"bfloat16": 0.01, "bfp8": 0.03}  # relative, of the whole output: Pearson's coefficient sees neither offset nor factor
SMALLEST = 2.0**-126  # below it is 0 on the card
NAMES = [entry[0] for entry in _native.operations()]


def calls(name: str) -> list[Call]:
    """The same calls in each run."""
    random = np.random.default_rng(zlib.crc32(name.encode()))
    return [REFERENCES[name].make(random) for _ in range(CASES)]


def apply(card: tt.Card, name: str, call: Call) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The inputs as the card has them, and the outputs."""
    inputs = [card.tensor(array, dtype, layout)
              for array, dtype, layout in itertools.zip_longest(call.arrays, call.dtypes, call.layouts)]
    rounded = [tensor.numpy() for tensor in inputs]
    made = getattr(tt, name)(*([inputs] if name == "concat" else inputs), **call.attributes)
    return rounded, [output.numpy() for output in (made if isinstance(made, list) else [made])]


def ulps(result: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The distance in units of the last place that bfloat16 has at the wanted number."""
    exponent = np.floor(np.log2(np.maximum(np.abs(wanted), SMALLEST)))
    return np.abs(result - wanted) / 2 ** (exponent - 7)


def check(name: str, call: Call, result: np.ndarray, wanted: np.ndarray) -> None:
    """Fails unless the result is as close as it has to be."""
    assert result.shape == wanted.shape, call.attributes
    bar = REFERENCES[name].bar
    if bar == EXACT:
        assert np.array_equal(result, wanted), call.attributes
    elif bar == ULP:
        assert ulps(result, wanted).max() <= 1, (call.attributes, call.dtypes)
    elif bar == PCC:
        dtype = "bfp8" if "bfp8" in call.dtypes else "bfloat16"
        assert np.linalg.norm(result - wanted) <= MAX_ERROR[dtype] * np.linalg.norm(wanted), (call.attributes, call.dtypes)
        if wanted.size > 2 and wanted.std() > 0:
            assert np.corrcoef(result.ravel(), wanted.ravel())[0, 1] >= MIN_PCC[dtype], (call.attributes, call.dtypes)


@pytest.fixture(scope="module")
def card(daemon):
    with tt.open(daemon.address, client_name="OpTable") as opened:
        yield opened


def test_every_operation_has_a_reference():
    assert sorted(REFERENCES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_operation(card, name):
    for call in calls(name):
        rounded, results = apply(card, name, call)
        wanted = REFERENCES[name].compute(*(array.astype(np.float64) for array in rounded), **{key: value for key, value in call.attributes.items() if key != "dtype"})
        for result, each in zip(results, wanted if isinstance(wanted, list) else [wanted]):
            check(name, call, result, each)


@pytest.mark.skipif(not os.environ.get("TTFD_TTSIM_LIB"), reason="TTFD_TTSIM_LIB names no libttsim.so")
def test_equal_bytes_on_ttsim(card):
    daemon = Daemon(f"ttsim:{os.environ['TTFD_TTSIM_LIB']}")
    try:
        with tt.open(daemon.address, call_timeout=600) as other:
            for name in NAMES:
                for call in calls(name)[:TTSIM_CASES]:
                    for mine, its in zip(apply(card, name, call)[1], apply(other, name, call)[1]):
                        assert mine.tobytes() == its.tobytes(), (name, call.attributes)
    finally:
        daemon.end()
