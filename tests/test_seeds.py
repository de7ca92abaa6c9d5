"""Seeds: everything public that takes one checks it by one rule, before any work."""

from __future__ import annotations

import importlib
import inspect

import numpy as np
import pytest

import rankforce as rf
from rankforce.rankers.catalogue import ranker_classes

IMPOSSIBLE = (-1, 2**64, 99999999999999999999999, 1.5, "a", None, True, np.float64(1.0))

CALLS = {
    "make_artificial": lambda data, seed: rf.make_artificial(queries=3, documents=4, features=2, seed=seed),
    "make_web_like": lambda data, seed: rf.make_web_like(queries=3, features=6, seed=seed),
    "simulate_clicks": lambda data, seed: rf.simulate_clicks(data, "1", seed=seed),
    "estimate_propensities": lambda data, seed: rf.estimate_propensities("nowhere.csv", seed=seed),
    "confuse_labels": lambda data, seed: rf.confuse_labels(data, np.eye(5), seed=seed),
    "evaluate": lambda data, seed: rf.evaluate("1", data, seed=seed),
    "off_policy": lambda data, seed: rf.off_policy("log.csv", "1", data, [1.0], seed=seed),
    "compare": lambda data, seed: rf.compare("1", "2", data, seed=seed),
    "combine": lambda data, seed: rf.combine(["1", "2"], data, seed=seed),
    "cross_validate": lambda data, seed: rf.cross_validate(rf.MART(n_trees=1), [(data, data)], seed=seed),
    "tune": lambda data, seed: rf.tune(rf.MART(n_trees=1), data, {"n_leaves": [2, 3]}, seed=seed),
    "spsa": lambda data, seed: rf.optimising.spsa(lambda x: float(x @ x), [1.0], steps=1, seed=seed),
    "check_forces": lambda data, seed: rf.diagnostics.check_forces("RankNet", samples=2, seed=seed),
    "effective_pairs": lambda data, seed: rf.diagnostics.effective_pairs(data, "1", seed=seed),
    "forces_at": lambda data, seed: rf.forces_at(data, "1", seed=seed),
    "explain": lambda data, seed: rf.explain(rf.RankNet(epochs=1, progress=False).fit(data), data, seed=seed),
    "importance": lambda data, seed: rf.importance(rf.RankNet(epochs=1, progress=False).fit(data), data, seed=seed),
    "report": lambda data, seed: rf.report(rf.RankNet(epochs=1, progress=False).fit(data), data, path=None, seed=seed),
    "local_optimality": lambda data, seed: rf.diagnostics.local_optimality(rf.RankNet(), data, seed=seed),
    "smoothness": lambda data, seed: rf.diagnostics.smoothness(rf.RankNet(), data, seed=seed),
}


@pytest.fixture(scope="module")
def data():
    return rf.make_artificial(queries=6, documents=5, features=3, seed=0)


def test_every_public_function_with_a_seed_is_checked_here():
    doors = [rf, *(getattr(rf, name) for name in rf.SUBPACKAGES)]
    named = [(name, getattr(door, name)) for door in doors for name in dir(door)]  # rf.importance, rf.plot.importance
    functions = [(name, value) for name, value in named if inspect.isfunction(value)]
    taking = {name for name, function in functions if "seed" in inspect.signature(function).parameters}
    assert taking == set(CALLS)


@pytest.mark.parametrize("seed", IMPOSSIBLE, ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_functions_refuse_impossible_seeds(data, name, seed):
    with pytest.raises(rf.SettingsError, match="a seed is a whole number"):
        CALLS[name](data, seed)


@pytest.mark.parametrize("seed", IMPOSSIBLE, ids=str)
@pytest.mark.parametrize("name", ranker_classes())
def test_rankers_refuse_impossible_seeds(data, name, seed):
    ranker = rf.Bagging(rf.MART(n_trees=1)) if name == "Bagging" else ranker_classes()[name]()
    with pytest.raises(rf.SettingsError, match="a seed is a whole number"):
        ranker.set_params(seed=seed).fit(data)


@pytest.mark.parametrize("loss", ["RankingLoss", "DatasetLoss"])
@pytest.mark.parametrize("seed", IMPOSSIBLE, ids=str)
def test_losses_refuse_impossible_seeds(data, loss, seed):
    pytest.importorskip("torch")
    losses = importlib.import_module("rankforce.torch")
    with pytest.raises(rf.SettingsError, match="a seed is a whole number"):
        losses.RankingLoss(seed=seed) if loss == "RankingLoss" else losses.DatasetLoss(data, seed=seed)


def test_seeds_of_two_evaluations_are_checked_although_they_decide_nothing(data):
    found = rf.evaluate("1", data)
    with pytest.raises(rf.SettingsError, match="a seed is a whole number"):
        rf.compare(found, found, seed="a")


def test_the_largest_seed_is_one(data):
    largest = 2**64 - 1
    rf.MART(n_trees=1, min_documents=2, progress=False, seed=largest).fit(data)
    drawn = {"query_fraction": 0.5, "feature_fraction": 0.5}
    rf.LambdaMART(n_trees=1, min_documents=2, progress=False, seed=largest, **drawn).fit(data)
    assert rf.evaluate("1", data, seed=largest).bootstrap_interval["NDCG@10"]
    assert rf.diagnostics.check_forces("RankNet", samples=2, seed=largest)
