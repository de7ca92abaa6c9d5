"""``rankforce reproduce``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rankforce.reproducing.catalogue import all_experiments


def test_without_a_name_all_are_listed(run: Any, tmp_path: Path) -> None:
    outcome = run("reproduce", "--out", tmp_path)
    assert outcome.code == 0
    for name, one in all_experiments().items():
        assert name in outcome.out
        assert one.paper.title in outcome.out
    listed = json.loads(run("reproduce", "--out", tmp_path, "--json").out)
    assert [one["name"] for one in listed] == list(all_experiments())
    assert all(one["verdicts"] == {"quick": None, "full": None} for one in listed)


def test_a_name_is_run_and_its_verdict_is_listed(run: Any, tmp_path: Path) -> None:
    outcome = run("reproduce", "pairwise-errors", "--quick", "--out", tmp_path)
    assert outcome.code == 0
    assert "Verdict: agrees" in outcome.out
    folder = tmp_path / "pairwise-errors" / "quick"
    assert {one.name for one in folder.iterdir()} == {
        "figure.png", "figure.svg", "page.md", "result.json", "rows", "rows.csv"
    }  # fmt: skip
    found = json.loads(run("reproduce", "pairwise-errors", "--out", tmp_path, "--json").out)
    assert (found["verdict"], found["folder"]) == ("agrees", str(folder))
    listed = json.loads(run("reproduce", "--out", tmp_path, "--json").out)
    assert {one["name"]: one["verdicts"]["quick"] for one in listed}["pairwise-errors"] == "agrees"


def test_what_makes_no_sense_is_refused(run: Any, tmp_path: Path) -> None:
    for words, told in (
        (("no-such",), "there is no experiment"),
        (("pairwise-errors", "--quick", "--full"), "--quick or --full"),
        (("pairwise-errors", "--seeds", 0), "seeds"),
    ):
        outcome = run("reproduce", *words, "--out", tmp_path)
        assert outcome.code == 2
        assert told in outcome.err
    assert not list(tmp_path.iterdir())
