"""Nets from the command line: train, score, tune, cross-validate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rankforce as rf
from rankforce.models.net import Net


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "train.txt", tmp_path / "valid.txt"
    for seed, path in enumerate(paths):
        rf.make_artificial(queries=20, documents=10, features=4, seed=seed).write(path)
    return paths


def test_a_net_in_a_file(run: Any, files: tuple[Path, Path], tmp_path: Path) -> None:
    train, valid = files
    model = tmp_path / "net.json"
    trained = run(
        "train", train, "--out", model, "--ranker", "lambdarank", "-m", "NDCG@5", "--validation", valid, "--hidden", 3,
        "--epochs", 4, "--learning-rate", "0.001,0.01", "--scaling", "log1p", "--quiet", "--json",
    )  # fmt: skip
    assert trained.code == 0, trained.err
    told = json.loads(trained.out)
    assert told["ranker"] == "LambdaRank"
    assert len(told["history"]["validation"]) == 4
    assert told["values"]["validation"] == max(told["history"]["validation"])
    net = rf.load(model)
    assert isinstance(net, Net)
    assert (net.hidden, net.scaling.kind) == (3, "log1p")
    assert len(run("score", model, train).out.splitlines()) == 200
    refused = run("score", model, train, "--trees", 2)
    assert refused.code == 2
    assert "no sum of trees" in refused.err
    card = str(rf.model_card(net))
    for part in ("hidden = 3", "scaling_chosen = 'log1p'", "learning_rate_chosen = 0.0", "NDCG@5"):
        assert part in card


def test_tiers_with_searched_weights(run: Any, tmp_path: Path) -> None:
    paths = tmp_path / "train.csv", tmp_path / "valid.csv"
    for seed, path in enumerate(paths):
        rf.make_artificial(queries=20, documents=10, features=4, seed=seed, clicks=True).write(path)
    model = tmp_path / "net.json"
    trained = run(
        "train", paths[0], "--validation", paths[1], "--out", model, "--ranker", "lambdarank", "--hidden", 0,
        "--epochs", 3, "--tier", "CNDCG:clicks=search", "--checkpoint", tmp_path / "checkpoint", "--quiet", "--json",
    )  # fmt: skip
    assert trained.code == 0, trained.err
    assert set(json.loads(trained.out)["history"]) == {"train", "validation", "validation CNDCG:clicks"}
    kept = rf.load(model).provenance.settings
    assert len(kept["weight_search"]["candidates"]) == 8
    assert [tier["weight"] for tier in kept["objective"]["tier"]] == list(kept["weight_search"]["weights"])


def test_ranknet_with_a_preset_and_a_checkpoint(run: Any, files: tuple[Path, Path], tmp_path: Path) -> None:
    train, valid = files
    common = (
        "train", train, "--ranker", "ranknet", "--preset", "2006", "--hidden", 0, "--validation", valid,
        "--checkpoint", tmp_path / "checkpoint", "--quiet",
    )  # fmt: skip
    assert run(*common, "--epochs", 2, "--out", tmp_path / "short.json").code == 0
    assert run(*common, "--epochs", 4, "--out", tmp_path / "long.json").code == 0
    assert len(rf.load(tmp_path / "long.json").provenance.history["train"]) == 4
    without = run("train", train, "--ranker", "ranknet", "--preset", "2006", "--out", tmp_path / "x.json", "--quiet")
    assert without.code == 2
    assert "needs validation data" in without.err


def test_tune_and_cross_validate(run: Any, files: tuple[Path, Path], tmp_path: Path) -> None:
    train, valid = files
    tuned = run(
        "tune", train, "--validation", valid, "--ranker", "lambdarank", "--try", "hidden=0,3", "--method", "grid",
        "--set", "epochs=3", "--quiet", "--json", "--out", tmp_path / "best.json",
    )  # fmt: skip
    assert tuned.code == 0, tuned.err
    assert len(json.loads(tuned.out)["trials"]) == 2
    assert isinstance(rf.load(tmp_path / "best.json"), Net)
    crossed = run(
        "cross-validate", train, "--ranker", "ranknet", "--folds", 2, "--set", "epochs=3", "--quiet", "--json"
    )
    assert crossed.code == 0, crossed.err
    assert json.loads(crossed.out)["measures"]["NDCG@10"]["mean"] > 0.4
