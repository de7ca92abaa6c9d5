"""Instruments: what happens inside a training, looked at every so many trees (or epochs of a net).

They look at the scores that the next tree or epoch will see, and those that look at forces at the very ones that the
ranker trains with: its λ-function, normalisation and anchor (of all queries, also where a tree sees only some). Used by
hand, without a ranker, they assume RankNetWeightPairs, and their tables say so.

Give them to ``fit(..., instruments=[...])``; afterwards each holds a table. They change nothing in the training. Where
several members train together, the table of each is about the queries of all.
"""

from __future__ import annotations

import abc
import math
from typing import Any, SupportsInt

import numpy as np

from rankforce.collective import anybody, exact_total, total, totals, union
from rankforce.console import tables
from rankforce.console.result_tables import ResultTable, Tabular
from rankforce.data.dataset import MAIN_LABEL, Dataset
from rankforce.errors import SettingsError
from rankforce.forces.anchor import Anchor
from rankforce.forces.forces import TermForces
from rankforce.forces.normalising import without_weights
from rankforce.forces.pairs import PairRanges
from rankforce.forces.trained_forces import ASSUMED, AnchoredForces, TrainedForces
from rankforce.kernels.forces.pair_forces import scale_by_log
from rankforce.kinds import MOST, Text, Whole, check_number, shown
from rankforce.lambdas.pairwise import PairwiseLambdaFunction
from rankforce.measures.mean import weighted_mean
from rankforce.objectives.graded import Graded
from rankforce.objectives.objective import Term


class TableInstrument(Tabular):
    """Base of all instruments: one row of numbers per look.

    every : look before iteration (tree, epoch) 0, ``every``, 2 × ``every``, ...
    """

    TITLE = ""
    OF_FORCES = False  # whether it looks at forces

    def __init__(self, every: int = 1) -> None:
        if not Whole(1).holds(every):
            raise SettingsError(f"every must be a positive whole number of iterations, not {every!r}")
        self.every = every
        self.iterations: list[int] = []
        self.rows: list[dict[str, float]] = []
        self.trained: TrainedForces = ASSUMED  # what the training pulls with
        self._data: Dataset | None = None
        self._last = -1

    def settle(self, trained: TrainedForces) -> None:
        """A training with these forces begins."""
        self.trained = trained
        self._data = None

    def look(self, iteration: int, data: Dataset, scores: np.ndarray, order: np.ndarray) -> None:
        """Called with the scores and the ranking (``by_query`` order) before an iteration, counted from 0."""
        if data is not self._data or iteration <= self._last:
            self.iterations, self.rows = [], []
            self._data = data
            self._start(data)
        self._last = iteration
        if iteration % self.every == 0:
            self.iterations.append(iteration)
            self.rows.append(self._measured(iteration, scores, order))

    @abc.abstractmethod
    def _start(self, data: Dataset) -> None:
        """A training on this data begins."""

    @abc.abstractmethod
    def _measured(self, iteration: int, scores: np.ndarray, order: np.ndarray) -> dict[str, float]:
        """One row of the table."""

    @property
    def title(self) -> str:
        """What the table is about, and whose forces it looks at."""
        return f"{self.TITLE}; forces: {self.trained}" if self.OF_FORCES else self.TITLE

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """``iteration`` and the numbers, an array each."""
        names = list(self.rows[0]) if self.rows else []
        numbers = {name: np.array([row[name] for row in self.rows]) for name in names}
        return {"iteration": np.array(self.iterations, dtype=np.int64)} | numbers

    def to_pandas(self) -> Any:
        """The table as a data frame, indexed by iteration."""
        return tables.load_pandas().DataFrame(self.columns).set_index("iteration")

    def plot(self, axes: Any = None, *, path: Any = None) -> Any:
        """Draw the columns against the iteration; returns matplotlib's axes: ``rf.plot.instrument``."""
        import rankforce

        return rankforce.plot.instrument(self, ax=axes, path=path)

    def __str__(self) -> str:
        return self._result_table().text() if self.rows else f"{self.title}: nothing was looked at yet"

    def _result_table(self) -> ResultTable:
        names = list(self.rows[0]) if self.rows else []
        some = range(0, len(self.rows), max(1, len(self.rows) // 10))
        places = sorted({*some, *range(len(self.rows))[-1:]})
        rows = [
            [str(self.iterations[index]), *(tables.per_cent(self.rows[index][name]) for name in names)]
            for index in places
        ]
        return ResultTable(self.title, ["iteration", *names], rows)


class ForceAgreement(TableInstrument):
    """The share of documents whose forces from the first tier and from a later one have the same sign, or the later
    one's is 0.

    objective : Graded
        Each later tier is a column, with its own rule of pairs and, beside it, with all pairs of its label source,
        zeros included. The training may be for another objective, the first tier alone for example; its anchor is then
        part of the forces of this tier. Terms that name no λ-function or no pairs have those of the training.
    """

    TITLE = "agreement of forces"
    OF_FORCES = True

    def __init__(self, objective: Graded, every: int = 1) -> None:
        super().__init__(every)
        if not isinstance(objective, Graded):
            raise SettingsError(f"ForceAgreement needs the tiers of an rf.Graded, not {objective!r}")
        self.objective = objective

    def _start(self, data: Dataset) -> None:
        counts = [len(tier.terms) for tier in self.objective.tiers]
        first = self.objective.terms[: counts[0]]
        self._first = self.trained.on(data, *first)
        self._later: dict[str, AnchoredForces] = {}
        for number, term in enumerate(self.objective.terms[counts[0] :], start=counts[0] + 1):
            name = str(term.measure)
            if name in self._later:  # a measure may stand in several terms
                name = f"{name} (term {number})"
            self._later[name] = self.trained.on(data, term)
            everything = Term(term.measure, term.lambda_function, pairs=term.pairs)
            self._later[f"{name}, all pairs"] = self.trained.on(data, everything)

    def _measured(self, iteration: int, scores: np.ndarray, order: np.ndarray) -> dict[str, float]:
        signs = np.sign(self._first.at(scores, order, iteration)[0])
        found = {}
        for name, forces in self._later.items():
            later = np.sign(forces.at(scores, order, iteration)[0])
            agreeing = (later == signs) | (later == 0)
            found[name] = _ratio(int(np.count_nonzero(agreeing)), len(agreeing))
        return found


class ContributionsByGrade(TableInstrument):
    """For documents of a high grade: the share of Σ_k |λ_jk| that comes from partners k of each grade, its mean over
    those documents that are pulled at all. Where an anchor ties scores to the grades, the size of its force is part of
    the sum, and its share a column.

    term : measure or Term whose forces are looked at; by default the first that the training maximises
    least : the lowest grade that is high
    """

    TITLE = "contributions to the forces on high grades, by the partner's grade"
    OF_FORCES = True

    def __init__(self, term: Any = None, least: float = 3.0, every: int = 1) -> None:
        super().__init__(every)
        self.term = term if term is None or isinstance(term, Term) else Term(term)
        check_number("least", least, -math.inf)
        self.least = least

    def _start(self, data: Dataset) -> None:
        term = self.trained.term(self.term)
        if not isinstance(term.lambda_function, PairwiseLambdaFunction) or term.lambda_function.diagonal:
            raise SettingsError(
                f"{term.lambda_function} does not pull pairs apart alone: its forces have no partners' grades"
            )
        self._forces = self.trained.on(data, term)
        whole = self._forces.forces.terms[0]
        labels, starts = whole.judged.labels, whole.judged.starts
        self._whole = whole
        self._grades = union(labels[~np.isnan(labels)]).tolist()
        self._high = np.flatnonzero(labels >= self.least)
        if not anybody(len(self._high) > 0):
            raise SettingsError(f"no document has a grade of at least {self.least:g}")
        # All partners of one grade pull a document the same way: the sum of the sizes of their forces is the size of
        # their sum. So the forces of two grades alone, pair of grades by pair of grades, say it all.
        self._parts: list[tuple[float, np.ndarray, TermForces]] = []
        for high in (grade for grade in self._grades if grade >= self.least):
            for partner in (grade for grade in self._grades if grade != high):
                part = TermForces(data, term, self.trained.seed)
                active = (labels == high) | (labels == partner)
                if term.zeros is False:
                    active &= labels != 0.0
                part.ranges = PairRanges.of(
                    labels, starts, earlier=whole.tied_in, active=active, with_better=not part.all_pairs
                )
                self._parts.append((partner, np.flatnonzero(labels == high), part))

    def _measured(self, iteration: int, scores: np.ndarray, order: np.ndarray) -> dict[str, float]:
        data = self._data
        assert data is not None
        pulls = np.zeros(data.n_queries)
        amounts = {grade: np.zeros(len(self._whole.judged.labels)) for grade in self._grades}
        for partner, documents, part in self._parts:
            forces, curvatures = np.zeros(data.n_documents), np.zeros(data.n_documents)
            part.add(order, scores, 1.0, iteration, None, pulls, forces, curvatures)
            amounts[partner][documents] += np.abs(self._whole.judged.of_kept(forces)[documents])
        named = {f"grade {grade:g}": amount for grade, amount in amounts.items()}
        if self._forces.springs is not None:
            self._add_springs(self._forces.springs, scores, order, iteration, named)
        totals = sum(named.values())[self._high]  # type: ignore[index]  # there is at least one grade
        pulled = totals > 0
        return {name: weighted_mean(amount[self._high][pulled] / totals[pulled]) for name, amount in named.items()}

    def _add_springs(
        self,
        springs: Anchor,
        scores: np.ndarray,
        order: np.ndarray,
        iteration: int,
        amounts: dict[str, np.ndarray],
    ) -> None:
        """Scale the forces of pairs as the training does, query by query, and put those of the springs beside them."""
        forces, judged = self._forces.forces, self._whole.judged
        forces.at(scores, order, iteration)
        factors = np.full(len(scores), forces.shares(iteration)[0])
        springing, unused = np.zeros((2, len(scores)))
        if forces.normalise == "log":
            pulls = without_weights(forces.pulls, forces.query_weights)
            scale_by_log(forces.starts, pulls, 0, len(pulls), factors, unused)
        springs.add(scores, None, springing, unused)
        for name in amounts:
            amounts[name] = amounts[name] * judged.of_kept(factors)
        amounts["anchor"] = np.abs(judged.of_kept(springing))


class GradesInTop(TableInstrument):
    """The share of each grade among the first ``k`` documents, the mean over queries; unlabelled ones are a column."""

    TITLE = "grades at the top"

    def __init__(self, k: int = 3, label: str = MAIN_LABEL, every: int = 1) -> None:
        super().__init__(every)
        self.k = _checked_k(k)
        Text("the name of a label source").check("label", label)
        self.label = label

    def _start(self, data: Dataset) -> None:
        if self.label not in data.labels:
            raise SettingsError(f"the data has no label source {self.label!r}")
        self._labels = data.by_query(data.labels[self.label])
        self._places = _top_places(data, self.k)
        self._weights = _per_query_weights(data, self.k)
        missing = np.isnan(self._labels)
        self._grades = union(self._labels[~missing]).tolist()
        self._some_unlabelled = anybody(bool(missing.any()))

    def _measured(self, iteration: int, scores: np.ndarray, order: np.ndarray) -> dict[str, float]:
        top = self._labels[order[self._places]]
        found = {f"grade {grade:g}": exact_total(self._weights[top == grade]) for grade in self._grades}
        if self._some_unlabelled:
            found["unlabelled"] = exact_total(self._weights[np.isnan(top)])
        return found


class RankChanges(TableInstrument):
    """The share of documents whose rank changed since the last look, and of the first ``k`` places whose document did;
    each the mean over queries. The first look has nothing to compare with.
    """

    TITLE = "changes of rank since the last look"

    def __init__(self, k: int = 3, every: int = 1) -> None:
        super().__init__(every)
        self.k = _checked_k(k)

    def _start(self, data: Dataset) -> None:
        self._places = _top_places(data, self.k)
        self._top_weights = _per_query_weights(data, self.k)
        self._weights = _per_query_weights(data, int(data.query_sizes.max(initial=1)))
        self._before: np.ndarray | None = None

    def _measured(self, iteration: int, scores: np.ndarray, order: np.ndarray) -> dict[str, float]:
        before, self._before = self._before, order.copy()
        if before is None:
            return {"whole list": np.nan, f"top {self.k}": np.nan}
        changed = order != before  # a place has another document exactly where a document has another place
        return {
            "whole list": exact_total(self._weights[changed]),
            f"top {self.k}": exact_total(self._top_weights[changed[self._places]]),
        }


def _ratio(some: SupportsInt, everything: SupportsInt) -> float:
    """Everybody's share of documents."""
    part, whole = totals(some, everything)
    return part / whole


def _checked_k(k: Any) -> int:
    if not Whole(1).holds(k):
        raise SettingsError(f"k must be a positive whole number of at most {MOST}, not {shown(k)}")
    return int(k)


def _top_places(data: Dataset, k: int) -> np.ndarray:
    """The first k places of every query, within the ranking of all documents."""
    indices = np.arange(data.n_documents) - np.repeat(data.query_starts[:-1], data.query_sizes)
    return np.flatnonzero(indices < k)


def _per_query_weights(data: Dataset, k: int) -> np.ndarray:
    """For each of these places: 1 / (queries × places of its query), so that a sum is a mean over queries of means."""
    counts = np.minimum(data.query_sizes, k)
    filled = max(total(int(np.count_nonzero(counts))), 1)
    return np.repeat(1.0 / np.maximum(counts, 1) / filled, counts)
