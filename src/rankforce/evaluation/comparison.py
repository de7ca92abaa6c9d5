"""What a comparison of two rankings yields: differences query by query, and whether they could be chance."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from rankforce.cached_properties import cached_property
from rankforce.console import tables
from rankforce.console.numeric_cells import count_cell, interval_cell, number_cell, p_value_cell
from rankforce.console.result_tables import Cell, ResultTable, Tabular
from rankforce.console.wording import counted
from rankforce.displayed_text import displayed
from rankforce.errors import DataError, SettingsError
from rankforce.evaluation import significance
from rankforce.evaluation.by_measure import ByMeasure, Value
from rankforce.evaluation.elsewhere import sentences
from rankforce.evaluation.graded import GradedVerdict, Tier, graded_verdict
from rankforce.evaluation.result import Evaluation
from rankforce.evaluation.significance import EQUAL, Interval, Significance
from rankforce.measures.mean import weighted_mean
from rankforce.measures.measure import Measure
from rankforce.written_forms import how_different

SAME_EVERYWHERE = "the same difference in every query, for which a t-test is undefined; the randomisation test decides"


class Changed(NamedTuple):
    """A query and its two values."""

    query: Any
    a: float
    b: float
    difference: float


@dataclasses.dataclass(frozen=True)
class Counts:
    """In how many queries b is better, equal, worse."""

    wins: int
    ties: int
    losses: int


class Comparison(Tabular):
    """The result of ``rf.compare``; differences are b − a.

    Mappings by measure: ``difference`` (of the means), ``interval`` (Student's t) and ``bootstrap_interval`` of it,
    ``t_test`` (paired) and ``randomisation`` (Fisher's, sign flips), each a (statistic, p_value); ``p_value``, the one
    that decides; ``holm`` and ``holm_randomisation``, that and the one of the randomisation corrected for the number of
    measures; ``counts`` (wins, ties, losses of b) and ``n_compared`` (queries). ``a`` and ``b`` are the two
    evaluations, ``by_segment`` the comparisons of segments. ``verdict`` of a graded comparison says which is better; it
    is None for others.

    The t-test decides. If all queries have the same difference, and it is not 0, t-test and ``interval`` are undefined
    (NaN) and the randomisation decides.
    """

    def __init__(self, a: Evaluation, b: Evaluation, names: tuple[str, str], graded: bool = False) -> None:
        _check_same(a, b)
        self.graded = graded
        self.a = a
        self.b = b
        self.names = names
        self.level = a.level
        self.seed = a.seed
        self.difference: ByMeasure[float] = self._by_measure(weighted_mean)
        self.interval: ByMeasure[Interval] = self._by_measure(
            lambda d, w: significance.paired_interval(d, w, level=self.level)
        )
        self.bootstrap_interval: ByMeasure[Interval] = self._by_measure(
            lambda d, w: significance.bootstrap_interval(d, w, level=self.level, seed=self.seed)
        )
        self.t_test: ByMeasure[Significance] = self._by_measure(significance.paired_t_test)
        self.randomisation: ByMeasure[Significance] = self._by_measure(
            lambda d, w: significance.randomisation_test(d, w, seed=self.seed)
        )
        self.counts: ByMeasure[Counts] = self._by_measure(_counts)
        self.n_compared: ByMeasure[int] = self._by_measure(lambda d, w: len(d))
        self.p_value: ByMeasure[float] = ByMeasure(self.a.asked, self._deciding_p)
        self.holm: ByMeasure[float] = self._holm(lambda name: self.p_value[name])
        self.holm_randomisation: ByMeasure[float] = self._holm(lambda name: self.randomisation[name].p_value)

    @property
    def measures(self) -> tuple[str, ...]:
        return self.a.measures

    @cached_property
    def verdict(self) -> GradedVerdict | None:
        """Who is better by the tiers that the measures are; None if the comparison is not graded."""
        if not self.graded:
            return None
        return graded_verdict(
            [Tier(name, self.difference[name], self.p_value[name], self.deciding_test(name)) for name in self.measures],
            self.names,
            1.0 - self.level,
        )

    @cached_property
    def by_segment(self) -> dict[Any, Comparison]:
        """The comparison of each segment of queries; empty without ``segments=``."""
        return {
            segment: Comparison(part, self.b.by_segment[segment], self.names, self.graded)
            for segment, part in self.a.by_segment.items()
        }

    def deciding_test(self, of: str | Measure | None = None) -> Literal["t-test", "randomisation"]:
        """Which test decides in a measure (the first one if left out)."""
        name = self.measures[0] if of is None else self.difference.name(of)
        undefined = math.isnan(self.t_test[name].p_value) and self.n_compared[name] > 1
        return "randomisation" if undefined else "t-test"

    def changed(self, of: str | Measure | None = None, count: int = 10) -> list[Changed]:
        """The queries that changed most, largest change first; equal changes in the order of the queries.

        Those of weight 0, which the difference does not count, are left out.
        """
        name = self.measures[0] if of is None else self.difference.name(of)
        before, after = self.a.per_query[name], self.b.per_query[name]
        differences = after - before
        weights = self.a.weights(name)
        left_out = np.isnan(differences) if weights is None else np.isnan(differences) | (weights == 0.0)
        sizes = np.where(left_out, -1.0, np.abs(differences))
        largest = [q for q in np.argsort(-sizes, kind="stable")[:count] if sizes[q] > EQUAL]
        ids = self.a.query_ids
        return [Changed(ids[q], float(before[q]), float(after[q]), float(differences[q])) for q in largest]

    # -------------------------------------------------------------------------------------------------------- display

    def __repr__(self) -> str:
        words = ", ".join(f"{name} {tables.number(value, sign=True)}" for name, value in self.difference.items())
        return f"<Comparison of {displayed(self.names[0])} and {displayed(self.names[1])}: {words}>"

    def to_dict(self) -> dict[str, Any]:
        """Everything as numbers, text, lists and dictionaries that JSON can hold; None where there is no number."""
        form: dict[str, Any] = {
            "names": list(self.names),
            "n_queries": self.a.n_queries,
            "level": self.level,
            **dataclasses.asdict(self.a.policies),
            "measures": {
                name: {
                    "a": _json(self.a.mean[name]),
                    "b": _json(self.b.mean[name]),
                    "difference": _json(self.difference[name]),
                    "interval": [_json(end) for end in self.interval[name]],
                    "bootstrap_interval": [_json(end) for end in self.bootstrap_interval[name]],
                    "t_statistic": _json(self.t_test[name].statistic),
                    "t_test_p": _json(self.t_test[name].p_value),
                    "t_test_holm_p": _json(self.holm[name]),
                    "p": _json(self.p_value[name]),
                    "deciding_test": self.deciding_test(name),
                    "randomisation_p": _json(self.randomisation[name].p_value),
                    "randomisation_holm_p": _json(self.holm_randomisation[name]),
                    **dataclasses.asdict(self.counts[name]),
                    "n_compared": self.n_compared[name],
                    "changed": [
                        {"query": _plain(change.query), "difference": change.difference}
                        for change in self.changed(name)
                    ],
                }
                for name in self.measures
            },
        }
        if self.verdict is not None:
            form["verdict"] = self.verdict.to_dict()
        if self.by_segment:
            form["segments"] = {str(segment): part.to_dict() for segment, part in self.by_segment.items()}
        return form

    def to_pandas(self) -> Any:
        """A data frame of one row per query: the values of both and their difference, for each measure."""
        pandas = tables.load_pandas()
        columns: dict[tuple[str, str], np.ndarray] = {}
        for name in self.measures:
            before, after = self.a.per_query[name], self.b.per_query[name]
            columns[name, self.names[0]] = before
            columns[name, self.names[1]] = after
            columns[name, "difference"] = after - before
        return pandas.DataFrame(columns, index=pandas.Index(self.a.query_ids, name="query"))

    def plot(self, of: str | Measure | None = None, *, ax: Any = None, path: Any = None) -> Any:
        """The differences with their intervals as a picture: ``rf.plot.comparison``."""
        import rankforce

        return rankforce.plot.comparison(self, of, ax=ax, path=path)

    @property
    def _title(self) -> str:
        return f"{displayed(self.names[1])} against {displayed(self.names[0])}: {counted(self.a.n_queries, 'query')}"

    def _result_table(self) -> ResultTable:
        header = [
            "measure",
            *self.names,
            "difference",
            f"{tables.level_name(self.level)} interval",
            "t-test p",
            "randomisation p",
            "queries",
            "wins",
            "ties",
            "losses",
        ]
        corrected = len(self.measures) > 1
        if corrected:
            header.insert(6, "t-test p (Holm)")
        rows = []
        parts: dict[Any, Comparison] = {None: self} | self.by_segment
        for segment, part in parts.items():
            for name in part.measures:
                counts = part.counts[name]
                row: list[str | Cell] = [
                    name if segment is None else f"{name} [{segment}]",
                    number_cell(part.a.mean[name]),
                    number_cell(part.b.mean[name]),
                    number_cell(part.difference[name], sign=True, significant=part._significance(name)),
                    interval_cell(*part.interval[name], sign=True),
                    p_value_cell(part.t_test[name].p_value),
                    p_value_cell(part.randomisation[name].p_value),
                    count_cell(part.n_compared[name]),
                    *map(count_cell, (counts.wins, counts.ties, counts.losses)),
                ]
                if corrected:
                    row.insert(6, p_value_cell(part.holm[name]))
                rows.append(row)
        return ResultTable(self._title, header, rows, self._notes)

    def _significance(self, name: str) -> Literal["", "better", "worse"]:
        """Whether a difference is significant at 1 − level, by the p-value that is corrected for the measures."""
        if not self.holm[name] < 1.0 - self.level:  # also where there is nothing to test
            return ""
        return "better" if self.difference[name] > 0.0 else "worse"

    @property
    def _notes(self) -> list[str]:
        tests = (
            f"tests: paired t-test and Fisher randomisation ({significance.FLIPS:,} sign flips, or all of them for up "
            f"to {significance.EXACT_UP_TO} differing queries), two-sided; wins, ties, losses of "
            f"{displayed(self.names[1])}"
        )
        if len(self.measures) > 1:
            tests += f"; Holm: corrected for {len(self.measures)} measures"
        if self.graded:
            tests += "; graded: the first measure with a significant difference decides (t-test, not corrected)"
        notes = [tests, *self._undefined_tests(), *self.a.policies.sentences()]
        notes += sentences({self.names[0]: self.a.elsewhere, self.names[1]: self.b.elsewhere})
        changed = self.changed(count=5)
        if changed:
            notes.append(f"changed most in {self.measures[0]}: " + "; ".join(map(_change_words, changed)))
        if self.verdict is not None:
            notes.append(f"verdict: {self.verdict}")
            notes += [f"verdict [{displayed(segment)}]: {part.verdict}" for segment, part in self.by_segment.items()]
        return notes

    def _undefined_tests(self) -> list[str]:
        """A sentence about the measures and segments in which the randomisation decides; none if there are none."""
        parts: dict[Any, Comparison] = {None: self} | self.by_segment
        found = [
            name if segment is None else f"{name} [{displayed(segment)}]"
            for segment, part in parts.items()
            for name in part.measures
            if part.deciding_test(name) == "randomisation"
        ]
        return [f"{', '.join(found)}: {SAME_EVERYWHERE}"] if found else []

    # ------------------------------------------------------------------------------------------------------- internals

    def __reduce__(self) -> tuple[Any, ...]:
        return Comparison, (self.a, self.b, self.names, self.graded)

    def _by_measure(self, compute: Callable[[np.ndarray, np.ndarray | None], Value]) -> ByMeasure[Value]:
        return ByMeasure(self.a.asked, lambda name: compute(*self._differences(name)))

    def _differences(self, name: str) -> tuple[np.ndarray, np.ndarray | None]:
        differences = self.b.per_query[name] - self.a.per_query[name]
        counted = ~np.isnan(differences)
        differences = np.where(np.abs(differences) <= EQUAL, 0.0, differences)
        weights = self.a.weights(name)
        return significance.with_weight(differences[counted], None if weights is None else weights[counted])

    def _deciding_p(self, name: str) -> float:
        tested = self.t_test if self.deciding_test(name) == "t-test" else self.randomisation
        return tested[name].p_value

    def _holm(self, p_value: Callable[[str], float]) -> ByMeasure[float]:
        def corrected(name: str) -> float:
            p_values = significance.holm([p_value(one) for one in self.measures])
            return p_values[self.measures.index(name)]

        return ByMeasure(self.a.asked, corrected)


def _check_same(a: Evaluation, b: Evaluation) -> None:
    if a.measures != b.measures:
        raise SettingsError(
            f"the two evaluations have different measures: {', '.join(a.measures)} and {', '.join(b.measures)}"
        )
    for name, asked in a.asked.items():
        difference = how_different(asked, b.asked[name])
        if difference:
            raise SettingsError(
                f"the two evaluations have different measures that are both written {name}: {difference}"
            )
    if a.policies != b.policies:
        raise SettingsError("the two evaluations were made under different policies (ties, blank, convention, weights)")
    if len(a.query_ids) != len(b.query_ids) or (a.query_ids != b.query_ids).any():
        raise DataError("the two evaluations are of different queries, or of the same in another order")
    if (a.query_weights is None) != (b.query_weights is None) or (
        a.query_weights is not None and (a.query_weights != b.query_weights).any()
    ):
        raise DataError("the two evaluations weigh queries differently")


def _counts(differences: np.ndarray, weights: np.ndarray | None) -> Counts:
    return Counts(int((differences > 0.0).sum()), int((differences == 0.0).sum()), int((differences < 0.0).sum()))


def _change_words(one: Changed) -> str:
    return f"query {displayed(one.query)} {tables.number(one.difference, sign=True)}"


def _json(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
