"""Data files that commands read: ``-`` is standard input, ``--read name=value`` gives options of ``rankforce.read``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rankforce.cli import output
from rankforce.cli.named_values import named_values
from rankforce.console.wording import counted
from rankforce.displayed_text import displayed_path

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset

STANDARD_INPUT = "/dev/stdin"


def read_data(
    path: str | os.PathLike[str], written: Sequence[str] | None = None, *, say_origins: bool = True
) -> Dataset:
    """The data of a file, read with the options that were written after ``--read``; says which column became what."""
    from rankforce.stores.opening import read

    options = reading_options(written)
    data = read(input_file(path), **options)
    if say_origins:
        note_origins(path, data)
    return data


def note_origins(path: str | os.PathLike[str], data: Dataset) -> None:
    """Say on standard error what was taken from which column of a table (or from a file beside it)."""
    if data.origins:
        taken = ", ".join(f"{part} from {origin}" for part, origin in data.origins.items())
        output.note(f"{displayed_path(path)}: {taken}; {counted(data.n_features, 'feature')}")


def input_file(path: str | os.PathLike[str]) -> str:
    """The name of a file to read; ``-`` is standard input."""
    return STANDARD_INPUT if os.fspath(path) == "-" else os.fspath(path)


def reading_options(written: Sequence[str] | None) -> dict[str, Any]:
    """What was written after ``--read``, as keyword arguments of ``rankforce.read``."""
    from rankforce.data.letor.reading import read_letor
    from rankforce.data.tables.table_files import read_table

    return named_values(written, "--read", "absent=missing", read_letor, read_table)
