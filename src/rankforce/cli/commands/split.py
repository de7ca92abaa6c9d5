"""``rankforce split``: parts of whole queries, each in a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from rankforce import text_values
from rankforce.cli import options, output
from rankforce.errors import SettingsError


def split(
    data: Annotated[list[str], typer.Argument(metavar="DATA", help=options.FILES_HELP)],
    shares: Annotated[
        str,
        typer.Option(
            metavar="X,...",
            help="Shares of the queries, one for each part; what they leave of 1 is in no part.",
            show_default=False,
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", metavar="FILE,...", help="Where to write the parts, in this order; the endings say formats."
        ),
    ],
    seed: options.Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    read: options.Reading = None,
    categorical: options.Categorical = None,
    write: options.Writing = None,
    json: options.Json = False,
) -> None:
    """Deal whole queries into parts, each written to a file.

    No query is in two parts, and short and long queries are spread evenly over them. Neither the order of the queries
    nor the platform plays a role: the same seed gives the parts of Dataset.split in Python.
    """
    from rankforce.cli.reading import read_data
    from rankforce.cli.writing import check_output, write_data
    from rankforce.console.wording import counted

    numbers = _shares(shares)
    paths = [Path(name.strip()) for name in text_values.parts(out)]
    _check_paths(paths, numbers)
    for path in paths:
        check_output(path, *data, force=force)
    documents = read_data(data, read, categorical=categorical)
    parts = documents.split(*numbers, seed=seed)
    labels = [write_data(part, path, write) for part, path in zip(parts, paths, strict=True)]
    left = documents.n_queries - sum(part.n_queries for part in parts)
    if left:
        output.note(f"{counted(left, 'query')} of {documents.n_queries:,} in no part: the shares leave them")
    output.show_all_written(list(zip(paths, parts, labels, strict=True)), json)


def _shares(written: str) -> list[float]:
    try:
        return [float(text_values.number(one)) for one in text_values.parts(written)]
    except ValueError:
        raise SettingsError(f"--shares {written}: write numbers with commas, for example 0.6,0.2,0.2") from None


def _check_paths(paths: Sequence[Path], shares: Sequence[float]) -> None:
    """Raise unless there is a file for every share, and no two are the same."""
    if len(paths) != len(shares):
        raise SettingsError(
            f"--shares gives {len(shares)} and --out {len(paths)}: name a file for every part, with commas, for "
            "example --shares 0.6,0.2,0.2 --out train.csv,valid.csv,test.csv"
        )
    places = [os.path.realpath(path) for path in paths]
    for number, place in enumerate(places):
        if place in places[:number]:
            raise SettingsError(f"--out names {paths[number]} twice: every part needs a file of its own")
