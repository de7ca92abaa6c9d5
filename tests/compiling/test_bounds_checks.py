"""An index out of bounds in a user's class: an error that names the line, in whatever kernel and on whatever thread."""

from __future__ import annotations

import re

import numpy as np
import pytest

import rankforce as rf
from rankforce.forces.forces import Forces, RunningOrder
from rankforce.kernels.ranking.swaps import swap_changes
from rankforce.objectives.objective import Objective, Term

FILE = re.escape(__file__)


class TopWorth(rf.Measure):
    """The mistake that everyone makes: a query has fewer documents than the cut-off."""

    cutoff: int | None = 10

    def normaliser(self, ideal):
        return 1.0

    def value(self, ranked, normaliser):
        total = 0.0
        for r in range(self.cutoff):
            total += ranked[r]  # beyond the end
        return total


class IdealOfTwo(rf.Measure):
    def normaliser(self, ideal):
        return ideal[1]  # beyond the end

    def value(self, ranked, normaliser):
        return ranked[0]


class RowTooMany(rf.Measure):
    COLUMNS = 2

    def normaliser(self, ideal):
        return 1.0

    def value(self, ranked, normaliser):
        return ranked[0]

    def prepare(self, ranked, normaliser, columns):
        for r in range(ranked.shape[0]):
            columns[0, r] = ranked[r]
            columns[2, r] = 1.0  # beyond the end

    def swap_delta(self, a, b):
        return a[0] - b[0]


class DocumentTooMany(rf.lambdas.ListwiseLambdaFunction):
    def forces(self, scores, grades, order, measure, state, out):
        out[order.shape[0]] = 1.0  # beyond the end


class RankTooMany(rf.lambdas.ListwiseLambdaFunction):
    def forces(self, scores, grades, order, measure, state, out):
        gain = 0.0
        gain += rf.lambdas.value_if_moved(measure, state, 0, order.shape[0])  # beyond the end
        out[0] = gain


class RankBelowZero(rf.lambdas.ListwiseLambdaFunction):
    def forces(self, scores, grades, order, measure, state, out):
        out[0] = rf.lambdas.value_if_moved(measure, state, 1, -1)  # beyond the end


class SwapBelowZero(rf.lambdas.ListwiseLambdaFunction):
    def forces(self, scores, grades, order, measure, state, out):
        out[0] = rf.lambdas.change_if_swapped(measure, state, -1, 1)  # beyond the end


def lines(cls):
    """Where the mistake of a class is."""
    with open(__file__) as file:
        text = file.read().splitlines()
    begin = text.index(next(line for line in text if line.startswith(f"class {cls.__name__}(")))
    return next(number for number in range(begin, len(text)) if "# beyond the end" in text[number]) + 1


def expected(cls, method):
    return rf"^{cls.__name__}.{method}: an index is out of bounds \({FILE}, line {lines(cls)}: .*# beyond the end\)\n"


def test_in_value_on_any_thread():
    data = rf.Dataset(np.zeros((4000, 1)), np.zeros(4000), group=[20] * 199 + [5] * 4)
    for threads in (1, 2):
        with pytest.raises(rf.MeasureError, match=expected(TopWorth, "value")):
            rf.evaluate(np.arange(4000.0), data, TopWorth(), threads=threads)


def test_in_normaliser():
    data = rf.Dataset(np.zeros((3, 1)), [1, 2, 1], group=[2, 1])
    with pytest.raises(rf.MeasureError, match=expected(IdealOfTwo, "normaliser")):
        rf.evaluate(np.zeros(3), data, IdealOfTwo())


def test_in_prepare():
    with pytest.raises(rf.MeasureError, match=expected(RowTooMany, "prepare")):
        swap_changes(RowTooMany().kernel_tuple(), np.zeros(3), 1.0, np.zeros((2, 3)), np.zeros((3, 3)))


@pytest.mark.parametrize(
    "lambda_function", [DocumentTooMany(), RankTooMany(), RankBelowZero(), SwapBelowZero()], ids=str
)
def test_in_forces_and_in_what_they_call(lambda_function):
    data = rf.Dataset(np.zeros((5, 1)), [0, 1, 2, 1, 0], group=[3, 2])
    with pytest.raises(rf.SettingsError, match=expected(type(lambda_function), "forces")):
        Forces(data, Objective((Term(rf.NDCG(), lambda_function),)), 0).at(
            np.zeros(5), RunningOrder(data, 0).update(np.zeros(5))
        )


def test_negative_indices_count_from_the_end_as_in_python():
    class Last(rf.Measure):
        reach: int = 1

        def normaliser(self, ideal):
            return 1.0

        def value(self, ranked, normaliser):
            return ranked[-self.reach]

    data = rf.Dataset(np.zeros((3, 1)), [3, 2, 1], group=[3])
    assert rf.evaluate(-np.arange(3.0), data, Last(3)).mean[Last(3)] == 3.0
    with pytest.raises(rf.MeasureError, match=r"Last.value: an index is out of bounds"):
        rf.evaluate(-np.arange(3.0), data, Last(4))


@pytest.mark.compiled_only
def test_checks_can_be_left_out():
    """The array that kernels hand out is as long as the longest query, so what is read here is still theirs."""

    class Unchecked(TopWorth):
        BOUNDS_CHECKS = False

    assert Unchecked.Kernel is not TopWorth.Kernel
    data = rf.Dataset(np.zeros((7, 1)), np.ones(7), group=[4, 3])
    assert rf.evaluate(np.zeros(7), data, Unchecked(4)).per_query[Unchecked(4)][0] == 4.0
    with pytest.raises(rf.MeasureError, match="out of bounds"):
        rf.evaluate(np.zeros(7), data, TopWorth(4))


def test_worth_of_another_length_is_refused():
    class Short(TopWorth):
        def worth(self, labels):
            return labels[1:]

    data = rf.Dataset(np.zeros((3, 1)), [1, 2, 1], group=[3])
    with pytest.raises(rf.MeasureError, match=r"Short@10: worth gives an array of shape \(2,\) for 3 labels"):
        rf.evaluate(np.zeros(3), data, Short())


@pytest.mark.parametrize("count", [1, 2.5, None])
def test_fewer_columns_than_are_read_are_refused(count):
    class Narrow(RowTooMany):
        def column_count(self, worth):
            return count

    data = rf.Dataset(np.zeros((3, 1)), [1, 2, 1], group=[3])
    with pytest.raises(rf.MeasureError, match=r"column_count gives .* of at least COLUMNS, 2"):
        rf.LambdaMART(Narrow(), n_trees=1, progress=False).fit(data)
