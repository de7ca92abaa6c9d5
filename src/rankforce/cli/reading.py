"""Data that commands read: files, folders of them, patterns; ``-`` is standard input.

``--read name=value`` gives options of ``rankforce.read``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rankforce.cli import output
from rankforce.cli.misplaced_files import check_is_data
from rankforce.cli.named_values import named_values
from rankforce.console.wording import counted
from rankforce.displayed_text import displayed_path
from rankforce.errors import SettingsError
from rankforce.text_values import parts

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset
    from rankforce.data.found_files import FileNames

STANDARD_INPUT = "/dev/stdin"


def read_data(
    path: FileNames,
    written: Sequence[str] | None = None,
    *,
    categorical: Sequence[str] | None = None,
    like: Any = None,
    say_origins: bool = True,
    queries: bool = True,
) -> Dataset:
    """The data of a file, or of several as one, read with the options that were written after ``--read``.

    Says which column became what. ``categorical`` is what was written after ``--categorical``; ``like`` a model or
    data set whose features are read. Without ``queries`` a table needs no column of them.
    """
    from rankforce.data.file_formats import is_store
    from rankforce.data.found_files import together
    from rankforce.data.tables.columns import NoQueryColumnError
    from rankforce.stores.opening import read

    options = reading_options(written, categorical)
    files = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    for file in files:
        check_is_data(file)
    alone = len(files) == 1
    if like is not None and not (alone and is_store(os.fspath(files[0]))):
        options["like"] = like
    named = [input_file(file) for file in files]
    source = named[0] if alone else named
    try:
        data = read(source, **options)
    except NoQueryColumnError:
        if queries:
            raise
        data = read(source, **options, qid=False)
    if say_origins:
        note_origins(together(files), data)
    return data


def note_origins(path: str | os.PathLike[str], data: Dataset) -> None:
    """Say on standard error what was taken from which column of a table (or from a file beside it)."""
    from rankforce.data.roles_in_words import features_in_words, left_out_in_words

    if data.origins:
        taken = ", ".join(f"{part} from {origin}" for part, origin in data.origins.items())
        more = features_in_words(data.roles)
        left_out = left_out_in_words(data.roles)
        output.note(
            f"{displayed_path(path)}: {taken}; {counted(data.n_features, 'feature')}"
            + (f" ({more})" if more else "")
            + (f"; left out: {left_out}" if left_out else "")
        )


def input_file(path: str | os.PathLike[str]) -> str:
    """The name of a file to read; ``-`` is standard input."""
    return STANDARD_INPUT if os.fspath(path) == "-" else os.fspath(path)


def reading_options(written: Sequence[str] | None, categorical: Sequence[str] | None = None) -> dict[str, Any]:
    """What was written after ``--read`` and ``--categorical``, as keyword arguments of ``rankforce.read``."""
    from rankforce.data.letor.reading import read_letor
    from rankforce.data.tables.table_files import read_table

    options = named_values(written, "--read", "absent=missing", read_letor, read_table)
    if "like" in options:
        raise SettingsError("--read like: there is nothing to type for it; a model's own columns are found by it")
    if categorical:
        if "categorical" in options:
            raise SettingsError("--categorical and --read categorical say the same: give one of them")
        options["categorical"] = [name for entry in categorical for name in map(str.strip, parts(entry))]
    return options
