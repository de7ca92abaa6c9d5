"""Around the application: who may ask, how long it took, and that nothing is said of a defect but that it is one."""

from __future__ import annotations

import time
from typing import Any, Final

from fastapi import FastAPI

from rankforce.serving.access import AccessRule
from rankforce.serving.metrics import NO_MODEL, ServingMetrics
from rankforce.serving.refusals import RequestRefusal, problem_response

OPEN_PATHS: Final = frozenset({"/health", "/ready", "/docs", "/openapi.json"})  # they say nothing of the models
FACTS: Final = "rankforce"  # where endpoints say what a request is about, for the metrics
_CLIENT_GONE: Final = 499  # nobody is there to read a status


class Guard:
    """An ASGI application that lets pass what may be asked, and counts it."""

    def __init__(self, app: FastAPI, access: AccessRule, metrics: ServingMetrics) -> None:
        self.app = app
        self.access = access
        self.metrics = metrics

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin = time.perf_counter()
        facts: dict[str, Any] = {"model": NO_MODEL, "endpoint": "other", "trusted": False}
        scope[FACTS] = facts
        status = _CLIENT_GONE

        async def sending(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            headers = dict(scope["headers"])
            self.access.check_host(headers)
            facts["trusted"] = self.access.allows(headers)
            if scope["path"] not in OPEN_PATHS:
                self.access.check(headers)
            await self.app(scope, receive, sending)
        except RequestRefusal as refusal:
            await problem_response(refusal)(scope, receive, sending)
        finally:
            self.metrics.request_done(facts["model"], facts["endpoint"], status, time.perf_counter() - begin)
