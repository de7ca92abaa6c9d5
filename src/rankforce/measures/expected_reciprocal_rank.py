"""Expected reciprocal rank."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from rankforce import dtypes
from rankforce.errors import MeasureError
from rankforce.measures.hits import any_hit
from rankforce.measures.measure import Measure

MOST_STOPPING = 1.0 - 2.0**-53  # the largest number below 1: 1 − R stays positive whatever the grade


class ERR(Measure):
    """Σ_{r≤k} (1/r)·R_r·Π_{i<r} (1 − R_i), with R = (2^label − 1) / 2^max_grade (Chapelle et al., 2009).

    R is the probability that a reader stops at a document, so ERR is the mean of 1 / (the rank where the reader
    stops). ``max_grade`` is the top of the scale, 4 by default; a label above it is an error, a negative one stops
    nobody.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("err",)
    COLUMNS: ClassVar[int] = 5

    cutoff: int | None = None
    max_grade: float = dataclasses.field(default=4.0, kw_only=True, metadata={"python_only": True})

    def check(self) -> None:
        super().check()
        self.require_number("max_grade")
        if not self.max_grade > 0:
            raise MeasureError(f"ERR: max_grade must be positive, not {self.max_grade:g}")

    def worth(self, labels: np.ndarray) -> np.ndarray:
        grades = np.maximum(np.where(np.isnan(labels), 0.0, labels), 0.0)
        if grades.size and grades.max() > self.max_grade:
            raise MeasureError(
                f"{self}: label {grades.max():g} is above max_grade={self.max_grade:g}; "
                f"write ERR(max_grade={np.ceil(grades.max()):g}) if that is the top of the scale"
            )
        stopping = np.exp2(grades - self.max_grade) - np.exp2(-self.max_grade)
        return np.minimum(stopping, MOST_STOPPING).astype(dtypes.WORTH)

    def normaliser(self: Any, ideal: Any) -> Any:
        return any_hit(ideal)

    def value(self: Any, ranked: Any, normaliser: Any) -> Any:
        total = 0.0
        reached = 1.0
        for r in range(min(ranked.shape[0], self.cutoff)):
            total += reached * ranked[r] / (r + 1.0)
            reached *= 1.0 - ranked[r]
        return total

    def prepare(self: Any, ranked: Any, normaliser: Any, columns: Any) -> Any:
        # Notation: T = 1 − R, π(r) = Π_{n<r} T(n), D(r) = 1/rank up to the cut and 0 beyond, and
        # W(r) = Σ_{k≥r} D(k)·R(k)·Π_{r≤n<k} T(n), what a reader who reaches rank r still gains.
        # When a and b > a swap, the value changes by (R(b) − R(a)) times
        #     π(a)·[D(a) − W(a+1)] + π(b)/T(a)·[W(b) − D(b)]
        # Differences of partial sums divided by T(a) would be the obvious form; they lose all digits where T(a) is
        # tiny. Here no difference is divided.
        rest = 0.0
        for r in range(ranked.shape[0] - 1, -1, -1):
            discount = 1.0 / (r + 1.0) if r < self.cutoff else 0.0
            columns[1, r] = discount - rest
            rest = discount * ranked[r] + (1.0 - ranked[r]) * rest
            columns[3, r] = rest - discount
        reached = 1.0
        for r in range(ranked.shape[0]):
            columns[0, r] = ranked[r]
            columns[1, r] *= reached  # as the upper
            columns[2, r] = 1.0 / (1.0 - ranked[r])  # as the upper
            columns[3, r] *= reached  # as the lower
            columns[4, r] = -1.0 * r  # larger is nearer the top
            reached *= 1.0 - ranked[r]

    def swap_delta(self: Any, a: Any, b: Any) -> Any:
        a_above = a[4] > b[4]
        upper = a[1] if a_above else b[1]
        over_passing = a[2] if a_above else b[2]
        lower = b[3] if a_above else a[3]
        rising = (b[0] - a[0]) if a_above else (a[0] - b[0])
        return rising * (upper + over_passing * lower)

    def prepare_neighbours(self: Any, ranked: Any, normaliser: Any, running: Any) -> Any:
        reached = 1.0
        for r in range(ranked.shape[0]):
            running[r] = reached
            reached *= 1.0 - ranked[r]

    def swap_neighbours(self: Any, ranked: Any, normaliser: Any, running: Any, r: Any) -> Any:
        # R(a)·D(a) + T(a)·R(b)·D(b) becomes R(b)·D(a) + T(b)·R(a)·D(b): the products R(a)·R(b) cancel.
        running[r + 1] = running[r] * (1.0 - ranked[r + 1])
        share = 1.0 / (r + 1.0) if r < self.cutoff else 0.0
        share_below = 1.0 / (r + 2.0) if r + 1 < self.cutoff else 0.0
        return running[r] * (ranked[r + 1] - ranked[r]) * (share - share_below)

    def expected_value(self: Any, ranked: Any, tie_ends: Any, normaliser: Any) -> Any:
        # passed[t]: the mean of Π (1 − R) over all choices of t documents of a block of ties. The reader stops at
        # place t (from 1) of the block with probability passed[t−1] − passed[t]. Adding the m-th document x:
        # it is among the t chosen with probability t/m.
        reach = min(ranked.shape[0], self.cutoff)
        passed = np.empty(reach + 1)
        total = 0.0
        reached = 1.0
        start = 0
        while start < reach:
            end = tie_ends[start]
            places = min(end, reach) - start
            passed[0] = 1.0
            for t in range(1, places + 1):
                passed[t] = 0.0
            for m in range(1, end - start + 1):
                passing = 1.0 - ranked[start + m - 1]
                for t in range(min(m, places), 0, -1):
                    passed[t] = ((m - t) * passed[t] + t * passing * passed[t - 1]) / m
            for t in range(1, places + 1):
                total += reached * (passed[t - 1] - passed[t]) / (start + t)
            reached *= passed[places]
            start = end
        return total
