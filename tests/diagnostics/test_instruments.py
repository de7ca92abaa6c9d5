"""The instruments against slow twins, and in a training."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf
from rankforce.boosting.lambda_learner import LambdaLearner
from rankforce.forces.forces import Forces, RunningOrder, TermForces
from rankforce.forces.trained_forces import forces_of
from rankforce.models.storage import from_bytes, to_bytes
from rankforce.objectives.objective import Objective, Term


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    sizes = [7, 12, 2, 9]
    n = sum(sizes)
    clicks = np.where(rng.random(n) < 0.3, 0.0, rng.random(n))
    return rf.Dataset(rng.random((n, 2)), rng.integers(0, 5, n).astype(float), group=sizes, labels={"clicks": clicks})


def look(instrument, data, seed=0, iteration=0):
    scores = np.random.default_rng(seed).normal(size=data.n_documents)
    order = RunningOrder(data, 0).update(scores)
    instrument.look(iteration, data, scores, order)
    return scores, order, instrument.rows[-1]


def test_agreement(data):
    graded = rf.Graded(["NDCG", "CNDCG:clicks"])
    scores, order, row = look(rf.diagnostics.ForceAgreement(graded), data)
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
        rf.diagnostics.ForceAgreement("NDCG")


def test_contributions(data):
    scores, order, row = look(rf.diagnostics.ContributionsByGrade(least=3), data)
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
        look(rf.diagnostics.ContributionsByGrade(least=9), data)


def test_grades_at_the_top(data):
    _, order, row = look(rf.diagnostics.GradesInTop(3), data)
    shares = np.zeros(5)
    for q in range(data.n_queries):
        top = order[data.query_starts[q] : data.query_starts[q + 1]][:3]
        for document in top:
            shares[int(data.labels["grades"][document])] += 1 / len(top) / data.n_queries
    assert [row[f"grade {grade}"] for grade in range(5)] == pytest.approx(shares)
    assert sum(row.values()) == pytest.approx(1)
    unlabelled = data.with_label("grades", np.where(np.arange(data.n_documents) < 7, np.nan, 1.0))
    assert look(rf.diagnostics.GradesInTop(3), unlabelled)[2] == pytest.approx({"grade 1": 0.75, "unlabelled": 0.25})
    with pytest.raises(rf.SettingsError, match="'likes'"):
        look(rf.diagnostics.GradesInTop(label="likes"), data)


def test_rank_changes(data):
    instrument = rf.diagnostics.RankChanges(3)
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
    instruments = [
        rf.diagnostics.ForceAgreement(graded),
        rf.diagnostics.ContributionsByGrade(),
        rf.diagnostics.GradesInTop(),
        rf.diagnostics.RankChanges(every=2),
    ]
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
        rf.diagnostics.ForceAgreement(rf.Graded(["NDCG", "CNDCG:clicks"])),
        rf.diagnostics.ContributionsByGrade(),
        rf.diagnostics.GradesInTop(),
        rf.diagnostics.RankChanges(every=2),
    ]
    looked = rf.LambdaRank(**settings).fit(train, instruments=instruments)
    alone = rf.LambdaRank(**settings).fit(train)
    np.testing.assert_array_equal(looked.model_.weights, alone.model_.weights)
    assert [len(one.rows) for one in instruments] == [6, 6, 6, 3]
    # What an epoch begins with is what the last one ended with; the first begins with the weights of the seed.
    by_hand = rf.diagnostics.GradesInTop()
    for epoch, weights in enumerate([looked.model_.layout.start(looked.seed), *looked.weights_[:-1]]):
        scores = train.by_query(looked.model_.with_weights(weights).predict(train))
        by_hand.look(epoch, train, scores, RunningOrder(train, looked.seed).update(scores))
    assert by_hand.rows == instruments[2].rows
    rf.RankNet(epochs=3, progress=False).fit(data, instruments=instruments)  # another training begins another table
    assert [len(one.rows) for one in instruments] == [3, 3, 3, 2]


def test_they_look_into_one_training(data):
    with pytest.raises(rf.SettingsError, match="single learning_rate"):
        rf.LambdaRank(learning_rate=[0.1, 0.2], progress=False).fit(
            data, validation=data, instruments=[rf.diagnostics.GradesInTop()]
        )


@pytest.mark.parametrize("wrong", [["a"], rf.diagnostics.GradesInTop(3), 5, None, "ab", [rf.diagnostics.GradesInTop]])
@pytest.mark.parametrize("ranker", [rf.LambdaMART(), rf.LambdaRank(), rf.RankNet()], ids=lambda one: type(one).__name__)
def test_what_are_no_instruments_is_refused_before_any_work(data, ranker, wrong):
    with pytest.raises(rf.SettingsError, match="instrument"):
        ranker.fit(data, instruments=wrong)


def test_plots(data):
    pytest.importorskip("matplotlib").use("Agg")
    instrument = rf.diagnostics.GradesInTop()
    look(instrument, data)
    axes = instrument.plot()
    assert len(axes.lines) == 5


@pytest.mark.parametrize("wrong", [{"k": 0}, {"every": 0}, {"every": 1.5}])
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(rf.SettingsError, match="positive whole number"):
        rf.diagnostics.RankChanges(**wrong)


class Spy:
    """An instrument that keeps what it is shown."""

    def __init__(self):
        self.seen = []

    def settle(self, trained):
        self.trained = trained

    def look(self, iteration, data, scores, order):
        self.seen.append((iteration, data, scores.copy(), order.copy()))


SETTLED = {
    "usual": ({}, "NearPairs(sigma=1.0, margin=0.01), normalise=log, anchor=1"),
    "sigma": ({"sigma": 2.0}, "NearPairs(sigma=2.0, margin=0.01), normalise=log, anchor=1"),
    "weak anchor": ({"anchor": 0.2}, "NearPairs(sigma=1.0, margin=0.01), normalise=log, anchor=0.2"),
    "leafwise": ({"growth": "leafwise"}, "NearPairs(sigma=1.0, margin=0.01), normalise=log"),
    "as published": (
        {"lambda_function": "RankNetWeightPairs", "normalise": "none", "growth": "leafwise"},
        "RankNetWeightPairs",
    ),
    "gradient": ({"step": "gradient", "lambda_function": "SpringSmooth"}, "SpringSmooth"),
    "top pairs": ({"pairs": ("top", 4), "growth": "leafwise"}, "NearPairs(sigma=1.0, margin=0.01), normalise=log"),
    "sampled pairs": (
        {"pairs": ("sample", 3), "growth": "leafwise", "seed": 7},
        "NearPairs(sigma=1.0, margin=0.01), normalise=log",
    ),
    "graded": (
        {"objective": rf.Graded(["NDCG", "CNDCG:clicks"], [0.8, 0.2])},
        "NearPairs(sigma=1.0, margin=0.01), normalise=log",
    ),
}
FEW_TREES = {"n_trees": 4, "n_leaves": 5, "min_documents": 5, "progress": False}


@pytest.mark.parametrize("name", SETTLED)
def test_instruments_are_shown_the_very_forces_that_the_ranker_trains_with(monkeypatch, name):
    settings, words = SETTLED[name]
    train = rf.make_artificial(30, documents=(6, 15), features=4, seed=0, clicks=True)
    pulls = []
    pull = LambdaLearner.pull

    def kept(self, running, iteration, queries):
        forces, curvatures = pull(self, running, iteration, queries)
        pulls.append((forces.copy(), curvatures.copy()))
        return forces, curvatures

    monkeypatch.setattr(LambdaLearner, "pull", kept)
    spy = Spy()
    ranker = rf.LambdaMART(**FEW_TREES, **settings).fit(train, instruments=[spy])
    assert str(spy.trained).startswith(words)
    assert str(spy.trained).endswith("(of the training of LambdaMART)")
    for trained in (spy.trained, forces_of(ranker), forces_of(from_bytes(to_bytes(ranker.model_)))):
        same = trained.on(train, *trained.objective.terms)
        for (iteration, data, scores, order), (forces, curvatures) in zip(spy.seen, pulls, strict=True):
            assert data is train
            for mine, theirs in zip(same.at(scores, order, iteration), (forces, curvatures), strict=True):
                assert np.array_equal(mine, theirs)


@pytest.mark.parametrize(
    "ranker", [rf.LambdaRank(sigma=0.5, epochs=2), rf.RankNet(epochs=2)], ids=lambda r: type(r).__name__
)
def test_nets_show_what_they_pull_with(ranker):
    train = rf.make_artificial(30, documents=8, features=4, seed=0)
    spy = Spy()
    fitted = ranker.unfitted(progress=False).fit(train, instruments=[spy])
    assert str(spy.trained) == {
        "LambdaRank": "RankNetWeightPairs(sigma=0.5) (of the training of LambdaRank)",
        "RankNet": "RankNetCost(sigma=1) (of the training of RankNet)",
    }[type(ranker).__name__].replace("RankNetCost(sigma=1)", str(spy.trained.lambda_function))
    assert forces_of(fitted.model_).objective == spy.trained.objective


def shares_by_pairs(spy, train, least, place):
    """The contributions by grade of ``ContributionsByGrade``, from forces between two grades at a time, and springs."""
    _, _, scores, order = spy.seen[place]
    grades = train.label()
    forces = spy.trained.on(train, spy.trained.term())
    forces.forces.at(scores, order)
    term = spy.trained.term()
    amounts = {grade: np.zeros(len(grades)) for grade in range(5)}
    for a in range(5):
        for b in range(5):
            if a != b:
                two = train.with_label("grades", np.where((grades == a) | (grades == b), grades, np.nan))
                alone = TermForces(train, term, 0)
                alone.ranges = TermForces(two, term, 0).ranges
                pull, unused = np.zeros((2, len(grades)))
                alone.add(order, scores, 1.0, 0, None, np.zeros(train.n_queries), pull, unused)
                amounts[b][grades == a] += np.abs(pull)[grades == a]
    sums = forces.forces.pulls
    factors = np.log2(1 + 2 * sums) / (2 * sums)
    for grade in amounts:
        amounts[grade] *= np.repeat(factors, train.query_sizes)
    springs, unused = np.zeros((2, len(grades)))
    if forces.springs is not None:
        forces.springs.add(scores, None, springs, unused)
    total = sum(amounts.values()) + np.abs(springs)
    high = (grades >= least) & (total > 0)
    named = {
        f"grade {grade}": (amount / np.where(total > 0, total, 1))[high].mean() for grade, amount in amounts.items()
    }
    return named | ({"anchor": (np.abs(springs) / total)[high].mean()} if forces.springs is not None else {})


@pytest.mark.parametrize("growth", ["symmetric", "leafwise"])  # with an anchor, and without
def test_contributions_are_those_of_the_training(growth):
    train = rf.make_artificial(60, documents=20, features=4, seed=0, shares=(0.3, 0.25, 0.2, 0.15, 0.1))
    spy, settled, asked = (
        Spy(),
        rf.diagnostics.ContributionsByGrade(),
        rf.diagnostics.ContributionsByGrade(rf.Term("NDCG", "RankNetWeightPairs")),
    )
    rf.LambdaMART(**(FEW_TREES | {"n_trees": 20}), growth=growth).fit(train, instruments=[spy, settled, asked])
    for place in (0, 19):
        assert settled.rows[place] == pytest.approx(shares_by_pairs(spy, train, 3, place))
    assert ("anchor" in settled.rows[0]) == (growth == "symmetric")
    assert "NearPairs(sigma=1.0, margin=0.01), normalise=log" in str(settled)
    assert abs(settled.rows[19]["grade 0"] - asked.rows[19]["grade 0"]) > 0.02  # another λ-function, other shares
    by_hand = rf.diagnostics.ContributionsByGrade()
    look(by_hand, train)
    assert "RankNetWeightPairs(sigma=1.0) (assumed)" in str(by_hand)


def test_agreement_is_of_the_forces_of_the_training():
    train = rf.make_artificial(60, documents=20, features=4, seed=0, clicks=True)
    graded = rf.Graded(["NDCG", "CNDCG:clicks"])
    spy, instrument = Spy(), rf.diagnostics.ForceAgreement(graded)
    rf.LambdaMART(**FEW_TREES).fit(train, instruments=[spy, instrument])
    _, _, scores, order = spy.seen[3]
    first = np.sign(spy.trained.on(train, Term(rf.NDCG())).at(scores, order)[0])  # with its springs
    later = spy.trained.term(rf.CNDCG("clicks"))
    assert str(later.lambda_function) == "NearPairs(sigma=1.0, margin=0.01)"
    later = np.sign(Forces(train, Objective((later,)), 0, normalise="log").at(scores, order)[0])
    assert instrument.rows[3]["CNDCG:clicks, all pairs"] == np.mean((later == first) | (later == 0))


def test_what_has_no_partners_is_refused():
    train = rf.make_artificial(20, documents=8, features=4, seed=0)
    instrument = rf.diagnostics.ContributionsByGrade()
    ranker = rf.LambdaMART(**FEW_TREES, step="gradient", lambda_function="FiniteDifference")
    with pytest.raises(rf.SettingsError, match="no partners' grades"):
        ranker.fit(train, instruments=[instrument])
