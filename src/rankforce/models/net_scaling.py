"""Features brought to one size: what a net needs, and trees do not.

A net multiplies features by weights of similar size, so a count up to 2·10⁸ beside a share between 0 and 1 would
saturate every hidden unit. Scaling is learned from the training data and stored in the model.
"""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np

from rankforce import dtypes
from rankforce.data.dataset import Dataset
from rankforce.errors import DataError, SettingsError

KINDS = ("none", "standard", "query", "log1p")
HEAVY_TAIL = 20.0  # standard deviations from the mean: beyond, a feature is one for logarithms
# Of n values none lies more than √(n − 1) standard deviations from the mean. With fewer documents than this, quartiles,
# which a tail does not move, decide as well.
FEW_DOCUMENTS = 2000
HEAVY_TAIL_IN_QUARTILES = 100.0  # interquartile ranges from the median
NO_VARIATION = float(np.finfo(np.float64).max)  # divided by it, whatever a feature may become later is 0
_CELLS_AT_A_TIME = 2**22
_LARGEST = float(np.finfo(dtypes.FEATURE).max)


@dataclasses.dataclass(frozen=True, eq=False)
class Scaling:
    """How features become the inputs of a net, z = (t(x) − centre) / scale, float32; a missing value becomes 0.

    ``"none"``: t(x) = x, centre 0, scale 1.
    ``"standard"``: t(x) = x; centre and scale are mean and standard deviation in the training data.
    ``"log1p"``: t(x) = sign(x)·log(1 + |x|), then as standard: for counts and other heavy tails.
    ``"query"``: t(x) = x; centre and scale are mean and standard deviation among the documents of the query, so
    that queries must be known when documents are scored.

    The mean of a feature (with "query": in the query) thus stands in for its missing values. A feature that does not
    vary (in the training data; with "query": in the query) becomes 0, also where it varies later: nothing was learned
    about it.

    kind : one of ``KINDS``
    centre, scale : float64 (features,)
    """

    kind: str
    centre: np.ndarray
    scale: np.ndarray

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SettingsError(f"scaling is one of {', '.join(map(repr, KINDS))}, not {self.kind!r}")
        for name in ("centre", "scale"):
            values = np.ascontiguousarray(getattr(self, name), dtype=np.float64).view()
            values.setflags(write=False)
            object.__setattr__(self, name, values)
        if self.centre.ndim != 1 or self.centre.shape != self.scale.shape:
            raise DataError("scaling needs one centre and one scale per feature")
        if not np.isfinite(self.centre).all() or not (np.isfinite(self.scale).all() and (self.scale > 0).all()):
            raise DataError("centres of features must be finite and scales positive")

    @property
    def by_query(self) -> bool:
        """Whether a document's inputs depend on the other documents of its query."""
        return self.kind == "query"

    @classmethod
    def of(cls, data: Dataset, kind: str) -> Scaling:
        """Learned from a data set. The order of its queries does not matter."""
        if kind in ("standard", "log1p"):
            centre, deviation = _moments(data, kind == "log1p")
            return cls(kind, centre, np.where(deviation > 0, deviation, NO_VARIATION))
        return cls(kind, np.zeros(data.n_features), np.ones(data.n_features))

    @classmethod
    def chosen(cls, data: Dataset) -> tuple[Scaling, str]:
        """(the scaling that suits the data, why): log1p if a feature has a heavy tail, standard otherwise.

        A tail is heavy if a value lies more than ``HEAVY_TAIL`` standard deviations from the mean of its feature, or,
        with fewer than ``FEW_DOCUMENTS`` documents, more than ``HEAVY_TAIL_IN_QUARTILES`` interquartile ranges from the
        median (where the quartiles are equal: ranges of the middle nine tenths).
        """
        standard = cls.of(data, "standard")
        farthest = np.zeros(data.n_features)
        for extreme in (np.fmin.reduce(data.features, axis=0), np.fmax.reduce(data.features, axis=0)):
            distance = np.abs((extreme.astype(np.float64) - standard.centre) / standard.scale)
            farthest = np.fmax(farthest, distance)
        worst = int(np.argmax(farthest))
        reach = f"feature {data.feature_names[worst]!r} reaches {farthest[worst]:.0f} standard deviations"
        if farthest[worst] > HEAVY_TAIL:
            return cls.of(data, "log1p"), f"{reach} from its mean"
        if data.n_documents < FEW_DOCUMENTS:
            ranges = _in_ranges(data.features)
            widest = int(np.argmax(ranges))
            if ranges[widest] > HEAVY_TAIL_IN_QUARTILES:
                reason = f"feature {data.feature_names[widest]!r} reaches {ranges[widest]:.0f} interquartile ranges"
                return cls.of(data, "log1p"), f"{reason} from its median"
        return standard, f"no heavy tails: {reach}"

    def inputs(self, features: np.ndarray, starts: np.ndarray | None = None) -> np.ndarray:
        """The inputs of documents, float32 C-contiguous, from features (documents, features).

        With ``"query"`` the documents of a query are adjacent and begin at ``starts``; None: all are of one query.
        """
        inputs = np.empty(features.shape, dtype=dtypes.FEATURE)
        if self.by_query:
            self._fill_by_query(features, np.array([0, len(features)]) if starts is None else starts, inputs)
            return inputs
        rows = max(1, _CELLS_AT_A_TIME // max(features.shape[1], 1))
        for first in range(0, len(features), rows):
            values = _transformed(features[first : first + rows], self.kind == "log1p")
            values -= self.centre
            values /= self.scale
            inputs[first : first + rows] = _finite(values)
        return inputs

    def of_data(self, data: Dataset) -> np.ndarray:
        """The inputs of a data set's documents, in ``by_query`` order."""
        return self.inputs(data.by_query(data.features), data.query_starts)

    def _fill_by_query(self, features: np.ndarray, starts: np.ndarray, inputs: np.ndarray) -> None:
        for first, last in itertools.pairwise(starts):
            values = features[first:last].astype(np.float64)
            known = ~np.isnan(values)
            count = np.maximum(known.sum(axis=0), 1)
            values -= np.where(known, values, 0.0).sum(axis=0) / count
            deviation = np.sqrt((np.where(known, values, 0.0) ** 2).sum(axis=0) / count)
            values /= np.where(deviation > 0, deviation, 1.0)
            inputs[first:last] = _finite(values)


def _in_ranges(features: np.ndarray) -> np.ndarray:
    """How far the extremes of each feature lie from its median, in interquartile ranges; 0 where there is no range."""
    known = features[:, ~np.isnan(features).all(axis=0)].astype(np.float64)
    result = np.zeros(features.shape[1])
    if not known.size:
        return result
    lowest, low, first, median, third, high, highest = np.nanquantile(
        known, (0, 0.05, 0.25, 0.5, 0.75, 0.95, 1), axis=0
    )
    spread = np.where(third > first, third - first, high - low)
    reach = np.maximum(highest - median, median - lowest)
    result[~np.isnan(features).all(axis=0)] = np.divide(reach, spread, out=np.zeros_like(reach), where=spread > 0.0)
    return result


def _transformed(features: np.ndarray, logarithmic: bool) -> np.ndarray:
    """t(x), float64, a copy."""
    values = features.astype(np.float64)
    return np.copysign(np.log1p(np.abs(values)), values) if logarithmic else values


def _finite(values: np.ndarray) -> np.ndarray:
    """Missing values become 0, and what float32 cannot hold the largest number that it can."""
    return np.clip(np.nan_to_num(values, nan=0.0), -_LARGEST, _LARGEST)


def _moments(data: Dataset, logarithmic: bool) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of every feature over its known values; (0, 0) where all are missing.

    Sums go by query and then over queries by the hash of their ids: no order of the file changes a bit.
    """
    by_hash = np.argsort(data.query_hashes, kind="stable")
    starts = data.query_starts[:-1]
    centre, deviation = np.zeros(data.n_features), np.zeros(data.n_features)
    columns = max(1, _CELLS_AT_A_TIME // data.n_documents)
    for first in range(0, data.n_features, columns):
        block = slice(first, first + columns)
        values = _transformed(data.by_query(data.features[:, block]), logarithmic)
        present = ~np.isnan(values)
        count = np.maximum(present.sum(axis=0), 1)
        np.copyto(values, 0.0, where=~present)
        centre[block] = np.add.reduceat(values, starts, axis=0)[by_hash].sum(axis=0) / count
        # a feature that holds one value has a mean that may differ from it in the last bit
        highest = np.where(present, values, -np.inf).max(axis=0)
        same = np.where(present, values, np.inf).min(axis=0) == highest
        centre[block] = np.where(same, highest, centre[block])
        values -= centre[block]
        np.copyto(values, 0.0, where=~present)
        squares = np.add.reduceat(values**2, starts, axis=0)[by_hash].sum(axis=0) / count
        deviation[block] = np.where(same, 0.0, np.sqrt(squares))
    return centre, deviation
