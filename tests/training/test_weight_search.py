"""Weights chosen on validation data."""

from __future__ import annotations

import dataclasses
import os
import signal
import sys

import numpy as np
import pytest

import rankforce as rf
from rankforce.training.monitoring import TrainingWarning


@pytest.fixture(scope="module")
def parts():
    """Grades follow some features; clicks follow another one that says nothing of the grades."""
    made = rf.make_artificial(160, documents=15, features=6, seed=0)
    generator = np.random.default_rng(0)
    random = generator.random(made.n_documents)
    features = made.features.copy()
    features[:, 5] = random + 0.1 * generator.normal(size=len(random))  # the clicks themselves would be a leak
    data = made.replace(features=features).with_label("clicks", 0.05 + 0.9 * random)
    return data.split(0.5, 0.5, seed=1)


def trees(objective, **settings):
    small = {"n_leaves": 6, "min_documents": 5, "learning_rate": 0.3, "progress": False, "n_trees": 15}
    return rf.LambdaMART(objective=objective, **(small | settings))


def net(objective, **settings):
    small = {"hidden": 0, "learning_rate": 0.03, "progress": False, "epochs": 10}
    return rf.LambdaRank(objective=objective, **(small | settings))


SHORT = {trees: {"n_trees": 5}, net: {"epochs": 3}}


@pytest.fixture(params=[trees, net])
def ranker(request):
    return request.param


def test_the_later_measure_rises_and_the_earlier_one_is_not_significantly_worse(parts, ranker):
    train, held_out = parts
    graded = rf.Graded(["NDCG@5", "CNDCG@5:clicks"], "search")
    found = rf.search_weights(ranker(graded), train, held_out, shares=(0.1, 0.3, 0.9))
    without, *others = found.candidates
    assert [one.weights[1] for one in found.candidates] == [0.0, 0.1, 0.3, 0.9]
    chosen = next(one for one in others if one.weights == found.weights)
    assert chosen.allowed
    assert chosen.means[1] > without.means[1]
    assert chosen.means[1] == max(one.means[1] for one in found.candidates if one.allowed)
    for one in others:
        assert one.allowed == (one.p_values[0] >= 0.05 or one.means[0] >= without.means[0])
    assert "chosen" in str(found)
    assert len(found.to_pandas()) == 4
    again = rf.search_weights(ranker(graded), train, held_out, shares=(0.1, 0.3, 0.9))
    assert again == found


def test_fit_searches_prints_the_frontier_and_keeps_it(parts, ranker, tmp_path, capsys):
    train, held_out = parts
    graded = rf.Graded(["NDCG@5", "CNDCG@5:clicks"], "search")
    short = SHORT[ranker]
    searched = ranker(graded, **short, progress=True).fit(train, validation=held_out, checkpoint=tmp_path / "kept")
    assert "weights" in capsys.readouterr().err
    weights = searched.frontier_.weights
    direct = ranker(graded.with_weights(weights), **short).fit(train, validation=held_out)
    assert np.array_equal(searched.predict(held_out), direct.predict(held_out))
    kept = searched.model_.provenance.settings
    assert tuple(tier["weight"] for tier in kept["objective"]["tier"]) == weights
    assert len(kept["weight_search"]["candidates"]) == len(searched.frontier_.candidates) == 8
    tried = {one.weights[1] for one in searched.frontier_.candidates}
    assert tried >= {0.01, 0.1, 0.2, 0.3, 0.4, 0.5}  # the sweep of the multiple-objectives paper
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_longer_training_goes_on_while_the_search_finds_the_same_weights(parts, ranker, tmp_path, monkeypatch):
    train, held_out = parts
    graded = rf.Graded(["NDCG@5", "CNDCG@5:clicks"], "search")
    length = next(iter(SHORT[ranker]))
    path = tmp_path / "kept"
    found = rf.search_weights(ranker(graded, **{length: 3}), train, held_out, shares=(0.1, 0.3))

    def searched(weights):
        monkeypatch.setattr(
            "rankforce.training.maximising.search_weights",
            lambda *given, **also: dataclasses.replace(found, candidates=found.candidates[:1], weights=weights),
        )

    searched((0.75, 0.25))
    ranker(graded, **{length: 3}).fit(train, validation=held_out, checkpoint=path)
    longer = ranker(graded, **{length: 5}).fit(train, validation=held_out, checkpoint=path)
    direct = ranker(graded.with_weights((0.75, 0.25)), **{length: 5}).fit(train, validation=held_out)
    assert np.array_equal(longer.predict(held_out), direct.predict(held_out))
    searched((0.5, 0.5))
    with pytest.raises(rf.SettingsError, match=r"found \[0.75, 0.25\] and now.*weights=\[0.75") as no:
        ranker(graded, **{length: 7}).fit(train, validation=held_out, checkpoint=path)
    assert "objective was" not in str(no.value)
    given = ranker(graded.with_weights((0.75, 0.25)), **{length: 7})
    assert len(given.fit(train, validation=held_out, checkpoint=path).history_["train"]) == 7


class PowerCut(Exception):
    pass


def test_a_search_that_was_cut_goes_on_and_finds_the_same(parts, ranker, tmp_path, monkeypatch):
    train, held_out = parts
    graded = rf.Graded(["NDCG@5", "CNDCG@5:clicks"], "search")
    path = tmp_path / "kept"
    fit, trained = type(ranker(graded)).fit, []

    def counted(self, *given, **also):
        def count(told):
            trained.append(told.number)
            if len(trained) == cut:
                raise PowerCut

        return fit(self, *given, **also, callbacks=[count], checkpoint_every=1)

    monkeypatch.setattr(type(ranker(graded)), "fit", counted)
    cut, steps = 8, next(iter(SHORT[ranker].values()))
    with pytest.raises(PowerCut):
        rf.search_weights(ranker(graded, **SHORT[ranker]), train, held_out, shares=(0.1, 0.3), checkpoint=path)
    cut = None
    again = rf.search_weights(ranker(graded, **SHORT[ranker]), train, held_out, shares=(0.1, 0.3), checkpoint=path)
    assert len(trained) == 3 * steps + 1  # the step that was cut was not kept
    assert again == rf.search_weights(ranker(graded, **SHORT[ranker]), train, held_out, shares=(0.1, 0.3))


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_the_search_with_the_best_so_far(parts, ranker, monkeypatch, capsys):
    train, held_out = parts
    graded = rf.Graded(["NDCG@5", "CNDCG@5:clicks"], "search")
    kind, steps = type(ranker(graded)), next(iter(SHORT[ranker].values()))
    fit, trained = kind.fit, []

    def counted(self, *given, **also):
        fitted = fit(self, *given, **also, callbacks=[interrupt])
        trained.append(len(fitted.history_["train"]))
        return fitted

    def interrupt(told):
        if len(trained) == 1 and told.number == 2:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(kind, "fit", counted)
    with pytest.warns(TrainingWarning, match="interrupted after 2 of 4 trainings of the search for weights"):
        found = rf.search_weights(ranker(graded, **SHORT[ranker]), train, held_out, shares=(0.1, 0.3, 0.5))
    assert trained == [steps, steps]  # the training under way is not cut short: its value would be no value
    assert [one.weights[1] for one in found.candidates] == [0.0, 0.1]
    assert found.weights in [one.weights for one in found.candidates]
    assert "stopping after this training" in capsys.readouterr().err
    assert "interrupted after 2 of 4" in str(found)
    assert found.to_dict()["interrupted"] == found.interrupted


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_model_with_weights_of_an_interrupted_search_says_so(parts, ranker, monkeypatch):
    train, held_out = parts
    graded = rf.Graded(["NDCG@5", "CNDCG@5:clicks"], "search")
    searching = ranker(graded, **SHORT[ranker])
    fit, begun = type(searching).fit, []

    def interrupted(self, *given, **also):
        begun.append(self)
        if len(begun) == 2:  # after itself, the first candidate
            os.kill(os.getpid(), signal.SIGINT)
        return fit(self, *given, **also)

    monkeypatch.setattr(type(searching), "fit", interrupted)
    with pytest.warns(TrainingWarning, match="interrupted after 1 of 8 trainings of the search"):
        searching.fit(train, validation=held_out)
    steps = next(iter(SHORT[ranker].values()))
    assert len(searching.history_["validation"] if "validation" in searching.history_ else steps * [0]) == steps
    assert searching.interrupted_
    assert searching.model_.provenance.interrupted == "after 1 of 8 trainings of the search for weights"


def test_three_tiers_in_order(parts):
    noise = np.random.default_rng(1).normal(size=parts[0].n_documents + 1000)
    train, held_out = (
        part.with_label("fresh", (part.features[:, 4] > noise[: part.n_documents]).astype(float)).with_label(
            "clicks", np.ceil(4 * part.labels["clicks"]) / 4
        )
        for part in parts
    )
    graded = rf.Graded(["NDCG@5", "CNDCG@5:clicks", "NDCG@5:fresh"], "search")
    found = rf.search_weights(trees(graded, n_trees=6), train, held_out, shares=(0.2,))
    first, second, third = found.candidates
    assert (first.weights, second.weights) == ((1.0, 0.0, 0.0), (0.8, 0.2, 0.0))
    before = second.weights if second.allowed and second.means[1] > first.means[1] else first.weights
    assert third.weights == pytest.approx([0.8 * before[0], 0.8 * before[1], 0.2])
    assert len(third.p_values) == 2


def test_what_it_needs(parts, ranker):
    train, held_out = parts
    with pytest.raises(rf.SettingsError, match="validation data"):
        ranker(rf.Graded(["NDCG", "CNDCG:clicks"], "search")).fit(train)
    with pytest.raises(rf.SettingsError, match="graded objective"):
        rf.search_weights(ranker("NDCG"), train, held_out)
    graded = ranker(rf.Graded(["NDCG", "CNDCG:clicks"], "search"))
    with pytest.raises(rf.SettingsError, match="graded objective"):
        rf.search_weights(rf.MART(), train, held_out)
    shares = ((0.0, 0.1), "a", 0.5, ["a"], [None], [True])
    for wrong in (*({"shares": one} for one in shares), *({"alpha": one} for one in (1.5, "x", None, np.nan))):
        with pytest.raises(rf.SettingsError, match="between 0 and 1"):
            rf.search_weights(graded, train, held_out, **wrong)
