"""``rankforce compare``: numbers, verdicts, exit codes."""

from __future__ import annotations

import csv
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf
from rankforce.cli import output


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Twenty queries on which feature 1 is the grade and feature 2 is noise."""
    rng = np.random.default_rng(0)
    lines = []
    for query in range(20):
        for grade in rng.permutation([0, 0, 1, 2]):
            lines.append(f"{grade} qid:{query} 1:{grade} 2:{rng.random():.6f}\n")
    path = tmp_path / "many.txt"
    path.write_text("".join(lines))
    return path


def test_text_and_json_have_the_difference(run: Any, data: Path) -> None:
    query_7 = rf.evaluate([0.1, 0.3, 0.2], rf.Dataset([[0.0]] * 3, [2, 1, 0], qid=[7] * 3), "NDCG@10").mean["NDCG@10"]
    expected = (query_7 + 1) / 2 - (1 + 1 / math.log2(3)) / 2  # feature 2 is right on query 8, feature 1 on query 7
    outcome = run("compare", data, "feature:1", "feature:2", "--json")
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)
    assert (found["first"], found["second"]) == ("feature:1", "feature:2")
    assert found["measures"]["NDCG@10"]["difference"] == pytest.approx(expected)
    assert found["measures"]["NDCG@10"]["wins"] == found["measures"]["NDCG@10"]["losses"] == 1
    text = run("compare", data, "feature:1", "feature:2").out
    assert "feature:2 against feature:1" in text
    assert f"{expected:+.4f}" in text
    assert "blank queries: skipped" in text


def test_verdicts(run: Any, many: Path) -> None:
    better, worse = ("feature:2", "feature:1"), ("feature:1", "feature:2")
    for pair, requirement, code in [
        (better, "better", 0),
        (better, "not-worse", 0),
        (worse, "better", 1),
        (worse, "not-worse", 1),
        (("feature:1", "feature:1"), "better", 1),
        (("feature:1", "feature:1"), "not-worse", 0),
    ]:
        outcome = run("compare", many, *pair, "--require", requirement, "-m", "NDCG@10", "-m", "MAP")
        assert outcome.code == code, outcome.err
        assert ("--require" in outcome.err) == (code == 1)
    assert run("compare", many, *better, "--require", "nonsense").code == 2


def test_what_could_not_be_tested_satisfies_nobody(run: Any, tmp_path: Path) -> None:
    blank, one = tmp_path / "blank.txt", tmp_path / "one.txt"
    blank.write_text("0 qid:1 1:1 2:2\n0 qid:1 1:2 2:1\n0 qid:2 1:1 2:2\n0 qid:2 1:2 2:1\n")
    one.write_text("1 qid:1 1:1 2:2\n0 qid:1 1:2 2:1\n")
    for path in (blank, one):
        for requirement in ("better", "not-worse"):
            outcome = run("compare", path, "feature:1", "feature:2", "--require", requirement)
            assert outcome.code == 1, (path, requirement)


@pytest.mark.parametrize("graded", [(), ("--graded",)])
def test_the_same_difference_in_two_queries_is_no_proof(run: Any, tmp_path: Path, graded: tuple[str, ...]) -> None:
    path = tmp_path / "same.txt"
    for queries, code in ((2, 1), (3, 1), (6, 0)):
        lines = [f"1 qid:{q} 1:0 2:2\n0 qid:{q} 1:2 2:1\n0 qid:{q} 1:1 2:0\n" for q in range(queries)]
        path.write_text("".join(lines))
        outcome = run("compare", path, "feature:1", "feature:2", "-m", "MRR", "--require", "better", *graded)
        assert outcome.code == code, outcome.out
        assert "the randomisation test decides" in outcome.out
        assert run("compare", path, "feature:1", "feature:2", "-m", "MRR", "--require", "not-worse", *graded).code == 0


def test_two_runs_that_retrieved_different_documents(run: Any, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n2 0 c 1\n")
    (tmp_path / "one.run").write_text("1 Q0 a 1 2 x\n2 Q0 z 1 2 x\n2 Q0 c 2 1 x\n")
    (tmp_path / "two.run").write_text("1 Q0 a 1 2 x\n2 Q0 c 1 2 x\n")
    outcome = run("compare", tmp_path / "qrels", tmp_path / "one.run", tmp_path / "two.run", "-m", "MRR", "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["measures"]["MRR"]["difference"] == pytest.approx(0.25)


def test_segments_and_errors(run: Any, data: Path, tmp_path: Path) -> None:
    segments = tmp_path / "segments.txt"
    segments.write_text("7 head\n8 tail\n9 tail\n")
    found = json.loads(run("compare", data, "1", "2", "--segments", segments, "--json").out)
    assert found["segments"]["tail"]["measures"]["NDCG@10"]["difference"] == pytest.approx(1 - 1 / math.log2(3))
    assert run("compare", data, "1", "nonsense").code == 2
    assert run("compare", data, "1").code == 2


def test_per_query_values_and_differences(run: Any, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    asked = ("-m", "NDCG@10", "-m", "MRR", "--per-query", out)
    assert run("compare", data, "1", "2", *asked, "--name", "old", "--name", "new").code == 0
    with out.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == ["query"] + [
        f"{m} {part}" for m in ("NDCG@10", "MRR") for part in ("old", "new", "difference")
    ]
    assert [row["query"] for row in rows] == ["7", "8", "9"]
    pairs = [rf.evaluate(feature, rf.read(data), "NDCG@10").per_query["NDCG@10"] for feature in ("1", "2")]
    for row, old, new in zip(rows[:2], *pairs, strict=False):
        values = [float(row[f"NDCG@10 {part}"]) for part in ("old", "new", "difference")]
        assert values == [old, new, new - old]
    assert float(rows[1]["NDCG@10 difference"]) == pytest.approx(1 - 1 / math.log2(3))
    assert [rows[2][f"NDCG@10 {part}"] for part in ("old", "new", "difference")] == ["", "", ""]  # a blank query


def test_per_query_values_of_several_have_no_difference(run: Any, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert run("compare", data, "1", "2", "1", "--per-query", out).code == 0
    assert out.read_text().splitlines()[0] == "query,NDCG@10 1,NDCG@10 2,NDCG@10 1 again"


def test_the_seed_is_that_of_hashed_ties(run: Any, tmp_path: Path) -> None:
    tied = tmp_path / "tied.txt"
    tied.write_text("".join(f"{grade} qid:{query} 1:1 2:{grade}\n" for query in range(20) for grade in (2, 1, 0)))
    asked = ("compare", tied, "1", "2", "--ties", "hashed", "--json")
    means = [json.loads(run(*asked, "--seed", seed).out)["measures"]["NDCG@10"]["difference"] for seed in (0, 0, 1)]
    assert means[0] == means[1] != means[2]


def test_graded_verdicts(run: Any, many: Path) -> None:
    better, worse = ("feature:2", "feature:1"), ("feature:1", "feature:2")
    tiers = ("--graded", "-m", "NDCG@10", "-m", "MAP")
    for pair, requirement, code in [
        (better, "better", 0),
        (worse, "not-worse", 1),
        (("feature:1", "feature:1"), "better", 1),
        (("feature:1", "feature:1"), "not-worse", 0),
    ]:
        assert run("compare", many, *pair, *tiers, "--require", requirement).code == code
    outcome = run("compare", many, *better, *tiers, "--level", 0.99)
    assert "verdict: feature:1 is better than feature:2: better in NDCG@10" in outcome.out
    assert "not significantly different at 1 %" in outcome.out
    told = json.loads(run("compare", many, *worse, *tiers, "--json").out)["verdict"]
    assert (told["outcome"], told["decided_by"], told["measure"]) == ("worse", 1, "NDCG@10")


def test_many_rankings_in_every_form(run: Any, many: Path) -> None:
    arguments = (
        "compare",
        many,
        "feature:1",
        "feature:2",
        "feature:2",
        "--name",
        "grade",
        "--name",
        "x",
        "--name",
        "y",
    )
    text = run(*arguments)
    assert text.code == 0, text.err
    assert "3 rankings of 20 queries" in text.out
    assert "a  grade" in text.out
    found = json.loads(run(*arguments, "--json").out)
    assert found["better_than"]["NDCG@10"]["grade"] == ["x", "y"]
    assert run(*arguments, "--format", "latex").out.startswith("\\begin{table}")
    assert run(*arguments, "--format", "markdown").out.startswith("**3 rankings")
    assert run(*arguments, "--format", "csv").out.startswith(",ranking,NDCG@10")
    again = run("compare", many, "feature:1", "feature:2", "feature:2", "--format", "csv")
    assert "feature:2 again" in again.out


def test_many_rankings_refused(run: Any, many: Path) -> None:
    three = ("compare", many, "feature:1", "feature:2", "feature:1")
    assert "--require and --graded are about two" in run(*three, "--require", "better").err
    assert "--name once for every ranking" in run(*three, "--name", "x").err
    assert run("compare", many, "feature:1").code == 2


@pytest.mark.parametrize("width", [80, 100, 132])
@pytest.mark.parametrize("no_color", ["", "1"])
def test_terminals_have_colours_marks_and_their_width(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int, no_color: str
) -> None:
    lines = [f"{int(d == 0)} qid:{q} 1:{-d} 2:{d}" for q in range(20) for d in range(3)]
    (tmp_path / "data.txt").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(output, "on_terminal", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich asks the stream itself whether it is a terminal
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", no_color)
    text = run("compare", tmp_path / "data.txt", "2", "1", "-m", "NDCG@1", "-m", "MAP").out
    coloured = "\x1b[96m" in text
    assert coloured == (not no_color)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert plain.count("▲") == 3, "two measures, and the legend"
    table = plain.split("▲ significantly")[0]
    assert all(len(line) <= width for line in table.splitlines())
    monkeypatch.setattr(output, "on_terminal", lambda: False)
    piped = run("compare", tmp_path / "data.txt", "2", "1", "-m", "NDCG@1", "-m", "MAP").out
    assert "\x1b" not in piped
    assert "▲" not in piped


def test_csv_has_numbers_that_programs_read(run: Any, data: Path) -> None:
    for command in (("evaluate", data, "feature:1"), ("compare", data, "feature:1", "feature:2")):
        outcome = run(*command, "-m", "NDCG@10", "--format", "csv")
        header, row = csv.reader(outcome.out.splitlines())
        cells = dict(zip(header, row, strict=True))
        assert cells.pop("measure") == "NDCG@10"
        numbers = {name: float(cell) for name, cell in cells.items() if cell}  # nothing where there is none
        low, high = numbers["95 % interval low"], numbers["95 % interval high"]
        assert low <= high
        exact = rf.evaluate("1", rf.read(data), "NDCG@10").mean["NDCG@10"]
        assert exact in numbers.values()
