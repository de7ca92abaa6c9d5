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


@subroutine
def _run_end(values: Any, begin: Any, end: Any) -> Any:
    """Where the run of equal values that starts at ``begin`` ends."""
    k = begin + 1
    while k < end and values[k] == values[begin]:
        k += 1
    return k


@kernel
def cut_points(values: Any, most: Any, cuts: Any) -> Any:
    """Write the thresholds between the bins of a sorted float32 column (NaN last) into ``cuts``.

    Returns (number of bins, number of values that are not missing). A bin holds the values ≤ its threshold, and the
    last bin has none, so there is one threshold fewer than bins. Up to ``most`` distinct values get a bin each.
    Otherwise a heavy value, one with at least 1/most of the rows, gets a bin of its own, and each bin of light values
    in turn takes as near as possible to its fair share of the light rows that are left. Light values for which no bin
    is left join the heavy value above them (or below, at the end).
    """
    present = len(values)
    while present > 0 and values[present - 1] != values[present - 1]:
        present -= 1
    distinct = 0
    heavies = 0
    light_rows = present
    k = 0
    while k < present:
        end = _run_end(values, k, present)
        distinct += 1
        if (end - k) * most >= present:
            heavies += 1
            light_rows -= end - k
        k = end
    exact = distinct <= most
    light_bins = most - heavies
    bins = 0
    begin = 0  # of the bin being filled
    holds_heavy = False
    k = 0
    while k < present:
        end = _run_end(values, k, present)
        heavy = (end - k) * most >= present
        if k > begin:
            held = k - begin
            fair = light_rows / max(light_bins, 1)
            if exact:
                close = True
            elif holds_heavy:
                close = heavies > 0 or light_bins > 0
            elif heavy:
                close = light_bins > 0
            else:
                close = light_bins > 1 and (held >= fair or held + (end - k) - fair > fair - held)
            if close:
                if not holds_heavy:
                    light_bins -= 1
                    light_rows -= held
                cuts[bins] = _between(values[k - 1], values[k])
                bins += 1
                begin = k
                holds_heavy = False
        if heavy:
            holds_heavy = True
            heavies -= 1
        k = end
    return bins + (1 if present > 0 else 0), present


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
