"""A slow, obvious tree grower: Python integers, every candidate of every leaf tried at every step."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from tests.trees.reference_categories import divided_by, ordered_bins, sets_in_order, smoothed

from rankforce.binning.binned import Binned

ROUNDING = 2.0**-40


@dataclass
class Leaf:
    documents: list[int]
    depth: int = 0
    lower: float = -math.inf
    upper: float = math.inf


@dataclass
class ReferenceTree:
    splits: list[tuple[int, object, bool]] = field(default_factory=list)  # column, bin or set, missing values left
    children: list[list[int]] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)
    leaves: list[Leaf] = field(default_factory=list)


def sums(documents: list[int], q: list[int], r: list[int]) -> tuple[int, int]:
    return sum(q[d] for d in documents), sum(r[d] for d in documents)


def bounded_worth(q: int, r: int, l2: float, leaf: Leaf) -> tuple[float, float]:
    value = min(max(q / (r + l2), leaf.lower), leaf.upper)
    return 2.0 * q * value - (r + l2) * value * value, value


def candidates(bins: list[int], n_bins: int, leaf: Leaf, q: list[int], r: list[int]):
    """(bin, missing left, left documents, right documents), in the order in which equal ones win."""
    for b in range(n_bins):
        here = [d for d in leaf.documents if bins[d] == b]
        if sums(here, q, r) == (0, 0):
            continue
        for missing_left in (True, False):
            left = [d for d in leaf.documents if bins[d] <= b or (missing_left and bins[d] == n_bins)]
            inside = set(left)
            yield b, missing_left, left, [d for d in leaf.documents if d not in inside]


def candidates_of(binned, column, leaf, q, r, smoothing):
    """(forces that count, candidates) of a leaf and column."""
    bins, n_bins = binned.bins(column).tolist(), int(binned.binning.n_bins[column])
    if column not in binned.binning.category_bins:
        return q, candidates(bins, n_bins, leaf, q, r)
    order, weights, shares = ordered_bins(bins, n_bins, [leaf.documents], q, r, smoothing)
    sets = ((*test, *divided_by(leaf.documents, bins, n_bins, *test)) for test in sets_in_order(order, weights, n_bins))
    return smoothed(leaf.documents, bins, q, r, shares), sets


def best_split(binned, leaf, q, r, *, min_documents, l2, usable, monotone, least, max_depth, category_smoothing):
    """(gain, column, bin, missing left, left documents, right documents) or None."""
    if leaf.depth >= max_depth:
        return None
    bounded = any(monotone)

    def whole(forces):
        qp, rp = sums(leaf.documents, forces, r)
        return bounded_worth(qp, max(rp, 1), l2, leaf)[0] if bounded else float(qp) * qp / (max(rp, 1) + l2)

    best = None
    for column in range(len(binned.binning.features)):
        if not usable[column]:
            continue
        forces, of_column = candidates_of(binned, column, leaf, q, r, category_smoothing)
        found = None
        for b, missing_left, left, right in of_column:
            (ql, rl), (qr, rr) = sums(left, forces, r), sums(right, forces, r)
            if rl < least or rr < least or len(left) < min_documents or len(right) < min_documents:
                continue
            if bounded:
                worth_left, value_left = bounded_worth(ql, rl, l2, leaf)
                worth_right, value_right = bounded_worth(qr, rr, l2, leaf)
                if monotone[column] * value_left > monotone[column] * value_right:
                    continue
                worth = worth_left + worth_right
            else:
                dl, dr = rl + l2, rr + l2
                worth = (float(ql) * ql * dr + float(qr) * qr * dl) / (dl * dr)
            if found is None or worth > found[0]:
                found = (worth, column, b, missing_left, left, right)
        if found is not None and forces is not q:
            found = (found[0] + (whole(q) - whole(forces)), *found[1:])
        if found is not None and (best is None or found[0] > best[0]):
            best = found
    if best is None:
        return None
    gain = best[0] - whole(q)
    return (gain, *best[1:]) if gain > ROUNDING * abs(best[0]) else None


def grow_reference(
    binned: Binned,
    q: list[int],
    r: list[int],
    *,
    n_leaves: int,
    min_documents: int,
    max_depth: float = math.inf,
    l2: float = 0.0,
    min_gain: float = 0.0,
    usable=None,
    monotone=None,
    documents=None,
    category_smoothing=0.0,
) -> ReferenceTree:
    width = len(binned.binning.features)
    settings = {
        "min_documents": min_documents,
        "l2": l2,
        "usable": [True] * width if usable is None else usable,
        "monotone": [0] * width if monotone is None else monotone,
        "least": 1,
        "max_depth": max_depth,
        "category_smoothing": category_smoothing,
    }
    tree = ReferenceTree()
    tree.leaves.append(Leaf(list(range(binned.n_documents)) if documents is None else list(documents)))
    where = [None]  # (node, side) that leads to each leaf
    found = [best_split(binned, tree.leaves[0], q, r, **settings)]
    while len(tree.leaves) < n_leaves:
        number, chosen = max(
            ((k, split) for k, split in enumerate(found) if split is not None),
            key=lambda pair: (pair[1][0], -pair[0]),
            default=(None, None),
        )
        if chosen is None or chosen[0] <= min_gain:
            break
        gain, column, b, missing_left, left, right = chosen
        leaf = tree.leaves[number]
        missing_bin = binned.binning.n_bins[column]
        if not any(binned.bins(column)[d] == missing_bin for d in leaf.documents):
            missing_left = len(left) >= len(right)
        node, other = len(tree.splits), len(tree.leaves)
        tree.splits.append((column, b, missing_left))
        tree.gains.append(gain)
        tree.children.append([~number, ~other])
        if where[number] is not None:
            parent, side = where[number]
            tree.children[parent][side] = node
        where[number] = (node, 0)
        where.append((node, 1))
        first = Leaf(left, leaf.depth + 1, leaf.lower, leaf.upper)
        second = Leaf(right, leaf.depth + 1, leaf.lower, leaf.upper)
        direction = settings["monotone"][column]
        if direction:
            values = [bounded_worth(*sums(side, q, r), l2, leaf)[1] for side in (left, right)]
            middle = 0.5 * (values[0] + values[1])
            if direction > 0:
                first.upper = second.lower = middle
            else:
                first.lower = second.upper = middle
        tree.leaves[number] = first
        tree.leaves.append(second)
        found[number] = best_split(binned, first, q, r, **settings)
        found.append(best_split(binned, second, q, r, **settings))
    return tree


def small_data(seed: int, n: int = 120, missing: float = 0.15):
    """Features of every kind: few values, many, heavy zero, with and without missing values, constant."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.integers(0, 4, n),
            rng.normal(size=n),
            np.where(rng.random(n) < 0.7, 0, rng.integers(1, 30, n)),
            rng.normal(size=n).round(1),
            np.full(n, 3.0),
            rng.integers(0, 2, n),
            np.full(n, 2.0),
            rng.normal(size=n),
            rng.integers(0, 9, n),
            rng.normal(size=n),
            rng.exponential(size=n),
        ]
    ).astype(np.float32)
    holes = rng.random(X.shape) < missing
    holes[:, [0, 4]] = False
    X[holes] = np.nan
    return X, rng
