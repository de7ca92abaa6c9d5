"""``rankforce explain`` and ``rankforce importance``: tables, JSON, files, mistakes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.models.random_trees import random_ensemble

import rankforce as rf


@pytest.fixture
def model(data: Path, tmp_path: Path) -> Path:
    path = tmp_path / "model.json"
    values = np.array([0.15, 0.25, 0.35, 0.45, 0.6], dtype=np.float32)
    random_ensemble(1, [4, 5, 4], 2, feature_names=rf.read(data).feature_names, values=values).save(path)
    return path


def test_a_query_a_document_a_pair_and_all(run: Any, model: Path, data: Path) -> None:
    told = json.loads(run("explain", model, data, "--query", 7, "--json").out)
    assert [one["rank"] for one in told["documents"]] == [1, 2, 3]
    for one in told["documents"]:
        assert one["score"] == pytest.approx(told["base"] + sum(one["contributions"]), abs=1e-12)
    single = json.loads(run("explain", model, data, "--query", 7, "--document", "b", "--json").out)
    assert single["document"] == "b"
    first, last = told["documents"][0], told["documents"][-1]
    names = (first["document"], last["document"])
    pair = json.loads(run("explain", model, data, "--query", 7, "--pair", *names, "--json").out)
    shares = sum(one["contribution"] for one in pair["features"])
    assert shares == pytest.approx(first["score"] - last["score"], abs=1e-12)
    text = run("explain", model, data, "--query", 7, "--pair", *names)
    assert text.code == 0, text.err
    assert " above " in text.out
    assert "swap" in text.out
    assert "mean |contribution|" in run("explain", model, data).out
    assert run("explain", model, data, "--query", 7, "--background", 3).code == 0
    assert run("explain", model, data, "--query", 7, "--background", data).code == 0


def test_contributions_in_a_file(run: Any, model: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert run("explain", model, data, "--out", out).code == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["document"] for row in rows] == list("abcdefg")
    scores = rf.load(model).predict(rf.read(data))
    for row, score in zip(rows, scores.tolist(), strict=True):
        assert float(row["score"]) == score
        assert float(row["base"]) + float(row["1"]) + float(row["2"]) == pytest.approx(score, abs=1e-12)


def test_mistakes(run: Any, model: Path, data: Path, tmp_path: Path) -> None:
    assert "no query 99" in run("explain", model, data, "--query", 99).err
    assert "no document 'z'" in run("explain", model, data, "--query", 7, "--document", "z").err
    assert "say which by --query" in run("explain", model, data, "--document", "a").err
    assert run("explain", model, data, "--query", 7, "--pair", "a", "b", "--background", 3).code == 2
    assert run("explain", model, data, "--query", 7, "--pair", "a", "b", "--out", tmp_path / "x.csv").code == 2
    assert run("explain", data, data).code == 2
    bare = random_ensemble(0, [3], 2, feature_names=("1", "2"))
    bare = type(bare)(**(bare.__getstate__() | {"leaf_documents": np.zeros(3, dtype=np.int64)}))
    bare.save(tmp_path / "bare.json")
    assert "--background" in run("explain", tmp_path / "bare.json", data).err


def test_importance(run: Any, model: Path, data: Path) -> None:
    out = run("importance", model, data, "-m", "NDCG@3", "--permutations", 2, "--quiet")
    assert out.code == 0, out.err
    assert "NDCG@3" in out.out
    assert "dealt anew within each query" in out.out
    told = json.loads(run("importance", model, data, "--feature", "2", "--json", "-q").out)
    assert [one["feature"] for one in told["features"]] == ["2"]
    assert run("importance", model, data, "-m", "nonsense").code == 2
    assert run("importance", model, data, "--permutations", 0).code == 2
