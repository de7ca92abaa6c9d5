"""What a ranker that learns from labels, and not for a measure, watches: NDCG, unless the labels have no such gains."""

from __future__ import annotations

import numpy as np

from rankforce.collective import total, union
from rankforce.data.dataset import MAIN_LABEL, Dataset
from rankforce.measures.catalogue import measure
from rankforce.measures.measure import Measure
from rankforce.measures.ndcg import NDCG
from rankforce.measures.pairwise_accuracy import PairwiseAccuracy

MOST_EXPONENT = 1023.0  # sums of gains 2^label − 1 beyond are infinite


def usual_measure(given: str | Measure | None, label: str) -> Measure:
    """The measure that was asked for; else NDCG of the label."""
    if given is not None:
        return measure(given)
    default = measure("NDCG")
    return default if label == MAIN_LABEL else default.with_label(label)


def fitting_measure(given: str | Measure | None, label: str, data: Dataset, held_out: Dataset | None) -> Measure:
    """The same, but where nobody asked, one that has a value for these labels, be they negative or above 1023."""
    usual = usual_measure(given, label)
    known = [one.labels[label] for one in (data, held_out) if one is not None and label in one.labels]
    labels = np.concatenate([one[~np.isnan(one)] for one in known]) if known else np.empty(0)
    count = total(len(labels))
    if given is not None or not count:
        return usual
    ends = union(labels[[np.argmin(labels), np.argmax(labels)]] if len(labels) else labels)
    if ends[0] < 0.0 and ends[-1] <= 0.0:
        return PairwiseAccuracy(label=label)
    if ends[0] < 0.0 or ends[-1] + np.log2(count) >= MOST_EXPONENT:
        return NDCG(gain="linear", label=label)
    return usual
