"""What a model is to a search engine: a sum of trees, a linear function, a net, or something made of these.

A form numbers features as the model does. Every format says which forms it can hold.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from rankforce.export.thresholds import LARGEST
from rankforce.models.expected_grade import GradeLink
from rankforce.models.net import Net
from rankforce.models.perceptron import Perceptron


@dataclasses.dataclass(frozen=True, eq=False)
class ScaledTree:
    """A tree of the model with the weight it has in the score multiplied into its leaves.

    Children: c >= 0 is an internal node, later than its parent; c < 0 is the leaf ~c. ``x <= threshold`` goes left, a
    missing value by ``missing_left``. A node with ``listed`` codes of categories asks instead whether x is one of them.
    """

    feature: np.ndarray  # int32
    threshold: np.ndarray  # float32
    missing_left: np.ndarray  # bool
    left: np.ndarray  # int32
    right: np.ndarray  # int32
    gain: np.ndarray  # float64
    leaf_value: np.ndarray  # float64
    leaf_documents: np.ndarray  # int64
    listed: tuple[np.ndarray | None, ...] = ()  # int64, rising, per node; empty if no node asks for a set

    @property
    def asks_set(self) -> np.ndarray:
        """Whether each node asks for a set of categories."""
        if not self.listed:
            return np.zeros(self.n_nodes, dtype=bool)
        return np.array([codes is not None for codes in self.listed], dtype=bool)

    def codes(self, node: int) -> np.ndarray | None:
        """The codes that go left at a node; None where it compares."""
        return self.listed[node] if self.listed else None

    @property
    def n_nodes(self) -> int:
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        return len(self.leaf_value)

    @property
    def root(self) -> int:
        """The root as a child: node 0, or the only leaf."""
        return 0 if self.n_nodes else ~0

    @classmethod
    def of_leaf(cls, value: float, documents: int = 1) -> ScaledTree:
        """A tree that gives every document the same."""
        none = np.empty(0)
        return cls(
            feature=none.astype(np.int32),
            threshold=none.astype(np.float32),
            missing_left=none.astype(bool),
            left=none.astype(np.int32),
            right=none.astype(np.int32),
            gain=none,
            leaf_value=np.array([value], dtype=np.float64),
            leaf_documents=np.array([documents], dtype=np.int64),
        )

    def scaled(self, weight: float) -> ScaledTree:
        return dataclasses.replace(self, leaf_value=weight * self.leaf_value)

    @property
    def zero_left(self) -> np.ndarray:
        """The side of the value 0, per node."""
        return self.threshold >= 0

    def node_documents(self) -> tuple[np.ndarray, np.ndarray]:
        """(training documents, mean leaf value of them) of every internal node.

        A node that no document was counted in has the plain mean of its children.
        """
        documents = np.zeros(self.n_nodes, dtype=np.int64)
        means = np.zeros(self.n_nodes)
        for node in range(self.n_nodes - 1, -1, -1):
            counts, values = [], []
            for child in (self.left[node], self.right[node]):
                inner = child >= 0
                counts.append(documents[child] if inner else self.leaf_documents[~child])
                values.append(means[child] if inner else self.leaf_value[~child])
            documents[node] = sum(counts)
            means[node] = np.average(values, weights=counts) if documents[node] else np.mean(values)
        return documents, means


@dataclasses.dataclass(frozen=True, eq=False)
class AdditiveTrees:
    """score = constant + leaf of the first tree + leaf of the second ..."""

    CALLED: ClassVar[str] = "a sum of trees"

    constant: float
    trees: tuple[ScaledTree, ...]

    def with_constant_tree(self) -> tuple[ScaledTree, ...]:
        """The trees, and the constant as a tree of one leaf at the end; at least one tree.

        At the end, because sums in float32 lose least if what is large comes last.
        """
        if self.constant or not self.trees:
            return (*self.trees, ScaledTree.of_leaf(self.constant))
        return self.trees


@dataclasses.dataclass(frozen=True, eq=False)
class LinearForm:
    """score = constant + Σ weight·x; where x is missing, ``fills`` stands in; NaN: the model refuses such documents."""

    CALLED: ClassVar[str] = "a linear function"

    constant: float
    weights: np.ndarray  # float64 (features,)
    fills: np.ndarray  # float64 (features,)


@dataclasses.dataclass(frozen=True, eq=False)
class NetForm:
    """score = net(x): one or two layers on scaled features; where x is missing, 0 if ``missing_as_zero``.

    places : int64 (features of the net,), the model's feature for each of the net's
    """

    CALLED: ClassVar[str] = "a net"

    net: Net
    places: np.ndarray
    missing_as_zero: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class QuadraticForm:
    """A quadratic function of scaled features."""

    CALLED: ClassVar[str] = "a quadratic function"

    perceptron: Perceptron
    places: np.ndarray
    missing_as_zero: bool = False


@dataclasses.dataclass(frozen=True, eq=False)
class GradeForm:
    """The expected value of a grade, by a link from several outputs."""

    CALLED: ClassVar[str] = "an expected grade"

    link: GradeLink
    outputs: tuple[Form, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class StackedForm:
    """A net on the scores of others, rounded to float32."""

    CALLED: ClassVar[str] = "a net on the scores of models"

    net: Net
    inputs: tuple[Form, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class MixedForm:
    """score = Σ weight·term, of forms that cannot be merged into one."""

    CALLED: ClassVar[str] = "a sum of different kinds of models"

    weights: tuple[float, ...]
    terms: tuple[Form, ...]


Form = AdditiveTrees | LinearForm | NetForm | QuadraticForm | GradeForm | StackedForm | MixedForm
KINDS_OF_FORMS: tuple[Any, ...] = (
    AdditiveTrees,
    LinearForm,
    NetForm,
    QuadraticForm,
    GradeForm,
    StackedForm,
    MixedForm,
)


def parts_of(form: Form) -> list[Form]:
    """The forms that a form is made of, itself if it is made of none."""
    if isinstance(form, GradeForm):
        return [part for output in form.outputs for part in parts_of(output)]
    if isinstance(form, StackedForm):
        return [part for given in form.inputs for part in parts_of(given)]
    if isinstance(form, MixedForm):
        return [part for term in form.terms for part in parts_of(term)]
    return [form]


def with_missing_as_zero(form: Form) -> Form:
    """The form that sends a missing value where it sends 0."""
    if isinstance(form, AdditiveTrees):
        return dataclasses.replace(form, trees=tuple(map(_tree_with_missing_as_zero, form.trees)))
    if isinstance(form, LinearForm):
        return dataclasses.replace(form, fills=np.zeros_like(form.fills))
    if isinstance(form, GradeForm):
        return dataclasses.replace(form, outputs=tuple(map(with_missing_as_zero, form.outputs)))
    if isinstance(form, StackedForm):
        return dataclasses.replace(form, inputs=tuple(map(with_missing_as_zero, form.inputs)))
    if isinstance(form, MixedForm):
        return dataclasses.replace(form, terms=tuple(map(with_missing_as_zero, form.terms)))
    return dataclasses.replace(form, missing_as_zero=True)


def _tree_with_missing_as_zero(tree: ScaledTree) -> ScaledTree:
    """A missing number is 0; a missing category is none, and goes where the model sends it."""
    return dataclasses.replace(tree, missing_left=np.where(tree.asks_set, tree.missing_left, tree.zero_left))


def without_empty_sets(form: Form) -> Form:
    """The form with a comparison that no code passes in place of every set that lists nothing, which engines refuse."""
    if isinstance(form, AdditiveTrees):
        return dataclasses.replace(form, trees=tuple(map(_tree_without_empty_sets, form.trees)))
    if isinstance(form, GradeForm):
        return dataclasses.replace(form, outputs=tuple(map(without_empty_sets, form.outputs)))
    if isinstance(form, StackedForm):
        return dataclasses.replace(form, inputs=tuple(map(without_empty_sets, form.inputs)))
    if isinstance(form, MixedForm):
        return dataclasses.replace(form, terms=tuple(map(without_empty_sets, form.terms)))
    return form


def _tree_without_empty_sets(tree: ScaledTree) -> ScaledTree:
    empty = np.array([codes is not None and not len(codes) for codes in tree.listed], dtype=bool)
    if not empty.any():
        return tree
    listed = tuple(None if nothing else codes for nothing, codes in zip(empty, tree.listed, strict=True))
    return dataclasses.replace(
        tree,
        threshold=np.where(empty, -LARGEST, tree.threshold).astype(np.float32),
        listed=listed if any(codes is not None for codes in listed) else (),
    )


def set_features(form: Form) -> np.ndarray:
    """The model's features that are asked for sets of categories, rising."""
    found = [np.empty(0, dtype=np.int64)]
    for part in parts_of(form):
        if isinstance(part, AdditiveTrees):
            found += [tree.feature[tree.asks_set].astype(np.int64) for tree in part.trees]
    return np.unique(np.concatenate(found))


def used_features(form: Form) -> np.ndarray:
    """The model's features that the form reads, rising."""
    found = [np.empty(0, dtype=np.int64)]
    for part in parts_of(form):
        if isinstance(part, AdditiveTrees):
            found += [tree.feature.astype(np.int64) for tree in part.trees]
        elif isinstance(part, LinearForm):
            found.append(np.flatnonzero(part.weights))
        elif isinstance(part, (NetForm, QuadraticForm)):
            found.append(np.asarray(part.places, dtype=np.int64))
    return np.unique(np.concatenate(found))
