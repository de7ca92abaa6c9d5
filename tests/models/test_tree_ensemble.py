from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from tests.models.random_trees import leaf_of, random_ensemble, random_features, slow_scores

from rankforce.compiling import jit
from rankforce.data.dataset import Dataset
from rankforce.errors import DataError, RankforceError, SettingsError
from rankforce.models import compiled_trees, tree_walk
from rankforce.models.storage import to_bytes
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.threads import using_threads
from rankforce.trees.tree import Tree

STUMP = Tree(
    feature=np.array([1], np.int32),
    threshold=np.array([0.5], np.float32),
    missing_left=np.array([False]),
    left=np.array([~0], np.int32),
    right=np.array([~1], np.int32),
    gain=np.array([2.0]),
    leaf_value=np.array([1.0, -1.0], np.float32),
    leaf_documents=np.array([3, 4]),
)
SIZES = [[1], [2], [1, 1, 1], [2, 31, 1, 32, 33], [63, 64, 65], [96, 97, 200], list(range(1, 60))]


@pytest.fixture(params=["numpy", "compiled"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "compiled" and jit.PLAIN:
        pytest.skip("the compiler is off")
    monkeypatch.setattr(compiled_trees, "available", lambda: request.param == "compiled")
    return str(request.param)


@pytest.mark.parametrize("sizes", SIZES, ids=lambda sizes: f"{len(sizes)}x{max(sizes)}")
@pytest.mark.parametrize("documents", [1, 9, 20, 64, 131, 150])
def test_scores_equal_the_recursive_definition_bit_for_bit(engine: str, sizes: list[int], documents: int) -> None:
    model = random_ensemble(1, sizes)
    matrix = random_features(2, documents)
    np.testing.assert_array_equal(model.predict(matrix), slow_scores(model.trees, matrix))


def test_values_equal_to_thresholds_go_left(engine: str) -> None:
    values = np.array([-1.0, -0.0, 0.0, 0.1, 1e-45, 3.4e38], dtype=np.float32)
    model = random_ensemble(3, [31] * 20, values=values)
    matrix = np.random.default_rng(4).choice(np.append(values, np.float32("nan")), (200, 7)).astype(np.float32)
    np.testing.assert_array_equal(model.predict(matrix), slow_scores(model.trees, matrix))


@pytest.mark.parametrize("missing_left", [True, False])
def test_missing_values_go_where_the_node_says(engine: str, missing_left: bool) -> None:
    tree = Tree(**{**vars(STUMP), "missing_left": np.array([missing_left])})
    model = TreeEnsemble.from_trees([tree], ["a", "b"])
    for documents in (1, 100):
        scores = model.predict(np.full((documents, 2), np.nan))
        assert (scores == (1.0 if missing_left else -1.0)).all()


def test_the_same_bits_for_any_number_of_threads() -> None:
    model = random_ensemble(5, [31] * 40)
    matrix = random_features(6, 5003)
    alone = model.predict(matrix)
    for count in (1, 2, 5):
        with using_threads(count):
            np.testing.assert_array_equal(model.predict(matrix), alone)


def test_threads_may_ask_one_model_for_different_numbers_of_trees() -> None:
    model = random_ensemble(28, [31] * 60)
    matrix = random_features(29, 200)
    counts = [10, 30, 60] * 20
    expected = {count: model.predict(matrix, n_trees=count) for count in set(counts)}
    with ThreadPoolExecutor(4) as pool:
        for count, scores in zip(counts, pool.map(lambda c: model.predict(matrix, n_trees=c), counts), strict=True):
            np.testing.assert_array_equal(scores, expected[count])


@pytest.mark.compiled_only
def test_all_ways_of_scoring_agree_on_larger_models(monkeypatch: pytest.MonkeyPatch) -> None:
    model = random_ensemble(7, [31] * 150 + [401, 5, 1, 255], features=40)
    matrix = random_features(8, 1500, features=40)
    by_numpy = np.zeros(len(matrix))
    tree_walk.add_scores(matrix, *model.walk, model.leaf_value, by_numpy)
    np.testing.assert_array_equal(model.predict(matrix), by_numpy)  # walks: a tree is large
    monkeypatch.setattr(compiled_trees, "LARGE_TREE", 10**6)
    np.testing.assert_array_equal(model.predict(matrix), by_numpy)  # by blocks


def signatures_without_sets(kernel: Any) -> list[Any]:
    """What a kernel was compiled for, apart from ensembles that ask for sets of categories."""
    return [types for types in kernel.own.signatures if "none" in map(str, types)]


def test_kernels_are_compiled_once_whatever_array_comes_in() -> None:
    if jit.PLAIN:
        pytest.skip("the compiler is off")
    from rankforce.kernels.trees.scoring import score_by_blocks

    model = random_ensemble(9, [31] * 3)
    matrix = random_features(10, 200)
    expected = model.predict(matrix)
    compiled = signatures_without_sets(score_by_blocks)  # also for what other tests scored in this process
    locked = matrix.copy()
    locked.setflags(write=False)
    for form in (locked, np.asfortranarray(matrix), matrix.astype(np.float64), matrix[::-1][::-1], matrix.tolist()):
        np.testing.assert_array_equal(model.predict(form), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(matrix), expected)
    assert signatures_without_sets(score_by_blocks) == compiled


def test_leaf_indices(engine: str) -> None:
    model = random_ensemble(11, [1, 5, 33, 2])
    matrix = random_features(12, 90)
    expected = [[leaf_of(tree, row) for tree in model.trees] for row in matrix]
    np.testing.assert_array_equal(model.leaf_indices(matrix), expected)


def test_first_trees_only(engine: str) -> None:
    model = random_ensemble(13, [4, 1, 31, 64, 7])
    matrix = random_features(14, 80)
    for count in range(6):
        expected = slow_scores(model.trees[:count], matrix)
        np.testing.assert_array_equal(model.predict(matrix, n_trees=count), expected)
        np.testing.assert_array_equal(model.truncate(count).predict(matrix), expected)
    for wrong in (-1, 6, 2.5, "2", True):
        with pytest.raises(SettingsError, match="n_trees"):
            model.predict(matrix, n_trees=wrong)


def test_stages(engine: str) -> None:
    model = random_ensemble(15, [4] * 7, base_score=0.5)
    matrix = random_features(16, 70)
    stages = list(model.staged_predict(matrix, every=3))
    for count, scores in zip((3, 6, 7), stages, strict=True):  # scores alone, as scikit-learn's estimators yield them
        np.testing.assert_array_equal(scores, model.predict(matrix, n_trees=count))
    with pytest.raises(SettingsError, match="every"):
        model.staged_predict(matrix, every=0)


def test_base_model_is_scored_first_on_its_own_features() -> None:
    base = random_ensemble(17, [5, 6], features=2, feature_names=["f3", "f1"])
    model = random_ensemble(18, [7, 8], base_model=base, base_score=0.25)
    matrix = random_features(19, 60)
    expected = slow_scores(model.trees, matrix, 0.25 + slow_scores(base.trees, matrix[:, [3, 1]]))
    np.testing.assert_array_equal(model.predict(matrix), expected)
    np.testing.assert_array_equal(model.predict(matrix, n_trees=0), 0.25 + base.predict(matrix[:, [3, 1]]))


def test_base_feature() -> None:
    model = random_ensemble(20, [7, 8], base_model="f2")
    matrix = random_features(21, 60, missing=0.0)
    expected = slow_scores(model.trees, matrix, matrix[:, 2].astype(np.float64))
    np.testing.assert_array_equal(model.predict(matrix), expected)
    matrix[5, 2] = np.nan
    with pytest.raises(DataError, match="'f2' of row 5 is missing"):
        model.predict(matrix)


def test_impossible_bases() -> None:
    with pytest.raises(DataError, match="not a feature"):
        random_ensemble(22, [3], base_model="bm25")
    with pytest.raises(DataError, match="reads the feature 'other'"):
        random_ensemble(22, [3], base_model=random_ensemble(1, [2], features=1, feature_names=["other"]))
    with pytest.raises(DataError, match="finite"):
        random_ensemble(22, [3], base_score=float("nan"))


def test_importance() -> None:
    model = TreeEnsemble.from_trees([STUMP, STUMP, Tree(**{**vars(STUMP), "feature": np.array([0])})], ["a", "b", "c"])
    assert list(model.feature_importance().items()) == [("a", 2.0), ("b", 4.0), ("c", 0.0)]
    assert model.feature_importance("split") == {"b": 2.0, "a": 1.0, "c": 0.0}
    with pytest.raises(SettingsError, match="kind"):
        model.feature_importance("cover")


def test_no_trees_and_no_documents(engine: str) -> None:
    empty = TreeEnsemble.from_trees([], ["a", "b"], base_score=2.0)
    assert empty.predict(np.zeros((3, 2))).tolist() == [2.0, 2.0, 2.0]
    assert empty.leaf_indices(np.zeros((3, 2))).shape == (3, 0)
    assert random_ensemble(1, [5]).predict(np.zeros((0, 7))).shape == (0,)


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("feature", [7, 0, 0], "tree 0, node 0: the model has 7 features"),
        ("feature", [0, -1, 0], "tree 0, node 1"),
        ("threshold", [0, np.nan, 0], "threshold is not finite"),
        ("gain", [0, np.inf, 0], "gain is not finite"),
        ("left", [0, ~0, ~2], "does not come after its parent"),
        ("left", [9, ~0, ~2], "outside the tree"),
        ("left", [1, ~4, ~2], "outside the tree"),
        ("left", [2, ~0, ~2], "one parent"),
        ("left", [1, ~1, ~2], "one parent"),
        ("leaf_value", [0, np.inf, 0, 0], "leaf value is not finite"),
        ("leaf_documents", [0, -1, 0, 0], "negative number of documents"),
        ("leaf_value", [0, 0, 0], "leaves"),
    ],
)
def test_arrays_that_are_no_trees_are_refused(field: str, value: list[float], problem: str) -> None:
    good = {
        "feature": [0, 0, 0],
        "threshold": [0, 0, 0],
        "missing_left": [True] * 3,
        "left": [1, ~0, ~2],
        "right": [2, ~1, ~3],
        "gain": [1, 1, 1],
        "leaf_value": [0, 0, 0, 0],
        "leaf_documents": [1] * 4,
    }
    names = [f"f{place}" for place in range(7)]
    TreeEnsemble.from_trees([Tree(**{k: np.array(v) for k, v in good.items()})], names)
    with pytest.raises(RankforceError, match=problem):
        TreeEnsemble.from_trees([Tree(**{k: np.array(v) for k, v in (good | {field: value}).items()})], names)


def test_a_model_is_frozen_and_survives_pickling() -> None:
    model = random_ensemble(23, [5, 9], base_model=random_ensemble(24, [3]))
    model.predict(random_features(1, 100))
    again = pickle.loads(pickle.dumps(model))
    assert to_bytes(again) == to_bytes(model)
    for one in (model, again):
        with pytest.raises(ValueError, match="read-only"):
            one.leaf_value[0] = 1.0
        with pytest.raises(AttributeError):
            one.base_score = 1.0


def test_a_data_set_is_scored_in_row_order() -> None:
    model = random_ensemble(25, [9] * 4)
    matrix = random_features(26, 40)
    qid = np.random.default_rng(27).integers(0, 5, 40)
    data = Dataset(matrix, qid=qid, feature_names=model.feature_names)
    np.testing.assert_array_equal(model.predict(data), slow_scores(model.trees, matrix))


@pytest.mark.parametrize("documents", [1, 2, 3, 5, 16, 17, 33])
@pytest.mark.parametrize("sizes", [[1] * 3, [31] * 21, [200, 3], [600] * 3], ids=str)
def test_few_documents_in_any_form_score_as_the_definition_says(sizes: list[int], documents: int) -> None:
    model = random_ensemble(31, sizes, base_score=0.25)
    matrix = random_features(32, documents)
    expected = slow_scores(model.trees, matrix, 0.25)
    fortran, wide = np.asfortranarray(matrix), np.full((documents, 9), np.nan, dtype=np.float32)
    wide[:, :7] = matrix
    for form in (matrix, fortran, wide[:, :7], matrix.astype(np.float64), matrix.tolist(), matrix.astype(">f4")):
        np.testing.assert_array_equal(model.predict(form), expected)


@pytest.mark.parametrize("documents", [1, 3, 10, 100])
def test_few_documents_are_checked_like_many(documents: int) -> None:
    model = random_ensemble(33, [31] * 9)
    infinite = random_features(34, documents)
    infinite[-1, 6] = np.inf
    with pytest.raises(DataError, match=f"number 6 .* of row {documents - 1} .* is infinite"):
        model.predict(infinite)
    stump = TreeEnsemble.from_trees([STUMP], ["a", "b"])  # which never looks at feature a
    with pytest.raises(DataError, match="infinite"):
        stump.predict(np.array([[-np.inf, 1.0]] * documents, dtype=np.float32))
    with pytest.raises(DataError, match="X has 6 features, the model was trained on 7"):
        model.predict(infinite[:, :6].copy())
    with pytest.raises(DataError, match="two dimensions"):
        model.predict(infinite[0])


def test_one_document_of_any_kind_of_matrix_uses_one_kernel() -> None:
    if jit.PLAIN:
        pytest.skip("the compiler is off")
    from rankforce.kernels.trees.side_by_side import score_side_by_side

    model = random_ensemble(35, [31] * 9)
    writable, read_only = random_features(36, 2), random_features(36, 2)
    read_only.setflags(write=False)
    model.predict(writable)
    compiled = signatures_without_sets(score_side_by_side)  # also for what other tests scored in this process
    for matrix in (writable, read_only, writable[1:]):
        model.predict(matrix)
        model.predict(matrix, n_trees=3)
    assert signatures_without_sets(score_side_by_side) == compiled
