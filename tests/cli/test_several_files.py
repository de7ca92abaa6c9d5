"""Commands that read data: folders, patterns and several files are the one file with all rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rankforce as rf

TRAINING = ("--trees", 3, "--leaves", 3, "--quiet")


@pytest.fixture(params=[".parquet", ".csv", ".txt"])
def parts(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """(A folder of parts, the whole in one file); a query goes on from one part to the next."""
    data = rf.make_artificial(queries=12, documents=6, features=3, seed=2)
    whole = tmp_path / f"whole{request.param}"
    data.write(whole)
    (tmp_path / "parts").mkdir()
    for number, rows in enumerate((range(33), range(33, 50), range(50, 72))):
        part = rf.Dataset(data.features[rows], data.label()[rows], data.qid[rows])
        part.write(tmp_path / "parts" / f"part-{number}{request.param}")
    (tmp_path / "parts" / "_SUCCESS").write_text("")
    return tmp_path / "parts", whole


def ways(folder: Path) -> list[list[str]]:
    return [[str(folder)], [f"{folder}/part-*"], [str(path) for path in sorted(folder.glob("part-*"))]]


def test_train_and_score(run: Any, parts: tuple[Path, Path], tmp_path: Path) -> None:
    folder, whole = parts
    model = tmp_path / "model.json"
    done = run("train", whole, "--out", model, "--validation", whole, *TRAINING)
    assert done.code == 0, done.err
    expected = model.read_bytes()
    scores = run("score", model, whole).out
    assert len(scores.splitlines()) == 72
    for data in ways(folder):
        done = run("train", *data, "--out", model, "--validation", folder, *TRAINING)
        assert done.code == 0, done.err
        assert model.read_bytes() == expected
        assert run("score", model, *data).out == scores


def test_split_bin_and_convert(run: Any, parts: tuple[Path, Path], tmp_path: Path) -> None:
    folder, whole = parts
    expected = rf.read(whole)
    for number, data in enumerate(ways(folder)):
        halves = [tmp_path / f"{number}{name}.parquet" for name in "ab"]
        done = run("split", *data, "--shares", "0.5,0.5", "--out", ",".join(map(str, halves)))
        assert done.code == 0, done.err
        assert [rf.read(one).fingerprint for one in halves] == [one.fingerprint for one in expected.split(0.5, 0.5)]
        done = run("bin", *data, "--out", tmp_path / f"{number}.bins")
        assert done.code == 0, done.err
        assert rf.read(tmp_path / f"{number}.bins").fingerprint == expected.fingerprint
    for source in (folder, f"{folder}/part-*"):
        done = run("convert", source, tmp_path / "all.parquet", "--force")
        assert done.code == 0, done.err
        assert rf.read(tmp_path / "all.parquet").fingerprint == expected.fingerprint


def test_evaluate_inspect_and_cross_validate(run: Any, parts: tuple[Path, Path]) -> None:
    folder, whole = parts
    feature = rf.read(whole).feature_names[0]
    value = json.loads(run("evaluate", whole, f"feature:{feature}", "--json").out)
    found = json.loads(run("inspect", whole, "--json").out)["files"][str(whole)]
    folds = ("--folds", 2, "--set", "n_trees=2", "--quiet", "--json")
    means = json.loads(run("cross-validate", whole, *folds).out)
    for data in ways(folder):
        done = run("cross-validate", *data, *folds)
        assert done.code == 0, done.err
        assert json.loads(done.out) == means
    for data in (str(folder), f"{folder}/part-*"):
        done = run("evaluate", data, f"feature:{feature}", "--json")
        assert done.code == 0, done.err
        assert json.loads(done.out) == value | {"data": data}
        done = run("inspect", data, "--json")
        assert done.code == 0, done.err
        assert json.loads(done.out)["files"][data] == found


def test_what_is_read_is_not_overwritten(run: Any, parts: tuple[Path, Path], tmp_path: Path) -> None:
    folder, _ = parts
    target = sorted(folder.glob("part-*"))[1]
    before = target.read_bytes()
    for source in (folder, f"{folder}/*"):
        done = run("convert", source, target, "--force")
        assert done.code == 2
        assert "is read by this command and would be overwritten" in done.err
    assert target.read_bytes() == before


def test_a_folder_without_data(run: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for data in (tmp_path / "empty", tmp_path / "x*.csv"):
        done = run("inspect", data)
        assert done.code == 2
        assert "pattern" in done.err
        assert "Traceback" not in done.err
