"""Why a request was not answered: a status, a kind for programs, a sentence for people (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import Response

from rankforce.errors import RankforceError

MEDIA_TYPE = "application/problem+json"
MOST_NAMES = 20  # of features that an answer lists


class RequestRefusal(RankforceError):
    """A request that is not answered. ``facts`` stand beside the sentence, for programs."""

    def __init__(
        self, status: int, kind: str, message: str, *, headers: Mapping[str, str] | None = None, **facts: Any
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.headers = dict(headers or {})
        self.facts = facts


def too_busy(message: str) -> RequestRefusal:
    """The refusal of a request that may be sent again."""
    return RequestRefusal(503, "unavailable", message, headers={"Retry-After": "1"})


def refusal_of(error: RankforceError) -> RequestRefusal:
    """An error of the package that was caused by what was sent."""
    return error if isinstance(error, RequestRefusal) else RequestRefusal(422, "bad-data", str(error))


def problem_response(refusal: RequestRefusal) -> Response:
    """The refusal as it is sent."""
    problem = {
        "type": f"urn:rankforce:{refusal.kind}",
        "title": HTTPStatus(refusal.status).phrase,
        "status": refusal.status,
        "detail": str(refusal),
        **refusal.facts,
    }
    return Response(orjson.dumps(problem), refusal.status, refusal.headers, MEDIA_TYPE)
