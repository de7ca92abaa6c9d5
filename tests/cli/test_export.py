"""``rankforce export``: files, standard output, JSON, the check's exit code, what is refused before any work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.export.hard_models import KNOWN, NAMES, trees

import rankforce as rf


@pytest.fixture
def model(tmp_path: Path, data: Path) -> Path:
    path = tmp_path / "model.json"
    rf.LambdaMART(n_trees=3, min_documents=1, progress=False).fit(rf.read(data)).save(path)
    return path


def test_a_file_with_its_check(run: Any, model: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "ranklib.txt"
    outcome = run("export", model, "--to", "ranklib", "--check", data, "-o", out)
    assert outcome.code == 0, outcome.err
    assert "0 come to another leaf" in outcome.out
    assert f"{out.name}: ranklib" in outcome.out.replace("\n", "")
    assert out.read_bytes() == rf.load(model).export(None, "ranklib").contents


def test_standard_output_holds_the_file_alone(run: Any, model: Path, data: Path) -> None:
    outcome = run("export", model, "--to", "ltr-xgboost", "--engine", "opensearch-2.19", "--check", data)
    assert outcome.code == 0
    assert json.loads(outcome.out)["objective"] == "rank:pairwise"
    assert "0 come to another leaf" in outcome.err


def test_json(run: Any, model: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    found = json.loads(run("export", model, "--to", "solr", "--check", data, "-o", out, "--json", "--shift").out)
    assert found["check"]["passed"] is True
    assert found["missing"] == "zero"
    assert found["bytes"] == out.stat().st_size
    outcome = run("export", model, "--to", "solr", "--json")
    assert outcome.code == 2
    assert "--json needs --out FILE" in outcome.err


def test_warnings_and_refusals_speak_of_options(run: Any, model: Path, tmp_path: Path) -> None:
    outcome = run("export", model, "--to", "ltr-xgboost")
    assert outcome.code == 0
    assert "--engine opensearch-..." in outcome.err
    outcome = run("export", model, "--to", "ltr-xgboost", "--engine", "opensearch-2.19", "--missing", "nan")
    assert outcome.code == 2
    assert "--missing zero" in outcome.err
    assert run("export", model, "--to", "nothing").code == 2
    features = tmp_path / "features.json"
    features.write_text('["only"]')
    outcome = run("export", model, "--to", "ranklib", "--features", features)
    assert outcome.code == 2
    assert "lack what the model uses" in outcome.err


def test_a_file_that_errs_leaves_with_1(run: Any, tmp_path: Path) -> None:
    """Thresholds from 1e-45 to 1e30 in one feature are more than Solr can tell apart."""
    path = tmp_path / "hard.json"
    trees(provenance=KNOWN).save(path)
    rows = tmp_path / "rows.csv"
    rows.write_text(",".join(["qid", "label", *(f'"{name}"' for name in NAMES)]) + "\n" + "1,0,1,2,3,4,5\n" * 2)
    outcome = run("export", path, "--to", "solr", "--check", rows, "-o", tmp_path / "out.json")
    assert outcome.code == 1
    assert "Solr's slack" in outcome.err


def test_outputs_are_checked_before_the_work(run: Any, model: Path, tmp_path: Path) -> None:
    before = model.read_bytes()
    outcome = run("export", model, "--to", "xgboost", "-o", model)
    assert outcome.code == 2
    assert "would be overwritten" in outcome.err
    assert model.read_bytes() == before
    assert run("export", model, "--to", "xgboost", "-o", tmp_path / "nowhere" / "x.json").code == 2
    assert run("export", model, "--to", "xgboost", "-o", tmp_path / "x.txt").code == 2
    assert run("export", model, "--to", "xgboost", "-o", tmp_path / "x.ubj").code == 0
