"""Responses of Solr with the features of its learning-to-rank module: ``fl=id,[features]``.

A document has ``[features]`` (or the name that ``fl=name:[features]`` gives it): ``title=3.2,price=0.0``, or JSON. In
the dense format every feature is there; in the sparse one those that are 0 are left out.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

from rankforce.data.feature_logs.hits import EngineResponse, LoggedHit, pairs_of
from rankforce.data.feature_logs.json_nodes import JsonNode
from rankforce.remedies import Argument

_FIELDS = ("[features]", "features", "fv", "[fv]")


def is_response(value: dict[str, object]) -> bool:
    inner = value.get("response")
    return isinstance(inner, dict) and "docs" in inner


def read(response: JsonNode, document: str | None, entry: str | None) -> EngineResponse:
    """``document``: the path of the id in a document; ``entry``: the field that holds the features."""
    header = response.get("responseHeader")
    partial = header is not None and header.entries().get("partialResults") in (True, "omitted")
    found = response["response"]["docs"].elements()
    return EngineResponse((_hit(one, document or "id", entry) for one in found), partial)


def _hit(found: JsonNode, document: str, entry: str | None) -> LoggedHit | None:
    name = found.follow(document)
    if name is None:
        found.fail(f"there is no {document!r}", ("say where the document's id stands: ", Argument("document")))
    field = next((one for key in ((entry,) if entry else _FIELDS) if (one := found.get(key)) is not None), None)
    if field is None:
        return None
    values: dict[str, float] = {}
    for feature, value in _features(field):
        if feature in values:
            field.fail(f"feature {feature!r} is logged twice")
        values[feature] = value
    return LoggedHit(found, name.identifier(), tuple(values), values, 0.0)


def _features(field: JsonNode) -> Iterator[tuple[str, float]]:
    if isinstance(field.value, str) and field.value.lstrip().startswith("{"):
        try:
            field = JsonNode(json.loads(field.value), field.path, field.line, field.steps)
        except (ValueError, RecursionError):
            field.fail("the features begin like JSON and are none")
    if not isinstance(field.value, str):
        yield from ((name, value.feature_value()) for name, value in pairs_of(field))
        return
    for pair in field.value.split(",") if field.value.strip() else ():
        name, sign, text = pair.rpartition("=")  # a value holds no sign of equality, a name may
        if not sign or not name.strip():
            field.fail(f"not name=value: {pair[:80]!r}")
        yield name.strip(), _number(field, text)


def _number(field: JsonNode, text: str) -> float:
    try:
        number = float(text) if "_" not in text else math.inf
    except ValueError:
        field.fail(f"the value of a feature is a number, not {text[:80]!r}")
    return field.in_range(number)
