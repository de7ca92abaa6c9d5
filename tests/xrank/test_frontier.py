"""The ordered frontier against slow, obvious twins: value, forces, splits, moves."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import rankforce as rf
from rankforce import memory
from rankforce.binning.binned import Binned
from rankforce.threads import using_threads
from rankforce.xrank.frontier import Frontier
from rankforce.xrank.graph import Split
from rankforce.xrank.ordered_split import best_ordered_split
from rankforce.xrank.sample import Sample


def random_frontier(sample, size, seed=0):
    frontier = Frontier(sample)
    frontier.size = size
    frontier.positions[:] = np.random.default_rng(seed).integers(0, size, sample.n_documents)
    return frontier


def slow_value(data, measure, positions):
    """Expected over ties by the evaluation, mean over the queries."""
    return rf.evaluate(-positions.astype(float), data, [measure], ties="expected").mean[measure]


def slow_pair_forces(sample, positions):
    """F[i, j] of every two documents of one query in one node, from the definition."""
    n = sample.n_documents
    query = np.repeat(np.arange(len(sample.scales)), np.diff(sample.starts))
    forces = np.zeros((n, n))
    for i, j in itertools.permutations(range(n), 2):
        if query[i] == query[j] and positions[i] == positions[j]:
            mine = positions[query == query[i]]
            first = (mine < positions[i]).sum()
            last = (mine <= positions[i]).sum() - 1
            fall = sample.discounts[first] - sample.discounts[last]
            forces[i, j] = sample.scales[query[i]] * (sample.worth[i] - sample.worth[j]) * fall
    return forces


def all_splits(sample):
    for column, bins in enumerate(sample.n_bins):
        for b, missing_left in itertools.product(range(bins), (False, True)):
            yield Split(column, b, missing_left, True, 0.0)


@pytest.mark.parametrize("size", [1, 3, 8])
def test_the_value_is_the_measure_expected_over_ties(case, size):
    data, measure, sample = case
    frontier = random_frontier(sample, size)
    assert frontier.value() == pytest.approx(slow_value(data, measure, frontier.positions), rel=1e-12)


@pytest.mark.parametrize("size", [1, 3, 8])
def test_forces_are_sums_over_pairs_and_cancel(case, size):
    *_, sample = case
    frontier = random_frontier(sample, size)
    slow = slow_pair_forces(sample, frontier.positions)
    np.testing.assert_allclose(slow, -slow.T)
    np.testing.assert_allclose(frontier.forces() / sample.force_unit, slow.sum(axis=1), atol=1e-12)


@pytest.mark.parametrize("min_documents", [1, 4])
@pytest.mark.parametrize("size", [1, 3])
def test_the_best_split_is_the_one_whose_sides_pull_hardest(case, size, min_documents):
    """Found again from the forces between the two sides alone: those inside a side cancel."""
    *_, sample = case
    frontier = random_frontier(sample, size)
    pairs = slow_pair_forces(sample, frontier.positions)
    found = frontier.best_splits(frontier.forces(), np.ones(size, dtype=bool), min_documents)
    for place in range(size):
        here = np.flatnonzero(frontier.positions == place)
        pulls = {}
        for split in all_splits(sample):
            left = split.goes_left(sample.bins[split.column, here], sample.n_bins[split.column])
            if min(left.sum(), (~left).sum()) >= min_documents:
                pulls[split] = pairs[np.ix_(here[left], here[~left])].sum()
        best = max(map(abs, pulls.values()))
        assert best > 0.001 or place > 0  # below a cut-off nothing pulls
        one = found[place]
        assert one.gain == pytest.approx(best, abs=1e-12)
        mine = Split(one.column, one.bin, one.missing_left, True, 0.0)
        assert abs(pulls[mine]) == pytest.approx(best, abs=1e-12)
        assert one.left_above == (pulls[mine] >= 0)


def test_only_wanted_nodes_are_searched_and_the_even_split_is_even(case):
    *_, sample = case
    frontier = random_frontier(sample, 2)
    found = frontier.best_splits(frontier.forces(), np.array([False, True]), 1, even=True)
    assert found[0] is None
    here = frontier.positions == 1
    smaller = []
    for split in all_splits(sample):
        left = split.goes_left(sample.bins[split.column, here], sample.n_bins[split.column])
        smaller.append(min(left.sum(), (~left).sum()))
    one = found[1]
    left = one.goes_left(sample.bins[one.column, here], sample.n_bins[one.column])
    assert min(left.sum(), (~left).sum()) == max(smaller) > 1


def test_a_node_of_equal_documents_cannot_be_split():
    data = rf.Dataset(np.array([[1.0, 2], [1, 2], [3, 4]]), [0, 1, 2], [1, 1, 1])
    sample = Sample.of(data, Binned.of(data), rf.NDCG(), 0)
    frontier = Frontier(sample)
    frontier.size, frontier.positions[2] = 2, 1
    assert frontier.best_splits(frontier.forces(), np.array([True, True]), 1) == [None, None]


@pytest.mark.parametrize("size", [2, 3, 7])
def test_move_gains_are_differences_of_the_value(case, size):
    *_, sample = case
    frontier = random_frontier(sample, size)
    before = frontier.value()
    gains = frontier.move_gains() / sample.value_unit
    for place, to in itertools.product(range(size), repeat=2):
        moved = frontier.copy()
        moved.move(place, to)
        assert gains[place, to] == pytest.approx(moved.value() - before, abs=1e-12)


def test_a_move_takes_one_node_to_a_place(case):
    frontier = random_frontier(case[2], 5)
    assert frontier.after_move(1, 3).tolist() == [0, 3, 1, 2, 4]
    assert frontier.after_move(4, 0).tolist() == [1, 2, 3, 4, 0]
    assert frontier.after_move(2, 2).tolist() == [0, 1, 2, 3, 4]


def slow_reorder(frontier):
    """Try every move on a copy, make the best one, until none helps."""
    while True:
        now = frontier.value()
        tried = []
        for place, to in itertools.product(range(frontier.size), repeat=2):
            one = frontier.copy()
            one.move(place, to)
            tried.append((one.value() - now, -place, -to))
        best = max(tried)
        if best[0] <= 1e-11:
            return frontier
        frontier.move(-best[1], -best[2])


@pytest.mark.parametrize("seed", range(3))
def test_reordering_makes_the_best_move_until_none_helps(case, seed):
    *_, sample = case
    frontier = random_frontier(sample, 6, seed)
    before = frontier.value()
    slow = slow_reorder(frontier.copy())
    moves = frontier.reorder()
    assert moves
    assert frontier.value() > before
    assert frontier.value() == pytest.approx(slow.value(), abs=1e-12)
    assert frontier.reorder() == []


def test_splitting_and_merging_are_inverse(case):
    *_, sample = case
    frontier = random_frontier(sample, 3)
    before = frontier.positions.copy()
    split = frontier.best_splits(frontier.forces(), np.array([False, True, False]), 1)[1]
    frontier.split(1, split)
    assert frontier.size == 4
    here = before == 1
    up = split.goes_up(sample.bins[split.column], sample.n_bins[split.column])
    np.testing.assert_array_equal(frontier.positions[here], np.where(up, 1, 2)[here])
    np.testing.assert_array_equal(frontier.positions[before == 2], 3)
    frontier.merge(1)
    np.testing.assert_array_equal(frontier.positions, before)


def test_the_order_inside_a_node_is_that_of_the_hash(case):
    *_, sample = case
    frontier = random_frontier(sample, 4)
    rank = np.empty(sample.n_documents, dtype=int)
    rank[sample.order] = np.arange(sample.n_documents)
    query = np.repeat(np.arange(len(sample.scales)), np.diff(sample.starts))
    np.testing.assert_array_equal(frontier.ranked(), np.lexsort((rank, frontier.positions, query)))


@pytest.mark.parametrize("min_documents", [1, 3])
def test_the_best_ordered_split_raises_the_measure_most(case, min_documents):
    _, _, sample = case
    frontier = random_frontier(sample, 2, seed=5)
    query = np.repeat(np.arange(len(sample.scales)), np.diff(sample.starts))
    place_by_hash = np.empty(sample.n_documents, dtype=int)
    place_by_hash[sample.order] = np.arange(sample.n_documents)

    def value(keys):
        order = np.lexsort((place_by_hash, keys, query))
        rank = np.arange(sample.n_documents) - sample.starts[:-1].repeat(np.diff(sample.starts))
        return (sample.scales[query[order]] * sample.worth[order] * sample.discounts[rank]).sum()

    now = value(frontier.positions)
    ranked = frontier.ranked()
    for place in range(2):
        here = frontier.positions == place
        found = best_ordered_split(sample, ranked, ranked[frontier.positions[ranked] == place], min_documents)
        gains = {}
        for split in all_splits(sample):
            left = split.goes_left(sample.bins[split.column], sample.n_bins[split.column])
            if min((left & here).sum(), (~left & here).sum()) < min_documents:
                continue
            for above in (False, True):
                keys = frontier.positions + np.where(here & (left != above), 0.5, 0.0)
                gains[split.column, split.bin, split.missing_left, above] = value(keys) - now
        best = max(gains.values())
        assert best > 0.001
        assert found.gain == pytest.approx(best, abs=1e-12)
        mine = gains[found.column, found.bin, found.missing_left, found.left_above]
        assert mine == pytest.approx(best, abs=1e-12)


@pytest.mark.compiled_only
def test_threads_change_nothing():
    data = rf.make_artificial(queries=200, documents=20, features=12, seed=3)
    sample = Sample.of(data, Binned.of(data), rf.NDCG(10), 0)

    def everything(threads):
        with using_threads(threads):
            frontier = random_frontier(sample, 30)
            forces = frontier.forces()
            splits = frontier.best_splits(forces, np.ones(30, dtype=bool), 5)
            return splits, frontier.move_gains().tobytes(), forces.tobytes(), frontier.reorder(), frontier.value()

    assert everything(1) == everything(2) == everything(3)


@pytest.mark.parametrize(
    ("what", "ask"),
    [
        ("every node", lambda frontier: frontier.best_splits(frontier.forces(), np.ones(60_000, dtype=bool), 1)),
        ("every move", lambda frontier: frontier.move_gains()),
    ],
    ids=["splits", "moves"],
)
def test_tables_that_cannot_be_had_are_refused_with_the_arithmetic(case, what, ask, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2_000_000)
    frontier = Frontier(case[2])
    frontier.size = 60_000
    with pytest.raises(rf.SettingsError, match=rf"{what} needs .* of memory \(.*60,000 .* bytes\), and 2\.0 MB"):
        ask(frontier)
