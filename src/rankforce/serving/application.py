"""The service as an ASGI application: which path does what."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

import orjson
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from rankforce.errors import RankforceError
from rankforce.serving import reference_page
from rankforce.serving.access import AccessRule
from rankforce.serving.answers import JSON, Answer, BodyFormat, answer, format_of
from rankforce.serving.bodies import read_body
from rankforce.serving.explanations import AskedExplanation, explanation
from rankforce.serving.guard import FACTS, Guard
from rankforce.serving.limits import ServingLimits
from rankforce.serving.metrics import CONTENT_TYPE, ServingMetrics
from rankforce.serving.refusals import RequestRefusal, problem_response, refusal_of, too_busy
from rankforce.serving.schemas import (
    explaining_operation,
    explaining_responses,
    refusals,
    scoring_operation,
    scoring_responses,
)
from rankforce.serving.scoring_pool import ScoringPool
from rankforce.serving.served_models import ModelShelf, ServedModel

DESCRIPTION = (
    "Scores and order of the documents of a query. A request is one query. Scores are bit for bit those of predict; "
    "numbers are read as float64 and rounded to float32, equal scores stay in the order of the rows."
)


@dataclasses.dataclass(frozen=True)
class Service:
    """What the endpoints work with."""

    shelf: ModelShelf
    metrics: ServingMetrics
    pool: ScoringPool
    access: AccessRule
    ignore_unknown: bool
    watch_seconds: float  # between two looks at the files of the models; 0: never
    explaining: bool  # whether explanations are given
    alone: bool  # nothing else happens in this process
    report: Callable[[str], None]

    @property
    def limits(self) -> ServingLimits:
        return self.pool.limits

    def served(self, request: Request, name: str | None) -> ServedModel:
        """The model of a request, as it is now."""
        wanted = self.shelf.default if name is None else name
        if wanted not in self.shelf.files:
            known = list(self.shelf.files)
            raise RequestRefusal(404, "unknown-model", f"there is no model {wanted!r}", models=known)
        request.scope[FACTS]["model"] = wanted
        if not self.shelf.ready:
            raise too_busy("the models are not ready yet")
        return self.shelf.get(wanted)

    async def scored(self, request: Request, name: str | None) -> Response:
        """The answer to a request for scores."""
        return await self._answered(request, name, "score", answer)

    async def explained(self, request: Request, name: str | None) -> Response:
        """The answer to a request for an explanation."""
        asked = AskedExplanation.of(request.query_params)
        return await self._answered(request, name, "explain", functools.partial(explanation, asked=asked))

    async def _answered(
        self, request: Request, name: str | None, endpoint: str, work: Callable[..., Answer]
    ) -> Response:
        request.scope[FACTS]["endpoint"] = endpoint
        begin = time.monotonic()
        served = self.served(request, name)
        form = format_of(request.headers.get("content-type"), request.headers.get("content-encoding"))
        with self.pool.admission():
            body = await read_body(request, self.limits)
            left = self.limits.seconds - (time.monotonic() - begin)
            found = await self.pool.run(functools.partial(self._timed, work, served, body, form), left)
        return Response(found.body, media_type=found.media_type)

    def _timed(self, work: Callable[..., Answer], served: ServedModel, body: bytes, form: BodyFormat) -> Answer:
        begin = time.perf_counter()
        found = work(served, body, form, self.limits, self.ignore_unknown)
        if work is answer:
            self.metrics.query_scored(served.name, found.rows, time.perf_counter() - begin)
        return found


def build(service: Service) -> Guard:
    """The application, with its guard."""
    import rankforce

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        warming = asyncio.create_task(asyncio.to_thread(_warm, service))
        try:
            yield
        finally:
            await warming
            service.shelf.stop()
            service.pool.shut()

    app = FastAPI(
        title="rankforce",
        version=rankforce.__version__,
        description=DESCRIPTION,
        docs_url=None,  # FastAPI's page loads its parts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.include_router(_scoring(service))
    if service.explaining:
        app.include_router(_explaining(service))
    app.include_router(_state(service))
    _handle_failures(app)

    @app.get("/docs", response_class=HTMLResponse, include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(reference_page.reference_page(app.openapi()), headers=reference_page.HEADERS)

    return Guard(app, service.access, service.metrics)


def _warm(service: Service) -> None:
    try:
        service.shelf.warm_all(freeze=service.alone)
    except Exception as error:
        service.shelf.problems[service.shelf.default] = f"{type(error).__name__}: {error}"
        service.report(f"the models cannot score, the service stays unready: {error}")
        return
    if service.watch_seconds:
        service.shelf.watch(service.watch_seconds)
    service.report("ready")


def _scoring(service: Service) -> APIRouter:
    router = APIRouter()
    description: dict[str, Any] = {"openapi_extra": scoring_operation(), "responses": scoring_responses()}

    @router.post("/score", response_class=Response, **description)
    async def score(request: Request) -> Response:
        """Scores and order of the documents of one query, by the default model."""
        return await service.scored(request, None)

    @router.post("/models/{name}/score", response_class=Response, **description)
    async def score_by(name: str, request: Request) -> Response:
        """Scores and order of the documents of one query, by the model of this name."""
        return await service.scored(request, name)

    return router


def _explaining(service: Service) -> APIRouter:
    router = APIRouter()
    description: dict[str, Any] = {"openapi_extra": explaining_operation(), "responses": explaining_responses()}

    @router.post("/explain", response_class=Response, **description)
    async def explain(request: Request) -> Response:
        """What each feature contributes to the scores of a query, by the default model.

        Of all its documents, or with document=ROW of one; with pair=ROW,ROW why the first is above the second.
        """
        return await service.explained(request, None)

    @router.post("/models/{name}/explain", response_class=Response, **description)
    async def explain_by(name: str, request: Request) -> Response:
        """The same by the model of this name."""
        return await service.explained(request, name)

    return router


def _state(service: Service) -> APIRouter:
    router = APIRouter()

    @router.get("/models", response_class=Response)
    async def models(request: Request) -> Response:
        """The models that are served, and their files."""
        request.scope[FACTS]["endpoint"] = "models"
        return _json({"default": service.shelf.default, "models": [_about(service, n) for n in service.shelf.files]})

    @router.get("/models/{name}", response_class=Response, responses=refusals(404))
    async def model(name: str, request: Request) -> Response:
        """One model, with the features that a request must bring."""
        request.scope[FACTS]["endpoint"] = "models"
        served = service.served(request, name)
        return _json({**_about(service, name), "features": list(served.model.feature_names)})

    @router.get("/health", response_class=Response)
    async def health(request: Request) -> Response:
        """200 while the process answers."""
        request.scope[FACTS]["endpoint"] = "health"
        return _json({"alive": True})

    @router.get("/ready", response_class=Response, responses=refusals(503))
    async def ready(request: Request) -> Response:
        """200 as soon as every model is loaded and its kernels are compiled, else 503.

        Who may ask for scores is also told of files that could not be loaded.
        """
        request.scope[FACTS]["endpoint"] = "ready"
        found: dict[str, Any] = {"ready": service.shelf.ready}
        if request.scope[FACTS]["trusted"]:
            found["problems"] = dict(service.shelf.problems)
        return _json(found, 200 if service.shelf.ready else 503)

    @router.get("/metrics", response_class=Response)
    async def metrics(request: Request) -> Response:
        """Requests, latencies, rows and loads, as Prometheus reads them."""
        request.scope[FACTS]["endpoint"] = "metrics"
        return Response(service.metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    return router


def _about(service: Service, name: str) -> dict[str, Any]:
    served = service.shelf.get(name)
    return {
        "name": name,
        "kind": served.model.KIND,
        "objective": served.model.provenance.objective,
        "n_features": served.model.n_features,
        "digest": served.digest,
        "loaded": datetime.fromtimestamp(served.loaded, UTC).isoformat(timespec="milliseconds"),
        "problem": service.shelf.problems.get(name),
    }


def _json(value: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(value), status, media_type=JSON)


def _handle_failures(app: FastAPI) -> None:
    """Every failure is answered in the same form. Of defects the server's log tells more."""

    @app.exception_handler(RankforceError)
    async def refused(request: Request, error: RankforceError) -> Response:
        return problem_response(refusal_of(error))

    @app.exception_handler(HTTPException)
    async def no_such_path(request: Request, error: HTTPException) -> Response:
        kind = {404: "unknown-path", 405: "wrong-method"}.get(error.status_code, "refused")
        message = f"{error.detail}: /docs says what there is"
        return problem_response(RequestRefusal(error.status_code, kind, message, headers=error.headers))

    @app.exception_handler(ClientDisconnect)
    async def gone(request: Request, error: ClientDisconnect) -> Response:
        return Response(status_code=400)

    @app.exception_handler(Exception)
    async def defect(request: Request, error: Exception) -> Response:
        return problem_response(RequestRefusal(500, "defect", "an unexpected failure; the server's log says more"))
