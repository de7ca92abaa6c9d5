"""Combining by learning: a LambdaRank net whose features are the rankers' scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankforce import dtypes
from rankforce.console.interruption import interrupting_at_once
from rankforce.data.dataset import Dataset
from rankforce.errors import DataError
from rankforce.measures.measure import Measure
from rankforce.models.net import Net
from rankforce.rankers.lambdarank import LambdaRank
from rankforce.threads import thread_count


def learned_net(
    scores: Sequence[np.ndarray], data: Dataset, measure: Measure, hidden: int, seed: int, queries: np.ndarray | None
) -> Net:
    """A net on scores (``by_query`` order), learned on ``queries`` (a mask) or on all of them."""
    with np.errstate(over="ignore"):
        matrix = np.column_stack([data.by_row(one) for one in scores]).astype(dtypes.FEATURE)
    if not np.isfinite(matrix).all():
        raise DataError("a net reads scores as float32, and one of them is beyond it: divide the scores of that ranker")
    stacked = data.replace(
        features=matrix, feature_names=[str(number) for number in range(1, len(scores) + 1)], categories={}
    )
    if queries is not None:
        stacked = stacked.take_queries(queries)
    ranker = LambdaRank(measure, hidden=hidden, scaling="standard", seed=seed, threads=thread_count(), progress=False)
    with interrupting_at_once():
        return ranker.fit(stacked).model_


def linear_weights(net: Net) -> np.ndarray:
    """What a net of one layer makes of scores: v·(s − centre)/scale, without the constant, |weights| adding up to 1."""
    weights = net.layout.output_weights(net.weights) / net.scaling.scale
    return np.asarray(weights / np.abs(weights).sum())
