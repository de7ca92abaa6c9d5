"""Where the values of a feature are cut, and the bin of every value."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.jit import kernel, subroutine


@subroutine
def _between(low: Any, high: Any) -> Any:
    """The threshold between two neighbouring values: their float32 midpoint if below ``high``, else ``low``."""
    middle = np.float32(0.5 * (np.float64(low) + np.float64(high)))
    return middle if middle < high else low


@kernel
def cut_points(values: Any, most: Any, cuts: Any) -> Any:
    """Write the thresholds between the bins of a sorted float32 column (NaN last) into ``cuts``.

    Returns (number of bins, number of values that are not missing). A bin holds the values ≤ its threshold, and the
    last bin has none, so there is one threshold fewer than bins. Up to ``most`` distinct values get a bin each;
    otherwise each bin in turn takes as near as possible to its fair share of the rows that are left, so that a value
    of great weight has a bin of its own and the others share the rest evenly.
    """
    present = len(values)
    while present > 0 and values[present - 1] != values[present - 1]:
        present -= 1
    distinct = 0
    for k in range(present):
        if k == 0 or values[k] != values[k - 1]:
            distinct += 1
    exact = distinct <= most
    bins = 0
    begin = 0  # of the bin being filled
    k = 0
    while k < present:
        end = k + 1  # of the run of equal values
        while end < present and values[end] == values[k]:
            end += 1
        if k > begin and bins < most - 1:
            fair = (present - begin) / (most - bins)
            if exact or (k - begin) >= fair or (end - begin) - fair > fair - (k - begin):
                cuts[bins] = _between(values[k - 1], values[k])
                bins += 1
                begin = k
        k = end
    if present > 0:
        bins += 1
    return bins, present


@kernel
def map_to_bins(
    features: Any,
    order: Any,
    used: Any,
    thresholds: Any,
    cut_starts: Any,
    n_bins: Any,
    first: Any,
    last: Any,
    rows: Any,
) -> None:
    """Write the bins of the documents ``first`` to ``last`` into ``rows`` uint8 (documents, columns).

    Document d is row ``order[d]`` of ``features``; column j has feature ``used[j]``, whose thresholds start at
    ``cut_starts[j]``. A value's bin is the number of thresholds below it; a missing one's is ``n_bins[j]``.
    """
    for document in range(first, last):
        row = order[document]
        for j in range(len(used)):
            value = features[row, used[j]]
            if value != value:
                rows[document, j] = n_bins[j]
                continue
            low = cut_starts[j]
            length = n_bins[j] - 1
            while length > 0:  # without branches that depend on the data
                half = (length + 1) >> 1
                low += half if thresholds[low + half - 1] < value else 0
                length -= half
            rows[document, j] = low - cut_starts[j]


@kernel
def transpose(rows: Any, first: Any, last: Any, columns: Any) -> None:
    """Copy the bins of the documents ``first`` to ``last`` into ``columns`` (columns, documents), a block at a time."""
    for block in range(first, last, 64):
        end = min(block + 64, last)
        for j in range(columns.shape[0]):
            for document in range(block, end):
                columns[j, document] = rows[document, j]
