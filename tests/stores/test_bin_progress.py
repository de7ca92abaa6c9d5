"""How far ``rf.bin`` is: both passes, the share that is done, and the time left, on a terminal and elsewhere."""

from __future__ import annotations

import re

import pytest
from tests.console.test_live_progress import on_a_terminal

import rankforce as rf
from rankforce.console import byte_progress

DATA = rf.make_artificial(queries=30, documents=10, features=4, seed=1)
LINE = re.compile(
    r"reading (?P<file>.+), pass (?P<number>[12]) of 2: (?P<share>\d+)% of (?P<size>.+); about \d+ s left"
)


@pytest.fixture
def paths(tmp_path):
    """Files that are read at once each: after every one it is told how far the reading is."""
    paths = [tmp_path / f"part-{number}.txt" for number in range(5)]
    for number, path in enumerate(paths):
        DATA.take_queries(range(6 * number, 6 * number + 6)).write(path)
    return paths


@pytest.fixture
def store(tmp_path):
    return tmp_path / "train.bins"


def told(text):
    lines = [LINE.fullmatch(line) for line in text.splitlines()]
    assert all(lines), text
    return lines


def test_lines_of_both_passes_where_there_is_no_terminal(paths, store, monkeypatch, capsys):
    monkeypatch.setattr(byte_progress, "SECONDS_BETWEEN_LINES", 0.0)
    rf.bin(paths, store, progress=True)
    lines = told(capsys.readouterr().err)
    assert {line["file"] for line in lines} == {"part-0.txt and 4 more"}
    assert [line["number"] for line in lines] == sorted(line["number"] for line in lines)
    for number in "12":
        shares = [int(line["share"]) for line in lines if line["number"] == number]
        assert len(shares) == 5
        assert shares == sorted(shares)
        assert 10 < shares[0] < 30
        assert shares[-1] == 100


def test_one_file_has_its_name(paths, store, monkeypatch, capsys):
    monkeypatch.setattr(byte_progress, "SECONDS_BETWEEN_LINES", 0.0)
    rf.bin(paths[2], store, progress=True)
    assert [(line["file"], line["number"]) for line in told(capsys.readouterr().err)] == [
        ("part-2.txt", "1"),
        ("part-2.txt", "2"),
    ]


def test_the_time_left_follows_from_the_time_taken(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(byte_progress.time, "monotonic", lambda: now[0])
    with byte_progress.ByteProgress("a/b.txt", 1000, True, "pass 1 of 2") as progress:
        for now[0], done in ((4.0, 100), (12.0, 250), (15.0, 300), (30.0, 750), (41.0, 1000)):
            progress.advance_to(done)
    lines = told(capsys.readouterr().err)
    assert [line["share"] for line in lines] == ["25", "75", "100"]  # one line in ten seconds
    assert [line.string.split("about ")[1] for line in lines] == ["36 s left", "10 s left", "0 s left"]


@pytest.mark.parametrize("wanted", [None, False])
def test_nothing_is_said_elsewhere_unless_it_is_asked_for(wanted, paths, store, monkeypatch, capsys):
    monkeypatch.setattr(byte_progress, "SECONDS_BETWEEN_LINES", 0.0)
    rf.bin(paths, store, progress=wanted)
    assert capsys.readouterr().err == ""


ON_A_TERMINAL = """
import rankforce as rf
from rankforce.console import byte_progress
byte_progress.PATIENCE = PATIENCE_OF_TEST
rf.bin(FILES, STORE, progress=WANTED)
"""


def at_a_terminal(paths, store, wanted, patience):
    code = ON_A_TERMINAL.replace("FILES", repr(list(map(str, paths)))).replace("STORE", repr(str(store)))
    return on_a_terminal(120, wanted, code.replace("PATIENCE_OF_TEST", str(patience)), RANKFORCE_QUIET="1")


def test_a_bar_for_each_pass_on_a_terminal(paths, store):
    shown = at_a_terminal(paths, store, True, 99.0)
    for number in (1, 2):
        assert f"reading part-0.txt and 4 more, pass {number} of 2" in shown
    size = sum(path.stat().st_size for path in paths) / 1000
    assert f"{size:.1f}/{size:.1f} kB" in shown, "all of it, in the end"
    assert "0:00:00" in shown, "the time left"


def test_a_bar_comes_by_itself_only_where_it_takes_long(paths, store):
    assert at_a_terminal(paths, store, None, 99.0) == ""
    shown = at_a_terminal(paths, store, None, 0.0)
    assert "pass 1 of 2" in shown
    assert "pass 2 of 2" in shown
