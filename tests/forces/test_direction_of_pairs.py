"""Of two documents the one that the measure holds worth more is pulled up, whatever their labels are."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf
from rankforce.measures.catalogue import measure as named_measure
from rankforce.measures.judged import judged


class Cheapest(rf.Measure):
    """The label is a price: what the first three documents save."""

    def worth(self, labels):
        return 2.0 - np.nan_to_num(labels, nan=2.0)

    def normaliser(self, ideal):
        return 1.0

    def value(self, ranked, normaliser):
        total = 0.0
        for r in range(min(3, ranked.shape[0])):
            total += ranked[r]
        return total


def priced(seed=5):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(600, 3)).astype(np.float32)
    labels = np.digitize(features[:, 0] + 0.3 * rng.normal(size=600), [-0.5, 0.5]).astype(float)
    return rf.Dataset(features, labels, qid=np.repeat(np.arange(60), 10))


def test_the_document_with_the_higher_gain_is_pulled_up():
    data = rf.Dataset(np.zeros((2, 1)), [1, 2], qid=[0, 0])
    found = rf.forces_at(data, np.array([1.0, 0.0]), "NDCG(gain=0/5/3)", lambda_function="LambdaRank")
    assert found.forces[0] > 0.0
    assert found.forces[0] == -found.forces[1]


@pytest.mark.parametrize("measure", ["NDCG(gain=0/5/3)", "NDCG(gain=3/0/5)", "DCG@4(gain=5/3/0)"])
def test_forces_are_those_of_labels_in_the_order_of_their_gains(measure):
    """Renaming the labels so that gains rise with them changes nothing."""
    rng = np.random.default_rng(0)
    labels, queries, scores = rng.integers(0, 3, 60), np.repeat(np.arange(6), 10), rng.normal(size=60)
    gains = [float(gain) for gain in measure[measure.index("=") + 1 : measure.index(")")].split("/")]
    order = np.argsort(gains)
    renamed = np.argsort(order)[labels]
    rising = measure.replace("/".join(f"{gain:g}" for gain in gains), "/".join(f"{gains[k]:g}" for k in order))
    found, expected = (
        rf.forces_at(rf.Dataset(np.zeros((60, 1)), one, qid=queries), scores, of, lambda_function="LambdaRank").forces
        for one, of in ((labels, measure), (renamed, rising))
    )
    assert np.abs(expected).max() > 0.0
    np.testing.assert_array_equal(found, expected)


def test_trees_and_nets_learn_a_measure_whose_worth_falls_with_the_label():
    data = priced()
    ideal = rf.evaluate(-np.asarray(data.labels["grades"]), data, Cheapest()).mean["Cheapest"]
    with pytest.warns(rf.RankforceWarning, match="gives its value only"):
        trees = rf.LambdaMART(Cheapest(), n_trees=20, progress=False).fit(data)
    net = rf.LambdaRank(Cheapest(), epochs=20, progress=False).fit(data)
    for ranker in (trees, net):
        assert rf.evaluate(ranker, data, Cheapest()).mean["Cheapest"] > 0.9 * ideal


def test_labels_stand_for_themselves_where_worth_rises_with_them():
    data = priced()
    for measure in ("NDCG", "MAP", "ERR", "PairwiseAccuracy"):
        applied = judged(data, named_measure(measure))
        assert applied.standing() is applied.labels


def test_standing_orders_by_worth_and_then_by_label():
    data = rf.Dataset(np.zeros((6, 1)), [0, 1, 2, 3, np.nan, 1], qid=np.zeros(6))
    standing = judged(data, named_measure("NDCG(gain=1/5/1/0)")).standing()
    assert np.isnan(standing[4])
    assert standing[3] < standing[0] < standing[2] < standing[1] == standing[5]
