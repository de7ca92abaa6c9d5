"""``rankforce convert``: from any format that can be read to any that can be written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankforce.cli import options, output


def convert(
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="The file to read, a folder of files, or a quoted pattern.")
    ],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="The file to write; its ending says the format.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite TARGET if it exists.")] = False,
    read: options.Reading = None,
    categorical: options.Categorical = None,
    write: options.Writing = None,
    json: options.Json = False,
) -> None:
    """Convert a data file: LETOR text (also gzip), Parquet, CSV.

    The endings of the files say their formats: .parquet and .csv or .tsv (also with .gz) are tables, everything else
    is LETOR/SVMlight text (with .gz compressed). What a format cannot hold is refused, never dropped unasked.
    """
    from rankforce.cli.reading import read_data
    from rankforce.cli.writing import check_output, write_data

    check_output(target, source, force=force)
    data = read_data(source, read, categorical=categorical)
    labels = write_data(data, target, write)
    output.show_written(target, data, labels, json)
