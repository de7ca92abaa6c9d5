"""A sweep over the queries of several members finds the pieces of one, in the same windows."""

from __future__ import annotations

import numpy as np
import pytest
from tests.crowd import Crowd

import rankforce as rf
from rankforce.measures.catalogue import measure
from rankforce.measures.judged import judged
from rankforce.measures.mean import QueriesInMean
from rankforce.sweeping.sweep import Scaled, sweep

DATA = rf.make_artificial(queries=12, documents=(2, 50), features=3, seed=5)
RANDOM = np.random.default_rng(7)
SCORES = RANDOM.normal(size=(2, DATA.n_documents))
SCORES[0, DATA.row_queries == 4] *= 1e6  # the largest of all, at one member
SCORES[1, DATA.row_queries == 4] = 0.0
SHARES = ([4], [0, 1, 2, 3], [5, 6, 7, 8, 9, 10, 11], [])


def swept(data, scores, name, most_changes):
    known = judged(data, measure(name))
    p, q = (Scaled.of(known.of_kept(data.by_query(one)), "scores") for one in scores)
    pieces = sweep(p, q, known, QueriesInMean(data, known).shares, 0.25, most_changes=most_changes)
    course = [part.tolist() for part in (pieces.starts, pieces.ends, pieces.lows, pieces.highs)]
    return p.exponent, q.exponent, pieces.best, pieces.narrow, course


@pytest.mark.parametrize("name", ["NDCG", "MAP", "DCG@5"])
@pytest.mark.parametrize("most_changes", [1_000_000, 200])  # all at once, and in windows
def test_pieces_of_several_are_those_of_one(name, most_changes):
    alone = swept(DATA, SCORES, name, most_changes)
    assert len(alone[4][0]) > 100

    def work(rank):
        rows = np.flatnonzero(np.isin(DATA.row_queries, SHARES[rank]))
        return swept(DATA.take_queries(SHARES[rank]), SCORES[:, rows], name, most_changes)

    assert Crowd(4).run(work) == [alone] * 4
