"""What other tools would say: their numbers, only where they are others, with the reason."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from tests.agreement.judged_lists import judged_lists

import rankforce as rf
from rankforce.evaluation.elsewhere import ASKED

BLANK = rf.Dataset(np.zeros((6, 1)), [1, 0, 1, 0, 0, 0], group=[2, 2, 2])
NO_TIES = np.array([2.0, 1.0, 1.0, 2.0, 2.0, 1.0])


@pytest.mark.parametrize("seed", range(3))
def test_the_numbers_are_those_of_the_conventions(seed: int) -> None:
    lists = judged_lists(seed=seed)
    data = lists.data(weighted=seed == 2)
    result = rf.evaluate(lists.scores, data, ["NDCG@10", "MAP", "ERR@5"])
    for name, found in result.elsewhere.items():
        for one in found:
            expected = rf.evaluate(lists.scores, data, name, convention=one.convention).mean[name]
            assert one.mean == expected
            assert f"{expected:.4f}" != f"{result.mean[name]:.4f}"
        told = {one.convention for one in found}
        for convention in set(ASKED) - told:
            try:
                same = rf.evaluate(lists.scores, data, name, convention=convention).mean[name]
            except rf.RankforceError:
                continue
            assert f"{same:.4f}" == f"{result.mean[name]:.4f}"


def test_one_line_per_measure_groups_tools_and_says_why() -> None:
    result = rf.evaluate(NO_TIES, BLANK, "NDCG@5")
    assert (
        "elsewhere: NDCG@5 is 0.8770 by lightgbm and xgboost (blank queries 1); 0.5436 by ranklib (blank queries 0)"
        in str(result).split("\n")
    )


def test_nothing_is_said_where_numbers_agree_or_a_tool_was_named() -> None:
    judged = rf.Dataset(np.zeros((4, 1)), [1, 0, 1, 0], group=[2, 2], document_ids=list("abcd"))
    for result in (
        rf.evaluate(NO_TIES[:4], judged, "NDCG@5"),  # no blank query, no ties, gains 0 and 1
        rf.evaluate(NO_TIES, BLANK, "NDCG@5", convention="lightgbm"),
        rf.evaluate(NO_TIES, BLANK, "Judged@5"),  # no tool has it
    ):
        assert "elsewhere" not in str(result)
        assert not any(result.elsewhere.values())


@pytest.mark.parametrize(
    ("labels", "scores", "weights", "reason"),
    [
        ([3, 1, 0, 1], [1.0, 3.0, 2.0, 0.0], None, "gain label"),
        ([0, 1, 0, 1], [1.0, 1.0, 1.0, 0.0], None, "ties by document id"),
        ([0, 1, 1, 0], [1.0, 0.0, 1.0, 0.0], [1.0, 3.0], "no query weights"),
        ([0, 1, 1, 0], [1.0 + 1e-12, 1.0, 1.0, 0.0], None, "scores in single precision"),
    ],
)
def test_trec_eval_differs_for_a_reason(
    labels: list[int], scores: list[float], weights: list[float] | None, reason: str
) -> None:
    data = rf.Dataset(np.zeros((4, 1)), labels, group=[2, 2], document_ids=list("abcd"), query_weights=weights)
    (found,) = (one for one in rf.evaluate(scores, data, "NDCG").elsewhere["NDCG"] if one.convention == "trec")
    assert found.reasons == (reason,)


def test_a_comparison_says_it_of_both() -> None:
    text = str(rf.compare(NO_TIES, -NO_TIES, BLANK, "NDCG@5", names=("old", "new")))
    assert "0.5436 for old, 0.5436 for new by ranklib (blank queries 0)" in text


def test_a_leaderboard_says_it_of_few_by_name_and_of_many_that_it_is_so() -> None:
    rankings = {name: NO_TIES * sign for name, sign in [("a", 1), ("b", -1), ("c", 2), ("d", -2)]}
    few = str(rf.compare({name: rankings[name] for name in "abc"}, BLANK, "NDCG@5"))
    assert "0.5436 for a, 0.5436 for b, 0.5436 for c by ranklib (blank queries 0)" in few
    assert "another number by ranklib (blank queries 0)" in str(rf.compare(rankings, BLANK, "NDCG@5"))


def test_json_has_it() -> None:
    result = rf.evaluate(NO_TIES, BLANK, "NDCG@5")
    (ranklib,) = (one for one in result.to_dict()["measures"]["NDCG@5"]["elsewhere"] if one["convention"] == "ranklib")
    (expected,) = (one for one in result.elsewhere["NDCG@5"] if one.convention == "ranklib")
    assert ranklib == {"convention": "ranklib", "mean": expected.mean, "reasons": ["blank queries 0"]}


def test_a_pickled_evaluation_no_longer_knows() -> None:
    result = pickle.loads(pickle.dumps(rf.evaluate(NO_TIES, BLANK, "NDCG@5")))
    assert result.elsewhere == {"NDCG@5": ()}
    assert "elsewhere" not in str(result)
