"""Data files that commands read: ``-`` is standard input, ``--read name=value`` gives options of ``rankforce.read``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rankforce.cli.named_values import named_values
from rankforce.cli.remedies import reading_spellings, typed_remedies

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset

STANDARD_INPUT = "/dev/stdin"


def read_data(path: str | os.PathLike[str], written: Sequence[str] | None = None) -> Dataset:
    """The data of a file, read with the options that were written after ``--read``."""
    from rankforce.data.files import read

    options = reading_options(written)
    with typed_remedies(reading_spellings):
        return read(input_file(path), **options)


def input_file(path: str | os.PathLike[str]) -> str:
    """The name of a file to read; ``-`` is standard input."""
    return STANDARD_INPUT if os.fspath(path) == "-" else os.fspath(path)


def reading_options(written: Sequence[str] | None) -> dict[str, Any]:
    """What was written after ``--read``, as keyword arguments of ``rankforce.read``."""
    from rankforce.data.letor import read_letor
    from rankforce.data.tables import read_table

    return named_values(written, "--read", "absent=missing", read_letor, read_table)
