"""``rankforce inspect MODEL DATA``: drift, its exit code, and the warning of ``rankforce score``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rankforce as rf


@pytest.fixture
def files(tmp_path: Path) -> Path:
    data = rf.make_artificial(queries=160, documents=8, features=4, seed=0)
    train, validation, new = data.split(0.5, 0.25, 0.25, seed=1)
    features = new.features.copy()
    features[:, 1:3] += 3.0
    for name, part in (("train", train), ("valid", validation), ("new", new)):
        part.write(tmp_path / f"{name}.txt")
    new.replace(features=features).write(tmp_path / "moved.txt")
    settings: dict[str, Any] = {"n_leaves": 6, "min_documents": 4, "progress": False}
    ranker = rf.LambdaMART(n_trees=8, **settings).fit(train, validation=validation)
    ranker.save(tmp_path / "model.json")
    rf.LambdaMART(n_trees=1, **settings).fit(train).save(tmp_path / "old.json")
    ranker.model_.without_known_data().save(tmp_path / "bare.json")
    return tmp_path


def test_drift_beside_card_and_report(run: Any, files: Path) -> None:
    outcome = run("inspect", files / "model.json", files / "new.txt", "--former", files / "old.json")
    assert outcome.code == 0, outcome.err
    assert "new.txt, against the training data of the model" in outcome.out
    assert "STEADY: 320 new documents of 40 queries against 80 queries of the training" in outcome.out
    assert "of the pairs of a query are ordered differently" in outcome.out
    found = json.loads(run("inspect", files / "model.json", files / "moved.txt", "--json").out)
    (drift,) = found["drift"].values()
    assert drift["verdict"] == "drifted"
    assert drift == json.loads(
        json.dumps(rf.drift(rf.load(files / "model.json"), rf.read(files / "moved.txt")).to_dict())
    )
    assert json.loads(run("inspect", files / "new.txt", "--json").out)["drift"] == {}


def test_a_pipeline_can_fail_on_it(run: Any, files: Path) -> None:
    for name, level, code in (("new", "shifted", 0), ("moved", "drifted", 1), ("moved", "shifted", 1)):
        assert run("inspect", files / "model.json", files / f"{name}.txt", "--fail-on", level).code == code
    assert run("inspect", files / "model.json", files / "moved.txt").code == 0
    both = run("inspect", files / "model.json", files / "new.txt", files / "moved.txt", "--fail-on", "drifted")
    assert both.code == 1


def test_training_data_in_place_of_memory(run: Any, files: Path) -> None:
    without = run("inspect", files / "bare.json", files / "new.txt")
    assert without.code == 0
    assert "drift cannot be told: the model keeps no distribution" in without.err
    assert "--train" in without.err
    refused = run("inspect", files / "bare.json", files / "new.txt", "--fail-on", "drifted")
    assert (refused.code, "--train" in refused.err) == (2, True)
    given = ("--train", files / "train.txt", "--held-out", files / "valid.txt")
    one, other = (
        json.loads(run("inspect", files / name, files / "new.txt", *options, "--json").out)["drift"]
        for name, options in (("model.json", ()), ("bare.json", given))
    )
    assert one == other


def test_what_is_about_drift_needs_a_model_and_data(run: Any, files: Path) -> None:
    for arguments in (("new.txt",), ("model.json",), ("model.json", "old.json", "new.txt")):
        outcome = run("inspect", *(files / name for name in arguments), "--fail-on", "drifted")
        assert outcome.code == 2
        assert "--fail-on is about drift: name one model" in outcome.err


def test_score_warns_in_one_line(run: Any, files: Path) -> None:
    quiet = run("score", files / "model.json", files / "new.txt", "-o", files / "out.csv")
    assert quiet.err == ""
    outcome = run("score", files / "model.json", files / "moved.txt", "-o", files / "out.csv")
    assert outcome.code == 0
    assert outcome.err.count("\n") == 1
    assert "of what the model looks at is beyond what it saw in training" in outcome.err
    assert "rankforce inspect" in outcome.err
