"""The model of expected grades: link, file, refusals, and the bound on the DCG lost by wrong grades."""

from __future__ import annotations

import dataclasses
import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.random_trees import random_ensemble

import rankforce as rf
from rankforce.models.expected_grade import ExpectedGrade, GradeLink
from rankforce.models.storage import from_bytes, model_of, to_bytes


def link(kind, values=(0, 1, 3), grades=(0, 1, 2), **more):
    return GradeLink(kind, np.array(grades, dtype=float), np.array(values, dtype=float), **more)


def test_softmax():
    F = np.random.default_rng(0).normal(size=(3, 50)) * 3
    P = np.exp(F) / np.exp(F).sum(axis=0)
    np.testing.assert_allclose(link("softmax").probabilities(F), P.T, rtol=1e-12)
    np.testing.assert_allclose(link("softmax").scores(F), P.T @ [0, 1, 3], rtol=1e-12)


def test_ordinal_steps_that_fall():
    above = np.array([[0.9, 0.5], [0.4, 0.5]])  # P(y > 0), P(y > 1)
    F = np.log(above / (1 - above)) / (2 * 0.5)
    ordinal = link("ordinal", sigma=0.5)
    np.testing.assert_allclose(ordinal.probabilities(F), [[0.1, 0.5, 0.4], [0.5, 0.0, 0.5]], atol=1e-12)
    np.testing.assert_allclose(ordinal.scores(F), [0.5 + 3 * 0.4, 3 * 0.5], rtol=1e-12)


@given(st.lists(st.floats(-800, 800), min_size=2, max_size=2))
def test_ordinal_steps_that_cross_still_give_probabilities_with_the_same_expected_grade(outputs):
    F = np.array(outputs)[:, None]
    ordinal = link("ordinal", values=(0, 1, 2))
    P = ordinal.probabilities(F)
    assert (P >= 0).all()
    assert P.sum() == pytest.approx(1)
    assert P[0] @ [0, 1, 2] == pytest.approx(ordinal.scores(F)[0], abs=1e-12)


def test_extreme_outputs_neither_overflow_nor_give_nan():
    F = np.array([[1e4, -1e4], [-1e4, -1e4], [0.0, 1e4]])
    for kind, outputs in (("softmax", F), ("ordinal", F[:2])):
        assert np.isfinite(link(kind).scores(outputs)).all()
        np.testing.assert_allclose(link(kind).probabilities(outputs).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("logit", [0, 1], [0, 1]), "link"),
        (("softmax", [0], [0]), "two grades"),
        (("softmax", [0, np.nan], [0, 1]), "two grades"),
        (("softmax", [1, 0], [0, 1]), "rise"),
        (("softmax", [0, 1], [0, 1, 2]), "one number per grade"),
        (("softmax", [0, 1, 2], [0, 2, 1]), "must not fall"),
        (("softmax", [0, 1], [1, 1]), "same value"),
        (("ordinal", [0, 1], [0, 1], 0.0), "sigma"),
    ],
)
def test_impossible_links(arguments, message):
    with pytest.raises(rf.RankforceError, match=message):
        GradeLink(*arguments)


@pytest.fixture(params=["softmax", "ordinal"])
def model(request):
    grades = link(request.param)
    members = tuple(random_ensemble(k, [4, 2, 1, 7], features=5, base_score=0.1 * k) for k in range(grades.n_outputs))
    return ExpectedGrade(feature_names=members[0].feature_names, link=grades, members=members)


@pytest.fixture
def matrix():
    return np.random.default_rng(4).normal(size=(70, 5)).astype(np.float32)


def test_scores_are_the_links_of_the_members(model, matrix):
    outputs = np.array([member.predict(matrix) for member in model.members])
    np.testing.assert_array_equal(model.outputs(matrix), outputs)
    np.testing.assert_array_equal(model.predict(matrix), model.link.scores(outputs))
    np.testing.assert_array_equal(model._scores(model.matrix(matrix)), model.predict(matrix))
    np.testing.assert_array_equal(model.predict(matrix, n_trees=2), model.truncate(2).predict(matrix))
    assert model.truncate(2).n_trees == 2
    total = sum(np.array(list(member.feature_importance("split").values())) for member in model.members)
    assert list(model.feature_importance("split").values()) == total.tolist()


def test_it_survives_its_file(model, matrix, tmp_path):
    model.save(tmp_path / "model.json")
    again = rf.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict(matrix), model.predict(matrix))
    np.testing.assert_array_equal(again.predict_proba(matrix), model.predict_proba(matrix))
    assert to_bytes(again) == to_bytes(model)
    np.testing.assert_array_equal(again.rank(matrix, 3).row, model.rank(matrix, 3).row)


def test_impossible_models_and_files(model):
    with pytest.raises(rf.DataError, match="ensembles"):
        dataclasses.replace(model, members=model.members[:1])
    with pytest.raises(rf.DataError, match="tree ensemble"):
        dataclasses.replace(model, members=(model, *model.members[1:]))
    with pytest.raises(rf.DataError, match="same number of trees"):
        dataclasses.replace(model, members=(model.members[0].truncate(1), *model.members[1:]))
    document = json.loads(to_bytes(model))
    for key, wrong in (("link", "none"), ("grades", [2, 1, 0]), ("values", ["a"]), ("outputs", []), ("sigma", None)):
        broken = {**document["contents"], key: wrong}
        with pytest.raises(rf.RankforceError):
            model_of({**document, "contents": broken}, "model")
    with pytest.raises(rf.ModelFileError):
        from_bytes(to_bytes(model).replace(b'"softmax"', b'"sofa"').replace(b'"ordinal"', b'"cardinal"'))


def worst_dcg(grades, predicted, discounts):
    """DCG of the ranking by predicted grade, ties in the worst order."""
    order = sorted(range(len(grades)), key=lambda k: (-predicted[k], grades[k]))
    return sum((2.0 ** grades[k] - 1) * c for k, c in zip(order, discounts, strict=True))


@given(
    st.integers(1, 4).flatmap(
        lambda top: st.lists(st.tuples(st.integers(0, top), st.integers(0, top)), min_size=1, max_size=12).map(
            lambda pairs: (top, pairs)
        )
    )
)
def test_the_dcg_lost_is_bounded_by_the_number_of_wrong_grades(case):
    """DCG_ideal − DCG_π ≤ (2^l_max − 1)·√2·(Σ c_i²)^½·(#{y ≠ ŷ})^½."""
    top, pairs = case
    grades, predicted = zip(*pairs, strict=True)
    discounts = 1 / np.log2(1 + np.arange(1, len(grades) + 1))
    lost = worst_dcg(grades, grades, discounts) - worst_dcg(grades, predicted, discounts)
    wrong = sum(y != p for y, p in pairs)
    assert lost <= (2.0**top - 1) * np.sqrt(2) * np.sqrt((discounts**2).sum()) * np.sqrt(wrong) + 1e-9


def test_the_bound_holds_for_all_short_lists():
    discounts = 1 / np.log2(1 + np.arange(1, 4))
    bound = 3 * np.sqrt(2) * np.sqrt((discounts**2).sum())
    tightest = 0.0
    for grades in itertools.product(range(3), repeat=3):
        for predicted in itertools.product(range(3), repeat=3):
            wrong = sum(y != p for y, p in zip(grades, predicted, strict=True))
            lost = worst_dcg(grades, grades, discounts) - worst_dcg(grades, predicted, discounts)
            assert lost <= bound * np.sqrt(wrong) + 1e-12
            tightest = max(tightest, lost / (bound * np.sqrt(wrong)) if wrong else 0.0)
    assert tightest > 0.2  # a bound that nothing comes near would prove nothing
