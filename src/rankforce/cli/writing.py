"""Files that commands write: whether they can be written is found out before the work, not after it."""

from __future__ import annotations

import contextlib
import csv
import io
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankforce.cli.named_values import named_values
from rankforce.errors import RankforceError, SettingsError
from rankforce.files.atomic_writes import atomic_write, check_replaceable

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset
    from rankforce.evaluation.result import Evaluation
    from rankforce.explaining.contributions import Contributions


def check_output(path: Path | None, *inputs: str | Path | None, force: bool = True) -> None:
    """Raise if a file cannot be written, or is one of those that are read; without ``force`` also if it exists.

    Inputs are as on the command line: names of files, perhaps after a word and a colon (``scores:FILE``), or no files.
    """
    if path is None:
        return
    if str(path) == "-":
        raise SettingsError("'-' is no file to write: leave the option out for standard output, or name a file")
    check_replaceable(path, SettingsError)
    if not path.exists():
        return
    for given in inputs:
        for file in _files(given):
            if os.path.samefile(path, file):
                raise SettingsError(f"{path} is read by this command and would be overwritten: choose another name")
    if not force:
        raise SettingsError(f"{path} exists already; use --force to overwrite it")


def _files(given: str | Path | None) -> list[str]:
    """The regular files that a word of the command line may name, also as a folder or a pattern."""
    from rankforce.data.found_files import found_files

    words = [] if given is None else [str(given), str(given).partition(":")[2]]
    files: list[str] = []
    for word in filter(None, words):
        with contextlib.suppress(RankforceError):  # who reads it says what is wrong
            files += found_files(word)
    return [file for file in files if os.path.isfile(file)]


def write_data(data: Dataset, path: Path, written: Sequence[str] | None = None) -> list[str]:
    """Write a data file with the options that were written after ``--write``; the label sources that it holds."""
    from rankforce.data.letor.writing import write_letor
    from rankforce.data.tables.table_files import write_table

    options = named_values(written, "--write", "label=grades", write_letor, write_table)
    data.write(path, **options)
    return [options["label"]] if "label" in options else list(data.labels)


def write_per_query(path: Path, result: Evaluation, **first: Any) -> None:
    """One row per query: its id, further columns by name, and its values; empty where it was left out of the mean."""
    columns = {name: result.per_query[name].tolist() for name in result.measures}
    more = {name: list(column) for name, column in first.items()}
    _write_queries(path, result.query_ids.tolist(), more | {name: _numbers(column) for name, column in columns.items()})


def write_compared_queries(path: Path | None, evaluations: Mapping[str, Evaluation]) -> None:
    """One row per query: its id, and for each measure the value of every ranking; of two also second less first.

    The columns are called ``MEASURE RANKING`` and ``MEASURE difference``.
    """
    if path is None:
        return
    results = list(evaluations.values())
    columns: dict[str, list[str]] = {}
    for measure in results[0].measures:
        values = [one.per_query[measure] for one in results]
        columns |= {
            f"{measure} {name}": _numbers(column.tolist()) for name, column in zip(evaluations, values, strict=True)
        }
        if len(values) == 2:
            columns[f"{measure} difference"] = _numbers((values[1] - values[0]).tolist())
    _write_queries(path, results[0].query_ids.tolist(), columns)


def _numbers(values: Sequence[float]) -> list[str]:
    """Numbers as text that is read back to the same; empty where there is none."""
    return ["" if math.isnan(value) else repr(value) for value in values]


def _write_queries(path: Path, queries: Sequence[Any], columns: Mapping[str, Sequence[Any]]) -> None:
    with atomic_write(path) as file, io.TextIOWrapper(file, newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["query", *columns])
        writer.writerows(zip(queries, *columns.values(), strict=True))


def write_contributions(path: Path, table: Contributions) -> None:
    """One row per document: query, document, rank, score, base, and the contribution of each feature."""
    columns = (table.query_ids, table.documents, table.ranks, table.scores)
    with atomic_write(path) as file, io.TextIOWrapper(file, newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["query", "document", "rank", "score", "base", *table.feature_names])
        rows = zip(*(column.tolist() for column in columns), table.contributions.tolist(), strict=True)
        for query, document, rank, score, shares in rows:
            writer.writerow([query, document, rank, repr(score), repr(table.base), *map(repr, shares)])
