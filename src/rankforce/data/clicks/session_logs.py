"""Session logs in chunks: what was shown to users, where, and what they clicked.

One row per document shown: session, query, document, position, clicked, and optionally the time of the click. Files
(CSV, Parquet, also several) and data frames; never more than a chunk of a file is in memory.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
import itertools
import math
import os
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from rankforce.console.byte_progress import ByteProgress
from rankforce.data.clicks.log_values import Clock, Coded, coded, read_click, read_dwell, read_id, read_position
from rankforce.data.frames import column_names, is_frame
from rankforce.data.identifiers import exact_bits
from rankforce.data.tables.arrow import arrow, first_line
from rankforce.data.tables.columns import ROLE_NAMES
from rankforce.data.tables.csv_reading import delimiter_of
from rankforce.data.tables.csv_rows import header_of, refuse_broken_row
from rankforce.data.tables.csv_rows import rows as csv_rows
from rankforce.data.tables.parquet import is_parquet
from rankforce.errors import DataError, FileFormatError
from rankforce.files.decompression import Decompressed
from rankforce.files.limits import longest_id
from rankforce.files.streams import file_name
from rankforce.kinds import OrNone, Text
from rankforce.remedies import LogColumn, Words, parts_of

COLUMN_NAMES = {
    "session": ("session", "session_id"),
    "query": ROLE_NAMES["qid"],
    "document": ROLE_NAMES["document"],
    "clicked": ("clicked", "click"),
    "position": ("position", "rank"),
    "time": ("time", "timestamp"),
}
DWELL_NAMES = ("dwell", "dwell_time")  # looked for where dwell times are asked for
_NEEDED = ("session", "query", "document", "clicked")
_EXAMPLE = "session,query,document,position,clicked"


def checked_columns(**names: str | None) -> dict[str, str | None]:
    """Role → the column of a log that was named for it, or None; an error for what is no name."""
    for role, column in names.items():
        OrNone(Text("the name of a column")).check(role, column)
    return names


def log_name(log: Any) -> str | os.PathLike[str]:
    """What errors call a log: its file, if it is one."""
    return log if isinstance(log, (str, os.PathLike)) else "session log"


def _other_delimiter(sign: str) -> str:
    return f"put commas between the cells of a log, or tabs if its name ends in .tsv, not {sign!r}"


_BLOCK = 1 << 24  # bytes of CSV text read at once

Fail = Callable[[int, str, str, str, Words], NoReturn]


@dataclasses.dataclass(frozen=True)
class LogChunk:
    """Some consecutive rows of a log. Ids are text; ``fail`` raises for one of the rows."""

    session: Coded
    query: Coded
    document: Coded
    key: Coded | None  # the column of query keys, if one was named
    clicked: np.ndarray  # bool (rows)
    position: np.ndarray | None  # float64 (rows), NaN: unknown
    time: np.ndarray | None  # float64 (rows), NaN: unknown
    dwell: np.ndarray | None  # float64 (rows): seconds, NaN: unknown
    dates: bool  # whether times are dates, in microseconds
    fail: Callable[[int, str, str, Words], NoReturn]  # row of the chunk, role, problem, remedy
    columns: Mapping[str, str] = dataclasses.field(default_factory=dict)  # role → the column it was read from

    def __len__(self) -> int:
        return len(self.clicked)


def positions_of(chunk: LogChunk) -> np.ndarray:
    """The position of every row, int64, from 1; an error with its place if one has none."""
    if chunk.position is None:
        raise DataError("the log does not say at which position documents stood\n  name it: ", LogColumn("position"))
    given = chunk.position
    wrong = ~((given >= 1.0) & (given == np.floor(given)))  # NaN, too
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        problem = "the position is missing" if np.isnan(given[row]) else f"{given[row]:g} is no position"
        chunk.fail(row, "position", problem, "positions are whole numbers, and the top is 1")
    return np.minimum(given, 2.0**31).astype(np.int64)


def read_log(
    log: Any, names: Mapping[str, str | None], chunk_rows: int, progress: bool | None = None
) -> Iterator[LogChunk]:
    """The rows of a log, ``chunk_rows`` at a time.

    ``log`` is the path of a file, a data frame or an Arrow table, or an iterable of such; ``names`` maps roles
    (``COLUMN_NAMES``, and ``key``) to columns where they have other names. Dwell times are read if ``dwell`` is among
    the roles.
    """
    arrow(Path("session log"))
    clock = Clock()
    for source in _sources(log):
        if isinstance(source, (str, os.PathLike)):
            batches = _from_file(Path(file_name(source)), names, progress)
        else:
            batches = _from_frame(source, names)
        rows = 0
        with contextlib.closing(batches):
            for batch in batches:
                for start in range(0, len(batch.table), chunk_rows):
                    yield _chunk(batch.table.slice(start, chunk_rows), batch, rows + start, clock)
                rows += len(batch.table)


@dataclasses.dataclass(frozen=True)
class _Batch:
    """An Arrow table, which of its columns has which role, and what to raise for a row of its source."""

    table: Any
    roles: Mapping[str, str]
    fail: Fail


def _sources(log: Any) -> Iterable[Any]:
    if isinstance(log, (str, os.PathLike)) or is_frame(log):
        return [log]
    if hasattr(log, "click_log"):  # a simulated one
        return [log.to_arrow()]
    if isinstance(log, Iterable) and not isinstance(log, (Mapping, np.ndarray)):
        return log
    raise DataError(
        f"a session log is a file, a data frame, or several of them, not {type(log).__name__}; "
        "for arrays: pandas.DataFrame({'session': ..., 'query': ..., 'document': ..., 'clicked': ...})"
    )


def _from_frame(frame: Any, names: Mapping[str, str | None]) -> Generator[_Batch, None, None]:
    import pyarrow as pa

    if not is_frame(frame):
        raise DataError(f"a session log is a file or a data frame, not {type(frame).__name__}")

    def fail(row: int, column: str, problem: str, text: str, remedy: Words) -> NoReturn:
        shown = f": {text!r}" if text else ""
        raise DataError(f"column {column!r}, row {row} (from 0): {problem}{shown}\n  ", *parts_of(remedy))

    def refuse(problem: str, remedy: Words) -> NoReturn:
        raise DataError(f"{problem}\n  ", *parts_of(remedy))

    roles = _roles(column_names(frame), names, refuse)
    wanted = list(dict.fromkeys(roles.values()))
    if isinstance(frame, pa.Table):
        table = frame.select(wanted)
    elif hasattr(frame, "to_arrow"):
        table = frame.select(wanted).to_arrow()
    else:
        places = [column_names(frame).index(name) for name in wanted]
        chosen = frame.iloc[:, places].set_axis(wanted, axis=1)  # names of columns may be numbers
        try:
            table = pa.Table.from_pandas(chosen, preserve_index=False)
        except pa.ArrowException as error:
            raise DataError(f"a column of the log mixes kinds of values: {first_line(error)}") from None
    yield _Batch(table, roles, fail)


def _from_file(path: Path, names: Mapping[str, str | None], progress: bool | None) -> Generator[_Batch, None, None]:
    if not path.is_file():
        problem = "this is a directory" if path.is_dir() else "there is no such file"
        raise FileFormatError(problem, path=path)
    with ByteProgress(str(path), path.stat().st_size, progress) as bar:
        yield from (_from_parquet if is_parquet(path) else _from_csv)(path, names, bar)


def _from_parquet(path: Path, names: Mapping[str, str | None], bar: ByteProgress) -> Generator[_Batch, None, None]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def fail(row: int, column: str, problem: str, text: str, remedy: Words) -> NoReturn:
        raise FileFormatError(f"column {column!r}, row {row + 1}: {problem}", path=path, text=text, remedy=remedy)

    def refuse(problem: str, remedy: Words) -> NoReturn:
        raise FileFormatError(problem, path=path, remedy=remedy)

    try:
        with pq.ParquetFile(path, page_checksum_verification=True, pre_buffer=False) as file:
            roles = _roles(file.schema_arrow.names, names, refuse)
            total, done = max(1, file.metadata.num_rows), 0
            for batch in file.iter_batches(1 << 19, columns=list(dict.fromkeys(roles.values()))):
                yield _Batch(pa.Table.from_batches([batch]), roles, fail)
                done += batch.num_rows
                bar.advance_to(path.stat().st_size * done // total)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        remedy = f"is it complete? ({first_line(error)})"
        raise FileFormatError("the file cannot be read as Parquet", path=path, remedy=remedy) from None


def _from_csv(path: Path, names: Mapping[str, str | None], bar: ByteProgress) -> Generator[_Batch, None, None]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    separator = delimiter_of(path, None)
    header_line, header = header_of(path, separator, _EXAMPLE, _other_delimiter)

    def fail(row: int, column: str, problem: str, text: str, remedy: Words) -> NoReturn:
        line, _ = next(itertools.islice(csv_rows(path, separator), row, None), (None, []))
        place = header.index(column) + 1
        raise FileFormatError(
            f"column {column!r}: {problem}", path=path, line=line, column=place, text=text, remedy=remedy
        )

    def refuse(problem: str, remedy: Words) -> NoReturn:
        raise FileFormatError(problem, path=path, line=header_line, remedy=remedy)

    roles = _roles(header, names, refuse)
    wanted = list(dict.fromkeys(roles.values()))
    try:
        with contextlib.ExitStack() as opened:
            raw = stream = opened.enter_context(path.open("rb"))
            if path.suffix == ".gz":
                stream = opened.enter_context(io.BufferedReader(Decompressed(raw, path), 1 << 17))
            reader = arrow_csv.open_csv(
                stream,
                read_options=arrow_csv.ReadOptions(block_size=_BLOCK, use_threads=False),
                parse_options=arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(wanted, pa.string()),  # kinds are ours to tell, with the place of errors
                    include_columns=wanted,
                    strings_can_be_null=False,
                ),
            )
            for batch in opened.enter_context(reader):
                yield _Batch(pa.Table.from_batches([batch]), roles, fail)
                bar.advance_to(raw.tell())
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        refuse_broken_row(path, separator, header, {})
        raise FileFormatError(f"the file cannot be read: {first_line(error)}", path=path) from None


def _roles(
    columns: Sequence[str], names: Mapping[str, str | None], refuse: Callable[[str, Words], NoReturn]
) -> dict[str, str]:
    """Role → column: as named by the user, else found by its name."""
    listed = "the columns are: " + ", ".join(map(repr, columns[:30]))
    roles = {}
    possible = COLUMN_NAMES | ({"dwell": DWELL_NAMES} if "dwell" in names else {})
    for role in (*possible, "key"):
        given = names.get(role)
        if given is not None:
            found = [name for name in columns if name == given]
            if not found:
                refuse(f"there is no column {given!r}", listed)
        else:
            found = [name for name in columns if name.strip().lower() in possible.get(role, ())]
        if len(found) > 1:
            which = " and ".join(map(repr, found[:2]))
            refuse(f"several columns could be the {role}: {which}", ("name one: ", LogColumn(role), f"; {listed}"))
        if found:
            roles[role] = found[0]
        elif role in _NEEDED:
            refuse(f"no column says the {role}", ("name it: ", LogColumn(role), f"; {listed}"))
    return roles


def _chunk(table: Any, batch: _Batch, first: int, clock: Clock) -> LogChunk:
    import pyarrow as pa

    def fail_in(role: str) -> Callable[[int, str, Any, Words], NoReturn]:
        def fail(row: int, problem: str, text: Any, remedy: Words) -> NoReturn:
            batch.fail(first + row, batch.roles[role], problem, "" if text is None else str(text), remedy)

        return fail

    def column(role: str) -> Any:
        return table.column(batch.roles[role])

    def ids(role: str) -> Coded:
        kind = column(role).type
        bits = exact_bits(kind.to_pandas_dtype()) if pa.types.is_floating(kind) else 53
        parse = functools.partial(read_id, bits=bits, longest=longest_id())
        return coded(column(role), parse, fail_in(role), f"every row needs a {role}, as text or a whole number")

    def fail(row: int, role: str, problem: str, remedy: Words) -> NoReturn:
        fail_in(role)(row, problem, column(role)[row].as_py(), remedy)

    click = coded(column("clicked"), read_click, fail_in("clicked"), "write 1 for a click, 0 for none")
    position = None
    if "position" in batch.roles:
        read = coded(column("position"), read_position, fail_in("position"), "positions are numbers: 1 is the top")
        position = np.array([*read.values, math.nan])[read.codes]
    dwell = None
    if "dwell" in batch.roles:
        seconds = coded(column("dwell"), read_dwell, fail_in("dwell"), "dwell times are seconds; empty: unknown")
        dwell = np.array([*seconds.values, math.nan])[seconds.codes]
    time = clock.read(column("time"), fail_in("time")) if "time" in batch.roles else None
    return LogChunk(
        session=ids("session"),
        query=ids("query"),
        document=ids("document"),
        key=ids("key") if "key" in batch.roles else None,
        clicked=np.array([*click.values, False], dtype=bool)[click.codes],
        position=position,
        time=time,
        dwell=dwell,
        dates=clock.dates,
        fail=fail,
        columns=batch.roles,
    )
