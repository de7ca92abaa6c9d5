"""A model seen as a point in the space of its weights: what a measure does when the point moves along a line.

The weights of a net are its weights; those of a sum of trees are the values of its leaves, the splits staying as they
are.
"""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.data.dataset import Dataset, check_dataset, tie_breakers
from rankforce.errors import DataError, SettingsError
from rankforce.importing.library_models import model_of_library
from rankforce.kernels.nets.weight_lines import input_slopes, leaf_slopes, linear_values, net_values
from rankforce.kernels.ranking.ordering import order_documents
from rankforce.measures.catalogue import measure as read_measure
from rankforce.measures.judged import judged
from rankforce.measures.mean import QueriesInMean
from rankforce.measures.measure import Measure
from rankforce.models.net import Net
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.threads import over_queries
from rankforce.training.ranker import Ranker


class WeightSpace(abc.ABC):
    """A model on a data set under a measure.

    ``weights`` float64, ``names`` of them, and ``decisive``, a mask of those that can change a ranking of this data.
    Equal scores are ordered by a hash of the seed, as in training.
    """

    weights: np.ndarray
    decisive: np.ndarray

    def __init__(self, model: Any, data: Dataset, measure: str | Measure, seed: int) -> None:
        self.measure = read_measure(measure)
        self.judged = judged(data, self.measure)
        self.queries = QueriesInMean(data, self.judged)
        self.query_weights = self.queries.weights
        if not self.query_weights.any():
            raise DataError(f"no query of the data can score in {self.measure}: there is nothing to test")
        self.tie_keys = self.judged.of_kept(tie_breakers(data, seed))
        self.scores = self.judged.of_kept(data.by_query(model.predict(data)))
        self.order = np.empty(len(self.scores), dtype=dtypes.INDEX)
        starts = self.judged.starts
        over_queries(starts, lambda a, b: order_documents(self.scores, self.tie_keys, starts, a, b, self.order))

    @property
    @abc.abstractmethod
    def names(self) -> tuple[str, ...]:
        """What each weight is."""

    @abc.abstractmethod
    def values(self, direction: np.ndarray, steps: np.ndarray, first: int, last: int, out: np.ndarray) -> None:
        """Write the values of queries ``first`` to ``last`` at weights + steps[k]·direction into ``out[k, q]``.

        Serial: may be called by several threads.
        """

    @property
    def n_queries(self) -> int:
        return len(self.query_weights)

    def means(self, direction: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """The mean of the measure at each step. Serial."""
        values = np.empty((len(steps), self.n_queries))
        self.values(direction, steps, 0, self.n_queries, values)
        return self.queries.means(values)

    def _kept(self, data: Dataset, by_row: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(self.judged.of_kept(data.by_query(by_row)))

    def _along(self, slopes: np.ndarray, steps: np.ndarray, first: int, last: int, out: np.ndarray) -> None:
        known = self.judged
        linear_values(
            known.kernel_tuple, self.scores, slopes, steps, known.worth, self.tie_keys, self.order, known.normalisers,
            known.starts, first, last, out,
        )  # fmt: skip


class NetSpace(WeightSpace):
    """The weights of a net."""

    def __init__(self, model: Net, data: Dataset, measure: str | Measure, seed: int) -> None:
        super().__init__(model, data, measure, seed)
        self.model = model
        self.weights = np.array(model.weights)
        self.decisive = model.decisive(data)
        self.inputs = self._kept(data, model.inputs(data))

    @property
    def names(self) -> tuple[str, ...]:
        return self.model.weight_names


class LinearNet(NetSpace):
    """A net of one layer."""

    def values(self, direction: np.ndarray, steps: np.ndarray, first: int, last: int, out: np.ndarray) -> None:
        slopes = np.empty(len(self.scores))
        input_slopes(self.inputs, direction, self.judged.starts[first], self.judged.starts[last], slopes)
        self._along(slopes, steps, first, last, out)


class HiddenNet(NetSpace):
    """A net of two layers."""

    def __init__(self, model: Net, data: Dataset, measure: str | Measure, seed: int) -> None:
        super().__init__(model, data, measure, seed)
        layout = model.layout
        W, b = layout.hidden_weights(self.weights), layout.hidden_biases(self.weights)
        self.entering = np.ascontiguousarray(self.inputs.astype(np.float64) @ W.T + b)
        self.leaving = np.tanh(self.entering)

    def values(self, direction: np.ndarray, steps: np.ndarray, first: int, last: int, out: np.ndarray) -> None:
        known, layout = self.judged, self.model.layout
        moving = (
            layout.hidden_weights(direction).any(axis=1)
            | (layout.hidden_biases(direction) != 0.0)
            | (layout.output_weights(direction) != 0.0)
        )
        units = np.flatnonzero(moving).astype(np.int64)
        net_values(
            known.kernel_tuple, self.inputs, self.entering, self.leaving, self.weights, direction, units, steps,
            known.worth, self.tie_keys, self.order, known.normalisers, known.starts, first, last, out,
        )  # fmt: skip


class LeafValues(WeightSpace):
    """A sum of trees: each document's leaves are found once."""

    def __init__(self, model: TreeEnsemble, data: Dataset, measure: str | Measure, seed: int) -> None:
        super().__init__(model, data, measure, seed)
        self.model = model
        self.weights = model.leaf_value.astype(np.float64)
        leaves = model.leaf_indices(data).astype(np.int32) + model.leaf_starts[:-1].astype(np.int32)
        self.decisive = _splitting_leaves(data.by_query(leaves), data.query_starts, len(self.weights))
        self.leaves = self._kept(data, leaves)

    @property
    def names(self) -> tuple[str, ...]:
        trees = np.repeat(np.arange(self.model.n_trees), self.model.tree_leaves)
        leaves = np.arange(len(self.weights)) - self.model.leaf_starts[:-1][trees]
        return tuple(f"tree {tree} leaf {leaf}" for tree, leaf in zip(trees, leaves, strict=True))

    def values(self, direction: np.ndarray, steps: np.ndarray, first: int, last: int, out: np.ndarray) -> None:
        slopes = np.empty(len(self.scores))
        leaf_slopes(self.leaves, direction, self.judged.starts[first], self.judged.starts[last], slopes)
        self._along(slopes, steps, first, last, out)


def _splitting_leaves(leaves: np.ndarray, starts: np.ndarray, count: int) -> np.ndarray:
    """A mask of the leaves that hold some but not all documents of a query."""
    mask = np.zeros(count, dtype=bool)
    lows = np.minimum.reduceat(leaves, starts[:-1], axis=0)
    highs = np.maximum.reduceat(leaves, starts[:-1], axis=0)
    mixed = np.repeat(lows < highs, np.diff(starts), axis=0)
    mask[leaves[mixed]] = True
    return mask


def weight_space(model: Any, data: Dataset, measure: str | Measure, seed: int) -> WeightSpace:
    """The space of a model's weights; of a ranker, of the model that it learned."""
    check_dataset(data)
    if isinstance(model, Ranker):
        model = model._fitted()
    if isinstance(model, Net):
        return (HiddenNet if model.hidden else LinearNet)(model, data, measure, seed)
    if isinstance(model, TreeEnsemble):
        if model.n_trees == 0:
            raise SettingsError("the model has no trees, so no weights to move")
        return LeafValues(model, data, measure, seed)
    read = model_of_library(model)
    if read is not None:
        return weight_space(read, data, measure, seed)
    raise SettingsError(
        f"only nets and sums of trees have weights that can be moved, not {type(model).__name__}; of an average, test "
        "its models one by one"
    )
