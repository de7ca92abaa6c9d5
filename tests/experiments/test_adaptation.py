"""Adaptation, small: with little data a base model is worth more than training from scratch."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments"))
from adaptation import MEASURE, adaptation


@pytest.mark.compiled_only
def test_little_data_on_top_of_a_base_model_beats_training_from_scratch():
    little, much = adaptation(
        shares=(0.05, 1.0), base_queries=400, queries=200, test_queries=200, documents=20, trees=60
    )
    assert little.adapted > little.scratch + 0.05
    assert little.to_scratch.t_test[MEASURE].p_value < 0.001
    assert much.adapted > much.base + 0.01
    assert much.to_base.t_test[MEASURE].p_value < 0.01
    assert much.scratch > little.scratch + 0.05  # what data alone brings
