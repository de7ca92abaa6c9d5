"""``rankforce importance``: what a measure loses without each feature of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankforce.cli import options, output


def importance(
    model: Annotated[Path, typer.Argument(metavar="MODEL.json", help="A model file.")],
    data: Annotated[str, typer.Argument(metavar="DATA", help="Data with labels that the model was not trained on.")],
    measure: Annotated[
        str, typer.Option("--measure", "-m", metavar="MEASURE", help="What is lost, for example NDCG@10.")
    ] = "NDCG@10",
    feature: Annotated[
        list[str] | None,
        typer.Option("--feature", metavar="NAME", help="Only this feature; repeatable.", show_default="all"),
    ] = None,
    permutations: Annotated[
        int, typer.Option("--permutations", metavar="N", help="How often the values of a feature are dealt anew.")
    ] = 5,
    ties: Annotated[str, typer.Option("--ties", metavar="POLICY", help="Equal scores, as for evaluate.")] = "expected",
    blank: options.Blank = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    imports: options.Imports = None,
    read: options.Reading = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Say what a measure loses without each feature.

    Permuted: the values of the feature are dealt anew among the documents of each query. Removed: the feature is taken
    out of the model; at its splits in trees a document goes both ways, as the training documents did. Intervals are
    over the queries.
    """
    import rankforce as rf
    from rankforce.cli.misplaced_files import load_model
    from rankforce.cli.own_measures import import_measures
    from rankforce.cli.reading import read_data

    import_measures(imports or ())
    rf.measure(measure)
    loaded = load_model(model)
    result = rf.importance(
        loaded,
        read_data(data, read, like=loaded),
        measure,
        features=feature or None,
        permutations=permutations,
        ties=ties,
        blank=blank,
        level=level,
        seed=seed,
        threads=threads,
        progress=not quiet,
    )
    if json:
        output.show_json({"model": str(model), "data": data} | result.to_dict())
    else:
        output.show(str(result))
