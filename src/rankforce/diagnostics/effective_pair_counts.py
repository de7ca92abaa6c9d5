"""How many pairs a measure and a λ-function learn from at given scores.

    print(rf.diagnostics.effective_pairs(data, ranker, ["NDCG", "NDCG@10", "MAP", "MRR"]))

A binary measure sees fewer pairs than a graded one, a cut-off fewer still: what looks like a worse measure to train on
may only be one that learns from less.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from rankforce.console.result_tables import ResultTable, Tabular
from rankforce.console.tables import load_pandas
from rankforce.data.dataset import Dataset, check_dataset
from rankforce.data.hashing import checked_seed
from rankforce.errors import DataError, SettingsError
from rankforce.evaluation.request import read_measures
from rankforce.evaluation.scores import scores_of
from rankforce.forces.forces import RunningOrder
from rankforce.forces.pairs import PairRanges
from rankforce.forces.trained_forces import ASSUMED, TrainedForces, forces_of
from rankforce.kernels.forces.effective_pairs import count_effective_pairs
from rankforce.kinds import Number, shown
from rankforce.lambdas.base import LambdaFunction
from rankforce.lambdas.catalogue import lambda_function as read_lambda_function
from rankforce.lambdas.pairwise import PairwiseLambdaFunction
from rankforce.measures.judged import JudgedMeasure, judged
from rankforce.measures.measure import BinaryMeasure, Measure
from rankforce.objectives.objective import ALL_PAIRS, DEFAULT_LAMBDA_FUNCTION, Term
from rankforce.threads import over_queries, using_threads
from rankforce.written_forms import told_apart


@dataclasses.dataclass(frozen=True)
class EffectivePairs:
    """The pairs of one measure and one λ-function. A listwise λ-function has no pairs: None."""

    measure: str
    lambda_function: str
    effective: int | None  # a swap changes the measure, and there is a force
    changing: int  # a swap changes the measure
    pulled: int | None  # there is a force
    kind: str  # of the measure: "graded" or "binary"
    graded_pairs: int  # pairs with different labels
    binary_pairs: int  # pairs of a relevant and a not relevant document
    documents: int  # that feel a force
    forces: str = "asked for"  # where λ-function, normalisation and anchor come from

    @property
    def bound(self) -> int:
        """The upper bound that goes with the measure."""
        return self.binary_pairs if self.kind == "binary" else self.graded_pairs

    @property
    def share(self) -> float:
        """Effective pairs as a share of the bound; NaN for a listwise λ-function, or where there are no pairs."""
        return self.effective / self.bound if self.effective is not None and self.bound else np.nan


@dataclasses.dataclass(frozen=True)
class EffectivePairsTable(Tabular):
    """A row for each measure and each λ-function."""

    rows: tuple[EffectivePairs, ...]

    def __iter__(self) -> Iterator[EffectivePairs]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: int | tuple[str, str]) -> EffectivePairs:
        """By number, or by (measure, λ-function) in their written forms."""
        if isinstance(key, int):
            return self.rows[key]
        wanted = str(read_measures(key[0])[0]), str(read_lambda_function(key[1]))
        for row in self.rows:
            if (row.measure, row.lambda_function) == wanted:
                return row
        raise KeyError(key)

    def to_dict(self) -> list[dict[str, Any]]:
        """All of it as plain values, ready for JSON."""
        return [dataclasses.asdict(row) | {"bound": row.bound, "share": row.share} for row in self.rows]

    def to_pandas(self) -> Any:
        """A data frame with one row per measure and λ-function."""
        return load_pandas().DataFrame(self.to_dict())

    def _notes(self) -> list[str]:
        """Whose forces these are, unless they were asked for."""
        found = dict.fromkeys(row.forces for row in self.rows if row.forces != "asked for")
        return [
            f"forces: {one}"
            + ("; give the fitted ranker in place of its scores, or lambda_function=" if "assumed" in one else "")
            for one in found
        ]

    def _result_table(self) -> ResultTable:
        header = ["measure", "λ-function", "effective", "of bound", "bound", "ΔZ ≠ 0", "force ≠ 0", "documents pulled"]
        rows = [
            [
                row.measure,
                row.lambda_function,
                _count(row.effective),
                "–" if np.isnan(row.share) else f"{row.share:.1%}",
                f"{row.bound:,} ({row.kind})",
                _count(row.changing),
                _count(row.pulled),
                _count(row.documents),
            ]
            for row in self.rows
        ]
        return ResultTable("Effective pairs", header, rows, self._notes())


def effective_pairs(
    data: Dataset,
    scores: Any,
    measure: str | Measure | Iterable[str | Measure] | None = None,
    *,
    lambda_function: str | LambdaFunction | Iterable[str | LambdaFunction] | None = None,
    relevant: float = 1.0,
    seed: int = 0,
    threads: int | None = None,
) -> EffectivePairsTable:
    """Count the pairs whose swap changes the measure and that feel a force, at these scores.

    Parameters
    ----------
    data : Dataset
    scores : a fitted ranker, a model, an array of one score per row, or the name of a feature
        The forces are those that a ranker or a model was trained with: λ-function, pairs, normalisation and anchor (a
        document tied to its grade by a spring is pulled too). Of plain scores they are assumed, and the table says so.
    measure : one or several; by default what the ranker was trained for, else NDCG
    lambda_function : one or several in place of those of the training, on all pairs; every combination is a row
    relevant : the label from which a document is relevant, for the binary upper bound beside a graded measure; a binary
        measure has a threshold of its own
    seed : of the order of equal scores, as in training

    The upper bounds: pairs with different labels (graded), pairs of a relevant and a not relevant document (binary).
    Changes of the measure below 1e-12 count as none.
    """
    check_dataset(data)
    functions = None if lambda_function is None else _lambda_functions(lambda_function)
    if not Number().holds(relevant):
        raise SettingsError(f"relevant must be a number, the label from which a document is, not {shown(relevant)}")
    seed = checked_seed(seed)
    training_forces = ASSUMED if functions is not None else forces_of(scores)
    measures = [training_forces.term().measure] if measure is None else read_measures(measure)
    at = scores_of(scores, data)
    if not np.isfinite(at).all():
        raise DataError("effective_pairs needs a finite score for every document: a pair has a gap")
    with using_threads(threads):
        order = RunningOrder(data, seed).update(at)
        rows = []
        for target in measures:
            terms = (
                [training_forces.term(target)]
                if functions is None
                else [Term(target, function, pairs=ALL_PAIRS) for function in functions]
            )
            rows += [
                _row(data, term, training_forces, float(relevant), at, order, functions is not None) for term in terms
            ]
    return EffectivePairsTable(tuple(rows))


def _lambda_functions(given: Any) -> list[LambdaFunction]:
    alone = isinstance(given, (str, LambdaFunction)) or not isinstance(given, Iterable)
    several: Any = [given] if alone or getattr(given, "ndim", 1) == 0 else given
    functions = told_apart(read_lambda_function(one) for one in several)
    if not functions:
        raise SettingsError("name at least one λ-function, for example 'RankNetWeightPairs'")
    return functions


def _row(
    data: Dataset,
    term: Term,
    training_forces: TrainedForces,
    relevant: float,
    scores: np.ndarray,
    order: np.ndarray,
    is_asked: bool,
) -> EffectivePairs:
    """The pairs of one term; ``is_asked``: its λ-function was asked for."""
    measure, judgement = term.measure, judged(data, term.measure)
    pairwise = (
        term.lambda_function if isinstance(term.lambda_function, PairwiseLambdaFunction) else DEFAULT_LAMBDA_FUNCTION
    )
    every = PairRanges.of(judgement.labels, judgement.starts, with_better=False)
    restricted = bool(term.earlier) or term.zeros is False
    beyond_pairs = (
        pairwise is not term.lambda_function or pairwise.diagonal > 0.0 or training_forces.anchor > 0.0
    )  # than pairs may pull
    pulling = training_forces.on(data, term) if restricted or beyond_pairs else None
    ranges = pulling.forces.terms[0].ranges if restricted and pulling is not None else every
    kind, threshold = ("binary", measure.relevant) if isinstance(measure, BinaryMeasure) else ("graded", relevant)
    ranking = judgement.of_kept(scores), judgement.order_of_kept(order)
    top = ALL_PAIRS.top if term.pairs is None else term.pairs.top
    counts, moved = _counts(judgement, ranges, pairwise, top, *ranking)
    changing = counts[0] if ranges is every else _counts(judgement, every, pairwise, top, *ranking)[0][0]
    if beyond_pairs and pulling is not None:
        with_force = judgement.of_kept(pulling.at(scores, order)[0]) != 0.0
        moved = with_force if pairwise is not term.lambda_function else moved | with_force
    return EffectivePairs(
        measure=str(measure),
        lambda_function=str(term.lambda_function),
        effective=int(counts[2]) if pairwise is term.lambda_function else None,
        changing=int(changing),
        pulled=int(counts[1]) if pairwise is term.lambda_function else None,
        kind=kind,
        graded_pairs=every.n_pairs,
        binary_pairs=_binary_pairs(judgement, threshold),
        documents=int(moved.sum()),
        forces="asked for" if is_asked else str(training_forces),
    )


def _counts(
    judgement: JudgedMeasure,
    ranges: PairRanges,
    lambda_function: PairwiseLambdaFunction,
    top: int,
    scores: np.ndarray,
    order: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """(pairs that change the measure, that are pulled, both; a mask of the documents that a pair pulls)."""
    counts = np.zeros((len(judgement.starts) - 1, 3), dtype=np.int64)
    moved = np.zeros(len(scores), dtype=np.uint8)
    normalisers = judgement.normalisers
    function_tuple, columns = lambda_function.kernel_tuple(), judgement.column_count
    over_queries(
        judgement.starts,
        lambda a, b: count_effective_pairs(
            judgement.kernel_tuple, function_tuple, columns, judgement.worth, scores, order, ranges.members,
            ranges.worse, judgement.starts, normalisers, lambda_function.reach, top, a, b, counts, moved,
        ),
    )  # fmt: skip
    return counts.sum(axis=0), moved.astype(bool)


def _binary_pairs(applied: JudgedMeasure, threshold: float) -> int:
    labelled = ~np.isnan(applied.labels)
    relevant = labelled & (applied.labels >= threshold)
    edges = applied.starts
    hits, all_labelled = (np.diff(np.concatenate([[0], np.cumsum(flags)])[edges]) for flags in (relevant, labelled))
    return int((hits * (all_labelled - hits)).sum())


def _count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"
