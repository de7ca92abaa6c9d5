"""Several rankings of the same queries: which are better than which, and could it be chance?"""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rankforce.cached_properties import cached_property
from rankforce.console import tables
from rankforce.console.numeric_cells import number_cell
from rankforce.console.result_tables import Cell, ResultTable, Tabular
from rankforce.console.wording import counted
from rankforce.errors import SettingsError
from rankforce.evaluation import significance
from rankforce.evaluation.comparison import SAME_EVERYWHERE, Comparison
from rankforce.evaluation.elsewhere import sentences
from rankforce.evaluation.result import Evaluation
from rankforce.measures.measure import Measure

MOST_RANKINGS = len(string.ascii_lowercase)  # each has a letter


class PairedDifference(NamedTuple):
    """One measure of two rankings: b − a, the p-value that decides, and that corrected for all of them."""

    measure: str
    a: str
    b: str
    difference: float
    p_value: float
    holm: float


class Leaderboard(Tabular):
    """The result of ``rf.compare`` of several rankings.

    names, measures : of the rankings, in the order in which they were given, and of what was measured
    evaluations : mapping of name to ``Evaluation``
    pairs : every measure of every two rankings, each a ``PairedDifference``

    Paired t-tests (randomisation tests where all differences are the same), Holm-corrected for all pairs and measures
    together. A mean is marked with the letters of the rankings that it is significantly above, at 1 − level.
    """

    def __init__(self, evaluations: Mapping[str, Evaluation]) -> None:
        if not 2 <= len(evaluations) <= MOST_RANKINGS:
            raise SettingsError(f"compare 2 to {MOST_RANKINGS} rankings, not {len(evaluations)}")
        self.evaluations = dict(evaluations)
        self._comparisons = {
            (a, b): Comparison(self.evaluations[a], self.evaluations[b], (a, b))
            for a, b in itertools.combinations(self.evaluations, 2)
        }

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.evaluations)

    @property
    def measures(self) -> tuple[str, ...]:
        return self._first.measures

    @property
    def level(self) -> float:
        return self._first.level

    @cached_property
    def pairs(self) -> tuple[PairedDifference, ...]:
        tested = [
            (name, a, b, comparison.difference[name], comparison.p_value[name])
            for name in self.measures
            for (a, b), comparison in self._comparisons.items()
        ]
        corrected = significance.holm([p for *_, p in tested])
        return tuple(PairedDifference(*test, holm) for test, holm in zip(tested, corrected, strict=True))

    def comparison(self, a: str, b: str) -> Comparison:
        """The comparison of two of the rankings, b − a, with p-values that are corrected for its measures only."""
        for name in (a, b):
            if name not in self.evaluations:
                raise SettingsError(f"there is no ranking {name!r} (there are: {', '.join(map(repr, self.names))})")
        if a == b:
            raise SettingsError(f"{a!r} is compared with itself: name two different rankings")
        known = self._comparisons.get((a, b))
        return known or Comparison(self.evaluations[a], self.evaluations[b], (a, b))

    def better_than(self, name: str, of: str | Measure | None = None) -> tuple[str, ...]:
        """The rankings that one is significantly above in a measure (the first, if left out)."""
        measure = self.measures[0] if of is None else self._first.mean.name(of)
        return tuple(other for other in self.names if (measure, name, other) in self._better)

    # -------------------------------------------------------------------------------------------------------- display

    def __repr__(self) -> str:
        return f"<Leaderboard of {len(self.names)} rankings by {', '.join(self.measures)}>"

    def to_dict(self) -> dict[str, Any]:
        """Everything as numbers, text, lists and dictionaries that JSON can hold; None where there is no number."""
        return {
            "rankings": {name: one.to_dict() for name, one in self.evaluations.items()},
            "pairs": [
                {key: _json(value) if isinstance(value, float) else value for key, value in pair._asdict().items()}
                for pair in self.pairs
            ],
            "level": self.level,
            "better_than": {
                measure: {name: list(self.better_than(name, measure)) for name in self.names}
                for measure in self.measures
            },
        }

    def to_pandas(self) -> Any:
        """A data frame of means: one row per ranking, one column per measure."""
        pandas = tables.load_pandas()
        means = {measure: [one.mean[measure] for one in self.evaluations.values()] for measure in self.measures}
        return pandas.DataFrame(means, index=pandas.Index(self.names, name="ranking"))

    def plot(self, of: str | Measure | None = None, *, ax: Any = None, path: Any = None) -> Any:
        """The means of a measure with their intervals as a picture: ``rf.plot.comparison``."""
        import rankforce

        return rankforce.plot.comparison(self, of, ax=ax, path=path)

    def _result_table(self) -> ResultTable:
        highest = {
            measure: np.nanmax([one.mean[measure] for one in self.evaluations.values()], initial=-math.inf)
            for measure in self.measures
        }
        rows: list[list[str | Cell]] = []
        for letter, (name, one) in zip(string.ascii_lowercase, self.evaluations.items(), strict=False):
            row: list[str | Cell] = [letter, name]
            for measure in self.measures:
                mean = one.mean[measure]
                marks = "".join(string.ascii_lowercase[self.names.index(o)] for o in self.better_than(name, measure))
                row.append(number_cell(mean, best=mean == highest[measure], marks=marks))
            rows.append(row)
        title = f"{len(self.names)} rankings of {counted(self._first.n_queries, 'query')}"
        return ResultTable(title, ["", "ranking", *self.measures], rows, self._notes, left=2)

    # ------------------------------------------------------------------------------------------------------- internals

    @property
    def _first(self) -> Evaluation:
        return next(iter(self.evaluations.values()))

    @cached_property
    def _better(self) -> frozenset[tuple[str, str, str]]:
        """(measure, better ranking, worse ranking), where the difference is significant."""
        significant = [pair for pair in self.pairs if pair.holm < 1.0 - self.level]
        return frozenset(
            (pair.measure, pair.b, pair.a) if pair.difference > 0.0 else (pair.measure, pair.a, pair.b)
            for pair in significant
        )

    @property
    def _notes(self) -> list[str]:
        tests = counted(len(self.pairs), "test")
        return [
            f"letters: significantly above that ranking (paired t-test, two-sided, at {1.0 - self.level:.2g}; Holm: "
            f"corrected for {tests})",
            *self._undefined_tests(),
            *self._first.policies.sentences(),
            *sentences({name: one.elsewhere for name, one in self.evaluations.items()}),
        ]

    def _undefined_tests(self) -> list[str]:
        """A sentence about the pairs in which the randomisation decides; none if there are none."""
        letters = dict(zip(self.names, string.ascii_lowercase, strict=False))
        found = [
            f"{letters[a]} and {letters[b]} in {name}"
            for name in self.measures
            for (a, b), comparison in self._comparisons.items()
            if comparison.deciding_test(name) == "randomisation"
        ]
        return [f"{', '.join(found)}: {SAME_EVERYWHERE}"] if found else []

    def __reduce__(self) -> tuple[Any, ...]:
        return Leaderboard, (self.evaluations,)


def _json(value: float) -> float | None:
    return value if math.isfinite(value) else None
