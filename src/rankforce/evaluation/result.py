"""What an evaluation yields: values per query, means with their errors, and the policies they were computed under."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from rankforce.cached_properties import cached_property
from rankforce.console import tables
from rankforce.console.numeric_cells import count_cell, interval_cell, number_cell, share_cell
from rankforce.console.result_tables import Cell, ResultTable, Tabular
from rankforce.console.wording import counted
from rankforce.errors import DataError
from rankforce.evaluation import significance
from rankforce.evaluation.agreement import Agreement
from rankforce.evaluation.by_measure import ByMeasure, Value
from rankforce.evaluation.elsewhere import MeanElsewhere, reasons, sentences
from rankforce.evaluation.explanation import Explanation
from rankforce.evaluation.policies import Policies
from rankforce.evaluation.significance import Interval
from rankforce.measures.mean import weighted_mean
from rankforce.measures.measure import Measure
from rankforce.written_forms import name_of


@dataclasses.dataclass(frozen=True, eq=False)
class MeasuredQueries:
    """One measure on every query (arrays of one entry per query)."""

    asked: Measure | Agreement
    measure: Measure | Agreement  # as computed: with what a convention fixes
    values: np.ndarray  # NaN where the policy leaves the query out
    blank: np.ndarray  # whether no ranking of the query can score
    unlabelled: np.ndarray  # unlabelled documents among the first ``cutoff``
    top: np.ndarray  # documents among the first ``cutoff``
    variances: np.ndarray | None  # of values that are means over random orders of ties
    weights: np.ndarray | None  # of the queries in the mean
    numerator_weights: np.ndarray | None  # where a convention weighs a value and its divisor differently

    @property
    def counted(self) -> np.ndarray:
        """Whether each query counts in the mean: one of weight 0 does not."""
        there = ~np.isnan(self.values)
        return there if self.weights is None else there & (self.weights > 0.0)

    def taking(self, queries: np.ndarray) -> MeasuredQueries:
        parts: dict[str, Any] = {
            name: None if (array := getattr(self, name)) is None else array[queries]
            for name in ("values", "blank", "unlabelled", "top", "variances", "weights", "numerator_weights")
        }
        return dataclasses.replace(self, **parts)


class AskedTool(NamedTuple):
    """The same ranking under a tool's convention; whether scores are equal in it, and labels are worth else there."""

    evaluation: Evaluation
    tied: bool
    other_worth: bool


class Evaluation(Tabular):
    """The result of ``rf.evaluate``.

    Mappings by measure (keys are written forms, aliases or measures): ``mean``, ``per_query`` (arrays that follow
    ``query_ids``; NaN where the blank policy leaves a query out), ``standard_error``, ``interval`` (Student's t),
    ``bootstrap_interval``, ``counted`` (queries in the mean; those of weight 0 are not), ``blank`` (queries that no
    ranking can score on), ``unlabelled`` (share of unlabelled documents down to the cut-off), ``tie_error`` (the
    standard error that comes from sampling orders of ties; 0 where the value is exact). ``by_segment`` maps segments
    to evaluations.
    """

    def __init__(
        self,
        measured: Mapping[str, MeasuredQueries],
        query_ids: np.ndarray,
        query_weights: np.ndarray | None,
        query_sizes: np.ndarray,
        policies: Policies,
        level: float,
        seed: int,
        segments: np.ndarray | None = None,
        explainer: Callable[[Measure, int], list[dict[str, Any]]] | None = None,
        remarks: tuple[str, ...] = (),
        asker: Callable[[Measure], list[AskedTool]] | None = None,
    ) -> None:
        self._measured = dict(measured)
        self.query_ids = query_ids
        self.query_weights = query_weights
        self.n_queries = len(query_ids)
        self.query_sizes = query_sizes
        self.n_documents = int(query_sizes.sum())
        self.policies = policies
        self.level = level
        self.seed = seed
        self.segments = segments
        self.remarks = remarks
        self._explainer = explainer
        self._asker = asker
        by_measure = self._by_measure
        self.per_query: ByMeasure[np.ndarray] = by_measure(lambda entry: entry.values)
        self.mean: ByMeasure[float] = by_measure(self._mean)
        self.standard_error: ByMeasure[float] = by_measure(
            lambda entry: significance.standard_error(*self._counted_values(entry))
        )
        self.interval: ByMeasure[Interval] = by_measure(
            lambda entry: significance.t_interval(*self._counted_values(entry), level=self.level)
        )
        self.bootstrap_interval: ByMeasure[Interval] = by_measure(
            lambda entry: significance.bootstrap_interval(
                *self._counted_values(entry), level=self.level, seed=self.seed
            )
        )
        self.counted: ByMeasure[int] = by_measure(lambda entry: int(entry.counted.sum()))
        self.blank: ByMeasure[int] = by_measure(lambda entry: int(entry.blank.sum()))
        self.unlabelled: ByMeasure[float] = by_measure(_unlabelled_share)
        self.tie_error: ByMeasure[float] = by_measure(self._tie_error)

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that were evaluated, as they were written."""
        return tuple(self._measured)

    @property
    def asked(self) -> dict[str, Measure | Agreement]:
        """The measures that were asked for, by their written form."""
        return {name: one.asked for name, one in self._measured.items()}

    @cached_property
    def by_segment(self) -> dict[Any, Evaluation]:
        """The evaluation of each segment of queries; empty without ``segments=``."""
        if self.segments is None:
            return {}
        return {segment: self._taking(self.segments == segment) for segment in sorted(set(self.segments.tolist()))}

    def weights(self, of: str | Measure) -> np.ndarray | None:
        """The weights of the queries in the mean of a measure; None if all count alike."""
        return self._measured[self.mean.name(of)].weights

    def explain(self, query: Any, of: str | Measure | None = None) -> Explanation:
        """How the value of one query arises, rank by rank; ``of`` is the measure (the first one if left out)."""
        name = self.measures[0] if of is None else self.mean.name(of)
        indices = np.flatnonzero(self.query_ids == query)
        if not len(indices):
            raise DataError(f"there is no query {query!r}; query_ids lists those that there are")
        one = self._measured[name]
        if isinstance(one.measure, Agreement):
            raise DataError("an agreement with preferences is about pairs: it has no ranks to explain")
        if self._explainer is None:
            raise DataError("this evaluation no longer has its ranking: evaluate again to explain a query")
        q = int(indices[0])
        ranks = self._explainer(one.measure, q)
        return Explanation(name, query, float(one.values[q]), ranks, self.policies, _settings(one.measure))

    @cached_property
    def elsewhere(self) -> dict[str, tuple[MeanElsewhere, ...]]:
        """By measure: conventions of other tools that give another mean (to four digits), it, and why.

        Asked when it is first looked at, or printed: each tool's number is an evaluation of its own. Empty under a
        convention, of agreements, and where the ranking is no longer known.
        """
        found: dict[str, tuple[MeanElsewhere, ...]] = dict.fromkeys(self.measures, ())
        for name, one in self._measured.items():
            if self._asker is not None and isinstance(one.asked, Measure):
                others = [self._compared(name, asked) for asked in self._asker(one.asked)]
                found[name] = tuple(other for other in others if other is not None)
        return found

    # -------------------------------------------------------------------------------------------------------- display

    def __repr__(self) -> str:
        means = ", ".join(f"{name} {tables.number(value)}" for name, value in self.mean.items())
        return f"<Evaluation of {counted(self.n_queries, 'query')}: {means}>"

    def to_dict(self, per_query: bool = False) -> dict[str, Any]:
        """Everything as numbers, text, lists and dictionaries that JSON can hold; None where there is no number."""
        form: dict[str, Any] = {
            "n_queries": self.n_queries,
            "n_documents": self.n_documents,
            "level": self.level,
            **dataclasses.asdict(self.policies),
            "measures": {
                name: {
                    "computed_as": str(measured.measure),
                    "settings": _settings(measured.measure),
                    "mean": _json(self.mean[name]),
                    "standard_error": _json(self.standard_error[name]),
                    "interval": [_json(end) for end in self.interval[name]],
                    "tie_error": _json(self.tie_error[name]),
                    "counted": self.counted[name],
                    "blank": self.blank[name],
                    "unlabelled": _json(self.unlabelled[name]),
                    "elsewhere": [
                        {"convention": one.convention, "mean": _json(one.mean), "reasons": list(one.reasons)}
                        for one in self.elsewhere[name]
                    ],
                }
                for name, measured in self._measured.items()
            },
        }
        if per_query:
            form["query_ids"] = self.query_ids.tolist()
            for name, measured in self._measured.items():
                form["measures"][name]["per_query"] = [_json(value) for value in measured.values.tolist()]
        if self.segments is not None:
            form["segments"] = {str(segment): part.to_dict() for segment, part in self.by_segment.items()}
        return form

    def to_pandas(self, summary: bool = False) -> Any:
        """A data frame: one row per query and one column per measure, or with ``summary=True`` one row per measure."""
        pandas = tables.load_pandas()
        if not summary:
            columns: dict[str, Any] = {}
            if self.segments is not None:
                columns["segment"] = self.segments
            if self.query_weights is not None:
                columns["weight"] = self.query_weights
            columns |= {name: measured.values for name, measured in self._measured.items()}
            return pandas.DataFrame(columns, index=pandas.Index(self.query_ids, name="query"))
        parts: dict[Any, Evaluation] = {None: self} | self.by_segment
        records = []
        for segment, part in parts.items():
            for name in part.measures:
                low, high = part.interval[name]
                records.append(
                    {
                        "segment": segment,
                        "measure": name,
                        "mean": part.mean[name],
                        "standard_error": part.standard_error[name],
                        "low": low,
                        "high": high,
                        "counted": part.counted[name],
                        "blank": part.blank[name],
                        "unlabelled": part.unlabelled[name],
                    }
                )
        frame = pandas.DataFrame.from_records(records)
        return frame if self.segments is not None else frame.drop(columns="segment")

    def plot(self, of: str | Measure | None = None, *, ax: Any = None, path: Any = None) -> Any:
        """The values of all queries of a measure (the first, if left out) as a picture: ``rf.plot.per_query``."""
        import rankforce

        return rankforce.plot.per_query(self, of, ax=ax, path=path)

    @property
    def _title(self) -> str:
        return f"{counted(self.n_queries, 'query')}, {counted(self.n_documents, 'document')}"

    def _result_table(self) -> ResultTable:
        sampled = any(error > 0.0 for error in self.tie_error.values())
        header = ["measure", "mean", f"{tables.level_name(self.level)} interval", "queries", "blank", "unlabelled"]
        if sampled:
            header.insert(2, "± ties")
        rows = []
        parts: dict[Any, Evaluation] = {None: self} | self.by_segment
        for segment, part in parts.items():
            for name in part.measures:
                row: list[str | Cell] = [
                    name if segment is None else f"{name} [{segment}]",
                    number_cell(part.mean[name]),
                    interval_cell(*part.interval[name]),
                    count_cell(part.counted[name]),
                    count_cell(part.blank[name]),
                    share_cell(part.unlabelled[name]),
                ]
                if sampled:
                    row.insert(2, number_cell(part.tie_error[name], 5))
                rows.append(row)
        return ResultTable(self._title, header, rows, self._notes)

    @property
    def _notes(self) -> list[str]:
        notes = [*self.remarks, *self.policies.sentences()]
        for name, one in self._measured.items():
            settings = ", ".join(f"{key} {value}" for key, value in _settings(one.measure).items())
            if settings:
                notes.append(f"{name}: {settings}")
        return notes + sentences({"": self.elsewhere})

    # ------------------------------------------------------------------------------------------------------- internals

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled without its ranking, which holds the whole data set: ``explain`` and other tools need it.

        What these said is kept, if they were asked.
        """
        of_queries = (self.query_ids, self.query_weights, self.query_sizes)
        known = {name: value for name, value in vars(self).items() if name == "elsewhere"}
        parts = (self._measured, *of_queries, self.policies, self.level, self.seed, self.segments)
        return Evaluation, parts, known or None

    def _compared(self, name: str, asked: AskedTool) -> MeanElsewhere | None:
        """Another convention's mean of a measure, or None if it is printed alike."""
        ((there, theirs),) = asked.evaluation._measured.items()
        mean = asked.evaluation.mean[there]
        if tables.number(mean) == tables.number(self.mean[name]):
            return None
        mine = self._measured[name]
        policies = asked.evaluation.policies
        why = reasons(
            _settings(mine.measure),
            _settings(theirs.measure),
            blank=(self.policies.blank, policies.blank) if theirs.blank.any() or mine.blank.any() else None,
            ties=(self.policies.ties, policies.ties) if asked.tied else None,
            worth=asked.other_worth,
            weights=(mine.weights is not None, theirs.weights is not None),
        )
        return MeanElsewhere(str(policies.convention), mean, why)

    def _by_measure(self, compute: Callable[[MeasuredQueries], Value]) -> ByMeasure[Value]:
        return ByMeasure(self.asked, lambda name: compute(self._measured[name]))

    def _counted_values(self, one: MeasuredQueries) -> tuple[np.ndarray, np.ndarray | None]:
        counted = one.counted
        if counted.all():
            return one.values, one.weights
        return one.values[counted], None if one.weights is None else one.weights[counted]

    def _mean(self, one: MeasuredQueries) -> float:
        values, weights = self._counted_values(one)
        if one.numerator_weights is None or weights is None:
            return weighted_mean(values, weights)
        total = math.fsum(weights.tolist())
        there = ~np.isnan(one.values)  # also queries of weight 0: a numerator may weigh them
        earned = math.fsum((one.numerator_weights * one.values)[there].tolist())
        return earned / total if total > 0.0 else math.nan

    def _tie_error(self, one: MeasuredQueries) -> float:
        if one.variances is None:
            return 0.0
        counted = ~np.isnan(one.values)
        weights = np.ones(len(counted)) if one.weights is None else one.weights
        total = math.fsum(weights[counted].tolist())
        spread = math.fsum((weights[counted] ** 2 * one.variances[counted]).tolist())
        return math.sqrt(spread) / total if total > 0.0 else math.nan

    def _taking(self, queries: np.ndarray) -> Evaluation:
        return Evaluation(
            {name: one.taking(queries) for name, one in self._measured.items()},
            self.query_ids[queries],
            None if self.query_weights is None else self.query_weights[queries],
            self.query_sizes[queries],
            self.policies,
            self.level,
            self.seed,
        )


def _unlabelled_share(one: MeasuredQueries) -> float:
    counted = one.counted
    places = int(one.top[counted].sum())
    return int(one.unlabelled[counted].sum()) / places if places else math.nan


def _settings(of: Measure | Agreement) -> dict[str, str]:
    """The parameters of a measure in words."""
    if isinstance(of, Agreement):
        return of.settings()
    gains = {"exponential": "2^label − 1", "linear": "label"} | of.GAIN_WORDS
    settings = {}
    for field in dataclasses.fields(of):
        value = getattr(of, field.name)
        if field.name in ("cutoff", "label", "judged_only") or not field.init:
            continue
        if field.name == "relevant":
            settings["relevant"] = f"label ≥ {value:g}"
        elif field.name == "gain" and isinstance(value, tuple):
            settings["gain"] = "/".join(f"{entry:g}" for entry in value)
        elif field.name == "gain" and isinstance(value, str):
            settings["gain"] = gains[value]
        elif isinstance(value, (int, float)):
            settings[field.name] = f"{value:g}"
        else:
            settings[field.name] = name_of(value) if callable(value) else str(value)
    if of.leaves_out_unlabelled:
        settings["unlabelled documents"] = "left out"
    return settings


def _json(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
