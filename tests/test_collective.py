"""A model that several train together, each on its own queries, is the model of one: the same file."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from tests.crowd import Crowd

import rankforce as rf
from rankforce.collective import anybody, everybody, exact_total, gathered, highest, total, totals, union
from rankforce.trees import leaf_rounds

GRADES = 5


def made(queries=24, features=6, seed=1):
    """Queries of very different lengths, a feature with missing values, two label sources, weights."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 30, queries)
    sizes[3] = 90
    qid = np.repeat([f"q{number}" for number in range(queries)], sizes)
    X = random.normal(size=(len(qid), features)).astype(np.float32)
    X[:, 1] = np.round(X[:, 1])
    X[random.random(len(qid)) < 0.1, 2] = np.nan
    merit = X[:, 0] + np.nan_to_num(X[:, 2]) * X[:, 1] + random.normal(size=len(qid))
    grades = np.clip(np.round(merit + 1.5), 0, GRADES - 1)
    clicks = np.clip(0.2 * grades + 0.3 * random.random(len(qid)), 0, 1)
    clicks[random.random(len(qid)) < 0.2] = np.nan
    return rf.Dataset(
        X,
        qid=qid,
        labels={"grades": grades, "clicks": clicks},
        weights=random.integers(1, 4, len(qid)) / 2.0,
        query_weights=random.integers(1, 5, queries) / 4.0,
    )


DATA = made()
PLAIN = rf.Dataset(DATA.features, DATA.label("grades"), qid=DATA.query_ids[DATA.row_queries])
HELD_OUT = made(9, seed=2)


def by_grade(data, members):
    """Queries with a grade of 4 at the first member; nobody else has that grade."""
    best = np.maximum.reduceat(data.by_query(data.label("grades")), data.query_starts[:-1])
    return [np.flatnonzero(best == GRADES - 1), *np.array_split(np.flatnonzero(best < GRADES - 1), members - 1)]


def by_length(data, members):
    return np.array_split(np.argsort(-data.query_sizes, kind="stable"), members)


def uneven(data, members):
    order = np.random.default_rng(members).permutation(data.n_queries)
    return [order[: members - 1][[place]] for place in range(members - 1)] + [order[members - 1 :]]


def nothing_at_one(data, members):
    return [np.empty(0, dtype=int), *np.array_split(np.arange(data.n_queries), members - 1)]


SHARES = {
    "by grade": by_grade,
    "by length": by_length,
    "one query each, and the rest": uneven,
    "nothing at one": nothing_at_one,
}

TRAININGS = {
    "defaults": lambda: rf.LambdaMART(n_trees=4),
    "leafwise": lambda: rf.LambdaMART(n_trees=4, growth="leafwise", n_leaves=7, min_documents=7),
    "leaves by tree": lambda: rf.LambdaMART(n_trees=4, growth="leafwise", n_leaves=[2, 9, 3, 5], min_documents=2),
    "levels by tree": lambda: rf.MART(n_trees=3, growth="symmetric", n_leaves=lambda tree: 9 - 3 * tree),
    "few histograms": lambda: rf.LambdaMART(n_trees=3, growth="leafwise", n_leaves=9, memory="low"),
    "least squares": lambda: rf.LambdaMART("NDCG@5", n_trees=3, preset="2011"),
    "fractions": lambda: rf.LambdaMART(n_trees=6, query_fraction=0.2, feature_fraction=0.5, seed=4),
    "hardly a query": lambda: rf.LambdaMART(n_trees=4, query_fraction=0.01, min_documents=2),
    "MAP": lambda: rf.LambdaMART("MAP", n_trees=3, growth="leafwise"),
    "places of labels": lambda: rf.LambdaMART("KendallTau", n_trees=3),
    "top pairs": lambda: rf.LambdaMART(n_trees=3, pairs=("top", 12)),
    "sampled pairs": lambda: rf.LambdaMART(n_trees=3, pairs=("sample", 3)),
    "near ranks": lambda: rf.LambdaMART(n_trees=3, lambda_function="LocalCost(k=3)", step="gradient"),
    "monotone": lambda: rf.LambdaMART(n_trees=3, monotone={1: 1, 2: -1}, growth="leafwise"),
    "few bins": lambda: rf.LambdaMART(n_trees=3, max_bins=7, l2=1.0),
    "graded": lambda: rf.LambdaMART(
        objective=rf.Graded(["NDCG", "CNDCG:clicks"], [0.7, 0.3]), n_trees=4, early_stopping=2
    ),
    "early stopping": lambda: rf.LambdaMART(n_trees=30, learning_rate=1.0, early_stopping=2),
    "regression": lambda: rf.MART(n_trees=4),
    "regression by Newton": lambda: rf.MART(n_trees=3, split="newton", growth="leafwise"),
    "binary": lambda: rf.MART(n_trees=3, cost="binary"),
    "balanced": lambda: rf.MART(n_trees=3, cost="balanced"),
    "ordinal": lambda: rf.MART(n_trees=2, cost="ordinal"),
    "line search": lambda: rf.LambdaMART("MAP", n_trees=3, line_search=1, growth="leafwise"),
    "line search on validation": lambda: rf.MART(n_trees=3, line_search=2, line_search_on="validation"),
    "bags of queries": lambda: rf.Bagging(rf.MART(n_trees=2, early_stopping=1), 2, 0.6),
    "bags of folds": lambda: rf.Bagging(rf.LambdaMART(n_trees=2, n_leaves=4), 2, sample="folds"),
    "multiclass": lambda: rf.MART(n_trees=2, cost="multiclass"),
}


def learned(ranker, data, held_out):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker.fit(data, validation=held_out)
    return ranker.model_


def file_of(model, folder, name):
    path = folder / f"{name}.json"
    model.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", TRAININGS)
def test_the_file_of_several_is_the_file_of_one(name, share, tmp_path, monkeypatch):
    if share == "by length":  # whatever is small or large is sent as rows, which so small data hardly pays for
        monkeypatch.setattr(leaf_rounds, "TOLL", -(10**9))
    alone = file_of(learned(TRAININGS[name](), DATA, HELD_OUT), tmp_path, "alone")
    members = 2 if share == "by grade" else 3
    shares = [np.sort(one) for one in SHARES[share](DATA, members)]
    watched = SHARES[share](HELD_OUT, members) if "nothing" in share else np.array_split(np.arange(9), members)

    def train(rank):
        mine = DATA.take_queries(shares[rank]), HELD_OUT.take_queries(watched[rank])
        return file_of(learned(TRAININGS[name](), *mine), tmp_path, f"member {rank}")

    crowd = Crowd(members)
    files = crowd.run(train)
    assert crowd.calls > 20
    for one in files:
        assert one == alone


@pytest.mark.parametrize("toll", [leaf_rounds.TOLL, -(10**9)], ids=["histograms", "rows"])
@pytest.mark.parametrize("members", [1, 2, 4, 5])
@pytest.mark.parametrize("threads", [1, 2])
def test_any_number_of_members_and_threads(members, threads, toll, tmp_path, monkeypatch):
    monkeypatch.setattr(leaf_rounds, "TOLL", toll)

    def ranker():
        return rf.LambdaMART(n_trees=4, growth="leafwise", n_leaves=8, min_documents=3, threads=threads)

    alone = file_of(learned(ranker(), PLAIN, None), tmp_path, "alone")
    order = np.random.default_rng(members).permutation(PLAIN.n_queries)
    shares = [PLAIN.take_queries(np.sort(one)) for one in np.array_split(order, members)]
    files = Crowd(members).run(lambda rank: file_of(learned(ranker(), shares[rank], None), tmp_path, f"member {rank}"))
    assert set(files) == {alone}


def with_categories(data):
    """Its second feature, small whole numbers, as categories."""
    codes = np.array(data.features)
    codes[:, 1] -= codes[:, 1].min()
    names = [f"c{number}" for number in range(int(codes[:, 1].max()) + 1)]
    labels, qid = data.label("grades"), data.query_ids[data.row_queries]
    return rf.Dataset(codes, labels, qid=qid, categories={data.feature_names[1]: names})


@pytest.mark.parametrize("toll", [leaf_rounds.TOLL, -20_000, -(10**9)], ids=["histograms", "both", "rows"])
@pytest.mark.parametrize("empty", [None, 0, 1])
@pytest.mark.parametrize("name", ["plain", "categories"])
def test_two_members_who_add_what_comes(name, empty, toll, tmp_path, monkeypatch):
    """Of two, each has the sums of its own where the other's are added: also where one of them has no documents."""
    monkeypatch.setattr(leaf_rounds, "TOLL", toll)
    data = PLAIN if name == "plain" else with_categories(PLAIN)

    def ranker():
        return rf.LambdaMART(n_trees=2, growth="leafwise", n_leaves=12, min_documents=4)

    alone = file_of(learned(ranker(), data, None), tmp_path, "alone")
    first = {None: data.n_queries // 3, 0: 0, 1: data.n_queries}[empty]
    mine = [np.arange(data.n_queries) < first, np.arange(data.n_queries) >= first]

    def train(rank):
        return file_of(learned(ranker(), data.take_queries(mine[rank]), None), tmp_path, f"member {rank}")

    assert set(Crowd(2).run(train)) == {alone}


def test_an_error_of_one_ends_all():
    class Wrong(Exception):
        pass

    def work(rank):
        if rank == 1:
            raise Wrong
        return total(1)

    with pytest.raises(Wrong):
        Crowd(3).run(work)


def test_another_branch_is_noticed():
    with pytest.raises(AssertionError, match="different branches"):
        Crowd(2).run(lambda rank: total(1) if rank else highest(1))


def test_quantities():
    values = [np.array([0.1, math.nan, 3.0]), np.empty(0), np.array([3.0, 1e300, -1e300, -7.0])]
    everything = np.concatenate(values)

    def work(rank):
        mine = values[rank]
        return (
            totals(rank, -5),
            highest(rank, -rank),
            anybody(rank == 2),
            anybody(False),
            everybody(rank < 3),
            everybody(rank < 2),
            exact_total(mine[~np.isnan(mine)]),
            union(mine).tolist(),
            gathered(mine).tolist(),
            gathered(np.full((rank, 2), rank)).tolist(),
        )

    for found in Crowd(3).run(work):
        assert found[:6] == ([3, -15], [2, 0], True, False, True, False)
        assert found[6] == math.fsum(everything[~np.isnan(everything)])
        assert found[7][:-1] == [-1e300, -7.0, 0.1, 3.0, 1e300]
        assert math.isnan(found[7][-1])
        assert str(found[8]) == str(everything.tolist())
        assert found[9] == [[1, 1], [2, 2], [2, 2]]


def test_alone_nothing_is_exchanged():
    assert (total(4), totals(1, 2), highest(3, -4)) == (4, [1, 2], [3, -4])
    assert exact_total(np.array([0.1] * 10)) == 1.0
    assert union(np.array([2.0, 1.0, 2.0])).tolist() == [1.0, 2.0]
    values = np.arange(3)
    assert gathered(values) is values
