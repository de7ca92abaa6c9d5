"""Members at random, and members that die at every moment."""

from __future__ import annotations

import pytest
from tests.test_random_members import check
from tests.training.test_members import TRAININGS, alone, lost_and_found, train

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("first", range(1000, 2000, 50))
def test_many_trainings_at_random(first):
    assert sum(map(check, range(first, first + 50))) > 20


@pytest.mark.parametrize("name", TRAININGS)
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_a_member_dies_at_any_call(name, rank, tmp_path):
    expected = alone(name, tmp_path)
    _, calls = train(name, 3, tmp_path)
    for call in range(rank, calls, 3):  # every call, by one of the members
        _, files = lost_and_found(name, 3, (rank, call), tmp_path)
        assert set(files) == {expected}, call
