"""The weight of a new tree in a boosted model, by an exact sweep: F + w·f with the w that is best for a measure.

Documents of one leaf never cross, whatever the weight: only those of different leaves do, and the sweep sees no
others. Leaf values are rounded to float32 after they are weighed, so each candidate is measured as it would be added.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rankforce.errors import SettingsError
from rankforce.remedies import Setting
from rankforce.sweeping.sweep import Scaled, sweep
from rankforce.training.graded_monitoring import WatchedTiers
from rankforce.training.monitoring import Watched, WatchedMeasure
from rankforce.trees.tree import Tree

if TYPE_CHECKING:
    from rankforce.boosting.running_scores import RunningScores

LARGEST_WEIGHT = 10.0  # a tree was grown for the step 1: much further its forces mean nothing
MOST_TRIED = 16  # best pieces that are measured
SAME = 1e-11  # a measured mean this near the swept one is the same: they differ by rounding


def check_searchable(watched: Watched, outputs: int) -> None:
    """Raise unless trees can be weighed one by one for what is watched."""
    if outputs > 1:
        raise SettingsError(f"line_search weighs one tree per round, and here are {outputs}: leave it out")
    if isinstance(watched, WatchedTiers):
        raise SettingsError(
            f"line_search weighs trees for one measure, and on validation data {len(watched.measures)} are watched "
            f"({', '.join(map(str, watched.measures))}): use ",
            Setting("line_search_on", "train"),
            ", or name one: ",
            Setting("validation_measure"),
        )
    if not isinstance(watched, WatchedMeasure):
        raise SettingsError("line_search needs a measure of labels, and listed preferences are watched: leave it out")


def best_weight(running: RunningScores, tree: Tree, leaf_of: np.ndarray, weighed: Callable[[float], Tree]) -> float:
    """The weight w in (0, ``LARGEST_WEIGHT``) with the highest watched measure of ``running`` plus w times the tree.

    ``weighed(w)`` is the tree with its values times w, rounded. Returns 1 unless another weight is better.
    """
    watched = running.watched
    assert isinstance(watched, WatchedMeasure)  # check_searchable
    known = watched.judged
    scores = Scaled.of(known.of_kept(running.scores), "the scores before the tree")
    steps = Scaled.of(known.of_kept(tree.leaf_value.astype(np.float64)[leaf_of]), "the scores of the tree")
    ratio = float(np.ldexp(1.0, steps.exponent - scores.exponent))  # w = ratio·x / (1 − x)
    pieces = sweep(
        scores,
        steps,
        known,
        watched.shares,
        end=LARGEST_WEIGHT / (LARGEST_WEIGHT + ratio),
        tie_keys=known.of_kept(running.ranking.tie_keys),
    )
    best, best_value = 1.0, running.value_with(tree, leaf_of)
    for low, high, claimed in itertools.islice(pieces.best, MOST_TRIED):
        if claimed <= best_value + SAME:
            break
        weight = 0.5 * ratio * (low / (1.0 - low) + high / (1.0 - high))
        value = running.value_with(weighed(weight), leaf_of)
        if value > best_value + SAME:
            best, best_value = weight, value
        if value >= claimed - SAME:
            break
    return best
