"""``rankforce off-policy``: tables, JSON, verdicts, mistakes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rankforce as rf

pytest.importorskip("pyarrow")

ROWS = [(session, "7", document, position, int(document == "c" or (session + position) % 3 == 0))
        for session in range(30) for position, document in enumerate("abc", 1)]  # fmt: skip
ROWS += [(session, "8", document, position, int(position == 1)) for session in range(20) for position, document in
         enumerate("ed", 1)]  # fmt: skip


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    lines = [",".join(map(str, row)) for row in ROWS]
    path.write_text("\n".join(["session,query,document,place,clicked", *lines]) + "\n")
    return path


def asked(log: Path, data: Path, *more: Any) -> tuple[Any, ...]:
    return ("off-policy", log, "--data", data, "--column", "position=place", "--resamples", 50, *more)


def test_the_table_and_its_numbers(run: Any, log: Path, data: Path, tmp_path: Path) -> None:
    better = tmp_path / "better.txt"
    better.write_text("2\n1\n3\n0\n1\n0\n0\n")  # c first
    theta = ("--propensities", "1,0.5,0.25")
    told = run(
        *asked(log, data, "--ranking", better, "--ranking", "feature:1", *theta, "--name", "ours", "--name", "old")
    )
    assert told.code == 0, told.err
    assert "ours" in told.out
    assert "clicks per view in the first 3 places: 50 views of 2 queries in 30 sessions" in told.out
    out = json.loads(run(*asked(log, data, "--ranking", better, *theta, "--clip", "none", "--json")).out)
    documents = rf.read(data)
    wanted = rf.off_policy(
        log, [2.0, 1, 3, 0, 1, 0, 0], documents, [1.0, 0.5, 0.25], clip=None, resamples=50, position="place"
    ).to_dict()
    assert out["rankings"][str(better)] == wanted["rankings"]["ranking"]
    assert out["settings"]["clip"] is None
    markdown = run(*asked(log, data, "--ranking", better, *theta, "--format", "markdown")).out
    assert markdown.startswith("**clicks per view")


def test_propensities_of_a_file_and_a_run(run: Any, log: Path, data: Path, tmp_path: Path) -> None:
    rf.Propensities([1.0, 0.5, 0.25]).write(tmp_path / "theta.json")
    (tmp_path / "c.run").write_text("7 Q0 c 1 3 x\n7 Q0 a 2 2 x\n8 Q0 e 1 1 x\n")
    told = run(*asked(log, data, "--ranking", tmp_path / "c.run", "--propensities", tmp_path / "theta.json", "--json"))
    assert told.code == 0, told.err
    assert json.loads(told.out)["views"] == 50


def test_a_verdict_for_scripts(run: Any, log: Path, data: Path) -> None:
    theta = ("--propensities", "1,0.5,0.25")
    assert run(*asked(log, data, "--ranking", "1", *theta, "--require", "better")).code == 1
    worse = run(*asked(log, data, "--ranking", "1", *theta, "--require", "not-worse"))
    assert worse.code == 1  # feature 1 ranks d before e, and nobody clicks d
    assert "--require not-worse" in worse.err
    assert run(*asked(log, data, "--ranking", "2", *theta, "--require", "not-worse")).code == 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--propensities", "1,x"), "propensities must be a file of rankforce propensities, or numbers"),
        (("--propensities", "1,0"), "propensity of position 2 is 0"),
        (("--propensities", "1,0.5", "--clip", "0"), "--clip 0: clip must be a number above 0"),
        (("--propensities", "1,0.5", "--column", "time=place"), "write ROLE=COLUMN"),
        (("--propensities", "1", "--max-unsupported", "0"), "--max-unsupported 0."),
        (("--propensities", "1,0.5", "--relevance", "grades"), "relevance is a probability"),
        (("--propensities", "1,0.5", "--name", "a", "--name", "b"), "--name once for every ranking"),
    ],
)
def test_mistakes_leave_with_2(run: Any, log: Path, data: Path, more: tuple[str, ...], message: str) -> None:
    found = run(*asked(log, data, "--ranking", "1", *more))
    assert found.code == 2
    assert message in found.err
