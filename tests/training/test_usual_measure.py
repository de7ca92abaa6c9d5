"""Rankers that learn from labels, and not for a measure, watch one that has a value for these labels."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf

RANKERS = {
    "MART": {"n_trees": 3, "min_documents": 2},
    "RankNet": {"epochs": 20, "learning_rate": 0.1},
    "PRank": {"epochs": 3},
    "Bagging": {"ranker": rf.MART(n_trees=2, min_documents=2), "n_models": 2},
}


def graded(highest, lowest):
    """Three grades, which the first feature tells."""
    features = np.random.default_rng(0).normal(size=(60, 2))
    grades = np.array([lowest, (lowest + highest) / 2, highest])
    return rf.Dataset(features, grades[np.digitize(features[:, 0], [-0.5, 0.5])], group=[20, 20, 20])


@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.parametrize(
    ("highest", "lowest", "watched"),
    [
        (4.0, 0.0, "NDCG"),
        (900.0, 0.0, "NDCG"),
        (1021.0, 0.0, "NDCG(gain=linear)"),
        (4000.0, 0.0, "NDCG(gain=linear)"),
        (4.0, -1.0, "NDCG(gain=linear)"),
        (0.0, -4.0, "PairwiseAccuracy"),
    ],
)
def test_what_is_watched_fits_the_labels(name, highest, lowest, watched, capsys):
    data = graded(highest, lowest)
    ranker = getattr(rf, name)(**RANKERS[name]).fit(data, validation=data)
    assert ranker.settled_["watched"] == str(ranker.watched_measure_) == watched
    assert np.isfinite(ranker.history_["validation"]).all()
    assert ranker.score(data) > 0.5
    assert (f"watching {watched}" in capsys.readouterr().err) == (watched != "NDCG")


@pytest.mark.parametrize("name", ["MART", "RankNet", "PRank"])
def test_a_measure_that_was_asked_for_is_watched_or_refused(name):
    with pytest.raises(rf.MeasureError, match="use a linear gain"):
        getattr(rf, name)(**RANKERS[name], validation_measure="NDCG", progress=False).fit(graded(4000.0, 0.0))
