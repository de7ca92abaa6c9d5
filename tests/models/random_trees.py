"""Random ensembles, and the slow obvious way to score them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankforce.data import category_sets
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.trees.tree import Tree


def random_tree(rng: np.random.Generator, leaves: int, features: int, values: np.ndarray | None = None) -> Tree:
    """A tree grown by splitting random leaves; thresholds out of ``values`` if given, so that many are equal."""
    nodes = leaves - 1
    left, right = np.empty(nodes, dtype=np.int32), np.empty(nodes, dtype=np.int32)
    hangs: list[tuple[np.ndarray, int] | None] = [None]
    for node in range(nodes):
        leaf = int(rng.integers(len(hangs)))
        above = hangs[leaf]
        if above is not None:
            above[0][above[1]] = node
        left[node], right[node] = ~leaf, ~len(hangs)
        hangs[leaf] = (left, node)
        hangs.append((right, node))
    thresholds = rng.standard_normal(nodes) if values is None else rng.choice(values, nodes)
    return Tree(
        feature=rng.integers(0, features, nodes).astype(np.int32),
        threshold=thresholds.astype(np.float32),
        missing_left=rng.random(nodes) < 0.5,
        left=left,
        right=right,
        gain=rng.random(nodes) * 10,
        leaf_value=rng.standard_normal(leaves).astype(np.float32),
        leaf_documents=rng.integers(1, 100, leaves),
    )


def with_sets(rng: np.random.Generator, tree: Tree, categories: Mapping[int, int]) -> Tree:
    """The tree with a random set of categories, sometimes none or all, at every node of these features."""
    numbers, sets = np.full(len(tree.feature), -1, dtype=np.int32), []
    for node, feature in enumerate(tree.feature.tolist()):
        if feature in categories:
            numbers[node] = len(sets)
            chosen = rng.random(categories[feature]) < rng.choice([0.0, 0.05, 0.5, 1.0], p=[0.1, 0.4, 0.4, 0.1])
            sets.append(category_sets.words_of(np.flatnonzero(chosen).tolist()))
    starts, words = category_sets.joined(sets)
    threshold = np.where(numbers >= 0, np.float32(0), tree.threshold)
    return dataclasses.replace(tree, threshold=threshold, subset=numbers, subset_starts=starts, subset_words=words)


def categorical_ensemble(seed: int, leaves: list[int], counts: Mapping[int, int], **options: Any) -> TreeEnsemble:
    """As ``random_ensemble``, with sets of categories at all nodes of some features: feature -> how many it has."""
    rng = np.random.default_rng(seed + 1000)
    made = random_ensemble(seed, leaves, **{n: v for n, v in options.items() if n not in KEPT})
    trees = [with_sets(rng, tree, counts) for tree in made.trees]
    return TreeEnsemble.from_trees(trees, made.feature_names, **{name: options[name] for name in KEPT & options.keys()})


KEPT = {"base_score", "base_model", "provenance", "double_leaves", "categories"}


def with_codes(seed: int, matrix: np.ndarray, categories: Mapping[int, int], unknown: float = 0.1) -> np.ndarray:
    """The matrix with codes in the columns of these features, some of them -1; missing values stay."""
    rng = np.random.default_rng(seed)
    matrix = matrix.copy()
    for feature, count in categories.items():
        codes = rng.integers(0, count, len(matrix)).astype(np.float32)
        codes[rng.random(len(matrix)) < unknown] = -1.0
        matrix[:, feature] = np.where(np.isnan(matrix[:, feature]), np.nan, codes)
    return matrix


def random_ensemble(seed: int, leaves: list[int], features: int = 7, **options: Any) -> TreeEnsemble:
    rng = np.random.default_rng(seed)
    values = options.pop("values", None)
    names = options.pop("feature_names", [f"f{place}" for place in range(features)])
    return TreeEnsemble.from_trees([random_tree(rng, n, features, values) for n in leaves], names, **options)


def random_features(seed: int, documents: int, features: int = 7, missing: float = 0.1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((documents, features)).astype(np.float32)
    matrix[rng.random(matrix.shape) < missing] = np.nan
    return matrix


def leaf_of(tree: Tree, row: np.ndarray, node: int = 0) -> int:
    """The leaf that a document reaches, by the definition."""
    if len(tree.feature) == 0:
        return 0
    value = row[tree.feature[node]]
    if np.isnan(value):
        goes_left = tree.missing_left[node]
    elif tree.subset[node] >= 0:
        goes_left = value in set(category_sets.categories_of(tree.node_words(node)).tolist())
    else:
        goes_left = value <= tree.threshold[node]
    child = int(tree.left[node] if goes_left else tree.right[node])
    return ~child if child < 0 else leaf_of(tree, row, child)


def slow_scores(trees: list[Tree], matrix: np.ndarray, base: np.ndarray | float = 0.0) -> np.ndarray:
    scores = np.zeros(len(matrix)) + base
    for place, row in enumerate(matrix):
        for tree in trees:
            scores[place] = scores[place] + float(tree.leaf_value[leaf_of(tree, row)])
    return scores
