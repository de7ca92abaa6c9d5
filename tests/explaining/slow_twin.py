"""Shapley values by their definition: the mean over all orders in which features become known, as a sum over sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.trees.tree import Tree


def shapley(value: Callable[[frozenset[int]], float], players: int) -> np.ndarray:
    """φ_i = Σ_{S without i} |S|!(n − 1 − |S|)!/n!·(value(S ∪ i) − value(S))."""
    known = {
        frozenset(one): value(frozenset(one))
        for size in range(players + 1)
        for one in itertools.combinations(range(players), size)
    }
    result = np.zeros(players)
    for i in range(players):
        for without in (one for one in known if i not in one):
            size = len(without)
            weight = math.factorial(size) * math.factorial(players - 1 - size) / math.factorial(players)
            result[i] += weight * (known[without | {i}] - known[without])
    return result


def documents_under(tree: Tree, child: int) -> int:
    if child < 0:
        return int(tree.leaf_documents[~child])
    return documents_under(tree, int(tree.left[child])) + documents_under(tree, int(tree.right[child]))


def expected_value(tree: Tree, row: np.ndarray, known: frozenset[int], node: int = 0) -> float:
    """What a tree gives where only some features are known: at the splits of others, the mean by training documents."""
    if not len(tree.feature):
        return float(tree.leaf_value[0])

    def below(child: int) -> float:
        return float(tree.leaf_value[~child]) if child < 0 else expected_value(tree, row, known, child)

    feature, left, right = int(tree.feature[node]), int(tree.left[node]), int(tree.right[node])
    if feature in known:
        goes_left = tree.goes_left(row[[feature]], np.array([node]))[0]
        return below(left if goes_left else right)
    on_left, on_right = documents_under(tree, left), documents_under(tree, right)
    share = on_left / (on_left + on_right) if on_left + on_right else 0.5
    return share * below(left) + (1.0 - share) * below(right)


def path_dependent(model: TreeEnsemble, row: np.ndarray) -> np.ndarray:
    def value(known: frozenset[int]) -> float:
        return math.fsum(expected_value(tree, row, known) for tree in model.trees)

    return shapley(value, model.n_features)


def against_references(score: Callable[[np.ndarray], np.ndarray], row: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The mean over references of the Shapley values of the score of mixtures."""

    def value(known: frozenset[int]) -> float:
        mixed = rows.copy()
        mixed[:, sorted(known)] = row[sorted(known)]
        return float(score(mixed).mean())

    return shapley(value, len(row))
