"""Several rankings at once: the same numbers as pair by pair, one correction for all of them."""

from __future__ import annotations

import itertools
import json
import pickle

import numpy as np
import pytest
from scipy import stats

import rankforce as rf
from rankforce.evaluation.leaderboard import MOST_RANKINGS


@pytest.fixture(scope="module")
def data():
    return rf.make_artificial(queries=60, documents=12, features=5, seed=3)


@pytest.fixture(scope="module")
def rankings(data):
    rng = np.random.default_rng(0)
    grades = data.label()
    return {
        "noise": rng.normal(size=len(grades)),
        "weak": grades + rng.normal(scale=3.0, size=len(grades)),
        "strong": grades + rng.normal(scale=0.5, size=len(grades)),
        "strong too": grades + rng.normal(scale=0.5, size=len(grades)),
    }


def test_every_pair_and_measure_is_tested_and_corrected_together(data, rankings):
    board = rf.compare(rankings, data, ["NDCG@5", "MAP"])
    values = {name: rf.evaluate(scores, data, ["NDCG@5", "MAP"]).per_query for name, scores in rankings.items()}
    p_values = {
        (measure, a, b): stats.ttest_rel(values[b][measure], values[a][measure]).pvalue
        for measure in ("NDCG@5", "MAP")
        for a, b in itertools.combinations(rankings, 2)
    }
    assert len(board.pairs) == 12
    steps = sorted(p_values, key=p_values.get)
    corrected, largest = {}, 0.0
    for step, key in enumerate(steps):
        largest = max(largest, min(1.0, (12 - step) * p_values[key]))
        corrected[key] = largest
    for pair in board.pairs:
        key = pair.measure, pair.a, pair.b
        assert pair.p_value == pytest.approx(p_values[key])
        assert pair.holm == pytest.approx(corrected[key])
    assert set(board.better_than("strong")) == {"noise", "weak"}
    assert board.better_than("strong", "MAP") == ("noise", "weak")
    assert board.better_than("noise") == ()


def test_letters_bold_and_policies_stand_in_the_table(data, rankings):
    board = rf.compare(rankings, data, "NDCG@5")
    text = str(board)
    means = {name: one.mean["NDCG@5"] for name, one in board.evaluations.items()}
    best = max(means, key=means.get)
    row = next(line for line in text.split("\n") if line.startswith("c  strong "))
    assert row.split() == ["c", "strong", f"{means['strong']:.4f}", "ab"]
    assert "corrected for 6 tests" in text
    assert "ties: stable" in text
    assert f"\\textbf{{{means[best]:.4f}}}" in board.to_latex()
    assert board.to_pandas().loc["weak", "NDCG@5"] == means["weak"]
    assert json.loads(json.dumps(board.to_dict()))["better_than"]["NDCG@5"]["weak"] == ["noise"]
    assert str(pickle.loads(pickle.dumps(board))) == text


def test_two_of_them_are_compared_as_ever(data, rankings):
    board = rf.compare(rankings, data, "NDCG@5")
    alone = rf.compare(rankings["noise"], rankings["weak"], data, "NDCG@5", names=("noise", "weak"))
    assert str(board.comparison("noise", "weak")) == str(alone)
    assert board.comparison("weak", "noise").difference["NDCG@5"] == -alone.difference["NDCG@5"]


def test_evaluations_and_cross_validations_are_taken_as_they_are(data, rankings):
    validated = rf.cross_validate(rf.LambdaMART(n_trees=3, progress=False), data, "NDCG@5", folds=2, progress=False)
    evaluation = rf.evaluate(rankings["weak"], data, "NDCG@5")
    board = rf.compare({"weak": evaluation, "ours": validated})
    assert board.evaluations["ours"] is validated.evaluation
    assert rf.compare(evaluation, validated).b is validated.evaluation


def test_runs_by_name_and_a_run_alone_are_told_apart():
    qrels = {"q": {"a": 1, "b": 0}, "r": {"c": 1, "d": 0}}
    right = {"q": {"a": 2.0, "b": 1.0}, "r": {"c": 2.0, "d": 1.0}}
    wrong = {"q": {"a": 1.0, "b": 2.0}, "r": {"c": 1.0, "d": 2.0}}
    board = rf.compare({"right": right, "wrong": wrong}, qrels, "MRR")
    pair = rf.compare(wrong, right, qrels, "MRR")
    assert [one.mean["MRR"] for one in board.evaluations.values()] == [1.0, 0.5]
    assert pair.difference["MRR"] == 0.5


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ({"a": "1"}, {}, "2 to 26 rankings"),
        ({str(k): "1" for k in range(MOST_RANKINGS + 1)}, {}, "2 to 26 rankings"),
        ({"": "1", "b": "2"}, {}, "needs a name"),
        ({1: "1", 2: "2"}, {}, "needs a name"),
        ({"difference": "1", "b": "2"}, {}, "needs a name"),
        ({"a": "1", "b": "2"}, {"graded": True}, "no verdict by tiers"),
        ({"a": "1", "b": "2"}, {"names": ("x", "y")}, "no verdict by tiers"),
    ],
)
def test_refusals(data, given, options, message):
    with pytest.raises(rf.SettingsError, match=message):
        rf.compare(given, data, "NDCG@5", **options)


def test_refusals_of_names(data, rankings):
    board = rf.compare(rankings, data)
    with pytest.raises(rf.SettingsError, match="there is no ranking 'x'"):
        board.comparison("x", "weak")
    with pytest.raises(rf.SettingsError, match="compared with itself"):
        board.comparison("weak", "weak")
    with pytest.raises(rf.SettingsError, match="give the data"):
        rf.compare(rankings)
    with pytest.raises(rf.SettingsError, match="not some of each"):
        rf.compare({"a": rf.evaluate("1", data), "b": "1"}, data)
    with pytest.raises(rf.SettingsError, match="leave data out"):
        rf.compare({"a": rf.evaluate("1", data), "b": rf.evaluate("2", data)}, data)
