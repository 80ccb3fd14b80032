"""Matrices as tiles: their order, conversions at the ends of ranges, refusals. client_tiles_test.cc has the same tables."""

import numpy as np
import pytest

import ttfd

INF, NAN = np.inf, np.nan


def test_tiles_are_faces_row_by_row_and_zeros_fill_the_last():
    matrices = np.arange(1, 1 + 3 * 40 * 50, dtype=np.float32).reshape(3, 40, 50)
    numbers = ttfd.to_tiles(matrices, "float32").view(np.float32)
    assert numbers.shape == (3 * 2 * 2, 1024)
    padded = np.zeros((3, 64, 64), np.float32)
    padded[:, :40, :50] = matrices
    tile = numbers[4 + 1 * 2 + 1]  # of the second matrix, bottom right
    assert np.array_equal(tile[256:512].reshape(16, 16), padded[1, 32:48, 48:64])
    assert np.array_equal(tile[512:768].reshape(16, 16), padded[1, 48:64, 32:48])


@pytest.mark.parametrize("format", ["float32", "bfloat16", "float16_b", "bfp8_b"])
def test_numbers_that_a_format_has_come_back_as_they_were(format):
    matrices = ((np.arange(2 * 33 * 70) % 127 - 63) / 64).reshape(2, 33, 70)
    tiles = ttfd.to_tiles(matrices, format)
    assert tiles.shape == (2 * 2 * 3, ttfd.tile_bytes(format)) and tiles.dtype == np.uint8
    back = ttfd.from_tiles(tiles, matrices.shape, format)
    assert back.dtype == np.float32 and np.array_equal(back, matrices)


@pytest.mark.parametrize("number, word", [
    (1.0, 0x3F80), (-1.00390625, 0xBF81), (1.003906, 0x3F80), (1.9999999, 0x4000), (3.4028235e38, 0x7F80),
    (-INF, 0xFF80), (NAN, 0x7F80), (1.1754944e-38, 0x0080), (1e-39, 0), (-1e-39, 0), (-0.0, 0)])
def test_bfloat16_rounds_halves_away_from_zero(number, word):
    assert ttfd.to_tiles(np.float32([[number]]), "bfloat16").view(np.uint16)[0, 0] == word


@pytest.mark.parametrize("numbers, exponent, data", [
    ([1.0, 0.5, -1.5, 1 / 128, 1 / 256, 0.0], 127, [64, 32, 0x80 | 96, 1, 0, 0]),
    ([1.9921875, 1.0], 128, [64, 32]),
    ([127 / 64, 126 / 64], 127, [127, 126]),
    ([NAN, 1.0], 255, [64, 0]),
    ([-INF, 3e38], 255, [0x80 | 64, 57]),
    ([1e-39, -0.0], 0, [0, 0]),
    ([-1.1754942e-38, 1.1663e-38], 1, [0x80 | 64, 0]),
    ([-1 / 256, 1.0], 127, [0, 64])])
def test_bfp8_shares_the_exponent_of_a_row(numbers, exponent, data):
    tile = ttfd.to_tiles(np.float32([numbers]), "bfp8_b")[0]
    assert tile[0] == exponent
    assert tile[64:64 + len(data)].tolist() == data


def any_numbers():
    """Any bits, with both near and distant exponents in a row."""
    i = np.arange(1024, dtype=np.uint32)
    bits = (i + 1) * np.uint32(2654435761)
    return np.where(i % 256 < 128, bits, bits & 0x83FFFFFF | 0x3C000000).astype(np.uint32).view(np.float32).reshape(32, 32)


@pytest.mark.parametrize("format, expected", [
    ("float32", 17898667641672568354), ("bfloat16", 9121557577090626307), ("bfp8_b", 14753752251227579000)])
def test_any_bits_give_the_bytes_of_libttfd(format, expected):
    fnv1a = 0xCBF29CE484222325
    for byte in ttfd.to_tiles(any_numbers(), format).tobytes():
        fnv1a = (fnv1a ^ byte) * 0x100000001B3 % 2**64
    assert fnv1a == expected


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("bits", [0x7FF0000000000000, 0x7FF0000000000001, 0x47EFFFFFF0000000])
def test_numbers_beyond_those_of_a_format_give_no_warning(bits):
    tiles = ttfd.to_tiles(np.uint64([[bits]]).view(np.float64), "bfp8_b")
    assert ttfd.from_tiles(tiles, (1, 1), "bfp8_b") == INF


@pytest.mark.parametrize("call, message", [
    (lambda: ttfd.to_tiles([[1.0]], "bfp4_b"), "format must be 'float32', 'bfloat16', 'float16_b', 'bfp8_b', not 'bfp4_b'"),
    (lambda: ttfd.to_tiles([1.0], "float32"), "values must be an array of numbers with at least two axes"),
    (lambda: ttfd.to_tiles([[1.0, 2.0], [3.0]], "float32"), "values must be an array of numbers"),
    (lambda: ttfd.from_tiles(np.zeros(1088, np.uint8), 3, "bfp8_b"), "shape must be at least two lengths"),
    (lambda: ttfd.from_tiles(np.zeros(512, object), (2, 3), "float32"), "tiles must be an array of 4096 bytes"),
    (lambda: ttfd.from_tiles(np.zeros(0), (2**31, 2**31, 4, 1, 1), "float32"), f"tiles must be an array of {2**76} bytes"),
    (lambda: ttfd.to_tiles([["a"]], "float32"), "values must be an array of numbers"),
    (lambda: ttfd.from_tiles(np.zeros(1087, np.uint8), (2, 3), "bfp8_b"), "tiles must be an array of 1088 bytes"),
    (lambda: ttfd.from_tiles(np.zeros(1088, np.uint8), (3,), "bfp8_b"), "shape must be at least two lengths"),
    (lambda: ttfd.from_tiles(np.zeros(1088, np.uint8), (0, 3), "bfp8_b"), "shape must be an integer from 1")])
def test_refusals_say_what_is_allowed(call, message):
    with pytest.raises(ttfd.Error) as refused:
        call()
    assert refused.value.code == ttfd.Code.INVALID_ARGUMENT and message in str(refused.value)
