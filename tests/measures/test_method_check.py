"""A user's measure whose methods contradict its value is refused before it is used; one whose methods agree is not."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.crowd import Crowd

import rankforce as rf
from rankforce.measures import method_check
from rankforce.measures.judged import judged

DATA = rf.make_artificial(queries=30, documents=10, features=3, seed=1)
SCORES = np.zeros(DATA.n_documents)


class TopThree(rf.Measure):
    """What the first three are worth, with its swap and its mean over ties."""

    COLUMNS = 2

    def normaliser(self, ideal):
        return 1.0 if ideal.shape[0] > 0 and ideal[0] > 0 else 0.0

    def value(self, ranked, normaliser):
        total = 0.0
        for r in range(min(3, ranked.shape[0])):
            total += ranked[r]
        return total

    def prepare(self, ranked, normaliser, columns):
        for r in range(ranked.shape[0]):
            columns[0, r] = ranked[r]
            columns[1, r] = 1.0 if r < 3 else 0.0

    def swap_delta(self, a, b):
        return (a[0] - b[0]) * (b[1] - a[1])

    def expected_value(self, ranked, tie_ends, normaliser):
        total = 0.0
        start = 0
        while start < min(3, ranked.shape[0]):
            end = tie_ends[start]
            worth = 0.0
            for r in range(start, end):
                worth += ranked[r]
            total += worth * min(1.0, (3.0 - start) / (end - start))
            start = end
        return total


class WrongSwap(TopThree):
    def swap_delta(self, a, b):
        return a[0] - b[0]


class OneSided(TopThree):
    """Right if the upper document is given first alone: the fast loop gives them in the order of labels."""

    COLUMNS = 3

    def prepare(self, ranked, normaliser, columns):
        for r in range(ranked.shape[0]):
            columns[0, r] = ranked[r]
            columns[1, r] = 1.0 if r < 3 else 0.0
            columns[2, r] = -1.0 * r

    def swap_delta(self, a, b):
        change = (a[0] - b[0]) * (b[1] - a[1])
        return change if a[2] > b[2] else 0.0


class Reversed(TopThree):
    """Before minus after: as good for the forces of pairs, which are pulled by its size."""

    def swap_delta(self, a, b):
        return (b[0] - a[0]) * (b[1] - a[1])


class WrongPrepare(TopThree):
    def prepare(self, ranked, normaliser, columns):
        for r in range(ranked.shape[0]):
            columns[0, r] = ranked[r]
            columns[1, r] = 1.0 if r < 4 else 0.0


class WrongMean(TopThree):
    def expected_value(self, ranked, tie_ends, normaliser):
        return -3.0


class OtherValue(rf.NDCG):
    """Swaps and expected values stay those of NDCG."""

    def value(self, ranked, normaliser):
        return ranked[0] / normaliser


class OtherPairs(rf.PairwiseAccuracy):
    def value(self, ranked, normaliser):
        return ranked[0] / normaliser


class WrongRuns(rf.PairwiseAccuracy):
    """Its swap of two is right; what it writes of one document with many is not."""

    def swap_deltas(self, columns, run_ends, i, first, last, changes):
        for j in range(first, last):
            changes[j] = 0.25


class Binary(rf.Measure):
    """Average precision of labels 0 and 1: its swap counts relevant documents, and needs no other worth."""

    COLUMNS = 2

    def normaliser(self, ideal):
        return ideal.sum()

    def value(self, ranked, normaliser):
        total = 0.0
        for r in range(ranked.shape[0]):
            total += ranked[r] * ranked[r] / (r + 1.0)
        return total

    def prepare(self, ranked, normaliser, columns):
        for r in range(ranked.shape[0]):
            columns[0, r] = ranked[r]
            columns[1, r] = 1.0 / (r + 1.0)

    def swap_delta(self, a, b):
        return (a[0] - b[0]) * (b[1] - a[1])


class FirstTen(TopThree):
    """Knows no list of fewer than ten documents."""

    def value(self, ranked, normaliser):
        total = 0.0
        for r in range(10):
            total += ranked[r]
        return total

    def prepare(self, ranked, normaliser, columns):
        for r in range(ranked.shape[0]):
            columns[0, r] = ranked[r]
            columns[1, r] = 1.0 if r < 10 else 0.0


def judged_by(measure, data=DATA):
    method_check._agreeing.clear()
    return judged(data, measure)


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        (WrongSwap(), "WrongSwap: swap_delta gives"),
        (WrongPrepare(), "WrongPrepare: swap_delta, which it has from TopThree, gives"),
        (OneSided(), "OneSided: swap_delta gives 0 for"),
        (OtherValue(), "OtherValue: swap_delta, which it has from RankWeighted, gives"),
        (OtherPairs(), "OtherPairs: swap_delta_between, which it has from Concordance, gives"),
        (WrongRuns(), "WrongRuns: swap_deltas gives 0.25"),
    ],
    ids=lambda one: str(one).partition(":")[0],
)
def test_a_swap_that_is_no_change_of_the_value_is_refused(measure, words):
    for signed in (True, False):
        with pytest.raises(rf.MeasureError, match=f"^{words}") as refused:
            method_check.check_swaps(judged_by(measure), signed=signed)
    assert re.search(r"at ranks \d+ and \d+ \(from 0\) of a list worth [\d., ]+;", str(refused.value))
    assert re.search(r"value is \S+ before they swap and \S+ after, a change of \S+\. Correct", str(refused.value))


@pytest.mark.parametrize("measure", [WrongMean(), OtherValue()], ids=str)
def test_an_expected_value_that_is_no_mean_is_refused(measure):
    judged_by(measure)
    with pytest.raises(rf.MeasureError, match=r"expected_value.* gives \S+ on a list worth .* mean of value over all"):
        rf.evaluate(SCORES, DATA, measure, ties="expected")
    rf.evaluate(SCORES, DATA, measure, ties="stable")  # which does not ask it


def test_a_training_refuses_wrong_swaps():
    judged_by(WrongSwap())
    for ranker in (rf.LambdaMART(WrongSwap(), n_trees=1, progress=False), rf.LambdaRank(WrongSwap(), progress=False)):
        with pytest.raises(rf.MeasureError, match="WrongSwap: swap_delta gives"):
            ranker.fit(DATA)
    with pytest.raises(rf.MeasureError, match="WrongSwap: swap_delta gives"):
        rf.forces_at(DATA, SCORES, WrongSwap())


def test_right_methods_are_let_through():
    for measure in (TopThree(), Reversed()):
        method_check.check_swaps(judged_by(measure), signed=False)
    method_check.check_swaps(judged_by(TopThree()), signed=True)
    method_check.check_expected_values(judged_by(TopThree()))
    with pytest.raises(rf.MeasureError, match="Reversed: swap_delta gives"):  # listwise forces know the sign
        method_check.check_swaps(judged_by(Reversed()), signed=True)


def test_a_method_need_not_know_what_the_data_does_not_have():
    binary = rf.Dataset(np.zeros((12, 1)), [0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0], group=[12])
    method_check.check_swaps(judged_by(Binary(), binary), signed=True)
    with pytest.raises(rf.MeasureError, match="Binary: swap_delta gives"):
        method_check.check_swaps(judged(DATA, Binary()), signed=True)  # more worths than those that agreed
    method_check.check_swaps(judged_by(FirstTen()), signed=True)
    method_check.check_expected_values(judged_by(TopThree(), binary))


def test_measures_of_the_package_and_values_alone_are_not_looked_at(monkeypatch):
    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(method_check.KnownLists, "of", refuse)
    method_check.check_swaps(judged_by(rf.NDCG()), signed=True)
    method_check.check_expected_values(judged_by(rf.NDCG()))


def test_a_class_is_compared_once(monkeypatch):
    found = judged_by(TopThree())
    compared = []
    compare = method_check.compare_swaps
    monkeypatch.setattr(method_check, "compare_swaps", lambda *a, **k: compared.append(compare(*a, **k)))
    method_check.check_swaps(found, signed=True)
    method_check.check_swaps(found, signed=True)
    assert len(compared) == 1
    assert compared[0] > 100


def test_members_refuse_alike_though_one_has_nothing_to_rank():
    method_check._agreeing.clear()
    queries = [[], [0], np.arange(1, 30)]

    def check(rank):
        method_check.check_swaps(judged(DATA.take_queries(queries[rank]), WrongSwap()), signed=False)

    errors = Crowd(3).outcomes(check)
    assert [type(error) for error in errors] == [rf.MeasureError] * 3
    assert len(set(map(str, errors))) == 1


def test_the_public_check_says_what_agreed():
    checked = rf.diagnostics.check_measure(TopThree())
    assert checked.swaps > 100
    assert checked.expected_values > 10
    assert str(checked) == (
        f"TopThree: {checked.swaps} swaps agree with value; {checked.expected_values} expected values over ties agree "
        "with it"
    )
    assert checked.to_dict()["swaps"] == checked.swaps
    assert "sampled" in str(rf.diagnostics.check_measure(Binary(), labels=[0, 1]))
    assert "no mean by definition" in str(rf.diagnostics.check_measure("KendallTau(variant=b)"))
    for wrong in (WrongSwap(), WrongMean(), Reversed(), Binary()):
        with pytest.raises(rf.MeasureError, match=type(wrong).__name__):
            rf.diagnostics.check_measure(wrong)
    with pytest.raises(rf.DataError, match="cannot tell a swap with the labels"):
        rf.diagnostics.check_measure("NDCG", labels=[0, 0])
