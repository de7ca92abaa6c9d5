"""Forms: what a model becomes gives the scores that the model gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.export.hard_models import (
    HOLED,
    NAMES,
    graph,
    hard_rows,
    net,
    perceptron,
    random_tree,
    sums_of_trees,
    trees,
)

import rankforce as rf
from rankforce.export import missing_right, unrolling
from rankforce.export.forms import (
    AdditiveTrees,
    Form,
    GradeForm,
    LinearForm,
    MixedForm,
    NetForm,
    QuadraticForm,
    StackedForm,
    used_features,
    with_missing_as_zero,
)
from rankforce.export.model_forms import form_of
from rankforce.models.combination import Combination
from rankforce.models.expected_grade import ExpectedGrade, GradeLink
from rankforce.models.stacked import Stacked
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.trees.tree import Tree

ROWS = hard_rows()


def tree_score(tree: Any, row: np.ndarray) -> float:
    child = tree.root
    while child >= 0:
        value = row[tree.feature[child]]
        left = tree.missing_left[child] if np.isnan(value) else value <= tree.threshold[child]
        child = int(tree.left[child] if left else tree.right[child])
    return float(tree.leaf_value[~child])


def scores(form: Form, rows: np.ndarray) -> np.ndarray:
    """A form evaluated row by row."""
    if isinstance(form, AdditiveTrees):
        return np.array([form.constant + sum(tree_score(tree, row) for tree in form.trees) for row in rows])
    if isinstance(form, LinearForm):
        return form.constant + np.where(np.isnan(rows), form.fills, rows) @ form.weights
    if isinstance(form, MixedForm):
        return sum(weight * scores(term, rows) for weight, term in zip(form.weights, form.terms, strict=True))
    if isinstance(form, (NetForm, QuadraticForm)):
        model = form.net if isinstance(form, NetForm) else form.perceptron
        rows = np.nan_to_num(rows, nan=0.0) if form.missing_as_zero else rows
        return model.predict(rows[:, form.places])
    if isinstance(form, GradeForm):
        return form.link.scores(np.array([scores(output, rows) for output in form.outputs]))
    return form.net.predict(np.column_stack([scores(given, rows) for given in form.inputs]).astype(np.float32))


def small_rows() -> np.ndarray:
    return np.clip(hard_rows(), -10, 10)


OTHERS = {
    "mixed": Combination.of([trees(), perceptron(), net(3)], [0.5, 2.0, -1.0], provenance=HOLED),
    "two linear": Combination.of([perceptron(), net(0)], [0.5, 2.0]),
    "linear and its half": Combination.of([perceptron(), perceptron()], [0.5, 2.0]),
    "net": net(3),
    "logarithms": net(0, "log1p"),
    "linear": perceptron(),
    "quadratic": perceptron("quadratic"),
    "grades": ExpectedGrade(
        feature_names=NAMES,
        link=GradeLink("softmax", np.arange(2.0), np.arange(2.0)),
        members=(trees(1), trees(2)),
    ),
    "stacked": Stacked.of([trees(3), perceptron()], net(2).__class__(
        feature_names=("a", "b"), hidden=0, weights=np.array([0.5, -0.25, 1.0]),
        scaling=rf.models.net_scaling.Scaling("none", np.zeros(2), np.ones(2)),
    )),
    "a feature as base": TreeEnsemble.from_trees([random_tree(1, 5)], NAMES, base_model="age"),
}  # fmt: skip


@pytest.mark.parametrize("kind", sums_of_trees())
def test_sums_of_trees(kind: str) -> None:
    model = sums_of_trees()[kind]
    form = form_of(model)
    assert isinstance(form, AdditiveTrees)
    assert np.allclose(scores(form, ROWS), model.predict(ROWS), rtol=0, atol=1e-12)
    zero = with_missing_as_zero(form)
    assert np.allclose(scores(zero, ROWS), model.predict(np.nan_to_num(ROWS, nan=0.0)), rtol=0, atol=1e-12)
    right = missing_right.with_missing_right(form)
    assert isinstance(right, AdditiveTrees)
    assert not any(tree.missing_left.any() for tree in right.trees)
    assert np.allclose(scores(right, ROWS), model.predict(ROWS), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", OTHERS)
def test_other_forms(kind: str) -> None:
    model = OTHERS[kind]
    form = form_of(model)
    rows = small_rows()
    if kind == "a feature as base":
        rows[:, NAMES.index("age")] = 1.5
    assert np.allclose(scores(form, rows), model.predict(rows), rtol=1e-5, atol=1e-5)
    zero = with_missing_as_zero(form)
    assert np.allclose(scores(zero, rows), model.predict(np.nan_to_num(rows, nan=0.0)), rtol=1e-5, atol=1e-5)


def test_linear_functions_merge_where_missing_values_allow_it() -> None:
    assert isinstance(form_of(OTHERS["linear and its half"]), LinearForm)
    assert isinstance(form_of(OTHERS["two linear"]), MixedForm), "their means differ"
    assert isinstance(form_of(OTHERS["mixed"]), MixedForm)
    assert isinstance(form_of(OTHERS["stacked"]), StackedForm)


def test_features_that_are_read() -> None:
    read = used_features(form_of(trees()))
    assert read.tolist() == sorted({int(feature) for tree in trees().trees for feature in tree.feature})
    assert used_features(form_of(OTHERS["mixed"])).tolist() == list(range(len(NAMES)))


def test_node_documents_and_means() -> None:
    (tree,) = form_of(TreeEnsemble.from_trees([random_tree(3, 6)], NAMES)).trees  # type: ignore[union-attr]
    documents, means = tree.node_documents()
    assert documents[0] == tree.leaf_documents.sum()
    assert means[0] == pytest.approx(np.average(tree.leaf_value, weights=tree.leaf_documents))


def test_a_graph_with_too_many_ways_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unrolling, "MOST_LEAVES", 7)
    with pytest.raises(rf.SettingsError, match="8 ways from the top"):
        form_of(graph())


def test_a_model_of_whole_queries_is_refused() -> None:
    with pytest.raises(rf.SettingsError, match=r"by the others of its query.*scaling='standard'"):
        form_of(net(2, "query"))


def test_trees_that_grow_too_much_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(missing_right, "FEW_LEAVES", 1)
    form = form_of(bushy(7))
    assert isinstance(form, AdditiveTrees)
    grown = missing_right.with_missing_right(form).trees[0].n_leaves
    monkeypatch.setattr(missing_right, "MOST_TIMES", grown // 2**7 - 1)
    with pytest.raises(rf.SettingsError, match="times as many leaves"):
        missing_right.with_missing_right(form)


def bushy(levels: int) -> TreeEnsemble:
    """A complete tree that asks another feature on every level and sends what is missing left."""
    nodes = 2**levels - 1
    inner = np.arange(nodes) < 2 ** (levels - 1) - 1
    first = 2 * np.arange(nodes) + 1
    tree = Tree(
        feature=np.floor(np.log2(np.arange(nodes) + 1)).astype(np.int32),
        threshold=np.zeros(nodes, dtype=np.float32),
        missing_left=np.ones(nodes, dtype=bool),
        left=np.where(inner, first, ~(first - nodes)).astype(np.int32),
        right=np.where(inner, first + 1, ~(first + 1 - nodes)).astype(np.int32),
        gain=np.ones(nodes),
        leaf_value=np.arange(nodes + 1, dtype=np.float32),
        leaf_documents=np.ones(nodes + 1, dtype=np.int64),
    )
    return TreeEnsemble.from_trees([tree], [f"feature {number}" for number in range(levels)])
