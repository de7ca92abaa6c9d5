"""Responses of Vespa with rank features: ``match-features`` or ``summary-features`` of the rank profile.

A hit has ``fields.matchfeatures`` (or ``summaryfeatures``, or ``rankfeatures``): an object from the name of a rank
feature to its number. The document's id is the last part of ``fields.documentid``: ``17`` of ``id:shop:product::17``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from rankforce.data.feature_logs.hits import EngineResponse, LoggedHit, pairs_of
from rankforce.data.feature_logs.json_nodes import JsonNode
from rankforce.remedies import Argument

_FIELDS = ("matchfeatures", "summaryfeatures", "rankfeatures")
_BOOKKEEPING = "vespa.summaryFeatures.cached"  # says of the features whether they were kept from matching


def is_response(value: dict[str, object]) -> bool:
    return "root" in value


def read(response: JsonNode, document: str | None, entry: str | None) -> EngineResponse:
    """``document``: the path of the id in a hit; ``entry``: the field that holds the features."""
    root = response["root"]
    errors = root.get("errors")
    if errors is not None and "children" not in root.value:
        message = next((str(one.entries().get("message")) for one in errors.elements()), "")
        errors.fail(f"the engine answered with an error: {message[:200]}")
    coverage = root.get("coverage")
    partial = errors is not None or (coverage is not None and "degraded" in coverage.entries())
    return EngineResponse((_hit(hit, document, entry) for hit in _hits(root)), partial)


def _hits(node: JsonNode) -> Iterator[JsonNode]:
    """The documents below a node: those of groups, too."""
    children = node.get("children")
    for child in () if children is None else children.elements():
        if child.get("children") is not None:
            yield from _hits(child)
        elif not str(child.entries().get("id", "")).startswith(("group:", "grouplist:")):
            yield child


def _hit(hit: JsonNode, document: str | None, entry: str | None) -> LoggedHit | None:
    fields = hit["fields"]
    found = [one for key in ((entry,) if entry else _FIELDS) if (one := fields.get(key)) is not None]
    if not found:
        return None
    names: list[str] = []
    values: dict[str, float] = {}
    for name, value in pairs_of(found[0]):
        if name == _BOOKKEEPING:
            continue
        if isinstance(value.value, (dict, list)):
            value.fail("a tensor is no feature: log numbers, for example reduce(tensor, sum)")
        names.append(name)
        values[name] = value.feature_value()
    return LoggedHit(hit, _document(hit, fields, document), tuple(names), values, math.nan)


def _document(hit: JsonNode, fields: JsonNode, document: str | None) -> str:
    if document is not None:
        given = hit.follow(document) or fields.follow(document)
        if given is None:
            hit.fail(f"there is no {document!r}", ("say where the document's id stands: ", Argument("document")))
        return given.identifier()
    whole = fields.get("documentid") or hit.get("id")
    if whole is None:
        hit.fail("there is neither 'fields.documentid' nor 'id'", ("say where it stands: ", Argument("document")))
    name = whole.identifier()
    return name.split("::", 1)[1] if name.startswith("id:") and "::" in name else name
