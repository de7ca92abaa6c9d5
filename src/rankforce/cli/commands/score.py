"""``rankforce score``: the scores of a model, as a list, as a table or as a TREC run."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from rankforce.cli import options, output
from rankforce.console.wording import counted


def score(
    model: Annotated[Path, typer.Argument(metavar="MODEL.json", help="A model file.")],
    data: Annotated[list[str], typer.Argument(metavar="DATA", help=options.FILES_HELP)],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where to write.", show_default="standard output")
    ] = None,
    form: Annotated[
        Literal["scores", "csv", "parquet", "trec"] | None,
        typer.Option(
            "--format",
            metavar="scores|csv|parquet|trec",
            help="Scores row by row, or query, document, rank and score by rank.",
            show_default="by the ending of --out: .csv, .tsv, .parquet, .run, else scores",
        ),
    ] = None,
    tag: Annotated[
        str | None,
        typer.Option("--tag", metavar="NAME", help="Write a TREC run with this tag.", show_default=False),
    ] = None,
    trees: Annotated[
        int | None, typer.Option(metavar="N", help="Use the first N trees only.", show_default="all")
    ] = None,
    read: options.Reading = None,
    json: options.Json = False,
) -> None:
    """Score documents with a model.

    One score per line, in the order of the rows; or, as CSV, Parquet or a TREC run, query, document, rank and score:
    queries in the order of the data, documents by falling score, equal scores in the order of the rows. Without
    document ids CSV and Parquet give rows, counted from 0; a TREC run needs ids. A table needs queries only where they
    are written.
    """
    import rankforce as rf
    from rankforce.cli import ranking_files
    from rankforce.cli.misplaced_files import load_model
    from rankforce.cli.reading import read_data
    from rankforce.cli.writing import check_output
    from rankforce.data.found_files import together
    from rankforce.data.trec import names_in_run
    from rankforce.drifting.unseen_values import unseen_values

    check_output(out, model, *data)
    chosen = ranking_files.form_of(out, form, tag)
    if json and out is None and chosen != ranking_files.SCORES:
        raise rf.SettingsError(
            f"--json gives scores, --format {chosen} a table: leave one of the two out, or give --out"
        )
    tag = ranking_files.TAG if tag is None else tag
    scorer = load_model(model)
    documents = read_data(data, read, like=scorer, queries=chosen != ranking_files.SCORES)
    prediction_options: dict[str, Any] = {} if trees is None else {"n_trees": trees}
    if prediction_options and "n_trees" not in inspect.signature(scorer.predict).parameters:
        raise rf.SettingsError(f"{scorer!r} is no sum of trees: leave --trees out")
    if chosen == ranking_files.TREC:
        names_in_run(documents, tag)  # before the work: what cannot be named is refused
    scores = scorer.predict(documents, **prediction_options)
    stored = documents.bins is not None  # without values that could be compared with those of the training
    unseen = None if stored else unseen_values(scorer, scorer.matrix(documents))
    if unseen is not None and unseen.many:
        output.note(f"{unseen}; rankforce inspect {model} {together(data)} says more")
    if out is not None:
        ranking_files.write_ranking(documents, scores, out, chosen, tag)
    if json:
        output.show_json({"model": str(model), "documents": len(scores), "out": None if out is None else str(out)}
                         | ({"scores": scores} if out is None else {"format": chosen}))  # fmt: skip
    elif out is None and chosen == ranking_files.CSV:
        output.write_line(ranking_files.csv_text(documents, scores))
    elif out is None:
        output.write_line("\n".join(map(repr, scores.tolist())))
    else:
        output.show(f"{out}: {counted(len(scores), 'score')}")
