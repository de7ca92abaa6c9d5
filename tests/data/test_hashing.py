"""Hashes: text and numbers alike, and the scalar path equal to the array path."""

from __future__ import annotations

import numpy as np
import pytest

from rankforce import SettingsError
from rankforce.data.hashing import checked_seed, combine, hash_ids, mix


def test_a_number_and_its_text_have_the_same_hash():
    numbers = np.array([0, 7, -7, 2**63 - 1, -(2**63)])
    assert hash_ids(numbers).tolist() == hash_ids(numbers.astype(str)).tolist() == mix(numbers).tolist()


@pytest.mark.parametrize("text", ["", "-", "--5", "+5", "05", "-0", "1_000", "٣", "²", "9" * 30, "9" * 5000, "\udc80"])
def test_other_text_is_hashed_as_text(text):
    words = hash_ids(np.array([text, "x"], dtype=object))
    assert words[0] != words[1]
    assert hash_ids(np.array([text], dtype=object))[0] == words[0]


def test_order_matters_and_arrays_broadcast():
    assert combine(1, 2) != combine(2, 1)
    assert combine(1, np.array([2, 3])).tolist() == [int(combine(1, 2)), int(combine(1, 3))]


@pytest.mark.parametrize("seed", [-1, 2**64, 0.5, True, "1", None])
def test_impossible_seeds(seed):
    with pytest.raises(SettingsError, match="seed"):
        checked_seed(seed)


def test_seeds():
    assert checked_seed(np.int32(5)) == 5
    assert checked_seed(2**64 - 1) == 2**64 - 1
