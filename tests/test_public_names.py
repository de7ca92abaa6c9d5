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
