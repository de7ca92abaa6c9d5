"""docs/experiments.md has every experiment, with its verdict and its picture."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rankforce.reproducing.catalogue import all_experiments
from rankforce.reproducing.rules import Verdict

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "experiments.md").read_text(encoding="utf-8")


LINES = re.findall(
    r"^\| \[?([\w-]+)(?:\]\(#\1\))? \| (.*) \| (.*) \| (?:(\d+) of (\d+)|–) \| (.*) \|$", TEXT, re.MULTILINE
)
RUN = [line[0] for line in LINES if line[-1] != "not run yet"]


def test_the_table_at_the_top_is_the_catalogue():
    assert [line[0] for line in LINES] == list(all_experiments())
    assert len(RUN) > len(LINES) / 2
    for name, title, place, agreeing, claims, verdict in LINES:
        one = all_experiments()[name]
        assert (title, place) == (one.paper.title, one.place)
        if name in RUN:
            assert int(claims) == len(one.claims())
            assert verdict in list(Verdict)
            assert (agreeing == claims) == (verdict == Verdict.AGREES)


@pytest.mark.parametrize("name", RUN)
def test_a_section_has_what_was_claimed_and_a_small_picture(name):
    section = TEXT.partition(f"\n### {name}\n")[2].partition("\n### ")[0]
    one = all_experiments()[name]
    for claim in one.claims():
        assert f"| {claim.statement} |" in section
        assert claim.rule in section
    (picture,) = re.findall(r"!\[.*\]\((images/experiments/.*)\)", section)
    assert 0 < (DOCS / picture).stat().st_size <= 60_000


def test_no_other_pictures_are_left():
    known = set(re.findall(r"\((images/experiments/[^)]*)\)", TEXT))
    assert {f"images/experiments/{one.name}" for one in (DOCS / "images" / "experiments").iterdir()} == known
