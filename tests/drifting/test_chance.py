"""What chance does: expectations against permutations of whole queries, bounds against exact tests."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.drifting import slow_twin

import rankforce as rf
from rankforce.data.distributions import Distribution, counts_by_query, known_data
from rankforce.drifting.chance import (
    Chance,
    NewDocuments,
    distance,
    exceedance,
    largest_step,
    least_of,
    more_holders,
    stability_index,
)


def sample_of(known: Distribution, data: rf.Dataset) -> NewDocuments:
    column = np.ascontiguousarray(data.by_query(data.features[:, 0]))
    return NewDocuments.of(counts_by_query(known, column, data.query_sizes))


def clustered(rng, queries, spread=1.0):
    """One feature whose documents are alike within a query."""
    sizes = rng.integers(3, 20, queries)
    values = rng.normal(size=queries).repeat(sizes) * spread + rng.normal(size=sizes.sum())
    return rf.Dataset(values[:, None], group=sizes)


def test_psi_is_the_sum_by_the_letter():
    rng = np.random.default_rng(0)
    then, new = clustered(rng, 80), clustered(rng, 30, spread=2.0)
    features = new.features.copy()
    features[::7] = np.nan  # never missing before
    new = new.replace(features=features)
    known = known_data(then).features[0]
    now = sample_of(known, new)
    slow = np.sum(slow_twin.counts_by_query(known, new, 0), axis=0).tolist()
    assert now.documents.tolist() == slow
    assert stability_index(known, now) == pytest.approx(slow_twin.psi([*known.counts, known.missing], slow), rel=1e-12)


def test_ks_is_scipys_at_the_cuts_and_nearly_elsewhere():
    rng = np.random.default_rng(1)
    for few in (True, False):
        a, b = rng.normal(size=600), rng.normal(0.3, 1.2, size=300)
        a, b = (np.round(a), np.round(b)) if few else (a, b)
        then, new = (rf.Dataset(values[:, None], group=[3] * (len(values) // 3)) for values in (a, b))
        known = known_data(then).features[0]
        found = largest_step(known, sample_of(known, new))
        exact = stats.ks_2samp(then.features[:, 0], new.features[:, 0]).statistic
        assert found <= exact + 1e-12
        assert exact - found <= (1e-12 if few and len(known.cuts) >= 5 else max(known.counts) / len(a))


@pytest.mark.parametrize("spread", [0.0, 1.0, 5.0])
def test_the_expected_distance_is_that_of_permuted_queries(spread):
    """Deal the queries of both sets anew and measure: the mean is what is expected, and rows would say far less."""
    rng = np.random.default_rng(2)
    data = clustered(rng, 240, spread)
    split = np.arange(240) < 200
    known = known_data(data.take_queries(split)).features[0]
    by_query = counts_by_query(known, np.ascontiguousarray(data.by_query(data.features[:, 0])), data.query_sizes)
    expected = Chance.of(known, 200, NewDocuments.of(by_query[~split]))
    distances, steps = [], []
    for _ in range(400):
        dealt = rng.permutation(240)
        then, now = by_query[dealt[:200]].sum(axis=0), by_query[dealt[200:]].sum(axis=0)
        p, q = then / then.sum(), now / now.sum()
        half = (then[:-1] + 0.5) / (then.sum() + 0.5 * len(then[:-1]))
        distances.append((((q - p)[:-1]) ** 2 / half).sum())
        steps.append(np.abs(np.cumsum(p - q)).max())
    assert expected.mean == pytest.approx(np.mean(distances), rel=0.15)
    assert expected.variance == pytest.approx(np.var(distances), rel=0.5)
    assert 0.9 * np.mean(steps) < expected.step < 2.0 * np.mean(steps)  # exact for independent documents, else high
    if spread == 5.0:  # as if rows were independent, chance would be taken for drift
        independent = (len(known.counts) - 1) * (1 / data.n_documents + 1 / by_query[~split].sum())
        assert expected.mean > 4 * independent


def test_the_bound_holds_for_any_shape():
    chance = Chance(mean=1.0, variance=2.0, step=0.1)
    assert exceedance(0.5, chance) == 1.0
    assert exceedance(float("nan"), chance) == 1.0
    assert exceedance(3.0, chance) == pytest.approx(2.0 / (2.0 + 4.0))
    rng = np.random.default_rng(3)
    for draws in (rng.exponential(size=100_000), rng.pareto(3, size=100_000), (rng.random(100_000) < 0.01) * 1.0):
        known = Chance(mean=float(draws.mean()), variance=float(draws.var()), step=0.0)
        for x in np.quantile(draws, [0.9, 0.99, 0.9999]):
            if x > known.mean:
                assert (draws >= x).mean() <= exceedance(float(x), known) + 1e-9


def test_fishers_exact_test():
    for then, queries_then, now, queries_now in ((0, 50, 3, 10), (4, 100, 2, 30), (2, 9, 9, 9), (0, 5, 5, 5)):
        exact = stats.hypergeom.sf(now - 1, queries_then + queries_now, then + now, queries_now)
        assert more_holders(then, queries_then, now, queries_now) == pytest.approx(exact, rel=1e-9)
    assert more_holders(3, 10, 0, 10) == 1.0
    assert least_of([0.5, 0.02]) == pytest.approx(0.04)
    assert least_of([]) == 1.0


def test_shorter_queries_are_allowed_more():
    rng = np.random.default_rng(4)
    long = rf.Dataset(rng.normal(size=(4000, 1)), group=[40] * 100)
    short = rf.Dataset(rng.normal(size=(80, 1)), group=[4] * 20)
    known = known_data(long).features[0]
    now = sample_of(known, short)
    free = len(known.counts) - 1
    assert Chance.of(known, 100, now).mean == pytest.approx(free / 80 + free / 4000, rel=0.3)
    assert exceedance(distance(known, now), Chance.of(known, 100, now)) > 0.05
