"""Queries that threads share by tiles: the forces of the loop without tiles, and the same bits for any threads."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import rankforce as rf
from rankforce.forces import giant_queries
from rankforce.forces.forces import Forces, RunningOrder
from rankforce.objectives.objective import as_objective
from rankforce.threads import using_threads

SIZES = (3, 90, 1, 150, 8, 40, 64)
MEASURES = ["NDCG", "PairwiseAccuracy"]


@pytest.fixture
def small_giants(monkeypatch):
    monkeypatch.setattr(giant_queries, "GIANT_DOCUMENTS", 60)
    monkeypatch.setattr(giant_queries, "GIANT_PAIRS", 500)
    monkeypatch.setattr(giant_queries, "PAIRS_OF_A_TILE", 300)


def some_queries(sizes=SIZES, seed=0):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    labels = np.minimum(4, rng.geometric(0.5, n) - 1).astype(float)
    labels[rng.random(n) < 0.05] = np.nan
    return rf.Dataset(
        rng.random((n, 2)), labels, group=list(sizes), weights=rng.random(n) + 0.5, query_weights=rng.random(len(sizes))
    )


def forces_at(data, measure, scores, normalise="none"):
    order = RunningOrder(data, 0).update(scores)
    forces = Forces(data, as_objective(measure).settled(1, rf.lambdas.NearPairs()), 0, normalise=normalise)
    return forces.terms[0].giants, [one.copy() for one in forces.at(scores, order)]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("spread", [1.0, 1e4])  # with the second, coordinates do not serve
def test_forces_are_those_without_tiles(measure, spread, small_giants, monkeypatch):
    data = some_queries()
    scores = spread * np.random.default_rng(1).normal(size=data.n_documents)
    giants, tiled = forces_at(data, measure, scores, "log")
    assert giants.are.tolist() == [size >= 60 for size in SIZES]
    monkeypatch.setattr(giant_queries, "GIANT_DOCUMENTS", 1000)
    none, whole = forces_at(data, measure, scores, "log")
    assert not none
    for one, other in zip(tiled, whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
        small = np.repeat(~giants.are, SIZES)
        np.testing.assert_array_equal(one[small], other[small])


@pytest.mark.compiled_only
@pytest.mark.parametrize("batch_bytes", [1, 2**26])
def test_any_number_of_threads_has_the_same_bits(batch_bytes, small_giants, monkeypatch):
    monkeypatch.setattr(giant_queries, "AT_ONCE", batch_bytes)
    data = some_queries()
    scores = np.random.default_rng(2).normal(size=data.n_documents)
    found = set()
    for threads in (1, 2, 3, 5, 16):
        monkeypatch.setenv("NUMBA_NUM_THREADS", str(threads))
        with using_threads(threads):
            _, both = forces_at(data, "NDCG", scores)
        found.add(b"".join(one.tobytes() for one in both))
    assert len(found) == 1


def test_a_giant_alone_has_the_bits_that_it_has_among_others(small_giants):
    data = some_queries()
    scores = np.random.default_rng(3).normal(size=data.n_documents)
    _, among = forces_at(data, "NDCG", scores)
    alone = data.take_queries(np.array([3]))
    first, last = data.query_starts[3:5]
    _, both = forces_at(alone, "NDCG", scores[first:last])
    for one, other in zip(both, among, strict=True):
        np.testing.assert_array_equal(one, other[first:last])


def test_tiles_cover_every_pair_once():
    rng = np.random.default_rng(4)
    for size in (1, 2, 50, 4000):
        pairs = np.concatenate([[7], 7 + np.cumsum(rng.integers(0, 2000, size))])
        cuts = giant_queries._cuts(pairs)
        assert cuts[0] == 0
        assert cuts[-1] == size
        assert all(first < last for first, last in itertools.pairwise(cuts))
        assert len(cuts) - 1 <= giant_queries.MOST_TILES
    assert len(cuts) > 10


def test_what_is_a_giant():
    """Long, and with many pairs: below that, forces are what they were before there were tiles."""
    sizes, two_grades = (2000, 1999, 2500), [0.0, 1.0]
    labels = np.concatenate([np.resize(two_grades, 2000), np.resize(two_grades, 1999), np.zeros(2500)])
    labels[-1] = 1.0
    data = rf.Dataset(np.zeros((len(labels), 1)), labels, group=list(sizes))
    term = Forces(data, as_objective("NDCG").settled(1, rf.lambdas.NearPairs()), 0).terms[0]
    assert term.giants.are.tolist() == [True, False, False]


@pytest.mark.compiled_only
def test_an_error_in_a_tile_reaches_the_caller(small_giants, monkeypatch):
    """Threads that wait for one that has failed are not left waiting."""

    class Careless(rf.Measure):
        COLUMNS = 1

        def normaliser(self, ideal):
            return 1.0

        def value(self, ranked, normaliser):
            return ranked[0]

        def prepare(self, ranked, normaliser, columns):
            for r in range(ranked.shape[0]):
                columns[0, r] = ranked[r if ranked.shape[0] < 60 else r + 1]

        def swap_delta(self, a, b):
            return a[0] - b[0]

    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    data = some_queries()
    with using_threads(3), pytest.raises(rf.RankforceError, match="Careless"):
        forces_at(data, Careless(), np.zeros(data.n_documents))
