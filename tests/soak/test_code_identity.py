"""Random edits of a user's code: those that matter are noticed, the others are not."""

from __future__ import annotations

import os

import pytest
from tests.user_code.code_pairs import check_pairs


@pytest.mark.soak
def test_identities_follow_what_matters():
    rounds = max(1, round(10 * float(os.environ.get("RANKFORCE_SOAK", "1"))))
    print(f"{sum(check_pairs(300, seed) for seed in range(rounds)):,} pairs")
