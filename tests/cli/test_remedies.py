"""Errors and warnings of the library, as a person at a shell reads them: they say what to type."""

from __future__ import annotations

import ast
import json
import pickle
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
import typer

import rankforce
from rankforce.cli.failures import reporting_failures
from rankforce.cli.remedies import in_shell
from rankforce.errors import FileFormatError, RankforceWarning, SettingsError
from rankforce.remedies import (
    NAME_ALONE,
    Argument,
    LogColumn,
    Phrase,
    ReadOption,
    Remedy,
    Setting,
    ValidationData,
    WriteOption,
)

PACKAGE = Path(rankforce.__file__).parent
OF_PYTHON = ("cli/", "torch.py", "diagnostics/instruments.py", "plot/")  # who type their own, and what no command calls

# The beginnings of messages about Python objects, which no command hands over, and about other libraries' parameters.
ABOUT_PYTHON = (
    "rankers must be a sequence of at least two",
    "data must be a Dataset",
    "{} must be a Dataset",
    "labels must map names to columns",
    "a card is of a model",
    "give the data to compare on",
    "a λ-function is written like",
    "a measure is written like",
    "an objective is rf.Graded",
    "{} is a λ-function, and pulls for a measure",
    "a schedule is rf.schedules.Linear",
    "{}: label {} is above max_grade={}; write ERR(",  # a measure is written alike everywhere
    "say what to try: space=",
    "ranker must be a ranker",
    "a ranker is needed",
    "a ranker must know which documents",
    "score must know which documents",
    "XGBoost's ",
    "{}'s objective={}",
    "instruments must be a list",
    "an instrument is",
    "weights are searched for a graded objective",
    "only form='martingale' has edges",
)


def messages_of(source: str) -> Iterator[ast.expr]:
    """Every text within the call that a ``raise`` or ``warnings.warn`` makes, but for those of remedies."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            yield from texts_of(node.exc)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "warnings.warn":
            yield from texts_of(node)


def texts_of(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        yield node
        return
    if isinstance(node, ast.Call) and ast.unparse(node.func) in REMEDIES:
        return
    for child in ast.iter_child_nodes(node):
        yield from texts_of(child)


def parts_of_text(text: ast.expr) -> list[ast.expr]:
    return list(text.values) if isinstance(text, ast.JoinedStr) else [text]


REMEDIES = {"Argument", "LogColumn", "Phrase", "ReadOption", "Setting", "ValidationData", "WriteOption"}


def a_command(
    blank: Annotated[str | None, typer.Option("--blank")] = None,
    missing_queries: Annotated[str, typer.Option()] = "zero",
    measure: Annotated[str, typer.Option("--measure", "-m")] = "NDCG",
    validation_share: Annotated[float | None, typer.Option()] = None,
) -> None:
    """A command with options."""


@pytest.mark.parametrize(
    ("remedy", "python", "shell"),
    [
        (Setting("step", "gradient"), "step='gradient'", "--set step=gradient"),
        (Setting("early_stopping", None), "early_stopping=None", "--set early_stopping=None"),
        (Setting("hidden", [10, 5]), "hidden=[10, 5]", "--set 'hidden=[10, 5]'"),
        (Setting("sigma", np.float64(0.5)), "sigma=0.5", "--set sigma=0.5"),
        (Setting("scaling", NAME_ALONE), "scaling=", "--set scaling"),
        (ReadOption("unlabelled", "allow"), "unlabelled='allow'", "--read unlabelled=allow"),
        (ReadOption("allow_wide", True), "allow_wide=True", "--read allow_wide=true"),
        (ReadOption("qid"), "qid=...", "--read qid=..."),
        (ReadOption("delimiter", ";"), "delimiter=';'", "--read 'delimiter=;'"),
        (ReadOption("delimiter", "\t"), r"delimiter='\t'", r"--read 'delimiter=\t'"),
        (ReadOption("ignore", ["a", "b"]), "ignore=['a', 'b']", "--read ignore=a,b"),
        (ReadOption("ignore", ["a\nb'\\\x1b"]), r"""ignore=["a\nb'\\\x1b"]""", r"--read $'ignore=a\nb\'\\\x1b'"),
        (WriteOption("label", "human grades"), "label='human grades'", "--write 'label=human grades'"),
        (LogColumn("session"), "session=...", "--column session=..."),
        (Argument("blank", "skip"), "blank='skip'", "--blank skip"),
        (Argument("blank", NAME_ALONE), "blank=", "--blank"),
        (Argument("missing_queries", "zero"), "missing_queries='zero'", "--missing-queries zero"),
        (Argument("measure", "NDCG@10"), "measure='NDCG@10'", "--measure NDCG@10"),
        (Argument("unknown", 3), "unknown=3", "unknown=3"),
        (ValidationData(), "fit(train, validation=...)", "--validation-share 0.2"),
        (Phrase("relative=False", "--absolute"), "relative=False", "--absolute"),
    ],
)
def test_every_remedy_has_two_spellings(remedy: Remedy, python: str, shell: str) -> None:
    error = SettingsError("do this: ", remedy, ", or not")
    assert str(error) == f"do this: {python}, or not"
    assert in_shell(error, a_command) == f"do this: {shell}, or not"
    assert error.remedies == (remedy,)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_the_words_of_a_file_are_left_as_they_are() -> None:
    error = FileFormatError(
        "blank='skip'", path="qid=3/a.txt", line=3, text="qid=...", remedy=("say ", ReadOption("qid", "q"))
    )
    assert in_shell(error, a_command) == "qid=3/a.txt, line 3: blank='skip': 'qid=...'\n  say --read qid=q"
    assert str(pickle.loads(pickle.dumps(error))) == str(error) == str(error).replace("--read qid=q", "qid='q'")


def test_messages_that_a_shell_may_show_have_no_python_in_their_words() -> None:
    """A keyword argument that is written into the text of a message reaches a shell as Python: it must be a remedy."""
    keyword = re.compile(r"\brf\.|(?<![\w.'(@/-])[a-z_]{2,}=(?=['\"{.\[]|\d|True|False|None|$|[ ,;)])")
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(OF_PYTHON):
            continue
        for message in messages_of(path.read_text(encoding="utf-8")):
            text = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in parts_of_text(message))
            if keyword.search(text) and not text.startswith(ABOUT_PYTHON):
                wrong.append(f"{name}:{message.lineno}: {text}")
    assert not wrong, "\n".join(wrong)


def test_what_to_type_about_a_data_file(run: Any, tmp_path: Path) -> None:
    for text, remedy in (
        ("nan qid:1 1:1\n", "Pass --read unlabelled=allow if"),
        ("1 qid:1 0:1\n", "Pass --read first_index=0 if"),
        ("1 qid:1 999999999:1\n", "pass --read allow_wide=true if"),
        ("1 1:1\n", "name such a file: --read group=..."),
        ("2000 qid:1 1:1\n", "use a linear gain, NDCG(gain=linear), or a table, NDCG(gain=0/1/3)"),
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
    outcome = run("clicks", log, "--data", tmp_path / "nameless.txt", "--out", tmp_path / "out.csv")
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
