"""LambdaMART: what it learns, what it promises, what it refuses."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import rankforce as rf
from rankforce.lambdas.pairwise import PairwiseLambdaFunction
from rankforce.lambdas.ranknet import RankNetCost
from rankforce.measures.catalogue import measure_classes
from rankforce.rankers.catalogue import ranker_classes
from rankforce.training.monitoring import TrainingWarning


def fitted(data, *, validation=None, callbacks=(), measure="NDCG", **settings):
    chosen = {"n_trees": 10, "n_leaves": 7, "min_documents": 5, "progress": False} | settings
    return rf.LambdaMART(measure, **chosen).fit(data, validation=validation, callbacks=callbacks)


@pytest.fixture(scope="module")
def data():
    return rf.make_artificial(queries=60, documents=20, features=8, seed=1)


@pytest.fixture(scope="module")
def held_out():
    return rf.make_artificial(queries=60, documents=20, features=8, seed=2)


@pytest.mark.parametrize("growth", ["leafwise", "symmetric"])
def test_it_learns(data, held_out, growth):
    ranker = fitted(data, n_trees=40, growth=growth)
    best = max(
        rf.evaluate(sign * held_out.features[:, f].astype(float), held_out, ["NDCG@10"]).mean["NDCG@10"]
        for f in range(held_out.n_features)
        for sign in (1, -1)
    )
    assert rf.evaluate(ranker, held_out, ["NDCG@10"]).mean["NDCG@10"] > best + 0.05
    train = ranker.history_["train"]
    assert train[-1] > train[0] + 0.1


# Each compiles a pair loop of its own; those of these are as that of NDCG, with other columns.
LIKE_NDCG = {"Precision", "RBP", "RPrecision", "Recall", "Success", "WTA"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.soak) if name in LIKE_NDCG else name
        for name in measure_classes()
        if name != "Judged"
    ],
)
def test_every_measure_can_be_trained_for(data, name):
    clicks = (data.labels["grades"] > 1).astype(float)
    chosen = {"CNDCG": rf.CNDCG("clicks"), "Success": rf.Success(1)}
    measure = chosen.get(name) or measure_classes()[name]()
    ranker = fitted(data.with_label("clicks", clicks), measure=measure, n_trees=8)
    assert ranker.history_["train"][-1] >= ranker.history_["train"][0]
    assert ranker.watched_measure_ == measure


def test_the_history_is_the_measure_of_the_model(data, held_out):
    ranker = fitted(data, validation=held_out, measure="NDCG@5")
    scores = ranker.predict(held_out)
    assert len(np.unique(scores)) > 100
    value = rf.evaluate(scores, held_out, ["NDCG@5"], ties="expected").mean["NDCG@5"]
    assert ranker.history_["validation"][-1] == pytest.approx(value, abs=0.02)  # equal but for the order of ties


def test_scores_are_the_running_sum_in_tree_order(data):
    ranker = fitted(data)
    slow = np.zeros(data.n_documents)
    for n in range(1, 11):
        slow = slow + (ranker.predict(data, n_trees=n) - ranker.predict(data, n_trees=n - 1))
    np.testing.assert_allclose(ranker.predict(data), slow, rtol=1e-12)
    assert (ranker.predict(data, n_trees=0) == 0).all()


def test_early_stopping_keeps_the_best(data, held_out):
    ranker = fitted(data, validation=held_out, n_trees=200, learning_rate=0.5, early_stopping=5)
    values = ranker.history_["validation"]
    assert len(values) < 200
    assert ranker.best_iteration_ == int(np.argmax(values)) + 1
    assert len(values) == ranker.best_iteration_ + 5
    assert ranker.model_.n_trees == ranker.best_iteration_


def test_another_measure_can_be_watched(data, held_out):
    ranker = fitted(data, validation=held_out, validation_measure="ERR@3")
    scores = ranker.predict(held_out)
    value = rf.evaluate(scores, held_out, ["ERR@3"], ties="stable").mean["ERR@3"]
    assert ranker.history_["validation"][-1] == pytest.approx(value, abs=0.02)


def test_callbacks_see_every_tree_and_can_stop(data):
    seen = []

    def watch(iteration):
        seen.append((iteration.number, iteration.values["train"]))
        if iteration.number == 4:
            iteration.stop()

    ranker = fitted(data, callbacks=[watch])
    assert [number for number, _ in seen] == [1, 2, 3, 4]
    assert [value for _, value in seen] == ranker.history_["train"]
    assert ranker.model_.n_trees == 4


@pytest.mark.parametrize(
    "settings", [{}, {"split": "least_squares"}, {"step": "gradient"}, {"l2": 3.0}, {"growth": "symmetric"}], ids=str
)
def test_leaves_hold_at_least_the_minimum_of_documents(data, settings):
    ranker = fitted(data, min_documents=37, **settings)
    assert ranker.model_.leaf_documents.min() >= 37


def test_symmetric_trees_ask_one_question_per_level(data):
    for tree in fitted(data, growth="symmetric", n_leaves=16).model_.trees:
        assert len(set(zip(tree.feature.tolist(), tree.threshold.tolist(), strict=True))) <= 4 < tree.n_nodes


@pytest.mark.parametrize("growth", ["leafwise", "symmetric"])
def test_newtons_step_is_the_ratio_of_the_sums(data, growth):
    """The first tree by hand: all scores are 0, so ρ = ½ for every pair."""
    from rankforce.forces.forces import Forces, RunningOrder

    ranker = fitted(data, n_trees=1, learning_rate=1.0, normalise="none", growth=growth)
    objective = ranker._objective()
    zero = np.zeros(data.n_documents)
    forces, curvatures = Forces(data, objective, 0).at(zero, RunningOrder(data, 0).update(zero))
    leaves = ranker.model_.leaf_indices(data)[:, 0]
    for leaf in range(ranker.model_.leaf_value.size):
        inside = leaves == leaf
        wanted = np.clip(forces[inside].sum() / curvatures[inside].sum(), -10, 10)
        assert ranker.model_.leaf_value[leaf] == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(
    ("settings", "longest"),
    [({"growth": "leafwise"}, 10.0), ({"growth": "symmetric"}, 10.0), ({"max_step": 3.0}, 3.0)],
    ids=str,
)
def test_the_step_is_bounded(settings, longest):
    """One pair in the wrong order, far apart by the base: Newton alone would leap."""
    X = np.array([[0.0, 30.0], [1.0, 0.0]] * 20)
    data = rf.Dataset(X, [0, 1] * 20, group=[2] * 20, feature_names=["a", "b"])
    ranker = fitted(data, n_trees=1, n_leaves=2, min_documents=1, learning_rate=1.0, base_model="b", **settings)
    assert abs(ranker.model_.leaf_value).max() == longest


def test_few_documents_grow_symmetric_trees(data, monkeypatch):
    assert data.n_documents == 1200
    for limit, chosen in ((1201, "symmetric"), (1200, "leafwise")):
        monkeypatch.setattr("rankforce.boosting.boosted_trees.FEW_DOCUMENTS", limit)
        ranker = fitted(data)
        assert ranker.model_.provenance.settings["growth"] == chosen
        again = fitted(data, growth=chosen)
        assert again.predict(data).tobytes() == ranker.predict(data).tobytes()


@pytest.mark.parametrize("anchor", [0.0, 0.5])
@pytest.mark.parametrize("sigma", [0.25, 4.0])
def test_sigma_does_not_change_the_ranking(data, sigma, anchor):
    """Newton's step from 0 without regularisation: σ scales the scores by 1/σ, exactly so for powers of two."""
    published = {"normalise": "none", "anchor": anchor}
    reference = fitted(data, lambda_function=rf.lambdas.RankNetWeightPairs(1.0), **published).predict(data)
    scaled = fitted(data, lambda_function=rf.lambdas.RankNetWeightPairs(sigma), sigma=sigma, **published).predict(data)
    np.testing.assert_array_equal(scaled * sigma, reference)


def test_an_anchor_holds_symmetric_trees_unless_the_forces_were_chosen(data):
    def of(**settings):
        return fitted(data, **settings).model_.provenance.settings["anchor"]

    assert of(growth="symmetric") == 1.0
    assert of(growth="symmetric", anchor=0.25) == 0.25
    for chosen in (
        {"growth": "leafwise"},
        {"step": "gradient"},
        {"normalise": "none"},
        {"lambda_function": rf.lambdas.NearPairs()},
        {"base_model": data.feature_names[0]},
        {"objective": [rf.Term("NDCG"), rf.Term("ERR")]},
    ):
        assert of(**({"growth": "symmetric"} | chosen)) == 0.0, chosen
    assert fitted(data).predict(data).tobytes() == fitted(data, anchor=1.0).predict(data).tobytes()
    assert fitted(data).predict(data).tobytes() != fitted(data, anchor=0.0).predict(data).tobytes()


def test_a_stiff_anchor_is_a_regression_of_the_grades(data):
    """Scores within a query end at the grades, one standard deviation 3 apart, whatever the pairs say."""
    grades = data.labels["grades"]
    told = rf.Dataset(grades[:, None], grades, qid=data.row_queries)
    ranker = fitted(told, n_trees=200, min_documents=1, anchor=1e6)
    centred = [
        values - np.repeat(np.add.reduceat(values, told.query_starts[:-1]) / told.query_sizes, told.query_sizes)
        for values in (ranker.predict(told), grades.astype(float))
    ]
    np.testing.assert_allclose(centred[0], 3.0 * centred[1] / centred[1].std(), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    "settings",
    [{"anchor": -1.0}, {"anchor": 1.0, "step": "gradient"}, {"anchor": 1.0, "objective": ["NDCG", "ERR"]}],
    ids=str,
)
def test_anchors_that_cannot_be(data, settings):
    if "objective" in settings:
        settings = settings | {"objective": [rf.Term(name) for name in settings["objective"]]}
    with pytest.raises(rf.SettingsError, match="anchor"):
        fitted(data, **settings)


def test_the_gradient_step_is_the_mean_of_the_scaled_forces(data):
    from rankforce.forces.forces import Forces, RunningOrder

    ranker = fitted(data, n_trees=1, learning_rate=1.0, step="gradient")
    zero = np.zeros(data.n_documents)
    forces, _ = Forces(data, ranker._objective(), 0).at(zero, RunningOrder(data, 0).update(zero))
    scaled = np.concatenate([f / f.std() if f.any() else f for f in np.split(forces, data.query_starts[1:-1])])
    leaves = ranker.model_.leaf_indices(data)[:, 0]
    means = [scaled[leaves == leaf].mean() for leaf in range(ranker.model_.leaf_value.size)]
    np.testing.assert_allclose(ranker.model_.leaf_value, means, rtol=1e-6)


def test_a_base_model_is_kept_inside(data, held_out, tmp_path):
    base = fitted(data, n_trees=5)
    ranker = fitted(data, base_model=base, n_trees=5)
    first = ranker.predict(held_out, n_trees=0)
    np.testing.assert_array_equal(first, base.predict(held_out))
    ranker.save(tmp_path / "model.json")
    np.testing.assert_array_equal(rf.load(tmp_path / "model.json").predict(held_out), ranker.predict(held_out))
    again = fitted(data, base_model=base.model_, n_trees=5)
    np.testing.assert_array_equal(again.predict(held_out), ranker.predict(held_out))


def test_a_feature_can_be_the_base(data):
    named = data.replace(feature_names=[f"f{k}" for k in range(data.n_features)])
    ranker = fitted(named, base_model="f3")
    np.testing.assert_array_equal(ranker.predict(named, n_trees=0), named.features[:, 3].astype(float))


def test_subsamples_differ_between_trees_and_repeat_with_the_seed(data):
    settings = {"query_fraction": 0.5, "feature_fraction": 0.5}
    one, two = fitted(data, **settings), fitted(data, **settings)
    np.testing.assert_array_equal(one.predict(data), two.predict(data))
    assert (fitted(data, seed=1, **settings).predict(data) != one.predict(data)).any()
    roots = one.model_.feature[one.model_.node_starts[:-1]]
    assert len(set(roots.tolist())) > 1


def test_monotone_features(data):
    names = [f"f{k}" for k in range(data.n_features)]
    ranker = fitted(data.replace(feature_names=names), monotone={"f0": 1, "f1": -1}, n_trees=30, min_documents=1)
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, data.n_features)).astype(np.float32)
    for feature, direction in ((0, 1), (1, -1)):
        grid = np.repeat(X, 9, axis=0)
        grid[:, feature] = np.tile(np.linspace(-1, 1, 9), len(X))
        scores = ranker.predict(grid).reshape(len(X), 9)
        assert (direction * np.diff(scores, axis=1) >= 0).all()
    free = fitted(data, n_trees=30, min_documents=1)
    assert (np.diff(free.predict(grid).reshape(len(X), 9), axis=1) > 0).any()


def test_weights_count(data):
    weighted = data.replace(query_weights=np.full(data.n_queries, 2.0))
    same = fitted(data, learning_rate=0.1)
    np.testing.assert_allclose(fitted(weighted).predict(data), same.predict(data))  # a ratio: the scale cancels
    without = data.replace(query_weights=np.arange(data.n_queries) < 30)
    half = fitted(data.take_queries(range(30)))
    assert rf.evaluate(fitted(without), data.take_queries(range(30)), ["NDCG"]).mean["NDCG"] == pytest.approx(
        rf.evaluate(half, data.take_queries(range(30)), ["NDCG"]).mean["NDCG"], abs=0.05
    )


@pytest.mark.parametrize("growth", ["leafwise", "symmetric"])
def test_queries_of_weight_0_do_not_thin_out_the_mean_force(data, growth):
    """Every query once more, with weight 0: nothing changes, for the values of the features are the same ones."""
    features = np.round(data.features, 1)
    once = rf.Dataset(features, data.label(), data.row_queries)
    twice = rf.Dataset(
        np.tile(features, (2, 1)), np.tile(data.label(), 2), np.append(data.row_queries, data.row_queries + 1000),
        query_weights=np.repeat([1.0, 0.0], data.n_queries),
    )  # fmt: skip
    settings = {"n_trees": 3, "step": "gradient", "growth": growth, "n_leaves": 4, "min_documents": 20}
    assert fitted(once, **settings).predict(features).tolist() == fitted(twice, **settings).predict(features).tolist()


ALL_STEPS = [{}, {"growth": "leafwise"}, {"step": "gradient"}, {"preset": "2010"}, {"preset": "2011"}]


@pytest.mark.parametrize("settings", ALL_STEPS)
@pytest.mark.parametrize("kind", ["query_weights", "weights"])
def test_queries_without_a_weight_are_as_good_as_none(data, settings, kind):
    """In forces, means, least squares and documents per leaf, whether they have the weight 0 or their documents.

    Five queries once more: the values of the features are the same ones.
    """
    features = np.round(data.features, 1)
    again = data.row_queries < 5
    weights = {"query_weights": np.repeat([1.0, 0.0], [data.n_queries, 5]),
               "weights": np.repeat([1.0, 0.0], [data.n_documents, again.sum()])}[kind]  # fmt: skip
    more = rf.Dataset(
        np.concatenate([features, features[again]]),
        np.append(data.label(), data.label()[again]),
        np.append(data.row_queries, data.row_queries[again] + 1000),
        **{kind: weights},
    )
    settings = {"n_trees": 3, "n_leaves": 4, "min_documents": 20, **settings}
    expected = fitted(rf.Dataset(features, data.label(), data.row_queries), **settings).predict(features)
    assert np.ptp(expected) > 0.01
    np.testing.assert_array_equal(fitted(more, **settings).predict(features), expected)


def test_documents_without_a_weight_do_not_count_in_leaves(data):
    """They are ranked with the others, but pull nowhere."""
    weighs = np.random.default_rng(0).random(data.n_documents) < 0.8
    model = fitted(data.replace(weights=weighs.astype(float)), n_trees=2, n_leaves=4, min_documents=30).model_
    for tree in model.trees:
        assert tree.leaf_documents.sum() == weighs.sum()
        assert tree.leaf_documents.min() >= 30


@pytest.mark.parametrize("settings", [{"step": "gradient"}, {"preset": "2011"}])
def test_query_weights_count_with_the_gradient_step(settings):
    """Two kinds of queries want opposite things: the heavy kind wins."""
    rng = np.random.default_rng(0)
    qid, X = np.repeat(np.arange(40), 10), rng.normal(size=(400, 3)).astype(np.float32)
    labels = np.where(qid % 2 == 0, X[:, 0] > 0.5, X[:, 0] < -0.5).astype(float)
    for heavy in (0, 1):
        weights = np.where(np.arange(40) % 2 == heavy, 1000.0, 1.0)
        data = rf.Dataset(X, labels, qid, query_weights=weights)
        scores = rf.LambdaMART(n_trees=5, n_leaves=4, min_documents=5, progress=False, **settings).fit(data).predict(X)
        assert (np.corrcoef(scores, X[:, 0])[0, 1] > 0.5) == (heavy == 0)


GRADIENT = [{"step": "gradient"}, {"preset": "2011"}, {"preset": "2010"}]


@pytest.mark.parametrize("settings", GRADIENT)
@pytest.mark.parametrize("weight", [3000.0, 1e-3])
def test_equal_query_weights_change_nothing(data, settings, weight):
    """The mean λ is one by weights: traffic counts are no learning rate."""
    weighted = data.replace(query_weights=np.full(data.n_queries, weight))
    settings = {"n_trees": 5, "n_leaves": 4, "min_documents": 20, **settings}
    expected = fitted(data, **settings).predict(data)
    assert np.ptp(expected) > 0.1
    np.testing.assert_allclose(fitted(weighted, **settings).predict(data), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("settings", GRADIENT)
def test_a_query_of_weight_2_counts_as_two_queries(data, settings):
    """With forces that do not depend on how ties are broken, by a hash of the query's name."""
    features = np.round(data.features, 1)
    heavy = np.arange(data.n_queries) < data.n_queries // 2
    rows = np.flatnonzero(heavy[data.row_queries])
    weighted = rf.Dataset(features, data.label(), data.row_queries, query_weights=np.where(heavy, 2.0, 1.0))
    copied = rf.Dataset(
        np.concatenate([features, features[rows]]),
        np.concatenate([data.label(), data.label()[rows]]),
        np.concatenate([data.row_queries, data.row_queries[rows] + 1000]),
    )
    settings = {"n_trees": 3, "n_leaves": 4, "min_documents": 1, "lambda_function": "RankNet", **settings}
    expected = fitted(copied, **settings).predict(features)
    assert np.ptp(expected) > 0.1
    np.testing.assert_allclose(fitted(weighted, **settings).predict(features), expected, rtol=1e-4, atol=1e-5)


SAME_BYTES = {"n_trees": 15, "n_leaves": 15, "min_documents": 5, "query_fraction": 0.7, "feature_fraction": 0.7}


@pytest.mark.compiled_only
def test_the_same_bytes_for_any_threads_and_any_order_of_queries(tmp_path, monkeypatch):
    data = rf.make_artificial(queries=150, documents=(5, 40), features=12, seed=3)
    order = np.random.default_rng(5).permutation(data.n_queries)
    rows = np.concatenate([np.arange(data.query_starts[q], data.query_starts[q + 1]) for q in order])
    shuffled = rf.Dataset(data.features[rows], data.labels["grades"][rows], qid=data.qid[rows])
    written = []
    for threads, given in ((1, data), (2, data), (8, data), (2, shuffled)):
        monkeypatch.setenv("NUMBA_NUM_THREADS", str(threads))
        ranker = rf.LambdaMART("NDCG@10", **SAME_BYTES, threads=threads, progress=False).fit(given)
        ranker.save(tmp_path / "model.json")
        written.append((tmp_path / "model.json").read_bytes())
    assert len(set(written)) == 1


def test_repeated_training_gives_the_same_file(data, tmp_path):
    for name in ("a", "b"):
        fitted(data).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_low_memory_gives_the_same_model(data, tmp_path):
    fitted(data).save(tmp_path / "a")
    fitted(data, memory="low").save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_stops_after_the_current_tree_and_keeps_what_was_learned(data):
    def interrupt(iteration):
        if iteration.number == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.warns(TrainingWarning, match="interrupted after 3 of 100 trees"):
        ranker = fitted(data, callbacks=[interrupt], n_trees=100)
    assert ranker.model_.n_trees == 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_two_trainings_at_once_do_not_disturb_each_other(data):
    reference = fitted(data).predict(data)
    results = {}

    def work(k):
        results[k] = fitted(data).predict(data)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all((result == reference).all() for result in results.values())
    assert len(results) == 3


def test_joblib_workers(data):
    joblib = pytest.importorskip("joblib")
    models = joblib.Parallel(n_jobs=2)(joblib.delayed(fitted)(data, seed=0) for _ in range(2))
    for ranker in models:
        np.testing.assert_array_equal(ranker.predict(data), fitted(data).predict(data))


def test_a_fitted_ranker_can_be_pickled(data):
    ranker = fitted(data)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ranker)).predict(data), ranker.predict(data))


def test_arrays_and_frames_are_as_good_as_a_dataset(data):
    pd = pytest.importorskip("pandas")
    reference = fitted(data)
    X, y = np.array(data.features), np.array(data.labels["grades"])
    settings = {"n_trees": 10, "n_leaves": 7, "min_documents": 5, "progress": False}
    by_arrays = rf.LambdaMART(**settings).fit(X, y, qid=data.qid)
    by_group = rf.LambdaMART(**settings).fit(X, y, group=data.query_sizes)
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(X.shape[1])])
    by_column = rf.LambdaMART(**settings).fit(frame.assign(qid=data.qid), y)
    np.testing.assert_array_equal(by_arrays.predict(X), reference.predict(data))
    np.testing.assert_array_equal(by_column.predict(frame), reference.predict(data))
    assert by_group.model_.n_trees == 10


def test_rows_in_any_order_come_back_in_that_order(data):
    rows = np.random.default_rng(0).permutation(data.n_documents)
    shuffled = rf.Dataset(data.features[rows], data.labels["grades"][rows], qid=data.qid[rows])
    ranker = fitted(data)
    np.testing.assert_array_equal(ranker.predict(shuffled), ranker.predict(data)[rows])


def test_pairs_of_the_top_and_drawn_pairs_learn_too(data, held_out):
    for pairs in (("top", 5), ("sample", 3), "top 5"):
        ranker = fitted(data, pairs=pairs, n_trees=20)
        assert ranker.history_["train"][-1] > ranker.history_["train"][0]


def test_plain_ranknet_cost(data):
    ranker = fitted(data, lambda_function=RankNetCost(1.0), n_trees=20)
    assert ranker.history_["train"][-1] > ranker.history_["train"][0]


class NoCurvature(PairwiseLambdaFunction):
    """A constant force."""

    HAS_CURVATURE = False

    def pair_of_gap(self, gap, change, normaliser):
        return change, 0.0


def test_newton_needs_curvature(data):
    with pytest.raises(rf.SettingsError, match="step='gradient'"):
        fitted(data, lambda_function=NoCurvature(), step="newton")
    ranker = fitted(data, lambda_function=NoCurvature())
    assert ranker.model_.n_trees == 10
    told = fitted(data, lambda_function=NoCurvature(), step="gradient")
    assert told.predict(data).tolist() == ranker.predict(data).tolist()


class Flat(NoCurvature):
    HAS_CURVATURE = True  # which is not so


def test_what_keeps_a_tree_from_growing_is_told(data):
    """Neither constant features nor min_documents, as long as nothing pulls, or nothing curves."""
    with pytest.warns(TrainingWarning, match=r"no swap of two documents changes Recall@100 \(lists here have up to"):
        assert fitted(data, measure="Recall@100").model_.n_trees == 0
    with pytest.warns(TrainingWarning, match="Flat.* gives the curvature 0, .* step='gradient'"):
        assert fitted(data, lambda_function=Flat()).model_.n_trees == 0
    with pytest.warns(TrainingWarning, match="min_documents=100000 too large"):
        assert fitted(data, min_documents=100_000).model_.n_trees == 0


class Best(rf.Measure):
    """The user's own: the gain of the first document."""

    COLUMNS = 2

    def normaliser(self, ideal):
        return ideal[0] if ideal.shape[0] > 0 else 0.0

    def value(self, ranked, normaliser):
        return ranked[0] / normaliser

    def prepare(self, ranked, normaliser, columns):
        for r in range(ranked.shape[0]):
            columns[0, r] = ranked[r]
            columns[1, r] = (1.0 if r == 0 else 0.0) / normaliser

    def swap_delta(self, a, b):
        return (a[0] - b[0]) * (b[1] - a[1])


def test_a_users_measure_trains_like_a_built_in_one(data):
    own = fitted(data, measure=Best(), n_trees=5)
    same = fitted(data, measure=rf.NDCG(1, gain="linear"), n_trees=5)
    np.testing.assert_array_equal(own.predict(data), same.predict(data))
    assert "Best" in own.model_.provenance.objective


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_trees": 0}, "n_trees"),
        ({"n_leaves": 1}, "n_leaves"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"max_bins": 300}, "max_bins"),
        ({"split": "best"}, "split"),
        ({"step": "gradient", "split": "newton"}, "least_squares"),
        ({"measure": "NDGC"}, "NDCG"),
        ({"early_stopping": 5}, "validation"),
        ({"base_model": 3}, "base_model"),
        ({"base_model": "nowhere"}, "nowhere"),
        ({"monotone": [1]}, "monotone"),
        ({"monotone": {0: 2}}, "monotone"),
        ({"monotone": 5}, "monotone must be one direction per feature"),
        ({"monotone": "up"}, "monotone must be one direction per feature"),
        ({"monotone": {0: [1]}}, "monotone"),
        ({"monotone": {0: np.zeros(2)}}, "monotone"),
        ({"sigma": -1.0}, "sigma"),
        ({"threads": 0}, "threads"),
        ({"pairs": "few"}, "pairs"),
        ({"memory": "none"}, "memory"),
        ({"seed": -1}, "seed"),
    ],
    ids=str,
)
def test_impossible_settings_say_what_is_possible(data, settings, message):
    with pytest.raises(rf.RankforceError, match=message):
        fitted(data, **settings)


@pytest.mark.parametrize("wrong", [print, 5, None, "print", [3], [print, None]], ids=repr)
@pytest.mark.parametrize("name", [name for name in ranker_classes() if name != "Bagging"])
def test_what_are_no_callbacks_is_refused_before_any_work(data, name, wrong):
    with pytest.raises(rf.SettingsError, match="callback"):
        ranker_classes()[name]().fit(data, callbacks=wrong)


def test_without_queries_nothing_is_learned(data):
    with pytest.raises(rf.DataError, match="qid"):
        rf.LambdaMART().fit(data.features, data.labels["grades"])


def test_nothing_to_learn_from():
    equal = rf.Dataset(np.random.default_rng(0).random((20, 2)), np.ones(20), group=[10, 10])
    with pytest.raises(rf.DataError, match="different labels"):
        fitted(equal)


def test_constant_features_give_an_empty_model_and_a_warning():
    data = rf.Dataset(np.ones((20, 2)), np.arange(20) % 2, group=[10, 10])
    with pytest.warns(TrainingWarning, match="no split"):
        ranker = fitted(data)
    assert ranker.model_.n_trees == 0
    assert (ranker.predict(data) == 0).all()


def test_before_fit_there_is_nothing_to_ask():
    with pytest.raises(rf.RankforceError, match="call fit first"):
        rf.LambdaMART().predict(np.zeros((1, 1)))


@pytest.mark.soak
@pytest.mark.compiled_only
def test_an_edited_measure_is_seen_and_a_process_without_it_is_not_disturbed(tmp_path):
    script = tmp_path / "own.py"
    body = """
        import sys
        import numpy as np
        import rankforce as rf

        class Mine(rf.Measure):
            COLUMNS = 2

            def normaliser(self, ideal):
                return 1.0 if ideal.shape[0] > 0 and ideal[0] > 0.0 else 0.0

            def value(self, ranked, normaliser):
                return {factor} * ranked[0]

            def prepare(self, ranked, normaliser, columns):
                for r in range(ranked.shape[0]):
                    columns[0, r] = ranked[r]
                    columns[1, r] = {factor} if r == 0 else 0.0

            def swap_delta(self, a, b):
                return (a[0] - b[0]) * (b[1] - a[1])

        data = rf.make_artificial(queries=20, documents=10, features=4, seed=1)
        ranker = rf.LambdaMART(Mine(), n_trees=2, n_leaves=3, min_documents=5, progress=False).fit(data)
        print(ranker.history_["train"][-1])
    """
    values = []
    for factor in ("1.0", "2.0"):
        script.write_text(textwrap.dedent(body).replace("{factor}", factor))
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
        values.append(float(done.stdout))
    assert values[1] == pytest.approx(2 * values[0])
    script.unlink()
    innocent = (
        "import rankforce as rf; d = rf.make_artificial(20, 10, 4); rf.LambdaMART(n_trees=2, progress=False).fit(d)"
    )
    subprocess.run([sys.executable, "-c", innocent], check=True, cwd=tmp_path)


class Endless(rf.lambdas.PairwiseLambdaFunction):
    def pair_of_gap(self, gap, change, normaliser):
        return np.nan, 1.0


@pytest.mark.compiled_only
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"lambda_function": Endless()},
            r"^NDCG \(Endless\(\)\): forces on query \S+ are not finite.*your measure or λ-function",
        ),
        ({"learning_rate": 1e300}, r"learning_rate=1e\+300 is too large"),
        ({"sigma": 1e300}, r"sigma must be a number of at least 1e-30 and at most 1e\+30"),
    ],
)
def test_forces_that_are_no_numbers_name_what_may_be_at_fault(data, settings, words):
    with pytest.raises(rf.RankforceError, match=words):
        fitted(data, **settings)


@pytest.mark.compiled_only
def test_weights_too_large_for_forces_are_named(data):
    large = data.replace(weights=np.full(data.n_documents, 1e300))
    with pytest.raises(rf.DataError, match=r"too large: the largest weight = 1e\+300"):
        fitted(large)
    with pytest.raises(rf.DataError, match="weights add up to infinity"):
        data.replace(weights=np.full(data.n_documents, 1e308))


def test_a_training_without_a_tree_has_an_empty_history_of_what_it_would_have_watched():
    made = rf.make_artificial(queries=20, documents=8, features=3, seed=1)
    same = made.replace(features=np.zeros((made.n_documents, 1), dtype=np.float32), feature_names=["none"])
    ranker = rf.LambdaMART(n_trees=3, progress=False)
    with pytest.warns(rf.RankforceWarning):
        ranker.fit(same, validation=same)
    assert ranker.model_.n_trees == 0
    assert ranker.history_ == {"train": [], "validation": []}
