"""The change with one document for many at once, against the change of two ranks."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf
from rankforce.compiling.jit import kernel
from rankforce.kernels.ranking.swaps import change_with, find_runs, swap_changes, write_changes
from rankforce.measures.concordance import MOST_GRADES

MEASURES = [rf.PairwiseAccuracy(), rf.KendallTau(), rf.KendallTau(variant="b")]


@kernel
def changes_by_place(measure, columns, size, run_ends, changes, out):
    find_runs(measure, columns, size, run_ends)
    for i in range(size):
        write_changes(measure, columns, run_ends, i, 0, size, changes)
        for j in range(size):
            out[i, j] = change_with(measure, (0.0,), columns, changes, j)


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize(("size", "grades"), [(2, 2), (7, 2), (40, 5), (90, MOST_GRADES), (30, 3)])
@pytest.mark.parametrize("places", ["by rank", "by grade", "shuffled"])
def test_changes_by_place_are_those_of_ranks(measure, size, grades, places):
    rng = np.random.default_rng(size + grades)
    ranked = measure.worth(np.concatenate([[0.0, 1.0], rng.integers(0, grades, size - 2)])[rng.permutation(size)])
    count = measure.column_count(ranked)
    assert measure.gives_swap_deltas(count)
    kernel_tuple = measure.kernel_tuple()
    normaliser = kernel_tuple.normaliser(np.sort(ranked)[::-1].copy())
    by_rank = np.empty((count, size))
    expected = np.empty((size, size))
    swap_changes(kernel_tuple, ranked, normaliser, by_rank, expected)
    of_ranks = {"by rank": np.arange(size), "by grade": np.argsort(-ranked), "shuffled": rng.permutation(size)}[places]
    found = np.full((size, size), np.nan)
    changes_by_place(
        kernel_tuple, by_rank[:, of_ranks].copy(), size, np.zeros(size, dtype=np.int64), np.zeros(size), found
    )
    different = ranked[of_ranks][:, None] != ranked[of_ranks][None, :]
    np.testing.assert_array_equal(found[different], expected[np.ix_(of_ranks, of_ranks)][different])


def test_too_many_grades_for_a_table():
    for measure in MEASURES:
        assert not measure.gives_swap_deltas(measure.column_count(np.arange(MOST_GRADES + 1.0)))
    assert not rf.NDCG().gives_swap_deltas(rf.NDCG().column_count(np.arange(3.0)))
