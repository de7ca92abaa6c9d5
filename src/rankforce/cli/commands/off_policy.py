"""``rankforce off-policy``: would another ranking have had more clicks than the one in the log?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rankforce.cli import failures, options, output
from rankforce.displayed_text import displayed

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset


def off_policy(
    logs: Annotated[
        list[Path],
        typer.Argument(metavar="LOG", help="Session logs, CSV or Parquet: one row per document shown to a user."),
    ],
    data: Annotated[
        Path, typer.Option("--data", metavar="DATA", help="The queries and documents that are ranked, with their ids.")
    ],
    ranking: Annotated[
        list[str],
        typer.Option("--ranking", metavar="RANKING", help="What would be shown, repeatable: " + options.RANKING_HELP),
    ],
    propensities: Annotated[
        str,
        typer.Option(
            "--propensities",
            metavar="FILE|NUMBERS",
            help="How likely users look at each position: a file of rankforce propensities, or numbers from position 1 "
            "on, such as 1,0.5,0.33.",
        ),
    ],
    name: Annotated[
        list[str] | None,
        typer.Option(
            "--name", metavar="NAME", help="Of a ranking, in their order; repeat for all.", show_default=False
        ),
    ] = None,
    cutoff: Annotated[
        int | None,
        typer.Option(
            metavar="K", help="Places of a list whose clicks count.", show_default="all that have a propensity"
        ),
    ] = None,
    clip: Annotated[
        str, typer.Option(metavar="W|none", help="Larger weights are cut off in the estimators clipped and dr.")
    ] = "10",
    relevance: Annotated[
        str | None,
        typer.Option(
            metavar="RANKING|LABEL",
            help="Probabilities of a click at position 1, for the estimators dr and model: a label source, or "
            + options.RANKING_HELP,
            show_default="rates of the log",
        ),
    ] = None,
    smoothing: Annotated[
        float,
        typer.Option(
            metavar="N",
            help="Looks by which rates of the log are drawn to those of their query, and these to the log's.",
        ),
    ] = 10.0,
    resample: Annotated[
        Literal["session", "query"],
        typer.Option(metavar="session|query", help="What the bootstrap of the intervals draws."),
    ] = "session",
    resamples: Annotated[int, typer.Option(metavar="N", help="How often it does.")] = 1000,
    level: options.Level = 0.95,
    max_unsupported: Annotated[
        float,
        typer.Option(
            metavar="X", help="Refuse if more of the looks fall on documents that the log never showed for their query."
        ),
    ] = 0.1,
    require: Annotated[
        Literal["better", "not-worse"] | None,
        typer.Option(
            metavar="better|not-worse",
            help="Leave with exit code 1 unless the interval of the difference to production (dr) lies above 0 (or: is "
            "not below 0), for every ranking.",
            show_default=False,
        ),
    ] = None,
    ties: Annotated[
        Literal["stable", "hashed"],
        typer.Option(metavar="stable|hashed", help="Equal scores: in the order of rows, or of a hash."),
    ] = "stable",
    seed: options.Seed = 0,
    query_key: options.QueryKey = None,
    column: options.LogColumns = None,
    read: options.Reading = None,
    form: options.Format = "text",
    json: options.Json = False,
) -> None:
    """Estimate the clicks that another ranking would have had.

    A click in the log counts as much as users would look at its document in the new ranking, over how much they did in
    the old one. Compared with the clicks that there were; by several estimators, with intervals, and with what the log
    cannot tell, because it never showed it.
    """
    import rankforce as rf
    from rankforce.cli.commands.clicks import LIST_ROLES, log_columns
    from rankforce.cli.commands.compare import titles_of
    from rankforce.cli.reading import read_data

    columns = log_columns(column, LIST_ROLES)
    known = _propensities(propensities)
    names = titles_of(ranking, name)
    documents = read_data(data, read)
    rankings = {title: _ranking(text, documents) for title, text in zip(names, ranking, strict=True)}
    found = rf.off_policy(
        logs,
        rankings,
        documents,
        known,
        cutoff=cutoff,
        clip=_clip(clip),
        relevance=relevance if relevance is None or relevance in documents.labels else _ranking(relevance, documents),
        smoothing=smoothing,
        resample=resample,
        resamples=resamples,
        level=level,
        max_unsupported=max_unsupported,
        ties=ties,
        seed=seed,
        query_key=query_key,
        **columns,
    )
    if json:
        output.show_json({"logs": [str(log) for log in logs], "data": str(data)} | found.to_dict())
    else:
        output.show_result(found, form)
    for title in names if require is not None else ():
        interval = found.differences[title, "dr"].interval
        if not (interval.low > 0.0 if require == "better" else interval.high >= 0.0):  # NaN is neither
            words = "is not better than production" if require == "better" else "is worse than production"
            output.note(f"{title} {words}, or there is too little to tell: --require {require}")
            raise typer.Exit(failures.NEGATIVE_VERDICT)


def _propensities(written: str) -> Any:
    import rankforce as rf
    from rankforce.kinds import Number, Several

    if Path(written).exists():
        return rf.Propensities.read(written)
    kind = Several(Number(), "a file of rankforce propensities, or numbers such as 1,0.5,0.33")
    return rf.Propensities(kind.read_checked(written, "propensities", f"--propensities {displayed(written)}"))


def _clip(written: str) -> float | None:
    from rankforce.kinds import Number, OrNone

    value = OrNone(Number(0.0, above=True)).read_checked(written, "clip", f"--clip {displayed(written)}")
    return None if value is None else float(value)


def _ranking(written: str, data: Dataset) -> Any:
    """A ranking as ``rf.off_policy`` takes it; a TREC run is not joined with judgments."""
    import rankforce as rf
    from rankforce.cli.rankings import kind_and_name, read_ranking

    kind, what = kind_and_name(written, data)
    return rf.read_run(what) if kind == "run" else read_ranking(written, data).scores
