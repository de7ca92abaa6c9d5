"""Objectives in TOML, and the mappings that model files hold."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankforce as rf
from rankforce.objectives.objective import as_objective

GRADED = """
[[tier]]
measure = "NDCG"
weight = 0.8
lambda_function = "RankNetWeightPairs(sigma=2)"

[[tier]]
measure = "CNDCG:clicks"
weight = 0.2
rule = "all"
zeros = true
pairs = "top 10"
"""

CHANGING = """
schedule = { kind = "exponential", start = 0.1, rate = 100 }
first = "NDCG"

[[second.tier]]
measure = "NDCG"
lambda_function = "SigmoidCost(mu=1.5)"

[[second.tier]]
measure = "CNDCG:clicks"
"""


def written(folder, text):
    path = folder / "objective.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_graded(tmp_path):
    clicks = rf.Term("CNDCG:clicks", rule="all", zeros=True, pairs=("top", 10))
    wanted = rf.Graded([rf.Term("NDCG", rf.lambdas.RankNetWeightPairs(2.0)), clicks], [0.8, 0.2])
    assert rf.read_objective(written(tmp_path, GRADED)) == wanted


def test_changing(tmp_path):
    second = rf.Graded([rf.Term("NDCG", rf.lambdas.SigmoidCost(mu=1.5)), "CNDCG:clicks"])
    wanted = rf.Scheduled("NDCG", second, rf.schedules.Exponential(0.1, 100.0))
    assert rf.read_objective(written(tmp_path, CHANGING)) == wanted


@pytest.mark.parametrize(
    "objective",
    [
        rf.Graded(["NDCG@10", rf.Term("CNDCG:clicks", zeros=True), "MAP:fresh"], [5, 3, 2]),
        rf.Graded(["NDCG", "CNDCG:clicks"], "search"),
        rf.Scheduled(rf.Graded(["NDCG", "MRR"]), [rf.Term("NDCG", share=2.0), "MAP"], rf.schedules.Linear(0.0, 0.5)),
        rf.Graded([rf.Scheduled("NDCG", "NDCG@3", [0.0, 0.1]), "CNDCG:clicks"]).settled(5, rf.lambdas.NearPairs(0.5)),
    ],
    ids=["three tiers", "search", "scheduled", "graded and changing"],
)
def test_the_written_form_is_read_back(objective):
    form = json.loads(json.dumps(objective.written()))
    assert rf.read_objective(form) == objective


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("measure = ", "not TOML"),
        ("meassure = 'NDCG'", "did you mean measure"),
        ("lambda_function = 'NearPairs'", "needs 'measure'"),
        ("measure = 'NDCG'\ncost = 'NearPairs'", "has no 'cost': that is lambda_function here. It has: measure"),
        ("measure = 'NDGC'", "did you mean"),
        ("[[tier]]\nmeasure = 'NDCG'\nweight = 1\n[[tier]]\nmeasure = 'MAP'", "tier 2 of the objective has no weight"),
        ("tier = 3", "must be a list of tables"),
        ("weights = 3\n[[tier]]\nmeasure = 'NDCG'\n[[tier]]\nmeasure = 'MAP'", "list of 2 numbers"),
        ("first = 'NDCG'\nsecond = 'MAP'\nschedule = {values = 3}", "list of shares"),
        ("first = 'NDCG'\nsecond = 'MAP'\nschedule = {kind = 'linear', start = 0.1, rate = 'a'}", "made of numbers"),
        ("first = 'NDCG'\nsecond = 'MAP'", "needs 'schedule'"),
        ("first = 'NDCG'\nsecond = 3\nschedule = [0, 1]", "second of the objective must be a table"),
        ("measure = 'NDCG'\nlambda_function = 'NearPairs(sgima=1)'", "has no parameter .sgima. .it has: "),
        ("measure = 'NDCG'\nlambda_function = 'NearPairs(sigma=-1)'", "sigma must be positive"),
        ("measure = 'NDCG'\nlambda_function = 'import os'", "cannot read the λ-function"),
        ("weights = 'search'\n[[tier]]\nmeasure = 'NDCG'\nweight = 1\n[[tier]]\nmeasure = 'MAP'", "not both"),
    ],
)
def test_mistakes_name_the_file_and_the_place(tmp_path, text, words):
    path = written(tmp_path, text)
    with pytest.raises(rf.RankforceError, match=words) as caught:
        rf.read_objective(path)
    assert "objective.toml" in str(caught.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(rf.FileFormatError, match="cannot be read"):
        rf.read_objective(tmp_path / "none.toml")


def test_labels_that_pairs_must_be_tied_in(tmp_path):
    term = rf.Term("NDCG:clicks", earlier=("grades", "fresh"))
    form = json.loads(json.dumps(as_objective(term).written()))
    assert form == {"measure": "NDCG:clicks", "earlier": ["grades", "fresh"]}
    assert rf.read_objective(form) == as_objective(term)
    text = 'measure = "NDCG:clicks"\nearlier = ["grades", "fresh"]\n'
    assert rf.read_objective(written(tmp_path, text)) == as_objective(term)
    with pytest.raises(rf.SettingsError, match="earlier of NDCG:clicks must be"):
        rf.read_objective(written(tmp_path, 'measure = "NDCG:clicks"\nearlier = "grades"\n'))
    graded = rf.Graded(["NDCG", rf.Term("CNDCG:clicks", earlier=("fresh",))], [0.5, 0.5])
    assert rf.read_objective(graded.written()) == graded


def test_a_saved_model_pulls_as_its_ranker(tmp_path):
    rng = np.random.default_rng(0)
    data = rf.Dataset(
        rng.normal(size=(240, 3)),
        rng.integers(0, 3, 240),
        np.repeat(np.arange(30), 8),
        labels={"clicks": rng.random(240)},
    )
    term = rf.Term("NDCG:clicks", earlier=("grades",))
    ranker = rf.LambdaMART(objective=term, n_trees=3, n_leaves=4, min_documents=3, progress=False).fit(data)
    ranker.save(tmp_path / "model.json")
    forces = rf.forces_at(data, ranker).forces
    assert forces.any()
    assert np.array_equal(rf.forces_at(data, rf.load(tmp_path / "model.json")).forces, forces)
