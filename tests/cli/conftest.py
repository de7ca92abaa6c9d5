"""A tiny data file, and a way to run a command as the console script does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from rankforce.cli.application import build


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("RANKFORCE_QUIET", "1")
    monkeypatch.delenv("RANKFORCE_DEBUG", raising=False)

    def run(*arguments: object) -> Outcome:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            build()([str(argument) for argument in arguments], prog_name="rankforce")
        out, err = capsys.readouterr()
        return Outcome(int(stopped.value.code or 0), out, err)

    return run


# Three queries with labels: feature 1 ranks query 7 rightly, query 8 wrongly; query 9 is blank.
DATA = """\
2 qid:7 1:0.9 2:0.1 # docid = a
1 qid:7 1:0.5 2:0.3 # docid = b
0 qid:7 1:0.1 2:0.2 # docid = c
0 qid:8 1:0.8 2:0.4 # docid = d
1 qid:8 1:0.2 2:0.9 # docid = e
0 qid:9 1:0.4 2:0.5 # docid = f
0 qid:9 1:0.3 2:0.6 # docid = g
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.txt"
    path.write_text(DATA)
    return path
