"""What each feature of any model contributes to scores: each kind of model by its own exact rule, sums of models by
summing."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from rankforce.errors import SettingsError
from rankforce.explaining import smooth_contributions as smooth
from rankforce.explaining import tree_contributions as trees
from rankforce.models.bagged import Bagged
from rankforce.models.combination import Combination
from rankforce.models.dag import RankingGraph
from rankforce.models.expected_grade import ExpectedGrade
from rankforce.models.model import Model
from rankforce.models.net import Net
from rankforce.models.perceptron import Perceptron
from rankforce.models.stacked import Stacked
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.remedies import Argument


@dataclasses.dataclass(frozen=True, eq=False)
class Attribution:
    """score of a document = ``base`` + the sum of its row of ``contributions``, float64 (documents, features)."""

    base: float
    contributions: np.ndarray


def rows_of(model: Model, data: Any) -> np.ndarray:
    """Documents in any form that ``Model.predict`` takes: the features that the model reads, float32.

    For a net that scales per query they are the scaled features: a document alone does not have them.
    """
    return model.inputs(data) if isinstance(model, Net) and model.needs_queries else model.matrix(data)


def attributed(model: Model, rows: np.ndarray, references: np.ndarray | None) -> Attribution:
    """What each feature contributes to the scores of some rows.

    Against references (rows of the same form) the base is their mean score. Without any it is the mean over the
    training documents that a model knows of: of trees by the counts in their leaves, of nets and perceptrons the score
    where every feature is at its mean.
    """
    for kind, rule in _RULES.items():
        if isinstance(model, kind):
            return rule(model, rows, references)
    raise SettingsError(f"{model!r} cannot be explained: there is no rule for models of its kind")


def methods(model: Model, references: str | None) -> list[str]:
    """In words, how the parts of a model are explained, each kind once; ``references`` says what against."""
    trees_against = references or "the training documents, as they went down the trees"
    layers_against = references or "the means of the features"
    found: dict[str, None] = {}

    def visit(part: Model) -> None:
        if isinstance(part, (TreeEnsemble, RankingGraph)):
            found[f"trees: Shapley values against {trees_against}"] = None
        elif isinstance(part, Net) and part.hidden:
            found[f"two layers: integrated gradients against {layers_against}"] = None
        elif isinstance(part, (Net, Perceptron)):
            found[f"one layer: Shapley values against {layers_against}"] = None
        elif isinstance(part, (Stacked, ExpectedGrade)):
            found["a function of several scores: what moves each of them, times its mean slope"] = None
        for member in members_of(part):
            visit(member)

    visit(model)
    return list(found)


def members_of(model: Model) -> tuple[Model, ...]:
    """The models within a model."""
    if isinstance(model, TreeEnsemble):
        return () if model.base_model is None else (model.base_model,)
    return tuple(getattr(model, "models", ())) or tuple(getattr(model, "members", ()))


def _of_trees(model: TreeEnsemble, rows: np.ndarray, references: np.ndarray | None) -> Attribution:
    if references is None:
        base, contributions = trees.path_dependent(model, rows)
    else:
        contributions = trees.against_references(model, rows, references)
        base = float(_tree_sums(model, references).mean())
    base += model.base_score
    if model.base_feature is not None:
        place = model.feature_names.index(model.base_feature)
        start = 0.0
        for compared in (rows,) if references is None else (rows, references):
            model.base_scores(compared)  # refuses missing values
        if references is not None:
            start = float(references[:, place].astype(np.float64).mean())
        contributions[:, place] += rows[:, place].astype(np.float64) - start
        base += start
    if model.base_model is not None:
        part = _of_member(model, model.base_model, rows, references)
        base, contributions = base + part.base, contributions + part.contributions
    return Attribution(base, contributions)


def _tree_sums(model: TreeEnsemble, rows: np.ndarray) -> np.ndarray:
    sums = np.zeros(len(rows))
    model._add_trees(rows, 0, model.n_trees, sums)
    return sums


def _of_graph(model: RankingGraph, rows: np.ndarray, references: np.ndarray | None) -> Attribution:
    if references is None:
        raise _needs_background("a graph does not say how many training documents took each way")
    return _of_trees(trees.as_ensemble(model), rows, references)


def _of_combination(model: Combination, rows: np.ndarray, references: np.ndarray | None) -> Attribution:
    base, total = 0.0, np.zeros(rows.shape)
    for weight, member in zip(model.weights.tolist(), model.models, strict=True):
        part = _of_member(model, member, rows, references)
        base += weight * part.base
        total += weight * part.contributions
    return Attribution(base, total)


def _of_bag(model: Bagged, rows: np.ndarray, references: np.ndarray | None) -> Attribution:
    parts = [_of_member(model, member, rows, references) for member in model.models]
    total = np.zeros(rows.shape)
    for part in parts:
        total += part.contributions
    return Attribution(sum(part.base for part in parts) / len(parts), total / len(parts))


def _of_net(model: Net, rows: np.ndarray, references: np.ndarray | None) -> Attribution:
    def inputs(matrix: np.ndarray) -> np.ndarray:
        return matrix if model.needs_queries else model.scaling.inputs(matrix)

    compared = np.zeros((1, model.n_features), dtype=np.float32) if references is None else inputs(references)
    base = float(model._scores_of_inputs(compared).mean())
    return Attribution(base, smooth.net_contributions(model, inputs(rows), compared))


def _of_perceptron(model: Perceptron, rows: np.ndarray, references: np.ndarray | None) -> Attribution:
    compared = model.means.astype(np.float64)[None, :] if references is None else references
    base = float(model._scores(compared).mean())
    return Attribution(base, smooth.perceptron_contributions(model, rows, references))


def _of_stack(model: Stacked, rows: np.ndarray, references: np.ndarray | None) -> Attribution:
    if references is None:
        raise _needs_background("a net on the scores of models has no mean of its own")

    def scores(matrix: np.ndarray) -> np.ndarray:
        return np.column_stack([member._scores(model.part_for(member, matrix)) for member in model.models])

    net, to = model.net, scores(rows)
    inputs = net.scaling.inputs(to.astype(np.float32)).astype(np.float64)
    total = np.zeros(rows.shape)
    for row in range(len(references)):
        reference = references[row : row + 1]
        start = scores(reference)
        slopes = smooth.net_slopes(net, inputs, net.scaling.inputs(start.astype(np.float32)).astype(np.float64)[0])
        slopes = slopes * smooth.scaling_slopes(net.scaling, start, to)
        for place, member in enumerate(model.models):
            total += slopes[:, place, None] * _of_member(model, member, rows, reference).contributions
    return Attribution(float(model._scores(references).mean()), total / len(references))


def _of_grades(model: ExpectedGrade, rows: np.ndarray, references: np.ndarray | None) -> Attribution:
    if references is None:
        raise _needs_background("an expected grade has no mean of its own")

    def outputs(matrix: np.ndarray) -> np.ndarray:
        return np.array([member._scores(model.part_for(member, matrix)) for member in model.members])

    to = outputs(rows)
    total = np.zeros(rows.shape)
    for row in range(len(references)):
        reference = references[row : row + 1]
        slopes = smooth.link_slopes(model.link, outputs(reference)[:, 0], to)
        for member, slope in zip(model.members, slopes, strict=True):
            total += slope[:, None] * _of_member(model, member, rows, reference).contributions
    return Attribution(float(model._scores(references).mean()), total / len(references))


def _of_member(model: Model, member: Model, rows: np.ndarray, references: np.ndarray | None) -> Attribution:
    """A model within another, with its contributions at the places of their features in the outer one."""
    inner = attributed(
        member, model.part_for(member, rows), None if references is None else model.part_for(member, references)
    )
    if member.feature_names == model.feature_names:
        return inner
    place_of = {name: place for place, name in enumerate(model.feature_names)}
    outer = np.zeros(rows.shape)
    outer[:, [place_of[name] for name in member.feature_names]] = inner.contributions
    return Attribution(inner.base, outer)


def _needs_background(why: str) -> SettingsError:
    return SettingsError(f"{why}: give documents to compare with by ", Argument("background"))


_RULES: dict[type[Model], Any] = {
    TreeEnsemble: _of_trees,
    RankingGraph: _of_graph,
    Combination: _of_combination,
    Bagged: _of_bag,
    Net: _of_net,
    Perceptron: _of_perceptron,
    Stacked: _of_stack,
    ExpectedGrade: _of_grades,
}
