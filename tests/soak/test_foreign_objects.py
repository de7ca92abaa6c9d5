"""Objects of other libraries and odd ones as rankings, many of them."""

from __future__ import annotations

import os

import pytest
from tests.evaluation.foreign_objects import feed_foreign_objects


@pytest.mark.soak
@pytest.mark.compiled_only
@pytest.mark.filterwarnings("ignore::rankforce.errors.RankforceWarning")
def test_foreign_objects_are_measured_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    cases = int(2000 * float(os.environ.get("RANKFORCE_SOAK", "1")))
    refused = feed_foreign_objects(cases, seed=1)
    with capsys.disabled():
        print(f"\n{cases:,} cases of foreign objects, {refused:,} refusals")
    assert refused > cases
