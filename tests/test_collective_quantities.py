"""What several find together, quantity by quantity, and what they refuse."""

from __future__ import annotations

import functools
import operator
import threading
import warnings

import numpy as np
import pytest
from tests.crowd import Crowd
from tests.test_collective import DATA, HELD_OUT, PLAIN, file_of, learned

import rankforce as rf
from rankforce.binning.binning import Binning
from rankforce.collective import alone
from rankforce.errors import DataError, MeasureError, SettingsError
from rankforce.evaluation.significance import standard_error
from rankforce.forces.forces import Forces, RunningOrder
from rankforce.lambdas.catalogue import lambda_function as read_lambda_function
from rankforce.measures.catalogue import measure
from rankforce.measures.judged import judged
from rankforce.measures.mean import weighted_mean
from rankforce.objectives.objective import Objective, Pairs, Term
from rankforce.rankers.catalogue import ranker_classes
from rankforce.training.ranker import Ranker
from rankforce.trees.histogram_pool import HISTOGRAM_BYTES
from rankforce.trees.quantised import quantise

HELD_OUT_PLAIN = rf.Dataset(HELD_OUT.features, HELD_OUT.label("grades"), qid=HELD_OUT.query_ids[HELD_OUT.row_queries])
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


class Starting:
    def pull(self, scores, labels, data):
        return labels - scores

    def start(self, labels, weights):
        return float(labels.mean())


def relative(labels):
    return labels / max(labels.max(initial=1.0), 1.0) + len(labels)


@pytest.mark.parametrize(
    ("ranker", "error", "message"),
    [
        (lambda: rf.LambdaRank(), SettingsError, "LambdaRank learns in one process: a net changes after a query"),
        (lambda: rf.RankNet(), SettingsError, "RankNet learns in one process: a net changes"),
        (lambda: rf.SPSA(), SettingsError, "SPSA learns in one process: each of its steps measures all queries"),
        (lambda: rf.PRank(), SettingsError, "PRank learns in one process: its weights change after a document"),
        (lambda: rf.XRank(), SettingsError, "XRank learns in one process: every change of its graph"),
        (lambda: rf.Bagging(rf.PRank()), SettingsError, "Bagging learns in one process: its weights change"),
        (lambda: rf.MART(Starting(), n_trees=1), SettingsError, "Starting.start sees all labels at once"),
        (lambda: rf.MART(target=relative, n_trees=1), SettingsError, "a function of the label alone"),
        (lambda: rf.LambdaMART(rf.NDCG(gain=relative), n_trees=1), MeasureError, "a function of the label alone"),
    ],
)
def test_refusals(ranker, error, message):
    found = Crowd(2).outcomes(lambda rank: ranker().fit(DATA.take_queries(np.arange(rank, 24, 2))))
    for one in found:  # everybody says it, not only who sees it
        assert isinstance(one, error)
        assert message in str(one)


def test_every_ranker_learns_together_or_says_why():
    together = {name for name, ranker in ranker_classes().items() if ranker().learns_together}
    assert together == {"LambdaMART", "MART", "Bagging"}
    for name in ranker_classes().keys() - together:
        assert ranker_classes()[name].WHY_ALONE != Ranker.WHY_ALONE, f"{name} does not say why"


def preferences_of(data):
    """Of every query with two documents: the first before the last, and the second before the first."""
    pairs = [(rows[place], rows[place - 1]) for rows in data.each_query() for place in (0, 1) if len(rows) > 1]
    better, worse = np.array(pairs, dtype=int).reshape(-1, 2).T
    queries = len(pairs) // 2
    return rf.Preferences(data, better, worse, np.tile([0.3, 0.9], queries), np.tile([1.0, 2.5], queries))


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_preferences(share, tmp_path):
    """Also where they are watched, and where a member has none."""

    def fit(data, held_out):
        ranker = rf.LambdaMART(n_trees=3, early_stopping=2, progress=False)
        of = {"preferences": preferences_of(data), "preference_share": share}
        return ranker.fit(data, validation=preferences_of(held_out), **of).model_

    expected = file_of(fit(PLAIN, HELD_OUT_PLAIN), tmp_path, "alone")
    shares = [np.flatnonzero(PLAIN.query_sizes == 1), *np.array_split(np.flatnonzero(PLAIN.query_sizes > 1), 2)]
    assert len(shares[0])
    watched = [np.empty(0, dtype=int), *np.array_split(np.arange(HELD_OUT_PLAIN.n_queries), 2)]

    def train(rank):
        model = fit(PLAIN.take_queries(shares[rank]), HELD_OUT_PLAIN.take_queries(watched[rank]))
        return file_of(model, tmp_path, f"member {rank}")

    assert set(Crowd(3).run(train)) == {expected}


def test_weights_are_searched_for_together(tmp_path):
    def ranker():
        objective = rf.Graded(["NDCG", "CNDCG:clicks"], "search")
        return rf.LambdaMART(objective=objective, n_trees=2, n_leaves=4, progress=False)

    expected = file_of(learned(ranker(), DATA, HELD_OUT), tmp_path, "alone")

    def train(rank):
        mine = DATA.take_queries(np.arange(rank, 24, 2)), HELD_OUT.take_queries(np.arange(rank, 9, 2))
        return file_of(learned(ranker(), *mine), tmp_path, f"member {rank}")

    assert set(Crowd(2).run(train)) == {expected}


def test_instruments_look_at_the_queries_of_all():
    """One member has a grade and unlabelled clicks that the other has not."""
    objective = rf.Graded(["NDCG", "CNDCG:clicks"], [0.7, 0.3])
    best = np.maximum.reduceat(DATA.by_query(DATA.label("grades")), DATA.query_starts[:-1])
    shares = [np.flatnonzero(best == 4), np.flatnonzero(best < 4), np.empty(0, dtype=int)]

    def tables(data):
        looking = [
            rf.diagnostics.ForceAgreement(objective),
            rf.diagnostics.ContributionsByGrade("NDCG", least=2.0),
            rf.diagnostics.GradesInTop(2),
            rf.diagnostics.GradesInTop(2, label="clicks"),
            rf.diagnostics.RankChanges(2),
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rf.LambdaMART(n_trees=3, progress=False).fit(data, instruments=looking)
        return [{name: values.tolist() for name, values in one.columns.items()} for one in looking]

    expected = str(tables(DATA))  # NaN is NaN
    assert [str(one) for one in Crowd(3).run(lambda rank: tables(DATA.take_queries(shares[rank])))] == [expected] * 3


def test_members_that_have_all_labelled_documents_and_members_that_have_not(tmp_path):
    labels = np.where(PLAIN.row_queries == 2, np.nan, PLAIN.label("grades"))
    data = PLAIN.replace(labels={"grades": labels})
    expected = file_of(learned(rf.MART(n_trees=2), data, None), tmp_path, "alone")

    def train(rank):
        share = data.take_queries(np.arange(rank, data.n_queries, 2))
        return file_of(learned(rf.MART(n_trees=2), share, None), tmp_path, f"member {rank}")

    assert set(Crowd(2).run(train)) == {expected}


def test_members_with_different_memory(monkeypatch, tmp_path):
    """Who has little gives histograms up; the others do the same."""

    def ranker():
        return rf.LambdaMART(n_trees=2, growth="leafwise", n_leaves=12, min_documents=2)

    expected = file_of(learned(ranker(), PLAIN, None), tmp_path, "alone")
    monkeypatch.setitem(HISTOGRAM_BYTES, "low", 200_000)
    memory = threading.local()
    monkeypatch.setattr("rankforce.boosting.course.chosen_memory", lambda setting, data: (memory.chosen, ""))

    def train(rank):
        memory.chosen = ("low", "fast")[rank]
        share = PLAIN.take_queries(np.arange(rank, PLAIN.n_queries, 2))
        return file_of(learned(ranker(), share, None), tmp_path, f"member {rank}")

    assert set(Crowd(2).run(train)) == {expected}


@pytest.mark.parametrize("name", ["KendallTau", "PairwiseAccuracy"])
def test_what_a_share_remembers_is_asked_again_of_others(name):
    """The shares of a training that goes on with others are the very ones of the last."""
    shares = [DATA.take_queries(share) for share in shares_by_length()]
    joined = [rf.Dataset.concat(shares[:2]), shares[2]]

    def worths(data):
        return judged(data, measure(name)).worth.tolist()

    first = Crowd(3).run(lambda rank: worths(shares[rank]))
    again = Crowd(2).run(lambda rank: worths(joined[rank]))
    assert sorted(functools.reduce(operator.iadd, first, [])) == sorted(functools.reduce(operator.iadd, again, []))


def test_no_document_at_all_is_only_for_members():
    assert alone()
    with pytest.raises(DataError, match="at least one"):
        DATA.take_queries([])
    sizes = Crowd(2).run(lambda rank: DATA.take_queries([rank] if rank else []).n_documents)
    assert sizes == [0, DATA.query_sizes[1]]
