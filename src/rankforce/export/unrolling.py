"""A graph of tests as a tree: a test with several parents is written once for each way that leads to it."""

from __future__ import annotations

import numpy as np

from rankforce.errors import SettingsError
from rankforce.export.forms import ScaledTree
from rankforce.models.dag import RankingGraph

MOST_LEAVES = 1 << 17


def unrolled(graph: RankingGraph, places: np.ndarray) -> ScaledTree:
    """The tree that gives every document the score that the graph gives it.

    What training documents came which way is not known: those of a place are shared out evenly among its leaves, at
    least one each.
    """
    ways = _ways(graph)
    leaves = sum(ways)
    if leaves > MOST_LEAVES:
        raise SettingsError(
            f"{graph!r} has {leaves:,} ways from the top to the frontier, and a tree needs a leaf for each: no engine "
            f"reads graphs, and trees of more than {MOST_LEAVES:,} leaves are not written; train with fewer steps"
        )
    nodes: list[tuple[int, int, int]] = []  # test, left, right
    ends: list[int] = []  # place of each leaf
    waiting: list[tuple[int, int, int]] = [(0 if graph.n_tests else ~0, -1, 0)]  # child, its parent, side
    while waiting:
        child, parent, side = waiting.pop()
        if child < 0:
            number = ~len(ends)
            ends.append(~child)
        else:
            number = len(nodes)
            nodes.append((child, 0, 0))
            waiting += [(int(graph.right[child]), number, 2), (int(graph.left[child]), number, 1)]
        if parent >= 0:
            above = list(nodes[parent])
            above[side] = number
            nodes[parent] = (above[0], above[1], above[2])
    table = np.array(nodes, dtype=np.int64).reshape(-1, 3)
    test, place = table[:, 0], np.array(ends)
    return ScaledTree(
        feature=places[graph.feature[test]].astype(np.int32),
        threshold=graph.threshold[test],
        missing_left=graph.missing_left[test],
        left=table[:, 1].astype(np.int32),
        right=table[:, 2].astype(np.int32),
        gain=graph.gain[test],
        leaf_value=(graph.n_places - 1 - place).astype(np.float64),
        leaf_documents=np.maximum(graph.documents[place] // np.array(ways)[place], 1),
    )


def _ways(graph: RankingGraph) -> list[int]:
    """How many ways lead to each place of the frontier: Python's numbers, which do not overflow."""
    to_test = [1] + [0] * max(graph.n_tests - 1, 0)
    to_place = [0] * graph.n_places
    if not graph.n_tests:
        to_place[0] = 1
    for test in range(graph.n_tests):
        for child in (int(graph.left[test]), int(graph.right[test])):
            if child >= 0:
                to_test[child] += to_test[test]
            else:
                to_place[~child] += to_test[test]
    return to_place
