"""Edits of users' classes reach the next evaluation: methods, functions, and the values of names that they use."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankforce as rf
from rankforce.compiling.method_sources import sources

FACTOR = 1.0
TABLE = np.array([1.0, 2.0])


class Edited(rf.Measure):
    def normaliser(self, ideal):
        return 1.0

    def value(self, ranked, normaliser):
        return ranked[0] * FACTOR * TABLE[0]


DATA = rf.Dataset(np.zeros((2, 1)), [3.0, 0.0], group=[2])


def value(measure):
    return rf.evaluate(np.array([1.0, 0.0]), DATA, measure).mean[measure]


def test_edits_are_seen(monkeypatch):
    before = Edited()
    assert value(before) == 3.0
    monkeypatch.setitem(globals(), "FACTOR", 2.0)
    assert value(before) == 6.0  # the instance may be the old one
    TABLE[0] = 10.0
    try:
        assert value(Edited()) == 60.0
    finally:
        TABLE[0] = 1.0

    def other(self, ranked, normaliser):
        return -ranked[0]

    monkeypatch.setattr(Edited, "value", other)
    assert value(before) == -3.0

    def another(self, ranked, normaliser):
        return -2.0 * ranked[0]

    other.__code__ = another.__code__  # as a reloaded module does it
    assert value(before) == -6.0
    monkeypatch.setattr(Edited, "worth", lambda self, labels: labels + 1.0, raising=False)
    assert value(before) == -8.0


def test_what_was_not_edited_is_not_compiled_again():
    value(Edited())
    kernel = Edited.Kernel
    value(Edited())
    assert Edited.Kernel is kernel
    assert rf.NDCG(3).kernel_tuple().__class__ is rf.NDCG.Kernel


def test_a_subclass_without_methods_of_its_own_still_shares():
    class Harsh(Edited):
        def worth(self, labels):
            return labels * 2.0

    value(Edited())
    assert value(Harsh()) == 6.0
    assert Harsh.Kernel is Edited.Kernel


NOT_A_NUMBER = math.nan


def helper(x):
    return x * FACTOR


def uses_helper(x):
    return helper(x) + NOT_A_NUMBER


def calls_itself(n):
    return calls_itself(n - 1) if n else uses_helper(n)


@pytest.mark.parametrize("function", [uses_helper, calls_itself])
def test_values_are_followed_through_functions(monkeypatch, function):
    before = sources([function])
    assert before == sources([function])
    monkeypatch.setitem(globals(), "FACTOR", 2)
    assert before != sources([function])
    monkeypatch.undo()
    assert before == sources([function])


def test_enclosed_values_are_seen():
    def make(factor):
        def function(x):
            return x * factor

        return function

    assert sources([make(1)]) == sources([make(1)])
    assert sources([make(1)]) != sources([make(1.0)]) != sources([make(2.0)])
