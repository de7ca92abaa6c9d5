"""The drift of one column: how far its values have moved, and how far chance would have moved them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.data.categories import Category
from rankforce.data.distributions import Distribution, counts_by_query
from rankforce.drifting.chance import (
    Chance,
    NewDocuments,
    distance,
    exceedance,
    largest_step,
    least_of,
    more_holders,
    stability_index,
)

STEADY, SHIFTED, DRIFTED = "steady", "shifted", "drifted"
PSI_LIMITS = {SHIFTED: 0.1, DRIFTED: 0.2}  # the customary ones
OUTSIDE_LIMITS = {SHIFTED: 0.01, DRIFTED: 0.05}  # shares of the documents
_LISTED = 10  # categories


@dataclasses.dataclass(frozen=True)
class ColumnDrift:
    """One feature, or the score, then and now.

    weight : its share in what the model looks at; NaN for the score
    psi, ks : of the new documents against those of the training; ``*_by_chance``: about what is expected without drift
    below, above : shares of the new documents with values beyond the range of the training data; ``unknown``: with a
        category that it did not have; ``outside``: all three
    missing_then, missing_now : shares of missing values
    p_value : a bound of the probability of as much without drift; ``adjusted_p``: corrected for all columns (Holm)
    new_categories, vanished_categories : with their shares now and then; of the latter the most frequent ones are known
    verdict : "steady", "shifted" or "drifted"
    """

    name: str
    weight: float
    psi: float
    psi_by_chance: float
    ks: float
    ks_by_chance: float
    below: float
    above: float
    unknown: float
    missing_then: float
    missing_now: float
    p_value: float
    adjusted_p: float = math.nan
    new_categories: Mapping[str, float] = dataclasses.field(default_factory=dict)
    vanished_categories: Mapping[str, float] = dataclasses.field(default_factory=dict)
    verdict: str = STEADY

    @property
    def outside(self) -> float:
        return self.below + self.above + self.unknown

    def judged(self, adjusted_p: float, alpha: float) -> ColumnDrift:
        """With its verdict: how large it is counts only where chance does not explain it."""
        verdict = STEADY
        if adjusted_p <= alpha:
            for level in (SHIFTED, DRIFTED):
                if self.psi >= PSI_LIMITS[level] or self.outside >= OUTSIDE_LIMITS[level]:
                    verdict = level
        return dataclasses.replace(self, adjusted_p=adjusted_p, verdict=verdict)

    def to_dict(self) -> dict[str, Any]:
        """As plain values; None where there is no number."""
        values = dataclasses.asdict(self) | {"outside": self.outside}
        return {name: None if isinstance(one, float) and math.isnan(one) else one for name, one in values.items()}


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of the training data, as it is known, and how many queries that knowledge is of."""

    name: str
    known: Distribution
    queries: int  # that the distribution is of
    all_queries: int  # that the range is of
    low: float
    high: float
    categories: Sequence[Category] | None = None  # all of them, if anybody knows them

    def drift(
        self, values: np.ndarray, sizes: np.ndarray, listed: Sequence[Category] | None, weight: float
    ) -> ColumnDrift:
        """How far new values (``by_query`` order, queries of these sizes) have moved.

        ``listed`` are the categories whose numbers the new values are, if the column is categorical.
        """
        unknown: dict[str, int] = {}  # category → queries that hold it
        fresh = np.zeros(len(values), dtype=bool)
        codes = values
        if self.known.categories is not None and listed is not None:
            codes = self._recoded(values, listed)
            fresh = codes == len(self._known_categories)
            unknown = _holders(values[fresh], np.repeat(np.arange(len(sizes)), sizes)[fresh], listed)
        counts = counts_by_query(self.known, codes, sizes)
        now = NewDocuments.of(counts)
        chance = Chance.of(self.known, self.queries, now)
        beyond = self._beyond(values, sizes) if self.known.categories is None else (0.0, 0.0, [])
        below, above, beyond_p = beyond
        tests = [exceedance(distance(self.known, now), chance)] if self.known.common.sum() > 1 else []
        tests += [
            more_holders(self.known.holders[b], self.queries, int(now.holders[b]), now.queries)
            for b in np.flatnonzero(~self.known.common)
        ]
        tests += beyond_p
        if unknown:
            every = len(self._known_categories) + len(unknown)
            most = max(unknown.values())
            tests.append(min(1.0, every * more_holders(0, self.all_queries, most, now.queries)))
        return ColumnDrift(
            name=self.name,
            weight=weight,
            psi=stability_index(self.known, now),
            psi_by_chance=chance.mean,
            ks=largest_step(self.known, now) if self.known.categories is None else math.nan,
            ks_by_chance=chance.step if self.known.categories is None else math.nan,
            below=below,
            above=above,
            unknown=float(fresh.mean()),
            missing_then=self.known.missing_share,
            missing_now=float(np.isnan(values).mean()),
            p_value=least_of(tests),
            new_categories=_shares(values[fresh], listed or (), len(values)),
            vanished_categories=self._vanished(now),
        )

    def _beyond(self, values: np.ndarray, sizes: np.ndarray) -> tuple[float, float, list[float]]:
        """Shares of values below and above the known range, and how probable so many queries with such are.

        Every query of the training and of the new data is as likely as any other to hold the highest value of all, the
        next highest, and so on: the probability is exact.
        """
        if math.isnan(self.low):  # there was no value at all: each is beyond
            sides = [np.zeros(len(values), dtype=bool), ~np.isnan(values)]
        else:
            sides = [values < self.low, values > self.high]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        queries = [int(np.count_nonzero(np.add.reduceat(side, starts, dtype=np.int64))) for side in sides]
        tests = [more_holders(0, self.all_queries, held, len(sizes)) for held in queries]
        below, above = (float(side.mean()) for side in sides)
        return below, above, tests

    @property
    def _known_categories(self) -> Sequence[Category]:
        return self.categories if self.categories is not None else self.known.categories or ()

    def _recoded(self, values: np.ndarray, listed: Sequence[Category]) -> np.ndarray:
        """New codes as those of training; what it did not have has the code after the last, if that can be told."""
        every = self._known_categories
        code_of = {str(category): code for code, category in enumerate(every)}
        if self.categories is None and self.known.categories is not None:  # only the frequent ones, by their codes
            code_of = {str(one): int(code) for one, code in zip(self.known.categories, self.known.cuts, strict=True)}
        other = float(len(every)) if self.categories is not None else -1.0  # -1: among the others
        table = np.array([*(code_of.get(str(one), other) for one in listed), other], dtype=values.dtype)
        codes = values.copy()
        there = ~np.isnan(values)
        codes[there] = table[values[there].astype(np.int64)]  # -1, which is in no list, is the last
        return codes

    def _vanished(self, now: NewDocuments) -> dict[str, float]:
        if self.known.categories is None:
            return {}
        lost = [b for b in range(len(self.known.categories)) if self.known.counts[b] and not now.documents[b]]
        lost.sort(key=lambda b: -self.known.counts[b])
        return {str(self.known.categories[b]): self.known.counts[b] / self.known.documents for b in lost[:_LISTED]}


def _names(values: np.ndarray, listed: Sequence[Category]) -> list[str]:
    return [str(listed[int(code)]) if code >= 0 else "(not in the list)" for code in values.tolist()]


def _holders(values: np.ndarray, queries: np.ndarray, listed: Sequence[Category]) -> dict[str, int]:
    """How many queries hold each category."""
    held: dict[str, set[int]] = {}
    for name, query in zip(_names(values, listed), queries.tolist(), strict=True):
        held.setdefault(name, set()).add(query)
    return {name: len(numbers) for name, numbers in held.items()}


def _shares(values: np.ndarray, listed: Sequence[Category], documents: int) -> dict[str, float]:
    """The most frequent of some categories, with their shares of all documents."""
    codes, counts = np.unique(values, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:_LISTED]
    return dict(zip(_names(codes[order], listed), (counts[order] / documents).tolist(), strict=True))
