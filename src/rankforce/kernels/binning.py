"""Where the values of a feature are cut, and the bin of every value."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel, subroutine

BLOCK = 64  # documents binned at a time


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


@subroutine
def _bin_of(value: Any, thresholds: Any, start: Any, bins: Any) -> Any:
    """The number of thresholds below a value; ``bins`` for a missing one."""
    if value != value:
        return bins
    low = start
    length = bins - 1
    while length > 0:  # without branches that depend on the value
        half = (length + 1) >> 1
        low += half if thresholds[low + half - 1] < value else 0
        length -= half
    return low - start


@kernel
def map_to_bins(
    features: Any,
    order: Any,
    used: Any,
    thresholds: Any,
    cut_starts: Any,
    n_bins: Any,
    byte: Any,
    stride: Any,
    first: Any,
    last: Any,
    rows: Any,
    columns: Any,
) -> None:
    """Write the bins of the documents ``first`` to ``last``.

    Document d is row ``order[d]`` of ``features``; column j has feature ``used[j]``, whose thresholds start at
    ``cut_starts[j]``. ``rows`` uint8 (documents, bytes), zero before, gets bin·stride added in its byte; ``columns``
    uint8 (columns, documents) the bin, if it has any rows. Some documents at a time: their features stay in the cache.
    """
    for begin in range(first, last, BLOCK):
        end = min(begin + BLOCK, last)
        for j in range(len(used)):
            for document in range(begin, end):
                b = _bin_of(features[order[document], used[j]], thresholds, cut_starts[j], n_bins[j])
                rows[document, byte[j]] += np.uint8(b * stride[j])
                if columns.shape[0] > 0:
                    columns[j, document] = b
