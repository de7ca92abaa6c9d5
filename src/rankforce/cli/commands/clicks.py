"""``rankforce clicks``: labels from what users clicked."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rankforce.cli import options, output
from rankforce.console.wording import counted

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset

LIST_ROLES = ("session", "query", "document", "position", "clicked")  # of commands that need no time


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
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="OUT", help="Where to write DATA with its new label source.", show_default=False
        ),
    ] = None,
    label: Annotated[str, typer.Option(metavar="NAME", help="The name of the new label source.")] = "clicks",
    rate: Annotated[
        Literal["last-click", "click", "satisfied-click", "dwell", "median-dwell"],
        typer.Option(
            metavar="last-click|click|satisfied-click|dwell|median-dwell",
            help="The label: share of last clicks, of clicks, or of clicks after which users stayed; or mean or median "
            "of the logarithm of how long they stayed.",
        ),
    ] = "last-click",
    last_of: Annotated[
        Literal["query", "session"],
        typer.Option(metavar="query|session", help="Whose last click counts: each query's, or the whole session's."),
    ] = "query",
    query_key: options.QueryKey = None,
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
    similar: Annotated[
        str | None,
        typer.Option(
            metavar="words|characters|PAIRS.csv",
            help="Also labels that are pooled over similar queries, the source NAME_similar: similar by the words of "
            "their texts, by runs of characters, or as a file says (columns query, similar, similarity).",
            show_default=False,
        ),
    ] = None,
    similar_threshold: Annotated[float, typer.Option(metavar="S", help="Less similar queries are not pooled.")] = 0.7,
    neighbours: Annotated[int, typer.Option(metavar="N", help="At most so many similar queries.")] = 20,
    similar_table: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT",
            help="Write the pooled labels: one row per query and document (.csv, .parquet).",
            show_default=False,
        ),
    ] = None,
    satisfied_after: Annotated[
        float, typer.Option(metavar="SECONDS", help="A click is satisfied if the user stayed so long.")
    ] = 30.0,
    longest_dwell: Annotated[
        float, typer.Option(metavar="SECONDS", help="Beyond this the user had left: unknown how long they stayed.")
    ] = 1800.0,
    unknown_dwell: Annotated[
        Literal["satisfied", "leave-out"],
        typer.Option(
            metavar="satisfied|leave-out", help="What a click counts as if it is unknown how long the user stayed."
        ),
    ] = "satisfied",
    time_unit: Annotated[
        Literal["s", "ms", "us", "ns"] | None,
        typer.Option(metavar="s|ms|us|ns", help="Of times that are numbers, for dwell times.", show_default="s"),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=COLUMN",
            help="The column for session, query, document, position, clicked, time or dwell (seconds), if called "
            "otherwise; repeatable.",
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

    if (data is None) != (out is None):
        raise SettingsError("--data DATA --out OUT go together: the data that gets the labels, and where to write it")
    if similar_table is not None and similar is None:
        raise SettingsError("--similar-table OUT: say which queries are similar, --similar words")
    for tabular in (table, similar_table):
        if tabular is not None:
            table_path(tabular)  # before the log is read, which may take long
    for target in (table, out, similar_table):
        check_output(target, data, *logs, force=force)
    documents = None if data is None else read_data(data, read)  # a mistake here is found at once
    similar_label = f"{label}_similar"
    names = [label] if similar is None else [label, similar_label]
    if documents is not None:
        _check_names(names, documents.labels, data)
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
        similar=None if similar is None else rf.SimilarQueries(similar, similar_threshold, neighbours),
        satisfied_after=satisfied_after,
        longest_dwell=longest_dwell,
        unknown_dwell=unknown_dwell.replace("-", "_"),
        time_unit=time_unit,
        sorted_by_session=sorted_by_session,
        **log_columns(column),
    )
    report: dict[str, Any] = {"logs": [str(log) for log in logs], **labels.to_dict()}
    words = [str(labels)]
    sources: dict[str, Any] = {label: labels}
    if similar is not None:
        sources[similar_label] = labels.similar
    tables = (("table", table, label), ("similar_table", similar_table, similar_label))
    for key, target, title in tables:
        if target is not None:
            sources[title].write(target)
            report[key] = str(target)
            words.append(f"{target}: {counted(len(sources[title]), 'row')}")
    if documents is not None and out is not None:
        labelled, counts = _labelled(documents, sources)
        write_data(labelled, out, write)
        report |= {"data": str(data), "out": str(out), "data_documents": documents.n_documents}
        report |= {"labelled_documents": counts[label], "labelled_by_source": counts}
        total = counted(documents.n_documents, "document")
        words += [f"{out}: label source {title!r} on {count:,} of {total}" for title, count in counts.items()]
    if json:
        output.show_json(report)
    else:
        output.show("\n".join(words))


def _labelled(documents: Dataset, sources: Mapping[str, Any]) -> tuple[Dataset, dict[str, int]]:
    """The data with its new label sources, and how many documents each labels."""
    counts = {}
    for name, source in sources.items():
        values = source.for_data(documents)
        documents = documents.with_label(name, values)
        counts[name] = int((values == values).sum())
    return documents, counts


def _check_names(names: Collection[str], taken: Collection[str], data: Path | None) -> None:
    from rankforce.errors import SettingsError

    for name in names:
        if name in taken:
            raise SettingsError(
                f"{data} has a label source {name!r} already, which would be lost; give the new one another name: "
                f"--label {_free_name(next(iter(names)), taken)}"
            )


def _free_name(name: str, taken: Collection[str]) -> str:
    return next(one for number in itertools.count(2) if (one := f"{name}_{number}") not in taken)


def _prior(written: str) -> str | float:
    from rankforce.kinds import Choice, Either, Number

    prior = Either((Choice(("query", "global")), Number(0.0, 1.0)))
    return prior.read_checked(written, "prior", f"--prior {written}")


def log_columns(written: list[str] | None, roles: Collection[str] | None = None) -> dict[str, Any]:
    """Role → column of a log, as typed; ``roles`` are those that the command knows."""
    from rankforce.data.clicks.session_logs import COLUMN_NAMES
    from rankforce.errors import SettingsError

    columns = {}
    roles = (*COLUMN_NAMES, "dwell") if roles is None else roles
    for one in written or ():
        role, equals, name = one.partition("=")
        if not equals or role not in roles:
            raise SettingsError(f"--column {one}: write ROLE=COLUMN, the role being one of {', '.join(roles)}")
        columns[role] = name
    return columns
