"""Public names: all there, all importable, all the same object as at home."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys

import pytest

import rankforce as rf
from rankforce.lambdas.catalogue import lambda_function_classes
from rankforce.measures.catalogue import measure_classes
from rankforce.rankers.catalogue import ranker_class, ranker_classes


def test_every_ranker_and_every_measure_is_a_public_name():
    for name, found in {**ranker_classes(), **measure_classes()}.items():
        assert getattr(rf, name) is found
        assert name in dir(rf)


def test_every_lambda_function_is_a_public_name():
    for name, kind in lambda_function_classes().items():
        assert getattr(rf.lambdas, name) is kind
        assert name in dir(rf.lambdas)


def test_what_users_are_given_or_warned_of_is_a_public_name():
    data = rf.make_artificial(queries=8, documents=5, features=2, seed=0)
    small = rf.LambdaMART(n_trees=1, n_leaves=2, min_documents=1, progress=False)
    assert isinstance(rf.cross_validate(small, data, folds=2, progress=False), rf.CrossValidation)
    assert isinstance(rf.tune(small, data, {"n_leaves": [2]}, folds=2, method="grid", progress=False), rf.Tuning)
    assert isinstance(rf.combine(["1", "2"], data), rf.Combined)
    assert isinstance(rf.inspect(data), rf.Inspection)
    assert isinstance(rf.model_card(small.fit(data)), rf.ModelCard)
    with pytest.raises(rf.NotFittedError):
        rf.LambdaMART().predict(data)
    for name in ("ClusterError", "MissingDependencyError", "NotFittedError"):
        assert issubclass(getattr(rf, name), rf.RankforceError)
    for name in ("TrainingWarning", "MigrationWarning"):
        assert issubclass(getattr(rf, name), rf.RankforceWarning)


LAZY = [rf, rf.lambdas, rf.diagnostics, rf.optimising, rf.plot]


@pytest.mark.parametrize(("door", "name"), [(door, name) for door in LAZY for name in door._HOME])
def test_every_listed_name_is_at_home_where_the_list_says(door, name):
    assert getattr(door, name) is getattr(importlib.import_module(door._HOME[name]), name)
    assert name in door.__all__


@pytest.mark.parametrize("door", [*LAZY, rf.schedules, rf.click_models], ids=lambda door: door.__name__)
def test_an_unknown_name_is_an_attribute_error(door):
    for name in ("Nothing", "nothing", "_nothing"):
        with pytest.raises(AttributeError, match=name):
            getattr(door, name)


@pytest.mark.parametrize("door", [*LAZY, rf.schedules, rf.click_models], ids=lambda door: door.__name__)
def test_names_that_are_completed_are_there(door):
    assert set(door.__all__) <= set(dir(door))
    assert [name for name in dir(door) if not hasattr(door, name)] == []


def test_subpackages_are_completed():
    assert {"lambdas", "schedules", "diagnostics", "optimising", "plot"} <= set(dir(rf))
    assert not {"kernels", "data", "compiling"} & set(dir(rf))


@pytest.mark.parametrize("name", sorted(rf._MOVED))
def test_a_name_of_before_says_the_new_one(name):
    assert name not in dir(rf)
    with pytest.raises(AttributeError, match=re.escape(f"rf.{name} is {rf._MOVED[name]}")):
        getattr(rf, name)
    _, subpackage, new = rf._MOVED[name].split(".")
    assert callable(getattr(getattr(rf, subpackage), new))


def test_public_names_import_neither_numba_nor_scikit_learn():
    code = (
        "import sys, rankforce as rf; dir(rf)\n"
        "for name in rf.SUBPACKAGES: dir(getattr(rf, name))\n"
        "assert hasattr(rf, 'Linear') is False\n"
        "print([name for name in ('numba', 'sklearn') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


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
        lambda: rf.diagnostics.local_optimality(rf.LambdaMART(), rf.make_artificial(4, 3, 2), relative="no"),
    ],
)
def test_a_word_is_no_truth_value(call):
    with pytest.raises(rf.SettingsError, match="must be True or False, not"):
        call()
