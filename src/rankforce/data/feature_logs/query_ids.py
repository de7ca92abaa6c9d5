"""Where the query id of a response stands: engines do not repeat the request."""

from __future__ import annotations

from pathlib import Path

from rankforce.data.feature_logs.hits import LoggedHit
from rankforce.data.feature_logs.json_nodes import JsonNode
from rankforce.kinds import OrNone, Text
from rankforce.remedies import Argument

_NAMES = ("qid", "query_id", "query")
_PLACES = ("", "request.", "params.", "responseHeader.params.")
_REMEDY = (
    "write it beside the response ({'qid': ..., 'response': ...}), or say where it is: a path, ",
    Argument("query", "responseHeader.params.q"),
    "; the name of the file, ",
    Argument("query", "file"),
    "; a named query that begins with qid=, ",
    Argument("query", "named:qid="),
    "; the name of the log entry, ",
    Argument("query", "entry"),
)


class QueryIds:
    """The id of a hit's query, found as the user says: ``where`` is a path, "file", "entry" or "named:PREFIX"."""

    def __init__(self, where: str | None) -> None:
        OrNone(Text("a path, 'file', 'entry' or 'named:...'")).check("query", where)
        self._where = where

    def of(self, given: str | None, record: JsonNode, hit: LoggedHit) -> str:
        """``given``: what the source says; ``record``: the response and what stands beside it."""
        where = self._where
        if where is None:
            return given if given is not None else _found(record)
        if where == "file":
            if record.path is None:
                record.fail("the response was not read from a file")
            return Path(record.path).name.partition(".")[0] or record.path
        if where == "entry":
            if len(hit.entries) != 1:
                hit.node.fail(f"one log entry is needed for the query id, not {len(hit.entries)}", _REMEDY)
            return hit.entries[0]
        if where.startswith("named:"):
            return _named(hit, where.removeprefix("named:"))
        at = record.follow(where)
        if at is None:
            record.fail(f"there is no {where!r}, where the query id should stand")
        return at.identifier()


def _found(record: JsonNode) -> str:
    """Beside the response, or in its request; the query of a search request is an object, and no id."""
    places = (record.follow(place + name) for place in _PLACES for name in _NAMES)
    found = next((at for at in places if at is not None and isinstance(at.value, (str, int))), None)
    if found is None:
        record.fail("the query id of the response is not known", _REMEDY)
    return found.identifier()


def _named(hit: LoggedHit, prefix: str) -> str:
    found = [name.removeprefix(prefix) for name in hit.matched if name.startswith(prefix)]
    if len(found) != 1 or not found[0]:
        listed = ", ".join(map(repr, hit.matched)) or "none"
        hit.node.fail(f"one named query with an id behind {prefix!r} is needed; matched_queries: {listed}")
    return found[0]
