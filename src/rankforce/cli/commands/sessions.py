"""``rankforce sessions``: the lists of a session log as data to learn from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankforce.cli import options, output
from rankforce.console.wording import counted


def sessions(
    logs: Annotated[
        list[Path],
        typer.Argument(metavar="LOG", help="Session logs, CSV or Parquet: one row per document shown to a user."),
    ],
    data: Annotated[Path, typer.Option(metavar="DATA", help="A data file with the features and ids of the documents.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="OUT", help="Where to write the lists (.csv, .parquet).")],
    label: Annotated[str, typer.Option(metavar="NAME", help="The label source of the clicks.")] = "clicks",
    query_key: options.QueryKey = None,
    column: options.LogColumns = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    read: options.Reading = None,
    write: options.Writing = None,
    json: options.Json = False,
) -> None:
    """Write the lists of a session log as queries.

    Each list that has a click becomes a query of its own. A document of a list has the features and labels that it has
    in DATA, the label "clicks" (0 or 1) and the label "position". Such data is what objectives that weigh the bias of
    positions out learn from.
    """
    import rankforce as rf
    from rankforce.cli.commands.clicks import LIST_ROLES, log_columns
    from rankforce.cli.reading import read_data
    from rankforce.cli.writing import check_output, write_data

    check_output(out, data, *logs, force=force)
    documents = read_data(data, read)
    columns = log_columns(column, LIST_ROLES)
    lists = rf.click_sessions(logs, documents, label=label, query_key=query_key, **columns)
    write_data(lists, out, write)
    report = {"logs": [str(log) for log in logs], "data": str(data), "out": str(out)}
    counts = {"lists": lists.n_queries, "documents": lists.n_documents, "clicks": int(lists.label(label).sum())}
    if json:
        output.show_json(report | counts)
    else:
        output.show(
            f"{out}: {counted(lists.n_queries, 'list')}, {counted(lists.n_documents, 'document')} shown, "
            f"{counted(counts['clicks'], 'click')}"
        )
