"""Bins of categories: one for each of the most frequent, and a last one for all others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankforce import dtypes
from rankforce.collective import collective, totals


class CategoryBins(NamedTuple):
    """The bins of a categorical feature.

    Bins 0, 1, ... hold a category each, in the order of their codes. The last bin, ``n_bins`` − 1, holds whatever has
    no bin of its own: rare categories, those that the data does not have, and unknown ones. No split sends it to the
    left: a finished tree, whose sets have none of them, sends them where they went in training.

    of_code : uint8 (categories,)
    n_bins : int
    filled : int
        How many bins hold documents, with that of missing values.
    """

    of_code: np.ndarray
    n_bins: int
    filled: int


def category_bins(column: np.ndarray, n_categories: int, max_bins: int) -> CategoryBins:
    """Bins for the codes in a column; of equally frequent categories those with lower codes have their own."""
    known = column >= 0  # neither missing (NaN) nor unknown (−1)
    counts = collective().add(np.bincount(column[known].astype(np.int64), minlength=n_categories))
    n_missing, n = totals(np.isnan(column).sum(), len(column))
    return bins_of_counts(counts, n - n_missing, n_missing, max_bins)


def bins_of_counts(counts: np.ndarray, n_present: int, n_missing: int, max_bins: int) -> CategoryBins:
    """The same, of how many documents have each category, any or an unknown one, and none."""
    by_count = np.argsort(-counts, kind="stable")
    own = np.sort(by_count[: min(max_bins - 1, int((counts > 0).sum()))])
    of_code = np.full(len(counts), len(own), dtype=dtypes.BIN)
    of_code[own] = np.arange(len(own))
    n_others = n_present - int(counts[own].sum())
    return CategoryBins(of_code, len(own) + 1, len(own) + (n_others > 0) + (n_missing > 0))
