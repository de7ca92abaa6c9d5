"""Values that a reader can check: labels in ranked order, and the arithmetic."""

from __future__ import annotations

from math import log2, sqrt

import numpy as np
import pytest

import rankforce as rf

nan = np.nan

KNOWN = [
    ("NDCG", [1, 0, 2], (1 + 3 / log2(4)) / (3 + 1 / log2(3))),
    ("NDCG@2", [1, 0, 2], 1 / (3 + 1 / log2(3))),
    ("NDCG@5", [0, 0, 1], 1 / log2(4)),
    ("NDCG(gain=linear)", [1, 0, 2], (1 + 2 / log2(4)) / (2 + 1 / log2(3))),
    ("NDCG(gain=0/3/7)", [1, 0, 2], (3 + 7 / log2(4)) / (7 + 3 / log2(3))),
    ("NDCG(discount=letor)", [1, 0, 2], (1 + 3 / log2(3)) / (3 + 1)),
    ("NDCG(discount=reciprocal)", [1, 0, 2], (1 + 3 / 3) / (3 + 1 / 2)),
    ("NDCG", [1, nan, 2], (1 + 3 / log2(4)) / (3 + 1 / log2(3))),
    ("NDCG(judged_only=true)", [1, nan, 2], (1 + 3 / log2(3)) / (3 + 1 / log2(3))),
    ("NDCG", [-1, 1], 1 / log2(3)),
    ("DCG", [1, 0, 2], 1 + 3 / log2(4)),
    ("DCG@1", [1, 0, 2], 1),
    ("MAP", [1, 0, 1, 0, 1], (1 / 1 + 2 / 3 + 3 / 5) / 3),
    ("MAP@3", [1, 0, 1, 0, 1], (1 / 1 + 2 / 3) / 3),
    ("MAP@2(divisor=cutoff)", [1, 0, 1, 0, 1], (1 / 1) / 2),
    ("MAP(relevant=2)", [1, 3, 2], (1 / 2 + 2 / 3) / 2),
    ("MRR", [0, 0, 1, 1], 1 / 3),
    ("MRR@2", [0, 0, 1, 1], 0),
    ("MRR", [nan, 1], 1 / 2),
    ("MRR(relevant=3)", [1, 2, 0, 3], 1 / 4),
    ("ERR", [4, 0], 15 / 16),
    ("ERR", [2, 4], 3 / 16 + (1 - 3 / 16) * (15 / 16) / 2),
    ("ERR@1", [2, 4], 3 / 16),
    ("ERR(max_grade=1)", [0, 1, 1], (1 / 2) / 2 + (1 / 2) * (1 / 2) / 3),
    ("WTA", [1, 0], 1),
    ("WTA", [0, 1], 0),
    ("Precision", [1, 0, 1], 2 / 10),
    ("Precision@2", [1, 0, 1], 1 / 2),
    ("Precision(divisor=list)", [1, 0, 1], 2 / 3),
    ("Precision@2(divisor=list)", [1, 0, 1], 1 / 2),
    ("Recall@2", [1, 0, 1, 1], 1 / 3),
    ("Recall", [1, 0, 1, 1], 1),
    ("RPrecision", [1, 0, 1, 1], 2 / 3),
    ("Success@2", [0, 0, 1], 0),
    ("Success@3", [0, 0, 1], 1),
    ("RBP", [1, 0, 1], 0.2 * (1 + 0.8**2)),
    ("RBP@1(persistence=0.5)", [1, 0, 1], 0.5),
    ("Judged@2", [nan, 0, 1], 1 / 2),
    ("Judged@5", [nan, 0, 1], 2 / 3),
    ("Judged", [nan, nan], 0),
    ("PairwiseAccuracy", [2, 0, 1], 2 / 3),
    ("PairwiseAccuracy", [1, nan, 0, 0, 1], 2 / 4),
    ("KendallTau", [2, 0, 1], (2 - 1) / 3),
    ("KendallTau", [0, 1], -1),
    ("KendallTau(variant=b)", [2, 0, 0], 2 / sqrt(2 * 3)),
    ("BPref", [1, 0, 1, 0], (1 + (1 - 1 / 2)) / 2),
    ("BPref", [0, 0, 0, 1], 0),
    ("BPref", [0, nan, 1, 0, 1], ((1 - 1 / 2) + (1 - 2 / 2)) / 2),
    ("BPref", [1, 1], 1),
]


def value_of(written, labels):
    """A ranking in the order of the rows: the value of one query."""
    from rankforce.measures.judged import JudgedMeasure

    data = rf.Dataset(np.zeros((len(labels), 1)), np.array(labels, dtype=float), group=[len(labels)])
    judged = JudgedMeasure(data, rf.measure(written))
    return judged.values(np.arange(len(judged.worth), dtype=np.int32))[0]


@pytest.mark.parametrize(("written", "labels", "value"), KNOWN)
def test_value(written, labels, value):
    assert value_of(written, labels) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize(
    ("written", "labels"),
    [
        ("NDCG", [0, 0]),
        ("NDCG@1", [nan, 0]),
        ("MAP(relevant=2)", [1, 1]),
        ("Precision", [0]),
        ("ERR", [0, -1]),
        ("PairwiseAccuracy", [3, 3, nan]),
        ("KendallTau", [1]),
        ("BPref", [nan, nan]),
        ("WTA(judged_only=true)", [nan]),
    ],
)
def test_a_query_that_cannot_score_is_blank(written, labels):
    assert np.isnan(value_of(written, labels))


def test_hits_over_ten_are_exact():
    assert value_of("Precision@10", [1, 1, 1, 0]) == 0.3
