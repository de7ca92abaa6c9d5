"""Bagging: averages of rankers on samples of the queries."""

from __future__ import annotations

import os
import signal
import sys

import numpy as np
import pytest
from sklearn.base import clone

import rankforce as rf
from rankforce.models.bagged import Bagged
from rankforce.models.storage import to_bytes
from rankforce.training.monitoring import TrainingWarning


def base(**settings):
    return rf.LambdaMART(**({"n_trees": 5, "n_leaves": 5, "min_documents": 3, "progress": False} | settings))


def bagged(data, ranker=None, validation=None, **settings):
    chosen = {"n_models": 3, "query_fraction": 0.6, "progress": False} | settings
    return rf.Bagging(ranker or base(), **chosen).fit(data, validation=validation)


@pytest.fixture(scope="module")
def data():
    return rf.make_artificial(queries=30, documents=10, features=4, seed=1)


@pytest.fixture(scope="module")
def other():
    return rf.make_artificial(queries=30, documents=10, features=4, seed=2)


def test_the_score_is_the_mean_of_the_models(data, other):
    ranker = bagged(data)
    assert isinstance(ranker.model_, Bagged)
    np.testing.assert_allclose(
        ranker.predict(other), np.mean([one.predict(other) for one in ranker.rankers_], axis=0), rtol=1e-12
    )
    assert len({one.seed for one in ranker.rankers_}) == 3
    assert len({one.model_.provenance.data_fingerprint for one in ranker.rankers_}) == 3


def test_each_model_learns_from_whole_queries(data):
    ranker = bagged(data, n_models=2, query_fraction=0.4)
    for number, one in enumerate(ranker.rankers_):
        drawn, rest = ranker._sample(data, number)
        assert (drawn.n_queries, rest.n_queries) == (12, 18)
        assert not set(drawn.query_ids) & set(rest.query_ids)
        assert one.model_.provenance.data_fingerprint == drawn.fingerprint


def test_the_order_of_the_queries_does_not_matter(data, tmp_path):
    rows = np.concatenate(list(data.each_query())[::-1])
    turned = rf.Dataset(data.features[rows], data.labels["grades"][rows], qid=data.qid[rows])
    for name, one in (("a", data), ("b", turned), ("c", data)):
        bagged(one).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "c").read_bytes()
    np.testing.assert_array_equal(rf.load(tmp_path / "a").predict(data), rf.load(tmp_path / "b").predict(data))


def test_the_file_says_nothing_of_threads(data, tmp_path):
    bagged(data).save(tmp_path / "a")
    bagged(data, base(threads=1)).save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_seeds_differ(data):
    assert (bagged(data).predict(data) != bagged(data, seed=1).predict(data)).any()


def test_folds(data):
    stopping = base(n_trees=40, early_stopping=3, learning_rate=0.5)
    ranker = bagged(data, stopping, sample="folds")
    for one, (train, _) in zip(ranker.rankers_, data.folds(3, seed=0), strict=True):
        assert one.model_.provenance.data_fingerprint == train.fingerprint
        assert "validation" in one.history_  # its own fold


def test_early_stopping_watches_the_queries_not_drawn_or_the_validation_data(data, other):
    stopping = base(n_trees=40, early_stopping=3, learning_rate=0.5)
    assert all("validation" in one.history_ for one in bagged(data, stopping).rankers_)
    watching = bagged(data, stopping, validation=other)
    assert len(watching.history_["validation"]) == 3
    assert watching.history_["validation"][-1] == pytest.approx(watching.score(other))
    with pytest.raises(rf.SettingsError, match="validation data"):
        bagged(data, stopping, query_fraction=1.0)


def test_as_an_estimator(data):
    one = rf.Bagging(base(), n_models=2, progress=False)
    assert clone(one).set_params(ranker__n_leaves=3).ranker.n_leaves == 3
    result = rf.tune(one, data, {"ranker__n_leaves": [2, 5]}, folds=2, method="grid", progress=False)
    assert result.settings["ranker__n_leaves"] in (2, 5)
    assert result.ranker.score(data) > 0.5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_models": 0}, "n_models"),
        ({"n_models": 1, "sample": "folds"}, "n_models"),
        ({"query_fraction": 0.0}, "query_fraction"),
        ({"sample": "rows"}, "sample must be one of"),
        ({"ranker": "lambdamart"}, "ranker must be a ranker"),
        ({"seed": -1}, "seed"),
    ],
    ids=str,
)
def test_what_is_refused(data, settings, message):
    with pytest.raises(rf.SettingsError, match=message):
        rf.Bagging(**({"ranker": base(), "progress": False} | settings)).fit(data)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(("in_model", "kept"), [(1, [3]), (3, [5, 5])])
def test_ctrl_c_ends_the_model_that_is_being_learned(data, monkeypatch, in_model, kept):
    begun = []
    fit = rf.LambdaMART.fit

    def interrupting(self, *given, callbacks=(), **more):
        begun.append(self)

        def interrupt(iteration):
            if len(begun) == in_model and iteration.number == 3:
                os.kill(os.getpid(), signal.SIGINT)

        return fit(self, *given, callbacks=[interrupt, *callbacks], **more)

    monkeypatch.setattr(rf.LambdaMART, "fit", interrupting)
    finished = in_model - 1
    with pytest.warns(TrainingWarning, match=f"interrupted after {finished} of 5 models"):
        ranker = bagged(data, n_models=5)
    assert ranker.interrupted_
    assert ranker.model_.provenance.interrupted == f"after {finished} of 5 models"
    assert [one.interrupted_ for one in ranker.rankers_] == ([False] * finished or [True])
    assert [one.model_.n_trees for one in ranker.rankers_] == kept


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("in_model", [1, 2])
def test_after_ctrl_c_in_a_model_it_goes_on_to_the_same_bytes(data, tmp_path, monkeypatch, in_model):
    path = tmp_path / "checkpoint"
    whole = rf.Bagging(base(), n_models=2, progress=False).fit(data)
    fit, begun = rf.LambdaMART.fit, []

    def interrupting(self, *given, callbacks=(), **more):
        begun.append(self)
        if len(begun) == in_model:
            callbacks = [lambda _: os.kill(os.getpid(), signal.SIGINT), *callbacks]
        return fit(self, *given, callbacks=callbacks, **more)

    monkeypatch.setattr(rf.LambdaMART, "fit", interrupting)
    cut = rf.Bagging(base(), n_models=2, progress=False)
    with pytest.warns(TrainingWarning, match=f"interrupted after {in_model - 1} of 2 models"):
        cut.fit(data, checkpoint=path)
    assert path.exists() == (in_model == 2)
    again = rf.Bagging(base(), n_models=2, progress=False).fit(data, checkpoint=path)
    assert not again.interrupted_
    assert to_bytes(again.model_) == to_bytes(whole.model_)
