"""How much of the answer one feature gives alone."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.data.random_streams import Stream

MOST_PAIRS = 400_000  # pairs of documents on which features are judged
_CHUNK = 16_384  # pairs looked at together: small beside the features

_GIVES_AWAY = 0.99  # share of the pairs it decides that a feature must order rightly (or wrongly) to be suspicious
_DECIDES = 0.2  # ... if it decides at least this share of all pairs
_ENOUGH_PAIRS = 30  # ... and enough of them to rule out chance
_ENOUGH_QUERIES = 5


@dataclasses.dataclass(frozen=True)
class FeatureStrength:
    """How well one feature alone orders documents with different grades.

    ``accuracy`` is the share ordered rightly among the pairs in which the feature differs; ``decided`` is the share
    of such pairs among all. An accuracy near 0 is as telling as one near 1: the feature then points the other way.
    """

    feature: str
    accuracy: float
    decided: float

    @property
    def certainty(self) -> float:
        """The accuracy of the better of the two directions."""
        return max(self.accuracy, 1.0 - self.accuracy)

    @property
    def gives_answer_away(self) -> bool:
        """Whether it all but repeats the label."""
        return self.certainty >= _GIVES_AWAY and self.decided >= _DECIDES

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def feature_strengths(
    data: Dataset, label: str | None = None, *, most_pairs: int | None = None
) -> list[FeatureStrength]:
    """Every feature that can be judged, the most telling first: on pairs of one query with different labels.

    ``label`` is the source that grades come from, by default the first.
    """
    if not data.labels:
        return []
    labels = data.by_query(data.label(next(iter(data.labels)) if label is None else label))
    better, worse, query = _pairs(labels, data.query_starts, most_pairs or MOST_PAIRS)
    if len(better) == 0:
        return []
    better, worse = data.rows[better], data.rows[worse]
    right = np.zeros(data.n_features, dtype=np.int64)
    wrong = np.zeros(data.n_features, dtype=np.int64)
    helped = np.zeros(data.n_features, dtype=np.int64)  # queries in which a feature decides any pair
    seen_until = np.full(data.n_features, -1, dtype=np.int64)
    for start in range(0, len(better), _CHUNK):
        part = slice(start, start + _CHUNK)
        upper, lower = data.features[better[part]], data.features[worse[part]]
        rightly, wrongly = upper > lower, upper < lower  # a missing value decides nothing
        right += rightly.sum(axis=0)
        wrong += wrongly.sum(axis=0)
        heads = np.flatnonzero(np.diff(query[part], prepend=-1))
        decides = np.logical_or.reduceat(rightly | wrongly, heads, axis=0)
        numbers = query[part][heads]
        helped += decides.sum(axis=0) - (decides[0] & (seen_until == numbers[0]))
        seen_until = np.where(decides[-1], numbers[-1], seen_until)
    decided = right + wrong
    ordered = data.n_categories == 0  # a larger code of a category says nothing
    features = np.flatnonzero((decided >= _ENOUGH_PAIRS) & (helped >= _ENOUGH_QUERIES) & ordered)
    strengths = [
        FeatureStrength(data.feature_names[j], float(right[j] / decided[j]), float(decided[j] / len(better)))
        for j in features
    ]
    return sorted(strengths, key=lambda strength: -abs(strength.accuracy - 0.5) * strength.decided)


def _pairs(labels: np.ndarray, starts: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(better document, worse document, query) for pairs with different labels, queries ascending.

    All of them where a query has few, else as many as its equal share of ``most`` allows, drawn with a fixed seed.
    """
    sizes = np.diff(starts)
    share = max(1, most // len(sizes))
    counts = np.minimum(sizes * sizes, share)
    query = np.repeat(np.arange(len(sizes)), counts)
    place = np.arange(len(query)) - np.repeat(np.cumsum(counts) - counts, counts)
    squares = (sizes * sizes)[query]
    drawn = Stream.STRENGTH_PAIRS.generator(0).integers(0, squares)
    chosen = np.where(squares <= share, place, drawn)  # the place of a pair in the square of its query
    first = starts[query] + chosen // sizes[query]
    second = starts[query] + chosen % sizes[query]
    kept = labels[first] > labels[second]
    return first[kept], second[kept], query[kept]
