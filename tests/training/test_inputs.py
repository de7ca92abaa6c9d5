"""What ``fit`` refuses of any data, whatever the ranker."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf

pytestmark = pytest.mark.compiled_only

RANKERS = (rf.LambdaMART, rf.MART, rf.LambdaRank, rf.RankNet, rf.SPSA, rf.XRank, rf.PRank)


def data(**weights):
    rng = np.random.default_rng(0)
    return rf.Dataset(rng.normal(size=(20, 2)), rng.integers(0, 3, 20), group=[10, 10], **weights)


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: ranker.__name__)
def test_weights_that_are_all_0_are_named(ranker):
    with pytest.raises(rf.DataError, match="nothing to learn from: every query has the weight 0"):
        ranker(progress=False).fit(data(query_weights=np.zeros(2)))
    with pytest.raises(rf.DataError, match="nothing to learn from: every document has the weight 0"):
        ranker(progress=False).fit(data(weights=np.zeros(20)))


def test_validation_queries_that_are_all_of_weight_0_are_named():
    with pytest.raises(rf.DataError, match="NDCG cannot be watched: every query that can score has the query weight 0"):
        rf.LambdaMART(progress=False).fit(data(), validation=data(query_weights=np.zeros(2)))
