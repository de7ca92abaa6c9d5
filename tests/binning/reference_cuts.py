"""Thresholds of a column, value by value: the slow twin of ``cut_points``."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np

from rankforce.binning.binning import BEYOND


def slow_cuts(values, most):
    """Thresholds of one column, with Python lists."""
    values = [v for v in values.tolist() if v == v]
    counts = sorted(Counter(values).items())
    heavy = {value for value, count in counts if count * most >= len(values)}
    light_bins = most - len(heavy)
    light_rows = sum(count for value, count in counts if value not in heavy)
    to_come = len(heavy)
    bins, current, held = [], [], 0  # lists of distinct values
    for value, count in counts:
        with_heavy = any(v in heavy for v in current)
        fair = light_rows / max(light_bins, 1)
        if current and (
            len(counts) <= most
            or (with_heavy and (to_come > 0 or light_bins > 0))
            or (not with_heavy and value in heavy and light_bins > 0)
            or (not with_heavy and value not in heavy and light_bins > 1
                and (held >= fair or held + count - fair > fair - held))
        ):  # fmt: skip
            if not with_heavy:
                light_bins -= 1
                light_rows -= held
            bins.append(current)
            current, held = [], 0
        current.append(value)
        held += count
        to_come -= value in heavy
    bins.append(current)
    cuts = []
    for one, following in pairwise(bins):
        low, high = one[-1], following[0]
        middle = np.float32((low + high) / 2)
        cuts.append(middle if middle < high else np.float32(low))
    return [*cuts, BEYOND]
