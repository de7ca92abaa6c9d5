"""A directed acyclic graph whose ordered frontier is the ranking: what XRank yields."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from rankforce import dtypes
from rankforce.console.wording import counted
from rankforce.errors import RankforceError, SettingsError
from rankforce.files.atomic_writes import atomic_write
from rankforce.files.streams import file_name
from rankforce.kinds import check_choice
from rankforce.models import compiled_trees, tree_walk
from rankforce.models.model import Model, frozen
from rankforce.models.provenance import Provenance
from rankforce.models.tree_ensemble import NODE_FIELDS


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class RankingGraph(Model):
    """Tests that lead every document to one of the ordered nodes of the frontier.

    The score is the number of frontier nodes below that one: whole numbers, and documents of one node are tied.

    Children: c >= 0 is the test c, later than its parent; c < 0 is the place ~c of the frontier, 0 the best. A test may
    have several parents. ``x <= threshold`` goes left, a missing value by ``missing_left``. ``documents`` int64: the
    training documents in each node of the frontier.
    """

    KIND: ClassVar[str] = "ranking graph"

    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    left: np.ndarray
    right: np.ndarray
    gain: np.ndarray
    documents: np.ndarray

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, dtype in NODE_FIELDS.items():
            object.__setattr__(self, name, frozen(getattr(self, name), dtype))
        object.__setattr__(self, "documents", frozen(self.documents, np.int64))
        _check(self)

    @property
    def n_tests(self) -> int:
        return len(self.feature)

    @property
    def n_places(self) -> int:
        """Nodes of the frontier."""
        return len(self.documents)

    def places(self, data: Any) -> np.ndarray:
        """The place in the frontier that each document comes to, int32, 0 the best."""
        return self._places_of(self.matrix(data))

    def _places_of(self, matrix: np.ndarray) -> np.ndarray:
        out = np.empty((len(matrix), 1), dtype=np.int32)
        nodes = frozen(np.column_stack([self.feature, self.left, self.right, self.missing_left]), np.int32)
        root = frozen(np.array([0 if self.n_tests else ~0]), np.int32)
        walk = compiled_trees.find_leaves if compiled_trees.available() else tree_walk.find_leaves
        walk(matrix, root, nodes, self.threshold, None, out)
        return out[:, 0]

    def _scores(self, matrix: np.ndarray) -> np.ndarray:
        return (self.n_places - 1 - self._places_of(matrix)).astype(dtypes.SCORE)

    def feature_importance(self, kind: str = "gain") -> dict[str, float]:
        """What each feature did, in the order of the features: total gain, or number of tests (``kind="split"``)."""
        check_choice("kind", kind, ("gain", "split"))
        shares = self.gain if kind == "gain" else np.ones(self.n_tests)
        totals = np.bincount(self.feature, weights=shares, minlength=self.n_features)
        return dict(zip(self.feature_names, totals.tolist(), strict=True))

    def to_text(self) -> str:
        """The graph in lines: every test with its two children, and the frontier."""
        from rankforce.models.dag_drawing import to_text

        return to_text(self)

    def to_dot(self) -> str:
        """The graph in Graphviz's language."""
        from rankforce.models.dag_drawing import to_dot

        return to_dot(self)

    def to_svg(self) -> str:
        """A picture of the graph, drawn without other programs."""
        from rankforce.models.dag_drawing import to_svg

        return to_svg(self)

    def draw(self, path: str | Path) -> None:
        """Write a drawing: ``.txt``, ``.dot`` or ``.svg``."""
        drawings = {".txt": self.to_text, ".dot": self.to_dot, ".svg": self.to_svg}
        kind = Path(file_name(path)).suffix
        if kind not in drawings:
            raise SettingsError(f"{path}: a graph is drawn as {', '.join(drawings)}, not as {kind or 'nothing'!r}")
        with atomic_write(path, SettingsError) as file:
            file.write(drawings[kind]().encode())

    def contents(self) -> dict[str, Any]:
        from rankforce.models.storage import shortest

        written = {name: getattr(self, name).tolist() for name in NODE_FIELDS}
        written["threshold"] = shortest(self.threshold).tolist()
        return {**written, "documents": self.documents.tolist()}

    @classmethod
    def from_contents(cls, contents: Any, feature_names: tuple[str, ...], provenance: Provenance) -> RankingGraph:
        return cls(
            feature_names=feature_names,
            provenance=provenance,
            documents=contents.array("documents", np.int64),
            **{name: contents.array(name, dtype) for name, dtype in NODE_FIELDS.items()},
        )

    def __repr__(self) -> str:
        return (
            f"RankingGraph({counted(self.n_tests, 'test')}, {counted(self.n_places, 'place')}, "
            f"{counted(self.n_features, 'feature')})"
        )


def _check(graph: RankingGraph) -> None:
    """Raise unless a walk from the first test always ends at a place of the frontier."""
    tests, places = len(graph.feature), len(graph.documents)
    for name in NODE_FIELDS:
        if getattr(graph, name).shape != (tests,):
            raise RankforceError(f"{name} must have {tests} entries, not shape {getattr(graph, name).shape}")
    if graph.documents.ndim != 1 or places == 0 or (graph.documents < 0).any():
        raise RankforceError("the frontier must have nodes, none with a negative number of documents")

    def refuse(wrong: np.ndarray, problem: str) -> None:
        if wrong.any():
            raise RankforceError(f"test {int(np.flatnonzero(wrong)[0])}: {problem}")

    refuse((graph.feature < 0) | (graph.feature >= graph.n_features), f"the model has {graph.n_features} features only")
    refuse(~np.isfinite(graph.threshold), "the threshold is not finite")
    refuse(~np.isfinite(graph.gain), "the gain is not finite")
    for side in (graph.left.astype(np.int64), graph.right.astype(np.int64)):
        refuse((side >= 0) & (side <= np.arange(tests)), "a child that does not come after its parent")
        refuse(side >= tests, "a child that does not exist")
        refuse(~side >= places, "a place outside the frontier")
