"""Adaptation, small: with little data a base model is worth more than training from scratch."""

from __future__ import annotations

import pytest

from rankforce.reproducing.experiment import Size
from rankforce.reproducing.experiments.adaptation import ADAPTED, BASE, MEASURE, SCRATCH, Adaptation
from rankforce.reproducing.rows import Rows
from rankforce.reproducing.rules import pooled


@pytest.mark.compiled_only
def test_little_data_on_top_of_a_base_model_beats_training_from_scratch():
    size = Size(
        seeds=1, minutes=0, shares=(0.05, 1.0), base=400, queries=200, test=200, documents=20, features=30, trees=60
    )
    rows = Rows({"seed": 0, **row} for row in Adaptation().run("all", 0, size))
    little, much = (rows.where(share=share) for share in size.shares)

    def mean(part, arm):
        return part.mean(kind="mean", arm=arm, measure=MEASURE)

    assert mean(little, ADAPTED) > mean(little, SCRATCH) + 0.05
    assert pooled(little.where(kind="difference", against=SCRATCH)).p_value < 0.001
    assert mean(much, ADAPTED) > mean(much, BASE) + 0.01
    assert pooled(much.where(kind="difference", against=BASE)).p_value < 0.01
    assert mean(much, SCRATCH) > mean(little, SCRATCH) + 0.05  # what data alone brings
