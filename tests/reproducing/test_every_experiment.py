"""What every experiment must do, in a tiny form: run, judge its claims, draw, and say where it comes from."""

from __future__ import annotations

import math
import warnings

import pytest

from rankforce.reproducing.catalogue import all_experiments, experiment_named
from rankforce.reproducing.pages import page, write_results
from rankforce.reproducing.papers import PAPERS
from rankforce.reproducing.rules import Verdict
from rankforce.reproducing.running import run_experiment

EXPERIMENTS = all_experiments()


def test_every_paper_has_experiments_in_the_order_of_its_pages():
    papers = [one.paper for one in EXPERIMENTS.values()]
    assert list(dict.fromkeys(papers)) == list(PAPERS)
    assert papers == sorted(papers, key=PAPERS.index)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_declares_itself(name):
    one = experiment_named(name)
    assert one.name == name
    assert name == name.lower()
    assert " " not in name
    assert one.found.endswith(".")
    assert set(one.sizes) == {"tiny", "quick", "full"}
    names = {frozenset(size.numbers) for size in one.sizes.values()}
    assert len(names) == 1, "all sizes have the same numbers"
    assert one.sizes["quick"].minutes <= one.sizes["full"].minutes
    for size in one.sizes.values():
        assert set(one.paper_size) & set(one.size_in_words(size)), "sizes stand side by side"
    claims = one.claims()
    assert claims
    assert len({claim.statement for claim in claims}) == len(claims)


LONG = {
    "lambda-functions",
    "local-optimality",
    "single-weights",
    "pairs-by-lambda-function",
}  # they compile for every λ-function


@pytest.mark.compiled_only
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.soak) if name in LONG else name for name in EXPERIMENTS]
)
def test_an_experiment_runs_in_a_tiny_form(name, tmp_path):
    one = experiment_named(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = run_experiment(one, "tiny", tmp_path, progress=False)
        write_results(found, tmp_path)
    assert len(found.rows)
    assert all(math.isfinite(row["value"]) for row in found.rows)
    for claim, outcome in found.outcomes:
        assert outcome.verdict in Verdict
        assert outcome.evidence, claim.statement
    known = {(row["arm"], row["measure"]) for row in one.published}
    shown = {(row["arm"], row["measure"]) for _, rows in one.tables(found.rows) for row in rows}
    assert known <= shown, "numbers of the paper stand beside ours"
    text = page(found, "figure.svg")
    assert all(f"paper: {arm}" in text for arm, _ in known)
    repeated = one.run(one.parts(found.size)[0], 0, found.size) if name in DETERMINED else None
    if repeated is not None:
        kept = list(found.rows.where(seed=0, part=one.parts(found.size)[0]))
        assert [{"seed": 0, "part": one.parts(found.size)[0], **row} for row in repeated] == kept


# Small ones of every kind, run twice: the same seed gives the same rows.
DETERMINED = {"lambdarank-artificial", "missing-labels", "label-noise", "martingale-edges", "balanced-error"}
