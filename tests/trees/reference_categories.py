"""Sets of categories, found slowly: the order of a column's bins in Python floats, every place in it tried."""

from __future__ import annotations

import itertools


def mean_of(documents, q, r):
    return float(sum(q[d] for d in documents)) / float(max(sum(r[d] for d in documents), 1))


def ordered_bins(bins, n_bins, leaves, q, r, smoothing):
    """(bins that weigh something in these leaves, by smoothed mean; Σr of each bin; the share that does not count)."""
    pulls, weights = [0.0] * (n_bins + 1), [0.0] * (n_bins + 1)
    for documents in leaves:
        mean = mean_of(documents, q, r)
        for b in range(n_bins + 1):
            here = [d for d in documents if bins[d] == b]
            weight = float(sum(r[d] for d in here))
            pulls[b] += float(sum(q[d] for d in here)) - mean * weight
            weights[b] += weight
    more = smoothing * (sum(weights) / sum(map(len, leaves)))
    weighing = [b for b in range(n_bins) if weights[b] > 0 or pulls[b] != 0]
    order = sorted(weighing, key=lambda b: pulls[b] / max(weights[b] + more, 1.0))
    return order, weights, {b: more / max(weights[b] + more, 1.0) for b in weighing}


def smoothed(documents, bins, q, r, shares):
    """The force of each document of a leaf, less what does not count of its category's pull: {document: q}.

    All of a category is taken off its first document: only sums are looked at.
    """
    mean = mean_of(documents, q, r)
    left = {d: q[d] for d in documents}
    for b, share in shares.items():
        here = [d for d in documents if bins[d] == b]
        if here:
            pull = float(sum(q[d] for d in here)) - mean * float(sum(r[d] for d in here))
            left[here[0]] -= round(share * pull)
    return left


def listed(order, weights, n_bins, place, missing_left):
    """(the bins that go left, whether missing values do) for a split behind a place of the order."""
    before, behind = order[: place + 1], order[place + 1 :]
    if n_bins - 1 in order:  # that of all other categories
        turned = n_bins - 1 in before
    else:
        turned = sum(weights[b] for b in before) > sum(weights[b] for b in behind)
    return frozenset(behind if turned else before), missing_left != turned


def divided_by(documents, bins, n_bins, left_bins, missing_left):
    """(documents on the left, on the right)."""
    left = [d for d in documents if bins[d] in left_bins or (missing_left and bins[d] == n_bins)]
    inside = set(left)
    return left, [d for d in documents if d not in inside]


def sets_in_order(order, weights, n_bins):
    """(bins that go left, whether missing values do), in the order in which equal splits win."""
    for place in range(len(order)):
        for missing_left in (True, False):
            yield listed(order, weights, n_bins, place, missing_left)


def best_worth_of_all_sets(sums_of_bins):
    """The largest Σq²/Σr of both sides over every way to put bins, pairs (q, r), on two sides."""
    best = 0.0
    for size in range(1, len(sums_of_bins)):
        for chosen in itertools.combinations(range(len(sums_of_bins)), size):
            left = [sums_of_bins[b] for b in chosen]
            right = [pair for b, pair in enumerate(sums_of_bins) if b not in chosen]
            best = max(best, sum(sum(q for q, _ in side) ** 2 / sum(r for _, r in side) for side in (left, right)))
    return best
