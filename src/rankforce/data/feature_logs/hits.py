"""A document of a response with its logged features, whichever engine wrote it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from rankforce.data.feature_logs.json_nodes import JsonNode


@dataclasses.dataclass(frozen=True)
class LoggedHit:
    """A document and its features as they were logged.

    ``names`` are the features that the log lists, in its order; ``values`` has those with a value (NaN: the engine
    says that it has none). ``entries`` and ``matched`` are names of log entries and named queries, of which a request
    may make query ids.
    """

    node: JsonNode
    document: str
    names: tuple[str, ...]
    values: dict[str, float]
    absent: float  # what a feature without a value is to this engine: NaN or 0
    entries: tuple[str, ...] = ()
    matched: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class EngineResponse:
    """The hits of one response; ``partial``: the engine says that it left something out."""

    hits: Iterator[LoggedHit | None]  # None: a document without features
    partial: bool


def pairs_of(node: JsonNode) -> Iterator[tuple[str, JsonNode]]:
    """Features of an object {name: value}."""
    for name, value in node.items():
        if not name:
            node.fail("the name of a feature is empty")
        yield name, value
