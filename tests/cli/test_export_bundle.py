"""``rankforce export --bundle``: the folder, the report, mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rankforce as rf


@pytest.fixture
def model(tmp_path: Path) -> Path:
    data = rf.make_artificial(6, 8, 3, seed=1).replace(feature_names=["title", "price", "age"])
    path = tmp_path / "model.json"
    rf.LambdaMART(n_trees=3, min_documents=2, progress=False).fit(data).save(path)
    data.write(tmp_path / "rows.csv")
    return path


def test_a_folder_is_written_and_checked(run: Any, model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    out = run(
        "export", model, "--to", "ltr-xgboost", "--engine", "opensearch-2.19", "--bundle", folder,
        "--check", tmp_path / "rows.csv",
    )  # fmt: skip
    assert out.code == 0, out.err
    assert "0 come to another leaf" in out.out
    assert "createmodel.json, featureset.json, log.json, rescore.json" in out.out
    uploaded = json.loads((folder / "createmodel.json").read_text())["model"]
    assert uploaded["name"].startswith("shop_")
    again = run("export", model, "--to", "ltr-xgboost", "--engine", "opensearch-2.19", "--bundle", folder)
    assert again.code == 2
    assert "the folder is not empty" in again.err


def test_the_report_as_json(run: Any, model: Path, tmp_path: Path) -> None:
    out = run("export", model, "--to", "solr", "--engine", "solr-9.10", "--bundle", tmp_path / "s", "--json")
    assert out.code == 0, out.err
    report = json.loads(out.out)
    assert report["files"] == ["README.md", "features.json", "log.json", "model.json", "rerank.json"]
    assert (tmp_path / "s" / "model.json").stat().st_size == report["bytes"]


def test_a_bundle_is_for_search_engines_and_has_its_model_inside(run: Any, model: Path, tmp_path: Path) -> None:
    out = run("export", model, "--to", "lightgbm", "--bundle", tmp_path / "b")
    assert out.code == 2
    assert "that of a search engine" in out.err
    both = run("export", model, "--to", "solr", "--bundle", tmp_path / "b", "--out", tmp_path / "m.json")
    assert both.code == 2
    assert "give one of the two" in both.err
    assert not (tmp_path / "b").exists()
