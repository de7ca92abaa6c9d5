"""How the weights of a net change in an epoch: after every query, after every pair, or once.

The forces are those of an objective or of preferences, whatever they are made of: ``Forces`` gives them. Where they
are of one measure and one pairwise λ-function over all pairs, which is nearly always, an epoch is one kernel.
"""

from __future__ import annotations

import abc
import dataclasses
import threading
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.data.dataset import Dataset, tie_breakers
from rankforce.data.preferences import Preferences
from rankforce.data.random_streams import Stream
from rankforce.errors import DataError, SettingsError
from rankforce.forces.forces import Forces, RunningOrder, TermForces
from rankforce.forces.preference_forces import PreferenceForces
from rankforce.kernels.nets.network import add_gradient, score_documents, take_step, update_by_pair, update_by_query
from rankforce.memory import check_memory
from rankforce.models.net_layout import Layout
from rankforce.objectives.objective import Objective
from rankforce.objectives.position_bias import JointRatios
from rankforce.remedies import Setting
from rankforce.threads import over_pieces

DOCUMENTS_PER_SUM = 4096  # gradients of so many documents are summed apart: no number of threads changes the sum


@dataclasses.dataclass
class Learning:
    """Weights that change, with the memory of their optimiser."""

    weights: np.ndarray  # float64 (weights)
    moments: np.ndarray  # float64 (2, weights): Adam's
    steps: np.ndarray  # int64 (1): Adam's
    order: np.ndarray  # int32 (documents): the last ranking, where sorting starts

    @classmethod
    def starting(cls, weights: np.ndarray, documents: int) -> Learning:
        order = np.arange(documents, dtype=dtypes.INDEX)
        return cls(weights.copy(), np.zeros((2, len(weights))), np.zeros(1, dtype=np.int64), order)

    def restart(self, weights: np.ndarray) -> None:
        """Go on from other weights, remembering nothing."""
        self.weights[:] = weights
        self.moments[:] = 0.0
        self.steps[:] = 0


@dataclasses.dataclass(frozen=True)
class Source:
    """Where forces come from: an objective, preferences, or ``share`` × preferences + (1 − share) × objective."""

    objective: Objective
    seed: int
    preferences: Preferences | None = None
    share: float = 1.0
    sigma: float = 1.0

    def forces(self, data: Dataset, preferences: Preferences | None) -> Forces | PreferenceForces:
        """On a data set, or on a part of it with the preferences of that part."""
        graded = Forces(data, self.objective, self.seed) if self.preferences is None or self.share < 1 else None
        if preferences is None:
            assert graded is not None
            return graded
        return PreferenceForces(preferences, sigma=self.sigma, share=self.share, objective=graded)


class Updates(abc.ABC):
    """What an epoch does to the weights. One object serves several trainings, also at once."""

    def __init__(self, data: Dataset, inputs: np.ndarray, layout: Layout, source: Source, adam: bool) -> None:
        self.data = data
        self.inputs = inputs
        self.layout = layout
        self.source = source
        self.adam = adam

    @property
    @abc.abstractmethod
    def n_pairs(self) -> int:
        """How many pairs of documents pull."""

    @abc.abstractmethod
    def epoch(self, learning: Learning, rate: float, number: int) -> None:
        """Change the weights; ``number`` counts epochs from 0."""

    def _sequence(self, number: int) -> np.ndarray:
        """The queries in a random order that depends on seed, epoch and query ids only."""
        return np.argsort(Stream.QUERY_ORDER.words(self.source.seed, number, self.data.query_hashes), kind="stable")


class ByQuery(Updates):
    """A step after every query, in one kernel: one term, all pairs, a measure with columns."""

    def __init__(self, term: TermForces, *common: Any) -> None:
        super().__init__(*common)
        self.term = term
        self.tie_keys = tie_breakers(self.data, self.source.seed)

    @property
    def n_pairs(self) -> int:
        return self.term.ranges.n_pairs

    def _about_queries(self, learning: Learning, number: int) -> tuple[Any, ...]:
        """The first arguments of the kernels."""
        term, judged = self.term, self.term.judged
        weights = term.document_weights
        if term.position_weights is not None:  # they may follow from the scores at the beginning of the epoch
            scores = np.empty(self.data.n_documents)
            score_documents(self.inputs, 0, len(scores), self.layout.hidden, learning.weights, scores)
            weights = term.weights_at(RunningOrder(self.data, self.source.seed).of(scores), scores)
        scales = self.source.objective.shares(number)[0] * term.query_weights
        return (
            judged.kernel_tuple, term.lambda_tuple, term.column_count, judged.worth, term.ranges.members,
            term.ranges.worse, judged.starts, judged.normalisers, weights, scales, self.tie_keys,
            self.inputs, self._sequence(number), self.layout.hidden,
        )  # fmt: skip

    def epoch(self, learning: Learning, rate: float, number: int) -> None:
        scores, forces, curvatures = np.empty((3, self.data.n_documents))
        update_by_query(
            *self._about_queries(learning, number), rate, self.adam, learning.order, scores, forces, curvatures,
            learning.moments, learning.steps, learning.weights,
        )  # fmt: skip


class ByPair(ByQuery):
    """A step after every pair: one term, all pairs, any measure."""

    def epoch(self, learning: Learning, rate: float, number: int) -> None:
        scores = np.empty(self.data.n_documents)
        update_by_pair(
            *self._about_queries(learning, number), rate, self.adam, True, learning.order, scores,
            learning.moments, learning.steps, learning.weights,
        )  # fmt: skip


class ByForces(Updates):
    """A step after every query, for any forces: each query has ``Forces`` of its own."""

    def __init__(self, *common: Any) -> None:
        super().__init__(*common)
        bare = self.data.replace(features=np.empty((self.data.n_documents, 0), dtype=dtypes.FEATURE), feature_names=[])
        listed = _by_query(self.source.preferences)
        self.parts: list[tuple[RunningOrder, Forces | PreferenceForces, float] | None] = []
        for q in range(self.data.n_queries):
            part = bare.take_queries([q])
            preferences = None if listed is None else listed(q, part)
            if listed is not None and preferences is None and self.source.share == 1.0:
                self.parts.append(None)  # no preference is about this query
                continue
            share = 1.0 if listed is None or preferences is not None else 1.0 - self.source.share
            self.parts.append((RunningOrder(part, self.source.seed), self.source.forces(part, preferences), share))
        self._lock = threading.Lock()  # forces are written into arrays of their own

    @property
    def n_pairs(self) -> int:
        return sum(part[1].n_pairs for part in self.parts if part is not None)

    def epoch(self, learning: Learning, rate: float, number: int) -> None:
        hidden, starts = self.layout.hidden, self.data.query_starts
        scores = np.empty(int(self.data.query_sizes.max()))
        gradient = np.zeros(self.layout.size)
        with self._lock:
            for q in self._sequence(number):
                part = self.parts[q]
                if part is None:
                    continue
                inputs = self.inputs[starts[q] : starts[q + 1]]
                size = len(inputs)
                score_documents(inputs, 0, size, hidden, learning.weights, scores)
                ranking, pulling, share = part
                forces, _ = pulling.at(scores[:size], ranking.update(scores[:size]), number)
                if forces.any():
                    forces *= share
                    add_gradient(inputs, 0, size, hidden, learning.weights, forces, scores, gradient)
                    take_step(gradient, rate, self.adam, learning.moments, learning.steps, learning.weights)


class ByBatch(Updates):
    """One step per epoch, on the mean gradient of all queries."""

    def __init__(self, *common: Any) -> None:
        super().__init__(*common)
        self.pulling = self.source.forces(self.data, self.source.preferences)
        self.ranking = RunningOrder(self.data, self.source.seed)
        self._lock = threading.Lock()
        parts = -(-self.data.n_documents // DOCUMENTS_PER_SUM)
        check_memory(
            8 * parts * self.layout.size,
            "update='batch'",
            f"{parts:,} parts of the documents × {self.layout.size:,} weights × 8 bytes",
            "lower hidden, or take update='query'",
        )

    @property
    def n_pairs(self) -> int:
        return self.pulling.n_pairs

    def epoch(self, learning: Learning, rate: float, number: int) -> None:
        hidden, n = self.layout.hidden, self.data.n_documents
        scores = np.empty(n)
        edges = [*range(0, n, DOCUMENTS_PER_SUM), n]
        gradients = np.zeros((len(edges) - 1, self.layout.size))
        over_pieces(edges, lambda a, b: score_documents(self.inputs, a, b, hidden, learning.weights, scores))
        with self._lock:
            forces, _ = self.pulling.at(scores, self.ranking.update(scores), number)
            over_pieces(
                edges,
                lambda a, b: add_gradient(
                    self.inputs, a, b, hidden, learning.weights, forces, scores, gradients[a // DOCUMENTS_PER_SUM]
                ),
            )
        gradient = gradients.sum(axis=0) / self.data.n_queries
        take_step(gradient, rate, self.adam, learning.moments, learning.steps, learning.weights)


def updates_of(kind: str, data: Dataset, inputs: np.ndarray, layout: Layout, source: Source, *, adam: bool) -> Updates:
    """The updates of a kind ("query", "pair" or "batch"); raises if nothing pulls."""
    made = _chosen(kind, (data, inputs, layout, source, adam))
    if made.n_pairs == 0:
        labels = ", ".join(sorted({term.measure.label for term in source.objective.terms}))
        what = f"no query has two documents with different labels ({labels})"
        raise DataError(f"nothing to learn from: {'every preference has the weight 0' if source.preferences else what}")
    return made


def _chosen(kind: str, common: tuple[Dataset, np.ndarray, Layout, Source, bool]) -> Updates:
    data, _, _, source, _ = common
    if kind == "batch":
        return ByBatch(*common)
    objective = source.objective
    if source.preferences is None and type(objective) is Objective and len(objective.terms) == 1:
        term = TermForces(data, objective.terms[0], source.seed)
        simple = term.every_pair and not term.lambda_function.diagonal and term.judged.kept is None
        if kind == "pair" and simple:
            return ByPair(term, *common)
        if kind == "query" and simple and term.by_columns:
            return ByQuery(term, *common)
    if any(isinstance(term.bias, JointRatios) for term in objective.terms):
        raise SettingsError(
            "joint ratios of positions are made of all queries, and these are updates by one: use ",
            Setting("update", "batch"),
        )
    if kind == "pair":
        raise SettingsError(
            Setting("update", "pair"),
            " goes with one measure and one λ-function over all pairs of different labels: use ",
            Setting("update", "query"),
        )
    return ByForces(*common)


def _by_query(preferences: Preferences | None) -> Any:
    """A function (number of a query, its data set) -> its preferences, or None if there are none."""
    if preferences is None:
        return None
    listed, starts = preferences.listed, preferences.data.query_starts

    def part(q: int, data: Dataset) -> Preferences | None:
        pairs = slice(listed.starts[q], listed.starts[q + 1])
        if not listed.weight[pairs].any():
            return None
        better, worse = listed.better[pairs] - starts[q], listed.worse[pairs] - starts[q]
        return Preferences(data, better, worse, listed.probability[pairs], listed.weight[pairs])

    return part
