"""The sweep against exact fractions, for every measure, on general, tied, coinciding and degenerate scores."""

from __future__ import annotations

import numpy as np
import pytest
from tests.sweeping import fraction_sweep

import rankforce as rf
from rankforce.combining.pair import best_pair
from rankforce.combining.target import MeanMeasure
from rankforce.compiling.jit import PLAIN
from rankforce.kernels.ranking.sweep import sweep_queries
from rankforce.measures.catalogue import measure_classes
from rankforce.measures.judged import judged
from rankforce.measures.mean import QueriesInMean
from rankforce.sweeping.sweep import Scaled, sweep
from rankforce.threads import using_threads


def lattice(rng, n):
    return rng.integers(0, 4, n) / 4.0


def general(rng, n):
    return rng.normal(size=n)


def decimals(rng, n):
    return rng.integers(0, 6, n) * 0.1  # no exact lattice: 0.3 − 0.2 is not 0.1


def through_one_point(rng, n):
    return rng.permutation(n).astype(float)  # with t = −s all lines meet at ½


def small_data(seed=0, sizes=(9, 1, 6, 7), labels=None, weights=True):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    grades = rng.integers(0, 4, n).astype(float)
    grades[sizes[0] + sizes[1] : sizes[0] + sizes[1] + sizes[2]] = 0.0  # a blank query
    grades[rng.random(n) < 0.1] = np.nan
    query_weights = rng.uniform(0.5, 2.0, len(sizes)) if weights else None
    data = rf.Dataset(np.zeros((n, 1), dtype=np.float32), grades, group=list(sizes), query_weights=query_weights)
    return data.with_label("clicks", rng.random(n)), rng


def measures():
    for measure_class in measure_classes().values():
        fields = measure_class.__dataclass_fields__
        required = {"label": "clicks"} if measure_class.__name__ == "CNDCG" else {}
        yield measure_class(**required)
        if "cutoff" in fields:
            yield measure_class(cutoff=3, **required)


class TopHeavy(rf.Measure):
    """A measure without any swap: evaluated anew at each crossing."""

    def normaliser(self, ideal):
        return 1.0 if ideal.shape[0] > 0 and ideal[0] > 0.0 else 0.0

    def value(self, ranked, normaliser):
        total = 0.0
        for r in range(ranked.shape[0]):
            total += ranked[r] / (1.0 + r * r)
        return total


EVERY = [*measures(), TopHeavy()]
KINDS = (general, lattice, decimals)


def swept(s, t, data, measure, **options):
    target = MeanMeasure(data, measure, "skip")
    known = target.known
    s, t = Scaled.of(known.of_kept(s), "s"), Scaled.of(known.of_kept(t), "t")
    return sweep(s, t, known, target.shares, **options), target, s.scores, t.scores


def check_against_fractions(pieces, target, s, t, data):
    truth = fraction_sweep.pieces(s, t, data, target.known, target.shares)
    found = list(zip(pieces.starts, pieces.ends, pieces.highs, strict=True))
    assert np.array_equal(pieces.lows, pieces.highs)
    number = 0
    for low, high, mean in truth:
        if high - low < 1e-13:  # too narrow for float64: passed over
            continue
        middle = float((low + high) / 2)
        while found[number][1] < middle:
            number += 1
        assert found[number][0] < middle
        assert abs(found[number][2] - mean) < 1e-13
    wide = [mean for low, high, mean in truth if high - low > 1e-13]
    assert abs(max(pieces.highs) - max(wide)) < 1e-13
    # every edge of ours is a crossing
    edges = np.array([float(low) for low, _, _ in truth] + [1.0])
    for start in pieces.starts:
        assert np.abs(edges - start).min() < 1e-15


@pytest.mark.parametrize("measure", EVERY, ids=str)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_piece_has_the_mean_of_exact_fractions(measure, kind, monkeypatch):
    """In plain Python: compiling the sweep for every measure would take a minute."""
    monkeypatch.setattr("rankforce.sweeping.sweep.sweep_queries", sweep_queries.py_func)
    data, rng = small_data(sizes=(10, 1, 4, 7))
    s, t = kind(rng, data.n_documents), kind(rng, data.n_documents)
    pieces, target, s, t = swept(s, t, data, measure)
    check_against_fractions(pieces, target, s, t, data)


@pytest.mark.parametrize("measure", ["NDCG@5", "MAP", "TopHeavy"])
@pytest.mark.parametrize("seed", range(2 if PLAIN else 8))
def test_many_lines_through_few_points(seed, measure):
    """Scores of few values: many lines coincide and many meet in one point."""
    measure = TopHeavy() if measure == "TopHeavy" else rf.measure(measure)
    data, rng = small_data(seed, sizes=(10, 1, 5, 10))
    s = rng.integers(0, 3, data.n_documents).astype(float)
    t = rng.integers(0, 3, data.n_documents).astype(float) * 2.0**-3
    pieces, target, s, t = swept(s, t, data, measure)
    check_against_fractions(pieces, target, s, t, data)


def test_all_lines_through_one_point():
    data, rng = small_data()
    s = through_one_point(rng, data.n_documents)
    pieces, target, s, t = swept(s, -s, data, rf.NDCG())
    check_against_fractions(pieces, target, s, t, data)
    assert pieces.starts.tolist() == [0.0, 0.5]


def test_points_that_float64_cannot_tell_apart_are_decided_exactly():
    """Three lines whose crossings differ by less than a unit in the last place: order and values must hold."""
    data = rf.Dataset(np.zeros((4, 1), dtype=np.float32), [3.0, 2.0, 1.0, 0.0], group=[4])
    tiny = 2.0**-60
    for shift in (0.0, tiny, -tiny):
        s = np.array([0.0, 1.0, 3.0 + 0.0, 0.5])
        t = np.array([3.0, 2.0 + shift, 0.0, 2.5 - shift])
        s[3] += shift
        pieces, target, p, q = swept(s, t, data, rf.NDCG())
        check_against_fractions(pieces, target, p, q, data)


def test_identical_rankers_and_constant_scores_never_cross():
    data, rng = small_data()
    s = rng.normal(size=data.n_documents)
    for p, q in ((s, s), (s, np.zeros(len(s))), (np.ones(len(s)), s), (np.ones(len(s)), np.zeros(len(s)))):
        pieces, target, _, _ = swept(p, q, data, rf.NDCG(3))
        assert pieces.starts.tolist() == [0.0]
        assert pieces.ends.tolist() == [1.0]
        wanted = target.mean(s if (p is s or q is s) else p)
        assert abs(pieces.highs[0] - wanted) < 1e-13


def test_scores_of_very_different_sizes():
    data, rng = small_data()
    s = rng.normal(size=data.n_documents)
    t = rng.normal(size=data.n_documents)
    chosen = best_pair(s, t, MeanMeasure(data, rf.NDCG(3), "skip"), "mixture")
    for scale in (1e-9, 1e12):
        other = best_pair(s, t * scale, MeanMeasure(data, rf.NDCG(3), "skip"), "mixture")
        assert other.value == chosen.value
    with pytest.raises(rf.DataError, match="logarithms"):
        Scaled.of(np.array([1.0, 1e-300]), "s")


def test_a_measure_without_a_highest_value_may_be_0_at_the_start_or_everywhere():
    """The whole numbers of the sums then know no size to begin with."""
    data = rf.Dataset(np.zeros((5, 1)), [0.0, 0.0, 1.0, 0.0, 2.0], group=[5])
    s = np.array([2.0, 1.0, 1.0, 1.0, 1.0])
    for t, cutoff in ((-s, 2), (s * 2.0, 2), (s, 1)):
        pieces, target, p, q = swept(s, t, data, rf.DCG(cutoff))
        check_against_fractions(pieces, target, p, q, data)


@pytest.mark.parametrize("most_changes", [1, 40])
def test_little_memory_gives_the_same_pieces(most_changes, monkeypatch):
    monkeypatch.setattr("rankforce.sweeping.sweep.LEAST_ROOM", 1)
    data, rng = small_data(sizes=(10, 1, 5, 12))
    s, t = rng.normal(size=data.n_documents), rng.normal(size=data.n_documents)
    whole, *_ = swept(s, t, data, rf.NDCG())
    bits, *_ = swept(s, t, data, rf.NDCG(), most_changes=most_changes)
    for name in ("starts", "ends"):
        np.testing.assert_array_equal(getattr(bits, name), getattr(whole, name))
    np.testing.assert_allclose(bits.lows, whole.lows, rtol=0, atol=1e-15)
    assert bits.best[0][:2] == whole.best[0][:2]


@pytest.mark.compiled_only
def test_threads_and_the_order_of_queries_do_not_matter():
    rng = np.random.default_rng(5)
    queries, documents = 300, 20
    grades = rng.integers(0, 5, (queries, documents)).astype(float)
    s, t = rng.normal(size=(2, queries, documents))
    found = []
    for threads, order in ((1, np.arange(queries)), (2, np.arange(queries)), (2, rng.permutation(queries))):
        qid = np.repeat(np.arange(queries)[order], documents)
        data = rf.Dataset(np.zeros((qid.size, 1), dtype=np.float32), grades[order].ravel(), qid=qid)
        with using_threads(threads):
            chosen = best_pair(s[order].ravel(), t[order].ravel(), MeanMeasure(data, rf.NDCG(10), "skip"), "mixture")
        found.append((chosen.weights, chosen.interval, chosen.value, chosen.curve.highs.tobytes()))
    assert found[0] == found[1] == found[2]


@pytest.mark.compiled_only
@pytest.mark.parametrize("measure", ["NDCG@10", "MAP"])
def test_never_below_a_dense_grid_and_equal_to_it_in_each_piece(measure):
    rng = np.random.default_rng(1)
    queries, documents = 60, 30
    grades = rng.integers(0, 4, queries * documents).astype(float)
    s, t = rng.normal(size=(2, grades.size)) + 0.3 * grades
    data = rf.Dataset(np.zeros((grades.size, 1), dtype=np.float32), grades, group=[documents] * queries)
    result = rf.combine([s, t], data, measure)
    grid = (np.arange(400) + 0.5) / 400 + 1e-9 * np.sqrt(2)
    grid = grid[grid < 1]
    values = np.array([rf.evaluate((1 - a) * s + a * t, data, measure).mean[measure] for a in grid])
    assert result.value >= values.max()
    np.testing.assert_allclose([result.curve.at(a) for a in grid], values, rtol=0, atol=1e-13)


@pytest.mark.compiled_only
def test_large_queries():
    rng = np.random.default_rng(2)
    documents = 2000
    grades = rng.integers(0, 4, 2 * documents).astype(float)
    s, t = rng.normal(size=(2, grades.size))
    data = rf.Dataset(np.zeros((grades.size, 1), dtype=np.float32), grades, group=[documents] * 2)
    target = MeanMeasure(data, rf.NDCG(), "skip")
    chosen = best_pair(s, t, target, "mixture", most_changes=50_000)
    a = chosen.place
    assert abs(rf.evaluate((1 - a) * s + a * t, data, "NDCG").mean["NDCG"] - chosen.value) < 1e-12
    assert chosen.value >= chosen.curve.highs.max() - 1e-11


@pytest.mark.compiled_only
def test_the_unit_of_the_sums_does_not_depend_on_the_order_of_queries():
    """Shares add up to 1, where a unit ends: rounded on the way, they would be above it in some orders."""
    rng = np.random.default_rng(8)
    for _ in range(60):
        weights = rng.uniform(0.1, 1.0, 9)
        units = set()
        for _ in range(4):
            order = rng.permutation(9)
            data = rf.Dataset(np.zeros((18, 1)), [1.0, 0.0] * 9, group=[2] * 9, query_weights=weights[order])
            queries = QueriesInMean(data, judged(data, rf.NDCG()))
            scores = Scaled.of(np.tile([1.0, 0.0], 9), "scores")
            keys = np.arange(18, dtype=np.uint64)
            units.add(sweep(scores, scores, judged(data, rf.NDCG()), queries.shares, tie_keys=keys)._bits)
        assert len(units) == 1
