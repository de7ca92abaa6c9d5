"""``rankforce tune``: the best settings of a ranker, and the ranker."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rankforce.cli import options, output
from rankforce.cli.failures import INTERRUPTED

if TYPE_CHECKING:
    from rankforce.tuning.tuning_result import Tuning


def tune(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="TRAIN",
            help="Training data: LETOR text, Parquet or CSV; a file, several, a folder of them, or a quoted pattern.",
        ),
    ],
    tried: Annotated[
        list[str] | None,
        typer.Option(
            "--try",
            metavar="NAME=VALUES",
            help="What to try: learning_rate=0.05,0.1,0.2 or n_leaves=8..64 or l2=0.1..10,log; repeatable.",
            show_default=False,
        ),
    ] = None,
    space: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.toml",
            help="What to try, as TOML: lists, and ranges as tables with low, high and log.",
            show_default=False,
        ),
    ] = None,
    validation: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Validation data that decides; without it, folds do.", show_default=False),
    ] = None,
    folds: Annotated[int, typer.Option(metavar="N", help="Folds of whole queries.")] = 5,
    validation_share: Annotated[
        float | None,
        typer.Option(metavar="X", help="Share of each fold's training queries for early stopping.", show_default=False),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option("--measure", "-m", metavar="MEASURE", help="What decides.", show_default="what is maximised"),
    ] = None,
    method: Annotated[
        Literal["random", "grid", "optuna"],
        typer.Option(metavar="random|grid|optuna", help="Draws, all combinations, or Optuna."),
    ] = "random",
    trials: Annotated[
        int | None, typer.Option(metavar="N", help="How many trials.", show_default="20, or all of a grid")
    ] = None,
    journal: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep finished trials here and go on after them.", show_default=False),
    ] = None,
    processes: Annotated[
        int, typer.Option(metavar="N", help="So many trials at once, by processes that share a store.", min=1, max=256)
    ] = 1,
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="MODEL.json", help="Write the best model here.", show_default=False),
    ] = None,
    refit: options.Refit = False,
    ranker: Annotated[str, typer.Option(metavar="NAME", help="Which ranker, for example lambdamart.")] = "lambdamart",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting that is not searched.", show_default=False),
    ] = None,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
    imports: options.Imports = None,
    read: options.Reading = None,
    categorical: options.Categorical = None,
    form: options.Format = "text",
    json: options.Json = False,
) -> None:
    """Search for the best settings of a ranker.

    Each trial is valued by a measure on validation data, or by a cross-validation over whole queries. With a journal
    an interrupted search goes on where it was. Ctrl-C ends it after the current trial: what is best until then is shown
    and written, and the command leaves with 130.
    """
    import rankforce as rf
    from rankforce.cli.clusters import cluster_client, learning_data, refuse_on_cluster
    from rankforce.cli.own_measures import import_measures
    from rankforce.cli.search_space import read_space
    from rankforce.cli.settings import read_settings, said_by_options
    from rankforce.cli.writing import check_output
    from rankforce.rankers.catalogue import ranker_class

    check_output(out, *data, validation, space, journal)
    check_output(journal, *data, validation, space)
    if refit and (out is None or (validation is None and validation_share is None)):
        raise rf.SettingsError(
            "--refit goes with --out FILE and with --validation or --validation-share: without data held out, the "
            "model learns from all of it already"
        )
    import_measures(imports or ())
    kind: Any = ranker_class(ranker)
    settled = read_settings(settings or (), kind, said_by_options(seed=seed, quiet=quiet, threads=threads))
    base = kind(**{"seed": seed, "threads": threads, "progress": not quiet, **settled})
    search_space = read_space(tried or (), space, kind)
    with cluster_client(cluster, workers, threads) as client:
        refuse_on_cluster(client, refit=refit)
        documents, held_out = learning_data(client, base, data, validation, read, categorical)
        result = rf.tune(
            base,
            documents,
            search_space,
            validation=held_out,
            folds=folds,
            validation_share=validation_share,
            measure=measure,
            method=method,
            trials=trials,
            seed=seed,
            journal=journal,
            processes=processes,
            refit=out is not None,
            progress=not quiet,
        )
    if refit and not result.ranker.interrupted_:
        result = dataclasses.replace(result, ranker=result.refit(*filter(None, (documents, held_out))))
    if out is not None:
        result.ranker.save(out)
    interrupted = bool(result.interrupted) or (out is not None and result.ranker.interrupted_)
    _show_outcome(result, kind, out, form, interrupted=interrupted, json=json)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _show_outcome(result: Tuning, kind: Any, out: Path | None, form: Any, *, interrupted: bool, json: bool) -> None:
    again = out is not None and "refit" in result.ranker.model_.provenance.settings
    if json:
        output.show_json(
            {
                "settings": result.settings,
                "measure": str(result.measure),
                "value": result.value,
                "model": None if out is None else str(out),
                "refit": again,
                "interrupted": interrupted,
                "trials": [trial.record() for trial in result.trials],
            }
        )
        return
    output.show_result(result, form)
    if form == "text":
        output.show("", f"best: {_typed(result.settings)}; {result.measure} {result.value:.4f}")
    if out is not None:
        told = ", fitted again on all data" if again else ""
        if result.ranker.interrupted_:
            told += f", interrupted {result.ranker.model_.provenance.interrupted}"
        output.show(f"{out}: {kind.__name__} with these settings{told}")


def _typed(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items())
