"""A refit learns from all data what the earlier fit found best, and says so."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf
from rankforce import errors
from rankforce.models.storage import document_of


@pytest.fixture(scope="module")
def parts():
    data = rf.make_artificial(queries=60, documents=(4, 9), features=5, seed=2, clicks=True)
    return data.split(0.6, 0.4, seed=1)


def trees(**settings):
    usual = {"n_trees": 40, "n_leaves": 4, "min_documents": 5, "early_stopping": 5, "progress": False}
    return rf.LambdaMART(**(usual | settings))


def contents(ranker):
    return document_of(ranker.model_)["contents"]


def same(a, b):
    return all(np.array_equal(a[key], b[key]) if isinstance(a[key], np.ndarray) else a[key] == b[key] for key in a)


def test_a_refit_is_a_fit_of_as_many_trees_on_both(parts):
    train, validation = parts
    stopped = trees().fit(train, validation=validation)
    assert stopped.best_iteration_ < 40
    before = contents(stopped)
    final = stopped.refit(train, validation)
    by_hand = trees(n_trees=stopped.best_iteration_, early_stopping=None).fit(rf.Dataset.concat(parts))
    assert same(contents(final), contents(by_hand))
    assert final is not stopped
    assert same(contents(stopped), before)
    assert final.best_iteration_ == final.model_.n_trees == stopped.best_iteration_


def test_the_provenance_says_so_also_in_the_file(parts, tmp_path):
    train, validation = parts
    stopped = trees().fit(train, validation=validation)
    final = stopped.refit(train, validation)
    final.save(tmp_path / "model.json")
    note = rf.load(tmp_path / "model.json").provenance.settings["refit"]
    assert note["iterations"] == stopped.best_iteration_
    assert note["data_fingerprint"] == train.fingerprint
    assert note["history"]["validation"] == stopped.history_["validation"][stopped.best_iteration_ - 1]
    assert final.model_.provenance.data_fingerprint == rf.Dataset.concat(parts).fingerprint
    assert "refit" not in final.fit(train).model_.provenance.settings  # what comes later is another training


def test_trees_in_proportion_to_the_documents(parts):
    train, validation = parts
    stopped = trees().fit(train, validation=validation)
    final = stopped.refit(train, validation, scaled=True)
    factor = (train.n_documents + validation.n_documents) / train.n_documents
    assert final.model_.n_trees == int(np.ceil(stopped.best_iteration_ * factor))
    with pytest.raises(rf.DataError, match="first data set must be the one"):
        stopped.refit(validation, train, scaled=True)


def test_what_was_left_open_stays_as_it_was_settled(parts, monkeypatch):
    train, validation = parts
    monkeypatch.setattr("rankforce.boosting.boosted_trees.FEW_DOCUMENTS", train.n_documents + 1)
    stopped = trees().fit(train, validation=validation)
    assert stopped.settled_["growth"] == "symmetric"
    assert stopped.refit(train, validation).settled_["growth"] == "symmetric"


@pytest.mark.parametrize(
    "ranker",
    [
        rf.MART(n_trees=6, n_leaves=4, min_documents=5, early_stopping=2),
        rf.LambdaRank(hidden=2, epochs=3, learning_rate=[0.01, 0.001]),
        rf.RankNet(hidden=0, epochs=3, early_stopping=1),
        rf.PRank(epochs=3, early_stopping=1),
        rf.XRank(n_steps=5, early_stopping=2),
        rf.Bagging(rf.MART(n_trees=3, min_documents=5, early_stopping=1), n_models=3, early_stopping=1),
        rf.SPSA(epochs=2, steps=2),
        trees(objective=rf.Graded(["NDCG@5", "NDCG:clicks"], "search"), n_trees=4, early_stopping=2),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_every_ranker_can(parts, ranker):
    train, validation = parts
    first = ranker.unfitted(progress=False).fit(train, validation=validation)
    if first.best_iteration_ == 0:
        pytest.skip("nothing was learned")
    final = first.refit(train, validation)
    assert final.model_.provenance.settings["refit"]["iterations"] == first.best_iteration_
    assert getattr(final, final._steps_name()) == first.best_iteration_
    assert final.early_stopping is None
    assert np.isfinite(final.predict(validation)).all()


def test_data_is_joined_as_validation_data_is_read(parts):
    train, validation = (part.replace(feature_names=list("abcde")) for part in parts)
    stopped = trees(n_trees=3).fit(train, validation=validation)
    turned = validation.take_features(list("edcba"))
    wider = turned.replace(
        features=np.column_stack([turned.features, np.ones(len(turned))]), feature_names=list("edcbaz")
    )
    assert same(contents(stopped.refit(train, wider)), contents(stopped.refit(train, validation)))
    twice = stopped.refit(train, train)  # the same ids again: other queries
    assert twice.model_.provenance.settings["refit"]["iterations"] == stopped.best_iteration_


def test_a_chosen_learning_rate_is_kept(parts):
    train, validation = parts
    first = rf.LambdaRank(hidden=0, epochs=2, learning_rate=[0.1, 1e-5], progress=False).fit(
        train, validation=validation
    )
    assert first.refit(train, validation).learning_rate == first.learning_rate_


def test_what_cannot_be_repeated_is_refused(parts):
    train, validation = parts
    with pytest.raises(errors.NotFittedError):
        trees().refit(train)
    weighed = trees(line_search=2, line_search_on="validation", n_trees=3).fit(train, validation=validation)
    with pytest.raises(rf.SettingsError, match="line_search_on='validation' cannot be repeated"):
        weighed.refit(train, validation)
    paced = rf.LambdaRank(hidden=0, epochs=2, preset="2006", progress=False).fit(train, validation=validation)
    with pytest.raises(rf.SettingsError, match="preset='2006' cannot be repeated"):
        paced.refit(train, validation)
    preferences = rf.Preferences(train, train.rows[:1], train.rows[1:2])
    preferring = trees(n_trees=2, early_stopping=None).fit(train, preferences=preferences)
    with pytest.raises(rf.SettingsError, match="preferences cannot be repeated"):
        preferring.refit(train)
    fitted = trees(n_trees=2, early_stopping=None).fit(train)
    for wrong in ((), (3,), (train, train.take_features([0]))):
        with pytest.raises(rf.DataError):
            fitted.refit(*wrong)
    with pytest.raises(rf.SettingsError, match="scaled"):
        fitted.refit(train, scaled=2)
