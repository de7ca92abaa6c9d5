"""A warning before a training that will be slow: one query has too many pairs."""

from __future__ import annotations

from rankforce.data.dataset import Dataset
from rankforce.data.pair_counts import many_pairs
from rankforce.errors import warn
from rankforce.remedies import Setting
from rankforce.training.monitoring import TrainingWarning

NANOSECONDS = 1.0  # for a pair, with a measure whose swaps are fast


def warn_of_many_pairs(data: Dataset, label: str) -> None:
    """Warn if a query has more than ``MANY_PAIRS`` pairs of different labels, all of which are to exert forces."""
    longest = many_pairs(data, label)
    if longest is None:
        return
    seconds = longest.pairs * NANOSECONDS * 1e-9
    warn(
        TrainingWarning(
            f"query {longest.query!r} has {longest.documents:,} documents and {longest.pairs:,} pairs of different "
            f"labels ({label}): each round takes at least {seconds:.1f} s for them, on one thread. ",
            Setting("pairs", "top 30"),
            " takes those with a document among the first 30, ",
            Setting("pairs", "sample 10"),
            " draws 10 partners for each document",
        )
    )
