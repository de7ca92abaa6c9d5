"""Several sums of trees that give the probability of every grade; the score is the expected value of the grade."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from rankforce import dtypes
from rankforce.cached_properties import cached_property
from rankforce.data.spread import SpreadData
from rankforce.errors import DataError, SettingsError
from rankforce.models.binned_scores import is_binned, scores_by_bins
from rankforce.models.model import Model, count_of, frozen, places_within
from rankforce.models.provenance import Provenance
from rankforce.models.tree_ensemble import TreeEnsemble

LINKS = ("softmax", "ordinal")


@dataclasses.dataclass(frozen=True, eq=False)
class GradeLink:
    """From outputs F to the probabilities of the grades g_0 < g_1 < … < g_{K−1}, and to scores.

    ``"softmax"``: K outputs, P(g_k) = e^{F_k} / Σ_j e^{F_j}.

    ``"ordinal"``: K − 1 outputs, P(y > g_k) = 1/(1 + e^{−2σF_k}), one for every step of the scale. They are learned
    apart and need not fall with k. The score takes them as they are; probabilities of single grades are taken after
    sorting them, which leaves their sum as it is.

    The score is Σ_k v_k·P(g_k), for the ordinal link v_0 + Σ_{k<K−1} (v_{k+1} − v_k)·P(y > g_k): the expected grade
    if the values v are the grades, the expected gain if they are gains.

    kind : "softmax" or "ordinal"
    grades, values : float64 (K,); grades rise, values do not fall
    sigma : float, of the ordinal link
    """

    kind: str
    grades: np.ndarray
    values: np.ndarray
    sigma: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in LINKS:
            raise SettingsError(f"a link is one of {', '.join(map(repr, LINKS))}, not {self.kind!r}")
        for name in ("grades", "values"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))
        object.__setattr__(self, "sigma", float(self.sigma))
        if self.grades.ndim != 1 or len(self.grades) < 2 or not np.isfinite(self.grades).all():
            raise DataError("there must be at least two grades, all of them finite")
        if (np.diff(self.grades) <= 0).any():
            raise DataError("grades must rise")
        if self.values.shape != self.grades.shape:
            raise DataError(f"values must have one number per grade ({len(self.grades)}), not {self.values.size}")
        if not np.isfinite(self.values).all() or (np.diff(self.values) < 0).any():
            raise DataError(f"values of grades must be finite and must not fall: {self.values.tolist()}")
        if self.values[0] == self.values[-1]:
            raise DataError("all grades have the same value: nothing would be ranked")
        if not (self.sigma > 0 and np.isfinite(self.sigma)):
            raise DataError(f"sigma must be positive, not {self.sigma!r}")

    @property
    def n_outputs(self) -> int:
        return len(self.grades) - (self.kind == "ordinal")

    def scores(self, outputs: np.ndarray) -> np.ndarray:
        """float64 (documents,) from outputs (n_outputs, documents)."""
        if self.kind == "softmax":
            weighted, total = (np.zeros(outputs.shape[1], dtype=dtypes.SCORE) for _ in range(2))
            for value, mass in zip(self.values, self._masses(outputs), strict=True):
                weighted += value * mass
                total += mass
            return weighted / total
        scores = np.full(outputs.shape[1], self.values[0], dtype=dtypes.SCORE)
        for rise, output in zip(np.diff(self.values), outputs, strict=True):
            scores += rise * logistic(2.0 * self.sigma * output)
        return scores

    def probabilities(self, outputs: np.ndarray) -> np.ndarray:
        """P(g_k): float64 (documents, K), rows that sum to 1."""
        if self.kind == "softmax":
            masses = self._masses(outputs)
            return np.ascontiguousarray((masses / masses.sum(axis=0)).T)
        above = -np.sort(-logistic(2.0 * self.sigma * outputs), axis=0)
        edges = np.concatenate([np.ones((1, outputs.shape[1])), above, np.zeros((1, outputs.shape[1]))])
        return np.ascontiguousarray((edges[:-1] - edges[1:]).T)

    def _masses(self, outputs: np.ndarray) -> np.ndarray:
        return np.exp(outputs - outputs.max(axis=0))


def logistic(x: np.ndarray) -> np.ndarray:
    """1/(1 + e^{−x}), which never overflows."""
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, e) / (1.0 + e)


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class ExpectedGrade(Model):
    """The expected value of the grade, from one tree ensemble per output of a ``GradeLink``."""

    KIND: ClassVar[str] = "expected grade"

    link: GradeLink
    members: tuple[TreeEnsemble, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "members", tuple(self.members))
        if len(self.members) != self.link.n_outputs:
            raise DataError(
                f"{len(self.link.grades)} grades need {self.link.n_outputs} ensembles ({self.link.kind}), "
                f"not {len(self.members)}"
            )
        for number, member in enumerate(self.members):
            if not isinstance(member, TreeEnsemble):
                raise DataError(f"output {number} must be a tree ensemble, not {type(member).__name__}")
            if member.n_trees != self.members[0].n_trees:
                raise DataError("all outputs must have the same number of trees")
            self.check_member(member, f"output {number}")

    @property
    def n_trees(self) -> int:
        """Trees per output."""
        return self.members[0].n_trees

    def truncate(self, n_trees: int) -> ExpectedGrade:
        """The model of the first ``n_trees`` trees of every output."""
        return dataclasses.replace(self, members=tuple(member.truncate(n_trees) for member in self.members))

    def feature_importance(self, kind: str = "gain") -> dict[str, float]:
        """What each feature did in all outputs together: total gain, or number of splits (``kind="split"``)."""
        totals = dict.fromkeys(self.feature_names, 0.0)
        for member in self.members:
            for name, share in member.feature_importance(kind).items():
                totals[name] += share
        return totals

    def outputs(self, data: Any, n_trees: int | None = None) -> np.ndarray:
        """F: float64 (outputs, documents)."""
        count = self.n_trees if n_trees is None else count_of(n_trees, "n_trees", self.n_trees)

        def score(matrix: np.ndarray) -> np.ndarray:
            outputs = np.empty((len(self.members), len(matrix)), dtype=dtypes.SCORE)
            for index, member in enumerate(self.members):
                part = self.part_for(member, matrix)
                outputs[index] = member.base_scores(part)
                member._add_trees(part, 0, count, outputs[index])
            return outputs

        return scores_by_bins(self, data, score) if is_binned(data) else score(self.matrix(data))

    def threshold_tests(self) -> Iterator[tuple[str, np.ndarray]]:
        for member in self.members:
            yield from member.threshold_tests()

    def category_tests(self) -> Iterator[tuple[str, np.ndarray]]:
        for member in self.members:
            yield from member.category_tests()

    def predict(self, data: Any, n_trees: int | None = None) -> np.ndarray:
        """The expected value of every document's grade, float64; ``n_trees`` uses the first trees only.

        See ``Model.predict`` for what ``data`` can be.
        """
        if isinstance(data, SpreadData) and n_trees is None:
            return data.scored(self)[0]
        return self.link.scores(self.outputs(data, n_trees))

    def predict_proba(self, data: Any, n_trees: int | None = None) -> np.ndarray:
        """The probability of every grade: float64 (documents, grades), in the order of ``link.grades``."""
        return self.link.probabilities(self.outputs(data, n_trees))

    @cached_property
    def unnamed_categories(self) -> frozenset[int]:
        return places_within(self, self.members)

    def _scores(self, matrix: np.ndarray) -> np.ndarray:
        outputs = [member._scores(self.part_for(member, matrix)) for member in self.members]
        return self.link.scores(np.array(outputs, dtype=dtypes.SCORE))

    def contents(self) -> dict[str, Any]:
        from rankforce.models.storage import document_of

        return {
            "link": self.link.kind,
            "grades": self.link.grades.tolist(),
            "values": self.link.values.tolist(),
            "sigma": self.link.sigma,
            "outputs": [document_of(member) for member in self.members],
        }

    @classmethod
    def from_contents(cls, contents: Any, feature_names: tuple[str, ...], provenance: Provenance) -> ExpectedGrade:
        link = GradeLink(
            contents.text("link"),
            np.array(contents.numbers("grades")),
            np.array(contents.numbers("values")),
            contents.number("sigma"),
        )
        return cls(
            feature_names=feature_names,
            provenance=provenance,
            categories=contents.categories,
            link=link,
            members=contents.models("outputs"),
        )

    def __repr__(self) -> str:
        grades = ", ".join(f"{grade:g}" for grade in self.link.grades)
        return f"ExpectedGrade({self.link.kind}, grades {grades}, {len(self.members)} × {self.n_trees:,} trees)"
