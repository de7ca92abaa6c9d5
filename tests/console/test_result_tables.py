"""Tables in every form: aligned, broken to a width, escaped, with marks and bold numbers."""

from __future__ import annotations

import csv
import io
import math
import re

import pytest

from rankforce.console.numeric_cells import count_cell, interval_cell, number_cell, p_value_cell, share_cell
from rankforce.console.result_tables import Cell, ResultTable

TABLE = ResultTable(
    "Two rankings",
    ["ranking", "NDCG@10", "MAP", "a long heading"],
    [["BM25", "0.3", "0.25", "x"], ["ours", Cell("0.41", True, "ab"), "0.5", "y"]],
    ["ties: stable"],
)


def test_digits_stay_below_each_other_before_marks():
    lines = TABLE.text().split("\n")
    assert lines[0] == "Two rankings"
    assert lines[3].index("0.3") + 2 == lines[4].index("0.41") + 3
    assert "0.41 ab" in lines[4]
    assert lines[-1] == "ties: stable"


@pytest.mark.parametrize("width", [26, 30, 45, 80])
def test_what_is_too_wide_is_broken_and_nothing_is_lost(width):
    parts = TABLE.text(width).removeprefix("Two rankings\n").removesuffix("\nties: stable").split("\n\n")
    for part in parts:
        assert all(len(line) <= width for line in part.split("\n"))
        assert part.startswith("ranking")  # names are repeated
    heads = [word for part in parts for word in re.split(r"\s{2,}", part.split("\n")[0])[1:]]
    assert [head.strip() for head in heads] == list(TABLE.header[1:])
    assert (len(parts) == 1) == (width >= len(TABLE.text().split("\n")[2]))


def test_a_column_wider_than_the_terminal_stands_alone():
    wide = ResultTable("", ["", "x" * 50, "y"], [["a", "1", "2"]])
    assert len(wide.text(20).split("\n\n")) == 2


def test_markdown_has_a_rule_per_column_and_escapes_bars():
    text = ResultTable("", ["name", "v"], [["a|b*c", Cell("1", True, "d")]]).markdown()
    assert text.split("\n")[:3] == ["| name | v |", "| :-- | --: |", "| a\\|b\\*c | **1** <sup>d</sup> |"]


def test_latex_escapes_what_it_would_obey():
    text = ResultTable("50 % of a_b", ["name", "p"], [[r"x\y {z} #1 ~^", "< 0.0001"]], ["gain 2^label − 1"]).latex(
        label="tab:one"
    )
    assert "50 \\% of a\\_b. gain 2\\textasciicircum{}label $-$ 1." in text
    assert r"x\textbackslash{}y \{z\} \#1 \textasciitilde{}\textasciicircum{} & $<$ 0.0001 \\" in text
    assert r"\begin{tabular}{lr}" in text
    assert r"\label{tab:one}" in text
    assert text.count("{") == text.count("}")


def test_csv_gives_marks_a_column_of_their_own():
    rows = list(csv.reader(io.StringIO(TABLE.csv())))
    assert rows[0] == ["ranking", "NDCG@10", "NDCG@10: better than", "MAP", "a long heading"]
    assert rows[2] == ["ours", "0.41", "ab", "0.5", "y"]


def test_html_escapes_and_marks():
    text = ResultTable("<t>", ["<h>"], [[Cell("<b>", True, "<m>")]], ["<n>"]).html()
    assert "<t>" not in text
    assert "<strong>&lt;b&gt;</strong><sup>&lt;m&gt;</sup>" in text
    assert "&lt;n&gt;" in text


def test_a_table_without_rows_has_its_header():
    empty = ResultTable("t", ["a", "b"], [])
    assert empty.text().split("\n")[1].split() == ["a", "b"]
    assert empty.csv() == "a,b\n"


COMPARED = ResultTable(
    "b against a",
    ["measure", *(f"column {n}" for n in range(12))],
    [
        ["NDCG@10", *(Cell(f"+0.{n}123", significant="better") if n % 5 == 2 else f"0.{n}" for n in range(12))],
        ["MAP", *(Cell(f"-0.{n}1", n == 2, "ab", "worse") if n % 5 == 2 else f"0.{n}" for n in range(12))],
    ],
    ["ties: stable"],
)


@pytest.mark.parametrize("width", [80, 100, 132, None])
def test_lines_for_a_terminal_fit_and_say_what_is_significant_without_colours(width):
    lines = list(COMPARED.styled(width))
    assert all(len(line.text) <= (width or 1000) for line in lines)
    stretches = {}
    for line in lines:
        for first, behind, role in line.stretches:
            stretches.setdefault(role, []).append(line.text[first:behind].strip())
    assert stretches["better"] == ["+0.2123 ▲", "+0.7123 ▲"]
    assert stretches["worse"] == ["-0.21 ab▼", "-0.71 ab▼"]
    assert stretches["best"] == ["-0.21 ab▼"]
    assert stretches["note"] == [
        "▲ significantly better, ▼ significantly worse; bold: the best",
        "ties: stable",
    ]
    assert "".join(line.text for line in lines).count("NDCG@10") == len(stretches["heading"]) - 1, "one per part"


def test_marks_of_the_terminal_are_not_in_files():
    for text in (COMPARED.text(), COMPARED.markdown(), COMPARED.latex(), COMPARED.csv()):
        assert "▲" not in text
    plain = ResultTable("t", ["a"], [["1"]])
    assert [line.text for line in plain.styled()] == ["t", "a", "─", "1"]


def test_csv_gives_numbers_in_full_and_intervals_two_columns():
    rows = [["a", number_cell(1 / 3), interval_cell(-0.25, 1e-9, sign=True), p_value_cell(1e-9), share_cell(0.125)]]
    rows.append(
        ["b", number_cell(math.nan), interval_cell(math.nan, math.nan), p_value_cell(math.nan), count_cell(1234)]
    )
    table = ResultTable("", ["", "mean", "interval", "p", "share"], rows)
    read = list(csv.reader(io.StringIO(table.csv())))
    assert read[0] == ["", "mean", "interval low", "interval high", "p", "share"]
    assert read[1] == ["a", repr(1 / 3), "-0.25", "1e-09", "1e-09", "0.125"]
    assert read[2] == ["b", "", "", "", "", "1234"]
    assert "[-0.2500, +0.0000]" in table.text()
    assert "1,234" in table.markdown()
