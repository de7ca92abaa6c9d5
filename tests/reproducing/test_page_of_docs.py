"""docs/experiments.md is what the records of runs give: every experiment, with its verdict and its picture."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from tools.experiment_remarks import WHY, WHY_REAL
from tools.experiments_page import RESULTS, differing_claims, in_words, page_of, recorded

from rankforce.reproducing.catalogue import all_experiments
from rankforce.reproducing.experiment import Size
from rankforce.reproducing.records import record_of, run_of
from rankforce.reproducing.rules import Verdict
from rankforce.reproducing.running import stamp_of

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "experiments.md").read_text(encoding="utf-8")
QUICK, FULL = recorded("quick"), recorded("full")


def test_the_page_is_what_the_records_give():
    # Not equal? python -m tools.write_experiments_page writes it.
    assert page_of(QUICK, FULL).splitlines() == TEXT.splitlines()


def test_every_experiment_was_run_and_some_in_full():
    assert list(QUICK) == list(all_experiments())
    assert len(FULL) >= 3
    names = {f"{name}-{size}.json.gz" for size, runs in (("quick", QUICK), ("full", FULL)) for name in runs}
    assert {one.name for one in RESULTS.iterdir()} == names


LINES = re.findall(r"^\| \[([\w-]+)\]\(#\1\) \| (.*) \| (.*) \| (\d+) of (\d+) \| (.*) \|$", TEXT, re.MULTILINE)


def test_the_table_at_the_top_is_the_catalogue():
    papers = {one.paper.title for one in all_experiments().values()}
    lines = [line for line in LINES if line[1] in papers]
    assert [line[0] for line in lines] == list(all_experiments())
    for name, title, place, agreeing, claims, verdict in lines:
        one = all_experiments()[name]
        assert (title, place) == (one.paper.title, one.place)
        assert int(claims) == len(one.claims())
        assert verdict in list(Verdict)
        assert (agreeing == claims) == (verdict == Verdict.AGREES)


@pytest.mark.parametrize("name", QUICK)
def test_a_section_has_what_was_claimed_and_a_small_picture(name):
    section = TEXT.partition(f"\n### {name}\n")[2].partition("\n### ")[0]
    one = all_experiments()[name]
    for claim in one.claims():
        assert f"| {claim.statement} |" in section
        assert claim.rule in section
    for data in one.real:
        assert f"**On real data, {data}: {QUICK[name].verdict_of(data)}.**" in section
    (picture,) = re.findall(r"!\[.*\]\((images/experiments/.*)\)", section)
    assert 0 < (DOCS / picture).stat().st_size <= 60_000


def test_no_other_pictures_are_left():
    known = set(re.findall(r"\((images/experiments/[^)]*)\)", TEXT))
    assert {f"images/experiments/{one.name}" for one in (DOCS / "images" / "experiments").iterdir()} == known


def test_sentences_on_what_differs_are_there_and_have_no_results_in_them():
    assert {name for name, run in QUICK.items() if differing_claims(run.outcomes)} == set(WHY)
    elsewhere = {name for name, run in QUICK.items() for data in run.real if differing_claims(run.outcomes_of(data))}
    assert elsewhere == set(WHY_REAL)
    for sentence in (*WHY.values(), *WHY_REAL.values()):
        assert not re.search(r"\d\.\d|\.\d|%", sentence.replace("Eq. 11", "")), "numbers stand in tables"


@pytest.mark.parametrize(("size", "name"), [*(("quick", name) for name in QUICK), *(("full", name) for name in FULL)])
def test_a_record_was_made_by_the_code_of_today_and_edited_rules_are_told(size, name):
    run, one = (QUICK if size == "quick" else FULL)[name], all_experiments()[name]
    # Not equal? The size, or code that work uses, was edited: rankforce reproduce NAME, then the page anew.
    assert run.size.numbers == one.sizes[size].numbers
    assert run.stamp == stamp_of(one, run.size)
    assert run.first_judged
    if run.rules_changed():
        assert one.revised, "a rule that was edited after its rows were known is told of"


def test_an_edited_rule_or_size_is_seen_in_a_record():
    run = QUICK["balanced-error"]
    (first,) = run.first_judged[""]
    assert run.rules_changed() == []
    edited = dataclasses.replace(run, first_judged={"": [first._replace(rule="agrees always")]})
    assert edited.rules_changed() == [first.statement]
    larger = Size(seeds=1, minutes=1, **{**run.size.numbers, next(iter(run.size.numbers)): 7})
    assert stamp_of(run.experiment, larger) != run.stamp


def test_counts_of_verdicts_are_sentences():
    agrees, differs, open_ = Verdict
    assert in_words({agrees: 18, differs: 1, open_: 9}) == "18 agree, 1 differs and 9 cannot be told at this size"
    assert in_words({agrees: 0, differs: 3, open_: 0}) == "none agrees, 3 differ and none cannot be told at this size"


def test_a_record_holds_the_run():
    run = run_of((RESULTS / "mart-classification-quick.json.gz").read_bytes())
    again = run_of(record_of(run))
    assert again.to_dict() == run.to_dict()
    assert (again.size.numbers, again.stamp, again.first_judged) == (run.size.numbers, run.stamp, run.first_judged)
    assert list(again.rows) == list(run.rows)
    assert {name: list(rows) for name, rows in again.real.items()} == {n: list(rows) for n, rows in run.real.items()}
