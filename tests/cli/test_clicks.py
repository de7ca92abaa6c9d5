"""``rankforce clicks``: tables, joined data, mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf

pytest.importorskip("pyarrow")

LOG = """\
sid,query,document,position,clicked
1,7,a,1,1
1,7,b,2,1
2,7,a,1,0
2,7,b,2,0
2,8,e,1,1
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    return path


def test_labels_are_joined_and_written(run: Any, data: Path, log: Path, tmp_path: Path) -> None:
    table, into = tmp_path / "labels.csv", tmp_path / "labelled.csv"
    out = run(
        "clicks", log, "--column", "session=sid", "--table", table, "--data", data, "--out", into, "--rate", "click"
    )
    assert out.code == 0, out.err
    assert "click-through rate" in out.out
    assert f"{into}: label source 'clicks' on 3 of 7 documents" in out.out
    labels = rf.read(into).label("clicks")
    assert np.array_equal(labels[:5], [0.5, 0.5, np.nan, np.nan, 1.0], equal_nan=True)
    assert table.read_text().splitlines()[1] == '"7","a",2,1,0,0.5,0'
    again = run("clicks", log, "--column", "session=sid", "--table", table)
    assert again.code == 2
    assert "exists already; use --force" in again.err


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_label_source_of_the_data_is_not_replaced(
    run: Any, data: Path, log: Path, tmp_path: Path, force: tuple[str, ...]
) -> None:
    into = tmp_path / "labelled.csv"
    out = run("clicks", log, "--column", "session=sid", "--data", data, "--out", into, "--label", "grades", *force)
    assert out.code == 2
    assert "has a label source 'grades' already" in out.err
    assert "--label grades_2" in out.err
    assert not into.exists()


def test_similar_queries_are_a_second_source(run: Any, data: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("session,query,document,position,clicked,time\n1,7,a,1,1,5\n1,7,b,2,1,65\n2,8,a,1,1,9\n2,8,e,2,0,\n")
    pairs, into, table = tmp_path / "pairs.csv", tmp_path / "labelled.csv", tmp_path / "pooled.csv"
    pairs.write_text("query,similar,similarity\n7,8,1\n")
    out = run(
        "clicks", log, "--similar", pairs, "--data", data, "--out", into, "--similar-table", table, "--rate",
        "satisfied-click", "--unknown-dwell", "leave-out",
    )  # fmt: skip
    assert out.code == 0, out.err
    labelled = rf.read(into)
    own, pooled = labelled.label("clicks"), labelled.label("clicks_similar")
    rows = [f"{q}{d}" for q, d in zip(labelled.qid.tolist(), labelled.document_ids.tolist(), strict=True)]
    assert own[rows.index("7a")] == pooled[rows.index("7a")] == 1.0  # the click on a under 8 has no known end
    assert np.isnan(own[rows.index("7b")])
    assert table.read_text().startswith('"query","document","impressions"')
    assert f"{into}: label source 'clicks_similar' on" in out.out
    assert run("clicks", log, "--similar-table", tmp_path / "x.csv").code == 2
    clash = run("clicks", log, "--similar", "words", "--data", into, "--out", tmp_path / "y.csv", "--label", "other")
    assert clash.code == 0, clash.err
    clash = run("clicks", log, "--similar", "words", "--data", into, "--out", tmp_path / "z.csv")
    assert clash.code == 2
    assert "--label clicks_2" in clash.err


def test_json(run: Any, log: Path) -> None:
    out = run("clicks", log, log, "--column", "session=sid", "--smoothing", 2, "--prior", 0.1, "--json")
    told = json.loads(out.out)
    assert (told["impressions"], told["clicks"], told["last_clicks"], told["queries"]) == (10, 6, 2, 2)
    assert told["settings"]["prior"] == 0.1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no column says the session"),
        (["--column", "sid"], "write ROLE=COLUMN"),
        (
            ["--column", "session=sid", "--prior", "x"],
            "prior must be one of 'query', 'global'",
        ),
        (["--column", "session=sid", "--data", "x"], "go together"),
        (["--column", "session=sid", "--sorted-by-session", "--query-key", "absent"], "there is no column 'absent'"),
    ],
)
def test_mistakes_leave_with_2(run: Any, log: Path, arguments: list[str], message: str) -> None:
    out = run("clicks", log, *arguments)
    assert out.code == 2
    assert message in out.err


def test_a_header_after_blank_lines(run: Any, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("\n\nuser,query,document,position,clicked\n1,7,a,1,1\n")
    assert "log.csv, line 3: no column says the session" in run("clicks", log).err
    log.write_text("\n\nsession;query;document;position;clicked\n1;7;a;1;1\n")
    outcome = run("clicks", log)
    assert "log.csv, line 3: there is no ',' in the header" in outcome.err
    assert "put commas between the cells of a log, or tabs if its name ends in .tsv, not ';'" in outcome.err
    log.write_text("\n\nsession,query,document,position,clicked\n1,7,a,1,1\n")
    assert run("clicks", log).out.startswith("1 label (last-click rate) of 1 query, 0 of them 0\nfrom 1 impression, ")
