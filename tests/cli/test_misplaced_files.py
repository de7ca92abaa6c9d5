"""A model in the place of data, or data in that of a model: the error says so, and how the command is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rankforce as rf


@pytest.fixture
def model(data: Path, tmp_path: Path) -> Path:
    path = tmp_path / "model.json"
    rf.LambdaMART(n_trees=1, n_leaves=2, min_documents=1, progress=False).fit(rf.read(data)).save(path)
    return path


@pytest.mark.parametrize(
    ("command", "usage"),
    [
        ("evaluate", "rankforce evaluate DATA RANKING"),
        ("compare", "rankforce compare DATA FIRST SECOND"),
    ],
)
def test_a_model_in_the_place_of_data(run: Any, data: Path, model: Path, command: str, usage: str) -> None:
    refused = run(command, model, data, *([data] if command == "compare" else []))
    assert refused.code == 2
    assert f"{model} is a model file, and stands where data is expected: {usage}\n" in refused.err


@pytest.mark.parametrize(
    ("command", "usage"),
    [
        ("score", "rankforce score MODEL.json DATA"),
        ("explain", "rankforce explain MODEL.json DATA"),
        ("importance", "rankforce importance MODEL.json DATA"),
        ("optimality", "rankforce optimality MODEL DATA"),
        ("report", "rankforce report MODEL.json DATA"),
    ],
)
@pytest.mark.parametrize("ending", ["txt", "csv"])
def test_data_in_the_place_of_a_model(
    run: Any, data: Path, model: Path, tmp_path: Path, command: str, usage: str, ending: str
) -> None:
    table = tmp_path / f"table.{ending}"
    rf.read(data).write(table)
    refused = run(command, table, model)
    assert refused.code == 2
    assert f"{table} is a data file, and stands where a model is expected: {usage}\n" in refused.err


def test_data_in_the_place_of_a_ranking(run: Any, data: Path, model: Path, tmp_path: Path) -> None:
    refused = run("evaluate", data, data)
    assert (refused.code, "stands where a ranking is expected: rankforce evaluate DATA RANKING" in refused.err) == (
        2,
        True,
    )
    assert "is a data file" in run("evaluate", data, f"model:{data}").err
    trained = run("train", model, "-o", tmp_path / "other.json")
    assert (
        trained.code,
        "is a model file, and stands where data is expected: rankforce train TRAIN" in trained.err,
    ) == (2, True)
    assert run("evaluate", data, model).code == 0
