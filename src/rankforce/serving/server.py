"""The service on a port: bound, announced, and ended without dropping what runs."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn

from rankforce.errors import SettingsError
from rankforce.kinds import Number, Whole
from rankforce.serving.access import AccessRule, check_binding
from rankforce.serving.application import Service, build
from rankforce.serving.explanations import warm_explanations
from rankforce.serving.limits import ServingLimits
from rankforce.serving.loading import load_apart
from rankforce.serving.metrics import ServingMetrics
from rankforce.serving.model_files import model_files
from rankforce.serving.scoring_pool import ScoringPool
from rankforce.serving.served_models import ModelShelf
from rankforce.threads import THREADS, default_threads

# How long a thread that works may let the event loop wait for the interpreter. Python's 5 ms are more than a request.
_SWITCH_SECONDS = 0.0005
_BACKLOG = 2048  # connections that wait to be accepted
_KEEP_ALIVE = 75  # seconds; longer than proxies and clients keep a connection that they may use again


def make_service(
    files: dict[str, Path],
    *,
    token: str | None = None,
    allow_without_token: bool = False,
    limits: ServingLimits | None = None,
    threads: int | None = None,
    watch_seconds: float = 1.0,
    ignore_unknown: bool = False,
    explaining: bool = False,
    alone: bool = False,
    report: Callable[[str], None] = lambda message: None,
) -> Service:
    """A service with its models loaded. What is impossible is refused here.

    With ``alone`` the process is the service's own: models are loaded again in another process, and what was there at
    the start is kept from the garbage collector.
    """
    Number(0, 86_400).check("watch", watch_seconds)
    if threads is not None:
        THREADS.check("threads", threads)
    metrics = ServingMetrics()
    shelf = ModelShelf(files, metrics, report, load_apart if alone else None, warm_explanations if explaining else None)
    shelf.load_all()
    return Service(
        shelf=shelf,
        metrics=metrics,
        pool=ScoringPool(threads or default_threads(), limits or ServingLimits(), metrics),
        access=AccessRule.of(token, allow_without_token),
        ignore_unknown=ignore_unknown,
        watch_seconds=watch_seconds,
        explaining=explaining,
        alone=alone,
        report=report,
    )


def serve(
    models: list[str],
    *,
    host: str,
    port: int,
    token: str | None,
    allow_without_token: bool,
    report: Callable[[str], None],
    **options: Any,
) -> None:
    """Serve until SIGTERM or SIGINT; requests that run are then answered. ``options`` are those of ``make_service``."""
    check_binding(host, token, allow_without_token)
    Whole(0, 65_535).check("port", port)
    files = model_files(models)
    with bound(host, port) as listening:
        service = make_service(
            files, token=token, allow_without_token=allow_without_token, alone=True, report=report, **options
        )
        where = f"[{host}]" if ":" in host else host
        report(f"serving {', '.join(files)} on http://{where}:{listening.getsockname()[1]}")
        config = uvicorn.Config(
            build(service),
            log_level="error",
            access_log=False,
            server_header=False,
            lifespan="on",
            ws="none",
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=int(service.limits.seconds) + 2,
        )
        switching = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_SECONDS)
        # uvicorn raises the signal that ended it once more, for whoever waited for it before: nobody did
        before = signal.signal(signal.SIGTERM, lambda *_: None)
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            signal.signal(signal.SIGTERM, before)
            sys.setswitchinterval(switching)
    report("stopped")


def bound(host: str, port: int) -> socket.socket:
    """A listening socket."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches off Nagle's algorithm only where a socket says that it is TCP: else answers take 40 ms longer
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(_BACKLOG)
        return listening
    except (OSError, UnicodeError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or error
        raise SettingsError(f"{host}:{port} cannot be listened to: {reason}; choose another --port or --host") from None
