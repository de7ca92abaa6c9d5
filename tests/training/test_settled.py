"""What settings that were left open became is shown: ``settled_``, and a line of the progress output."""

from __future__ import annotations

import pytest

import rankforce as rf


@pytest.fixture(scope="module")
def data():
    return rf.make_artificial(queries=30, documents=10, features=4, seed=0)


def settled(ranker, data, **inputs):
    return ranker.fit(data, **inputs).settled_


def test_trees(data):
    quick = {"n_trees": 2, "min_documents": 3, "progress": False}
    assert settled(rf.LambdaMART(**quick), data) == {
        "growth": "symmetric",
        "split": "newton",
        "step": "newton",
        "max_step": 10.0,
        "normalise": "log",
        "anchor": 1.0,
        "lambda_function": str(rf.lambdas.NearPairs(1.0)),
        "watched": "NDCG",
    }
    published = settled(rf.LambdaMART("MAP", preset="2011", **quick), data)
    assert published["growth"] == "leafwise"
    assert published["split"] == "least_squares"
    assert published["step"] == "gradient"
    assert published["normalise"] == "deviation"
    assert published["anchor"] == 0.0
    assert published["lambda_function"] == str(rf.lambdas.RankNetWeightPairs(1.0))
    assert published["watched"] == "MAP"
    assert settled(rf.MART(**quick), data) == {"growth": "symmetric", "split": "least_squares", "watched": "NDCG"}


def test_nets(data):
    shown = settled(rf.LambdaRank(epochs=2, progress=False), data)
    assert shown == {
        "scaling": "standard",
        "optimiser": "adam",
        "epochs": 2,
        "learning_rate": 0.003,
        "lambda_function": str(rf.lambdas.RankNetWeightPairs(1.0)),
        "watched": "NDCG",
    }


def test_spsa_knows_neither_optimiser_nor_forces(data):
    shown = settled(rf.SPSA(epochs=2, learning_rate=[0.1, 0.01], progress=False), data, validation=data)
    assert shown == {"scaling": "standard", "epochs": 2, "learning_rate": [0.1, 0.01], "watched": "NDCG"}


def test_preferences_are_what_is_watched(data):
    starts = data.query_starts[:-1]
    preferences = rf.Preferences(data.replace(labels={}), data.rows[starts], data.rows[starts + 1])
    ranker = rf.LambdaMART(n_trees=2, min_documents=3, progress=False)
    assert settled(ranker, preferences.data, preferences=preferences)["watched"] == "preference agreement"


def test_a_long_training_says_it_before_its_first_line(data, monkeypatch, capsys):
    monkeypatch.setattr("rankforce.console.progress.SECONDS_BETWEEN_LINES", 0.0)
    rf.LambdaMART(n_trees=4, min_documents=3).fit(data)
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("LambdaMART: ")]
    assert lines[0].startswith("LambdaMART: growth=symmetric, split=newton, step=newton")
    assert "2/4 trees" in lines[1]
    assert sum("growth=" in line for line in lines) == 1


def test_a_short_one_says_nothing(data, capsys):
    rf.LambdaMART(n_trees=4, min_documents=3).fit(data)
    assert "growth=" not in capsys.readouterr().err
