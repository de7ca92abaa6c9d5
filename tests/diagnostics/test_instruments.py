"""The instruments against slow twins, and in a training."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf
from rankforce.lambdas.forces import Forces, Ranking
from rankforce.lambdas.objective import Objective, Term


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    sizes = [7, 12, 2, 9]
    n = sum(sizes)
    clicks = np.where(rng.random(n) < 0.3, 0.0, rng.random(n))
    return rf.Dataset(rng.random((n, 2)), rng.integers(0, 5, n).astype(float), group=sizes, labels={"clicks": clicks})


def look(instrument, data, seed=0, iteration=0):
    scores = np.random.default_rng(seed).normal(size=data.n_documents)
    order = Ranking(data, 0).update(scores)
    instrument.look(iteration, data, scores, order)
    return scores, order, instrument.rows[-1]


def test_agreement(data):
    graded = rf.Graded(["NDCG", "CNDCG:clicks"])
    scores, order, row = look(rf.ForceAgreement(graded), data)
    first = Forces(data, Objective((Term(rf.NDCG()),)), 0).at(scores, order)[0]
    for name, term in {
        "CNDCG:clicks": graded.terms[1],
        "CNDCG:clicks, all pairs": Term(rf.CNDCG("clicks")),
    }.items():
        later = Forces(data, Objective((term,)), 0).at(scores, order)[0]
        agreeing = [b == 0 or ((a > 0) == (b > 0) and a != 0) for a, b in zip(first, later, strict=True)]
        assert row[name] == pytest.approx(np.mean(agreeing))
        assert 0 < row[name] < 1
    with pytest.raises(rf.SettingsError, match="tiers of an"):
        rf.ForceAgreement("NDCG")


def test_contributions(data):
    scores, order, row = look(rf.ContributionsByGrade(least=3), data)
    grades = data.labels["grades"]
    amounts = np.zeros((data.n_documents, 5))
    for q in range(data.n_queries):
        rows = list(range(data.query_starts[q], data.query_starts[q + 1]))
        worth = np.exp2(grades[rows]) - 1
        ideal = np.sort(worth)[::-1]
        best = (ideal / np.log2(np.arange(2, len(rows) + 2))).sum()
        rank = {document: place for place, document in enumerate(order[rows[0] : rows[-1] + 1])}
        for i in rows:
            for j in rows:
                if grades[i] != grades[j]:
                    better, worse = (i, j) if grades[i] > grades[j] else (j, i)
                    gain = 2.0 ** grades[better] - 2.0 ** grades[worse]
                    change = gain * abs(1 / np.log2(rank[i] + 2) - 1 / np.log2(rank[j] + 2)) / best
                    amounts[i, int(grades[j])] += change / (1 + np.exp(scores[better] - scores[worse]))
    high = amounts[(grades >= 3) & (amounts.sum(axis=1) > 0)]
    wanted = (high / high.sum(axis=1, keepdims=True)).mean(axis=0)
    assert [row[f"grade {grade}"] for grade in range(5)] == pytest.approx(wanted)
    with pytest.raises(rf.SettingsError, match="at least 9"):
        look(rf.ContributionsByGrade(least=9), data)


def test_grades_at_the_top(data):
    _, order, row = look(rf.GradesInTop(3), data)
    shares = np.zeros(5)
    for q in range(data.n_queries):
        top = order[data.query_starts[q] : data.query_starts[q + 1]][:3]
        for document in top:
            shares[int(data.labels["grades"][document])] += 1 / len(top) / data.n_queries
    assert [row[f"grade {grade}"] for grade in range(5)] == pytest.approx(shares)
    assert sum(row.values()) == pytest.approx(1)
    unlabelled = data.with_label("grades", np.where(np.arange(data.n_documents) < 7, np.nan, 1.0))
    assert look(rf.GradesInTop(3), unlabelled)[2] == pytest.approx({"grade 1": 0.75, "unlabelled": 0.25})
    with pytest.raises(rf.SettingsError, match="'likes'"):
        look(rf.GradesInTop(label="likes"), data)


def test_rank_changes(data):
    instrument = rf.RankChanges(3)
    _, before, first = look(instrument, data, seed=0)
    assert all(np.isnan(value) for value in first.values())
    _, after, row = look(instrument, data, seed=1, iteration=1)
    whole, top = [], []
    for q in range(data.n_queries):
        here = slice(data.query_starts[q], data.query_starts[q + 1])
        changed = before[here] != after[here]
        whole.append(changed.mean())
        top.append(changed[:3].mean())
    assert row == pytest.approx({"whole list": np.mean(whole), "top 3": np.mean(top)})
    look(instrument, data, seed=1, iteration=2)
    assert instrument.rows[-1] == {"whole list": 0.0, "top 3": 0.0}


def test_they_look_while_a_ranker_learns_and_change_nothing(data):
    train = rf.make_artificial(40, documents=12, features=4, seed=0, clicks=True)
    settings = {"n_trees": 6, "n_leaves": 5, "min_documents": 5, "progress": False}
    graded = rf.Graded(["NDCG", "CNDCG:clicks"], [0.8, 0.2])
    instruments = [rf.ForceAgreement(graded), rf.ContributionsByGrade(), rf.GradesInTop(), rf.RankChanges(every=2)]
    looked = rf.LambdaMART("NDCG", **settings).fit(train, instruments=instruments)
    alone = rf.LambdaMART("NDCG", **settings).fit(train)
    assert np.array_equal(looked.predict(train), alone.predict(train))
    assert [len(one.rows) for one in instruments] == [6, 6, 6, 3]
    assert instruments[3].columns["iteration"].tolist() == [0, 2, 4]
    assert list(instruments[0].to_pandas().columns) == ["CNDCG:clicks", "CNDCG:clicks, all pairs"]
    assert "agreement of forces" in str(instruments[0])
    rf.LambdaMART("NDCG", **settings).fit(train, instruments=instruments)  # another training begins another table
    rf.LambdaMART("NDCG", **settings).fit(data, instruments=instruments)
    assert len(instruments[0].rows) == 6


@pytest.mark.parametrize("settings", [{}, {"update": "batch"}, {"objective": rf.Graded(["NDCG", "CNDCG:clicks"])}])
def test_they_look_while_a_net_learns_and_change_nothing(settings, data):
    train = rf.make_artificial(40, documents=12, features=4, seed=0, clicks=True)
    settings = {"epochs": 6, "hidden": 2, "learning_rate": 0.05, "keep_weights": True, "progress": False} | settings
    instruments = [
        rf.ForceAgreement(rf.Graded(["NDCG", "CNDCG:clicks"])), rf.ContributionsByGrade(), rf.GradesInTop(),
        rf.RankChanges(every=2),
    ]  # fmt: skip
    looked = rf.LambdaRank(**settings).fit(train, instruments=instruments)
    alone = rf.LambdaRank(**settings).fit(train)
    np.testing.assert_array_equal(looked.model_.weights, alone.model_.weights)
    assert [len(one.rows) for one in instruments] == [6, 6, 6, 3]
    # What an epoch begins with is what the last one ended with; the first begins with the weights of the seed.
    by_hand = rf.GradesInTop()
    for epoch, weights in enumerate([looked.model_.layout.start(looked.seed), *looked.weights_[:-1]]):
        scores = train.by_query(looked.model_.with_weights(weights).predict(train))
        by_hand.look(epoch, train, scores, Ranking(train, looked.seed).update(scores))
    assert by_hand.rows == instruments[2].rows
    rf.RankNet(epochs=3, progress=False).fit(data, instruments=instruments)  # another training begins another table
    assert [len(one.rows) for one in instruments] == [3, 3, 3, 2]


def test_they_look_into_one_training(data):
    with pytest.raises(rf.SettingsError, match="single learning_rate"):
        rf.LambdaRank(learning_rate=[0.1, 0.2], progress=False).fit(
            data, validation=data, instruments=[rf.GradesInTop()]
        )


@pytest.mark.parametrize("wrong", [["a"], rf.GradesInTop(3), 5, None, "ab", [rf.GradesInTop]])
@pytest.mark.parametrize("ranker", [rf.LambdaMART(), rf.LambdaRank(), rf.RankNet()], ids=lambda one: type(one).__name__)
def test_what_are_no_instruments_is_refused_before_any_work(data, ranker, wrong):
    with pytest.raises(rf.SettingsError, match="instrument"):
        ranker.fit(data, instruments=wrong)


def test_plots(data):
    pytest.importorskip("matplotlib").use("Agg")
    instrument = rf.GradesInTop()
    look(instrument, data)
    axes = instrument.plot()
    assert len(axes.lines) == 5


@pytest.mark.parametrize("wrong", [{"k": 0}, {"every": 0}, {"every": 1.5}])
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(rf.SettingsError, match="positive whole number"):
        rf.RankChanges(**wrong)
