from __future__ import annotations

import numpy as np
import pytest
from tests.models.random_trees import (
    categorical_ensemble,
    leaf_of,
    random_features,
    slow_scores,
    with_codes,
)

from rankforce.compiling import jit
from rankforce.models import compiled_trees, set_tables
from rankforce.models.compiled_trees import CompiledTrees
from rankforce.models.storage import to_bytes
from rankforce.threads import using_threads

FEW = {1: 5, 4: 40}
MANY = {0: 3, 2: 70, 3: 300, 5: 1}


@pytest.fixture(params=["numpy", "compiled"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "compiled" and jit.PLAIN:
        pytest.skip("the compiler is off")
    monkeypatch.setattr(compiled_trees, "available", lambda: request.param == "compiled")
    return str(request.param)


@pytest.mark.parametrize("sizes", [[2], [1, 31, 33, 70], [401, 5]], ids=str)
@pytest.mark.parametrize("documents", [1, 9, 20, 64, 131])
@pytest.mark.parametrize("categories", [FEW, MANY], ids=["few", "many"])
def test_scores_equal_the_definition_bit_for_bit(
    engine: str, sizes: list[int], documents: int, categories: dict[int, int]
) -> None:
    model = categorical_ensemble(1, sizes, categories, base_score=0.5)
    matrix = with_codes(3, random_features(2, documents), categories)
    np.testing.assert_array_equal(model.predict(matrix), slow_scores(model.trees, matrix, 0.5))


def test_every_way_of_scoring_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    model = categorical_ensemble(4, [31] * 40 + [2, 1, 150], MANY)
    matrix = with_codes(6, random_features(5, 200), MANY)
    expected = slow_scores(model.trees, matrix)
    compiled = CompiledTrees(model)
    assert compiled.records is not None
    assert compiled.by_block
    matrix.setflags(write=False)
    scores = np.zeros((4, len(matrix)))
    compiled.tests.add_scores(matrix, 0, model.n_trees, scores[0])
    assert compiled.records.add_scores(matrix, 0, model.n_trees, scores[1])
    compiled._walk_scores(matrix, 0, model.n_trees, scores[2])
    for first in range(0, len(matrix), 16):
        part = slice(first, first + 16)
        compiled.tests.add_scores(matrix[part], 0, model.n_trees, scores[3, part])
    for one in scores:
        np.testing.assert_array_equal(one, expected)
    monkeypatch.setattr(set_tables, "LARGEST_TABLE", 100)
    large = CompiledTrees(model)
    assert large.records is None  # tables would be too large: trees are walked
    assert not large.by_block
    scores = np.zeros(len(matrix))
    large.add_scores(matrix, 0, model.n_trees, scores)
    np.testing.assert_array_equal(scores, expected)


def test_codes_that_are_no_categories_go_right(engine: str) -> None:
    model = categorical_ensemble(7, [31] * 9, FEW)
    codes = np.array([-1, -2, -0.5, 0.5, 4.5, 5, 1e6, 2**24, 3e38, -3e38, 1e-45, -0.0, np.nan], dtype=np.float32)
    matrix = random_features(8, len(codes), missing=0.0)
    matrix[:, 1] = codes
    for documents in (1, 10, len(codes)):  # of a checked matrix: ``predict`` would refuse some of these
        part = np.ascontiguousarray(matrix[:documents])
        np.testing.assert_array_equal(model._scores(part), slow_scores(model.trees, part))


def test_leaves_stages_and_first_trees(engine: str) -> None:
    model = categorical_ensemble(9, [4, 1, 31, 64, 7], FEW)
    matrix = with_codes(11, random_features(10, 80), FEW)
    expected = [[leaf_of(tree, row) for tree in model.trees] for row in matrix]
    np.testing.assert_array_equal(model.leaf_indices(matrix), expected)
    for count, stage in enumerate(model.staged_predict(matrix), start=1):
        expected_scores = slow_scores(model.trees[:count], matrix)
        for scores in (stage, model.predict(matrix, n_trees=count), model.truncate(count).predict(matrix)):
            np.testing.assert_array_equal(scores, expected_scores)


def test_a_base_model_asks_for_sets_of_its_own() -> None:
    base = categorical_ensemble(12, [9, 3], {0: 30, 1: 4}, features=2, feature_names=["f4", "f1"])
    model = categorical_ensemble(13, [31] * 5, {4: 30, 1: 4}, base_model=base)
    matrix = with_codes(15, random_features(14, 50), {4: 30, 1: 4})
    expected = slow_scores(model.trees, matrix, slow_scores(base.trees, matrix[:, [4, 1]]))
    np.testing.assert_array_equal(model.predict(matrix), expected)


@pytest.mark.compiled_only
def test_the_same_bits_for_any_number_of_threads() -> None:
    model = categorical_ensemble(16, [31] * 40, MANY)
    matrix = with_codes(18, random_features(17, 3003), MANY)
    alone = model.predict(matrix)
    np.testing.assert_array_equal(alone[:100], slow_scores(model.trees, matrix[:100]))
    for count in (1, 2, 5):
        with using_threads(count):
            np.testing.assert_array_equal(model.predict(matrix), alone)


def test_trees_come_out_as_they_went_in() -> None:
    model = categorical_ensemble(19, [5, 1, 31], MANY)
    again = type(model).from_trees(model.trees, model.feature_names)
    assert to_bytes(again) == to_bytes(model)
    assert len(model.subset_starts) - 1 == (model.subset >= 0).sum() > 10
