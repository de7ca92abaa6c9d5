"""RankNet and LambdaRank: they learn, go on after an interruption to the same bytes, and keep the best weights."""

from __future__ import annotations

import functools
import os
import signal
import sys

import numpy as np
import pytest

import rankforce as rf
from rankforce import memory
from rankforce.data.random_streams import Stream
from rankforce.errors import DataError, SettingsError
from rankforce.models.net_layout import Layout
from rankforce.models.storage import to_bytes
from rankforce.nets.updates import ByForces, ByQuery, Source, updates_of
from rankforce.objectives.objective import Objective, Term
from rankforce.training.monitoring import TrainingWarning


@pytest.fixture(scope="module")
def data():
    return rf.make_artificial(queries=40, documents=12, features=6, seed=1)


@pytest.fixture(scope="module")
def other():
    return rf.make_artificial(queries=40, documents=12, features=6, seed=2)


def lambdarank(**settings):
    return rf.LambdaRank(**({"epochs": 8, "hidden": 3, "learning_rate": 0.01, "progress": False} | settings))


def ranknet(**settings):
    return rf.RankNet(**({"epochs": 8, "hidden": 3, "learning_rate": 0.01, "progress": False} | settings))


def value(ranker, data):
    return rf.evaluate(ranker, data, "NDCG").mean["NDCG"]


def untrained(ranker):
    return ranker.model_.with_weights(ranker.model_.layout.start(ranker.seed))


@pytest.mark.parametrize("hidden", [0, 5])
@pytest.mark.parametrize("kind", [lambdarank, ranknet])
def test_they_learn(kind, hidden, data):
    fitted = kind(hidden=hidden, epochs=30).fit(data)
    assert value(fitted, data) > max(0.75, value(untrained(fitted), data) + 0.01)
    if kind is lambdarank:  # RankNet's own cost may fall while NDCG does, too
        assert fitted.history_["train"][-1] > fitted.history_["train"][0]
    assert fitted.best_iteration_ == 30
    assert fitted.model_.provenance.settings["scaling_chosen"] == fitted.scaling_ == "standard"


@pytest.mark.parametrize("kind", [lambdarank, ranknet])
def test_the_history_is_what_evaluation_finds(kind, data, other):
    fitted = kind(keep_weights=True).fit(data, validation=other)
    assert len(fitted.weights_) == 8
    for epoch, weights in enumerate(fitted.weights_):
        net = fitted.model_.with_weights(weights)
        assert fitted.history_["train"][epoch] == pytest.approx(value(net, data), abs=1e-12)
        assert fitted.history_["validation"][epoch] == pytest.approx(value(net, other), abs=1e-12)
    best = int(np.argmax(fitted.history_["validation"]))
    assert fitted.best_iteration_ == best + 1
    np.testing.assert_array_equal(fitted.model_.weights, fitted.weights_[best])


def test_raw_counts_do_not_break_a_net(data):
    X = np.array(data.features)
    X[:, 0] = np.round(np.exp(6 * X[:, 0]) * 5e5)  # up to 2e8
    X[:, 1] *= 1e-6
    X[::7, 2] = np.nan
    raw = data.replace(features=X)
    assert X[:, 0].max() > 1e8
    fitted = lambdarank(epochs=30).fit(raw)
    assert value(fitted, raw) > 0.7
    for scaling in ("standard", "log1p", "query", "none"):
        fitted = lambdarank(scaling=scaling, epochs=2).fit(raw)
        assert np.isfinite(fitted.predict(raw)).all()
        assert fitted.scaling_ == scaling
    heavy = np.array(data.features)
    heavy[5, 0] = 2e8
    assert lambdarank(epochs=1).fit(data.replace(features=heavy)).scaling_ == "log1p"


@pytest.mark.parametrize("update", ["query", "batch"])
def test_a_net_that_nothing_pulls_at_says_so(update, data):
    with pytest.warns(TrainingWarning, match="moved no weight: .* no swap of two documents changes Recall@100"):
        rf.LambdaRank("Recall@100", epochs=2, update=update, progress=False).fit(data)


def test_the_chosen_scaling_is_said(data, capsys):
    lambdarank(epochs=1, progress=True).fit(data)
    assert "scaling='standard' (no heavy tails" in capsys.readouterr().err


@pytest.mark.parametrize("settings", [{}, {"learning_rate": [0.001, 0.01, 0.1]}, {"update": "batch"}])
@pytest.mark.compiled_only
def test_threads_and_the_order_of_queries_change_no_byte(settings, data, other):
    rows = np.concatenate(list(data.each_query())[::-1])
    turned = rf.Dataset(data.features[rows], data.labels["grades"][rows], data.qid[rows])
    models = [
        lambdarank(threads=threads, **settings).fit(given, validation=other).model_
        for threads, given in ((1, data), (2, data), (2, turned))
    ]
    assert to_bytes(models[0]) == to_bytes(models[1])
    if settings.get("update") != "batch":  # a batch is a sum over documents in the order of the file
        np.testing.assert_array_equal(models[0].weights, models[2].weights)


def test_the_learning_rate_is_chosen_on_validation_data(data, other):
    rates = [1e-5, 0.01, 0.1]
    fitted = lambdarank(learning_rate=rates).fit(data, validation=other)
    apart = {rate: lambdarank(learning_rate=rate).fit(data, validation=other) for rate in rates}
    values = {rate: max(one.history_["validation"]) for rate, one in apart.items()}
    assert fitted.rates_ == values
    assert fitted.learning_rate_ == max(values, key=values.__getitem__)
    alone = apart[fitted.learning_rate_]
    np.testing.assert_array_equal(fitted.model_.weights, alone.model_.weights)
    assert fitted.history_ == alone.history_
    assert len(lambdarank(learning_rate="auto", epochs=1).fit(data, validation=other).rates_) == 4


def test_early_stopping(data, other):
    fitted = lambdarank(epochs=300, early_stopping=5, learning_rate=0.05).fit(data, validation=other)
    assert len(fitted.history_["train"]) == fitted.best_iteration_ + 5 < 300


@pytest.mark.parametrize("update", ["query", "pair", "batch"])
@pytest.mark.parametrize("kind", [lambdarank, ranknet])
def test_every_kind_of_update_learns(kind, update, data):
    fitted = kind(update=update, epochs=5 if update == "pair" else 30, learning_rate=0.03).fit(data)
    assert value(fitted, data) > value(untrained(fitted), data) + 0.05


def test_a_warm_start_goes_on_from_the_weights(data, other):
    first = lambdarank().fit(data)
    for base in (first, first.model_):
        second = lambdarank(epochs=1, base_model=base, learning_rate=1e-9, scaling="auto").fit(other)
        np.testing.assert_allclose(second.model_.weights, first.model_.weights, atol=1e-6)
        np.testing.assert_array_equal(second.model_.scaling.centre, first.model_.scaling.centre)
    with pytest.raises(SettingsError, match="use hidden=3"):
        lambdarank(hidden=4, base_model=first).fit(data)
    with pytest.raises(SettingsError, match="'standard'"):
        lambdarank(scaling="log1p", base_model=first).fit(data)
    with pytest.raises(SettingsError, match="other features"):
        lambdarank(base_model=first).fit(data.replace(feature_names=list("abcdef")))
    trees = rf.LambdaMART(n_trees=1, min_documents=3, progress=False).fit(data)
    with pytest.raises(SettingsError, match="from a net"):
        lambdarank(base_model=trees).fit(data)


class PowerCut(Exception):
    pass


def cut(iteration):
    if iteration.number == 5:
        raise PowerCut


RESUMED = {
    "adam": (lambdarank, {}),
    "rates": (lambdarank, {"learning_rate": [0.001, 0.3], "keep_weights": True}),
    "2006": (ranknet, {"preset": "2006", "learning_rate": None}),
    "2009": (lambdarank, {"preset": "2009", "learning_rate": None}),
    "batch": (ranknet, {"update": "batch"}),
    "preferences": (ranknet, {"equal_grades": True}),
}


@pytest.mark.parametrize(("kind", "settings"), RESUMED.values(), ids=RESUMED)
def test_an_interrupted_training_ends_with_the_same_bytes(kind, settings, data, other, tmp_path):
    path = tmp_path / "checkpoint"
    with pytest.raises(PowerCut):
        kind(**settings).fit(data, validation=other, callbacks=[cut], checkpoint=path, checkpoint_every=2)
    assert rf.load(path).predict(data).shape == (data.n_documents,)
    seen = []
    again = kind(**settings).fit(
        data, validation=other, checkpoint=path, callbacks=[lambda one: seen.append(one.number)]
    )
    assert seen == [5, 6, 7, 8]
    whole = kind(**settings).fit(data, validation=other)
    assert to_bytes(again.model_) == to_bytes(whole.model_)
    assert again.rates_ == whole.rates_
    if "keep_weights" in settings:
        np.testing.assert_array_equal(again.weights_, whole.weights_)
    longer = kind(**settings, epochs=10).fit(data, validation=other, checkpoint=path)
    assert to_bytes(longer.model_) == to_bytes(kind(**settings, epochs=10).fit(data, validation=other).model_)
    with pytest.raises(SettingsError, match="no way back to 3"):
        kind(**settings, epochs=3).fit(data, validation=other, checkpoint=path)
    with pytest.raises(SettingsError, match="seed was 0 and is 1"):
        kind(**settings, seed=1).fit(data, validation=other, checkpoint=path)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_keeps_what_was_learned(data):
    def interrupt(iteration):
        if iteration.number == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.warns(TrainingWarning, match="interrupted after 3 of 8 epochs"):
        fitted = lambdarank().fit(data, callbacks=[interrupt])
    assert len(fitted.history_["train"]) == 3
    np.testing.assert_array_equal(fitted.model_.weights, lambdarank(epochs=3).fit(data).model_.weights)


def test_a_callback_can_end_training(data):
    fitted = lambdarank().fit(data, callbacks=[lambda one: one.stop() if one.number == 4 else None])
    assert len(fitted.history_["train"]) == fitted.best_iteration_ == 4


def test_a_diverging_training_says_so(data, other):
    wild = {"scaling": "none", "optimiser": "gradient", "hidden": 0}
    huge = data.replace(features=np.array(data.features) * 1e38)
    with pytest.raises(SettingsError, match="lower one, or scaling='auto'"):
        ranknet(**wild, learning_rate=1e300).fit(huge)
    fitted = ranknet(**wild, learning_rate=[1e300, 1e-40]).fit(huge, validation=other)
    assert fitted.learning_rate_ == 1e-40


def test_divergence_after_some_epochs_keeps_the_weights_before(data, monkeypatch):
    fine = ByQuery.epoch

    def epoch(self, learning, rate, number):
        fine(self, learning, rate, number)
        if number == 2:
            learning.weights[:] = np.nan

    monkeypatch.setattr(ByQuery, "epoch", epoch)
    with pytest.warns(TrainingWarning, match="after epoch 2"):
        fitted = lambdarank().fit(data)
    monkeypatch.undo()
    np.testing.assert_array_equal(fitted.model_.weights, lambdarank(epochs=2).fit(data).model_.weights)


def test_forces_of_any_kind_train_a_net(data):
    """The general path gives what the kernel of a whole epoch gives, and takes what it does not."""
    term = rf.NDCG(5)
    fused = lambdarank(measure=term).fit(data).model_
    both = Objective((Term(term, share=0.5), Term(term, share=0.5)))
    general = lambdarank(objective=both).fit(data).model_
    np.testing.assert_allclose(general.weights, fused.weights, rtol=1e-6, atol=1e-6)
    for settings in (
        {"objective": rf.Scheduled("NDCG", rf.Graded(["NDCG", rf.CNDCG("clicks")]), rf.schedules.Linear(0.1, 0.2))},
        {"lambda_function": "LocalCost(k=3)"},
        {"lambda_function": "FiniteDifference"},
        {"pairs": ("top", 5)},
        {"measure": "KendallTau"},
        {"measure": rf.CNDCG("clicks")},
    ):
        clicks = (data.labels["grades"] + np.arange(len(data)) % 3) / 8
        given = data.with_label("clicks", np.where(np.arange(len(data)) % 5, clicks, np.nan))
        fitted = lambdarank(**settings, epochs=3).fit(given)
        assert fitted.history_["train"][-1] > fitted.history_["train"][0] - 0.05


def test_pairs_of_the_general_path_are_refused_for_updates_per_pair(data):
    with pytest.raises(SettingsError, match="use update='query'"):
        lambdarank(update="pair", lambda_function="LocalCost(k=3)").fit(data)
    with pytest.raises(SettingsError, match="use update='query'"):
        ranknet(update="pair", equal_grades=True).fit(data)


def test_grades_and_the_same_preferences_train_the_same_net(data):
    listed = rf.Preferences.from_grades(data)
    by_grades = ranknet().fit(data).model_
    by_preferences = ranknet().fit(data, preferences=listed).model_
    same = functools.partial(np.testing.assert_allclose, rtol=1e-6, atol=1e-6)  # Adam magnifies the last bits
    same(by_preferences.weights, by_grades.weights)
    mixed = ranknet().fit(data, preferences=listed, preference_share=0.3).model_
    same(mixed.weights, by_grades.weights)
    batch = ranknet(update="batch").fit(data, preferences=listed).model_
    same(batch.weights, ranknet(update="batch").fit(data).model_.weights)


def test_preferences_without_grades(data, other):
    rows = np.random.default_rng(0).permutation(data.n_documents)[:200]
    known = rf.Preferences.from_grades(data)
    wanted = np.isin(known.better, rows)
    bare = rf.Dataset(data.features, qid=data.qid)
    listed = rf.Preferences(bare, known.better[wanted], known.worse[wanted], 0.9)
    theirs = rf.Preferences.from_grades(other)
    fitted = ranknet(epochs=25).fit(bare, preferences=listed, validation=theirs)
    assert fitted.history_["validation"][-1] > 0.55
    assert value(fitted, other) > 0.6
    some = np.flatnonzero(data.row_queries[listed.better] == 0)  # a mix where most queries have no preference
    few = rf.Preferences(data, listed.better[some], listed.worse[some])
    assert value(ranknet(epochs=25).fit(data, preferences=few, preference_share=0.5), data) > 0.65
    with pytest.raises(DataError, match="the very Dataset"):
        ranknet().fit(data, preferences=listed)
    with pytest.raises(DataError, match="weight 0"):
        ranknet().fit(bare, preferences=rf.Preferences(bare, listed.better, listed.worse, weight=np.zeros(len(listed))))
    with pytest.raises(SettingsError, match="goes with preferences="):
        ranknet().fit(data, preference_share=0.5)


@pytest.mark.parametrize("pairs", [("top", 2), ("sample", 3)])
@pytest.mark.parametrize(
    "ranker", [ranknet, lambda **more: rf.LambdaMART(n_trees=2, n_leaves=3, progress=False, **more)]
)
def test_pairs_are_not_chosen_among_preferences(data, ranker, pairs):
    listed = rf.Preferences.from_grades(data)
    with pytest.raises(
        SettingsError, match=r"pairs= chooses among pairs of different labels.*preference_share= below 1"
    ):
        ranker(pairs=pairs).fit(data, preferences=listed)
    chosen, every = (ranker(pairs=one).fit(data, preferences=listed, preference_share=0.5) for one in (pairs, "all"))
    assert (chosen.predict(data) != every.predict(data)).any()  # there they count


def test_equal_grades_are_drawn_together():
    X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 0.0]])
    data = rf.Dataset(np.tile(X, (20, 1)), np.tile([1, 1, 0, 0], 20), group=[4] * 20)
    apart = ranknet(hidden=0, epochs=100, scaling="none", learning_rate=0.03)
    scores = apart.fit(data).predict(X)
    together = apart.unfitted(equal_grades=True).fit(data).predict(X)
    within = lambda s: abs(s[0] - s[1]) / abs(s[0] - s[2])  # noqa: E731
    assert within(together) < 0.5 * within(scores)


@pytest.mark.parametrize("pairs", [("top", 3), ("sample", 4), "top 3"])
def test_equal_grades_choose_no_pairs(data, pairs):
    with pytest.raises(SettingsError, match="equal_grades= takes every pair of a query: leave it out, or leave pairs="):
        ranknet(equal_grades=True, pairs=pairs).fit(data)


def test_probabilities_of_pairs(data):
    fitted = ranknet(sigma=2.0, epochs=20).fit(data)
    a, b = data.features[:50], data.features[50:100]
    np.testing.assert_allclose(
        fitted.predict_pairs(a, b), 1 / (1 + np.exp(-2.0 * (fitted.predict(a) - fitted.predict(b))))
    )


@pytest.mark.parametrize("name", ["2006", "2009"])
def test_presets(name, data, other):
    fitted = lambdarank(preset=name, learning_rate=None, epochs=None)
    assert fitted._epochs() == {"2006": 300, "2009": 700}[name]
    assert fitted._rates()[0] == 1e-7
    assert fitted._optimiser() == "gradient"
    with pytest.raises(SettingsError, match="needs validation data"):
        fitted.fit(data)
    stuck = lambdarank(preset=name, learning_rate=1e-300, epochs=120).fit(data, validation=other)
    assert stuck.restarts_ == 2  # nothing moves: after 51 and 102 epochs it begins anew
    assert len(set(stuck.history_["validation"])) == 3


def rates_by_epoch(ranker, data, other, path):
    """The learning rate after the last epoch, and the scores of the training data after every epoch."""
    fitted = ranker.fit(data, validation=other, checkpoint=path, checkpoint_every=1)
    rate = rf.load(path).provenance.settings["state"]["runs"][0]["pace"]["rate"]
    return rate, [fitted.model_.with_weights(weights).predict(data) for weights in fitted.weights_]


def falls(values):
    return int((np.diff(values) < 0).sum())


@pytest.mark.parametrize(
    ("trained", "first_rate", "watched"),
    [
        ("MAP", 0.3, "NDCG@10"),
        ("NDCG", 0.3, "NDCG@10"),
        ("NDCG@3(gain=linear)", 0.3, "NDCG@10(gain=linear)"),
        ("DCG", 0.02, "NDCG@10"),  # its forces are not normalised: at 0.3 the hidden units would saturate
        ("MRR:clicks", 0.3, "NDCG@10:clicks"),
        ("CNDCG@2:clicks", 0.3, "CNDCG@10:clicks"),
    ],
)
def test_lambdarank_of_2006_lowers_the_rate_when_ndcg_at_10_falls(trained, first_rate, watched, data, other, tmp_path):
    data, other = (
        one.with_label("clicks", np.random.default_rng(3).integers(0, 2, one.n_documents)) for one in (data, other)
    )
    ranker = lambdarank(measure=trained, preset="2006", epochs=40, learning_rate=first_rate, keep_weights=True)
    rate, scores = rates_by_epoch(ranker, data, other, tmp_path / "kept")
    lowered, others = (
        falls([rf.evaluate(one, data, measure).mean[measure] for one in scores]) for measure in (watched, trained)
    )
    assert rate == pytest.approx(first_rate * 0.8**lowered, rel=1e-12)
    assert lowered != others  # else the trained measure would do as well


def test_ranknet_of_2006_lowers_the_rate_when_its_cost_rises(data, other, tmp_path):
    ranker = ranknet(preset="2006", epochs=40, learning_rate=0.02, keep_weights=True)
    rate, scores = rates_by_epoch(ranker, data, other, tmp_path / "kept")
    pairs = rf.Preferences.from_grades(data)
    costs = [np.logaddexp(0.0, one[pairs.worse] - one[pairs.better]).sum() for one in scores]
    lowered = falls(-np.array(costs))
    assert 0 < lowered != falls([value(one, data) for one in scores])
    assert rate == pytest.approx(0.02 * 0.8**lowered, rel=1e-12)


def test_lambdarank_of_2009_lowers_the_rate_by_the_trained_measure(data, other, tmp_path):
    ranker = lambdarank(measure="MAP", preset="2009", epochs=60, learning_rate=0.3, keep_weights=True)
    rate, scores = rates_by_epoch(ranker, data, other, tmp_path / "kept")
    lowered = round(np.log(rate / 0.3) / np.log(0.8))
    fell = np.diff([rf.evaluate(one, data, "MAP").mean["MAP"] for one in scores]) < 0
    assert 0 < lowered < fell.sum()  # by chance, in 30 % of these epochs
    draws = [float(Stream.NET_PACE.uniform(0, number)) for number in range(1, 60)]
    assert lowered == sum(draw < 0.3 for draw, down in zip(draws, fell, strict=True) if down)


def test_impossible_settings(data, other):
    for settings, message in (
        ({"hidden": -1}, "hidden"),
        ({"epochs": 0}, "epochs"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"learning_rate": []}, "a list of such numbers, 'auto' or None, not \\[\\]"),
        ({"learning_rate": "fast"}, "'auto'"),
        ({"learning_rate": [0.1, 0.2]}, "needs validation data"),
        ({"early_stopping": 3}, "needs validation data"),
        ({"optimiser": "newton"}, "'adam'"),
        ({"update": "document"}, "'query'"),
        ({"scaling": "minmax"}, "'log1p'"),
        ({"preset": "2010"}, "'2009'"),
        ({"sigma": 0.0}, "sigma"),
        ({"objective": rf.MAP(), "measure": "MAP"}, "leave measure= out"),
        ({"objective": Term(rf.MAP(), rf.lambdas.Step()), "lambda_function": "Step"}, "leave lambda_function= out"),
    ):
        with pytest.raises(SettingsError, match=message):
            lambdarank(**settings).fit(data)
    with pytest.raises(DataError, match="6 features, the training data has 5"):
        lambdarank().fit(data.take_features(range(5)), validation=other)
    with pytest.raises(DataError, match="nothing to learn from"):
        lambdarank().fit(data.replace(labels={"grades": np.ones(data.n_documents)}))


def test_weights_of_documents_and_queries_count(data):
    rng = np.random.default_rng(0)
    half = np.where(np.arange(40) < 20, 1.0, 0.0)
    weighted = data.replace(query_weights=half)
    alone = data.take_queries(range(20))
    scaled = lambdarank(scaling="none")
    np.testing.assert_array_equal(scaled.fit(weighted).model_.weights, scaled.unfitted().fit(alone).model_.weights)
    documents = data.replace(weights=rng.uniform(0.1, 3.0, data.n_documents))
    assert not np.allclose(lambdarank().fit(documents).model_.weights, lambdarank().fit(data).model_.weights)


def test_the_general_path_is_taken_where_it_must_be(data):
    def chosen(lambda_function, **settings):
        ranker = lambdarank(lambda_function=lambda_function, **settings)
        source = Source(ranker._objective(), 0)
        return type(updates_of("query", data, np.array(data.features), Layout(6, 2), source, adam=True))

    assert chosen("Step") is ByQuery
    assert chosen("LocalCost(k=3)") is ByForces
    assert chosen("RankNetWeightPairs(diagonal=0.1)") is ByForces
    assert chosen("DiscreteBounded") is ByForces
    assert chosen(None, pairs=("sample", 3)) is ByForces


def test_what_never_varied_in_training_changes_no_score_later(tmp_path):
    made = rf.make_artificial(queries=10, documents=10, features=3, seed=0)
    features = np.array(made.features)
    features[:, 0] = 5.0
    ranker = rf.LambdaRank(epochs=2, learning_rate=0.01, progress=False).fit(made.replace(features=features))
    before = ranker.predict(features)
    features[:, 0] = np.linspace(-1e6, 1e6, len(features))
    np.testing.assert_array_equal(ranker.predict(features), before)
    ranker.save(tmp_path / "net.json")
    np.testing.assert_array_equal(rf.load(tmp_path / "net.json").predict(features), before)


class Endless(rf.lambdas.PairwiseLambdaFunction):
    def pair_of_gap(self, gap, change, normaliser):
        return np.nan, 1.0


@pytest.mark.compiled_only
def test_a_cost_that_gives_no_numbers_is_named():
    data = rf.make_artificial(queries=5, documents=6, features=2, seed=0)
    with pytest.raises(
        rf.DataError, match=r"^NDCG \(Endless\(\)\): forces on query \S+ are not finite before the first"
    ):
        rf.LambdaRank(lambda_function=Endless(), epochs=2, progress=False).fit(data)


@pytest.mark.parametrize("scaling", ["auto", "standard", "query"])
def test_features_that_never_vary_are_warned_of(scaling):
    data = rf.make_artificial(queries=5, documents=6, features=2, seed=0)
    same = data.replace(features=np.full((data.n_documents, 2), 3.0))
    with pytest.warns(TrainingWarning, match="no feature varies"):
        ranker = rf.LambdaRank(epochs=1, learning_rate=0.01, scaling=scaling, progress=False).fit(same)
    assert len(set(ranker.predict(data if scaling != "query" else same).tolist())) == 1


def test_gradients_that_cannot_be_had_are_refused_with_the_arithmetic(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10_000_000)
    data = rf.make_artificial(queries=2, documents=2100, features=300, seed=1)
    with pytest.raises(
        rf.SettingsError, match=r"update='batch' needs .* \(2 parts of the documents × 3,020,001 weights"
    ):
        rf.LambdaRank(hidden=10_000, update="batch", epochs=1, pairs="top 5", progress=False).fit(data)
