"""Features that encode a label, exactly or nearly so.

With one label source such a feature makes a model useless; with several it lets one source be learned by heart while
the others hide it. Two ways are looked for: the feature *orders* the documents of a query as the label does (or the
other way round), or it *determines* the label: documents with nearly the same value have nearly the same label, in
whatever order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from rankforce.console.wording import listed
from rankforce.data.dataset import Dataset
from rankforce.data.random_streams import Stream
from rankforce.displayed_text import displayed
from rankforce.errors import RankforceWarning, warn
from rankforce.inspection.feature_strength import MOST_PAIRS, feature_strengths
from rankforce.remedies import Phrase

_DOCUMENTS = 20_000  # documents on which a feature is judged to determine a label
_DETERMINES = 0.97  # share of the label's variance that groups of equal or neighbouring values explain
_GROUPS = 64
_IN_A_GROUP = 30  # documents: noise then explains at most 1/30 of the variance
_QUICK = 20  # times fewer pairs and documents where a fit asks: a leak shows on few


class LeakWarning(RankforceWarning):
    """A feature encodes a label of the objective."""


@dataclasses.dataclass(frozen=True)
class Leak:
    """A feature that encodes a label.

    ``how`` is ``"orders"``: ``certainty`` is the share of pairs with different labels, among those in which the
    feature differs, that it orders rightly (``rising``) or wrongly; ``decided`` is the share of those among all pairs.
    Or ``"determines"``: ``certainty`` is the share of the variance of the label that the feature explains.
    """

    feature: str
    label: str
    how: str
    certainty: float
    decided: float
    rising: bool

    def __str__(self) -> str:
        feature, label = displayed(self.feature), displayed(self.label)
        if self.how == "determines":
            return f"Feature {feature} alone explains {self.certainty:.2%} of the variance of {label}."
        direction = "highest" if self.rising else "lowest"
        return (
            f"Feature {feature} alone orders {self.certainty:.2%} of the pairs it decides "
            f"({self.decided:.0%} of all) as {label} does, {direction} first."
        )

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def leaks(data: Dataset, labels: Iterable[str] | None = None, *, quick: bool = False) -> list[Leak]:
    """The features that encode one of the label sources (by default: any), by source, the most certain first.

    Sampled with a fixed seed where the data is large; ``quick`` looks at a twentieth of that.
    """
    every_leak: list[Leak] = []
    for label in data.labels if labels is None else labels:
        shrink = _QUICK if quick else 1
        strengths = feature_strengths(data, label, most_pairs=MOST_PAIRS // shrink)
        ordering = [
            Leak(strength.feature, label, "orders", strength.certainty, strength.decided, strength.accuracy > 0.5)
            for strength in strengths
            if strength.gives_answer_away
        ]
        ordering_features = {strength.feature for strength in ordering}
        shares = explained_shares(data, data.label(label), _DOCUMENTS // shrink)
        determining = [
            Leak(data.feature_names[j], label, "determines", float(shares[j]), 1.0, True)
            for j in np.flatnonzero(shares >= _DETERMINES)
            if data.feature_names[j] not in ordering_features
        ]
        every_leak += sorted(ordering + determining, key=lambda leak: -leak.certainty)
    return every_leak


def explained_shares(data: Dataset, labels: np.ndarray, documents: int) -> np.ndarray:
    """The share of the variance of a label that each feature explains, on a sample: the correlation ratio η².

    Documents are grouped by the value of the feature: a group per value where there are few, else groups of equal size
    along the values; missing values are one group. η² = 1 − (variance within groups) / (variance). 0 where there are
    too few labelled documents to tell, or only one label.
    """
    rows = np.flatnonzero(~np.isnan(labels))
    if len(rows) > documents:
        rows = np.sort(Stream.LEAK_SAMPLE.generator(0).choice(rows, documents, replace=False))
    shares = np.zeros(data.n_features)
    count = min(_GROUPS, len(rows) // _IN_A_GROUP)
    if count < 2 or np.ptp(labels[rows]) == 0.0:
        return shares
    deviations = labels[rows] - labels[rows].mean()
    total = float(deviations @ deviations)
    for j in range(data.n_features):
        group = _groups(data.features[rows, j], count)
        sums, sizes = np.bincount(group, deviations), np.bincount(group)
        occupied = sizes > 0
        shares[j] = float((sums[occupied] ** 2 / sizes[occupied]).sum()) / total
    return shares


def _groups(values: np.ndarray, count: int) -> np.ndarray:
    missing = np.isnan(values)
    different, place, sizes = np.unique(values[~missing], return_inverse=True, return_counts=True)
    if len(different) > count:
        before = np.cumsum(sizes) - sizes
        place = (before * count // max(1, sizes.sum()))[place]  # equal values stay together
    group = np.zeros(len(values), dtype=np.int64)
    group[~missing] = place + 1
    return group


def warn_of_leaks(data: Dataset, labels: Iterable[str]) -> None:
    """Warn, in the beginning of a fit on several label sources, of features that encode one of them. Quick.

    With a single source nothing is looked for: ``inspect`` does.
    """
    sources = [label for label in dict.fromkeys(labels) if label in data.labels]
    if len(sources) < 2 or not data.n_queries or data.bins is not None:
        return
    found = leaks(data, sources, quick=True)
    if found:
        names = listed([f"{leak.feature} ({leak.label})" for leak in found])
        warn(
            LeakWarning(
                f"features that encode a label, exactly or nearly so: {names}; leave them out ",
                Phrase("(data.without_features([...])) ", "of the data "),
                "unless they are known when a ranking is asked for",
            )
        )
