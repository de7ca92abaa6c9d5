"""Why a document scores otherwise than another: Shapley values against one reference document after the other.

A set S of features takes its values from the document, all others from the reference; the Shapley values of the score
of such mixtures add up to the difference of the two scores (interventional TreeSHAP, Lundberg et al. 2020; with one
reference: Baseline Shapley). On the path to a leaf only features whose splits send the two apart matter: a leaf that
needs the document's side of a of them and the reference's side of b of them counts for

    +v·(a − 1)!·b!/(a + b)! = +v/(a·C(a + b, a))   for each of the a,
    −v·a!·(b − 1)!/(a + b)! = −v/(b·C(a + b, b))   for each of the b.

A walk that takes both sides where the two part comes to these leaves and to no other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel, subroutine
from rankforce.kernels.trees.scoring import goes_left

NEITHER, DOCUMENT, REFERENCE = 0, 1, 2


@subroutine
def _child(nodes: Any, thresholds: Any, sets: Any, node: Any, value: Any) -> Any:
    """Where a value goes; nodes as in ``scoring._walk``."""
    if sets is not None:
        return nodes[node, 1 if goes_left(value, node, nodes, thresholds, sets) else 2]
    if value == value:
        return nodes[node, 1 + (value > thresholds[node])]
    return nodes[node, 2 - nodes[node, 3]]


@kernel
def add_reference_contributions(
    features: Any,
    references: Any,
    roots: Any,
    nodes: Any,
    thresholds: Any,
    sets: Any,
    leaf_values: Any,
    weights: Any,
    first: Any,
    last: Any,
    out: Any,
) -> None:
    """Add to out, float64 (documents, features), the sum over references of the Shapley values of documents ``first``
    to ``last``.

    features, references float32 (documents, features); roots, nodes, thresholds, sets as ``scoring.score_by_walking``
    has them; weights float64: ``weights[a, b]`` = 1/(a·C(a + b, a)), for as many as there are splits on a path.
    """
    parted = np.empty(weights.shape[0], dtype=np.int64)  # features whose splits sent the two apart on this path
    taken = np.empty(weights.shape[0], dtype=np.int64)  # whose side the walk takes at them
    other = np.empty(weights.shape[0], dtype=np.int64)  # where the reference goes
    whose = np.zeros(features.shape[1], dtype=np.int64)
    for document in range(first, last):
        for tree in range(roots.shape[0]):
            for reference in range(references.shape[0]):
                depth, a, b = 0, 0, 0
                node = np.int64(roots[tree])
                while True:
                    while node >= 0:
                        feature = nodes[node, 0]
                        own = np.int64(_child(nodes, thresholds, sets, node, features[document, feature]))
                        theirs = np.int64(_child(nodes, thresholds, sets, node, references[reference, feature]))
                        if own == theirs or whose[feature] == DOCUMENT:
                            node = own
                        elif whose[feature] == REFERENCE:
                            node = theirs
                        else:
                            parted[depth], taken[depth], other[depth] = feature, DOCUMENT, theirs
                            whose[feature] = DOCUMENT
                            depth += 1
                            a += 1
                            node = own
                    value = np.float64(leaf_values[~node])
                    for k in range(depth):
                        share = weights[a, b] if taken[k] == DOCUMENT else -weights[b, a]
                        out[document, parted[k]] += share * value
                    while depth > 0 and taken[depth - 1] == REFERENCE:
                        depth -= 1
                        b -= 1
                        whose[parted[depth]] = NEITHER
                    if depth == 0:
                        break
                    taken[depth - 1] = REFERENCE
                    whose[parted[depth - 1]] = REFERENCE
                    a -= 1
                    b += 1
                    node = other[depth - 1]


@kernel
def add_scores_without(
    features: Any,
    absent: Any,
    roots: Any,
    nodes: Any,
    thresholds: Any,
    sets: Any,
    shares: Any,
    leaf_values: Any,
    first: Any,
    last: Any,
    scores: Any,
) -> None:
    """Add trees to the scores of documents ``first`` to ``last`` with the feature ``absent`` taken out.

    At its splits a document goes down both sides, in the shares of the training documents (shares float64: of those
    that went left). The rest as in ``scoring.score_by_walking``.
    """
    waiting = np.empty(nodes.shape[0] + 1, dtype=np.int64)
    parts = np.empty(nodes.shape[0] + 1)
    for document in range(first, last):
        for tree in range(roots.shape[0]):
            total = 0.0
            depth = 1
            waiting[0], parts[0] = roots[tree], 1.0
            while depth > 0:
                depth -= 1
                node, part = waiting[depth], parts[depth]
                while node >= 0:
                    if nodes[node, 0] == absent:
                        waiting[depth], parts[depth] = nodes[node, 2], part * (1.0 - shares[node])
                        depth += 1
                        part *= shares[node]
                        node = np.int64(nodes[node, 1])
                    else:
                        node = np.int64(_child(nodes, thresholds, sets, node, features[document, nodes[node, 0]]))
                total += part * np.float64(leaf_values[~node])
            scores[document] += total
