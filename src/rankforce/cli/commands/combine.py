"""``rankforce combine``: the weights of rankers that are best for a measure, and the curve they were found on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from rankforce.cli import options, output


def combine(
    data: Annotated[str, typer.Argument(metavar="DATA", help=options.DATA_HELP)],
    rankings: Annotated[list[str], typer.Argument(metavar="RANKING", help="Two or more, each " + options.RANKING_HELP)],
    measure: Annotated[
        str, typer.Option("--measure", "-m", metavar="MEASURE", help="What the combination is to be best for.")
    ] = "NDCG@10",
    method: Annotated[
        Literal["sweep", "net"],
        typer.Option(metavar="sweep|net", help="The exact sweep, or a LambdaRank net on the scores, for comparison."),
    ] = "sweep",
    hidden: Annotated[int, typer.Option(metavar="N", help="Hidden units of the net; 0 is linear.")] = 0,
    search: Annotated[
        Literal["mixture", "beyond", "all"],
        typer.Option(
            metavar="mixture|beyond|all",
            help="(1 - a) s + a t with a from 0 to 1; with any a >= 0; cos(b) s + sin(b) t with any angle b.",
        ),
    ] = "mixture",
    validation: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="Test the combination against the best single ranking on this data (models and features only).",
            show_default=False,
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            help="Test it on K parts of the queries, each with weights chosen on the others.",
            show_default=False,
        ),
    ] = None,
    blank: options.Blank = None,
    unretrieved: Annotated[
        Literal["raise", "lowest"],
        typer.Option(
            metavar="raise|lowest",
            help="Documents that a run lacks: an error, or its lowest score of the query.",
        ),
    ] = "raise",
    missing_queries: options.MissingQueries = "zero",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="MODEL.json", help="Write the combined model.", show_default=False),
    ] = None,
    run: Annotated[
        Path | None, typer.Option("--run", metavar="FILE", help="Write the combined TREC run.", show_default=False)
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE.png", help="Draw the curve (needs matplotlib).", show_default=False),
    ] = None,
    imports: options.Imports = None,
    read: options.Reading = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Find the weights of rankings that are best for a measure.

    For two rankings it is the global optimum over all weights. Chosen and measured on the same queries it flatters:
    --validation or --folds say whether it is really better than the best single ranking.
    """
    import rankforce as rf
    from rankforce.cli.joint_rankings import note_unretrieved, read_joint_rankings
    from rankforce.cli.own_measures import import_measures
    from rankforce.cli.rankings import read_judgments
    from rankforce.cli.writing import check_output
    from rankforce.console.figures import check_picture
    from rankforce.data.trec import names_in_run

    if len(rankings) < 2:
        raise rf.SettingsError(f"one ranking is nothing to combine: name another after {rankings[0]}")
    for target in (out, run, plot):
        check_output(target, data, validation, *rankings)
    if plot is not None:
        check_picture(plot)
        if method == "net":
            raise rf.SettingsError("--plot draws the curve of a sweep, and a net has none: leave --plot out")
    import_measures(imports or ())
    rf.measure(measure)
    documents, members = read_joint_rankings(rankings, read_judgments(data, read, rankings), missing_queries)
    if unretrieved == "lowest":
        note_unretrieved(rankings, members)
    if out is not None:
        _check_model(rankings, members)
    if run is not None:
        names_in_run(documents, "combination")  # before the work: what cannot be named is refused
    held_out = None
    if validation is not None:
        held_out = read_judgments(validation, read, rankings)
        if not isinstance(held_out, rf.Dataset):
            raise rf.SettingsError(f"{validation}: TREC judgments have no features to rank by: use --folds")
    result = rf.combine(
        members,
        documents,
        measure,
        method=method,
        search=search,
        hidden=hidden,
        validation=held_out,
        folds=folds,
        blank=blank or "skip",
        unretrieved=unretrieved,
        names=rankings,
        seed=seed,
    )
    if out is not None:
        result.model.save(out)
    if run is not None:
        rf.write_run(documents, result.scores, run, tag="combination")
    if plot is not None:
        title = " against ".join(reversed(rankings)) if len(rankings) == 2 else f"{rankings[0]} against the others"
        result.curve.plot(plot, mark=result.place, title=title, label=measure)
    if json:
        output.show_json({"data": data} | result.to_dict())
        return
    output.show(str(result))
    if len(result.curves) == 1:
        output.show("", result.curve.picture())
    for path in (out, run, plot):
        if path is not None:
            output.note(f"{path} written")


def _check_model(rankings: list[str], members: list[Any]) -> None:
    """Raise if the combination of these would be no model: it needs what scores any document."""
    from rankforce.errors import SettingsError

    for name, member in zip(rankings, members, strict=True):
        if hasattr(member, "shape"):
            raise SettingsError(
                f"{name} gives scores of these documents only: a combination with it is no model. Leave --out out; "
                "--run FILE writes the combined run"
            )
