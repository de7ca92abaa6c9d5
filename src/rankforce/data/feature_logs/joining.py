"""Logged features joined with judgments, by query and document."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.console import html_parts
from rankforce.console.wording import counted
from rankforce.data.dataset import Dataset
from rankforce.data.feature_logs.hits import LoggedHit
from rankforce.data.feature_logs.judgments import Grades
from rankforce.displayed_text import displayed
from rankforce.errors import DataError
from rankforce.remedies import Argument

_SHOWN = 5  # examples of what was not matched


@dataclasses.dataclass
class LogCounts:
    """What was read."""

    responses: int = 0
    partial_responses: int = 0
    documents_without_features: int = 0
    repeated_documents: int = 0


@dataclasses.dataclass(frozen=True)
class FeatureLog:
    """A data set made of logged features and judgments, and what did not find its partner.

    Attributes
    ----------
    data : Dataset
        One row per query and document of the log, in its order.
    matched : int
        Judgments that found their document in the log.
    judgments_without_features, documents_without_judgment : tuples of (query, document)
        What only the judgments have, and what only the log has. The latter are rows without a label or are left out:
        ``unjudged`` says which.
    features_never_logged : tuple of names
        Features that no document has a value of.
    features_left_out : tuple of names
        Features of the log that the feature set does not have.
    counts : LogCounts
        Responses read, and those of them that the engine says are partial; documents without features; documents that
        came again for the same query.
    """

    data: Dataset
    matched: int
    judgments_without_features: tuple[tuple[str, str], ...]
    documents_without_judgment: tuple[tuple[str, str], ...]
    features_never_logged: tuple[str, ...]
    features_left_out: tuple[str, ...]
    unjudged: str
    counts: LogCounts

    def to_dict(self) -> dict[str, Any]:
        """The report."""
        return {
            "documents": self.data.n_documents,
            "queries": self.data.n_queries,
            "features": list(self.data.feature_names),
            "matched": self.matched,
            "judgments_without_features": [list(pair) for pair in self.judgments_without_features],
            "documents_without_judgment": [list(pair) for pair in self.documents_without_judgment],
            "unjudged": self.unjudged,
            "features_never_logged": list(self.features_never_logged),
            "features_left_out": list(self.features_left_out),
            **dataclasses.asdict(self.counts),
        }

    def __str__(self) -> str:
        data, counts = self.data, self.counts
        words = [
            f"{counted(data.n_documents, 'document')} of {counted(data.n_queries, 'query')} with "
            f"{counted(data.n_features, 'feature')}, {self.matched:,} of them judged, from "
            f"{counted(counts.responses, 'response')}"
        ]
        if self.judgments_without_features:
            words.append(f"judged, not in the log: {_pairs(self.judgments_without_features)}")
        if self.documents_without_judgment:
            fate = "left out" if self.unjudged == "drop" else "kept without a label"
            words.append(f"in the log, not judged, {fate}: {_pairs(self.documents_without_judgment)}")
        if self.features_never_logged:
            words.append(f"features without any value: {_names(self.features_never_logged)}")
        if self.features_left_out:
            words.append(f"features of the log that are not in the feature set: {_names(self.features_left_out)}")
        if counts.partial_responses:
            words.append(f"partial, says the engine (time ran out, or a shard failed): {counts.partial_responses:,}")
        if counts.documents_without_features:
            words.append(f"documents without features, left out: {counts.documents_without_features:,}")
        if counts.repeated_documents:
            words.append(f"documents that came again for the same query: {counts.repeated_documents:,}")
        return "\n".join(words)

    def _repr_html_(self) -> str:
        """What notebooks show: the report, and the data that came of it."""
        return html_parts.block(html_parts.small(*str(self).split("\n")), self.data._repr_html_())

    def __repr__(self) -> str:
        return f"<FeatureLog: {self.data!r}>"


def _pairs(pairs: Sequence[tuple[str, str]]) -> str:
    listed = ", ".join(f"{displayed(query)}/{displayed(document)}" for query, document in pairs[:_SHOWN])
    return f"{len(pairs):,} ({listed}{', ...' if len(pairs) > _SHOWN else ''})"


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(displayed, names[:20])) + (", ..." if len(names) > 20 else "")


@dataclasses.dataclass(frozen=True, eq=False)
class LoggedFeatures:
    """What is kept of a document: numbers, and names that all documents alike share."""

    listed: tuple[str, ...]  # features that the log lists
    valued: tuple[str, ...]  # those with a value, or NaN
    values: np.ndarray  # float64 (valued,)
    absent: float

    def equals(self, other: LoggedFeatures) -> bool:
        mine, others = (dict(zip(one.valued, one.values.tolist(), strict=True)) for one in (self, other))
        return mine.keys() == others.keys() and all(
            value == others[name] or (math.isnan(value) and math.isnan(others[name])) for name, value in mine.items()
        )


class LoggedDocuments:
    """The documents of a log by query and document, each once."""

    def __init__(self, repeated: str) -> None:
        self.kept: dict[tuple[str, str], LoggedFeatures] = {}
        self.counts = LogCounts()
        self._repeated = repeated
        self._orders: dict[tuple[str, ...], tuple[str, ...]] = {}

    def add(self, query: str, hit: LoggedHit) -> None:
        found = LoggedFeatures(
            listed=self._shared(hit.names),
            valued=self._shared(tuple(hit.values)),
            values=np.array(list(hit.values.values()), dtype=np.float64),
            absent=hit.absent,
        )
        pair = query, hit.document
        before = self.kept.setdefault(pair, found)
        if before is found:
            return
        self.counts.repeated_documents += 1
        if self._repeated == "raise" and not before.equals(found):
            hit.node.fail(
                f"document {hit.document!r} of query {query!r} came before, with other values",
                ("say which of them count: ", Argument("repeated", "first"), " or ", Argument("repeated", "last")),
            )
        if self._repeated == "last":
            self.kept[pair] = found

    def feature_names(self) -> tuple[str, ...]:
        """As the log lists them, if it lists them alike for all documents; else sorted."""
        orders = {features.listed for features in self.kept.values()}
        return next(iter(orders)) if len(orders) == 1 else tuple(sorted({name for order in orders for name in order}))

    def _shared(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return self._orders.setdefault(names, names)


def joined(
    documents: LoggedDocuments,
    grades: Grades | None,
    features: tuple[str, ...] | None,
    unjudged: str,
    absent: str | None,
) -> FeatureLog:
    """The data set; ``grades`` None: nothing is judged, and everything is kept."""
    logged = documents.kept
    if not logged:
        raise DataError(_NO_FEATURES)
    names = documents.feature_names() if features is None else features
    known = {name for listed in {one.listed for one in logged.values()} for name in listed}
    if not known & set(names):
        raise DataError(
            f"the log has no feature of the feature set: it has {_names(sorted(known)) or 'none'}, the set "
            f"{_names(names)}"
        )
    judged = {} if grades is None else grades
    matched = [pair for pair in logged if pair in judged]
    if grades is not None and not matched:
        raise _nothing_in_common(next(iter(logged)), judged)
    kept = list(logged) if grades is None or unjudged == "keep" else matched
    labels = None if grades is None else np.array([judged.get(pair, math.nan) for pair in kept], dtype=dtypes.LABEL)
    data = Dataset(
        _matrix([logged[pair] for pair in kept], names, absent),
        labels,
        [query for query, _ in kept],
        feature_names=names,
        document_ids=[document for _, document in kept],
    )
    valued = _with_values(logged.values())
    return FeatureLog(
        data=data,
        matched=len(matched),
        judgments_without_features=tuple(pair for pair in judged if pair not in logged),
        documents_without_judgment=() if grades is None else tuple(pair for pair in logged if pair not in judged),
        features_never_logged=tuple(name for name in names if name not in valued),
        features_left_out=tuple(sorted(known - set(names))),
        unjudged=unjudged,
        counts=documents.counts,
    )


def _with_values(logged: Iterable[LoggedFeatures]) -> set[str]:
    """The features that some document has a value of."""
    found: dict[tuple[str, ...], np.ndarray] = {}
    for one in logged:
        some = found.setdefault(one.valued, np.zeros(len(one.valued), dtype=bool))
        some |= ~np.isnan(one.values)
    return {name for valued, some in found.items() for name, has in zip(valued, some, strict=True) if has}


_NO_FEATURES = (
    "no document of the log has features: ask for them with ext.ltr_log (Elasticsearch, OpenSearch), fl=[features] "
    "(Solr) or match-features (Vespa)"
)


def _matrix(logged: list[LoggedFeatures], names: tuple[str, ...], absent: str | None) -> np.ndarray:
    fill = {None: None, "missing": math.nan, "zero": 0.0}[absent]
    place_of = {name: place for place, name in enumerate(names)}
    places: dict[tuple[str, ...], tuple[list[int], list[int]]] = {}  # features with values → columns, and which of them
    matrix = np.empty((len(logged), len(names)), dtype=dtypes.FEATURE)
    for row, one in enumerate(logged):
        if one.valued not in places:
            wanted = [index for index, name in enumerate(one.valued) if name in place_of]
            places[one.valued] = [place_of[one.valued[index]] for index in wanted], wanted
        columns, wanted = places[one.valued]
        matrix[row] = one.absent if fill is None else fill
        matrix[row, columns] = one.values[wanted]
    return matrix


def _nothing_in_common(a: tuple[str, str], judged: Grades) -> DataError:
    if not judged:
        return DataError("nothing is judged: the judgments are empty")
    b = next(iter(judged))
    return DataError(
        f"no document of the log is judged: ids are compared as text, and the log has query {a[0]!r} with document "
        f"{a[1]!r}, the judgments query {b[0]!r} with document {b[1]!r}; say where the log has its ids: ",
        Argument("query"),
        ", ",
        Argument("document"),
    )
