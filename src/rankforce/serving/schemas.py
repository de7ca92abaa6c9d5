"""What the service takes and gives, in the words of OpenAPI."""

from __future__ import annotations

from typing import Any, Final

from rankforce.serving import arrow_queries
from rankforce.serving.answers import JSON
from rankforce.serving.refusals import MEDIA_TYPE as PROBLEM

_VALUE: Final = {
    "type": ["number", "boolean", "null"],
    "description": "null is a missing value; true and false are 1 and 0",
}
_VALUES: Final = {"type": "array", "items": _VALUE}

QUERY: Final[dict[str, Any]] = {
    "oneOf": [
        {
            "title": "by column",
            "type": "object",
            "properties": {"columns": {"type": "object", "additionalProperties": _VALUES}},
            "required": ["columns"],
            "additionalProperties": False,
            "example": {"columns": {"bm25": [7.1, 3.5], "age": [None, 2]}},
        },
        {
            "title": "by row",
            "type": "object",
            "properties": {"rows": {"type": "array", "items": {"type": "object", "additionalProperties": _VALUE}}},
            "required": ["rows"],
            "additionalProperties": False,
            "example": {"rows": [{"bm25": 7.1, "age": 30}, {"bm25": 3.5, "age": 2}]},
        },
        {
            "title": "by row, names once",
            "type": "object",
            "properties": {
                "features": {"type": "array", "items": {"type": "string"}},
                "rows": {"type": "array", "items": _VALUES},
            },
            "required": ["features", "rows"],
            "additionalProperties": False,
            "example": {"features": ["bm25", "age"], "rows": [[7.1, None], [3.5, 2]]},
        },
    ]
}

SCORES: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "model": {"type": "string", "description": "the name of the model that answered"},
        "digest": {"type": "string", "description": "SHA-256 of its file"},
        "ties": {"const": "stable", "description": "equal scores stay in the order of the rows"},
        "scores": {"type": "array", "items": {"type": "number"}, "description": "one per row, in their order"},
        "order": {"type": "array", "items": {"type": "integer"}, "description": "rows from 0, best first"},
    },
    "required": ["model", "digest", "ties", "scores", "order"],
}

REFUSAL: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
    "required": ["type", "title", "status", "detail"],
}

_REFUSALS: Final = {
    400: "no JSON, or no Arrow stream",
    401: "no token, or a wrong one",
    404: "no such model",
    408: "the body did not arrive in time",
    413: "too many bytes or rows",
    415: "another Content-Type, or compressed",
    422: "features that are missing, unknown or repeated; values that are no numbers",
    503: "not ready, too many requests, or no answer in time: try again",
}

_ARROW_BODY: Final = {"schema": {"type": "string", "format": "binary"}}


def scoring_operation() -> dict[str, Any]:
    """The body of a request for scores; for FastAPI's ``openapi_extra``."""
    content = {JSON: {"schema": QUERY}, arrow_queries.MEDIA_TYPE: _ARROW_BODY}
    return {"requestBody": {"required": True, "content": content}}


def scoring_responses() -> dict[int | str, dict[str, Any]]:
    """The answers to it."""
    content = {JSON: {"schema": SCORES}, arrow_queries.MEDIA_TYPE: _ARROW_BODY}
    return {200: {"description": "scores and order", "content": content}, **refusals(*_REFUSALS)}


def explaining_operation() -> dict[str, Any]:
    """The body of a request for an explanation, and its parameters."""
    parameters = [
        {"name": "document", "in": "query", "schema": {"type": "integer"}, "description": "a row, from 0"},
        {"name": "pair", "in": "query", "schema": {"type": "string"}, "description": "two rows: 0,2"},
    ]
    return scoring_operation() | {"parameters": parameters}


def explaining_responses() -> dict[int | str, dict[str, Any]]:
    """The answers to it."""
    content = {JSON: {"schema": {"type": "object"}}}
    return {200: {"description": "contributions that add up", "content": content}, **refusals(*_REFUSALS)}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {
        status: {"description": _REFUSALS[status], "content": {PROBLEM: {"schema": REFUSAL}}} for status in statuses
    }
