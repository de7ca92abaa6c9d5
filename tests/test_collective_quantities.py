"""What several find together, quantity by quantity, and what they refuse."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from tests.crowd import Crowd
from tests.test_collective import DATA, PLAIN, file_of, learned

import rankforce as rf
from rankforce.binning.binning import Binning
from rankforce.collective import alone
from rankforce.errors import DataError, SettingsError
from rankforce.evaluation.significance import standard_error
from rankforce.forces.forces import Forces, RunningOrder
from rankforce.lambdas.catalogue import lambda_function as read_lambda_function
from rankforce.measures.catalogue import measure
from rankforce.measures.mean import weighted_mean
from rankforce.objectives.objective import Objective, Pairs, Term
from rankforce.trees.histogram_pool import HISTOGRAM_BYTES
from rankforce.trees.quantised import quantise

LAMBDAS = ("NearPairs", "RankNetWeightPairs", "LocalCost(k=3)", "LocalCost(k=40)")
PAIRS = ("all", ("top", 5), ("top", 40), ("sample", 4))


def shares_by_length(members=3):
    return np.array_split(np.argsort(-DATA.query_sizes, kind="stable"), members)


def forces_of(data, name, pairs, scores):
    term = Term(measure("NDCG"), lambda_function=read_lambda_function(name), pairs=Pairs.read(pairs))
    forces = Forces(data, Objective((term,)), seed=3)
    return [part.copy() for part in forces.at(scores, RunningOrder(data, 3).update(scores), iteration=2)]


@pytest.mark.parametrize("name", LAMBDAS)
@pytest.mark.parametrize("pairs", PAIRS, ids=str)
def test_forces_of_a_share_are_those_of_the_whole(name, pairs):
    if name.startswith("LocalCost") and "sample" in pairs:
        return  # refused: it chooses its pairs itself
    scores = np.random.default_rng(4).normal(size=DATA.n_documents)
    whole = forces_of(DATA, name, pairs, scores)
    shares = shares_by_length()
    rows = [np.flatnonzero(np.isin(DATA.row_queries, share)) for share in shares]
    found = Crowd(3).run(lambda rank: forces_of(DATA.take_queries(shares[rank]), name, pairs, scores[rows[rank]]))
    for here, parts in zip(rows, found, strict=True):
        for mine, everybodys in zip(parts, whole, strict=True):
            assert mine.tobytes() == everybodys[here].tobytes()


def test_many_grades_of_one_member_decide_the_loop_of_all():
    labels = np.where(DATA.row_queries == 3, np.arange(DATA.n_documents), DATA.label("grades"))
    data = DATA.replace(labels={"grades": labels})
    shares = shares_by_length()
    counts = Crowd(3).run(
        lambda rank: Forces(
            data.take_queries(shares[rank]), Objective((Term(measure("KendallTau")),)), seed=0
        ).terms[0].column_count
    )  # fmt: skip
    assert len(set(counts)) == 1


@pytest.mark.parametrize("max_bins", [3, 40, 255])
@pytest.mark.parametrize("exact_rows", [50, 200, 10_000])
def test_bins(max_bins, exact_rows, monkeypatch):
    monkeypatch.setattr("rankforce.binning.binning.EXACT_ROWS", exact_rows)
    whole = Binning.of(DATA, max_bins)
    shares = shares_by_length()
    for one in Crowd(3).run(lambda rank: Binning.of(DATA.take_queries(shares[rank]), max_bins)):
        assert one == whole


def test_bins_of_a_category_that_one_member_misses():
    """All have one category, and somebody also a missing value: then there are two bins, for everybody."""
    values = np.zeros((4, 1), dtype=np.float32)
    values[3] = np.nan
    data = rf.Dataset(values, [0, 1, 0, 1], group=[2, 2], categories={"1": ["a", "b"]})
    whole = Binning.of(data)
    assert len(whole.features) == 1
    assert Crowd(2).run(lambda rank: Binning.of(data.take_queries([rank]))) == [whole, whole]


def test_units_are_those_of_all_documents():
    sizes = 5_000, 30_000  # which need different numbers of bits to be counted
    forces = np.random.default_rng(6).normal(size=sum(sizes))

    def scales(forces):
        here = len(forces)
        starts, hashes = np.array([0, here]), np.zeros(1, dtype=np.uint64)
        return quantise(
            forces, None, np.arange(here, dtype=np.int32), starts, hashes, 0, 0, np.zeros(here, dtype=np.int64)
        )

    whole = scales(forces)
    assert whole != scales(forces[: sizes[0]])
    parts = np.split(forces, [sizes[0]])
    assert Crowd(2).run(lambda rank: scales(parts[rank])) == [whole, whole]


def test_members_with_different_numbers_of_threads(monkeypatch, tmp_path):
    def ranker():
        return rf.LambdaMART(n_trees=3, growth="leafwise", n_leaves=20, min_documents=2, memory="low")

    monkeypatch.setitem(HISTOGRAM_BYTES, "low", 200_000)
    expected = file_of(learned(ranker(), PLAIN, None), tmp_path, "alone")
    counts = threading.local()
    monkeypatch.setattr("rankforce.trees.grower.default_threads", lambda: getattr(counts, "threads", 1))

    def train(rank):
        counts.threads = (1, 16)[rank]
        share = np.arange(rank, PLAIN.n_queries, 2)
        return file_of(learned(ranker(), PLAIN.take_queries(share), None), tmp_path, f"member {rank}")

    assert set(Crowd(2).run(train)) == {expected}


def test_means_and_errors():
    random = np.random.default_rng(2)
    values, weights = random.normal(size=(2, 50)) ** 2
    cuts = [slice(0, 7), slice(7, 7), slice(7, 50)]

    def found(rank):
        mine = values[cuts[rank]], weights[cuts[rank]]
        return weighted_mean(mine[0]), weighted_mean(*mine), standard_error(mine[0]), standard_error(*mine)

    expected = (
        weighted_mean(values),
        weighted_mean(values, weights),
        standard_error(values),
        standard_error(values, weights),
    )
    assert set(Crowd(3).run(found)) == {expected}


def test_a_member_without_anything_to_learn_learns_with_the_others(tmp_path):
    labels = np.where(PLAIN.row_queries % 2 == 0, 1.0, PLAIN.label("grades"))
    data = PLAIN.replace(labels={"grades": labels}, weights=np.where(PLAIN.row_queries % 2 == 0, 0.0, 1.0))

    def ranker():
        return rf.LambdaMART(n_trees=2)

    expected = file_of(learned(ranker(), data, None), tmp_path, "alone")

    def train(rank):
        share = data.take_queries(np.arange(rank, data.n_queries, 2))
        return file_of(learned(ranker(), share, None), tmp_path, f"member {rank}")

    assert set(Crowd(2).run(train)) == {expected}


def test_nobody_has_anything_to_learn():
    data = PLAIN.replace(labels={"grades": np.ones(PLAIN.n_documents)})
    with pytest.raises((DataError, SettingsError), match=r"nothing to learn from|cannot be watched"):
        Crowd(2).run(lambda rank: rf.LambdaMART(n_trees=1).fit(data.take_queries(np.arange(rank, 24, 2))))


@pytest.mark.parametrize(
    ("ranker", "inputs", "message"),
    [
        (lambda: rf.LambdaMART(n_trees=1, line_search=1), lambda _: {}, "line_search needs all queries"),
        (lambda: rf.LambdaRank(), lambda _: {}, "LambdaRank learns in one process"),
        (lambda: rf.LambdaMART(n_trees=1), lambda _: {"instruments": [rf.diagnostics.GradesInTop(3)]}, "instruments"),
        (
            lambda: rf.LambdaMART(n_trees=1),
            lambda data: {"preferences": rf.Preferences(data, [0], [1])},
            "preferences are learned from in one process",
        ),
        (
            lambda: rf.LambdaMART(objective=rf.Graded(["NDCG", "CNDCG:clicks"], "search")),
            lambda data: {"validation": data},
            "searched for in one process",
        ),
    ],
)
def test_refusals(ranker, inputs, message):
    def train(rank):
        data = DATA.take_queries(np.arange(rank, 24, 2))
        ranker().fit(data, **inputs(data))

    with pytest.raises(SettingsError, match=message):
        Crowd(2).run(train)


def test_no_document_at_all_is_only_for_members():
    assert alone()
    with pytest.raises(DataError, match="at least one"):
        DATA.take_queries([])
    sizes = Crowd(2).run(lambda rank: DATA.take_queries([rank] if rank else []).n_documents)
    assert sizes == [0, DATA.query_sizes[1]]
