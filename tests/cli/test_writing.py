"""Files that commands write: never over what they read, and found impossible before the work."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rankforce as rf

FEW = ("--trees", 2, "--leaves", 2, "--set", "min_documents=1", "-q")


@pytest.fixture
def model(run: Any, data: Path, tmp_path: Path) -> Path:
    path = tmp_path / "model.json"
    assert run("train", data, "-o", path, *FEW).code == 0
    return path


def commands(data: Path, model: Path, log: Path) -> list[tuple[tuple[Any, ...], str, Path]]:
    """(a command that lacks the value of its last option, the option, a file that it reads)."""
    return [
        (("train", data, *FEW), "-o", data),
        (("train", data, "--validation", model.with_name("v.txt"), *FEW), "-o", model.with_name("v.txt")),
        (("train", data, "--base-model", model, *FEW), "-o", model),
        (("train", data, "-o", model.with_name("new.json"), *FEW), "--checkpoint", data),
        (("score", model, data), "-o", data),
        (("score", model, data), "-o", model),
        (("evaluate", data, f"model:{model}"), "--per-query", model),
        (("evaluate", data, "1"), "--per-query", data),
        (("compare", data, "1", f"model:{model}"), "--per-query", model),
        (("cross-validate", data, "--folds", 2, *FEW[4:]), "--per-query", data),
        (("combine", data, "1", model), "--out", model),
        (("combine", data, "1", model), "--plot", data),
        (("tune", data, "--try", "n_trees=1,2", "--folds", 2, "-q"), "-o", data),
        (("tune", data, "--try", "n_trees=1,2", "--folds", 2, "-q"), "--journal", data),
        (("convert", data, "--force"), "", data),
        (("clicks", log, "--force"), "--table", log),
    ]


@pytest.mark.parametrize("number", range(16))
def test_what_is_read_is_not_overwritten(run: Any, data: Path, model: Path, tmp_path: Path, number: int) -> None:
    (tmp_path / "v.txt").write_text(data.read_text())
    log = tmp_path / "log.csv"
    log.write_text("session,query,document,position,clicked\ns,7,a,1,1\n")
    command, option, file = commands(data, model, log)[number]
    before = file.read_bytes()
    outcome = run(*command, *([option] if option else []), os.path.relpath(file))  # the same file by another name
    assert outcome.code == 2, outcome.out
    assert "is read by this command and would be overwritten" in outcome.err
    assert file.read_bytes() == before


@pytest.mark.parametrize("number", [0, 4, 6, 14])
def test_a_dash_is_no_file_to_write(run: Any, data: Path, model: Path, number: int, tmp_path: Path) -> None:
    """It is what standard input is called; nobody wants a file of that name."""
    command, option, _ = commands(data, model, tmp_path / "log.csv")[number]
    outcome = run(*command, *([option] if option else []), "-")
    assert outcome.code == 2, outcome.out
    assert "leave the option out for standard output" in outcome.err
    assert not Path("-").exists()


def test_a_folder_that_is_not_there_is_found_before_the_work(run: Any, data: Path, tmp_path: Path) -> None:
    """The training would fail, too, for want of the file: the output is looked at first."""
    nowhere = tmp_path / "nowhere" / "out.json"
    for command in (
        ("train", "no-such-file", "-o", nowhere),
        ("tune", "no-such-file", "--try", "n_trees=1", "-o", nowhere),
        ("combine", "no-such-file", "1", "2", "--out", nowhere),
        ("score", "no-such-file", "no-such-file", "-o", nowhere),
        ("evaluate", "no-such-file", "1", "--per-query", nowhere),
    ):
        outcome = run(*command)
        assert outcome.code == 2
        assert "there is no folder" in outcome.err


def test_generate_overwrites_only_when_told(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    sizes = ("--queries", 2, "--documents", 2, "--features", 2)
    assert run("generate", path, *sizes).code == 0
    refused = run("generate", path, *sizes, "--seed", 1)
    assert (refused.code, "use --force" in refused.err) == (2, True)
    before = path.read_text()
    assert run("generate", path, *sizes, "--seed", 1, "--force").code == 0
    assert path.read_text() != before


@pytest.mark.skipif(os.name == "nt", reason="no limit of file sizes")
def test_scores_that_cannot_be_written_leave_the_old_ones(run: Any, model: Path, tmp_path: Path) -> None:
    many = tmp_path / "many.txt"
    rf.make_artificial(queries=40, documents=10, features=2, seed=0).write(many)
    scores = tmp_path / "scores.txt"
    assert run("score", model, many, "-o", scores).code == 0
    before = scores.read_bytes()
    assert len(before) > 1024

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    command = [sys.executable, "-m", "rankforce.cli.main", "score", str(model), str(many), "-o", str(scores)]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    failed = subprocess.run(command, preexec_fn=limit, env=environment, capture_output=True, text=True)
    assert failed.returncode == 2
    assert "scores.txt: cannot be written: File too large" in failed.stderr
    assert scores.read_bytes() == before
