"""Terminals without styles, and narrow ones."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from rankforce.console.bars import Bar, fitted
from rankforce.console.terminals import terminal


@pytest.mark.parametrize("wanted", [True, False])
def test_no_color_leaves_out_all_styles(wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    if wanted:
        monkeypatch.delenv("NO_COLOR", raising=False)
    else:
        monkeypatch.setenv("NO_COLOR", "1")
    written = io.StringIO()
    terminal(file=written, force_terminal=True).print("loud", style="bold bright_cyan")
    assert ("\x1b[" in written.getvalue()) is wanted


NOTE = "NDCG (ties hashed): train 0.7661, validation 0.7000"


@pytest.mark.parametrize("width", [30, 50, 80, 99, 140])
def test_a_narrow_terminal_never_loses_the_count_and_the_time(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    bar = Bar("LambdaMART", 1000)
    try:
        bar.update(57, NOTE)
        written = io.StringIO()
        Console(file=written, width=width).print(bar._drawn.make_tasks_table(bar._drawn.tasks))
    finally:
        bar.stop()
    [line] = written.getvalue().rstrip("\n").split("\n")
    assert "57/1000" in line
    assert "-:--:--" in line


def test_what_is_said_of_ties_goes_first() -> None:
    assert fitted(NOTE, None) == NOTE
    assert fitted(NOTE, 40) == "NDCG: train 0.7661, validation 0.7000"
    assert fitted(NOTE, 20) == "NDCG: train 0.7661,…"
    assert fitted(NOTE, 0) == ""
