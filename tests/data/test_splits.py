"""Splits and folds: whole queries, right sizes, stratified, and the same whatever the order of the file."""

from __future__ import annotations

import numpy as np
import pytest

from rankforce import DataError, Dataset, SettingsError


def make(sizes, order=None) -> Dataset:
    ids = np.repeat([f"q{number}" for number in range(len(sizes))], sizes)
    if order is not None:
        ids = np.concatenate([ids[ids == f"q{number}"] for number in order])
    return Dataset(np.zeros((len(ids), 1)), np.zeros(len(ids)), ids)


def named(parts) -> list[set[str]]:
    return [set(part.query_ids.tolist()) for part in parts]


@pytest.mark.parametrize("shares", [(0.6, 0.2, 0.2), (0.7, 0.2, 0.1), (1.0,), (0.5, 0.25), (0.9, 0.05, 0.05), (0.01,)])
@pytest.mark.parametrize("queries", [5, 17, 100, 233])
def test_parts_are_disjoint_and_have_their_share(shares, queries):
    data = make(np.random.default_rng(queries).integers(1, 30, queries))
    parts = named(data.split(*shares, seed=3))
    assert sum(map(len, parts)) == len(set().union(*parts))
    for part, share in zip(parts, shares, strict=True):
        assert abs(len(part) - share * queries) < 1 or min(shares) * queries < 1
    if abs(sum(shares) - 1) < 1e-9:
        assert len(set().union(*parts)) == queries


def test_no_part_is_empty_while_there_are_enough_queries():
    assert [part.n_queries for part in make([3, 4, 5]).split(0.6, 0.2, 0.2)] == [1, 1, 1]
    assert [part.n_queries for part in make([1] * 10).split(0.98, 0.01, 0.01)] == [8, 1, 1]


def test_rows_of_a_query_stay_together():
    data = Dataset(np.arange(8).reshape(8, 1), np.arange(8), list("abcdabcd"))
    for part in data.split(0.5, 0.5):
        for rows in part.each_query():
            assert np.ptp(part.features[rows, 0]) == 4


def test_order_of_the_file_does_not_matter_but_the_seed_does():
    sizes = np.random.default_rng(0).integers(1, 9, 60)
    plain = named(make(sizes).split(0.6, 0.2, 0.2, seed=1))
    shuffled = make(sizes, np.random.default_rng(1).permutation(60))
    assert named(shuffled.split(0.6, 0.2, 0.2, seed=1)) == plain
    assert named(make(sizes).split(0.6, 0.2, 0.2, seed=2)) != plain


def test_the_seed_matters_even_if_all_sizes_differ():
    data = make(np.arange(1, 41))
    seen = {frozenset(named(data.split(0.5, 0.5, seed=seed))[0]) for seed in range(10)}
    assert len(seen) == 10


def test_every_query_can_come_into_every_part():
    data = make(np.arange(1, 21))
    counts = np.zeros(20)
    for seed in range(400):
        counts[[int(name[1:]) for name in data.split(0.8, 0.2, seed=seed)[1].query_ids]] += 1
    # 20 queries, 400 draws with probability 0.2: mean 80, standard deviation 8
    assert counts.min() > 40
    assert counts.max() < 120


def test_stratified_by_size():
    sizes = np.random.default_rng(5).geometric(0.02, 500)
    data = make(sizes)
    for part in data.split(0.6, 0.2, 0.2, seed=9):
        quartiles = np.quantile(part.query_sizes, [0.25, 0.5, 0.75])
        np.testing.assert_allclose(quartiles, np.quantile(sizes, [0.25, 0.5, 0.75]), rtol=0.06)


@pytest.mark.parametrize("count", [2, 3, 5, 23])
def test_folds_partition_the_queries(count):
    data = make(np.random.default_rng(2).integers(1, 20, 23))
    tests = []
    for train, test in data.folds(count, seed=4):
        assert not set(train.query_ids) & set(test.query_ids)
        assert train.n_queries + test.n_queries == 23
        tests.append(set(test.query_ids))
    assert len(tests) == count
    assert len(set().union(*tests)) == 23
    assert max(map(len, tests)) - min(map(len, tests)) <= 1


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ((), "say which shares"),
        ((0.5, 0.6), "not add up to more than 1"),
        ((0.5, 0.0), "above 0"),
        ((-0.1,), "above 0"),
        ((1.5,), "at most 1"),
        ((float("nan"),), "above 0"),
        (("0.5",), "a share"),
        ((True,), "a share"),
    ],
)
def test_impossible_shares(shares, message):
    with pytest.raises(SettingsError, match=message):
        make([1, 2, 3]).split(*shares)


def test_rounding_of_shares_is_forgiven():
    assert [part.n_queries for part in make([1] * 10).split(0.7, 0.2, 0.1)] == [7, 2, 1]
    assert [part.n_queries for part in make([1] * 10).split(*[0.1] * 10)] == [1] * 10


def test_too_few_queries():
    with pytest.raises(DataError, match="3 parts"):
        make([1, 1]).split(0.4, 0.3, 0.3)
    with pytest.raises(DataError, match="5 folds"):
        make([1] * 4).folds(5)
    for count in (1, 0, 2.5, True):
        with pytest.raises(SettingsError, match="folds"):
            make([1] * 4).folds(count)
    with pytest.raises(SettingsError, match="seed"):
        make([1] * 4).folds(2, seed=-1)
