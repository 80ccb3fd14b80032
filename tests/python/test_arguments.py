"""Arguments of kernels: which Python values become which words, and which are refused."""

import numpy as np
import pytest

import ttfd
from conftest import KERNELS

HALF = np.float32(1.5).view(np.uint32).item()


@pytest.fixture(name="echo")
def _echo(session):
    """What the kernel sees of a common argument and two per-core ones."""
    tiles = [ttfd.CoreRange(0, 0, 0, 0)]
    kernel = session.load_kernel(KERNELS / "echo_brisc.elf")
    program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, tiles)])
    report = session.allocate_l1(1024, 1024, tiles)

    def run(common, per_core):
        session.launch(program, [ttfd.Arguments(common=[report, common], per_core=per_core)])
        return report.read(np.uint32, 7)[4:].tolist()

    return run


@pytest.mark.parametrize("common, per_core, words", [
    (-1, [[1, 2]], [2**32 - 1, 1, 2]),
    (2**32 - 1, np.array([[-(2**31), -1]]), [2**32 - 1, 2**31, 2**32 - 1]),
    (np.float32(1.5), [[7, np.float32(1.5)]], [HALF, 7, HALF]),
    (np.uint8(200), np.array([[1.5, 1.5]], dtype=np.float32), [200, HALF, HALF]),
    (True, np.array([[True, False]]), [1, 1, 0]),
    (np.array(5), ([3, np.bool_(True)],), [5, 3, 1])])
def test_words_reach_the_kernel_bit_by_bit(echo, common, per_core, words):
    assert echo(common, per_core) == words


@pytest.mark.parametrize("value, sentence", [
    (1.5, r"the argument 1\.5 is a float(64)?, not a 32-bit word; pass np\.float32\(1\.5\)"),
    (np.float64(2), r"is a float64, not a 32-bit word"),
    (np.float16(1), r"is a float16, not a 32-bit word"),
    (2**32, r"4294967296 does not fit a 32-bit word: from -2147483648 to 4294967295"),
    (-(2**31) - 1, r"-2147483649 does not fit"),
    ("7", r"of type str_? is not a 32-bit word"),
    (None, r"of type NoneType is not a 32-bit word")])
def test_what_is_no_word_is_refused(echo, value, sentence):
    for common, per_core in ((value, [[0, 0]]), (0, [[0, value]]), (0, np.array([[value, value]]))):
        with pytest.raises(ttfd.Error, match=sentence) as caught:
            echo(common, per_core)
        assert caught.value.code == ttfd.Code.INVALID_ARGUMENT and caught.value.reason == "INVALID"
        assert caught.value.field == ("arguments.common[1]" if common is value else "arguments.per_core")
        assert not caught.value.retryable


def test_fill_takes_the_same_words(session):
    buffer = session.allocate_dram(64)
    session.queue.fill(buffer, np.float32(1.5))
    assert (buffer.read(np.float32) == 1.5).all()
    session.queue.fill(buffer, -1)
    assert (buffer.read(np.uint32) == 2**32 - 1).all()
    with pytest.raises(ttfd.Error, match="is a float, not a 32-bit word"):
        session.queue.fill(buffer, 1.0)
