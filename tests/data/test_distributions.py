"""What is kept of a distribution: exact counts, how much queries differ, in few bytes, whatever the order."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from tests.drifting import slow_twin

import rankforce as rf
from rankforce.data import distributions
from rankforce.data.distributions import BINS, ENOUGH, distribution_of, known_data, sampled_queries
from rankforce.models.kept_data import written_provenance
from rankforce.models.provenance import Provenance


def made(seed=0, queries=90):
    """Features of documents and of queries, with ties, flags, gaps and heavy tails; queries are not adjacent."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, queries)
    qid = np.repeat(np.arange(queries), sizes)
    n = len(qid)
    columns = {
        "normal": rng.normal(size=n),
        "query": rng.normal(size=queries)[qid],
        "rounded": np.round(rng.normal(size=n)),
        "flag": rng.random(n) < 0.02,
        "mostly": rng.random(n) < 0.98,
        "gaps": np.where(rng.random(n) < 0.3, np.nan, rng.random(n)),
        "constant": np.ones(n),
        "never": np.full(n, np.nan),
        "tail": rng.pareto(0.5, n),
    }
    matrix = np.column_stack([column.astype(np.float32) for column in columns.values()])
    order = rng.permutation(n)
    return rf.Dataset(matrix[order], qid=qid[order], feature_names=list(columns))


def test_counts_and_noise_are_those_of_the_slow_twin():
    data = made()
    known = known_data(data)
    assert (known.queries, known.all_queries) == (90, 90)
    for place, found in enumerate(known.features):
        slow = slow_twin.counts_by_query(found, data, place)
        assert [*found.counts, found.missing] == [sum(column) for column in zip(*slow, strict=True)]
        assert list(found.holders) == [sum(1 for one in slow if one[b]) for b in range(len(slow[0]))]
        for name, value in slow_twin.noise(slow).items():
            assert getattr(found, name) == pytest.approx(value, rel=1e-5, abs=1e-12), (data.feature_names[place], name)


def test_bins_are_about_equal_and_split_off_frequent_values():
    data = made(queries=400)
    known = dict(zip(data.feature_names, known_data(data).features, strict=True))
    counts = known["normal"].counts
    assert len(counts) == BINS
    assert max(counts) - min(counts) <= 1
    assert known["mostly"].cuts == (0.0,)  # 2 % zeros are seen though every quantile is 1
    assert known["flag"].cuts == (0.0,)
    assert known["constant"].cuts == ()
    assert known["never"].counts == (0,)
    assert known["rounded"].cuts == tuple(sorted(known["rounded"].cuts))


def test_few_queries_make_few_bins():
    data = made(queries=16)
    assert len(known_data(data).features[0].counts) == 2


def test_the_order_of_queries_and_rows_of_other_queries_does_not_matter():
    data = made()
    queries = np.random.default_rng(5).permutation(data.n_queries)
    rows = np.concatenate([list(data.each_query())[q] for q in queries])
    turned = rf.Dataset(data.features[rows], qid=data.qid[rows], feature_names=data.feature_names)
    assert repr(known_data(data)) == repr(known_data(turned))


def test_it_takes_little_room():
    wide = rf.make_artificial(queries=500, documents=30, features=5, seed=1)
    provenance = Provenance(known_data=known_data(wide))
    for one in written_provenance(provenance)["known_data"]["features"]:
        assert len(json.dumps(one)) < 1000


def test_large_data_is_sampled_by_whole_queries(monkeypatch):
    data = made(queries=300)
    monkeypatch.setattr(distributions, "SAMPLE", 400)
    chosen = sampled_queries(data, 400)
    assert 400 <= data.query_sizes[chosen].sum() <= 420
    known, part = known_data(data), known_data(data.take_queries(chosen))
    assert (known.all_queries, known.queries) == (300, int(chosen.sum()))
    assert repr(known.features) == repr(part.features)


def test_categories_are_bins_of_their_own():
    rng = np.random.default_rng(0)
    codes = np.minimum(rng.geometric(0.3, 600) - 1, 29).astype(float)
    codes[:5], codes[5:9] = -1, np.nan
    names = [f"c{code}" for code in range(30)]
    data = rf.Dataset(codes[:, None], group=[3] * 200, feature_names=["kind"], categories={"kind": names})
    found = known_data(data).features[0]
    assert found.categories is not None
    assert found.categories[:3] == ("c0", "c1", "c2")
    assert len(found.categories) <= BINS - 1
    assert found.counts[0] == int((codes == 0).sum())
    assert found.missing == 4
    assert [*found.counts, 4] == np.sum(slow_twin.counts_by_query(found, data, 0), axis=0).tolist()


def test_scores_have_a_distribution_as_features_have():
    data = made()
    scores = data.features[:, 0].astype(np.float64)
    assert dataclasses.replace(distribution_of(scores, data)) == known_data(data).features[0]
    assert ENOUGH > 1
