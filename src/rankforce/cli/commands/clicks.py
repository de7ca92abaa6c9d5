"""``rankforce clicks``: labels from what users clicked."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from rankforce.cli import options, output
from rankforce.console.wording import counted


def clicks(
    logs: Annotated[
        list[Path],
        typer.Argument(metavar="LOG", help="Session logs, CSV or Parquet: one row per document shown to a user."),
    ],
    table: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT",
            help="Write one row per query and document: counts and rates (.csv, .parquet).",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="DATA", help="A data file with document ids to join the labels to.", show_default=False),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(metavar="OUT", help="Where to write DATA with its new label source.", show_default=False),
    ] = None,
    name: Annotated[str, typer.Option(metavar="NAME", help="The name of the new label source.")] = "clicks",
    rate: Annotated[
        Literal["last-click", "click"],
        typer.Option(metavar="last-click|click", help="The label: share of last clicks, or of clicks."),
    ] = "last-click",
    last_of: Annotated[
        Literal["query", "session"],
        typer.Option(metavar="query|session", help="Whose last click counts: each query's, or the whole session's."),
    ] = "query",
    query_key: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Queries with the same value here are one query.", show_default=False),
    ] = None,
    smoothing: Annotated[
        float, typer.Option(metavar="N", help="Imaginary impressions at the prior mean, for documents rarely shown.")
    ] = 0.0,
    prior: Annotated[
        str, typer.Option(metavar="query|global|RATE", help="The mean that smoothing draws to.")
    ] = "query",
    smooth_zeros: Annotated[
        bool, typer.Option("--smooth-zeros", help="Smooth what was never clicked, too; else it stays 0.")
    ] = False,
    min_impressions: Annotated[int, typer.Option(metavar="N", help="Documents shown less often are unlabelled.")] = 1,
    propensities: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="How likely users look at each position (rankforce propensities): labels are clicks per look.",
            show_default=False,
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=COLUMN",
            help="The column for session, query, document, position, clicked or time, if called otherwise; repeatable.",
            show_default=False,
        ),
    ] = None,
    sorted_by_session: Annotated[
        bool,
        typer.Option("--sorted-by-session", help="The rows of a session are adjacent: less memory. It is checked."),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    read: options.Reading = None,
    write: options.Writing = None,
    json: options.Json = False,
) -> None:
    """Make labels from session logs.

    A log has the columns session, query, document, clicked (0 or 1), and position (1 is the top) or time. Of each
    document's impressions under a query, the share is taken on which it was clicked last in the session: a user who
    stops has found something. Documents never shown stay unlabelled. Logs larger than memory are read in chunks.
    """
    import rankforce as rf
    from rankforce.cli.reading import read_data
    from rankforce.cli.writing import check_output, write_data
    from rankforce.data.files import table_path
    from rankforce.errors import SettingsError

    if (data is None) != (into is None):
        raise SettingsError("--data DATA --into OUT go together: the data that gets the labels, and where to write it")
    if table is not None:
        table_path(table)  # before the log is read, which may take long
    for target in (table, into):
        check_output(target, data, *logs, force=force)
    documents = None if data is None else read_data(data, read)  # a mistake here is found at once
    if documents is not None and name in documents.labels:
        raise SettingsError(
            f"--name {name}: {data} has a label source of that name already, which would be lost; give the new one "
            f"another name: --name {_free_name(name, documents.labels)}"
        )
    labels = rf.click_labels(
        logs,
        rate.replace("-", "_"),
        query_key=query_key,
        last_of=last_of,
        smoothing=smoothing,
        prior=_prior(prior),
        smooth_zeros=smooth_zeros,
        min_impressions=min_impressions,
        propensities=None if propensities is None else rf.Propensities.read(propensities),
        sorted_by_session=sorted_by_session,
        **log_columns(column),
    )
    report: dict[str, Any] = {"logs": [str(log) for log in logs], **labels.to_dict()}
    words = [str(labels)]
    if table is not None:
        labels.write(table)
        report["table"] = str(table)
        words.append(f"{table}: {counted(len(labels), 'row')}")
    if documents is not None and into is not None:
        values = labels.for_data(documents)
        write_data(documents.with_label(name, values), into, write)
        count = int((values == values).sum())
        report |= {
            "data": str(data),
            "into": str(into),
            "labelled_documents": count,
            "data_documents": documents.n_documents,
        }
        words.append(f"{into}: label source {name!r} on {count:,} of {counted(documents.n_documents, 'document')}")
    if json:
        output.show_json(report)
    else:
        output.show("\n".join(words))


def _free_name(name: str, taken: Collection[str]) -> str:
    return next(one for number in itertools.count(2) if (one := f"{name}_{number}") not in taken)


def _prior(written: str) -> str | float:
    from rankforce.kinds import Choice, Either, Number

    prior = Either((Choice(("query", "global")), Number(0.0, 1.0)))
    return prior.read_checked(written, "prior", f"--prior {written}")


def log_columns(written: list[str] | None) -> dict[str, Any]:
    """Role → column of a log, as typed."""
    from rankforce.data.clicks.session_logs import COLUMN_NAMES
    from rankforce.errors import SettingsError

    columns = {}
    for one in written or ():
        role, equals, name = one.partition("=")
        if not equals or role not in COLUMN_NAMES:
            raise SettingsError(f"--column {one}: write ROLE=COLUMN, the role being one of {', '.join(COLUMN_NAMES)}")
        columns[role] = name
    return columns
