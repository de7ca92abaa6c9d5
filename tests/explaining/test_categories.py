"""Explanations of models that ask for sets of categories."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from tests.explaining import slow_twin
from tests.models.random_trees import categorical_ensemble, random_features, with_codes

import rankforce as rf
from rankforce.explaining import tree_contributions
from rankforce.explaining.neutralised import OneFeature, scores_without
from rankforce.explaining.tree_contributions import against_references, path_dependent
from rankforce.models.tree_ensemble import TreeEnsemble

COUNTS = {0: 4, 2: 40}
NAMES = ("shop", "bm25", "brand")
CATEGORIES = {"shop": ("north", "south", "west", 7), "brand": tuple(f"brand {k}" for k in range(40))}


def make_model(seed: int, leaves: list[int]) -> TreeEnsemble:
    return categorical_ensemble(seed, leaves, COUNTS, features=3, feature_names=list(NAMES), categories=CATEGORIES)


def make_data(seed: int, documents: int) -> Any:
    matrix = with_codes(seed, random_features(seed + 1, documents, features=3), COUNTS)
    queries = np.arange(documents) // 20
    return rf.Dataset(matrix, qid=queries, feature_names=NAMES, categories=CATEGORIES)


@pytest.mark.parametrize("leaves", [[2], [8, 1, 3], [31, 12]], ids=str)
def test_path_dependent_is_the_definition(leaves: list[int]) -> None:
    model = make_model(1, leaves)
    rows = make_data(2, 40).features[:12]
    _, found = path_dependent(model, rows)
    for row, contributions in zip(rows, found, strict=True):
        np.testing.assert_allclose(contributions, slow_twin.path_dependent(model, row), atol=1e-12)


@pytest.mark.parametrize("references", [1, 12])
@pytest.mark.parametrize("few", [0, 100])
def test_against_references_is_the_definition(references: int, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_contributions, "FEW_REFERENCES", few)
    model = make_model(3, [12, 7])
    rows = make_data(4, 40).features
    found = against_references(model, rows[:5], np.ascontiguousarray(rows[20 : 20 + references]))
    for row, contributions in zip(rows[:5], found, strict=True):
        expected = slow_twin.against_references(model._scores, row, rows[20 : 20 + references].copy())
        np.testing.assert_allclose(contributions, expected, atol=1e-12)


def test_a_feature_taken_out_is_the_mean_of_both_sides() -> None:
    model, rows = make_model(5, [9, 6]), make_data(6, 20).features
    for place in range(3):
        known = frozenset(range(3)) - {place}
        expected = [sum(slow_twin.expected_value(tree, row, known) for tree in model.trees) for row in rows]
        np.testing.assert_allclose(scores_without(model, rows, place), expected, atol=1e-12)
        one = OneFeature(model, rows, place)
        np.testing.assert_allclose(one.scores_without(), expected, atol=1e-12)
        np.testing.assert_allclose(one.scores(rows[:, place]), model.predict(rows), atol=1e-12)


def test_tables_show_categories_by_their_names() -> None:
    model, data = make_model(7, [31] * 4), make_data(8, 20)
    table = rf.explain(model, data, 0)
    best = int(np.argmax(model.predict(data)))
    shown = table.document(best)
    code = data.features[best, 2]
    name = "missing" if np.isnan(code) else "unknown" if code < 0 else f"brand {int(code)}"
    assert name in str(shown)
    plain = {one["feature"]: one["value"] for one in shown.to_dict()["features"]}
    assert plain["brand"] == (None if not code >= 0 else name)
    json.dumps(table.to_dict(), allow_nan=False)
    assert table.residual < 1e-9


def test_what_would_swap_two_documents_is_a_category_of_the_data() -> None:
    model, data = make_model(9, [31] * 6), make_data(10, 40)
    scores = model.predict(data)
    found = 0
    for other in range(1, 12):
        explained = rf.explain(model, data, 0, pair=(0, other))
        for change in explained.changes or ():
            place = NAMES.index(change.feature)
            if place == 1:
                continue
            found += 1
            column = data.features[:, place]
            row = int(change.document)
            matrix = np.array(data.features)
            swapping = {}
            for code in np.unique(column[column >= 0]):
                matrix[row, place] = code
                changed = model.predict(matrix)
                if (changed[0] > changed[other]) != (scores[0] > scores[other]) and changed[0] != changed[other]:
                    swapping[float(code)] = int(np.count_nonzero(column == code))
            assert change.value in swapping
            assert swapping[change.value] == max(swapping.values())
            assert change.passed == pytest.approx(1 - swapping[change.value] / len(column))
            assert change.exact
            written = next(c for c in explained.to_dict()["changes"] if c["feature"] == change.feature)
            assert written["value"] == CATEGORIES[change.feature][int(change.value)]
            if explained.contributions[place]:  # else it is among the others, in one line
                assert str(written["value"]) in str(explained)
    assert found > 5


def test_importance_of_features_with_categories() -> None:
    model, data = make_model(11, [31] * 4), make_data(12, 200)
    grades = (model.predict(data) > 0).astype(float)
    labelled = rf.Dataset(data.features, grades, qid=data.qid, feature_names=NAMES, categories=CATEGORIES)
    found = rf.importance(model, labelled, permutations=2, progress=False)
    assert len(found.to_dict()["features"]) == 3
