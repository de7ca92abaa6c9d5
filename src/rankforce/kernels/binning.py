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
    """Where the run of equal values that starts at ``begin`` ends: steps that double while inside, then halve."""
    inside = begin
    step = 1
    while inside + step < end and values[inside + step] == values[begin]:
        inside += step
        step += step
    outside = min(inside + step, end)
    while outside - inside > 1:
        middle = (inside + outside) >> 1
        if values[middle] == values[begin]:
            inside = middle
        else:
            outside = middle
    return outside


@subroutine
def _run_begin(values: Any, first: Any, place: Any) -> Any:
    """Where the run of equal values that holds ``place`` begins; not before ``first``, where a run begins."""
    while first < place:
        middle = (first + place) >> 1
        if values[middle] == values[place]:
            place = middle
        else:
            first = middle + 1
    return place


@subroutine
def _next_heavy(values: Any, begin: Any, present: Any, most: Any) -> Any:
    """Where the next run of at least present/most values begins, from ``begin`` on, where a run begins; or ``present``.

    Such a run holds a place that is a multiple of the length it must have: no other place is looked at.
    """
    least = (present + most - 1) // most
    place = begin
    while place < present:
        first = _run_begin(values, begin, place)
        begin = _run_end(values, place, present)
        if begin - first >= least:
            return first
        place = (begin + least - 1) // least * least
    return present


@kernel
def cut_points(values: Any, most: Any, cuts: Any) -> Any:
    """Write the thresholds between the bins of a sorted float32 column (NaN last) into ``cuts``.

    Returns (number of bins, number of values that are not missing). A bin holds the values ≤ its threshold, and the
    last bin has none, so there is one threshold fewer than bins. Up to ``most`` distinct values get a bin each.
    Otherwise a heavy value, one with at least 1/most of the rows, gets a bin of its own, and each bin of light values
    in turn takes as near as possible to its fair share of the light rows that are left. Light values for which no bin
    is left join the heavy value above them (or below, at the end).

    Only runs of equal values at which a bin may end are looked at, a few hundred of a column.
    """
    present = len(values)
    if present > 0 and values[present - 1] != values[present - 1]:
        first = 0
        while first < present:
            middle = (first + present) >> 1
            if values[middle] != values[middle]:
                present = middle
            else:
                first = middle + 1
    distinct = 0  # not counted beyond ``most`` + 1
    k = 0
    while k < present and distinct <= most:
        k = _run_end(values, k, present)
        distinct += 1
    exact = distinct <= most
    heavies = 0
    light_rows = present
    next_heavy = _next_heavy(values, 0, present, most)
    while next_heavy < present:
        end = _run_end(values, next_heavy, present)
        heavies += 1
        light_rows -= end - next_heavy
        next_heavy = _next_heavy(values, end, present, most)
    next_heavy = _next_heavy(values, 0, present, most)
    light_bins = most - heavies
    bins = 0
    begin = 0  # of the bin being filled
    holds_heavy = False
    k = 0
    while k < present:
        end = _run_end(values, k, present)
        heavy = k == next_heavy
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
            next_heavy = _next_heavy(values, end, present, most)
        k = end
        if exact:
            continue
        if holds_heavy:
            k = k if heavies > 0 or light_bins > 0 else present
        else:
            # Nothing ends the bin before a heavy value, or the run that takes it beyond its fair share.
            candidate = next_heavy
            if light_bins > 1:
                beyond = begin + np.int64(light_rows / light_bins)
                if beyond < next_heavy:
                    candidate = _run_begin(values, k, beyond) if beyond > k else k
            k = max(k, candidate)
    return bins + (1 if present > 0 else 0), present


@kernel
def map_to_bins(
    features: Any,
    order: Any,
    used: Any,
    numeric: Any,
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
    ``cut_starts[j]``. Only the columns ``numeric`` are written. The bin of a value is the number of thresholds below
    it, ``n_bins[j]`` for a missing one.
    ``rows`` uint8 (documents, bytes), zero before, gets bin·stride added in its byte; ``columns`` uint8 (columns,
    documents) the bin, if it has any rows.

    A block of documents is searched for step by step, all of them at each step: their features stay in the cache, and
    no search waits for another. Which half it goes on in is added, not asked: a guess would be wrong every other time.
    """
    values = np.empty(BLOCK, dtype=np.float32)
    below = np.empty(BLOCK, dtype=np.uint32)  # thresholds that are known to be below the value
    for begin in range(first, last, BLOCK):
        count = min(BLOCK, last - begin)
        for k in range(len(numeric)):
            j = numeric[k]
            for d in range(count):
                values[d] = features[order[begin + d], used[j]]
                below[d] = 0
            length = n_bins[j] - 1
            while length > 0:
                half = (length + 1) >> 1
                middle = np.uint64(cut_starts[j] + half - 1)
                for d in range(count):
                    below[d] += np.uint32(half) * np.uint32(thresholds[middle + below[d]] < values[d])
                length -= half
            for d in range(count):
                b = below[d] if values[d] == values[d] else np.uint32(n_bins[j])
                rows[begin + d, byte[j]] += np.uint8(b * np.uint32(stride[j]))
                if columns.shape[0] > 0:
                    columns[j, begin + d] = b


@kernel
def map_categories(
    features: Any,
    order: Any,
    feature: Any,
    of_code: Any,
    n_bins: Any,
    byte: Any,
    stride: Any,
    first: Any,
    last: Any,
    rows: Any,
    column: Any,
) -> None:
    """Write the bins of the documents ``first`` to ``last`` in one categorical column, as ``map_to_bins``.

    The bin of category c is ``of_code[c]``; what is no category of the feature is in the last bin, ``n_bins`` − 1, and
    a missing value in ``n_bins``. ``column`` uint8 (1 or 0, documents).
    """
    for d in range(first, last):
        value = features[order[d], feature]
        b = np.uint32(n_bins - 1)
        if value != value:
            b = np.uint32(n_bins)
        elif value >= 0 and value < len(of_code):
            code = np.int64(value)
            if np.float32(code) == value:
                b = np.uint32(of_code[code])
        rows[d, byte] += np.uint8(b * np.uint32(stride))
        if column.shape[0] > 0:
            column[0, d] = b
