from __future__ import annotations

import numpy as np
import pytest

from rankforce.models.number_lists import numbers, whole_numbers


def test_floats_are_rounded_as_python_rounds_them() -> None:
    rng = np.random.default_rng(1)
    sizes = 10.0 ** rng.uniform(-30, 30, 4000)
    values = np.concatenate(
        [
            rng.standard_normal(4000),
            rng.standard_normal(4000) * sizes,
            rng.standard_normal(4000).astype(np.float32).astype(np.float64),
            rng.integers(-(10**6), 10**6, 2000) / 4,
            [0.0, -0.0, 1e16, 123456789012345680.0, 5e-324, 1.7976931348623157e308, 9007199254740993.0, 0.1, -1e22],
        ]
    )
    texts = [repr(value) for value in values.tolist()]
    read = numbers(", ".join(texts).encode())
    assert read is not None
    assert read.tobytes() == values.tobytes()  # the sign of zero, too


def test_decimals_of_up_to_eighteen_digits_are_rounded_as_python_rounds_them() -> None:
    rng = np.random.default_rng(2)
    texts = []
    for _ in range(20_000):
        digits = "".join(map(str, rng.integers(0, 10, rng.integers(2, 19)).tolist()))
        place = int(rng.integers(1, len(digits)))
        texts.append(digits[:place].lstrip("0") + "." + digits[place:])
    texts = [("0" if text.startswith(".") else "") + text for text in texts]
    # half way between two float64 numbers, and next to it
    texts += [
        "9007199254740992.5",
        "9007199254740993.0",
        "4503599627370497.50",
        "4503599627370497.49",
        "0.5000000000000000",
    ]
    read = numbers(", ".join(texts).encode())
    assert read is not None
    assert read.tolist() == [float(text) for text in texts]


def test_whole_numbers() -> None:
    rng = np.random.default_rng(3)
    values = np.concatenate([rng.integers(-50, 50, 1000), rng.integers(-(10**17), 10**17, 1000), [0, -1]])
    read = whole_numbers(", ".join(map(str, values.tolist())).encode())
    assert read is not None
    np.testing.assert_array_equal(read, values)
    assert whole_numbers(b"") is not None
    assert numbers(b"") is not None


@pytest.mark.parametrize(
    "text",
    [
        "1,2",
        "1, , 2",
        "1,  2",
        "1, 2,",
        "1, 2, ",
        ", 1",
        " 1",
        "1 2",
        "-",
        "1-2",
        "--1",
        "1, -",
        "x",
        "1, true",
        "NaN",
        "99999999999999999999",
        "+1",
        "1.0",
        "01",
        "1, -02",
        "00",
    ],
)
def test_what_is_no_list_of_whole_numbers_is_left_to_json(text: str) -> None:
    assert whole_numbers(text.encode()) is None


@pytest.mark.parametrize(
    "text",
    [
        "1.0,2.0",
        "1.0, , 2.0",
        "1.0, 2.0,",
        "1..0",
        "1.0.0",
        ".5",
        "5.",
        "-.5",
        "1.0, 5.",
        "e",
        "1e",
        "1e5e",
        "1.0, nan",
        "inf",
        "-",
        "1.0-2.0",
        "+1.0",
        "1",
        "1.0, 2",
        "1.5 1.5",
        "0x1.0",
        "1_0.0",
        "1.0, -",
        "01.5",
        "1.0, -00.5",
        "2.0, 01e-05",
        "0.e5",
        "5.e-05, 1.5",
        ".5e5, 1.5",
        "-.5e5",
    ],
)
def test_what_is_no_list_of_floats_is_left_to_json(text: str) -> None:
    assert numbers(text.encode()) is None
