"""LambdaMART as two papers write it down, slow and literal: what its presets must come to.

"The overview" is Burges, From RankNet to LambdaRank to LambdaMART (MSR-TR-2010-82): regression trees in section 5,
LambdaMART in the box of section 7. "Multiple objectives" is Svore, Volkovs and Burges (WWW 2011): the gradient step and
changing objectives in section 5. Two things are the program's and not the papers': which of two equal scores ranks
first (``ties``), and that leaf values are kept as float32.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

Pull = Callable[[float], tuple[float, float]]  # (λ, w) of a pair with |ΔZ| = 1, from the gap of its scores


def cross_entropy(sigma: float = 1.0) -> Pull:
    """The overview, section 7: σρ and σ²ρ(1 − ρ), ρ = 1/(1 + e^{σ(s_i − s_j)})."""

    def pull(gap: float) -> tuple[float, float]:
        rho = 1.0 / (1.0 + math.exp(sigma * gap))
        return sigma * rho, sigma * sigma * rho * (1.0 - rho)

    return pull


def sigmoid(mu: float) -> Pull:
    """Multiple objectives, equation 14: e^{o + μ}/(1 + e^{o + μ})²; its second derivative is not used."""

    def pull(gap: float) -> tuple[float, float]:
        e = math.exp(gap + mu)
        return e / (1.0 + e) ** 2, 0.0

    return pull


class Query(NamedTuple):
    rows: list[int]
    grades: list[int]
    ties: list[int]  # of equal scores the one with the smaller number ranks first


def lambdas(query: Query, scores: np.ndarray, pull: Pull) -> tuple[np.ndarray, np.ndarray]:
    """λ and w of the documents of a query, for NDCG: a double loop over its pairs."""
    n = len(query.rows)
    own = [float(scores[row]) for row in query.rows]
    order = sorted(range(n), key=lambda i: (-own[i], query.ties[i]))
    rank = [0] * n
    for place, i in enumerate(order, start=1):
        rank[i] = place
    best = sum((2**g - 1) / math.log2(1 + r) for r, g in enumerate(sorted(query.grades, reverse=True), start=1))
    force, weight = np.zeros(n), np.zeros(n)
    for i in range(n):
        for j in range(n):
            if query.grades[i] > query.grades[j]:
                gain = 2 ** query.grades[i] - 2 ** query.grades[j]
                change = abs(gain * (1 / math.log2(1 + rank[i]) - 1 / math.log2(1 + rank[j]))) / best
                pulled, curved = pull(own[i] - own[j])
                force[i] += pulled * change
                force[j] -= pulled * change
                weight[i] += curved * change
                weight[j] += curved * change
    return force, weight


class Node(NamedTuple):
    """A test ``x[feature] <= t`` with any t between the two values."""

    feature: int
    highest_left: float
    lowest_right: float


class Best(NamedTuple):
    reduction: float  # of squared error
    node: Node
    left: list[int]
    right: list[int]


def regression_tree(X: np.ndarray, y: np.ndarray, n_leaves: int, least: int) -> tuple[list[Node], list[list[int]]]:
    """(tests in the order in which they are made, documents of each leaf): least squares, the best split of all first.

    The overview, section 5: of all features and thresholds the one that minimises Σ(y − μ_L)² + Σ(y − μ_R)², L − 1
    times. Both sides hold at least ``least`` documents.
    """
    leaves = [list(range(len(y)))]
    candidates = [best_split(X, y, leaves[0], least)]
    nodes: list[Node] = []
    while len(leaves) < n_leaves:
        place = max(range(len(leaves)), key=lambda k: -math.inf if (one := candidates[k]) is None else one.reduction)
        found = candidates[place]
        if found is None:
            break
        nodes.append(found.node)
        leaves[place : place + 1] = [found.left, found.right]
        candidates[place : place + 1] = [best_split(X, y, side, least) for side in (found.left, found.right)]
    return nodes, leaves


def best_split(X: np.ndarray, y: np.ndarray, rows: list[int], least: int) -> Best | None:
    best: Best | None = None
    whole = squared_error(y[rows])
    for feature in range(X.shape[1]):
        values = sorted({float(X[row, feature]) for row in rows})
        for low, high in itertools.pairwise(values):
            left = [row for row in rows if X[row, feature] <= low]
            right = [row for row in rows if X[row, feature] > low]
            if min(len(left), len(right)) < least:
                continue
            reduction = whole - squared_error(y[left]) - squared_error(y[right])
            if reduction > 1e-12 and (best is None or reduction > best.reduction):
                best = Best(reduction, Node(feature, low, high), left, right)
    return best


def squared_error(y: np.ndarray) -> float:
    return float(((y - y.mean()) ** 2).sum())


class Boosted(NamedTuple):
    trees: list[tuple[list[Node], list[list[int]]]]
    scores: list[np.ndarray]  # after each tree


def lambdamart(
    X: np.ndarray, queries: list[Query], start: np.ndarray, sigma: float, n_trees: int, n_leaves: int, least: int,
    rate: float,
) -> Boosted:  # fmt: skip
    """The box of the overview's section 7: leaves get Σλ/Σw."""
    trees, scores = [], []
    running = start.astype(np.float64)
    for _ in range(n_trees):
        y, w = np.zeros(len(X)), np.zeros(len(X))
        for query in queries:
            y[query.rows], w[query.rows] = lambdas(query, running, cross_entropy(sigma))
        nodes, leaves = regression_tree(X, y, n_leaves, least)
        running = running.copy()
        for leaf in leaves:
            gamma = y[leaf].sum() / w[leaf].sum() if w[leaf].sum() > 0 else 0.0
            running[leaf] += float(np.float32(rate * gamma))
        trees.append((nodes, leaves))
        scores.append(running)
    return Boosted(trees, scores)


def gradient_step(
    X: np.ndarray, queries: list[Query], second: Pull, shares: Iterable[float], n_leaves: int, least: int, rate: float
) -> Boosted:
    """Multiple objectives, section 5: λ = (1 − w_m)λ^L + w_m λ^S, one share w_m for every tree.

    The λ's of a query are divided by their standard deviation (section 5.3); a leaf gets their mean.
    """
    trees, scores = [], []
    running = np.zeros(len(X))
    for share in shares:
        y = np.zeros(len(X))
        for query in queries:
            mixed = (1 - share) * lambdas(query, running, cross_entropy())[0]
            mixed += share * lambdas(query, running, second)[0]
            deviation = math.sqrt(((mixed - mixed.mean()) ** 2).mean())
            y[query.rows] = mixed / deviation if deviation > 0 else mixed
        nodes, leaves = regression_tree(X, y, n_leaves, least)
        running = running.copy()
        for leaf in leaves:
            running[leaf] += float(np.float32(rate * y[leaf].mean()))
        trees.append((nodes, leaves))
        scores.append(running)
    return Boosted(trees, scores)
