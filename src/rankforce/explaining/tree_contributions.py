"""What each feature contributes to the score of a sum of trees: Shapley values, exact.

Two answers to what a feature that is not known would be: *path-dependent*, as the training documents in the nodes of
the tree went (kernels/trees/contributions.py); *against references*, as in other documents, one after the other
(kernels/trees/references.py).
"""

from __future__ import annotations

import math

import numpy as np

from rankforce.console.wording import counted
from rankforce.errors import SettingsError
from rankforce.models.compiled_trees import ValueRows
from rankforce.models.dag import RankingGraph
from rankforce.models.model import frozen
from rankforce.models.set_tables import SetPlaces
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.remedies import Argument
from rankforce.threads import over_pieces, over_ranges, thread_count
from rankforce.trees.tree import Tree

FEW_REFERENCES = 8  # up to here a walk per reference is faster than patterns
MOST_PATHS = 100_000  # of a graph, which has a path per way through it


def path_dependent(model: TreeEnsemble, matrix: np.ndarray) -> tuple[float, np.ndarray]:
    """(expected score of the trees, Shapley values float64 (documents, features)); without what the trees start from.

    Expected is the mean over the training documents of each tree, a node's documents parted as they were in training.
    """
    from rankforce.kernels.trees.contributions import (
        COLUMNS,
        CONSTANTS_PER_NODE,
        STEPS_PER_NODE,
        add_contributions,
        path_sizes,
        plan_steps,
    )

    check_counts(model)
    out = np.zeros((len(matrix), model.n_features))
    nodes = len(model.feature)
    sizes = np.zeros((model.n_trees, 2), dtype=np.int64)
    path_sizes(model.node_starts, model.feature, model.left, model.right, sizes)
    counts = (sizes[:, 0] + 1) // 2
    starts = np.concatenate([[0], np.cumsum(CONSTANTS_PER_NODE * np.diff(model.node_starts) * counts)])
    points, weights = _gauss_rules(int(counts.max(initial=0)))
    places = SetPlaces(model) if model.has_sets else None
    rows = ValueRows(model, places)
    set_rows = None if places is None else places.rows
    steps = np.zeros((STEPS_PER_NODE * nodes, COLUMNS), dtype=np.int64)
    ends, expected = np.zeros(model.n_trees, dtype=np.int64), np.zeros(model.n_trees)
    constants = np.zeros(int(starts[-1]))
    plan_steps(
        model.node_starts, model.leaf_starts, model.feature, rows.of_nodes, model.left, model.right,
        shares_left(model), model.leaf_value, points, weights, counts, starts, steps, ends, constants, expected,
    )  # fmt: skip
    deepest = int(sizes[:, 1].max(initial=0))

    def work(first: int, last: int) -> None:
        add_contributions(
            matrix, rows.features, rows.fills, set_rows, model.node_starts, model.threshold, steps, ends, constants,
            counts, deepest, first, last, out,
        )  # fmt: skip

    _over_blocks(len(matrix), work)
    return math.fsum(expected.tolist()), out


def against_references(model: TreeEnsemble, matrix: np.ndarray, references: np.ndarray) -> np.ndarray:
    """The mean over the references of the Shapley values, float64 (documents, features).

    A row sums to the score of the document less the mean score of the references.
    """
    from rankforce.kernels.trees.contributions import path_sizes
    from rankforce.kernels.trees.reference_patterns import MOST_FEATURES, add_pattern_contributions
    from rankforce.kernels.trees.references import add_reference_contributions

    out = np.zeros((len(matrix), model.n_features))
    sizes = np.zeros((model.n_trees, 2), dtype=np.int64)
    path_sizes(model.node_starts, model.feature, model.left, model.right, sizes)
    weights = _leaf_weights(int(sizes[:, 0].max(initial=0)))
    roots, nodes, thresholds, sets = model.walk

    def walk(first: int, last: int) -> None:
        add_reference_contributions(
            matrix, references, roots, nodes, thresholds, sets, model.leaf_value, weights, first, last, out
        )

    def by_patterns(first: int, last: int) -> None:
        add_pattern_contributions(
            matrix, references, model.node_starts, model.leaf_starts, nodes, thresholds, sets, model.leaf_value,
            weights, int(sizes[:, 1].max()), int(2 * len(references) - 1).bit_length(), first, last, out,
        )  # fmt: skip

    if len(references) <= FEW_REFERENCES or sizes[:, 0].max(initial=0) > MOST_FEATURES:
        over_pieces(_edges(len(matrix), 1), walk)
    else:  # what is found of the references is found again in each piece
        over_ranges(len(matrix), by_patterns, few=2)
    return out / len(references)


def shares_left(model: TreeEnsemble) -> np.ndarray:
    """The share of the training documents of each node that went left."""
    from rankforce.kernels.trees.contributions import left_shares

    shares = np.empty(len(model.feature))
    left_shares(model.node_starts, model.leaf_starts, model.left, model.right, model.leaf_documents, shares)
    return frozen(shares, np.float64)


def check_counts(model: TreeEnsemble) -> None:
    """Raise unless the leaves say how many training documents they held."""
    documents = np.add.reduceat(model.leaf_documents, model.leaf_starts[:-1]) if model.n_trees else np.empty(0)
    lacking = np.flatnonzero((documents == 0) & (model.tree_leaves > 1))
    if len(lacking):
        raise SettingsError(
            f"tree {lacking[0]} does not say how many training documents its leaves held, so that there is no mean to "
            "compare with: give documents to compare with by ",
            Argument("background"),
        )


def as_ensemble(graph: RankingGraph) -> TreeEnsemble:
    """A graph as one tree, with a leaf for each way through it; without counts of documents.

    A test that many ways lead to is written down once per way: a graph with too many is refused.
    """
    ways = np.zeros(graph.n_tests, dtype=object)  # from a test down, in whole numbers of any size
    for test in range(graph.n_tests - 1, -1, -1):
        ways[test] = sum(ways[child] if child >= 0 else 1 for child in (graph.left[test], graph.right[test]))
    if graph.n_tests and ways[0] > MOST_PATHS:
        raise SettingsError(
            f"there are {counted(int(ways[0]), 'way')} through {graph!r}: more than {MOST_PATHS:,} cannot be explained"
        )
    order: list[int] = []  # tests of the graph, in the order of the tree's nodes
    values: list[float] = []
    children: list[list[int]] = []
    pending = [(0, -1, 0)] if graph.n_tests else []  # (test, node above, its side)
    while pending:
        test, above, side = pending.pop()
        node = len(order)
        order.append(test)
        children.append([0, 0])
        if above >= 0:
            children[above][side] = node
        for place, child in enumerate((int(graph.left[test]), int(graph.right[test]))):
            if child >= 0:
                pending.append((child, node, place))
            else:
                children[node][place] = ~len(values)
                values.append(float(graph.n_places - 1 - ~child))
    if not values:
        values = [float(graph.n_places - 1)]
    sides = np.array(children, dtype=np.int32).reshape(-1, 2)
    tree = Tree(
        feature=graph.feature[order],
        threshold=graph.threshold[order],
        missing_left=graph.missing_left[order],
        left=sides[:, 0],
        right=sides[:, 1],
        gain=graph.gain[order],
        leaf_value=np.array(values, dtype=np.float32),
        leaf_documents=np.zeros(len(values), dtype=np.int64),
    )
    return TreeEnsemble.from_trees([tree], graph.feature_names)


def _gauss_rules(most: int) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights of Gauss's rule on [0, 1]; row n has n points."""
    points, weights = np.zeros((most + 1, max(most, 1))), np.zeros((most + 1, max(most, 1)))
    for count in range(1, most + 1):
        x, w = np.polynomial.legendre.leggauss(count)
        points[count, :count], weights[count, :count] = (x + 1.0) / 2.0, w / 2.0
    return points, weights


def _leaf_weights(most: int) -> np.ndarray:
    """1/(a·C(a + b, a)) for a, b from 0 to ``most``; 0 where a is 0."""
    weights = np.zeros((most + 1, most + 1))
    for a in range(1, most + 1):
        for b in range(most + 1 - a):
            weights[a, b] = 1.0 / (a * math.comb(a + b, a))
    return weights


def _over_blocks(documents: int, work: object) -> None:
    from rankforce.kernels.trees.contributions import BLOCK

    over_pieces(_edges(documents, BLOCK), work)  # type: ignore[arg-type]


def _edges(documents: int, block: int) -> list[int]:
    """Ranges of whole blocks, a few per thread."""
    blocks = -(-documents // block)
    pieces = max(1, min(blocks, 4 * thread_count()))
    return sorted({min(documents, block * (blocks * piece // pieces)) for piece in range(pieces + 1)} | {0, documents})
