"""Shapley values of the features in the trees of an ensemble: exact, a block of documents at once.

A feature that is *absent* lets a document down both sides of its splits, in the shares of the training documents
(path-dependent TreeSHAP, Lundberg et al. 2018). On the path to a leaf, the splits of one feature are one *step* with
two numbers: o, 1 if the document passes all of them, and z, the share of training documents that do. The Shapley value
of feature i from a leaf of value v is

    v·(o_i − z_i)·Σ_S |S|!(d − 1 − |S|)!/d!·Π_{j∈S} o_j·Π_{j∉S} z_j          S ⊆ the d − 1 other features of the path
  = v·(o_i − z_i)·∫₀¹ Π_{j≠i} (o_j·t + z_j·(1 − t)) dt

and the integrand is a polynomial of degree d − 1: Gauss's rule with ⌈d/2⌉ points is exact, and adds positive numbers
only. A walk through the tree carries the product C of all factors at every point down to the leaves, and sums of v·C
back up; going up a step, its feature gets the sum times (o − z)/(o·t + z·(1 − t)). So a tree costs splits × points
operations per document (Linear TreeSHAP, Yu et al. 2022), the same for every document: they stand side by side in
vectors.

The walk is written down once per tree, as rows of ``steps`` with their ``constants``. A step of a feature that stands
higher on the path, too, replaces that one: its factors are quotients, and what the higher step adds is taken away.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.jit import kernel, subroutine
from rankforce.kernels.trees.set_tests import failing_value

BLOCK = 32  # documents side by side: what a tree needs of them stays in the first-level cache

# Kinds of steps. A child's step is DOWN ... UP around its subtree, or LEAF; with _AGAIN where its feature stands higher
# on the path; TWO_LEAVES is a node whose children are leaves, of a feature that does not.
TEST, DOWN, UP, LEAF, DOWN_AGAIN, UP_AGAIN, LEAF_AGAIN, TWO_LEAVES = range(8)

# Columns of ``steps``: kind; where its constants begin (TEST: its node); 0 left, 1 right (TEST: its row of values);
# depth of the node; depth of the step that it replaces; feature.
KIND, PLACE, SIDE, DEPTH, REPLACED, FEATURE = range(6)
COLUMNS = 6
STEPS_PER_NODE = 4  # at most
CONSTANTS_PER_NODE = 12  # per point, at most


@kernel
def path_sizes(node_starts: Any, feature: Any, left: Any, right: Any, out: Any) -> None:
    """(most different features, most splits) on a path from the root, for every tree: out int64 (trees, 2)."""
    parent = np.empty(feature.shape[0], dtype=np.int64)
    different = np.empty(feature.shape[0], dtype=np.int64)
    depth = np.empty(feature.shape[0], dtype=np.int64)
    for tree in range(node_starts.shape[0] - 1):
        first = node_starts[tree]
        for node in range(first, node_starts[tree + 1]):
            if node == first:
                parent[node] = -1
                different[node] = 1
                depth[node] = 1
            else:
                above = parent[node]
                different[node] = different[above] + 1
                depth[node] = depth[above] + 1
                while above >= 0:
                    if feature[above] == feature[node]:
                        different[node] -= 1
                        break
                    above = parent[above]
            out[tree, 0] = max(out[tree, 0], different[node])
            out[tree, 1] = max(out[tree, 1], depth[node])
            if left[node] >= 0:
                parent[first + left[node]] = node
            if right[node] >= 0:
                parent[first + right[node]] = node


@kernel
def left_shares(node_starts: Any, leaf_starts: Any, left: Any, right: Any, leaf_documents: Any, out: Any) -> None:
    """The share of a node's training documents that went left; one half where a node has none. out float64."""
    count = np.empty(left.shape[0], dtype=np.int64)
    for tree in range(node_starts.shape[0] - 1):
        first, leaf = node_starts[tree], leaf_starts[tree]
        for node in range(node_starts[tree + 1] - 1, first - 1, -1):  # children come after their parents
            on_left = count[first + left[node]] if left[node] >= 0 else leaf_documents[leaf + ~left[node]]
            on_right = count[first + right[node]] if right[node] >= 0 else leaf_documents[leaf + ~right[node]]
            count[node] = on_left + on_right
            out[node] = on_left / count[node] if count[node] > 0 else 0.5


@kernel
def plan_steps(
    node_starts: Any,
    leaf_starts: Any,
    feature: Any,
    node_rows: Any,
    left: Any,
    right: Any,
    shares: Any,
    leaf_values: Any,
    points: Any,
    weights: Any,
    counts: Any,
    constant_starts: Any,
    steps: Any,
    step_ends: Any,
    constants: Any,
    expected: Any,
) -> None:
    """Write down the walk through every tree.

    node_rows int32: the row of values that a node tests; shares float64: of ``left_shares``; points, weights float64:
    row n is Gauss's rule with n points on [0, 1]; counts int64: the points that each tree needs. Written: steps int64
    (4 × nodes, COLUMNS), those of a tree from ``4·node_starts[tree]`` to ``step_ends[tree]``; constants float64, those
    of a tree from ``constant_starts[tree]``; expected float64: the mean of each tree with all features absent.
    """
    longest = feature.shape[0] + 2
    path_nodes = np.empty(longest, dtype=np.int64)  # by depth: the node, and which of its sides comes next
    stages = np.empty(longest, dtype=np.int64)
    places = np.empty(longest, dtype=np.int64)  # of the constants of the step below
    passing = np.ones(longest)  # z of the step into the node
    reaching = np.ones(longest)  # share of the training documents that come to the node
    for tree in range(node_starts.shape[0] - 1):
        first, leaf = node_starts[tree], leaf_starts[tree]
        step, place = STEPS_PER_NODE * first, constant_starts[tree]
        expected[tree] = 0.0
        step_ends[tree] = step
        if first == node_starts[tree + 1]:
            expected[tree] = leaf_values[leaf]
            continue
        count = counts[tree]
        t, w = points[count], weights[count]
        depth = 0
        path_nodes[0] = first
        stages[0] = 0
        while depth >= 0:
            node = path_nodes[depth]
            replaced = 0  # depth 0 has no step into it
            for above in range(depth, 0, -1):
                if feature[path_nodes[above - 1]] == feature[node]:
                    replaced = above
                    break
            side = stages[depth]
            if side == 0:
                _write_step(steps, step, TEST, node, node_rows[node], depth, 0, feature[node])
                step += 1
                if left[node] < 0 and right[node] < 0 and replaced == 0:
                    on_left = np.float64(leaf_values[leaf + ~left[node]])
                    on_right = np.float64(leaf_values[leaf + ~right[node]])
                    mean = shares[node] * on_left + (1.0 - shares[node]) * on_right
                    expected[tree] += reaching[depth] * mean
                    _write_step(steps, step, TWO_LEAVES, place, 0, depth, 0, feature[node])
                    step += 1
                    place = _write_two_leaves(constants, place, t, w, count, shares[node], on_left, on_right)
                    depth -= 1
                    continue
            else:
                kind = UP if replaced == 0 else UP_AGAIN
                _write_step(steps, step, kind, places[depth], side - 1, depth, replaced, feature[node])
                step += 1
            descended = False
            while side < 2 and not descended:
                child = left[node] if side == 0 else right[node]
                share = shares[node] if side == 0 else 1.0 - shares[node]
                z = share * passing[replaced] if replaced > 0 else share
                kind = (LEAF if child < 0 else DOWN) if replaced == 0 else (LEAF_AGAIN if child < 0 else DOWN_AGAIN)
                _write_step(steps, step, kind, place, side, depth, replaced, feature[node])
                step += 1
                places[depth] = place
                value = 1.0
                if child < 0:
                    value = np.float64(leaf_values[leaf + ~child])
                    expected[tree] += reaching[depth] * share * value
                place = _write_constants(
                    constants, place, t, w, count, z, share, passing[replaced], replaced > 0, child < 0, value
                )
                side += 1
                if child >= 0:
                    descended = True
                    stages[depth] = side
                    depth += 1
                    path_nodes[depth] = first + child
                    stages[depth] = 0
                    passing[depth] = z
                    reaching[depth] = reaching[depth - 1] * share
            if not descended:
                depth -= 1
        step_ends[tree] = step


@subroutine
def _write_step(
    steps: Any, step: Any, kind: Any, place: Any, side: Any, depth: Any, replaced: Any, feature: Any
) -> Any:
    steps[step, KIND] = kind
    steps[step, PLACE] = place
    steps[step, SIDE] = side
    steps[step, DEPTH] = depth
    steps[step, REPLACED] = replaced
    steps[step, FEATURE] = feature


@subroutine
def _write_two_leaves(
    constants: Any, place: Any, t: Any, w: Any, count: Any, share: Any, on_left: Any, on_right: Any
) -> Any:
    """What a node with two leaves adds to the sum, if a document goes right, left; the weights of the points; and what
    the feature gets per unit of the weighted C, if it goes right, left. Returns where the next constants begin."""
    for q in range(count):
        absent = (1.0 - t[q]) * (share * on_left + (1.0 - share) * on_right)
        constants[place + q] = w[q] * (t[q] * on_right + absent)
        constants[place + count + q] = w[q] * (t[q] * on_left + absent)
        constants[place + 2 * count + q] = w[q]
    constants[place + 3 * count] = (on_right - on_left) * share
    constants[place + 3 * count + 1] = (on_left - on_right) * (1.0 - share)
    return place + 3 * count + 2


@subroutine
def _write_constants(
    constants: Any,
    place: Any,
    t: Any,
    w: Any,
    count: Any,
    z: Any,
    share: Any,
    replaced_z: Any,
    again: Any,
    leaf: Any,
    value: Any,
) -> Any:
    """Factors of C for each case, then what the feature gets per unit of the sum; returns where the next begin.

    Cases: the document fails, passes; with ``again``: has failed before, fails here, passes. Of a leaf, factors hold
    value and weight, and the second half what the feature gets per unit of the C above.
    """
    cases = 3 if again else 2
    for q in range(count):
        passed, failed = t[q] + z * (1.0 - t[q]), z * (1.0 - t[q])
        gets_passed, gets_failed = (1.0 - z) / passed, -1.0 / (1.0 - t[q])
        scale = value * w[q] if leaf else 1.0
        at = place + q
        if again:
            before = t[q] + replaced_z * (1.0 - t[q])
            gets_before = (1.0 - replaced_z) / before
            constants[at] = share * scale
            constants[at + count] = failed / before * scale
            constants[at + 2 * count] = passed / before * scale
            constants[at + 3 * count] = 0.0
            constants[at + 4 * count] = gets_failed - gets_before
            constants[at + 5 * count] = gets_passed - gets_before
        else:
            constants[at] = failed * scale
            constants[at + count] = passed * scale
            constants[at + 2 * count] = gets_failed
            constants[at + 3 * count] = gets_passed
        if leaf:
            for case in range(cases):
                constants[at + (cases + case) * count] *= constants[at + case * count]
    return place + 2 * cases * count


@kernel
def add_contributions(
    features: Any,
    row_features: Any,
    row_fills: Any,
    sets: Any,
    node_starts: Any,
    thresholds: Any,
    steps: Any,
    step_ends: Any,
    constants: Any,
    counts: Any,
    deepest: Any,
    first: Any,
    last: Any,
    out: Any,
) -> None:
    """Add the Shapley values of documents ``first`` to ``last`` to out, float64 (documents, features).

    features float32 (documents, features); row r of a block holds feature ``row_features[r]`` with ``row_fills[r]`` in
    place of missing values, as in ``scoring.score_by_blocks``; sets: SetRows, whose rows follow, or None; the walk is
    that of ``plan_steps``; ``deepest``: the most splits on a path. Every sum goes in tree order, whatever stands beside
    a document.
    """
    height = row_features.shape[0]
    most = np.int64(1)
    for tree in range(counts.shape[0]):
        most = max(most, counts[tree])
    if sets is None:
        values = np.empty((height, BLOCK), dtype=np.float32)
    else:
        values = np.empty((height + sets.sets.shape[0], BLOCK), dtype=np.float32)
    totals = np.empty((out.shape[1], BLOCK))
    products = np.ones((deepest + 1, most, BLOCK))
    sums = np.zeros((deepest + 1, most, BLOCK))
    goes_left = np.zeros((deepest + 1, BLOCK), dtype=np.int64)
    passed = np.zeros((deepest + 1, BLOCK), dtype=np.int64)
    case = np.zeros(BLOCK, dtype=np.int64)
    gained = np.zeros(BLOCK)
    for start in range(first, last, BLOCK):
        count = min(BLOCK, last - start)
        for d in range(BLOCK):
            document = start + min(d, count - 1)  # the last block is filled up with the last document
            for r in range(height):
                value = features[document, row_features[r]]
                values[r, d] = value if value == value else row_fills[r]
            if sets is not None:
                for r in range(sets.sets.shape[0]):
                    values[height + r, d] = failing_value(features[document, sets.features[r]], r, sets)
            for f in range(out.shape[1]):
                totals[f, d] = out[document, f]
        for tree in range(counts.shape[0]):
            n = counts[tree]
            for step in range(STEPS_PER_NODE * node_starts[tree], step_ends[tree]):
                kind, at, side = steps[step, KIND], steps[step, PLACE], steps[step, SIDE]
                k, above, f = steps[step, DEPTH], steps[step, REPLACED], steps[step, FEATURE]
                if kind == TEST:
                    for d in range(BLOCK):
                        goes_left[k, d] = 1 if values[side, d] <= thresholds[at] else 0
                    continue
                for d in range(BLOCK):
                    gained[d] = 0.0
                if kind == TWO_LEAVES:
                    for q in range(n):
                        to_right, to_left, weight = constants[at + q], constants[at + n + q], constants[at + 2 * n + q]
                        for d in range(BLOCK):
                            product = products[k, q, d]
                            sums[k, q, d] += product * (to_left if goes_left[k, d] != 0 else to_right)
                            gained[d] += product * weight
                    to_right, to_left = constants[at + 3 * n], constants[at + 3 * n + 1]
                    for d in range(BLOCK):
                        totals[f, d] += gained[d] * (to_left if goes_left[k, d] != 0 else to_right)
                elif kind == DOWN:
                    for d in range(BLOCK):
                        passed[k + 1, d] = goes_left[k, d] ^ side
                    for q in range(n):
                        fails, passes = constants[at + q], constants[at + n + q]
                        for d in range(BLOCK):
                            products[k + 1, q, d] = products[k, q, d] * (passes if passed[k + 1, d] != 0 else fails)
                            sums[k + 1, q, d] = 0.0
                elif kind == UP:
                    for q in range(n):
                        fails, passes = constants[at + 2 * n + q], constants[at + 3 * n + q]
                        for d in range(BLOCK):
                            below = sums[k + 1, q, d]
                            sums[k, q, d] += below
                            gained[d] += below * (passes if passed[k + 1, d] != 0 else fails)
                    for d in range(BLOCK):
                        totals[f, d] += gained[d]
                elif kind == LEAF:
                    for d in range(BLOCK):
                        case[d] = goes_left[k, d] ^ side
                    for q in range(n):
                        fails, passes = constants[at + q], constants[at + n + q]
                        gets_failed, gets_passed = constants[at + 2 * n + q], constants[at + 3 * n + q]
                        for d in range(BLOCK):
                            product = products[k, q, d]
                            sums[k, q, d] += product * (passes if case[d] != 0 else fails)
                            gained[d] += product * (gets_passed if case[d] != 0 else gets_failed)
                    for d in range(BLOCK):
                        totals[f, d] += gained[d]
                elif kind == DOWN_AGAIN:
                    for d in range(BLOCK):
                        passed[k + 1, d] = (goes_left[k, d] ^ side) & passed[above, d]
                        case[d] = passed[k + 1, d] + passed[above, d]
                    for q in range(n):
                        failed, fails, passes = constants[at + q], constants[at + n + q], constants[at + 2 * n + q]
                        for d in range(BLOCK):
                            factor = passes if case[d] == 2 else (fails if case[d] == 1 else failed)
                            products[k + 1, q, d] = products[k, q, d] * factor
                            sums[k + 1, q, d] = 0.0
                elif kind == UP_AGAIN:
                    for d in range(BLOCK):
                        case[d] = passed[k + 1, d] + passed[above, d]
                    for q in range(n):
                        failed, fails = constants[at + 3 * n + q], constants[at + 4 * n + q]
                        passes = constants[at + 5 * n + q]
                        for d in range(BLOCK):
                            below = sums[k + 1, q, d]
                            sums[k, q, d] += below
                            gained[d] += below * (passes if case[d] == 2 else (fails if case[d] == 1 else failed))
                    for d in range(BLOCK):
                        totals[f, d] += gained[d]
                else:
                    for d in range(BLOCK):
                        case[d] = ((goes_left[k, d] ^ side) & passed[above, d]) + passed[above, d]
                    for q in range(n):
                        failed, fails, passes = constants[at + q], constants[at + n + q], constants[at + 2 * n + q]
                        gets_before, gets_failed = constants[at + 3 * n + q], constants[at + 4 * n + q]
                        gets_passed = constants[at + 5 * n + q]
                        for d in range(BLOCK):
                            product = products[k, q, d]
                            sums[k, q, d] += product * (passes if case[d] == 2 else (fails if case[d] == 1 else failed))
                            gained[d] += product * (
                                gets_passed if case[d] == 2 else (gets_failed if case[d] == 1 else gets_before)
                            )
                    for d in range(BLOCK):
                        totals[f, d] += gained[d]
        for d in range(count):
            for f in range(out.shape[1]):
                out[start + d, f] = totals[f, d]
