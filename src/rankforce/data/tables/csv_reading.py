"""Delimited text as the columns of a table, by pyarrow where it is installed.

Columns are read as numbers. Those that turn out to hold other texts are read again as text, and become what
``feature_columns.py`` says: truth values, dates, categories, or no feature.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from rankforce.data.factorising import Factorised, factorised, joined_columns
from rankforce.data.feature_columns import AS_TRUTH, Unusable, feature_column
from rankforce.data.feature_options import FeatureOptions, UnusableColumnsError, gathered
from rankforce.data.found_files import filled_files, together
from rankforce.data.frames import as_vector, stack
from rankforce.data.seen_columns import NotNumbersError
from rankforce.data.tables.arrow import first_line, has_arrow
from rankforce.data.tables.columns import TEXT_SUFFIX, ColumnOptions, Roles, TableColumns, TableFeatures
from rankforce.data.tables.csv_columns import read_columns, whole_numbers
from rankforce.data.tables.csv_rows import NULLS, header_of, open_bytes, refuse_broken_row, rows
from rankforce.data.tables.parts import first_rows, place_of_row, roles_in_all
from rankforce.displayed_text import displayed_path
from rankforce.errors import DataError, FileFormatError
from rankforce.remedies import ReadOption, Words

WHOLE_NUMBER = r"^\s*-?(0|[1-9][0-9]*)(\.0+)?\s*$"  # what a column of ids in a CSV file must look like to be numbers


@dataclasses.dataclass(frozen=True)
class CsvFile:
    """A file, what separates its cells, the names of its columns, what stands before the fraction of a number."""

    path: Path
    separator: str
    header: Sequence[str]
    decimal: str = "."

    def fail(self, row: int, column: str, problem: str, text: str, remedy: Words) -> NoReturn:
        line, _ = next(itertools.islice(rows(self.path, self.separator), row, None), (None, []))
        place = self.header.index(column) + 1
        raise FileFormatError(
            f"column {column!r}: {problem}", path=self.path, line=line, column=place, text=text, remedy=remedy
        )

    def refuse_broken_row(self, kinds: Mapping[str, str]) -> None:
        refuse_broken_row(self.path, self.separator, self.header, kinds, self.decimal)


@dataclasses.dataclass(frozen=True)
class CsvFiles:
    """Files that are one table; ``firsts`` has the first row of each."""

    files: Sequence[CsvFile]
    firsts: np.ndarray

    @property
    def path(self) -> str:
        return together([file.path for file in self.files])

    @property
    def decimal(self) -> str:
        return self.files[0].decimal

    def fail(self, row: int, column: str, problem: str, text: str, remedy: Words) -> NoReturn:
        number, own_row = place_of_row(self.firsts, row)
        self.files[number].fail(own_row, column, problem, text, remedy)

    def refuse_broken_row(self, kinds: Mapping[str, str]) -> None:
        for file in self.files:
            file.refuse_broken_row(kinds)


def read_csv(
    paths: Sequence[Path], options: ColumnOptions, known: FeatureOptions, delimiter: str | None, decimal: str
) -> TableColumns:
    """The columns of delimited text, as the options say, its features as they are known; of several files, one table.

    An empty file among several has nothing to add, not even a header.
    """
    filled = [Path(path) for path in filled_files(list(map(str, paths)))]
    files = [csv_file(path, delimiter, decimal) for path in filled]
    roles = roles_in_all(options, {file.path: file.header for file in files})
    known, texts = declared_texts(roles, known)
    parts = _columns(files, roles, texts)
    firsts = first_rows([_n_rows(part) for part in parts])
    table, n = CsvFiles(files, firsts), int(firsts[-1])
    if n == 0:
        raise FileFormatError("the file has a header and no rows", path=table.path)
    return table_of_text(table, roles, known, _one_after_the_other(parts), n, table.fail)


def _n_rows(columns: Mapping[str, Any]) -> int:
    first = next(iter(columns.values()), ())
    return len(first.places if isinstance(first, Factorised) else first)


def _one_after_the_other(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The columns of several files as those of one; what was joined is let go of."""
    if len(parts) == 1:
        return parts[0]
    joined = {}
    for name in list(parts[0]):
        columns = [part.pop(name) for part in parts]
        together_as = joined_columns if isinstance(columns[0], Factorised) else np.concatenate
        joined[name] = together_as(columns)
    return joined


def declared_texts(roles: Roles, known: FeatureOptions) -> tuple[FeatureOptions, set[str]]:
    """What is known of features, with what the names of columns say; and the columns that are read as text for it."""
    known = dataclasses.replace(known, categorical=[*known.categorical, *roles.declared])
    declared = {
        column for column, name in roles.features.items() if known.declared(column, name) or name in known.lists
    }
    return known, declared


def table_of_text(
    file: CsvFile | CsvFiles, roles: Roles, known: FeatureOptions, columns: Mapping[str, Any], n: int, fail: Any
) -> TableColumns:
    """Columns as ``columns_of_arrow`` gives them, with their roles; ``fail`` as of a TableColumns."""
    ids = {name: _ids_of_text(columns[name], name) for name in roles.ids}
    numbers = {name: _role_numbers(file, name, what, columns[name]) for name, what in roles.numeric.items()}
    return TableColumns(roles, ids, numbers, _features(file, roles, known, columns, n), fail)


def delimiter_of(path: Path, given: str | None) -> str:
    """What separates the cells of a file: what was given, or what the ending of its name says."""
    if given is not None:
        if not isinstance(given, str) or len(given) != 1 or given in '"\r\n':
            raise DataError(f"a delimiter is one character, and no quote: not {given!r}")
        return given
    return "\t" if ".tsv" in [suffix.lower() for suffix in path.suffixes] else ","


def csv_file(path: Path, delimiter: str | None, decimal: str) -> CsvFile:
    """A file with its header, its signs checked."""
    separator = delimiter_of(path, delimiter)
    if decimal not in (".", ","):
        raise DataError(f"the decimal sign of numbers is '.' or ',', not {decimal!r}")
    if decimal == separator:
        raise DataError(
            f"{displayed_path(path)}: cells cannot be separated by the decimal sign {decimal!r}: say what "
            "separates them, for example ",
            ReadOption("delimiter", ";"),
        )
    return CsvFile(path, separator, header_of(path, separator)[1], decimal)


def _columns(files: Sequence[CsvFile], roles: Roles, texts: set[str]) -> list[dict[str, Any]]:
    """Columns by name, of each file: ids as arrays of text, numbers as arrays, other texts as Factorised.

    A column that holds other texts than numbers in one file is read as text from all.
    """
    reader = _by_arrow if has_arrow() else _by_python
    while True:
        kinds = dict.fromkeys(roles.features, "feature") | roles.numeric
        numbers = {name: what for name, what in kinds.items() if name not in texts}
        try:
            return [reader(file, roles.ids, sorted(texts), numbers) for file in files]
        except NotNumbersError as error:
            texts = texts | error.columns


def _by_python(file: CsvFile, ids: Sequence[str], texts: Sequence[str], numbers: Mapping[str, str]) -> dict[str, Any]:
    columns: dict[str, Any] = dict(
        read_columns(file.path, file.separator, file.header, [*ids, *texts], numbers, file.decimal)
    )
    return columns | {name: _without_nulls(factorised(columns[name])) for name in texts}


def _by_arrow(file: CsvFile, ids: Sequence[str], texts: Sequence[str], numbers: Mapping[str, str]) -> dict[str, Any]:
    """As ``_by_python``, faster."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    types = arrow_types(ids, texts, numbers)
    try:
        with contextlib.ExitStack() as opening:
            # Arrow reads plain files faster; what is compressed is watched while it grows
            compressed = file.path.suffix == ".gz"
            source = opening.enter_context(open_bytes(file.path)) if compressed else str(file.path)
            table = arrow_csv.read_csv(source, **arrow_options(file, types))
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        others = not_numbers(file, numbers)
        if others:
            raise NotNumbersError(others) from None
        file.refuse_broken_row(numbers)
        raise FileFormatError(f"the file cannot be read: {first_line(error)}", path=file.path) from None
    return columns_of_arrow(table, ids, texts, numbers)


def arrow_types(ids: Iterable[str], texts: Iterable[str], numbers: Mapping[str, str]) -> dict[str, Any]:
    """As what Arrow reads columns."""
    import pyarrow as pa

    types = dict.fromkeys(ids, pa.string()) | dict.fromkeys(texts, pa.dictionary(pa.int32(), pa.string()))
    return types | {name: pa.float32() if what == "feature" else pa.float64() for name, what in numbers.items()}


def columns_of_arrow(table: Any, ids: Iterable[str], texts: Iterable[str], numbers: Iterable[str]) -> dict[str, Any]:
    """Columns by name: ids as arrays of text, numbers as arrays, other texts as Factorised."""
    columns: dict[str, Any] = {name: as_vector(table.column(name)) for name in (*ids, *numbers)}
    return columns | {name: _without_nulls(factorised(table.column(name))) for name in texts}


def arrow_options(file: CsvFile, types: Mapping[str, Any]) -> dict[str, Any]:
    from pyarrow import csv as arrow_csv

    return {
        "parse_options": arrow_csv.ParseOptions(delimiter=file.separator, newlines_in_values=True),
        "convert_options": arrow_csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            null_values=NULLS,
            strings_can_be_null=False,
            decimal_point=file.decimal,
        ),
    }


def not_numbers(file: CsvFile, numbers: Mapping[str, str]) -> set[str]:
    """The columns with a cell that is no number; of a file that is broken otherwise, none."""
    import pyarrow as pa
    from pyarrow import compute
    from pyarrow import csv as arrow_csv

    found: set[str] = set()
    nulls = pa.array(NULLS)
    try:
        with (
            open_bytes(file.path) as source,
            arrow_csv.open_csv(source, **arrow_options(file, dict.fromkeys(numbers, pa.string()))) as batches,
        ):
            for batch in batches:
                for name in numbers.keys() - found:
                    cells = batch.column(name)
                    cells = compute.utf8_trim_whitespace(cells.filter(compute.invert(compute.is_in(cells, nulls))))
                    if file.decimal != ".":  # as with_point
                        cells = compute.replace_substring(compute.replace_substring(cells, ".", "·"), file.decimal, ".")
                    try:
                        cells.cast(pa.float64())
                    except pa.ArrowException:
                        found.add(name)
    except (pa.ArrowException, OSError, EOFError, zlib.error):
        return set()
    return found


def _without_nulls(column: Factorised) -> Factorised:
    """A column of text without the words for a missing value."""
    missing = [place for place, value in enumerate(column.values) if value in NULLS]
    if not missing:
        return column
    new_place = np.arange(len(column.values) + 1)
    new_place[[*missing, -1]] = -1
    return Factorised(new_place[column.places], column.values)


def _ids_of_text(column: np.ndarray, name: str) -> np.ndarray:
    """Ids as whole numbers if all of them are written so, else as text."""
    found = None if name.lower().endswith(TEXT_SUFFIX) else whole_numbers(column, WHOLE_NUMBER)
    return column if found is None else found


def _role_numbers(file: CsvFile | CsvFiles, name: str, what: str, values: Any) -> np.ndarray:
    """The numbers of a label or a weight; true and false are 1 and 0."""
    if not isinstance(values, Factorised):
        return np.asarray(values)
    found = feature_column(values, find=False)
    if not isinstance(found, Unusable) and found.role in ("", AS_TRUTH):
        return found.values
    file.refuse_broken_row({name: what})
    raise FileFormatError(f"column {name!r} is taken as {what} but holds no numbers", path=file.path)


def _features(
    file: CsvFile | CsvFiles, roles: Roles, known: FeatureOptions, columns: Mapping[str, Any], n: int
) -> TableFeatures:
    try:
        made = gathered(((column, name, columns[column]) for column, name in roles.features.items()), known)
    except UnusableColumnsError as error:
        if _has_broken_cell(error, known, file.decimal):
            kind = "feature" if known.needed is None else "number"  # what a model needs cannot be left out
            file.refuse_broken_row(dict.fromkeys(error.columns, kind))  # the cell, with its place
        raise FileFormatError(error.problem, path=file.path, remedy=error.remedy) from None
    return TableFeatures(stack(made.columns, n), made.names, made.categories, made.roles, made.unsettled)


def _has_broken_cell(error: UnusableColumnsError, known: FeatureOptions, decimal: str) -> bool:
    """Whether a cell is in the way of what are numbers otherwise: most are, or a model has them as numbers."""
    unusable = list(error.columns.values())
    if len(unusable) > 1 and known.needed is None:
        return False
    return all(one.example is not None or (one.decimal_comma and decimal == ",") for one in unusable)
