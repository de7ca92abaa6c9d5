"""Tables in every form: aligned, broken to a width, escaped, with marks and bold numbers."""

from __future__ import annotations

import csv
import io
import re

import pytest

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
