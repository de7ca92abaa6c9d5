"""``rankforce propensities``: how likely users look at each position."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rankforce.cli import options, output
from rankforce.console.wording import counted


def propensities(
    logs: Annotated[
        list[Path],
        typer.Argument(metavar="LOG", help="Session logs, CSV or Parquet: one row per document shown to a user."),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="OUT", help="Write the propensities (.json).", show_default=False),
    ] = None,
    method: Annotated[
        Literal["harvest", "em"],
        typer.Option(
            metavar="harvest|em",
            help="Compare the clicks of each document at its positions, or fit the position-based model.",
        ),
    ] = "harvest",
    positions: Annotated[
        int | None, typer.Option(metavar="N", help="The first N positions only.", show_default=False)
    ] = None,
    resamples: Annotated[int, typer.Option(metavar="N", help="Bootstrap samples for the intervals; 0: none.")] = 200,
    query_key: options.QueryKey = None,
    column: options.LogColumns = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Of the bootstrap samples.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    json: options.Json = False,
) -> None:
    """Estimate how likely users look at each position.

    From session logs, relative to the first position. Documents that were shown at several positions for the same query
    tell positions and documents apart: through experiments, several rankers, or a ranking that changes. The last lines
    say whether the log was rich enough.
    """
    import rankforce as rf
    from rankforce.cli.commands.clicks import LIST_ROLES, log_columns
    from rankforce.cli.writing import check_output

    check_output(out, *logs, force=force)
    columns = log_columns(column, LIST_ROLES)
    found = rf.estimate_propensities(
        logs, method, positions=positions, resamples=resamples, query_key=query_key, seed=seed, **columns
    )
    words = [str(found)]
    if out is not None:
        found.write(out)
        words.append(f"{out}: {counted(len(found), 'position')}")
    if json:
        output.show_json({"logs": [str(log) for log in logs], **found.to_dict()})
    else:
        output.show("\n".join(words))
