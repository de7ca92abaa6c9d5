"""Rows on which conversions go wrong: on thresholds, one number beside, zeros of both signs, far out, missing.

Of categories: codes that sets list and codes beside them, at the ends of words, beyond all, -1, far out, missing. None
that is no whole number: models refuse them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from rankforce.data.random_streams import Stream
from rankforce.export.forms import AdditiveTrees, Form, LinearForm, ScaledTree, parts_of
from rankforce.export.thresholds import LARGEST

FAR = 1e30
NO_CATEGORIES: Mapping[int, int] = MappingProxyType({})


def rows_of_tree(tree: ScaledTree, n_features: int, *, double: bool) -> np.ndarray:
    """For every node, rows that reach it and have its feature on the threshold, beside it, 0, −0, far out, missing.

    ``double``: float64 rows, with what lies between the threshold and the next float32; else float32.
    """
    dtype = np.float64 if double else np.float32
    rows = []
    lows = {0: np.full(n_features, -np.inf, dtype=np.float32)}
    highs = {0: np.full(n_features, np.inf, dtype=np.float32)}
    open_codes = {0: {int(feature): _codes_around(tree, feature) for feature in np.unique(tree.feature[tree.asks_set])}}
    for node in range(tree.n_nodes):
        low, high, codes = lows.pop(node), highs.pop(node), open_codes.pop(node)
        feature, threshold, listed = tree.feature[node], tree.threshold[node], tree.codes(node)
        with np.errstate(over="ignore"):
            above = np.nextafter(low, np.float32(np.inf))
        inside = np.where(high < LARGEST, high, np.where(np.isfinite(low), above, np.float32(0)))
        inside[low == LARGEST] = np.nan  # beyond the largest number is what is missing
        for category, left in codes.items():
            inside[category] = left[0] if len(left) else -1
        if listed is None:
            values = _values_around(threshold, double)
        else:
            values = np.append(_codes_around(tree, feature), [2.0**24, 2.0**31, FAR, -FAR, -0.0, np.nan])
        block = np.tile(inside.astype(dtype), (len(values), 1))
        block[:, feature] = values
        rows.append(block)
        for child, bound, side in ((tree.left[node], highs, high), (tree.right[node], lows, low)):
            if child >= 0:
                lows[child], highs[child], open_codes[child] = low.copy(), high.copy(), codes
                if listed is not None:
                    stays = np.isin(codes[feature], listed) == (bound is highs)
                    open_codes[child] = codes | {int(feature): codes[feature][stays]}
                    continue
                narrowed = side.copy()
                narrowed[feature] = threshold
                bound[child] = narrowed
    return np.concatenate(rows) if rows else np.zeros((1, n_features), dtype=dtype)


def _codes_around(tree: ScaledTree, feature: int) -> np.ndarray:
    """Codes of a feature that sets of a tree list, one beside each, the ends of words, -1 and one beyond all."""
    sets = [tree.codes(node) for node in np.flatnonzero(tree.asks_set & (tree.feature == feature)).tolist()]
    listed = np.unique(np.concatenate([codes for codes in sets if codes is not None]))
    beside = [listed, listed + 1, np.maximum(listed - 1, 0), [-1, -2, 0, 31, 32, 63, 64, listed[-1] + 33]]
    return np.unique(np.concatenate(beside)).astype(np.float64)


def _values_around(threshold: np.float32, double: bool) -> np.ndarray:
    with np.errstate(over="ignore"):
        below = np.nextafter(threshold, np.float32(-np.inf))
        above = np.nextafter(threshold, np.float32(np.inf))
    if not np.isfinite(above):
        above = threshold
    if not np.isfinite(below):
        below = threshold
    values = [below, above, 0.0, -0.0, FAR, -FAR, np.nan]
    if threshold == LARGEST:  # stands for infinity: it parts what is missing from what is known
        values = [below, 0.0, -0.0, FAR, -FAR, np.nan]
    else:
        values.append(threshold)
    if double and threshold < LARGEST:
        middle = float(threshold) + (float(above) - float(threshold)) / 2.0
        values += [middle, np.nextafter(middle, -np.inf), np.nextafter(middle, np.inf)]
        values += [np.nextafter(float(threshold), np.inf), np.nextafter(float(threshold), -np.inf)]
    return np.array(values, dtype=np.float64 if double else np.float32)


def mixed_rows(form: Form, n_features: int, count: int, categories: Mapping[int, int] = NO_CATEGORIES) -> np.ndarray:
    """Rows that draw every feature from its thresholds, what lies beside them, zeros, far out, missing: float32.

    Far out only where all is trees: elsewhere such a value would hide all others. ``categories``: how many each
    categorical feature has, 0 if nobody knows; these draw codes.
    """
    parts = parts_of(form)
    usual = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, np.nan]
    if all(isinstance(part, AdditiveTrees) for part in parts):
        usual += [FAR, -FAR]
    values = [list(usual) for _ in range(n_features)]
    asked: dict[int, list[np.ndarray]] = {}
    for part in parts:
        if isinstance(part, AdditiveTrees):
            for tree in part.trees:
                for feature, threshold in zip(tree.feature, tree.threshold, strict=True):
                    if threshold < LARGEST:
                        values[feature].append(float(threshold))
                for feature in np.unique(tree.feature[tree.asks_set]):
                    asked.setdefault(int(feature), []).append(_codes_around(tree, feature))
        elif isinstance(part, LinearForm):
            for feature in np.flatnonzero(np.isnan(part.fills) & (part.weights != 0)):
                values[feature] = [value for value in values[feature] if value == value]
    drawn = Stream.EXPORT_ROWS.generator(0)
    rows = np.zeros((count, n_features), dtype=np.float32)
    for feature, listed in enumerate(values):
        chosen = drawn.choice(np.array(listed, dtype=np.float32), count)
        beside = drawn.integers(-1, 2, count)
        with np.errstate(over="ignore"):
            moved = np.nextafter(chosen, np.where(beside > 0, np.inf, -np.inf).astype(np.float32))
        rows[:, feature] = np.where((beside == 0) | ~np.isfinite(moved), chosen, moved)
    for feature, known in categories.items():
        codes = np.unique(np.concatenate([*asked.get(feature, []), [-1.0, 0.0]]))
        codes = codes[(codes >= -1) & (codes < known)] if known else np.append(codes, [2.0**24, 2.0**31, FAR, -FAR])
        rows[:, feature] = drawn.choice(np.append(codes, np.nan), count)
    return rows
