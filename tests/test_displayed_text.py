"""Names and ids from files are shown, never obeyed: by errors, warnings, tables and every command."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest

import rankforce as rf
from rankforce.cli import output
from rankforce.console.tables import text_table
from rankforce.displayed_text import LONGEST_SHOWN, displayed, displayed_lines
from rankforce.errors import FileFormatError, RankforceError, RankforceWarning
from rankforce.models.ranking import Ranking

HOSTILE = {
    "escape": "a\x1b[31mred",
    "C1": "a\x9b31mred",
    "right to left": "a\u202egnp.exe",
    "isolate": "a\u2066b",
    "carriage return": "right\rwrong",
    "line feed": "a\nrankforce: all is well",
    "line separator": "a\u2028b",
    "bell": "a\x07",
    "delete": "a\x7f",
    "surrogate": "a\udc80",
    "tab": "a\tb",
}


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_what_is_not_visible_is_escaped(name):
    shown = displayed(name)
    assert shown.isprintable()
    assert name[0] == shown[0]
    assert shown.encode().decode("unicode_escape").encode(errors="surrogatepass") == name.encode(errors="surrogatepass")


def test_visible_text_is_as_it_was():
    for name in ("bm25", "größe", "相关性", "λ − σ", "smile 🙂", "two words", r"C:\new"):
        assert displayed(name) == name


def test_long_names_are_cut_and_lines_are_kept():
    assert displayed("x" * 10_000) == "x" * (LONGEST_SHOWN - 3) + "..."
    assert displayed(7) == "7"
    assert displayed_lines("a\n  b\x1bc") == "a\n  b\\x1bc"


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_errors_warnings_and_tables_show_no_control_character(name):
    texts = [
        str(RankforceError(f"no query {name!r}")),
        str(FileFormatError("odd", path=f"{name}.csv", text=name, remedy=f"drop {name!r}")),
        str(RankforceWarning(f"odd feature {name!r}")),
        text_table(["feature", "gain"], [[name, "1"]]),
        str(output.Table(["feature", name], [[name, "1"]], title=name)),
        str(Ranking(np.array([name], object), np.array([1]), np.array([0]), np.array([name], object), np.array([1.0]))),
    ]
    for text in texts:
        assert all(line.isprintable() for line in text.split("\n"))
        assert "\nrankforce" not in text
    escape = RankforceError("a\x1b[2J" + name)
    assert "\x1b" not in str(escape)


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_json_is_exact_and_safe(name, capsys):
    output.show_json({"query": name})
    text = capsys.readouterr().out
    assert all(line.isprintable() for line in text.split("\n"))
    assert json.loads(text) == {"query": name}


def test_a_terminal_gets_names_as_names(monkeypatch, capsys):
    monkeypatch.setattr(output, "on_terminal", lambda: True)
    output.show(output.Table(["feature", "gain"], [["[red]:boom:\x1b[5m", "1"]], title="[b]title"), "a [i]b :boom:")
    text = capsys.readouterr().out
    assert "[red]:boom:\\x1b[5m" in text
    assert "[b]title" in text
    assert "a [i]b :boom:" in text


@pytest.fixture
def hostile_data():
    rng = np.random.default_rng(0)
    names = list(HOSTILE.values())
    queries = [query for query in names for _ in range(4)]
    return rf.Dataset(
        rng.normal(size=(len(queries), len(names))).astype(np.float32),
        rng.integers(0, 3, len(queries)),
        queries,
        feature_names=names,
        document_ids=[f"{query}{place}" for place, query in enumerate(queries)],
    )


def test_what_python_prints_is_safe(hostile_data):
    data = hostile_data
    data = data.replace(features=np.column_stack([np.zeros(len(data)), data.features[:, 1:]]))
    result = rf.evaluate(data.feature_names[1], data, "NDCG@3", segments=list(HOSTILE.values()))
    other = rf.evaluate(data.feature_names[2], data, "NDCG@3", segments=list(HOSTILE.values()))
    comparison = rf.compare(result, other, names=(data.feature_names[1], data.feature_names[2]), graded=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        printed = [result, comparison, rf.inspect(data), result.explain(data.query_ids[0])]
    for one in printed:
        for line in str(one).split("\n"):
            assert line.isprintable()
            assert not line.startswith("rankforce: all is well")
