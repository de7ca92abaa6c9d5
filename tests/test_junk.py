"""Some of the junk that ``tests/soak/test_junk.py`` throws into every argument, at what is quick to call."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.junk import (
    data_targets,
    failures,
    function_targets,
    junk,
    measure_targets,
    objective_targets,
    ranker_targets,
)

import rankforce as rf


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return rf.make_artificial(queries=6, documents=8, features=4, clicks=True, seed=1)


QUICK = (
    *("evaluate", "compare", "inspect", "model_card", "load", "combine", "spsa", "finite_differences", "explain"),
    *("history", "tuning"),
)


def test_a_sample(data, tmp_path):
    targets = [
        *(one for one in ranker_targets(data, tmp_path) if one.name.startswith(("LambdaMART", "PRank"))),
        *data_targets(data, tmp_path),
        *(one for one in function_targets(data, tmp_path) if one.name in QUICK),
    ]
    count, wrong = failures(targets, junk(data), sample=0.02, seed=0)
    assert count > 200
    assert not wrong, "\n".join(map(str, wrong))


def test_measures_and_objectives_are_refused_when_they_are_made(data):
    made = [*measure_targets(data), *objective_targets(data)]
    count, wrong = failures([dataclasses.replace(one, use=lambda given: given) for one in made], junk(data), 0.3, 0)
    assert count > 1000
    assert not wrong, "\n".join(map(str, wrong))


def test_the_fuzz_target_notices_a_foreign_exception(data):
    (target, *_) = measure_targets(data)
    broken = dataclasses.replace(target, function=lambda label: label + 1)
    _, wrong = failures([broken], junk(data), sample=2.0, seed=0)
    assert {type(failure.error) for failure in wrong} >= {TypeError}


@pytest.mark.filterwarnings("ignore:no split")
@pytest.mark.parametrize("form", [{}, {"n_graphs": 3}, {"form": "martingale"}, {"form": "full"}, {"split": "max_ndcg"}])
@pytest.mark.parametrize("measure", ["NDCG", "DCG"])
def test_xrank_with_gains_of_any_size(data, form, measure):
    large = rf.Dataset(data.features, data.labels["grades"] * 200, data.qid)  # gains of 2^800
    ranker = rf.XRank(measure, n_steps=3, min_documents=2, progress=False, **form).fit(large)
    assert np.isfinite(ranker.predict(large)).all()


@pytest.mark.filterwarnings("ignore:no split")
def test_forces_that_are_too_small_to_square(data):
    few = {"n_trees": 2, "n_leaves": 3, "min_documents": 2, "progress": False}
    tiny = rf.Term("NDCG", share=5e-324)
    for ranker in (
        rf.LambdaMART(sigma=1e-30, step="gradient", normalise="none", **few),
        rf.LambdaMART(objective=tiny, step="gradient", normalise="none", **few),
        rf.MART("binary", sigma=1e-30, **few),
        rf.LambdaMART(l2=1e308, **few),
    ):
        assert np.isfinite(ranker.fit(data).predict(data)).all()
    for ranker in (rf.LambdaMART(sigma=5e-324), rf.MART("binary", sigma=5e-324), rf.RankNet(sigma=1e300)):
        with pytest.raises(rf.SettingsError, match="sigma must be a number of at least 1e-30 and at most 1e\\+30"):
            ranker.fit(data)


def test_forces_that_are_too_large_to_square(data):
    with pytest.raises(rf.DataError, match="forces are so large that gains"):
        rf.MART(target=lambda labels: labels * 1e300, n_trees=1, min_documents=2, progress=False).fit(data)


def test_labels_that_add_up_to_infinity_are_named(data):
    huge = rf.Dataset(data.features, np.full(data.n_documents, 1e308), data.qid)
    with pytest.raises(rf.DataError, match="add up beyond all numbers"):
        rf.MART(n_trees=1, progress=False).fit(huge)
