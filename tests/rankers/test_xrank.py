"""XRank as a ranker: what it learns, keeps and refuses."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.base import clone

import rankforce as rf
from rankforce.forces.forces import RunningOrder
from rankforce.models.storage import to_bytes
from rankforce.training.monitoring import TrainingWarning, WatchedMeasure

QUICK = {"n_steps": 20, "min_documents": 10, "progress": False}
FORMS = [{"form": "simple"}, {"form": "full"}, {"form": "martingale"}, {"split": "max_ndcg"}]
NAMES = ["simple", "full", "martingale", "max_ndcg"]


@pytest.fixture(scope="module")
def data():
    return rf.make_artificial(queries=60, documents=20, features=5, seed=1)


@pytest.fixture(scope="module")
def held_out():
    return rf.make_artificial(queries=60, documents=20, features=5, seed=2)


def expected(scores, data, measure="NDCG"):
    return rf.evaluate(scores, data, [measure], ties="expected").mean[measure]


@pytest.mark.compiled_only
@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_every_form_learns_to_rank(data, held_out, form):
    ranker = rf.XRank(**QUICK | form).fit(data)
    assert expected(ranker, held_out) > expected(np.zeros(len(held_out)), held_out) + 0.1
    assert ranker.expected_[-1] == pytest.approx(expected(ranker, data), abs=1e-12)
    assert ranker.best_iteration_ == len(ranker.history_["train"]) == len(ranker.expected_) <= 20


@pytest.mark.compiled_only
@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_the_best_step_is_kept(data, held_out, form):
    told = []
    ranker = rf.XRank(**QUICK | form | {"n_steps": 60, "early_stopping": 5})
    ranker.fit(data, validation=held_out, callbacks=[told.append])
    values = ranker.history_["validation"]
    assert ranker.best_iteration_ == 1 + int(np.argmax(values))
    assert len(told) == len(values) <= min(60, ranker.best_iteration_ + 5)
    again = rf.XRank(**QUICK | form | {"n_steps": ranker.best_iteration_}).fit(data)
    assert again.model_.contents() == ranker.model_.contents()


def test_more_steps_never_ask_for_more_than_there_is():
    data = rf.Dataset(np.arange(12.0)[:, None], [0, 1, 2] * 4, np.repeat([1, 2, 3, 4], 3))
    ranker = rf.XRank(n_steps=500, min_documents=1, progress=False).fit(data)
    assert ranker.score(data) == 1.0
    assert ranker.best_iteration_ < 15


@pytest.mark.compiled_only
@pytest.mark.parametrize("form", FORMS, ids=NAMES)
def test_the_same_bytes_for_any_threads_and_any_order_of_queries(data, form):
    shuffled = data.take_queries(np.random.default_rng(0).permutation(data.n_queries))

    def fitted(given, threads):
        return rf.XRank(threads=threads, **QUICK | form).fit(given).model_

    one = fitted(data, 1)
    assert to_bytes(fitted(data, 2)) == to_bytes(one)
    assert fitted(shuffled, 2).contents() == one.contents()


def test_files_and_clones(data, tmp_path):
    ranker = rf.XRank("NDCG@5", form="full", **QUICK).fit(data)
    ranker.save(tmp_path / "graph.json")
    again = rf.load(tmp_path / "graph.json")
    np.testing.assert_array_equal(again.predict(data), ranker.predict(data))
    assert again.provenance.settings["form"] == "full"
    assert again.provenance.objective == "NDCG@5"
    assert clone(ranker).get_params() == ranker.get_params()
    assert ranker.feature_importances_.sum() == pytest.approx(1.0)
    assert str(ranker.watched_measure_) == "NDCG@5"


def test_what_is_learned_follows_the_measure(data):
    for measure in ("NDCG@3", "DCG@5", rf.NDCG(gain="linear"), "CNDCG@5:clicks"):
        given = data.with_label("clicks", data.labels["grades"] / 4)
        ranker = rf.XRank(measure, **QUICK).fit(given)
        name = str(rf.measure(measure))
        assert expected(ranker, given, name) > expected(np.zeros(len(given)), given, name) * 1.1
        assert ranker.expected_[-1] == pytest.approx(expected(ranker, given, name), abs=1e-12)


def test_queries_count_by_their_weights(data):
    weights = np.where(np.arange(60) < 30, 1.0, 0.0)
    weighted = rf.XRank(**QUICK).fit(data.replace(query_weights=weights))
    alone = rf.XRank(**QUICK).fit(data.take_queries(range(30)))
    # bins are made of all documents: the same tests would need the same bins
    assert weighted.expected_[0] == pytest.approx(alone.expected_[0], abs=0.02)
    assert weighted.model_.documents.sum() == len(data)
    doubled = rf.XRank(**QUICK).fit(data.replace(query_weights=np.full(60, 2.0)))
    np.testing.assert_array_equal(doubled.predict(data), rf.XRank(**QUICK).fit(data).predict(data))


def test_unlabelled_documents_take_part_in_nothing(data):
    grades = np.array(data.labels["grades"])
    grades[::7] = np.nan
    some = data.replace(labels={"grades": grades})
    ranker = rf.XRank(**QUICK).fit(some)
    assert len(ranker.predict(some)) == len(data)
    labelled = ~np.isnan(grades)
    part = rf.Dataset(data.features[labelled], grades[labelled], data.qid[labelled])
    assert ranker.expected_[-1] == pytest.approx(expected(ranker.predict(data)[labelled], part), abs=1e-12)


def test_missing_values_have_a_side():
    random = np.random.default_rng(0)
    grades = random.integers(0, 2, 200)
    x = np.where(grades == 1, np.nan, random.random(200))[:, None]
    ranker = rf.XRank(n_steps=1, min_documents=1, progress=False).fit(rf.Dataset(x, grades, np.repeat(range(20), 10)))
    assert ranker.predict([[np.nan], [0.5]]).tolist() == [1.0, 0.0]


def test_the_report_of_the_martingale(data):
    ranker = rf.XRank(form="martingale", **QUICK).fit(data)
    report = ranker.martingale_
    assert len(report.minimum) == len(report.mean) == ranker.best_iteration_
    assert report.misordered <= report.bound
    with pytest.raises(AttributeError, match="martingale"):
        _ = rf.XRank(**QUICK).fit(data).martingale_


@pytest.mark.compiled_only
def test_boosted_graphs_are_better_than_one_on_average():
    settings = {"n_steps": 8, "min_documents": 10, "form": "martingale", "progress": False}
    gains = []
    for truth in range(6):  # which of them profits most is an accident of the truth
        train, test = (rf.make_artificial(200, 20, 5, seed=seed, function_seed=truth) for seed in (1, 2))
        one, several = (rf.XRank(n_graphs=count, **settings).fit(train) for count in (1, 12))
        gains.append(expected(several, test) - expected(one, test))
    assert np.mean(gains) > 0.005


@pytest.mark.compiled_only
def test_every_graph_that_is_added_helps_on_the_training_data(data, tmp_path):
    several = rf.XRank(n_graphs=12, n_steps=8, min_documents=10, form="martingale", progress=False).fit(data)
    values = several.history_["train"]
    assert all(later >= earlier for earlier, later in itertools.pairwise(values))
    assert values[-1] > values[0] + 0.02
    assert several.model_.weights.sum() == pytest.approx(1.0)
    assert len(several.model_.models) == 1 + sum(a != b for a, b in itertools.pairwise(values))
    several.save(tmp_path / "several.json")
    np.testing.assert_array_equal(rf.load(tmp_path / "several.json").predict(data), several.predict(data))
    assert several.feature_importances_.sum() == pytest.approx(1.0)
    with pytest.raises(AttributeError, match="n_graphs=1"):
        _ = several.expected_


@pytest.mark.compiled_only
def test_the_weight_of_a_graph_is_better_than_any_of_a_grid(data):
    """Two graphs: no mixture of a fine grid has a higher training measure than the one that was chosen."""
    ranker = rf.XRank(n_graphs=2, form="full", **QUICK).fit(data)
    first, second = (graph.predict(data) for graph in ranker.model_.models)
    watched, ranking = WatchedMeasure(data, rf.NDCG()), RunningOrder(data, 0)
    grid = np.linspace(0.0, 1.0, 1001)[1:-1] + 1e-7 * np.sqrt(2)  # no crossing of whole numbers
    best = max(watched.mean(ranking.update((1 - a) * first + a * second)) for a in grid)
    assert ranker.history_["train"][1] >= best - 1e-12


@pytest.mark.compiled_only
def test_boosting_is_the_same_for_any_threads_and_any_order_of_queries(data, held_out):
    shuffled = data.take_queries(np.random.default_rng(0).permutation(data.n_queries))
    settings = {"n_graphs": 4, "form": "full", "n_steps": 5, "min_documents": 10, "progress": False}
    one = rf.XRank(threads=1, **settings).fit(data, validation=held_out)
    two = rf.XRank(threads=2, **settings).fit(shuffled, validation=held_out)
    assert two.model_.contents() == one.model_.contents()
    assert one.best_iteration_ == 1 + int(np.argmax(one.history_["validation"]))
    stable = rf.evaluate(one, held_out, ["NDCG"]).mean["NDCG"]
    assert stable == pytest.approx(max(one.history_["validation"]), abs=0.03)  # up to ties


def test_boosting_leaves_unlabelled_documents_out(data):
    clicks = np.array(data.labels["grades"]) / 4
    clicks[::5] = np.nan
    given = data.with_label("clicks", clicks)
    ranker = rf.XRank("CNDCG:clicks", n_graphs=3, n_steps=3, form="martingale", progress=False).fit(given)
    last = rf.evaluate(ranker, given, ["CNDCG:clicks"], ties="expected").mean["CNDCG:clicks"]
    assert last == pytest.approx(ranker.history_["train"][-1], abs=0.03)


def test_a_constant_matrix_leaves_one_place():
    data = rf.Dataset(np.ones((6, 2)), [0, 1, 2, 0, 1, 2], [1, 1, 1, 2, 2, 2])
    with pytest.warns(TrainingWarning, match="features constant"):
        ranker = rf.XRank(progress=False).fit(data)
    assert ranker.model_.n_places == 1
    assert ranker.best_iteration_ == 0
    assert ranker.predict(data).tolist() == [0.0] * 6


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"measure": "MAP"}, "LambdaMART"),
        ({"form": "wide"}, "form"),
        ({"split": "entropy"}, "split"),
        ({"split": "max_ndcg", "form": "full"}, "max_ndcg"),
        ({"n_steps": 0}, "n_steps"),
        ({"n_graphs": 0}, "n_graphs"),
        ({"feature_fraction": 0.0}, "feature_fraction"),
        ({"min_documents": 0}, "min_documents"),
        ({"max_bins": 300}, "max_bins"),
        ({"early_stopping": 2}, "validation"),
    ],
)
def test_what_is_refused(data, settings, message):
    with pytest.raises(rf.SettingsError, match=message):
        rf.XRank(**{"progress": False} | settings).fit(data)


def test_document_weights_and_worthless_data_are_refused(data):
    with pytest.raises(rf.DataError, match="query_weights"):
        rf.XRank(**QUICK).fit(data.replace(weights=np.ones(len(data))))
    with pytest.raises(rf.RankforceError, match="worth anything"):
        rf.XRank(**QUICK).fit(data.replace(labels={"grades": np.zeros(len(data))}))


@pytest.mark.parametrize(
    "settings", [{}, {"form": "full"}, {"form": "martingale", "n_steps": 3}, {"split": "max_ndcg"}, {"n_graphs": 2}]
)
def test_a_graph_that_splits_nothing_is_warned_of(settings):
    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    for seen, fewest in ((features * 0.0, 1), (features, 10**6)):
        with pytest.warns(TrainingWarning, match=f"Are all features constant, or is min_documents={fewest} too large"):
            rf.XRank(min_documents=fewest, progress=False, **settings).fit(seen, labels, group=[20, 20])
