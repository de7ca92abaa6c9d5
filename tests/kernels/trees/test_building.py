"""Histograms of leaves, whatever the division of work, against one document after the other."""

from __future__ import annotations

import numpy as np
import pytest
from tests.trees.test_grower import large
from tests.trees.test_phases import prepared

from rankforce.binning.binned import Binned
from rankforce.compiling.jit import PLAIN
from rankforce.kernels.trees.building import DOCUMENTS_OF_A_PIECE, count_pieces, count_ranges, piece_begin
from rankforce.kernels.trees.growth_state import (
    BUILD,
    COUNTS,
    DONE,
    FIRST_WORD,
    HELPING,
    KIND,
    LAST_WORD,
    N_QUEUED,
    SUMS,
    following,
)
from rankforce.kernels.trees.histograms import REGION, WORD
from rankforce.kernels.trees.leaf_table import HERE, START
from rankforce.trees.grower import Grower


def plain(growing, rows, counting):
    """What the plan asks for, a byte of a document at a time."""
    plan, documents, built = growing.tree.plan, growing.documents, []
    first, last = int(plan[FIRST_WORD]) * WORD, int(plan[LAST_WORD]) * WORD
    for leaf in growing.tree.queue[: plan[N_QUEUED]]:
        start, size = growing.tree.leaves[leaf, [START, HERE]]
        histogram = np.zeros((last - first, REGION), dtype=np.int64)
        here = documents.order[start : start + size]
        for byte in range(first, last):
            np.add.at(histogram[byte - first], rows[here, byte], 1 if counting else documents.entries[here])
        built.append(histogram.reshape(-1))
    return built


@pytest.mark.compiled_only
@pytest.mark.parametrize("growth", ["leafwise", "symmetric"])
@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_any_number_of_threads_builds_the_same(growth, threads, monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", str(threads))
    data, forces, curvatures = large(n_queries=75)
    binned = Binned.of(data)
    grower = Grower(binned, growth=growth, n_leaves=9, min_documents=9)
    growing = grower.growing(*prepared(grower, binned, forces, curvatures), threads)
    several = 0
    for phase in growing.steps():
        if phase != BUILD:
            continue
        kinds = [kind for kind in (SUMS, COUNTS) if growing.tree.plan[KIND] & kind]
        expected = [one for kind in kinds for one in plain(growing, binned.rows, kind == COUNTS)]
        several += (growing.histograms.part_leaf >= 0).any()
        np.testing.assert_array_equal(growing.take_built(), np.array(expected))
    assert threads == 1 or several > 0


def test_large_leaves_are_cut_by_documents_and_small_ones_by_words():
    assert count_ranges(1_000_000, 30, 16, 16) == 16
    assert count_ranges(10, 30, 16, 16) == 1
    assert 1 < count_ranges(3_000, 30, 16, 16) < 16
    assert count_ranges(1_000_000, 30, 16, 4) == 4  # as many histograms as there are
    assert count_ranges(0, 30, 16, 16) == 1


@pytest.mark.parametrize("growth", ["leafwise", "symmetric"])
@pytest.mark.parametrize("threads", [2, 3, 5])
def test_who_is_done_builds_what_others_have_not_begun(growth, threads, monkeypatch):
    """Threads one after the other, in any order: some do their shares, then one does all that is left."""
    monkeypatch.setenv("NUMBA_NUM_THREADS", str(threads))
    monkeypatch.setattr("rankforce.kernels.trees.building.DOCUMENTS_OF_A_PIECE", 7)  # without the compiler
    data, forces, curvatures = large(n_queries=75) if not PLAIN else large(n_queries=4)
    binned = Binned.of(data)
    grower = Grower(binned, growth=growth, n_leaves=9, min_documents=9)
    growing = grower.growing(*prepared(grower, binned, forces, curvatures), threads)
    rng = np.random.default_rng(threads)
    phase = BUILD
    while phase != DONE:
        growing.tree.taken[:] = 0
        in_turn = rng.permutation(threads)
        for place, thread in enumerate(in_turn.tolist()):
            growing.tree.plan[HELPING] = place >= rng.integers(0, threads)
            growing.work(phase, thread)
        if phase == BUILD:
            kinds = [kind for kind in (SUMS, COUNTS) if growing.tree.plan[KIND] & kind]
            expected = [one for kind in kinds for one in plain(growing, binned.rows, kind == COUNTS)]
            np.testing.assert_array_equal(growing.take_built(), np.array(expected))
        phase = following(phase, growing.tree.plan)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    alone = Grower(binned, growth=growth, n_leaves=9, min_documents=9)
    work, scales = prepared(alone, binned, forces, curvatures)
    leaves = alone.split_leaves(work, scales)
    assert leaves == growing.n_leaves > 4
    np.testing.assert_array_equal(work.splits, growing.tree.splits)
    np.testing.assert_array_equal(work.documents, growing.documents.order)


@pytest.mark.parametrize("size", [0, 1, 511, 512, 1024, 5000, 240_000, 17_000_000, 2**31 - 1])
def test_pieces_hold_every_document_and_shrink(size):
    pieces = count_pieces(size)
    begins = [piece_begin(piece, pieces, size) for piece in range(pieces + 1)]
    sizes = np.diff(begins)
    assert begins[0] == 0
    assert begins[-1] == size
    assert (sizes >= 0).all()
    assert (np.diff(sizes) <= 1).all()  # but for rounding
    if size < 10**7:
        assert pieces == 1 or sizes.mean() < 2 * DOCUMENTS_OF_A_PIECE
    if pieces > 2:
        assert sizes[0] > 2 * sizes[-1]
    assert size * pieces * pieces < 2**63
