"""Scores of a model with one feature changed or taken out.

Taken out means: at its splits in trees a document goes down both sides, in the shares of the training documents, so
that a tree gives the mean of what it could; a net or a perceptron sees the mean of the feature; a graph sees it
missing; scores that start from the feature start from 0. Sums and links of models take their members so.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.explaining.tree_contributions import check_counts, shares_left
from rankforce.models import tree_sets
from rankforce.models.bagged import Bagged
from rankforce.models.combination import Combination, weighted_sum
from rankforce.models.expected_grade import ExpectedGrade
from rankforce.models.model import Model
from rankforce.models.net import Net
from rankforce.models.stacked import Stacked, stacked_scores
from rankforce.models.tree_ensemble import LEAF_FIELDS, NODE_FIELDS, TreeEnsemble
from rankforce.threads import over_ranges


def scores_of_rows(model: Model, rows: np.ndarray) -> np.ndarray:
    """Scores of documents as ``attribution.rows_of`` gives them."""
    if isinstance(model, Net) and model.needs_queries:
        return model._scores_of_inputs(rows)
    return model._scores(rows)


class OneFeature:
    """The scores of a model as a function of one feature: of trees, only those that split on it are scored again."""

    def __init__(self, model: Model, rows: np.ndarray, place: int) -> None:
        self.model, self.rows, self.place = model, rows, place
        self._asking: TreeEnsemble | None = None
        self._rest = np.empty(0)
        if isinstance(model, TreeEnsemble) and model.base_model is None and model.base_feature is None:
            asks = _trees_that_ask(model, place)
            self._asking = _taking(model, asks)
            self._rest = _taking(model, ~asks)._scores(rows)

    def scores(self, column: np.ndarray) -> np.ndarray:
        """With these values of the feature, float32 (documents,)."""
        changed = np.array(self.rows)
        changed[:, self.place] = column
        changed.setflags(write=False)
        if self._asking is None:
            return scores_of_rows(self.model, changed)
        scores = self._rest.copy()
        self._asking._add_trees(changed, 0, self._asking.n_trees, scores)
        return scores

    def scores_without(self) -> np.ndarray:
        """With the feature taken out."""
        if self._asking is None:
            return scores_without(self.model, self.rows, self.place)
        scores = self._rest.copy()
        _add_trees_without(self._asking, self.rows, self.place, scores)
        return scores


def scores_without(model: Model, rows: np.ndarray, place: int) -> np.ndarray:
    """Scores with the feature at this place taken out of the model."""
    if isinstance(model, TreeEnsemble):
        return _trees_without(model, rows, place)
    if isinstance(model, (Combination, Bagged, Stacked)):
        scores = [_member_without(model, member, rows, place) for member in model.models]
        if isinstance(model, Combination):
            return weighted_sum(model.weights, scores)
        if isinstance(model, Stacked):
            return stacked_scores(model.net, scores)
        return np.asarray(sum(scores, np.zeros(len(rows))) / len(scores))
    if isinstance(model, ExpectedGrade):
        return model.link.scores(np.array([_member_without(model, one, rows, place) for one in model.members]))
    changed = np.array(rows)
    changed[:, place] = 0.0 if isinstance(model, Net) and model.needs_queries else np.nan
    return scores_of_rows(model, changed)


def _member_without(model: Model, member: Model, rows: np.ndarray, place: int) -> np.ndarray:
    part, name = model.part_for(member, rows), model.feature_names[place]
    if name not in member.feature_names:
        return scores_of_rows(member, part)
    return scores_without(member, part, member.feature_names.index(name))


def _trees_without(model: TreeEnsemble, rows: np.ndarray, place: int) -> np.ndarray:
    scores = np.full(len(rows), model.base_score, dtype=dtypes.SCORE)
    if model.base_model is not None:
        scores += _member_without(model, model.base_model, rows, place)
    if model.base_feature is not None and model.base_feature != model.feature_names[place]:
        scores += rows[:, model.feature_names.index(model.base_feature)]
    _add_trees_without(model, rows, place, scores)
    return scores


def _add_trees_without(model: TreeEnsemble, rows: np.ndarray, place: int, scores: np.ndarray) -> None:
    from rankforce.kernels.trees.references import add_scores_without

    check_counts(model)
    roots, nodes, thresholds, sets = model.walk
    shares = shares_left(model)

    def work(first: int, last: int) -> None:
        add_scores_without(rows, place, roots, nodes, thresholds, sets, shares, model.leaf_value, first, last, scores)

    over_ranges(len(rows), work)


def _trees_that_ask(model: TreeEnsemble, place: int) -> np.ndarray:
    """A mask of the trees that split on a feature."""
    trees = np.repeat(np.arange(model.n_trees), np.diff(model.node_starts))
    return np.bincount(trees[model.feature == place], minlength=model.n_trees) > 0


def _taking(model: TreeEnsemble, trees: np.ndarray) -> TreeEnsemble:
    """The ensemble of some trees, given by a mask, in their order."""
    sizes = np.diff(model.node_starts)
    masks = {True: np.repeat(trees, sizes), False: np.repeat(trees, sizes + 1)}
    fields: dict[str, Any] = {name: getattr(model, name)[masks[True]] for name in NODE_FIELDS}
    fields |= {name: getattr(model, name)[masks[False]] for name in LEAF_FIELDS}
    fields |= tree_sets.of_nodes(model, masks[True])
    return dataclasses.replace(model, node_starts=np.concatenate([[0], np.cumsum(sizes[trees])]), **fields)
