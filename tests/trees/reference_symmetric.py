"""A slow, obvious grower of symmetric trees: Python integers, every test tried on every leaf of every level."""

from __future__ import annotations

import math

from tests.trees.reference_categories import divided_by, ordered_bins, sets_in_order, smoothed
from tests.trees.reference_grower import ROUNDING, Leaf, ReferenceTree, bounded_worth, sums


def divided(leaf, bins, n_bins, b, missing_left):
    if isinstance(b, frozenset):
        return divided_by(leaf.documents, bins, n_bins, b, missing_left)
    left = [d for d in leaf.documents if bins[d] <= b or (missing_left and bins[d] == n_bins)]
    inside = set(left)
    return left, [d for d in leaf.documents if d not in inside]


def gain_of(leaf, left, right, q, r, *, min_documents, l2, min_gain, direction, bounded):
    """What this leaf gains by the division; None if it cannot be made."""
    (ql, rl), (qr, rr) = sums(left, q, r), sums(right, q, r)
    if rl < 1 or rr < 1 or len(left) < min_documents or len(right) < min_documents:
        return None
    within = leaf if bounded else Leaf([])
    worth_left, value_left = bounded_worth(ql, rl, l2, within)
    worth_right, value_right = bounded_worth(qr, rr, l2, within)
    if bounded and direction * value_left > direction * value_right:
        return None
    gain = worth_left + worth_right - bounded_worth(*sums(leaf.documents, q, r), l2, within)[0]
    return gain if gain > ROUNDING * abs(worth_left + worth_right) and gain > min_gain else None


def grow_symmetric_reference(
    binned, q, r, *, n_leaves, min_documents, max_depth=math.inf, l2=0.0, min_gain=0.0, usable=None, monotone=None,
    documents=None, category_smoothing=0.0,
):  # fmt: skip
    width = len(binned.binning.features)
    usable = [True] * width if usable is None else usable
    monotone = [0] * width if monotone is None else monotone
    rules = {"min_documents": min_documents, "l2": l2, "min_gain": min_gain, "bounded": any(monotone)}
    columns = [binned.bins(column).tolist() for column in range(width)]
    tree = ReferenceTree()
    tree.leaves.append(Leaf(list(range(binned.n_documents)) if documents is None else list(documents)))
    where = {}
    for _ in range(int(min(max_depth, math.ceil(math.log2(n_leaves))))):
        best = None
        for column in range(width):
            n_bins = int(binned.binning.n_bins[column])
            if not usable[column]:
                continue
            tests = ((b, missing_left) for b in range(n_bins) for missing_left in (True, False))
            forces = [q] * len(tree.leaves)
            if column in binned.binning.category_bins:
                bins = columns[column]
                large = [leaf.documents for leaf in tree.leaves if len(leaf.documents) >= 2 * min_documents]
                if not large:
                    continue
                order, weights, shares = ordered_bins(bins, n_bins, large, q, r, category_smoothing)
                tests = sets_in_order(order, weights, n_bins)
                forces = [smoothed(leaf.documents, bins, q, r, shares) for leaf in tree.leaves]
            for b, missing_left in tests:
                gains = [
                    gain_of(
                        leaf, *divided(leaf, columns[column], n_bins, b, missing_left), of_leaf, r,
                        direction=monotone[column], **rules,
                    )
                    for leaf, of_leaf in zip(tree.leaves, forces, strict=True)
                ]  # fmt: skip
                total = sum(gain for gain in gains if gain is not None)
                if total > (0 if best is None else best[0] * (1 + 1e-12)):
                    best = (total, column, b, missing_left, gains)
        if best is None:
            break
        _, column, b, missing_left, gains = best
        n_bins = int(binned.binning.n_bins[column])
        splitting = sorted(
            sorted((k for k, gain in enumerate(gains) if gain is not None), key=lambda k: (-gains[k], k))[
                : n_leaves - len(tree.leaves)
            ]
        )
        sides = {k: divided(tree.leaves[k], columns[column], n_bins, b, missing_left) for k in splitting}
        everything = [d for k in splitting for d in tree.leaves[k].documents]
        if not any(columns[column][d] == n_bins for d in everything):
            missing_left = 2 * sum(len(left) for left, _ in sides.values()) >= len(everything)
        for k in splitting:
            leaf, (left, right) = tree.leaves[k], sides[k]
            node, other = len(tree.splits), len(tree.leaves)
            tree.splits.append((column, b, missing_left))
            tree.gains.append(gains[k])
            tree.children.append([~k, ~other])
            if k in where:
                parent, side = where[k]
                tree.children[parent][side] = node
            where[k], where[other] = (node, 0), (node, 1)
            first = Leaf(left, leaf.depth + 1, leaf.lower, leaf.upper)
            second = Leaf(right, leaf.depth + 1, leaf.lower, leaf.upper)
            if monotone[column]:
                values = [bounded_worth(*sums(side, q, r), l2, leaf)[1] for side in (left, right)]
                middle = 0.5 * (values[0] + values[1])
                if monotone[column] > 0:
                    first.upper = second.lower = middle
                else:
                    first.lower = second.upper = middle
            tree.leaves[k] = first
            tree.leaves.append(second)
    return tree
