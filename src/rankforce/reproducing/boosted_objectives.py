"""LambdaMART with the objectives of the multiple-objectives paper, trained as it trains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankforce.lambdas.ranknet_weight_pairs import RankNetWeightPairs
from rankforce.lambdas.sigmoid import SigmoidCost
from rankforce.measures.catalogue import measure
from rankforce.objectives.graded import Graded
from rankforce.objectives.objective import Term
from rankforce.objectives.scheduled import Scheduled
from rankforce.rankers.lambdamart import LambdaMART
from rankforce.reproducing.experiment import Size
from rankforce.schedules import Exponential, Linear, Schedule, Values

NEWTON, GRADIENT = "Newton", "gradient descent"
PUBLISHED_TREES = 1000  # that the rates of schedules are for
STARTS = (0.1, 0.25, 0.5)
LINEAR_RATES = (0.1, 0.01, 0.001)
EXPONENTIAL_RATES = (100.0, 250.0)
SHARES_OF_CLICKS = (0.01, 0.1, 0.2, 0.3, 0.4, 0.5)


def lambdamart(size: Size, objective: Any = "NDCG", *, step: str = NEWTON, **more: Any) -> LambdaMART:
    """As published: least-squares splits; Newton's step, or the gradient step with λ's scaled by query."""
    settings: dict[str, Any] = {
        "n_trees": size.trees, "n_leaves": size.leaves, "learning_rate": size.rate, "min_documents": size.least,
        "preset": "2010" if step == NEWTON else "2011", "progress": False, **more,
    }  # fmt: skip
    return LambdaMART(objective=objective, **settings)


def graded(source: str, share: float) -> Graded:
    """NDCG, then CNDCG of a click label."""
    return Graded(["NDCG", f"CNDCG:{source}"], [1.0 - share, share])


def changing(schedule: Schedule, *, top: bool = False, mu: float = 0.0) -> Scheduled:
    """From LambdaRank's λ to that of the sigmoid cost, for NDCG or (``top``) NDCG@3."""
    second = Term(measure("NDCG@3" if top else "NDCG"), SigmoidCost(mu=mu))
    return Scheduled(Term(measure("NDCG"), RankNetWeightPairs()), second, schedule)


def schedules(kind: str, trees: int, starts: Sequence[float] = STARTS) -> list[Schedule]:
    """The paper's sweep, which is for 1,000 trees: after a share of fewer trees a schedule is where the paper's is
    after the same share of its own."""
    pace = PUBLISHED_TREES / trees
    if kind == "linear":
        return [Linear(start, rate * pace) for start in starts for rate in LINEAR_RATES]
    published = [Exponential(start, rate) for start in starts for rate in EXPONENTIAL_RATES]
    return [Values(tuple(one(round(tree * pace)) for tree in range(trees))) for one in published]


def size_of_boosting(size: Size) -> dict[str, str]:
    train, valid, test = size.queries
    return {
        "queries (train / validation / test)": f"{train:,} / {valid:,} / {test:,}",
        "documents per query": str(size.documents), "features": "23",
        "trees": f"{size.trees}, {size.leaves} leaves, at least {size.least} documents each",
        "learning rate": " or ".join(f"{rate:g}" for rate in np.atleast_1d(size.rate)),
    }  # fmt: skip


PAPER_SIZE = {
    "queries (train / validation / test)": "108,000 / 13,500 / 13,500", "documents per query": "150 to 200",
    "features": "860", "trees": "1000, 30 leaves, at least 6,000 to 10,000 documents each",
    "learning rate": "0.2 or 0.5",
}  # fmt: skip
DATA = (
    "artificial: 16 features of relevance, 6 of taste; clicks know of taste, and of relevance within a grade "
    "(reproducing/click_data.py says how)"
)
TINY: dict[str, Any] = {"queries": (25, 20, 30), "documents": 20, "trees": 4, "leaves": 5, "least": 5, "rate": 0.3}
FULL: dict[str, Any] = {
    "queries": (5000, 2000, 10_000), "documents": 100, "trees": 1000, "leaves": 30, "least": 500, "rate": 0.2,
}  # fmt: skip
