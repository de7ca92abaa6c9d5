"""Documents that a measure sees, against NumPy's indexing."""

from __future__ import annotations

import itertools

import numpy as np

from rankforce.kernels.forces.kept_documents import add_of_kept, order_of_kept, scores_of_kept


def a_case():
    rng = np.random.default_rng(0)
    starts = np.concatenate([[0], np.cumsum([5, 1, 0, 7, 30])]).astype(np.int64)
    labelled = rng.random(starts[-1]) < 0.6
    labelled[5] = False  # a query of which nothing is left
    kept = np.flatnonzero(labelled)
    kept_starts = np.concatenate([[0], np.cumsum(labelled)])[starts].astype(np.int64)
    return rng, starts, kept, kept_starts


def test_the_order_of_those_kept():
    rng, starts, kept, kept_starts = a_case()
    parts = [begin + rng.permutation(end - begin) for begin, end in itertools.pairwise(starts)]
    order = np.concatenate(parts).astype(np.int32)
    places = np.full(starts[-1], -1, dtype=np.int32)
    places[kept] = np.arange(len(kept))
    found = np.full(len(kept), -1, dtype=np.int32)
    for first, last in ((0, 2), (2, 5)):
        order_of_kept(order, places, starts, kept_starts, first, last, found)
    np.testing.assert_array_equal(found, places[order][places[order] >= 0])
    np.testing.assert_array_equal(np.sort(found), np.arange(len(kept)))


def test_scores_forces_and_curvatures_of_those_kept():
    rng, starts, kept, _ = a_case()
    scores, forces, curvatures = rng.normal(size=(3, starts[-1]))
    own_scores, own_forces, own_curvatures = np.full((3, len(kept)), np.nan)
    for first, last in ((0, 4), (4, len(kept))):
        scores_of_kept(kept, scores, first, last, own_scores, own_forces, own_curvatures)
    np.testing.assert_array_equal(own_scores, scores[kept])
    assert not own_forces.any()
    assert not own_curvatures.any()
    own_forces, own_curvatures = rng.normal(size=(2, len(kept)))
    expected = forces.copy(), curvatures.copy()
    expected[0][kept] += own_forces
    expected[1][kept] += own_curvatures
    for first, last in ((0, 4), (4, len(kept))):
        add_of_kept(kept, own_forces, own_curvatures, first, last, forces, curvatures)
    np.testing.assert_array_equal([forces, curvatures], expected)
