"""Numbers of a text are rounded as Python rounds them, or left to Python."""

from __future__ import annotations

import numpy as np
import pytest

from rankforce.compiling.jit import kernel
from rankforce.kernels.decimals import DECIMAL, HARD, NONE, WHOLE, read_number


@kernel
def _read_all(text, starts, kinds, ends, digits, values):
    for k in range(starts.shape[0]):
        end, kind, whole, value = read_number(text, np.uint64(starts[k]))
        ends[k] = end
        kinds[k] = kind
        digits[k] = whole
        values[k] = value


def read(texts):
    """(kinds, ends behind the start of each, digits, values)"""
    joined = " ".join(texts) + " "
    starts = np.concatenate([[0], np.cumsum([len(text) + 1 for text in texts])[:-1]])
    kinds, ends, digits = (np.empty(len(texts), dtype=np.int64) for _ in range(3))
    values = np.empty(len(texts))
    _read_all(np.frombuffer(bytearray(joined.encode()), dtype=np.uint8), starts, kinds, ends, digits, values)
    return kinds, ends - starts, digits, values


def check(texts, most_hard):
    kinds, ends, _, values = read(texts)
    assert (ends == [len(text) for text in texts]).all()
    hard = kinds == HARD
    assert hard.mean() <= most_hard
    assert (kinds[~hard] == DECIMAL).all()
    expected = np.array([float(text) for text in texts])
    assert values[~hard].tobytes() == expected[~hard].tobytes()  # the sign of zero, too


def many(count, compiled_count):
    """Fewer where kernels are not compiled."""
    from rankforce.compiling import jit

    return count if jit.PLAIN else compiled_count


def test_shortest_forms_of_floats():
    """What model files hold: a float64 in the fewest digits that read back exactly."""
    rng = np.random.default_rng(1)
    count = many(300, 20_000)
    floats = rng.standard_normal(count) * 10.0 ** rng.uniform(-280, 280, count)
    near_one = rng.standard_normal(count)
    any_bits = rng.integers(0, 2**64, count, dtype=np.uint64).view(np.float64)
    any_bits = any_bits[np.isfinite(any_bits) & (np.abs(any_bits) > 1e-280) & (np.abs(any_bits) < 1e280)]
    singles = rng.standard_normal(count).astype(np.float32).astype(np.float64)
    for values in (floats, near_one, any_bits, singles):
        check([repr(value) for value in values.tolist()], most_hard=0.001)


def test_any_digits_and_any_power():
    rng = np.random.default_rng(2)
    texts = []
    for size, power in zip(rng.integers(1, 20, many(300, 30_000)), rng.integers(-270, 270, 30_000), strict=False):
        digits = "".join(map(str, rng.integers(0, 10, size).tolist()))
        texts.append(f"{int(digits[0])}.{digits[1:] or '0'}e{power}")
    check(texts, most_hard=0.001)


def test_ties_and_their_neighbours():
    """Half way between two float64 numbers, and one digit to either side."""
    rng = np.random.default_rng(3)
    texts = []
    for mantissa, shift in zip(
        rng.integers(2**52, 2**53, many(100, 3000)).tolist(), rng.integers(1, 10, 3000).tolist(), strict=False
    ):
        half = (2 * mantissa + 1) << (shift - 1)  # an odd number of 54 bits and zeros
        texts += [f"{half}.0", f"{half - 1}.0", f"{half + 1}.0", f"{half}.1", f"{half // 10}.{half % 10}"]
    check([text for text in texts if len(text) < 20], most_hard=0.5)
    check(["9007199254740993.0", "9007199254740992.5", "4503599627370497.50", "4503599627370497.49", "8.5e22"], 0.9)


def test_the_ends_of_the_range_are_right_or_left_to_python():
    texts = ["5e-324", "2.2250738585072014e-308", "2.225073858507201e-308", "1.7976931348623157e308", "1e-999", "1e999",
             "1.7976931348623159e308", "0.0", "-0.0", "0e5", "-0.0e-999", "1e23", "1E+5", "12345678901234567890.5",
             "0.00000000000000000000000123456789012345678", "0." + "0" * 40,
             "123456789012345678901234567890e-5"]  # fmt: skip
    check(texts, most_hard=0.8)
    kinds, _, _, _ = read(["0.00000000000000000000000123456789012345678", "0." + "0" * 40])
    assert (kinds == DECIMAL).all()  # zeros are no digits to speak of


def test_whole_numbers():
    texts = ["0", "-0", "7", "-12", "123456789012345678", "-999999999999999999"]
    kinds, ends, digits, _ = read(texts)
    assert (kinds == WHOLE).all()
    assert digits.tolist() == [int(text) for text in texts]
    assert ends.tolist() == [len(text) for text in texts]
    kinds, _, _, _ = read(["1234567890123456789", "99999999999999999999999"])
    assert (kinds == HARD).all()


@pytest.mark.parametrize(
    "text", ["", "-", ".5", "5.", "-.5", "01", "-01.5", "00.1", "1e", "1e+", "1.e5", "+1", "x", "--1", "Infinity"]
)
def test_what_json_does_not_call_a_number(text):
    assert read([text])[0].tolist() == [NONE]
