"""Errors and warnings of the library, as a person at a shell reads them: they say what to type."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from rankforce.cli.failures import reporting_failures
from rankforce.cli.remedies import as_typed
from rankforce.errors import RankforceWarning


@pytest.mark.parametrize(
    ("message", "typed"),
    [
        ('Pass unlabelled="allow" if not', "Pass --read unlabelled=allow if not"),
        ("pass allow_wide=True if it is none.", "pass --read allow_wide=true if it is none."),
        ("choose one with group=", "choose one with --read group=VALUE"),
        ("name it: qid=...; the columns are", "name it: --read qid=...; the columns are"),
        ("say delimiter=';'", "say --read 'delimiter=;'"),
        ("leave one out: ignore=['a']; here", "leave one out: --read ignore=a; here"),
        ("choose blank='skip', or not", "choose --blank skip, or not"),
        ("choose another path for blank=", "choose another path for --blank"),
        ("set step=None", "--set step=None"),
        ("write ERR(blank=4) if that", "write ERR(blank=4) if that"),
        ("XGBoost's blank='a' cannot be taken over", "XGBoost's blank='a' cannot be taken over"),
        ("/data/qid=3/train.txt, line 3", "/data/qid=3/train.txt, line 3"),
        ("qid=3/train.txt, line 3", "qid=3/train.txt, line 3"),
        ("use --read qid=3", "use --read qid=3"),
        ("unknown=3", "unknown=3"),
    ],
)
def test_keywords_are_spelled(message: str, typed: str) -> None:
    read = ("unlabelled", "allow_wide", "group", "qid", "delimiter", "ignore")
    spellings = {name: f"--read {name}=" for name in read} | {"blank": "--blank", "step": "--set step="}
    assert as_typed(message, spellings) == typed


def test_what_to_type_about_a_data_file(run: Any, tmp_path: Path) -> None:
    for text, remedy in (
        ("nan qid:1 1:1\n", "Pass --read unlabelled=allow if"),
        ("1 qid:1 0:1\n", "Pass --read first_index=0 if"),
        ("1 qid:1 999999999:1\n", "pass --read allow_wide=true if"),
        ("1 1:1\n", "name such a file with --read group=VALUE"),
        ("2000 qid:1 1:1\n", "write NDCG(gain=linear), or a table: NDCG(gain=0/1/3)"),
    ):
        (tmp_path / "odd.txt").write_text(text)
        outcome = run("evaluate", tmp_path / "odd.txt", "1")
        assert (outcome.code, outcome.err.count(remedy)) == (2, 1), outcome.err
    (tmp_path / "odd.csv").write_text("q,label,x\n1,1,2\n")
    assert "name it: --read qid=...; the columns" in run("inspect", tmp_path / "odd.csv").err


def test_what_to_type_about_a_ranker(run: Any, data: Path, tmp_path: Path) -> None:
    train = ("train", data, "-o", tmp_path / "model.json", "--quiet")
    assert "goes with --set step=gradient" in run(*train, "--set", "normalise=deviation").err
    assert "needs validation data: --validation FILE" in run(*train, "--set", "early_stopping=3").err
    folds = run("cross-validate", data, "--folds", 3, "--set", "early_stopping=3", "--quiet").err
    assert "--validation-share 0.2 holds a fifth" in folds
    assert "or --set early_stopping=None" in folds


def test_what_to_type_about_a_log(run: Any, data: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("user,query,document,clicked\n1,7,a,1\n")
    assert "name it: --column session=...; the columns" in run("clicks", log).err
    log.write_text("session,query,document,clicked\n1,7,a,1\n")
    assert "name the column: --column time=... or --column position=..." in run("clicks", log).err
    log.write_text("session,query,document,clicked,position\n1,7,a,1,1\n2,7,a,1,1\n1,7,b,1,2\n")
    assert "or leave --sorted-by-session out, which" in run("clicks", log, "--sorted-by-session").err
    log.write_text("session,query,document,clicked,position\n1,7,a,1,1\n")
    (tmp_path / "nameless.txt").write_text("1 qid:7 1:1\n")
    outcome = run("clicks", log, "--data", tmp_path / "nameless.txt", "--into", tmp_path / "out.csv")
    assert "write '#docid = ID' at the end of each line, or name the column: --read document=..." in outcome.err


def test_what_to_type_to_write_what_a_format_cannot_hold(run: Any, tmp_path: Path) -> None:
    table, text = tmp_path / "both.csv", tmp_path / "one.txt"
    table.write_text("qid,label,label:clicks,weight:document,x\n1,2,0.5,3,1\n1,,0.25,1,2\n")
    refused = run("convert", table, text)
    assert "choose with --write label=grades (the others are lost)" in refused.err
    assert "or pass --write weights=drop to lose them" in run("convert", table, text, "--write", "label=clicks").err
    chosen = ("--write", "weights=drop", "--write")
    assert "pass --write unlabelled=allow to write nan" in run("convert", table, text, *chosen, "label=grades").err
    outcome = run("convert", table, text, *chosen, "label=clicks")
    assert (outcome.code, outcome.out.endswith("labels: clicks\n")) == (0, True)
    assert text.read_text() == "0.5 qid:1 1:1.0\n0.25 qid:1 1:2.0\n"
    assert run("generate", tmp_path / "g.txt", "--queries", 2, "--clicks").code == 2
    assert run("generate", tmp_path / "g.txt", "--queries", 2, "--clicks", "--write", "label=grades").code == 0


def test_one_ranking_is_nothing_to_combine(run: Any, data: Path) -> None:
    outcome = run("combine", data, "1")
    assert (outcome.code, outcome.err) == (
        2,
        "rankforce: one ranking is nothing to combine: name another after 1\n",
    )


def test_an_empty_model_is_called_so(run: Any, tmp_path: Path) -> None:
    (tmp_path / "constant.txt").write_text("1 qid:1 1:1\n0 qid:1 1:1\n")
    outcome = run("train", tmp_path / "constant.txt", "-o", tmp_path / "model.json", "--trees", 3, "--quiet")
    assert outcome.code == 0
    assert outcome.out.endswith("; nothing was learned\n")
    assert outcome.err.startswith("rankforce: no split of the 2 training documents raises the objective")
    assert outcome.err.endswith("or is --set min_documents=20 too large?\n")
    assert outcome.err.count("\n") == 1


def test_warnings_of_others_go_their_way(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> None:
        for _ in range(2):
            warnings.warn("of ours", RankforceWarning, stacklevel=1)
        np.float64(1.0) / np.float64(0.0)

    with pytest.warns(RuntimeWarning, match="divide by zero"):
        reporting_failures(command)()
    assert capsys.readouterr().err == "rankforce: of ours\n"
    with pytest.raises(typer.Exit):  # an error under the filter of these tests, and not swallowed
        reporting_failures(command)()


def test_a_dash_is_standard_input(run: Any, data: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "rankforce.cli.main", "evaluate", "-", "1", "--json"]
    piped = subprocess.run(command, input=data.read_text(), capture_output=True, text=True, timeout=120)
    assert piped.returncode == 0, piped.stderr
    assert json.loads(piped.stdout)["measures"] == json.loads(run("evaluate", data, "1", "--json").out)["measures"]
