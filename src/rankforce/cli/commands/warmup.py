"""``rankforce warmup``: compile the kernels now, not during the first training."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from rankforce.cli import options, output

TRAINED_FOR = ("NDCG@10", "MAP")


def warmup(
    measure: options.Measures = None,
    ranker: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="lambdamart, lambdarank or ranknet; repeatable.", show_default="lambdamart"),
    ] = None,
    for_workers: Annotated[
        bool, typer.Option("--for-workers", help="Also what the workers of a cluster need to train together.")
    ] = False,
    imports: options.Imports = None,
    json: options.Json = False,
) -> None:
    """Compile what training, scoring and evaluating need.

    That is, what a ranker with its default settings calls, for every measure given; with none given, training for NDCG
    and MAP, every built-in measure, explanations and drift. Later processes load the compiled code, those of other
    users too if it can be written beside the package. Useful when an image is built, and before many processes start
    at once. With --for-workers also for the workers of a cluster.
    """
    import rankforce as rf
    from rankforce.cli.own_measures import import_measures
    from rankforce.cli.warm_up import every_measure, warm_up, warm_up_workers

    import_measures(imports or ())
    begin = time.perf_counter()
    measures = [rf.measure(text) for text in measure or TRAINED_FOR]
    kernels = warm_up(measures, ranker or ["lambdamart"], [] if measure else every_measure())
    if for_workers:
        kernels = warm_up_workers(measures)
    seconds = time.perf_counter() - begin
    if json:
        output.show_json({"kernels": [kernel.name for kernel in kernels], "seconds": seconds})
    else:
        output.show(f"{len(kernels)} kernels ready after {seconds:.1f} s")
