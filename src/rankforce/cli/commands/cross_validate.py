"""``rankforce cross-validate``: what a ranker is worth on queries that it has not seen."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rankforce.cli import options, output


def cross_validate(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA",
            help="A folder with Fold1/train.txt, vali.txt, test.txt; or data: a file, several, a folder of them, or a "
            "quoted pattern.",
        ),
    ],
    folds: Annotated[int, typer.Option(metavar="N", help="Folds of whole queries, for a data file.")] = 5,
    validation_share: Annotated[
        float | None,
        typer.Option(metavar="X", help="Share of the training queries for early stopping.", show_default=False),
    ] = None,
    ranker: Annotated[str, typer.Option(metavar="NAME", help="Which ranker, for example lambdamart.")] = "lambdamart",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any setting of the ranker; repeatable.", show_default=False),
    ] = None,
    measure: options.Measures = None,
    ties: options.Ties = None,
    blank: options.Blank = None,
    convention: options.Convention = None,
    per_query: options.PerQuery = None,
    level: options.Level = 0.95,
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
    imports: options.Imports = None,
    read: options.Reading = None,
    categorical: options.Categorical = None,
    form: options.Format = "text",
    json: options.Json = False,
) -> None:
    """Cross-validate a ranker over whole queries.

    Each fold is ranked by a ranker that learned from the others; the values of all queries are pooled.
    """
    import rankforce as rf
    from rankforce.cli.clusters import cluster_client, learning_data
    from rankforce.cli.own_measures import import_measures
    from rankforce.cli.reading import note_origins, reading_options
    from rankforce.cli.settings import read_settings, said_by_options
    from rankforce.cli.writing import check_output, write_per_query
    from rankforce.data.fold_files import has_folds
    from rankforce.evaluation.request import Request
    from rankforce.rankers.catalogue import ranker_class

    check_output(per_query, *data)
    import_measures(imports or ())
    kind: Any = ranker_class(ranker)
    policies: dict[str, Any] = {"ties": ties, "blank": blank, "convention": convention, "level": level}
    Request.of(measure or options.USUAL_MEASURES, **policies)
    given = said_by_options(seed=seed, quiet=False, threads=threads)  # the bar is that of all folds
    model = kind(**({"seed": seed, "threads": threads} | read_settings(settings or (), kind, given)))
    documents: Any
    with cluster_client(cluster, workers, threads) as client:
        if client is None and len(data) == 1 and has_folds(data[0]):
            documents = rf.read_folds(data[0], on_read=note_origins, **reading_options(read, categorical))
        else:
            documents, _ = learning_data(client, model, data, None, read, categorical)
        result = rf.cross_validate(
            model,
            documents,
            measure or options.USUAL_MEASURES,
            folds=folds,
            seed=seed,
            validation_share=validation_share,
            progress=not quiet,
            **policies,
        )
    if per_query is not None:
        write_per_query(per_query, result.evaluation, fold=result.fold_of)
    if json:
        output.show_json(result.evaluation.to_dict() | {"folds": result.fold_means})
    else:
        output.show_result(result, form)
