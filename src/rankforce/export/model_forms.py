"""From a model to its form: members merged, weights multiplied in, graphs unrolled."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.data.category_sets import categories_of
from rankforce.errors import SettingsError
from rankforce.export.forms import (
    AdditiveTrees,
    Form,
    GradeForm,
    LinearForm,
    MixedForm,
    NetForm,
    QuadraticForm,
    ScaledTree,
    StackedForm,
)
from rankforce.export.unrolling import unrolled
from rankforce.models.bagged import Bagged
from rankforce.models.combination import Combination
from rankforce.models.dag import RankingGraph
from rankforce.models.expected_grade import ExpectedGrade
from rankforce.models.model import Model
from rankforce.models.net import Net
from rankforce.models.net_scaling import NO_VARIATION
from rankforce.models.perceptron import Perceptron
from rankforce.models.stacked import Stacked
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.remedies import Setting


def form_of(model: Model) -> Form:
    """The form of a model; features are numbered as the model does."""
    if model.needs_queries:
        raise SettingsError(
            f"{model!r} scores a document by the others of its query, and engines score documents one by one: train it "
            "with another scaling, for example ",
            Setting("scaling", "standard"),
        )
    return _form(model, np.arange(model.n_features), model.n_features)


def _form(model: Model, places: np.ndarray, n_features: int) -> Form:
    """The form of a model within another of ``n_features``; ``places``: where its features stand there."""

    def of_member(member: Model) -> Form:
        place_of = {name: places[index] for index, name in enumerate(model.feature_names)}
        return _form(member, np.array([place_of[name] for name in member.feature_names], dtype=np.int64), n_features)

    if isinstance(model, TreeEnsemble):
        return _of_ensemble(
            model, places, n_features, None if model.base_model is None else of_member(model.base_model)
        )
    if isinstance(model, RankingGraph):
        return AdditiveTrees(0.0, (unrolled(model, places),))
    if isinstance(model, Combination):
        return _sum([of_member(member) for member in model.models], model.weights.tolist())
    if isinstance(model, Bagged):
        return _sum([of_member(member) for member in model.models], [1.0 / len(model.models)] * len(model.models))
    if isinstance(model, ExpectedGrade):
        return GradeForm(model.link, tuple(of_member(member) for member in model.members))
    if isinstance(model, Stacked):
        return StackedForm(model.net, tuple(of_member(member) for member in model.models))
    if isinstance(model, Perceptron):
        return _of_perceptron(model, places, n_features)
    if isinstance(model, Net):
        return _of_net(model, places, n_features)
    raise SettingsError(f"{model!r} is a kind of model that no format is known for")


def _of_ensemble(model: TreeEnsemble, places: np.ndarray, n_features: int, base: Form | None) -> Form:
    trees = tuple(_scaled_tree(tree, places) for tree in model.trees)
    terms: list[Form] = [] if base is None else [base]
    if model.base_feature is not None:
        weights = np.zeros(n_features)
        weights[places[model.feature_names.index(model.base_feature)]] = 1.0
        terms.append(LinearForm(0.0, weights, np.where(weights != 0, np.nan, 0.0)))
    return _sum([*terms, AdditiveTrees(model.base_score, trees)], [1.0] * (len(terms) + 1))


def _scaled_tree(tree: Any, places: np.ndarray) -> ScaledTree:
    listed: tuple[np.ndarray | None, ...] = ()
    if (tree.subset >= 0).any():
        listed = tuple(
            categories_of(tree.node_words(node)) if tree.subset[node] >= 0 else None for node in range(tree.n_nodes)
        )
    return ScaledTree(
        feature=places[tree.feature].astype(np.int32),
        threshold=tree.threshold,
        missing_left=tree.missing_left,
        left=tree.left,
        right=tree.right,
        gain=tree.gain,
        leaf_value=tree.leaf_value.astype(np.float64),
        leaf_documents=tree.leaf_documents,
        listed=listed,
    )


def _of_perceptron(model: Perceptron, places: np.ndarray, n_features: int) -> Form:
    if model.kernel != "linear":
        return QuadraticForm(model, places)
    return _linear(0.0, model.weights, model.means, model.deviations, places, n_features)


def _of_net(model: Net, places: np.ndarray, n_features: int) -> Form:
    if model.hidden or model.scaling.kind == "log1p":
        return NetForm(model, places)
    return _linear(
        float(model.weights[-1]), model.weights[:-1], model.scaling.centre, model.scaling.scale, places, n_features
    )


def _linear(
    constant: float, weights: np.ndarray, centre: np.ndarray, scale: np.ndarray, places: np.ndarray, n_features: int
) -> LinearForm:
    """c + Σ w·(x − centre)/scale with the scaling folded in."""
    folded = np.where(scale == NO_VARIATION, 0.0, weights / scale)
    full, fills = np.zeros(n_features), np.zeros(n_features)
    full[places], fills[places] = folded, centre
    return LinearForm(float(constant - folded @ centre), full, fills)


def _sum(forms: list[Form], weights: list[float]) -> Form:
    """Σ weight·form: trees become one sum of trees and linear functions one, where missing values allow it."""
    trees: list[ScaledTree] = []
    constant = 0.0
    linear: list[LinearForm] = []
    others: list[tuple[float, Form]] = []
    for weight, form in _flattened(weights, forms):
        if isinstance(form, AdditiveTrees):
            constant += weight * form.constant
            trees += form.trees if weight == 1.0 else [tree.scaled(weight) for tree in form.trees]
        elif isinstance(form, LinearForm):
            scaled = LinearForm(weight * form.constant, weight * form.weights, form.fills)
            alike = next((at for at, one in enumerate(linear) if _fill_alike(one, scaled)), None)
            if alike is None:
                linear.append(scaled)
            else:
                linear[alike] = _added(linear[alike], scaled)
        else:
            others.append((weight, form))
    merged: list[tuple[float, Form]] = [(1.0, form) for form in linear]
    if trees or constant:
        if merged and not trees:
            first = linear[0]
            merged[0] = (1.0, LinearForm(first.constant + constant, first.weights, first.fills))
        else:
            merged.append((1.0, AdditiveTrees(constant, tuple(trees))))
    terms = merged + others
    if not terms:
        return AdditiveTrees(0.0, ())
    if len(terms) == 1 and terms[0][0] == 1.0:
        return terms[0][1]
    return MixedForm(tuple(weight for weight, _ in terms), tuple(form for _, form in terms))


def _flattened(weights: list[float], forms: list[Form]) -> list[tuple[float, Form]]:
    found: list[tuple[float, Form]] = []
    for weight, form in zip(weights, forms, strict=True):
        if isinstance(form, MixedForm):
            found += _flattened([weight * inner for inner in form.weights], list(form.terms))
        else:
            found.append((weight, form))
    return found


def _fill_alike(one: LinearForm, other: LinearForm) -> bool:
    both = (one.weights != 0) & (other.weights != 0)
    return np.array_equal(one.fills[both], other.fills[both], equal_nan=True)


def _added(one: LinearForm, other: LinearForm) -> LinearForm:
    fills = np.where(one.weights != 0, one.fills, other.fills)
    return LinearForm(one.constant + other.constant, one.weights + other.weights, fills)
