"""Responses of Elasticsearch and OpenSearch with what the learning-to-rank plugin logged.

A hit has ``fields._ltrlog``: a list of objects, each from the name of a log entry to its features. A feature is
``{"name": "title", "value": 3.2}``, without ``value`` where it did not match; old releases wrote ``{"title": 3.2}``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from rankforce.data.feature_logs.hits import EngineResponse, LoggedHit, pairs_of
from rankforce.data.feature_logs.json_nodes import JsonNode
from rankforce.remedies import Argument

_EXTRA = "extra_logging"  # what scripts log beside features: an object, not a number


def is_response(value: dict[str, object]) -> bool:
    return "hits" in value


def read(response: JsonNode, document: str | None, entry: str | None) -> EngineResponse:
    """``document``: the path of the id in a hit; ``entry``: the log entry to read."""
    shards = response.get("_shards")
    failed = 0 if shards is None else shards.entries().get("failed", 0)
    partial = bool(failed) or response.entries().get("timed_out") is True
    found = response["hits"]["hits"].elements()
    return EngineResponse((_hit(hit, document or "_id", entry) for hit in found), partial)


def _hit(hit: JsonNode, document: str, entry: str | None) -> LoggedHit | None:
    name = hit.follow(document)
    if name is None:
        hit.fail(f"there is no {document!r}", ("say where the document's id stands: ", Argument("document")))
    fields = hit.get("fields")
    log = None if fields is None else fields.get("_ltrlog")
    if log is None:
        return None
    entries = dict(_entries(log))
    chosen = _chosen(log, entries, entry)
    if chosen is None:
        return None
    names, values = _features(chosen)
    matched = hit.get("matched_queries")
    return LoggedHit(
        hit,
        _single(name).identifier(),
        names,
        values,
        absent=math.nan,
        entries=tuple(entries),
        matched=() if matched is None else _names(matched),
    )


def _entries(log: JsonNode) -> Iterator[tuple[str, JsonNode]]:
    for group in log.elements():
        yield from group.items()


def _chosen(log: JsonNode, entries: dict[str, JsonNode], entry: str | None) -> JsonNode | None:
    if entry is not None:
        return entries.get(entry)
    if len(entries) > 1:
        listed = ", ".join(map(repr, entries))
        log.fail(f"there are several log entries: {listed}", ("say which is meant: ", Argument("entry")))
    return next(iter(entries.values()), None)


def _features(entry: JsonNode) -> tuple[tuple[str, ...], dict[str, float]]:
    names: list[str] = []
    values: dict[str, float] = {}
    listed = pairs_of(entry) if isinstance(entry.value, dict) else _listed(entry)
    for name, value in listed:
        if name == _EXTRA:
            continue
        if name in values or name in names:
            entry.fail(f"feature {name!r} is logged twice")
        names.append(name)
        if value is not None:
            values[name] = value.feature_value()
    return tuple(names), values


def _listed(entry: JsonNode) -> Iterator[tuple[str, JsonNode | None]]:
    for feature in entry.elements():
        yield feature["name"].identifier(), feature.get("value")


def _single(node: JsonNode) -> JsonNode:
    """A field of a hit is a list even where it has one value."""
    if isinstance(node.value, list) and len(node.value) == 1:
        return next(node.elements())
    return node


def _names(matched: JsonNode) -> tuple[str, ...]:
    """The named queries that a document matched: a list, or an object with their scores."""
    if isinstance(matched.value, dict):
        return tuple(matched.value)
    return tuple(one.identifier() for one in matched.elements())
