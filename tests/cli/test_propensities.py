"""``rankforce propensities``, ``rankforce sessions`` and training on what they write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf


@pytest.fixture
def log(tmp_path: Path) -> Path:
    data = rf.make_artificial(queries=40, documents=6, features=4, seed=1, shares=(0.3, 0.3, 0.4))
    simulated = rf.simulate_clicks(data, "1", 20, positions=3, exchange="shuffle", seed=1)
    simulated.write(tmp_path / "log.csv")
    simulated.data.write(tmp_path / "data.csv")
    return tmp_path / "log.csv"


def test_propensities_are_told_written_and_used(run: Any, log: Path, tmp_path: Path) -> None:
    out = tmp_path / "propensities.json"
    told = run("propensities", log, "--out", out, "--resamples", 20)
    assert told.code == 0, told.err
    assert "Propensities (harvest)" in told.out
    assert "rich enough" in told.out
    assert f"{out}: 3 positions" in told.out
    written = rf.Propensities.read(out)
    assert written.to_dict() == rf.estimate_propensities(log, resamples=20).to_dict()
    assert run("propensities", log, "--out", out).code == 2
    as_json = json.loads(run("propensities", log, "--method", "em", "--positions", 2, "--resamples", 0, "--json").out)
    assert (as_json["method"], len(as_json["propensities"])) == ("em", 2)
    table = tmp_path / "labels.csv"
    assert run("clicks", log, "--rate", "click", "--propensities", out, "--table", table).code == 0
    assert table.read_text().startswith('"query","document","impressions","clicks","last_clicks","looks"')
    refused = run("clicks", log, "--propensities", out)
    assert refused.code == 2
    assert "--rate click" in refused.err


def test_lists_are_written_and_trained_on(run: Any, log: Path, tmp_path: Path) -> None:
    lists, model = tmp_path / "lists.csv", tmp_path / "model.json"
    told = run("sessions", log, "--data", tmp_path / "data.csv", "--out", lists)
    assert told.code == 0, told.err
    data = rf.read(lists)
    direct = rf.click_sessions(log, rf.read(tmp_path / "data.csv"))
    assert data.label("clicks").tolist() == direct.label("clicks").tolist()
    assert data.label("position").tolist() == direct.label("position").tolist()
    assert f"{data.n_queries:,} lists" in told.out
    rf.Propensities([1.0, 0.5, 0.3]).write(tmp_path / "propensities.json")
    objective = tmp_path / "objective.toml"
    objective.write_text(f'measure = "NDCG:clicks"\nbias = {{ file = "{tmp_path / "propensities.json"}" }}\n')
    out = run(
        "train", lists, "--out", model, "--objective", objective, "--set", "n_trees=3", "--set", "min_documents=2"
    )
    assert out.code == 0, out.err
    kept = rf.load(model).provenance.settings["objective"]
    assert kept["bias"]["propensities"] == [1.0, 0.5, 0.3]
    assert np.isfinite(rf.load(model).predict(data)).all()


def test_mistakes_say_what_to_type(run: Any, log: Path, tmp_path: Path) -> None:
    text = log.read_text()
    (tmp_path / "without.csv").write_text(text.replace('"position"', '"place"'))
    out = run("propensities", tmp_path / "without.csv")
    assert "--column position=..." in out.err
    assert run("propensities", tmp_path / "without.csv", "--column", "position=place", "--resamples", 2).code == 0
    (tmp_path / "deep.csv").write_text("session,query,document,position,clicked\ns,q,d,1000,1\n")
    assert "--positions 10" in run("propensities", tmp_path / "deep.csv").err
