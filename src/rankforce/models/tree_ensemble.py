"""A sum of regression trees: what LambdaMART and MART yield."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankforce import dtypes
from rankforce.cached_properties import cached_property
from rankforce.console.wording import counted
from rankforce.data.categories import Categories
from rankforce.data.spread import SpreadData
from rankforce.errors import DataError, SettingsError
from rankforce.kinds import check_choice
from rankforce.models import compiled_trees, tree_sets, tree_walk
from rankforce.models.binned_scores import is_binned, scores_by_bins
from rankforce.models.model import Model, count_of, frozen, places_within
from rankforce.models.provenance import Provenance
from rankforce.models.tree_checks import check_trees
from rankforce.models.tree_sets import SET_FIELDS
from rankforce.models.tree_text import TreeColumns
from rankforce.trees.tree import Tree, no_numbers

if TYPE_CHECKING:
    from rankforce.kernels.trees.set_tests import SetBits

# dtype of each array; the first six have one entry per internal node, the last two one per leaf
NODE_FIELDS: dict[str, Any] = {
    "feature": np.int32,
    "threshold": dtypes.FEATURE,
    "missing_left": np.bool_,
    "left": np.int32,
    "right": np.int32,
    "gain": np.float64,
}
LEAF_FIELDS: dict[str, Any] = {"leaf_value": dtypes.LEAF, "leaf_documents": np.int64}


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class TreeEnsemble(Model):
    """Trees, and what they start from.

    score = base, + leaf of tree 0, + leaf of tree 1, ...: float64, in this order. The base is ``base_score``, plus
    the score of ``base_model`` if there is one, or the value of the feature ``base_feature`` if one is named.

    The trees stand one after the other: nodes ``node_starts[t]`` to ``node_starts[t + 1]`` are the internal nodes of
    tree t, root first, and leaves begin at ``leaf_starts[t]`` (a tree has one leaf more than internal nodes).
    Children count within their tree: c >= 0 is the internal node c, later than its parent; c < 0 is the leaf ~c.
    ``x <= threshold`` goes left, a missing value by ``missing_left``.

    A node with ``subset`` s >= 0 asks instead whether the code of a category is in set s, which goes left; all else
    goes right. The k-th node that asks so asks for set k; ``data/category_sets.py`` says how sets are written.

    Leaf values are float32, or float64 if ``double_leaves``: models of other libraries have such leaves.
    """

    KIND: ClassVar[str] = "tree ensemble"

    node_starts: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    left: np.ndarray
    right: np.ndarray
    gain: np.ndarray
    leaf_value: np.ndarray
    leaf_documents: np.ndarray
    base_score: float = 0.0
    base_feature: str | None = None
    base_model: Model | None = None
    double_leaves: bool = False
    subset: np.ndarray = dataclasses.field(default_factory=no_numbers)
    subset_starts: np.ndarray = dataclasses.field(default_factory=no_numbers)
    subset_words: np.ndarray = dataclasses.field(default_factory=no_numbers)

    @classmethod
    def from_trees(
        cls,
        trees: Sequence[Tree],
        feature_names: Sequence[str],
        *,
        base_model: Model | str | None = None,
        base_score: float = 0.0,
        provenance: Provenance | None = None,
        double_leaves: bool = False,
        categories: Categories | None = None,
    ) -> TreeEnsemble:
        """An ensemble of trees. ``base_model`` is a model, or the name of a feature whose value is the base."""
        fields: dict[str, np.ndarray] = {}
        for name, dtype in _field_types(double_leaves).items():
            parts = [np.asarray(getattr(tree, name)) for tree in trees]
            fields[name] = np.concatenate(parts).astype(dtype) if parts else np.empty(0, dtype=dtype)
        for tree in trees:
            if len(tree.leaf_value) != len(tree.feature) + 1:
                raise DataError(f"a tree with {len(tree.feature)} internal nodes cannot have {tree.n_leaves} leaves")
        sizes = [len(tree.feature) for tree in trees]
        return cls(
            feature_names=tuple(feature_names),
            provenance=provenance or Provenance(),
            node_starts=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
            base_score=base_score,
            base_feature=base_model if isinstance(base_model, str) else None,
            base_model=None if isinstance(base_model, str) else base_model,
            double_leaves=double_leaves,
            categories=categories or {},
            **fields,
            **tree_sets.of_trees(trees),
        )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "node_starts", frozen(self.node_starts, dtypes.OFFSET))
        for name, dtype in _field_types(self.double_leaves).items():
            object.__setattr__(self, name, frozen(getattr(self, name), dtype))
        if len(self.subset) == 0:
            object.__setattr__(self, "subset", np.full(len(self.feature), -1))
        if len(self.subset_starts) == 0:
            object.__setattr__(self, "subset_starts", np.zeros(1))
        for name, dtype in SET_FIELDS.items():
            object.__setattr__(self, name, frozen(getattr(self, name), dtype))
        object.__setattr__(self, "base_score", float(self.base_score))
        self._check_base()
        check_trees(self, NODE_FIELDS, LEAF_FIELDS)

    def _check_base(self) -> None:
        if not np.isfinite(self.base_score):
            raise DataError(f"base_score must be a finite number, not {self.base_score}")
        if self.base_feature is not None and self.base_model is not None:
            raise SettingsError("the base is a model or a feature, not both")
        if self.base_feature is not None and self.base_feature not in self.feature_names:
            raise DataError(f"the base feature {self.base_feature!r} is not a feature of the model")
        if self.base_model is not None:
            if not isinstance(self.base_model, Model):
                raise SettingsError(f"base_model must be a model or the name of a feature, not {self.base_model!r}")
            self.check_member(self.base_model, "the base model")

    # ------------------------------------------------------------------------------------------------------ the trees

    @property
    def n_trees(self) -> int:
        return len(self.node_starts) - 1

    @property
    def has_sets(self) -> bool:
        """Whether some node asks for a set of categories."""
        return len(self.subset_starts) > 1

    @cached_property
    def tree_leaves(self) -> np.ndarray:
        """The number of leaves of each tree."""
        return frozen(np.diff(self.node_starts) + 1, dtypes.OFFSET)

    @cached_property
    def leaf_starts(self) -> np.ndarray:
        return frozen(self.node_starts + np.arange(self.n_trees + 1), dtypes.OFFSET)

    @cached_property
    def set_starts(self) -> np.ndarray:
        """Where the sets of categories of each tree begin."""
        return frozen(np.append(0, np.cumsum(self.subset >= 0))[self.node_starts], dtypes.OFFSET)

    @property
    def trees(self) -> list[Tree]:
        """Each tree on its own."""
        return [self._tree(number) for number in range(self.n_trees)]

    def _tree(self, number: int) -> Tree:
        nodes = slice(self.node_starts[number], self.node_starts[number + 1])
        leaves = slice(self.leaf_starts[number], self.leaf_starts[number + 1])
        parts = {name: getattr(self, name)[nodes] for name in NODE_FIELDS}
        parts |= tree_sets.of_range(self, number, number + 1) if self.has_sets else {}
        return Tree(**parts, **{name: getattr(self, name)[leaves] for name in LEAF_FIELDS})

    def truncate(self, n_trees: int) -> TreeEnsemble:
        """The ensemble of the first ``n_trees`` trees."""
        count = count_of(n_trees, "n_trees", self.n_trees)
        fields = {name: getattr(self, name)[: self.node_starts[count]] for name in NODE_FIELDS}
        fields |= {name: getattr(self, name)[: self.leaf_starts[count]] for name in LEAF_FIELDS}
        fields |= tree_sets.of_range(self, 0, count)
        return dataclasses.replace(self, node_starts=self.node_starts[: count + 1], **fields)

    def feature_importance(self, kind: str = "gain") -> dict[str, float]:
        """What each feature did, in the order of the features: total gain, or number of splits (``kind="split"``)."""
        check_choice("kind", kind, ("gain", "split"))
        shares = self.gain if kind == "gain" else np.ones(len(self.feature))
        totals = np.bincount(self.feature, weights=shares, minlength=self.n_features)
        return dict(zip(self.feature_names, totals.tolist(), strict=True))

    # --------------------------------------------------------------------------------------------------------- scores

    def predict(self, data: Any, n_trees: int | None = None) -> np.ndarray:
        """The score of every document, float64, in the order of the rows; ``n_trees`` uses the first trees only.

        See ``Model.predict`` for what ``data`` can be.
        """
        plain = n_trees is None and type(data) is np.ndarray and self._starts_alike and not self._asks_categories
        if plain and compiled_trees.available():
            few = self._compiled.scores_of_few(data)
            if few is not None:
                return few
        count = self.n_trees if n_trees is None else count_of(n_trees, "n_trees", self.n_trees)
        if isinstance(data, SpreadData):
            return data.scored(self if count == self.n_trees else self.truncate(count))[0]

        def score(matrix: np.ndarray) -> np.ndarray:
            scores = self.base_scores(matrix)
            self._add_trees(matrix, 0, count, scores)
            return scores

        return scores_by_bins(self, data, score) if is_binned(data) else score(self.matrix(data))

    def threshold_tests(self) -> Iterator[tuple[str, np.ndarray]]:
        if self.base_feature is not None:
            yield from super().threshold_tests()
        if self.base_model is not None:
            yield from self.base_model.threshold_tests()
        numeric = self.subset < 0
        for feature in np.flatnonzero(np.bincount(self.feature[numeric], minlength=self.n_features)).tolist():
            yield self.feature_names[feature], self.threshold[numeric & (self.feature == feature)]

    def category_tests(self) -> Iterator[tuple[str, np.ndarray]]:
        if self.base_model is not None:
            yield from self.base_model.category_tests()
        yield from tree_sets.asked_categories(self)

    def staged_predict(self, data: Any, every: int = 1) -> Iterator[np.ndarray]:
        """The scores after each ``every`` trees, and after all of them: with 1 after the first, the second, ..."""
        if isinstance(every, bool) or not isinstance(every, (int, np.integer)) or every < 1:
            raise SettingsError(f"every must be a positive whole number, not {every!r}")
        return self._stages(self.matrix(data), int(every))

    def _stages(self, matrix: np.ndarray, every: int) -> Iterator[np.ndarray]:
        scores = self.base_scores(matrix)
        for start in range(0, self.n_trees, every):
            end = min(start + every, self.n_trees)
            self._add_trees(matrix, start, end, scores)
            yield scores.copy()

    def leaf_indices(self, data: Any) -> np.ndarray:
        """The leaf that each document reaches in each tree, counted within the tree: int32 (documents, trees)."""
        matrix = self.matrix(data)
        leaves = np.empty((len(matrix), self.n_trees), dtype=np.int32)
        if compiled_trees.available():
            self._compiled.find_leaves(matrix, leaves)
        else:
            tree_walk.find_leaves(matrix, *self.walk, leaves)
        return leaves - self.leaf_starts[:-1].astype(np.int32)

    def base_scores(self, matrix: np.ndarray) -> np.ndarray:
        """What the trees are added to, for a matrix as ``self.matrix`` returns it."""
        scores = np.full(len(matrix), self.base_score, dtype=dtypes.SCORE)
        if self.base_model is not None:
            scores += self.base_model._scores(self.part_for(self.base_model, matrix))
        if self.base_feature is not None:
            column = matrix[:, self.feature_names.index(self.base_feature)]
            if np.isnan(column).any():
                row = int(np.flatnonzero(np.isnan(column))[0])
                raise DataError(
                    f"feature {self.base_feature!r} of row {row} is missing, but scores start from it: fill it in"
                )
            scores += column
        return scores

    @cached_property
    def _asks_categories(self) -> bool:
        """Whether a matrix has columns of codes, which are to be looked at before they are believed."""
        return bool(self.categories) or bool(self.unnamed_categories)

    @cached_property
    def unnamed_categories(self) -> frozenset[int]:
        own = {int(place) for place in np.unique(self.feature[self.subset >= 0])}
        own -= {place for place, name in enumerate(self.feature_names) if name in self.categories}
        return frozenset(own | places_within(self, [] if self.base_model is None else [self.base_model]))

    @cached_property
    def _starts_alike(self) -> bool:
        """Whether all scores start from the same number."""
        return self.base_model is None and self.base_feature is None

    def _scores(self, matrix: np.ndarray) -> np.ndarray:
        scores = self.base_scores(matrix)
        self._add_trees(matrix, 0, self.n_trees, scores)
        return scores

    def _add_trees(self, matrix: np.ndarray, first: int, last: int, scores: np.ndarray) -> None:
        if compiled_trees.available():
            self._compiled.add_scores(matrix, first, last, scores)
        else:
            roots, nodes, thresholds, sets = self.walk
            tree_walk.add_scores(matrix, roots[first:last], nodes, thresholds, sets, self.leaf_value, scores)

    @cached_property
    def walk(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, SetBits | None]:
        """(roots, nodes, thresholds, sets) for walking down, with children counted over all trees.

        nodes int32 (nodes, 4): feature, left, right, 1 if missing values go left, + 2·(s + 1) if the node asks for
        set s. A child c < 0 is the leaf ~c.
        """
        tree = np.repeat(np.arange(self.n_trees), np.diff(self.node_starts))
        sides = [
            np.where(side >= 0, side + self.node_starts[tree], side - self.leaf_starts[tree])
            for side in (self.left, self.right)
        ]
        nodes = np.column_stack([self.feature, *sides, self.missing_left + 2 * (self.subset + 1)])
        roots = np.where(self.tree_leaves > 1, self.node_starts[:-1], ~self.leaf_starts[:-1])
        sets = None
        if self.has_sets:
            from rankforce.kernels.trees.set_tests import SetBits

            sets = SetBits(self.subset_starts, self.subset_words)
        return frozen(roots, np.int32), frozen(nodes, np.int32), self.threshold, sets

    @cached_property
    def _compiled(self) -> compiled_trees.CompiledTrees:
        return compiled_trees.CompiledTrees(self)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __repr__(self) -> str:
        leaves = int(self.tree_leaves.max(initial=0))
        return (
            f"TreeEnsemble({counted(self.n_trees, 'tree')} of up to {counted(leaves, 'leaf')}, "
            f"{counted(self.n_features, 'feature')})"
        )

    # ----------------------------------------------------------------------------------------------------------- file

    def contents(self) -> dict[str, Any]:
        from rankforce.models.storage import document_of, shortest

        columns = {name: _written(getattr(self, name), shortest) for name in (NODE_FIELDS | LEAF_FIELDS)}
        trees = []
        for number in range(self.n_trees):
            nodes = slice(self.node_starts[number], self.node_starts[number + 1])
            leaves = slice(self.leaf_starts[number], self.leaf_starts[number + 1])
            tree = {name: columns[name][nodes if name in NODE_FIELDS else leaves] for name in columns}
            trees.append(tree | tree_sets.written(self, number))
        return {
            "base_score": self.base_score,
            "base_feature": self.base_feature,
            "base_model": None if self.base_model is None else document_of(self.base_model),
            **({"double_leaves": True} if self.double_leaves else {}),
            "trees": trees,
        }

    @classmethod
    def from_contents(cls, contents: Any, feature_names: tuple[str, ...], provenance: Provenance) -> TreeEnsemble:
        double_leaves = contents.truth("double_leaves", False)
        types = _field_types(double_leaves)
        fields: dict[str, Any]
        trees = contents.get("trees")
        if isinstance(trees, TreeColumns):
            sizes, sets = trees.nodes, trees.sets
            with np.errstate(over="ignore"):  # what is beyond float32 becomes infinite, which is refused
                fields = {name: trees.columns[name].astype(dtype) for name, dtype in types.items()}
        else:
            trees = contents.records("trees", tuple(types), tuple(tree_sets.FILE_FIELDS))
            sets = tree_sets.lists_of_records(trees, contents.column, contents.error)
            sizes = [len(tree["feature"]) for tree in trees]
            for number, tree in enumerate(trees):
                for name, values in tree.items():
                    if len(values) != sizes[number] + (name in LEAF_FIELDS):
                        raise contents.error(
                            f"tree {number} has {sizes[number]} nodes and {len(values)} times {name!r}"
                        )
            fields = {name: contents.column(trees, name, dtype) for name, dtype in types.items()}
        node_starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        return cls(
            feature_names=feature_names,
            provenance=provenance,
            categories=contents.categories,
            node_starts=node_starts,
            base_score=contents.number("base_score"),
            base_feature=contents.optional_text("base_feature"),
            base_model=contents.optional_model("base_model"),
            double_leaves=double_leaves,
            **fields,
            **tree_sets.of_lists(sets, node_starts, contents.error),
        )


def _field_types(double_leaves: bool) -> dict[str, Any]:
    types = NODE_FIELDS | LEAF_FIELDS
    return types | {"leaf_value": np.float64} if double_leaves else types


def _written(values: np.ndarray, shortest: Any) -> list[Any]:
    return (shortest(values) if values.dtype == np.float32 else values).tolist()
