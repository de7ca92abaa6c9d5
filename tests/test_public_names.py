"""Public names: all there, all importable, all the same object as at home."""

from __future__ import annotations

import importlib

import pytest

import rankforce as rf
from rankforce.measures.catalogue import measure_classes
from rankforce.rankers.catalogue import ranker_class, ranker_classes


def test_every_ranker_and_every_measure_is_a_public_name():
    for name, found in {**ranker_classes(), **measure_classes()}.items():
        assert getattr(rf, name) is found
        assert name in dir(rf)


@pytest.mark.parametrize("name", sorted(rf._HOME))
def test_every_listed_name_is_at_home_where_the_list_says(name):
    assert getattr(rf, name) is getattr(importlib.import_module(rf._HOME[name]), name)


def test_an_unknown_name_is_an_attribute_error():
    for name in ("Nothing", "nothing", "_nothing"):
        with pytest.raises(AttributeError, match=name):
            getattr(rf, name)


def test_rankers_are_found_whatever_their_capitals():
    assert ranker_class("lambdamart") is rf.LambdaMART
    with pytest.raises(rf.SettingsError, match="LambdaMART"):
        ranker_class("lambdamrat")


@pytest.mark.parametrize(
    "call",
    [
        lambda: rf.click_labels("log.csv", smooth_zeros="no"),
        lambda: rf.click_labels("log.csv", sorted_by_session=0),
        lambda: rf.compare("1", "2", rf.make_artificial(2, 3, 2), graded="yes"),
        lambda: rf.RankNet(equal_grades="no", progress=False).fit(rf.make_artificial(2, 3, 2)),
        lambda: rf.LambdaRank(keep_weights="no", progress=False).fit(rf.make_artificial(2, 3, 2)),
        lambda: rf.PRank(large_margin="yes", progress=False).fit(rf.make_artificial(2, 3, 2)),
        lambda: rf.cross_validate(rf.LambdaMART(), rf.make_artificial(4, 3, 2), keep_rankers="no"),
        lambda: rf.local_optimality(rf.LambdaMART(), rf.make_artificial(4, 3, 2), relative="no"),
    ],
)
def test_a_word_is_no_truth_value(call):
    with pytest.raises(rf.SettingsError, match="must be True or False, not"):
        call()
