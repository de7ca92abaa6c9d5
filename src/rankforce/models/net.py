"""A net of one or two layers: what RankNet and LambdaRank yield."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from rankforce import dtypes
from rankforce.cached_properties import cached_property
from rankforce.console.wording import counted
from rankforce.data.dataset import Dataset
from rankforce.errors import DataError, SettingsError
from rankforce.models.expected_grade import logistic
from rankforce.models.model import Model, count_of, frozen
from rankforce.models.net_layout import Layout
from rankforce.models.net_scaling import Scaling
from rankforce.models.provenance import Provenance
from rankforce.remedies import Setting

MOST_HIDDEN = 100_000
_ROWS_AT_A_TIME = 4096


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Net(Model):
    """score = v·z + c (``hidden`` 0) or v·tanh(Wz + b) + c, z being the scaled features of a document.

    weights : float64 (weights,)
        All of W, b, v, c in one vector (see ``nets.layout.Layout``); ``weight_names`` says which is which.
    scaling : Scaling
        How features become z. A missing value becomes 0, the centre of its feature.
    sigma : float
        The steepness that the net was trained with: P(a above b) = 1/(1 + e^{−σ(s_a − s_b)}).

    A net that scales per query (``scaling.kind == "query"``) looks at all documents of a query: ``predict`` takes the
    queries of a Dataset, and a matrix or a data frame as the documents of one query.
    """

    KIND: ClassVar[str] = "net"

    scaling: Scaling
    hidden: int
    weights: np.ndarray
    sigma: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "hidden", count_of(self.hidden, "hidden", MOST_HIDDEN))
        object.__setattr__(self, "weights", frozen(self.weights, np.float64))
        object.__setattr__(self, "sigma", float(self.sigma))
        if not (self.sigma > 0 and np.isfinite(self.sigma)):
            raise DataError(f"sigma must be positive, not {self.sigma!r}")
        if len(self.scaling.centre) != self.n_features:
            raise DataError(f"the scaling is one of {len(self.scaling.centre)} features, the net has {self.n_features}")
        if self.weights.shape != (self.layout.size,):
            raise DataError(
                f"a net of {self.n_features} features and {self.hidden} hidden units has {self.layout.size} weights, "
                f"not an array of shape {self.weights.shape}"
            )
        if not np.isfinite(self.weights).all():
            raise DataError("a weight of the net is not finite")

    @property
    def layout(self) -> Layout:
        """Where each weight stands."""
        return Layout(self.n_features, self.hidden)

    @cached_property
    def weight_names(self) -> tuple[str, ...]:
        """What every weight is: "hidden 3 × feature 'bm25'", "hidden 3 bias", "output × hidden 3", "output bias"."""
        return self.layout.names(self.feature_names)

    def decisive(self, data: Dataset) -> np.ndarray:
        """A mask of the weights that can change a ranking of this data.

        The output bias cannot. In one layer, neither can the weight of a feature that is constant within every
        query; in two, that of a feature whose scaled value is always 0 (a constant one, unless scaling is "none").
        """
        inputs = data.by_query(self.inputs(data))
        if self.hidden:
            return self.layout.decisive(np.any(inputs != 0, axis=0))
        lows = np.minimum.reduceat(inputs, data.query_starts[:-1], axis=0)
        highs = np.maximum.reduceat(inputs, data.query_starts[:-1], axis=0)
        return self.layout.decisive(np.any(lows < highs, axis=0))

    def with_weights(self, weights: Any) -> Net:
        """The same net with other weights."""
        return dataclasses.replace(self, weights=np.array(weights, dtype=np.float64))

    def inputs(self, data: Any) -> np.ndarray:
        """The scaled features, float32 (documents, features), in the order of the rows."""
        matrix = self.matrix(data)
        if not self.scaling.by_query or not isinstance(data, Dataset):
            return self.scaling.inputs(matrix)
        return data.by_row(self.scaling.inputs(data.by_query(matrix), data.query_starts))

    def predict(self, data: Any) -> np.ndarray:
        """The score of every document, float64, in the order of the rows. See ``Model.predict``."""
        return self._scores_of_inputs(self.inputs(data))

    def predict_pairs(self, a: Any, b: Any) -> np.ndarray:
        """P that each document of ``a`` belongs above the one of ``b`` in the same row: 1/(1 + e^{−σ(s_a − s_b)}).

        ``a`` and ``b`` are matrices or data frames with as many rows.
        """
        if self.scaling.by_query:
            raise SettingsError(
                "a net that scales per query needs whole queries, not pairs: compare scores of predict(), or train "
                "with another scaling, for example ",
                Setting("scaling", "standard"),
            )
        first, second = self.predict(a), self.predict(b)
        if first.shape != second.shape:
            raise DataError(f"{len(first)} documents cannot be paired with {len(second)}: give as many of both")
        return logistic(self.sigma * (first - second))

    def _scores(self, matrix: np.ndarray) -> np.ndarray:
        return self._scores_of_inputs(self.scaling.inputs(matrix))

    def _scores_of_inputs(self, inputs: np.ndarray) -> np.ndarray:
        layout, weights = self.layout, self.weights
        scores = np.empty(len(inputs), dtype=dtypes.SCORE)
        for first in range(0, len(inputs), _ROWS_AT_A_TIME):
            z = inputs[first : first + _ROWS_AT_A_TIME].astype(np.float64)
            # einsum and not @: the sum of a row must not depend on how many rows stand beside it
            if self.hidden:
                z = np.tanh(np.einsum("nf,hf->nh", z, layout.hidden_weights(weights)) + layout.hidden_biases(weights))
            scores[first : first + len(z)] = np.einsum("nf,f->n", z, layout.output_weights(weights)) + weights[-1]
        return scores

    @property
    def needs_queries(self) -> bool:
        return self.scaling.by_query

    def contents(self) -> dict[str, Any]:
        return {
            "hidden": self.hidden,
            "sigma": self.sigma,
            "scaling": self.scaling.kind,
            "centre": self.scaling.centre.tolist(),
            "scale": self.scaling.scale.tolist(),
            "weights": self.weights.tolist(),
        }

    @classmethod
    def from_contents(cls, contents: Any, feature_names: tuple[str, ...], provenance: Provenance) -> Net:
        scaling = Scaling(
            contents.text("scaling"), contents.array("centre", np.float64), contents.array("scale", np.float64)
        )
        return cls(
            feature_names=feature_names,
            provenance=provenance,
            scaling=scaling,
            hidden=contents.whole("hidden", least=0, most=MOST_HIDDEN),
            weights=contents.array("weights", np.float64),
            sigma=contents.number("sigma"),
        )

    def __repr__(self) -> str:
        shape = "one layer" if self.hidden == 0 else counted(self.hidden, "hidden unit")
        return f"Net({counted(self.n_features, 'feature')}, {shape}, scaling {self.scaling.kind})"
