"""``rankforce serve``: models behind an HTTP port."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from rankforce.cli import output

NEEDED = ("fastapi", "uvicorn", "prometheus_client", "orjson")


def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL.json",
            help="Model files, each perhaps as NAME=FILE; the first is the default. Without a name a model has that of "
            "its file.",
        ),
    ],
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", help="The port; 0 takes one that is free and says which.")] = 8000,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with the bearer token that requests must bring.",
            show_default="the variable RANKFORCE_TOKEN, if it is set",
        ),
    ] = None,
    allow_without_token: Annotated[
        bool, typer.Option("--allow-without-token", help="Answer everyone, also from other machines.")
    ] = False,
    max_megabytes: Annotated[float, typer.Option(metavar="X", help="Longest body, in megabytes.")] = 32.0,
    max_rows: Annotated[int, typer.Option(metavar="N", help="Most documents of a request.")] = 10_000,
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", help="Longest time for a request, waiting included.")
    ] = 10.0,
    max_requests: Annotated[
        int, typer.Option(metavar="N", help="Most requests at once; more are told to try again.")
    ] = 64,
    threads: Annotated[
        int | None, typer.Option("--threads", metavar="N", help="Threads that score.", show_default="all cores")
    ] = None,
    watch: Annotated[
        float, typer.Option(metavar="SECONDS", help="How often to look for replaced model files; 0: never.")
    ] = 1.0,
    ignore_unknown: Annotated[
        bool, typer.Option("--ignore-unknown", help="Take queries with features that a model does not read.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also answer /explain: what each feature contributes.")
    ] = False,
) -> None:
    """Serve models over HTTP: a query in, scores and order out.

    A model file that is replaced is loaded while the old model serves, and exchanged without dropping a request; a
    damaged one is not. SIGTERM answers what runs and stops. See docs/serving.md for requests.
    """
    from rankforce.errors import missing_dependency

    for package in NEEDED:
        if importlib.util.find_spec(package) is None:
            raise missing_dependency(package.replace("_", "-"), "serve", "rankforce serve")
    from rankforce.serving import server
    from rankforce.serving.access import read_token
    from rankforce.serving.limits import ServingLimits

    server.serve(
        models,
        host=host,
        port=port,
        token=read_token(token_file),
        allow_without_token=allow_without_token,
        report=output.note,
        limits=ServingLimits(megabytes=max_megabytes, rows=max_rows, seconds=time_limit, requests=max_requests),
        threads=threads,
        watch_seconds=watch,
        ignore_unknown=ignore_unknown,
        explaining=explain,
    )
