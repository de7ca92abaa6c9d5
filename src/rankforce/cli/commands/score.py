"""``rankforce score``: the scores of a model, as a list or as a TREC run."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

from rankforce.cli import options, output
from rankforce.console.wording import counted


def score(
    model: Annotated[Path, typer.Argument(metavar="MODEL.json", help="A model file.")],
    data: Annotated[str, typer.Argument(metavar="DATA", help="Data file: LETOR text, Parquet or CSV.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where to write.", show_default="standard output")
    ] = None,
    run: Annotated[
        str | None,
        typer.Option("--run", metavar="NAME", help="Write a TREC run with this tag instead.", show_default=False),
    ] = None,
    trees: Annotated[
        int | None, typer.Option(metavar="N", help="Use the first N trees only.", show_default="all")
    ] = None,
    read: options.Reading = None,
    json: options.Json = False,
) -> None:
    """Score documents with a model.

    One score per line, in the order of the rows; with --run a TREC run, for which the data needs document ids.
    """
    import rankforce as rf
    from rankforce.cli.reading import read_data
    from rankforce.cli.writing import check_output
    from rankforce.data.trec import names_in_run
    from rankforce.files.atomic_writes import atomic_write

    check_output(out, model, data)
    if run is not None and out is None:
        raise rf.SettingsError("--run needs --out FILE")
    scorer = rf.load(model)
    documents = read_data(data, read, like=scorer)
    prediction_options: dict[str, Any] = {} if trees is None else {"n_trees": trees}
    if prediction_options and "n_trees" not in inspect.signature(scorer.predict).parameters:
        raise rf.SettingsError(f"{scorer!r} is no sum of trees: leave --trees out")
    if run is not None:
        names_in_run(documents, run)  # before the work: what cannot be named is refused
    scores = scorer.predict(documents, **prediction_options)
    if run is not None and out is not None:
        rf.write_run(documents, scores, out, tag=run)
    elif out is not None:
        with atomic_write(out) as file:
            file.writelines(f"{value!r}\n".encode() for value in scores.tolist())
    if json:
        output.show_json({"model": str(model), "documents": len(scores), "out": None if out is None else str(out)}
                         | ({"scores": scores} if out is None else {}))  # fmt: skip
    elif out is None:
        output.write_line("\n".join(map(repr, scores.tolist())))
    else:
        output.show(f"{out}: {counted(len(scores), 'score')}")
