"""Damaged files of other libraries: an error of ours, or a model that scores."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from tests.importing.foreign_files import FILES
from tests.importing.mutations import check, damaged

FACTOR = float(os.environ.get("RANKFORCE_SOAK", "1"))


@pytest.mark.soak
@pytest.mark.parametrize("form", FILES)
def test_damaged_files_are_refused_or_score(form: str, tmp_path: Path) -> None:
    random_source = random.Random(form)
    outcomes = []
    for _ in range(int(5000 * FACTOR)):
        data = FILES[form]
        for _ in range(random_source.choice([1, 1, 1, 2, 5])):
            data = damaged(data, random_source) or data
        outcomes.append(check(data, tmp_path / "model"))
    assert 0 < sum(outcomes) < len(outcomes)
