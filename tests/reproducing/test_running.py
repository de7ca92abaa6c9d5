"""Runs of experiments: what is done is kept, what changed is done again, what is broken is told."""

from __future__ import annotations

import csv
import json
import signal
import sys
from typing import ClassVar

import pytest

import rankforce as rf
from rankforce.errors import RankforceError
from rankforce.reproducing import running
from rankforce.reproducing.experiment import Experiment, Size
from rankforce.reproducing.pages import page, write_results
from rankforce.reproducing.papers import OVERVIEW
from rankforce.reproducing.rules import each_seed
from rankforce.reproducing.running import earlier_verdict, run_experiment


class Counting(Experiment):
    """Counts how often a part is run; the value of a row is its seed."""

    name = "counting"
    paper = OVERVIEW
    place = "nowhere"
    title = "Counting"
    found = "Numbers rise."
    data = "none"
    paper_size: ClassVar = {"numbers": "all"}
    sizes: ClassVar = {"quick": Size(seeds=2, minutes=0.0, step=1), "full": Size(seeds=2, minutes=0.0, step=2)}

    def __init__(self):
        self.runs = []
        self.fails_at = None

    def parts(self, size):
        return ("left, right", "right")

    def run(self, part, seed, size):
        if (part, seed) == self.fails_at:
            raise KeyboardInterrupt
        self.runs.append((part, seed))
        return [{"kind": "mean", "arm": "it", "measure": "number", "value": float(seed * size.step)}]

    def claims(self):
        return [each_seed("numbers are small", lambda rows: rows.mean(), what="number", most=10)]

    def draw(self, rows, figure):
        figure.subplots().plot(rows.values())

    def size_in_words(self, size):
        return {"numbers": str(size.step)}


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_rows_of_a_training_that_was_cut_short_are_not_kept(tmp_path):
    class Training(Counting):
        def run(self, part, seed, size):
            data = rf.make_artificial(queries=10, documents=6, features=2, seed=0)
            press = [lambda told: signal.raise_signal(signal.SIGINT) if told.number == 2 else None]
            rf.LambdaMART(n_trees=4, progress=False).fit(data, callbacks=press)
            return super().run(part, seed, size)

    with pytest.raises(KeyboardInterrupt):
        run_experiment(Training(), "quick", tmp_path, progress=False)
    assert not list((tmp_path / "rows").iterdir())


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path):
    stopped = Counting()
    stopped.fails_at = ("right", 1)
    with pytest.raises(KeyboardInterrupt):
        run_experiment(stopped, "quick", tmp_path, progress=False)
    assert stopped.runs == [("left, right", 0), ("right", 0), ("left, right", 1)]
    second = Counting()
    found = run_experiment(second, "quick", tmp_path, progress=False)
    assert second.runs == [("right", 1)]
    parts = [(row["part"], row["seed"]) for row in found.rows]
    assert parts == [*stopped.runs, ("right", 1)]
    assert found.rows.values().tolist() == [0.0, 0.0, 1.0, 1.0]
    assert run_experiment(second, "quick", tmp_path, seeds=3, progress=False).seeds == 3
    assert second.runs == [("right", 1), ("left, right", 2), ("right", 2)]


def test_other_sizes_and_other_code_are_run_again(tmp_path, monkeypatch):
    run_experiment(Counting(), "quick", tmp_path, progress=False)
    other = Counting()
    assert run_experiment(other, "full", tmp_path, progress=False).rows.values().max() == 2.0
    assert len(other.runs) == 4
    monkeypatch.setattr(running, "stamp_of", lambda *_: "edited")
    edited = Counting()
    run_experiment(edited, "full", tmp_path, progress=False)
    assert len(edited.runs) == 4


def test_a_file_that_is_no_part_is_told_and_left_alone(tmp_path):
    run_experiment(Counting(), "quick", tmp_path, progress=False)
    broken = sorted((tmp_path / "rows").iterdir())[0]
    broken.write_text("{")
    with pytest.raises(RankforceError, match="remove it"):
        run_experiment(Counting(), "quick", tmp_path, progress=False)
    assert broken.read_text() == "{"


def test_results_are_a_page_a_figure_a_table_and_a_file_for_programs(tmp_path):
    found = run_experiment(Counting(), "quick", tmp_path, progress=False)
    files = write_results(found, tmp_path)
    assert {one.name for one in files} == {"page.md", "figure.svg", "figure.png", "rows.csv", "result.json"}
    text = page(found, "figure.svg")
    for part in (
        "# Counting",
        "Numbers rise.",
        "**Verdict: agrees.**",
        "| seeds | 1 | 2 |",
        "Rules, which are code: (1) agrees if number is at most",
    ):
        assert part in text
    with open(tmp_path / "rows.csv", newline="") as file:
        assert [float(row["value"]) for row in csv.DictReader(file)] == found.rows.values().tolist()
    kept = json.loads((tmp_path / "result.json").read_text())
    assert kept == earlier_verdict(tmp_path)
    assert (kept["verdict"], kept["seeds"], kept["claims"][0]["verdict"]) == ("agrees", 2, "agrees")
    first = (tmp_path / "figure.svg").read_bytes()
    write_results(found, tmp_path)
    assert (tmp_path / "figure.svg").read_bytes() == first
    assert earlier_verdict(tmp_path / "elsewhere") is None


class OnRealData(Counting):
    """Every row of a fold is the number of its test queries."""

    real: ClassVar = ("MSLR sample", "LightGBM's example")

    def run_fold(self, fold, number, size):
        self.runs.append(number)
        return [{"kind": "mean", "arm": "it", "measure": "number", "value": float(fold.test.n_queries)}]


def sample(folder, queries=12):
    """A folder as that of the MSLR sample."""
    (folder / "mslr-sample").mkdir()
    lines = [f"{doc % 3} qid:{query} 1:{query} 2:{doc}" for query in range(queries) for doc in range(4)]
    (folder / "mslr-sample" / "all.txt").write_text("\n".join(lines) + "\n")


def test_real_data_is_run_fold_by_fold_with_a_verdict_of_its_own_and_what_is_absent_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKFORCE_DATA", str(tmp_path))
    sample(tmp_path)
    one = OnRealData()
    found = run_experiment(one, "quick", tmp_path / "out", progress=False)
    assert one.runs[4:] == [0, 1, 2, 3, 4]
    assert found.rows.values().tolist() == [0.0, 0.0, 1.0, 1.0]
    assert found.real["MSLR sample"].values().sum() == 12
    assert (found.absent, found.verdict_of("MSLR sample")) == (("LightGBM's example",), "agrees")
    text = page(found, "figure.svg")
    assert "**On real data, MSLR sample: agrees.**" in text
    assert "not at hand:** LightGBM's example" in text
    write_results(found, tmp_path)
    with open(tmp_path / "rows.csv", newline="") as file:
        assert [row["data"] for row in csv.DictReader(file)] == [""] * 4 + ["MSLR sample"] * 5
    assert found.to_dict()["real_data"][0]["claims"][0]["verdict"] == "agrees"
    (tmp_path / "mslr-sample" / "all.txt").unlink()
    (tmp_path / "mslr-sample").rmdir()
    again = OnRealData()
    kept = run_experiment(again, "quick", tmp_path / "out", progress=False)
    assert (again.runs, list(kept.real)) == ([], ["MSLR sample"])
    nothing = run_experiment(OnRealData(), "quick", tmp_path / "elsewhere", progress=False)
    assert (nothing.real, nothing.absent) == ({}, OnRealData.real)
    assert "not at hand:** MSLR sample, LightGBM's example" in page(nothing, "figure.svg")
