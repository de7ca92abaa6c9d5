"""MART: its costs against slow twins, what takes part, what it refuses; and preferences for LambdaMART."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

import rankforce as rf
from rankforce.lambdas.ranknet import RankNetCost
from rankforce.models.expected_grade import ExpectedGrade

SMALL = {"n_trees": 10, "n_leaves": 7, "min_documents": 5, "progress": False}
COSTS = ("regression", "binary", "balanced", "multiclass", "ordinal")


def fitted(data, cost="regression", *, validation=None, **settings):
    return rf.MART(cost, **SMALL | settings).fit(data, validation=validation)


def grades(data):
    return data.labels["grades"]


@pytest.fixture(scope="module")
def data():
    return rf.make_artificial(queries=60, documents=20, features=8, seed=1)


@pytest.fixture(scope="module")
def held_out():
    return rf.make_artificial(queries=60, documents=20, features=8, seed=2)


@pytest.mark.parametrize("cost", COSTS)
def test_every_cost_learns_to_rank(data, held_out, cost):
    ranker = fitted(data, cost, n_trees=40, validation=held_out)
    best = max(
        rf.evaluate(sign * held_out.features[:, f].astype(float), held_out, ["NDCG"]).mean["NDCG"]
        for f in range(held_out.n_features)
        for sign in (1, -1)
    )
    assert rf.evaluate(ranker, held_out, ["NDCG"]).mean["NDCG"] > best + 0.03
    assert ranker.history_["train"][-1] > ranker.history_["train"][0]
    assert str(ranker.watched_measure_) == "NDCG"


def leaf_means(values, weights, leaves):
    """Σ wv / Σ w per leaf, the slow way."""
    return [np.average(values[leaves == leaf], weights=weights[leaves == leaf]) for leaf in range(leaves.max() + 1)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("target", "function"),
    [
        ("grades", lambda y: y),
        ("gains", lambda y: 2.0**y - 1),
        (np.sqrt, np.sqrt),
        (rf.ERR(max_grade=4), lambda y: (2.0**y - 1) / 16),
        ("MAP(relevant=2)", lambda y: (y >= 2).astype(float)),
    ],
    ids=["grades", "gains", "sqrt", "ERR", "MAP"],
)
def test_the_first_tree_of_regression_holds_mean_residuals(data, target, function, weighted):
    weights = np.random.default_rng(0).uniform(0.5, 2, len(data)) if weighted else np.ones(len(data))
    given = data.replace(weights=weights, query_weights=np.full(data.n_queries, 0.7)) if weighted else data
    ranker = fitted(given, target=target, n_trees=1, learning_rate=1.0)
    targets = function(grades(data))
    mean = np.average(targets, weights=weights)
    assert ranker.model_.base_score == pytest.approx(mean, rel=1e-12)
    means = leaf_means(targets - mean, weights, ranker.model_.leaf_indices(given)[:, 0])
    np.testing.assert_allclose(ranker.model_.leaf_value, means, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("sigma", [0.5, 1.5])
def test_the_second_tree_of_classification_is_the_papers_newton_step(data, sigma, balanced):
    cost = "balanced" if balanced else "binary"
    settings = {"sigma": sigma, "relevant": 2, "learning_rate": 1.0, "n_trees": 2}
    ranker = fitted(data, cost, **settings)
    y = np.where(grades(data) >= 2, 1.0, -1.0)
    F = ranker.predict(data, n_trees=1)
    pull = 2 * y * sigma / (1 + np.exp(2 * y * sigma * F))
    v = np.where(y > 0, 1 / (y > 0).sum(), 1 / (y < 0).sum()) if balanced else np.ones(len(y))
    leaves = ranker.model_.leaf_indices(data)[:, 1]
    steps = ranker.model_.trees[1].leaf_value
    for leaf, step in enumerate(steps):
        mine = leaves == leaf
        wanted = (pull * v)[mine].sum() / (np.abs(pull) * (2 * sigma - np.abs(pull)) * v)[mine].sum()
        assert step == pytest.approx(wanted, rel=1e-5)
    start = 0.0 if balanced else np.log((y > 0).sum() / (y < 0).sum()) / (2 * sigma)
    np.testing.assert_allclose(ranker.predict(data, n_trees=0), start, rtol=1e-12)
    np.testing.assert_allclose(
        ranker.predict_proba(data)[:, 1], 1 / (1 + np.exp(-2 * sigma * ranker.predict(data))), rtol=1e-12
    )
    np.testing.assert_allclose(ranker.predict_proba(data).sum(axis=1), 1.0)


def test_balanced_lowers_the_balanced_error(data):
    y = grades(data) >= 3

    def balanced_error(ranker):
        said = ranker.predict(data) > 0
        return (said & ~y).sum() / (2 * (~y).sum()) + (~said & y).sum() / (2 * y.sum())

    assert 0 < y.mean() < 0.3
    settings = {"relevant": 3, "n_trees": 5}
    balanced, binary = (fitted(data, cost, **settings) for cost in ("balanced", "binary"))
    assert balanced_error(balanced) < balanced_error(binary)
    for ranker in (balanced, binary):
        assert ranker.balanced_error(data) == pytest.approx(balanced_error(ranker))


def test_the_trees_of_multiclass_hold_the_papers_steps(data):
    ranker = fitted(data, "multiclass", n_trees=2, learning_rate=1.0)
    K = len(ranker.grades_)
    assert ranker.grades_.tolist() == np.unique(grades(data)).tolist()
    P = ranker.model_.predict_proba(data, n_trees=1)
    shares = np.array([(grades(data) == grade).mean() for grade in ranker.grades_])
    np.testing.assert_allclose(ranker.model_.predict_proba(data, n_trees=0)[0], shares, rtol=1e-12)
    for k, member in enumerate(ranker.model_.members):
        r = (grades(data) == ranker.grades_[k]) - P[:, k]
        leaves = member.leaf_indices(data)[:, 1]
        for leaf, step in enumerate(member.trees[1].leaf_value):
            mine = leaves == leaf
            wanted = (K - 1) / K * r[mine].sum() / (np.abs(r) * (1 - np.abs(r)))[mine].sum()
            assert step == pytest.approx(np.clip(wanted, -10, 10), rel=1e-5)
    np.testing.assert_allclose(ranker.predict(data), ranker.predict_proba(data) @ ranker.grades_, rtol=1e-12)


def test_ordinal_is_binary_models_of_every_step(data):
    ranker = fitted(data, "ordinal", sigma=0.5)
    for k, member in enumerate(ranker.model_.members):
        binary = fitted(data, "binary", sigma=0.5, relevant=ranker.grades_[k + 1])
        # the same trees but for the seed of random rounding, which these forces do not need
        np.testing.assert_array_equal(member.predict(data), binary.predict(data))
    above = [1 / (1 + np.exp(-member.predict(data))) for member in ranker.model_.members]
    np.testing.assert_allclose(ranker.predict(data), np.sum(above, axis=0), rtol=1e-10)


@pytest.mark.parametrize("cost", ["multiclass", "ordinal"])
def test_values_of_grades(data, cost):
    by_grade = fitted(data, cost)
    gains = 2.0**by_grade.grades_ - 1
    for values in ("gains", gains, gains.tolist(), lambda grades: 2.0**grades - 1):
        ranker = fitted(data, cost, values=values)
        outputs = by_grade.model_.outputs(data)
        np.testing.assert_array_equal(ranker.model_.outputs(data), outputs)
        if cost == "multiclass":
            np.testing.assert_allclose(ranker.predict(data), by_grade.predict_proba(data) @ gains, rtol=1e-12)
    assert (ranker.predict(data) != by_grade.predict(data)).any()


@pytest.mark.parametrize("cost", COSTS)
def test_unlabelled_documents_and_those_of_weight_0_take_part_in_nothing(data, cost):
    """The same trees as without them, though they hold features of their own and could fill leaves."""
    rng = np.random.default_rng(5)
    n = len(data)
    lost = rng.random(n) < 0.3
    labels = np.where(lost, np.nan, grades(data))
    without = rf.Dataset(data.features[~lost], grades(data)[~lost], qid=data.qid[~lost])
    # bins are made of all documents: few values of every feature, so that they are the same
    coarse = np.round(data.features * 4)
    whole = data.replace(features=coarse, labels={"grades": labels})
    weighted = data.replace(features=coarse, weights=(~lost).astype(float))
    without = without.replace(features=coarse[~lost])
    reference = fitted(without, cost, min_documents=15)
    for given in (whole, weighted):
        ranker = fitted(given, cost, min_documents=15)
        np.testing.assert_array_equal(ranker.predict(whole), reference.predict(whole))
        members = ranker.model_.members if isinstance(ranker.model_, ExpectedGrade) else [ranker.model_]
        for member in members:
            assert member.leaf_documents.min() >= 15
            assert member.trees[0].leaf_documents.sum() == (~lost).sum()


@pytest.mark.parametrize("cost", COSTS)
def test_a_weight_of_2_is_a_document_twice(data, cost):
    rng = np.random.default_rng(6)
    twice = rng.random(len(data)) < 0.5
    coarse = np.round(data.features * 4)  # few values: the bins are the same
    weighted = data.replace(features=coarse, weights=np.where(twice, 2.0, 1.0))
    doubled = rf.Dataset(
        np.concatenate([coarse, coarse[twice]]),
        np.concatenate([grades(data), grades(data)[twice]]),
        qid=np.concatenate([data.qid, data.qid[twice]]),
    )
    settings = {"n_trees": 3, "min_documents": 1, "n_leaves": 4}
    if cost == "balanced":  # fits ȳv by least squares as published, so that only the step weighs documents like this
        settings["split"] = "newton"
    np.testing.assert_allclose(
        fitted(weighted, cost, **settings).predict(coarse), fitted(doubled, cost, **settings).predict(coarse), rtol=1e-4
    )


def test_query_weights_count_as_document_weights(data):
    per_query = np.random.default_rng(0).uniform(0.5, 2, data.n_queries)
    by_query = data.replace(query_weights=per_query)
    by_document = data.replace(weights=per_query[data.row_queries])
    for cost in COSTS:
        np.testing.assert_array_equal(fitted(by_query, cost).predict(data), fitted(by_document, cost).predict(data))


class LeastSquares:
    """The user's own form of regression."""

    def start(self, labels, weights):
        return np.average(labels[weights > 0], weights=weights[weights > 0])

    def pull(self, scores, labels, data):
        assert len(data) == len(scores) == len(labels)
        return labels - scores, np.ones(len(scores))


def without_curvature(scores, labels, data):
    return labels - scores


def test_a_users_cost_is_as_good_as_ours(data):
    rows = np.random.default_rng(0).permutation(len(data))  # queries interleaved: users see rows as they gave them
    labels = grades(data)[rows].copy()
    labels[:30] = np.nan
    mixed = rf.Dataset(data.features[rows], labels, qid=data.qid[rows])
    reference = fitted(mixed)
    own = fitted(mixed, LeastSquares())
    np.testing.assert_array_equal(own.predict(mixed), reference.predict(mixed))
    zero_mean = fitted(mixed, without_curvature)
    assert zero_mean.model_.base_score == 0.0
    assert zero_mean.history_["train"][-1] > zero_mean.history_["train"][0]
    assert zero_mean.model_.provenance.settings["cost"] == "without_curvature"
    assert own.model_.provenance.objective == "LeastSquares"


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (lambda s, y, d: s[:3], "one number per document"),
        (lambda s, y, d: s / np.zeros(1), "not finite"),
        (lambda s, y, d: (s, -np.ones(len(s))), "negative curvature"),
        (lambda s, y, d: (s, s, s), "3 arrays"),
        (lambda s, y, d: "none", "arrays of numbers"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value", "ignore:divide by zero")
def test_a_users_cost_that_cannot_be(data, cost, message):
    with pytest.raises(rf.SettingsError, match=message):
        fitted(data, cost)


def test_newton_splits_need_the_users_curvature(data):
    with pytest.raises(rf.SettingsError, match="returns no curvatures"):
        fitted(data, without_curvature, split="newton")


def test_newton_splits(data):
    for cost in ("binary", "balanced", "multiclass", "ordinal"):
        newton = fitted(data, cost, split="newton")
        assert (newton.predict(data) != fitted(data, cost).predict(data)).any()
        assert newton.history_["train"][-1] > newton.history_["train"][0]
    np.testing.assert_allclose(
        fitted(data, split="newton").predict(data), fitted(data).predict(data), rtol=1e-6
    )  # one and the same for regression


@pytest.mark.parametrize("cost", ["regression", "binary", "balanced", "ordinal"])
def test_monotone(data, cost):
    names = [f"f{k}" for k in range(data.n_features)]
    given = data.replace(feature_names=names)
    ranker = fitted(given, cost, monotone={"f0": 1, "f1": -1}, n_trees=20, min_documents=1)
    X = np.random.default_rng(0).uniform(-1, 1, (100, data.n_features)).astype(np.float32)
    for feature, direction in ((0, 1), (1, -1)):
        grid = np.repeat(X, 9, axis=0)
        grid[:, feature] = np.tile(np.linspace(-1, 1, 9), len(X))
        steps = np.diff(ranker.predict(grid).reshape(len(X), 9), axis=1)
        assert (direction * steps >= -1e-12).all()


@pytest.mark.parametrize("cost", COSTS)
def test_the_same_bytes_again_from_a_file_and_from_another_order(data, cost, tmp_path):
    settings = {"query_fraction": 0.7, "feature_fraction": 0.7}
    order = np.random.default_rng(1).permutation(data.n_queries)
    rows = np.concatenate([data.rows[data.query_starts[q] : data.query_starts[q + 1]] for q in order])
    shuffled = rf.Dataset(data.features[rows], grades(data)[rows], qid=data.qid[rows])
    written = []
    for number, given in enumerate((data, data, shuffled)):
        path = tmp_path / f"{number}.json"
        ranker = fitted(given, cost, **settings)
        ranker.save(path)
        written.append(path.read_bytes())
        np.testing.assert_array_equal(rf.load(path).predict(data), ranker.predict(data))
    assert written[0] == written[1] == written[2]


def test_scoring_a_saved_model_needs_numpy_alone(data, tmp_path):
    ranker = fitted(data, "ordinal")
    ranker.save(tmp_path / "model.json")
    np.save(tmp_path / "X.npy", data.features)
    script = """
import sys, numpy as np, rankforce as rf
sys.modules["numba"] = sys.modules["sklearn"] = None
np.save("scores.npy", rf.load("model.json").predict(np.load("X.npy")))
"""
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True, env=os.environ)
    np.testing.assert_array_equal(np.load(tmp_path / "scores.npy"), ranker.predict(data))


@pytest.mark.parametrize(
    "cost", ["regression", "multiclass", "ordinal", LeastSquares()], ids=["regression", "multiclass", "ordinal", "own"]
)
def test_a_resumed_training_ends_with_the_same_bytes(data, held_out, cost, tmp_path):
    settings = SMALL | {"query_fraction": 0.7, "early_stopping": 20}
    whole = rf.MART(cost, **settings).fit(data, validation=held_out)
    path = tmp_path / "checkpoint.json"
    rf.MART(cost, **settings | {"n_trees": 4}).fit(data, validation=held_out, checkpoint=path, checkpoint_every=2)
    seen = []
    resumed = rf.MART(cost, **settings).fit(
        data, validation=held_out, checkpoint=path, callbacks=[lambda iteration: seen.append(iteration.number)]
    )
    assert seen == [5, 6, 7, 8, 9, 10]
    whole.save(tmp_path / "whole.json")
    resumed.save(tmp_path / "resumed.json")
    assert (tmp_path / "whole.json").read_bytes() == (tmp_path / "resumed.json").read_bytes()
    with pytest.raises(rf.SettingsError, match="another training"):
        rf.MART(cost, **settings | {"l2": 1.0}).fit(data, validation=held_out, checkpoint=path)


def test_early_stopping_watches_the_measure_of_the_expected_grade(data, held_out):
    settings = {"n_trees": 100, "learning_rate": 0.5, "early_stopping": 3, "validation_measure": "NDCG@5"}
    ranker = fitted(data, "multiclass", validation=held_out, **settings)
    values = ranker.history_["validation"]
    assert ranker.best_iteration_ == int(np.argmax(values)) + 1
    assert len(values) == ranker.best_iteration_ + 3
    assert ranker.model_.n_trees == ranker.best_iteration_
    value = rf.evaluate(ranker, held_out, ["NDCG@5"]).mean["NDCG@5"]
    assert value == pytest.approx(max(values), abs=1e-3)


@pytest.mark.parametrize("cost", ["regression", "binary", "multiclass", "ordinal"])
def test_training_goes_on_from_a_base_model(data, cost):
    first = fitted(data, cost, n_trees=6)
    second = fitted(data, cost, n_trees=4, base_model=first)
    np.testing.assert_array_equal(second.predict(data, n_trees=0), first.predict(data))
    np.testing.assert_array_equal(second.predict(data), fitted(data, cost, n_trees=10).predict(data))


def test_a_base_model_must_have_the_same_outputs(data):
    multiclass = fitted(data, "multiclass", n_trees=2)
    with pytest.raises(rf.SettingsError, match="same cost"):
        fitted(data, "ordinal", base_model=multiclass)
    with pytest.raises(rf.SettingsError, match="same cost"):
        fitted(data, "multiclass", base_model=fitted(data, n_trees=2))
    assert fitted(data, base_model=multiclass).model_.n_trees == 10  # one output can start from any model


def test_another_label_source(data):
    clicks = data.with_label("clicks", grades(data) * 2)
    ranker = fitted(clicks, label="clicks")
    np.testing.assert_allclose(ranker.predict(data), 2 * fitted(data).predict(data), rtol=1e-5)
    assert str(ranker.watched_measure_) == "NDCG:clicks"


def test_scikit_learns_conventions(data):
    ranker = rf.MART("ordinal", values=[0, 1, 3, 7, 15], **SMALL)
    again = clone(ranker).fit(data)
    np.testing.assert_array_equal(again.predict(data), ranker.fit(data).predict(data))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(again)).predict(data), again.predict(data))
    assert again.feature_importances_.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("cost", "settings", "message"),
    [
        ("hinge", {}, "cost must be one of"),
        (3, {}, "cost must be one of"),
        ("regression", {"target": "gain"}, "target must be 'grades', 'gains', .* not 'gain'; did you mean 'gains'"),
        ("regression", {"target": "worth"}, "target must be 'grades', .* not 'worth' .*unknown measure"),
        ("regression", {"target": 3}, "target"),
        ("regression", {"target": lambda y: y[:2]}, "one finite number for every label"),
        ("binary", {"target": "gains"}, "target= goes with"),
        ("regression", {"values": [0, 1]}, "values= goes with"),
        ("multiclass", {"values": [0, 1]}, "values"),
        ("multiclass", {"values": [4, 3, 2, 1, 0]}, "must not fall"),
        ("ordinal", {"values": "worth"}, "values"),
        ("ordinal", {"values": ["a", "b"]}, "values"),
        ("multiclass", {"monotone": {0: 1}}, "ordinal"),
        ("binary", {"relevant": 9}, "not relevant"),
        ("binary", {"relevant": -1}, "relevant"),
        ("binary", {"relevant": np.nan}, "relevant"),
        ("binary", {"sigma": 0.0}, "sigma"),
        ("binary", {"max_step": 0.0}, "max_step"),
        ("binary", {"split": "best"}, "split"),
        ("regression", {"label": "clicks"}, "clicks"),
        ("regression", {"early_stopping": 3}, "validation"),
    ],
)
def test_impossible_settings_say_what_is_possible(data, cost, settings, message):
    with pytest.raises(rf.RankforceError, match=message):
        fitted(data, cost, **settings)


def test_impossible_labels():
    X = np.random.default_rng(0).random((100, 2))
    many = rf.Dataset(X, np.arange(100.0), group=[100])
    with pytest.raises(rf.DataError, match="100 different labels"):
        fitted(many, "multiclass")
    one = rf.Dataset(X, np.ones(100), group=[100])
    with pytest.raises(rf.DataError, match="grade 1"):
        fitted(one, "ordinal")
    none = rf.Dataset(X, np.full(100, np.nan), group=[100])
    with pytest.raises(rf.DataError, match="nothing to learn from"):
        fitted(none)


def test_what_a_cost_does_not_have(data):
    ranker = fitted(data)
    with pytest.raises(rf.SettingsError, match="no probabilities"):
        ranker.predict_proba(data)
    assert not hasattr(ranker, "grades_")
    with pytest.raises(rf.RankforceError, match="call fit first"):
        rf.MART().predict_proba(data)


# Preferences


def preferring(data, preferences, *, share=1.0, validation=None, **settings):
    ranker = rf.LambdaMART(**SMALL | settings)
    return ranker.fit(data, preferences=preferences, preference_share=share, validation=validation)


def test_all_pairs_of_the_grades_are_ranknet(data):
    reference = rf.LambdaMART(lambda_function=RankNetCost(1.0), **SMALL).fit(data)
    ranker = preferring(data, rf.Preferences.from_grades(data))
    np.testing.assert_allclose(ranker.predict(data), reference.predict(data), rtol=1e-6, atol=1e-9)
    assert ranker.model_.provenance.objective == "preferences (sigma=1)"


def test_the_first_tree_on_preferences_by_hand(data):
    rng = np.random.default_rng(0)
    full = rf.Preferences.from_grades(data)
    chosen = rng.random(len(full)) < 0.2
    preferences = rf.Preferences(data, full.better[chosen], full.worse[chosen], rng.uniform(0.6, 1, chosen.sum()))
    ranker = preferring(data, preferences, n_trees=1, learning_rate=1.0, normalise="none")
    forces, curvatures = np.zeros(len(data)), np.zeros(len(data))
    for i, j, p in zip(preferences.better, preferences.worse, preferences.probability, strict=True):
        forces[i] += p - 0.5
        forces[j] -= p - 0.5
        curvatures[[i, j]] += 0.25
    leaves = ranker.model_.leaf_indices(data)[:, 0]
    for leaf, value in enumerate(ranker.model_.leaf_value):
        assert value == pytest.approx(forces[leaves == leaf].sum() / curvatures[leaves == leaf].sum(), rel=1e-5)


def test_preferences_leave_no_grades_to_anchor_at(data):
    preferences = rf.Preferences.from_grades(data)
    assert preferring(data, preferences).model_.provenance.settings["anchor"] == 0.0
    with pytest.raises(rf.SettingsError, match="anchor"):
        preferring(data, preferences, anchor=1.0)


def test_preferences_need_no_labels(data, held_out):
    full = rf.Preferences.from_grades(data)
    bare = rf.Dataset(data.features, qid=data.qid)
    preferences = rf.Preferences(bare, full.better, full.worse)
    judged = rf.Preferences.from_grades(held_out)
    ranker = preferring(bare, preferences, validation=judged, n_trees=100, learning_rate=0.5, early_stopping=5)
    scores = ranker.predict(held_out)
    agreed = (scores[judged.better] > scores[judged.worse]).mean()
    assert max(ranker.history_["validation"]) == pytest.approx(agreed, abs=1e-3)
    np.testing.assert_array_equal(
        preferring(bare, preferences).predict(data), preferring(data, full, validation=held_out).predict(data)
    )


def test_a_circle_of_preferences_pulls_nobody():
    data = rf.Dataset(np.arange(60.0).reshape(-1, 1), qid=np.repeat(np.arange(20), 3))
    first = np.arange(0, 60, 3)
    better = np.concatenate([first, first + 1, first + 2])
    worse = np.concatenate([first + 1, first + 2, first])
    ranker = rf.LambdaMART(n_trees=3, min_documents=1, n_leaves=3, progress=False)
    with pytest.warns(UserWarning, match="no split"):
        ranker.fit(data, preferences=rf.Preferences(data, better, worse))
    assert not ranker.predict(data).any()


def test_grades_and_preferences_can_be_mixed(data, tmp_path):
    """Preferences turn the grades around: the more they count, the lower the measure."""
    full = rf.Preferences.from_grades(data)
    against = rf.Preferences(data, full.worse, full.better)
    values = [
        preferring(data, against, share=share, normalise=normalise).history_["train"][-1]
        for normalise in ("none", "log")
        for share in (0.001, 1.0)
    ]
    assert values[0] > values[1] + 0.1
    assert values[2] > values[3] + 0.1
    mixed = preferring(data, against, share=0.5, step="gradient")
    assert mixed.model_.provenance.settings["preference_share"] == 0.5
    assert mixed.model_.provenance.objective.startswith("0.5 × preferences (sigma=1) + 0.5 × (NDCG")


def test_preferences_are_part_of_a_checkpoint(data, tmp_path):
    full = rf.Preferences.from_grades(data)
    path = tmp_path / "checkpoint.json"
    whole = preferring(data, full)
    rf.LambdaMART(**SMALL | {"n_trees": 4}).fit(data, preferences=full, checkpoint=path)
    with pytest.raises(rf.SettingsError, match="preferences was"):
        rf.LambdaMART(**SMALL).fit(data, preferences=rf.Preferences(data, full.worse, full.better), checkpoint=path)
    with pytest.raises(rf.SettingsError, match="preferences was"):
        rf.LambdaMART(**SMALL).fit(data, checkpoint=path)
    resumed = rf.LambdaMART(**SMALL).fit(data, preferences=full, checkpoint=path)
    np.testing.assert_array_equal(resumed.predict(data), whole.predict(data))


def test_impossible_preferences(data, held_out):
    full = rf.Preferences.from_grades(data)
    with pytest.raises(rf.DataError, match="very Dataset"):
        preferring(held_out, full)
    with pytest.raises(rf.DataError, match="very Dataset"):
        preferring(data, "pairs.csv")
    with pytest.raises(rf.SettingsError, match="preference_share must be"):
        preferring(data, full, share=1.5)
    with pytest.raises(rf.SettingsError, match="goes with preferences="):
        rf.LambdaMART(**SMALL).fit(data, preference_share=0.5)
    with pytest.raises(rf.DataError, match="weight 0"):
        preferring(data, rf.Preferences(data, full.better, full.worse, weight=0.0))
