"""What is done about position bias: checked, written, and read again."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankforce as rf
from rankforce.objectives.position_bias import as_position_bias


@pytest.mark.parametrize(
    "bias",
    [
        rf.InversePropensities([1.0, 0.5]),
        rf.InversePropensities([1.0, 0.5], clip=0.2, position="place"),
        rf.JointRatios(),
        rf.JointRatios(norm=0.5, clip=0.1, position="place"),
    ],
    ids=str,
)
def test_written_forms_are_read_again(bias, tmp_path):
    assert as_position_bias(bias.written()) == bias
    term = rf.Term("NDCG:clicks", bias=bias)
    again = rf.read_objective(term.written())
    assert again.terms[0] == term
    assert hash(again.terms[0]) == hash(term)
    assert str(bias) in str(term)


def test_what_bias_is_given_as():
    inverse = rf.InversePropensities([1.0, 0.5])
    for given in ([2, 1], (1.0, 0.5), np.array([1.0, 0.5]), rf.Propensities([1.0, 0.5]), inverse):
        assert rf.Term("NDCG:clicks", bias=given).bias == inverse
    assert rf.Term("NDCG:clicks", bias="joint").bias == rf.JointRatios()
    for given in (
        "inverse",
        3,
        {"joint": 1.0},
        {"norm": 1.0},
        {"propensities": [1.0], "norm": 1.0},
        [],
        [0.0],
        object(),
    ):
        with pytest.raises(rf.RankforceError):
            rf.Term("NDCG:clicks", bias=given)


def test_a_toml_file_names_propensities_or_a_file_of_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rf.Propensities([1.0, 0.4]).write("propensities.json")
    objective = tmp_path / "objective.toml"
    objective.write_text('measure = "NDCG:clicks"\nbias = { file = "propensities.json", clip = 0.1 }\n')
    assert rf.read_objective(objective).terms[0].bias == rf.InversePropensities([1.0, 0.4], clip=0.1)
    objective.write_text('measure = "NDCG:clicks"\nbias = "joint"\n')
    assert rf.read_objective(objective).terms[0].bias == rf.JointRatios()
    objective.write_text('measure = "NDCG:clicks"\nbias = { file = "propensities.json", propensities = [1.0] }\n')
    with pytest.raises(rf.SettingsError, match="from a file, or lists them"):
        rf.read_objective(objective)


def test_impossible_parameters_are_refused():
    for make in (
        lambda: rf.InversePropensities([1.0, math.nan]),
        lambda: rf.InversePropensities([1.0], clip=2.0),
        lambda: rf.InversePropensities([1.0], position=""),
        lambda: rf.JointRatios(norm=-1.0),
        lambda: rf.JointRatios(clip=0.0),
        lambda: rf.Term("NDCG:clicks", bias="joint", zeros=False),
        lambda: rf.Term("NDCG:clicks", "FiniteDifference", pairs="all", bias="joint"),
    ):
        with pytest.raises(rf.RankforceError):
            make()


def test_clips_bound_weights_and_ratios():
    assert rf.InversePropensities([1.0, 0.001], clip=0.05).click_weights().tolist() == [1.0, 20.0]
    costs = np.array([[0.0, 4.0], [1e-9, 0.0]])
    clicked, unclicked = rf.JointRatios(norm=0.0, clip=0.1).ratios(costs)
    assert min(*clicked, *unclicked) >= 0.1
    assert rf.JointRatios().ratios(np.zeros((3, 3)))[0].tolist() == [1.0, 1.0, 1.0]


def test_zeros_of_click_measures_pair_where_bias_is_weighed_out():
    tiers = rf.Graded(["NDCG", rf.Term("CNDCG:clicks", bias="joint")])
    assert tiers.terms[1].zeros is True
    assert rf.Graded(["NDCG", "CNDCG:clicks"]).terms[1].zeros is False
