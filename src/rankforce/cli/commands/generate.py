"""``rankforce generate``: artificial data in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankforce.cli import options, output


def generate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write; the ending says the format.")],
    queries: Annotated[int, typer.Option(metavar="N", help="Number of queries.")] = 1000,
    documents: Annotated[int, typer.Option(metavar="N", help="Documents per query.")] = 50,
    features: Annotated[int, typer.Option(metavar="N", help="Number of features.")] = 50,
    clicks: Annotated[bool, typer.Option("--clicks", help="Add a second label source, clicks.")] = False,
    seed: options.Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite FILE if it exists.")] = False,
    write: options.Writing = None,
    json: options.Json = False,
) -> None:
    """Write artificial data with a known truth.

    Grades come from a random cubic polynomial of the features: something to learn, without a licence.
    """
    import rankforce as rf
    from rankforce.cli.writing import check_output, write_data

    check_output(file, force=force)
    data = rf.make_artificial(queries=queries, documents=documents, features=features, clicks=clicks, seed=seed)
    labels = write_data(data, file, write)
    output.show_written(file, data, labels, json)
