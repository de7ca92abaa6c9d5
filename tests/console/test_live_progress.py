"""Progress while a ranker learns: an output that changes in a notebook, a curve beside the bar on a terminal."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import subprocess
import sys
import termios
from types import SimpleNamespace
from typing import Any

import pytest

import rankforce as rf
from rankforce.console import notebook_progress
from rankforce.console.progress import Progress
from rankforce.console.sparklines import BLOCKS, sparkline, thinned

DATA = rf.make_artificial(queries=30, documents=6, features=4, seed=1)
SMALL: dict[str, Any] = {"n_trees": 5, "n_leaves": 3, "min_documents": 2}


class FakeNotebook:
    """What IPython's ``display`` does to a page, as a list of what was shown."""

    def __init__(self) -> None:
        self.outputs: list[list[dict[str, str]]] = []  # per output what it showed, one after the other

    def display(self, bundle: dict[str, str], *, raw: bool, display_id: bool) -> Any:
        assert raw
        assert display_id
        shown = [bundle]
        self.outputs.append(shown)
        return SimpleNamespace(update=lambda changed, raw: shown.append(changed))


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> FakeNotebook:
    page = FakeNotebook()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object())))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=page.display))
    return page


def points(html: str) -> list[int]:
    return [one.count(",") for one in re.findall(r'<polyline points="([^"]*)"', html)]


@pytest.mark.compiled_only
def test_a_notebook_has_one_output_that_ends_with_the_curve(
    notebook: FakeNotebook, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RANKFORCE_QUIET", "1")
    monkeypatch.setattr(notebook_progress, "SECONDS_BETWEEN_UPDATES", 0.0)
    ranker = rf.LambdaMART("NDCG@5", **SMALL).fit(DATA, validation=DATA)
    (shown,) = notebook.outputs
    assert len(shown) == 1 + 5 + 1, "as it began, every tree, as it ended"
    assert [points(one["text/html"]) for one in shown[2:]] == [[2, 2], [3, 3], [4, 4], [5, 5], [5, 5]]
    assert all("<progress" in one["text/html"] for one in shown[:-1])
    assert "<progress" not in shown[-1]["text/html"], "nothing is under way any more"
    assert f"validation (dashed): {ranker.history_['validation'][-1]:.4f}" in shown[-1]["text/html"]
    assert "NDCG@5, ties hashed" in shown[-1]["text/html"]
    assert shown[-1]["text/plain"].startswith("LambdaMART: 5 of 5 trees; NDCG@5 (ties hashed): train 0.")
    assert "watched=NDCG@5" in shown[-1]["text/html"], "what was settled"
    assert capsys.readouterr() == ("", ""), "all is in the output"


@pytest.mark.compiled_only
def test_a_notebook_is_not_flooded(notebook: FakeNotebook) -> None:
    with Progress("fast", 10_000, "steps") as progress:
        for step in range(10_000):
            progress.advance(step + 1, {"train": float(step)})
    (shown,) = notebook.outputs
    assert len(shown) < 10, "twice a second, and this takes none"
    assert shown[-1]["text/plain"] == "fast: 10,000 of 10,000 steps; train 9999.0000"


@pytest.mark.compiled_only
def test_what_is_watched_is_escaped(notebook: FakeNotebook) -> None:
    with Progress("<b>name", 2, "<i>steps") as progress:
        progress.explain({"rate": "<s>"})
        progress.say("<u>")
        for done in (1, 2):
            progress.advance(done, {"<x>": 0.1}, {"<x>": [0.1, 0.2]}, "<t>")
    assert not re.search("<(b|i|s|u|x|t)>", notebook.outputs[0][-1]["text/html"])


@pytest.mark.compiled_only
def test_nothing_is_shown_where_progress_is_off(notebook: FakeNotebook) -> None:
    rf.LambdaMART("NDCG@5", progress=False, **SMALL).fit(DATA)
    assert notebook.outputs == []


def test_ipython_in_a_terminal_is_no_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    assert notebook_progress.notebook_display() is None, "IPython is not even imported"
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert notebook_progress.notebook_display() is None
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace()))
    assert notebook_progress.notebook_display() is None


def test_a_sparkline_goes_from_the_lowest_to_the_highest() -> None:
    assert sparkline([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 8) == BLOCKS
    assert sparkline([7.0, 0.0], 8) == BLOCKS[7] + BLOCKS[0]
    assert sparkline([3.0, 3.0, 3.0], 8) == 3 * BLOCKS[0]
    assert sparkline([1.0], 8) == ""
    assert sparkline([float("nan"), 1.0], 8) == ""
    assert sparkline([float("nan"), 1.0, float("inf"), 2.0], 8) == BLOCKS[0] + BLOCKS[7]
    assert len(sparkline(list(range(1000)), 16)) == 16
    assert thinned(1000, 5) == [0, 250, 500, 749, 999]
    assert thinned(3, 5) == [0, 1, 2]


ON_A_TERMINAL = """
import time
from rankforce.console.progress import Progress
history = []
with Progress("LambdaMART", 20, "trees", wanted=WANTED) as progress:
    for step in range(20):
        history.append(float(step))
        progress.advance(step + 1, {"validation": float(step)}, {"train": [0.0], "validation": history}, "NDCG")
        time.sleep(0.01)
"""


def on_a_terminal(columns: int, wanted: bool | None = True, code: str = ON_A_TERMINAL, **environment: str) -> str:
    """What a process writes on standard error where that is a terminal with so many columns."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    code = code.replace("WANTED", str(wanted))
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    with subprocess.Popen(
        [sys.executable, "-c", code], stderr=theirs, env=kept | {"TERM": "xterm"} | environment
    ) as process:
        os.close(theirs)
        written = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            written += part
    os.close(ours)
    assert process.returncode == 0, written
    return written.decode()


def test_a_terminal_has_a_curve_beside_the_bar() -> None:
    shown = on_a_terminal(120, PYTHONIOENCODING="utf-8")
    assert BLOCKS[0] in shown
    assert "".join(dict.fromkeys(sparkline(range(20), 16))) == BLOCKS
    assert sparkline(range(20), 16) in shown, "the whole curve, at the end"
    assert "validation 19.0000" in shown


def test_a_narrow_terminal_has_the_numbers_alone() -> None:
    shown = on_a_terminal(80, PYTHONIOENCODING="utf-8")
    assert "validation" in shown
    assert not set(BLOCKS) & set(shown)


def test_a_terminal_without_blocks_has_none() -> None:
    assert "validation 19.0000" in (shown := on_a_terminal(120, PYTHONIOENCODING="ascii"))
    assert not set(BLOCKS) & set(shown)


def test_nothing_is_drawn_on_request() -> None:
    assert on_a_terminal(120, wanted=False) == ""
