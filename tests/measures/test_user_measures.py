"""A user's own class works where a built-in one does."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf
from rankforce.kernels.ranking.swaps import swap_changes
from rankforce.measures.judged import JudgedMeasure


class OwnHits(rf.Measure):
    """How much worth is in the top, with the columns that make its swaps fast."""

    cutoff: int | None = 2
    COLUMNS = 2

    def normaliser(self, ideal):
        return 1.0 if ideal.shape[0] > 0 and ideal[0] > 0.0 else 0.0

    def value(self, ranked, normaliser):
        total = 0.0
        for r in range(min(ranked.shape[0], self.cutoff)):
            total += ranked[r]
        return total

    def prepare(self, ranked, normaliser, columns):
        for r in range(ranked.shape[0]):
            columns[0, r] = ranked[r]
            columns[1, r] = 1.0 if r < self.cutoff else 0.0

    def swap_delta(self, a, b):
        return (a[0] - b[0]) * (b[1] - a[1])


class SlowHits(rf.Measure):
    """The same, value only."""

    cutoff: int | None = 2

    def normaliser(self, ideal):
        return 1.0 if ideal.shape[0] > 0 and ideal[0] > 0.0 else 0.0

    def value(self, ranked, normaliser):
        total = 0.0
        for r in range(min(ranked.shape[0], self.cutoff)):
            total += ranked[r]
        return total


class HarshHits(OwnHits):
    """Another worth, the same kernels."""

    def worth(self, labels):
        return np.where(labels >= 3, 1.0, 0.0)


@pytest.mark.parametrize("measure", [OwnHits(3), SlowHits(3)], ids=str)
def test_values_on_data(measure):
    data = rf.Dataset(np.zeros((6, 1)), [0, 1, 2, 3, 0, 0], group=[4, 2])
    values = JudgedMeasure(data, measure).values(np.arange(6, dtype=np.int32))
    assert values[0] == 3.0
    assert np.isnan(values[1])


def test_swaps_by_columns_and_by_brute_force_agree():
    ranked = np.random.default_rng(0).random(9)
    changes = {}
    for measure in (OwnHits(4), SlowHits(4)):
        changes[type(measure)] = np.empty((9, 9))
        swap_changes(measure.kernel_tuple(), ranked, 1.0, np.empty((2, 9)), changes[type(measure)])
    assert OwnHits(4).swap_kind == "columns"
    assert SlowHits(4).swap_kind == "brute"
    np.testing.assert_allclose(changes[OwnHits], changes[SlowHits], atol=1e-15)
    assert np.abs(changes[OwnHits]).max() > 0.1


def test_a_worth_of_its_own_shares_the_kernels():
    assert HarshHits.Kernel is OwnHits.Kernel
    data = rf.Dataset(np.zeros((3, 1)), [1, 3, 4], group=[3])
    assert JudgedMeasure(data, HarshHits(2)).values(np.arange(3, dtype=np.int32))[0] == 1.0


def test_its_written_form_is_read_back():
    assert rf.measure("OwnHits@5:clicks") == OwnHits(5, label="clicks")
    assert str(OwnHits(5, label="clicks")) == "OwnHits@5:clicks"


def test_a_class_defined_again_replaces_the_first():
    def define(factor):
        class Again(rf.Measure):
            def normaliser(self, ideal):
                return 1.0

            def value(self, ranked, normaliser):
                return factor * ranked[0]

        return Again

    data = rf.Dataset(np.zeros((1, 1)), [2.0], group=[1])
    first, second = define(1.0), define(10.0)
    order = np.zeros(1, dtype=np.int32)
    assert JudgedMeasure(data, first()).values(order)[0] == 2.0
    assert JudgedMeasure(data, second()).values(order)[0] == 20.0
    assert type(rf.measure("Again")) is second


def test_too_many_columns_are_refused():
    with pytest.raises(rf.SettingsError, match="COLUMNS is 9"):

        class Wide(rf.Measure):
            COLUMNS = 9


class Unnormalised(rf.Measure):
    """A class without one of its methods."""

    def value(self, ranked, normaliser):
        return ranked[0]


class OfOne(rf.Measure):
    """What the measures that cannot be compiled have in common."""

    def normaliser(self, ideal):
        return 1.0


class Misspelt(OfOne):
    def value(self, ranked, normaliser):
        return ranked[0] / normalizer  # noqa: F821  # that is the mistake


class InWords(OfOne):
    def value(self, ranked, normaliser):
        return "good"


class Unknown(OfOne):
    def value(self, ranked, normaliser):
        total = ranked[0]
        return total.depth


class FromFile(OfOne):
    def value(self, ranked, normaliser):
        with open("values") as file:
            return float(file.read())


def test_a_class_without_a_method_is_refused_when_it_is_made():
    with pytest.raises(rf.MeasureError, match="Unnormalised has no method normaliser"):
        Unnormalised()


@pytest.mark.compiled_only
@pytest.mark.parametrize(
    ("measure", "words"),
    [
        (
            Misspelt,
            r"^Misspelt.value cannot be compiled: NameError: name 'normalizer' .*test_user_measures.py, line \d+",
        ),
        (InWords, r"^InWords cannot be compiled: what a method returns does not fit .*str"),
        (Unknown, r"^Unknown.value cannot be compiled: Unknown attribute 'depth' .*test_user_measures.py, line \d+"),
        (FromFile, r"^FromFile cannot be compiled: The 'with "),
    ],
)
def test_a_class_that_cannot_be_compiled_is_refused_in_few_words(measure, words):
    data = rf.Dataset(np.zeros((3, 1)), [0, 1, 2], group=[3])
    with pytest.raises(rf.MeasureError, match=words) as refused:
        rf.evaluate(np.arange(3.0), data, measure())
    assert len(str(refused.value).splitlines()) == 2
    assert "it may use numbers, arrays, loops" in str(refused.value)
    assert type(refused.value.__cause__).__module__ == "numba.core.errors"


class NotEverywhere(OfOne):
    """No number where a query has two documents."""

    def value(self, ranked, normaliser):
        return np.nan if ranked.shape[0] == 2 else ranked[0]


class NotNormalised(rf.Measure):
    def normaliser(self, ideal):
        return np.nan if ideal.shape[0] == 2 else 1.0

    def value(self, ranked, normaliser):
        return ranked[0]


@pytest.mark.parametrize(("measure", "method"), [(NotEverywhere(), "value"), (NotNormalised(), "normaliser")], ids=str)
def test_what_is_no_number_is_refused_and_not_left_out(measure, method):
    data = rf.Dataset(np.arange(7.0)[:, None], [0, 1, 2, 0, 1, 2, 0], qid=[8, 8, 8, 9, 9, 3, 3])
    words = f"{type(measure).__name__}: {method} gives nan on query 9"
    for ties in ("stable", "expected", "pessimistic"):
        with pytest.raises(rf.MeasureError, match=words):
            rf.evaluate(np.zeros(7), data, measure, ties=ties)
    with pytest.raises(rf.MeasureError, match=words):
        rf.combine([np.arange(7.0), np.zeros(7)], data, measure)
    with pytest.raises(rf.MeasureError, match=words):
        rf.MART(n_trees=1, min_documents=1, validation_measure=measure, progress=False).fit(data)


@pytest.mark.parametrize(
    ("gain", "raised"),
    [
        (lambda label: 2**label if label > 1 else 0, "ValueError: The truth value of an array"),
        (lambda label: {0.0: 0.0, 1.0: 3.0}[label], "TypeError: unhashable"),
        (lambda label: ["good"] * len(label), "ValueError"),
    ],
    ids=["a condition", "a dictionary", "no numbers"],
)
def test_a_gain_written_for_one_label_is_told_that_it_is_given_all(gain, raised):
    data = rf.Dataset(np.zeros((3, 1)), [0, 1, 2], group=[3])
    words = rf"NDCG.*: the gain function raised {raised}.*It is given an array of all labels.*np\.where"
    with pytest.raises(rf.MeasureError, match=words):
        rf.evaluate(np.arange(3.0), data, rf.NDCG(gain=gain))
