"""``rankforce features``: data files from feature logs, the report, mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.data.feature_logs.engine_responses import plugin_response, solr_response

import rankforce as rf

DOCUMENTS: dict[str, Any] = {"a": {"title": 3.5, "price": 9.0}, "b": {"title": None, "price": 4.0}}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"qid": "7", "response": plugin_response(DOCUMENTS)}) + "\n")
    return path


@pytest.fixture
def judgments(tmp_path: Path) -> Path:
    path = tmp_path / "judgments.csv"
    path.write_text("query,document,grade\n7,a,2\n7,c,1\n")
    return path


def test_a_data_file_is_written_and_the_report_printed(run: Any, log: Path, judgments: Path, tmp_path: Path) -> None:
    order, into = tmp_path / "set.txt", tmp_path / "train.csv"
    order.write_text("price\ntitle\n")
    out = run("features", log, "--judgments", judgments, "--out", into, "--feature-set", order)
    assert out.code == 0, out.err
    assert "judged, not in the log: 1 (7/c)" in out.out
    assert "in the log, not judged, left out: 1 (7/b)" in out.out
    data = rf.read(into)
    assert data.feature_names == ("price", "title")
    assert data.features.tolist() == [[9.0, 3.5]]
    assert data.qid.tolist() == ["7"]
    again = run("features", log, "--judgments", judgments, "--out", into)
    assert again.code == 2
    assert "exists already; use --force" in again.err


def test_the_report_as_json(run: Any, log: Path, judgments: Path) -> None:
    out = run("features", log, "--judgments", judgments, "--unjudged", "keep", "--json")
    assert out.code == 0, out.err
    report = json.loads(out.out)
    assert (report["matched"], report["documents"], report["unjudged"]) == (1, 2, "keep")
    assert report["documents_without_judgment"] == [["7", "b"]]


def test_remedies_are_spelt_as_they_are_typed(run: Any, judgments: Path, tmp_path: Path) -> None:
    path = tmp_path / "solr.json"
    path.write_text(json.dumps(solr_response(DOCUMENTS, query="7")))
    out = run("features", path, "--judgments", judgments)
    assert out.code == 2
    assert "--query responseHeader.params.q" in out.err
    assert run("features", path, "--judgments", judgments, "--query", "responseHeader.params.q").code == 0


def test_a_file_that_is_read_is_not_overwritten(run: Any, log: Path, judgments: Path) -> None:
    out = run("features", log, "--judgments", judgments, "--out", judgments, "--force")
    assert out.code == 2
    assert "would be overwritten" in out.err
