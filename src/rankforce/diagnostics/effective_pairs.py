"""How many pairs a measure and a λ-function learn from at given scores.

    print(rf.effective_pairs(data, scores, ["NDCG", "NDCG@10", "MAP", "MRR"]))

A binary measure sees fewer pairs than a graded one, a cut-off fewer still: what looks like a worse measure to train on
may only be one that learns from less.
"""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset, check_dataset
from rankforce.data.hashing import checked_seed
from rankforce.errors import DataError, SettingsError, missing_dependency
from rankforce.evaluation.evaluate import read_measures, scores_of
from rankforce.evaluation.tables import text_table
from rankforce.html_tables import html_table
from rankforce.kernels.effective_pairs import count_effective_pairs
from rankforce.lambdas.catalogue import cost as lambda_function
from rankforce.lambdas.cost import Cost, LambdaFunction
from rankforce.lambdas.forces import Forces, Ranking
from rankforce.lambdas.objective import DEFAULT_COST, Objective, Term
from rankforce.lambdas.pairs import PairRanges
from rankforce.measures.judged import Judged, judged
from rankforce.measures.measure import BinaryMeasure, Measure
from rankforce.threads import over_queries, using_threads


@dataclasses.dataclass(frozen=True)
class EffectivePairs:
    """The pairs of one measure and one λ-function. A listwise λ-function has no pairs: None."""

    measure: str
    cost: str
    effective: int | None  # a swap changes the measure, and there is a force
    changing: int  # a swap changes the measure
    pulled: int | None  # there is a force
    kind: str  # of the measure: "graded" or "binary"
    graded_pairs: int  # pairs with different labels
    binary_pairs: int  # pairs of a relevant and a not relevant document
    documents: int  # that feel a force

    @property
    def bound(self) -> int:
        """The upper bound that goes with the measure."""
        return self.binary_pairs if self.kind == "binary" else self.graded_pairs

    @property
    def share(self) -> float:
        """Effective pairs as a share of the bound; NaN for a listwise λ-function, or where there are no pairs."""
        return self.effective / self.bound if self.effective is not None and self.bound else np.nan


@dataclasses.dataclass(frozen=True)
class EffectivePairsTable:
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
        wanted = str(read_measures(key[0])[0]), str(lambda_function(key[1]))
        for row in self.rows:
            if (row.measure, row.cost) == wanted:
                return row
        raise KeyError(key)

    def to_dict(self) -> list[dict[str, Any]]:
        """All of it as plain values, ready for JSON."""
        return [dataclasses.asdict(row) | {"bound": row.bound, "share": row.share} for row in self.rows]

    def to_pandas(self) -> Any:
        """A data frame with one row per measure and λ-function."""
        try:
            import pandas as pd
        except ImportError as error:
            raise missing_dependency("pandas", "frames", "to_pandas") from error
        return pd.DataFrame(self.to_dict())

    def __str__(self) -> str:
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        header, rows = self._table()
        return html_table("Effective pairs", header, rows, [])

    def _table(self) -> tuple[list[str], list[list[str]]]:
        header = ["measure", "λ-function", "effective", "of bound", "bound", "ΔZ ≠ 0", "force ≠ 0", "documents pulled"]
        rows = [
            [
                row.measure,
                row.cost,
                _count(row.effective),
                "–" if np.isnan(row.share) else f"{row.share:.1%}",
                f"{row.bound:,} ({row.kind})",
                _count(row.changing),
                _count(row.pulled),
                _count(row.documents),
            ]
            for row in self.rows
        ]
        return header, rows


def effective_pairs(
    data: Dataset,
    scores: Any,
    measure: str | Measure | Iterable[str | Measure] = "NDCG",
    *,
    cost: str | LambdaFunction | Iterable[str | LambdaFunction] = DEFAULT_COST,
    relevant: float = 1.0,
    seed: int = 0,
    threads: int | None = None,
) -> EffectivePairsTable:
    """Count the pairs whose swap changes the measure and that feel a force, at these scores.

    Parameters
    ----------
    data : Dataset
    scores : an array of one score per row, a model, or the name of a feature
    measure, cost : one or several of each; every combination is a row
    relevant : the label from which a document is relevant, for the binary upper bound beside a graded measure; a binary
        measure has a threshold of its own
    seed : of the order of equal scores, as in training

    The upper bounds: pairs with different labels (graded), pairs of a relevant and a not relevant document (binary).
    Changes of the measure below 1e-12 count as none.
    """
    check_dataset(data)
    if isinstance(cost, (str, LambdaFunction)) or not isinstance(cost, Iterable):
        cost = [cost]
    costs = [lambda_function(one) for one in cost]
    if not costs:
        raise SettingsError("name at least one λ-function, for example 'RankNetWeightPairs'")
    if isinstance(relevant, bool) or not isinstance(relevant, numbers.Real):
        raise SettingsError(f"relevant must be a number, the label from which a document is, not {relevant!r}")
    seed = checked_seed(seed)
    given = scores_of(scores, data)
    if not np.isfinite(given).all():
        raise DataError("effective_pairs needs a finite score for every document: a pair has a gap")
    with using_threads(threads):
        order = Ranking(data, seed).update(given)
        rows = []
        for one in read_measures(measure):
            applied = judged(data, one)
            ranges = PairRanges.of(applied.labels, applied.starts, with_better=False)
            kind, threshold = ("binary", one.relevant) if isinstance(one, BinaryMeasure) else ("graded", relevant)
            bounds = (kind, ranges.n_pairs, _binary_pairs(applied, threshold))
            kept_order, kept_scores = applied.order_of_kept(order), applied.of_kept(given)
            for each in costs:
                pairwise = each if isinstance(each, Cost) else DEFAULT_COST
                counts, pulled = _counts(applied, ranges, pairwise, kept_scores, kept_order)
                changing, n_pulled, effective = (int(count) for count in counts)
                if each is pairwise:
                    row = EffectivePairs(str(one), str(each), effective, changing, n_pulled, *bounds, pulled)
                else:
                    forces, _ = Forces(data, Objective((Term(one, each),)), seed).at(given, order)
                    pulled = int(np.count_nonzero(forces))
                    row = EffectivePairs(str(one), str(each), None, changing, None, *bounds, pulled)
                rows.append(row)
    return EffectivePairsTable(tuple(rows))


def _counts(
    applied: Judged, ranges: PairRanges, cost: Cost, scores: np.ndarray, order: np.ndarray
) -> tuple[np.ndarray, int]:
    counts = np.zeros((len(applied.starts) - 1, 3), dtype=np.int64)
    pulled = np.zeros(len(scores), dtype=np.uint8)
    normalisers = applied.normalisers
    cost_tuple, columns = cost.kernel_tuple(), applied.column_count
    over_queries(
        applied.starts,
        lambda a, b: count_effective_pairs(
            applied.kernel_tuple, cost_tuple, columns, applied.worth, scores, order, ranges.members, ranges.worse,
            applied.starts, normalisers, cost.reach, a, b, counts, pulled,
        ),
    )  # fmt: skip
    return counts.sum(axis=0), int(pulled.sum())


def _binary_pairs(applied: Judged, threshold: float) -> int:
    labelled = ~np.isnan(applied.labels)
    relevant = labelled & (applied.labels >= threshold)
    edges = applied.starts
    hits, all_labelled = (np.diff(np.concatenate([[0], np.cumsum(flags)])[edges]) for flags in (relevant, labelled))
    return int((hits * (all_labelled - hits)).sum())


def _count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"
