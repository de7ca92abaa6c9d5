"""All queries differ by the same: a t-test is undefined, and the randomisation test decides wherever one does."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from tests.crowd import Crowd

import rankforce as rf
from rankforce.cli.commands.demo import in_words
from rankforce.evaluation import significance
from rankforce.reproducing.rows import Rows
from rankforce.reproducing.rules import pooled
from rankforce.training.weight_search import _worse

WORSE, BETTER = [0.0, 2.0, 1.0], [2.0, 1.0, 0.0]  # of a query whose first document alone is relevant


def differing(queries):
    """Data, and two rankings of it whose reciprocal ranks differ by 2/3 in every query."""
    labels = np.tile([1.0, 0.0, 0.0], queries)
    data = rf.Dataset(np.column_stack([np.tile(WORSE, queries), np.tile(BETTER, queries)]), labels, group=[3] * queries)
    return data, np.tile(WORSE, queries), np.tile(BETTER, queries)


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 5.0]])
@pytest.mark.parametrize("noise", [0.0, 1e-16])
def test_a_t_test_needs_a_spread(weights, noise):
    differences = np.array([0.5, 0.5 + noise, 0.5 - noise])
    given = None if weights is None else np.array(weights)
    assert all(map(math.isnan, significance.paired_t_test(differences, given)))
    assert all(map(math.isnan, significance.paired_interval(differences, given)))
    assert significance.deciding_p(differences, given) == 0.25
    assert significance.paired_t_test(np.zeros(3), given) == (0.0, 1.0)
    assert significance.paired_interval(np.zeros(3), given) == (0.0, 0.0)
    assert significance.deciding_p(np.zeros(3), given) == 1.0
    assert math.isnan(significance.deciding_p(differences[:1], None if given is None else given[:1]))


def test_a_spread_that_is_no_rounding_is_tested():
    differences = np.array([0.5, 0.5 + 1e-9])
    assert significance.paired_t_test(differences).p_value < 1e-6
    assert significance.deciding_p(differences) == significance.paired_t_test(differences).p_value


def test_two_queries_are_no_proof_and_six_are():
    for queries, outcome in ((2, "equal"), (5, "equal"), (6, "better")):
        data, a, b = differing(queries)
        found = rf.compare(a, b, data, ["MRR", "NDCG@1"], graded=True)
        p = 0.5 ** (queries - 1)
        assert found.deciding_test("MRR") == "randomisation"
        assert found.p_value["MRR"] == found.randomisation["MRR"].p_value == p
        assert found.holm["MRR"] == 2 * p
        assert found.verdict.outcome == outcome
        assert found._significance("MRR") == ("" if 2 * p >= 0.05 else "better")
        shown = json.loads(json.dumps(found.to_dict(), allow_nan=False))["measures"]["MRR"]
        assert (shown["t_statistic"], shown["t_test_p"], shown["interval"]) == (None, None, [None, None])
        assert (shown["p"], shown["deciding_test"], shown["t_test_holm_p"]) == (p, "randomisation", 2 * p)


def test_the_table_and_the_verdict_say_which_test_decides():
    data, a, b = differing(2)
    found = rf.compare(a, b, data, "MRR", graded=True)
    row = next(line for line in str(found).splitlines() if line.startswith("MRR "))
    assert row.split()[3:7] == ["+0.6667", "–", "–", "0.5000"]
    assert "MRR: the same difference in every query, for which a t-test is undefined" in str(found)
    assert "(+0.6667, p = 0.5000 by randomisation)" in str(found.verdict)
    assert "randomisation where all differences are the same" in str(found.verdict)
    assert "randomisation test: p = 0.5000" in in_words(found)
    assert "no more than chance" in in_words(found)
    b[:3] = [1.0, 2.0, 0.0]
    ordinary = str(rf.compare(a, b, data, "MRR", graded=True))
    assert "undefined" not in ordinary
    assert "by randomisation" not in ordinary


def test_no_difference_in_any_query_is_tested_as_ever():
    data, a, _ = differing(2)
    found = rf.compare(a, a, data, "MRR", graded=True)
    assert found.t_test["MRR"] == (0.0, 1.0)
    assert found.interval["MRR"] == (0.0, 0.0)
    assert found.deciding_test() == "t-test"
    assert found.verdict.outcome == "equal"


def test_one_query_is_untested_still():
    data, a, b = differing(1)
    found = rf.compare(a, b, data, "MRR", graded=True)
    assert math.isnan(found.p_value["MRR"])
    assert found.verdict.outcome == "untested"


def test_a_leaderboard_marks_nothing_after_two_queries():
    for queries, better in ((2, ()), (8, ("a",))):
        data, a, b = differing(queries)
        board = rf.compare({"a": a, "b": b, "again": b}, data, "MRR")
        assert board.pairs[0].p_value == 0.5 ** (queries - 1)
        assert board.better_than("b") == better
        assert "a and b in MRR, a and c in MRR: the same difference" in str(board)


def test_held_out_queries_of_a_combination_are_judged_alike():
    for queries, better in ((2, False), (6, True)):
        data, *_ = differing(queries)
        rankers = [np.tile([2.0, 3.0, 0.0], queries), np.tile([2.0, 0.0, 3.0], queries)]  # 1/2 each, together 1
        found = rf.combine(rankers, data, "MRR", validation=(rankers, data))
        assert found.significantly_better is better
        assert f"(randomisation test, p = {0.5 ** (queries - 1):.3g}, {queries} queries)" in str(found)


def test_a_tier_is_not_worse_after_two_queries():
    for queries, p in ((2, 0.5), (6, 0.5**5)):
        data, a, b = differing(queries)
        worse, better = rf.evaluate(a, data, "MRR"), rf.evaluate(b, data, "MRR")
        difference, found = _worse(better, worse, rf.MRR())
        assert difference < 0.0
        assert found == p


def test_claims_of_reproduced_papers_are_judged_alike():
    rows = Rows({"seed": seed, "value": 0.1, "deviation": 0.0, "queries": 2} for seed in range(2))
    found = pooled(rows)
    assert found.p_value == 0.5**3
    assert found.p_of_seeds == 0.5


@pytest.mark.parametrize(
    "differences",
    [
        [0.25, 0.25, 0.25, 0.25, 0.25],
        [0.25, 0.25, 0.25, 0.25, 0.5],  # the same at each of two members
    ],
)
def test_members_decide_by_the_queries_of_all(differences):
    parts = [np.array(differences[:1]), np.array(differences[1:4]), np.array(differences[4:])]
    found = Crowd(3).run(lambda rank: significance.deciding_p(parts[rank], np.ones(len(parts[rank]))))
    assert found == [significance.deciding_p(np.array(differences), np.ones(5))] * 3
