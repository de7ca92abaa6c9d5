"""Weights varied one at a time: what a row tells is what moving that weight by hand does."""

from __future__ import annotations

import numpy as np
import pytest

from rankforce.data.artificial.artificial import make_artificial
from rankforce.evaluation.evaluate import evaluate
from rankforce.rankers.lambdarank import LambdaRank
from rankforce.reproducing.experiments.single_weights import NEAR, SINGLE, SingleWeights, varied


def test_a_line_of_the_figure_is_the_measure_at_moved_weights():
    data = make_artificial(20, 8, 4, seed=0)
    ranker = LambdaRank("NDCG", hidden=0, epochs=2, seed=0, progress=False).fit(data)
    size = SingleWeights.sizes["tiny"]
    single, together = varied(ranker.model_, data, "NDCG", NEAR, size, 0, measure_name="NDCG", layers="linear")
    assert (single["arm"], single["lines"]) == (SINGLE, 4)
    assert single["value"] == np.mean(np.max(single["drawn"], axis=1) > single["at"] + 1e-6)
    assert together["lines"] == 4
    weights = ranker.model_.weights
    norm = np.linalg.norm(weights[:4])
    for place, heights in enumerate(single["drawn"]):
        for step, height in zip(single["steps"], heights, strict=True):
            moved = weights.copy()
            moved[place] += step * norm
            found = evaluate(ranker.model_.with_weights(moved), data, "NDCG").mean["NDCG"]
            assert height == pytest.approx(found, abs=2e-6)
