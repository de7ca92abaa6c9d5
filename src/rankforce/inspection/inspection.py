"""What is in a data set, and what in it will mislead training or evaluation.

    report = rf.inspect(data)
    report.findings          # what to look at, each with its remedy
    print(report)

Everything is found with NumPy in a few passes over the features. Where a sample is used (percentiles, pairs of
documents) it is fixed by a seed, so the same data gives the same report.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rankforce.console.result_tables import ResultTable
from rankforce.console.wording import counted
from rankforce.data.dataset import Dataset, check_dataset
from rankforce.data.roles_in_words import features_in_words, left_out_in_words
from rankforce.displayed_text import displayed
from rankforce.inspection import duplicates, rules
from rankforce.inspection.column_guards import many_categories, suspect_columns
from rankforce.inspection.duplicates import Duplicates
from rankforce.inspection.feature_strength import FeatureStrength, feature_strengths
from rankforce.inspection.findings import Finding
from rankforce.inspection.labels import LabelSummary, label_summary
from rankforce.inspection.leaks import Leak, leaks

if TYPE_CHECKING:
    from rankforce.inspection.store_inspection import StoreFacts

_CHUNK = 16_384  # rows looked at together: small beside the features
_SAMPLE = 50_000  # rows from which percentiles are taken
_HEAVY_TAIL = 100.0


@dataclasses.dataclass(frozen=True)
class Inspection:
    """What ``inspect`` found out about a data set."""

    documents: int
    queries: int
    features: int
    documents_per_query: tuple[int, float, int]  # least, median, most
    single_document_queries: int
    contiguous: bool
    has_document_ids: bool
    labels: tuple[LabelSummary, ...]
    missing_share: float
    missing_features: Mapping[str, float]  # share of missing values, where it is not 0
    never_seen_features: tuple[str, ...]  # 0 in every document, or missing in every one
    constant_features: Mapping[str, float]  # one value other than 0, never missing
    heavy_tailed_features: Mapping[str, float]  # largest distance from the median / (95th - 5th percentile)
    duplicates: Duplicates
    strongest_features: tuple[FeatureStrength, ...]
    answering_features: tuple[FeatureStrength, ...]  # those that alone give the answer away
    leaks: tuple[Leak, ...]  # these and the features that encode another label source
    origins: Mapping[str, str] = dataclasses.field(default_factory=dict)  # part → where it was taken from
    roles: Mapping[str, str] = dataclasses.field(default_factory=dict)  # column of a table → what became of it
    categories: Mapping[str, int] = dataclasses.field(default_factory=dict)  # categorical feature → how many
    store: StoreFacts | None = None  # of data that is kept as bins
    findings: tuple[Finding, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, ready for JSON."""
        result = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        least, median, most = self.documents_per_query
        return result | {
            "documents_per_query": {"min": least, "median": median, "max": most},
            "labels": {source.name: source.to_dict() for source in self.labels},
            "origins": dict(self.origins),
            "roles": dict(self.roles),
            "categories": dict(self.categories),
            "missing_features": dict(self.missing_features),
            "never_seen_features": list(self.never_seen_features),
            "constant_features": dict(self.constant_features),
            "heavy_tailed_features": dict(self.heavy_tailed_features),
            "duplicates": self.duplicates.to_dict(),
            "strongest_features": [strength.to_dict() for strength in self.strongest_features],
            "answering_features": [strength.to_dict() for strength in self.answering_features],
            "leaks": [leak.to_dict() for leak in self.leaks],
            "store": None if self.store is None else self.store.to_dict(),
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.lines())
        text = [f"{name:<{width}}  {value}".rstrip() for name, value in self.lines()]
        if self.findings:
            text += ["", *(f"! {finding}" for finding in self.findings)]
        else:
            text += ["", "Nothing suspicious was found."]
        return "\n".join(text)

    def _repr_html_(self) -> str:
        """What notebooks show: the report as a table, the findings below it."""
        rows = [[name, value] for name, value in self.lines()]
        notes = [f"! {one.what} {one.remedy}" for one in self.findings] or ["Nothing suspicious was found."]
        return ResultTable("Inspection", ["", "found"], rows, notes, left=2).html()

    def lines(self) -> Iterator[tuple[str, str]]:
        """(what, value) for people, in the order of a report."""
        least, median, most = self.documents_per_query
        if self.origins:
            yield "taken from", "; ".join(f"{part}: {origin}" for part, origin in self.origins.items())
        if words := left_out_in_words(self.roles):
            yield "left out", words
        yield "documents", f"{self.documents:,}"
        yield "queries", f"{self.queries:,}"
        yield "per query", f"{least:,} to {most:,} documents, median {median:g}"
        yield "features", _features_line(self)
        if words := features_in_words(self.roles):
            yield "", words
        if self.categories:
            yield "categories", "; ".join(f"{displayed(name)}: {count:,}" for name, count in self.categories.items())
        for source in self.labels:
            yield f"label {displayed(source.name)}", _values_line(source, self.documents)
            yield "", _queries_line(source)
        if not self.labels:
            yield "labels", "none"
        if self.strongest_features:
            yield (
                "best features",
                "; ".join(
                    f"{displayed(strength.feature)}: {_rightly(strength)} on {strength.decided:.0%} of the pairs"
                    for strength in self.strongest_features[:3]
                ),
            )
        if self.store is not None:
            yield from self.store.lines()


def inspect(data: Dataset) -> Inspection:
    """Look through a data set: sizes, labels, features, duplicates, and what gives the answer away.

    Of a store, what its bins tell, and whether it is whole; the report names what they do not tell.
    """
    check_dataset(data)
    sizes = data.query_sizes
    report = Inspection(
        documents=data.n_documents,
        queries=data.n_queries,
        features=data.n_features,
        documents_per_query=(int(sizes.min()), float(np.median(sizes)), int(sizes.max())),
        single_document_queries=int((sizes == 1).sum()),
        contiguous=data.contiguous,
        has_document_ids=data.document_ids is not None,
        labels=tuple(label_summary(data, name) for name in data.labels),
        origins=dict(data.origins),
        roles=dict(data.roles),
        categories={name: len(listed) for name, listed in data.categories.items()},
        **(_feature_facts(data) if data.bins is None else _facts_of_store(data)),
    )
    suspected = suspect_columns(data) if report.store is None else report.store.findings()
    seen = (*rules.findings(report), *suspected, *many_categories(data))
    return dataclasses.replace(report, findings=seen)


def _facts_of_store(data: Any) -> dict[str, Any]:
    from rankforce.inspection.store_inspection import facts_of_store

    return facts_of_store(data)


def _feature_facts(data: Dataset) -> dict[str, Any]:
    matrix = data.features
    strengths = feature_strengths(data)
    lowest = np.fmin.reduce(matrix, axis=0)
    highest = np.fmax.reduce(matrix, axis=0)
    missing = np.zeros(data.n_features, dtype=np.int64)
    if np.isnan(matrix.sum(axis=0, dtype=np.float64)).any():
        for start in range(0, len(matrix), _CHUNK):
            missing += np.isnan(matrix[start : start + _CHUNK]).sum(axis=0)
    # A feature that is missing here and there varies, even if it has one value: whether it is missing may tell.
    zero = (lowest == 0.0) & (highest == 0.0) & (data.n_categories == 0)  # the code 0 is a category that is seen
    never = (missing == data.n_documents) | ((missing == 0) & zero)
    constant = (missing == 0) & (lowest == highest) & ~never
    names = data.feature_names
    return {
        "duplicates": duplicates.find(data),
        "strongest_features": tuple(strengths[:5]),
        "answering_features": tuple(strength for strength in strengths if strength.gives_answer_away),
        "leaks": tuple(leaks(data)),
        "missing_share": float(missing.sum() / matrix.size) if matrix.size else 0.0,
        "missing_features": {names[j]: float(missing[j] / len(matrix)) for j in np.flatnonzero(missing)},
        "never_seen_features": tuple(names[j] for j in np.flatnonzero(never)),
        "constant_features": {names[j]: float(lowest[j]) for j in np.flatnonzero(constant)},
        "heavy_tailed_features": _heavy_tails(data, lowest, highest, ~(never | constant | (data.n_categories > 0))),
    }


def _heavy_tails(data: Dataset, lowest: np.ndarray, highest: np.ndarray, varying: np.ndarray) -> dict[str, float]:
    """Features whose extremes lie beyond ``_HEAVY_TAIL`` times the range that holds nine tenths of the values."""
    step = max(1, data.n_documents // _SAMPLE)
    result = {}
    for j in np.flatnonzero(varying):
        column = data.features[::step, j].astype(np.float64)
        column = column[~np.isnan(column)]
        if len(column) == 0:
            continue
        low, median, high = np.percentile(column, [5, 50, 95])
        furthest = max(highest[j] - median, median - lowest[j])
        if high > low and furthest > _HEAVY_TAIL * (high - low):
            result[data.feature_names[j]] = float(furthest / (high - low))
    return dict(sorted(result.items(), key=lambda entry: -entry[1]))


def _rightly(one: FeatureStrength) -> str:
    """How often a feature is right; of one that points the other way, how often its reverse is."""
    return f"{one.accuracy:.0%} right" + (f" (reversed {one.certainty:.0%})" if one.accuracy < 0.5 else "")


def _features_line(report: Inspection) -> str:
    text = f"{report.features:,}"
    if report.missing_share:
        text += f", {report.missing_share:.1%} of the values missing"
    if report.never_seen_features:
        text += f", {len(report.never_seen_features):,} never seen"
    if report.constant_features:
        text += f", {len(report.constant_features):,} constant"
    return text


def _values_line(source: LabelSummary, documents: int) -> str:
    if source.distinct == 0:
        return "no values"
    if not source.values:
        spread = f"{source.distinct:,} values from {source.lowest:g} to {source.highest:g}, mean {source.mean:.4g}"
    else:
        labelled = documents - source.unlabelled
        spread = "   ".join(f"{value:g}: {count:,} ({count / labelled:.1%})" for value, count in source.values.items())
    return spread + (f"   unlabelled: {source.unlabelled:,}" if source.unlabelled else "")


def _queries_line(source: LabelSummary) -> str:
    text = f"{counted(source.mixed_queries, 'query')} with different labels, {source.blank_queries:,} blank"
    return text + (f", {source.unlabelled_queries:,} unlabelled" if source.unlabelled_queries else "")
