"""``rankforce report``: everything about a model on data, in one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rankforce.cli import options, output


def report(
    model: Annotated[Path, typer.Argument(metavar="MODEL.json", help="A model file.")],
    data: Annotated[str, typer.Argument(metavar="DATA", help="Data that the model was not trained on.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="OUT.html", help="The file to write.")] = Path(
        "report.html"
    ),
    baseline: Annotated[
        list[str] | None,
        typer.Option(
            "--baseline",
            metavar="RANKING",
            help="What to compare with: " + options.RANKING_HELP + " NAME=RANKING names it in the page; repeatable.",
            show_default=False,
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="MEASURE",
            help="What to measure; repeat for several.",
            show_default="what the training watched, and NDCG@10",
        ),
    ] = None,
    segments: options.Segments = None,
    train: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Training data, of a model that keeps no distribution of it.", show_default=False
        ),
    ] = None,
    queries: Annotated[
        str,
        typer.Option(
            "--queries",
            metavar="N|ID,...",
            help="How many queries are shown with their documents, or which ones.",
        ),
    ] = "20",
    query_texts: Annotated[
        Path | None,
        typer.Option(
            "--query-texts", metavar="FILE", help="Texts: an id, a tab and a text per line.", show_default=False
        ),
    ] = None,
    document_texts: Annotated[
        Path | None,
        typer.Option("--document-texts", metavar="FILE", help="The same for documents.", show_default=False),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="Of the model in the page.", show_default="the name of its file"),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Of the page.", show_default=False)] = None,
    ties: options.Ties = None,
    blank: options.Blank = None,
    convention: options.Convention = None,
    level: options.Level = 0.95,
    sample: Annotated[
        int, typer.Option(metavar="N", help="Documents of whole queries that features are looked at on.")
    ] = 4000,
    permutations: Annotated[
        int, typer.Option("--permutations", metavar="N", help="How often the values of a feature are dealt anew.")
    ] = 3,
    seed: options.Seed = 0,
    threads: options.Threads = None,
    imports: options.Imports = None,
    read: options.Reading = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Write one HTML file about a model on data.

    Measures with intervals, the comparison with baselines, queries with their documents and why they are ranked so,
    features, scores, the training, the data and its drift. The file needs no network. --json also prints what is in it.
    """
    import rankforce as rf
    from rankforce.cli.features_of_models import known_features
    from rankforce.cli.misplaced_files import load_model
    from rankforce.cli.own_measures import import_measures
    from rankforce.cli.reading import read_data
    from rankforce.cli.report_inputs import read_baselines, read_texts, wanted_queries
    from rankforce.cli.segments import read_segments
    from rankforce.cli.writing import check_output

    check_output(out, model, data, segments, train, query_texts, document_texts, *(baseline or ()))
    import_measures(imports or ())
    loaded = load_model(model)
    models = known_features([str(model), *(one.rpartition("=")[2] for one in baseline or ())])
    documents = read_data(data, read, like=models or loaded)
    made: Any = rf.report(
        loaded,
        documents,
        path=out,
        baselines=read_baselines(baseline or [], documents),
        measures=measure or None,
        segments=None if segments is None else read_segments(segments, documents),
        train=None if train is None else read_data(train, read, like=loaded),
        queries=wanted_queries(queries, documents),
        query_texts=read_texts(query_texts),
        document_texts=read_texts(document_texts),
        name=name or model.name.partition(".")[0] or "model",
        title=title,
        ties=ties,
        blank=blank,
        convention=convention,
        level=level,
        sample=sample,
        permutations=permutations,
        seed=seed,
        threads=threads,
        progress=not quiet,
    )
    if json:
        output.show_json({"file": str(out)} | made.to_dict())
    else:
        output.show(str(made))
