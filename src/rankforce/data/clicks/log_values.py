"""Cells of session logs as values: ids, clicks, positions, times. What is none is reported with its first row."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from rankforce.data.frames import is_missing
from rankforce.data.tables.csv_rows import NULLS


@dataclasses.dataclass(frozen=True)
class Coded:
    """A column as the different values it has, in order of first appearance, and the number of each row's value."""

    values: list[Any]
    codes: np.ndarray  # int64 (rows)


def coded(column: Any, parse: Callable[[Any], Any], fail: Callable[..., NoReturn], remedy: str) -> Coded:
    """The column with its different values parsed; what cannot be parsed is reported with its first row."""
    import pyarrow as pa

    if pa.types.is_nested(column.type):
        row = next((row for row, one in enumerate(column) if one.is_valid), 0)
        fail(row, "a cell holds one value, not several", column[row].as_py() if len(column) else None, remedy)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)  # its own dictionary may have another order, and unused entries
    encoded = pa.concat_arrays([column.combine_chunks()]).dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    values: list[Any] = []
    numbers: dict[Any, int] = {}
    renumbered = np.empty(len(encoded.dictionary) + 1, dtype=np.int64)
    for place, raw in enumerate([*encoded.dictionary.to_pylist(), None]):
        try:
            value = parse(None if is_missing(raw) else raw)
        except ValueError as problem:
            wanted = place if place < len(encoded.dictionary) else -1
            rows = np.flatnonzero(codes == wanted)
            if len(rows):
                fail(int(rows[0]), str(problem), raw, remedy)
            renumbered[place] = -1  # a value that no row has
            continue
        if value not in numbers and value is not None:
            numbers[value] = len(values)
            values.append(value)
        renumbered[place] = -1 if value is None else numbers[value]
    return Coded(values, renumbered[codes])


def read_id(raw: Any, bits: int, longest: int) -> str:
    """An id as text; ``bits``: below 2 to this power a float of the column is one whole number, not several."""
    if isinstance(raw, float) and raw.is_integer():
        if abs(raw) >= 2.0**bits:
            raise ValueError(f"beyond 2^{bits}, one such number stands for several whole numbers")
        raw = int(raw)
    if raw is None or raw == "" or isinstance(raw, (float, bytes)):
        raise ValueError("the id is missing" if raw in (None, "") else "an id is text or a whole number")
    text = str(raw)
    if len(text) > longest:
        raise ValueError(f"the id has {len(text):,} characters")
    if "\0" in text:
        raise ValueError("the id holds a NUL character")
    return text


def number_or_nan(raw: Any) -> float:
    """What is written, if it is a number."""
    try:
        return float(raw)
    except (TypeError, ValueError):
        return math.nan


def read_click(raw: Any) -> bool:
    if isinstance(raw, str):
        raw = {"true": True, "false": False}.get(raw.strip().lower(), raw)
    number = number_or_nan(raw)
    if number not in (0.0, 1.0):
        raise ValueError("not a click" if raw not in (None, "") else "whether it was clicked is missing")
    return bool(number)


def read_position(raw: Any) -> float | None:
    if raw is None or raw in NULLS:
        return None
    number = number_or_nan(raw)
    if not 0.0 <= number < math.inf:
        raise ValueError("not a position")
    return number


def read_dwell(raw: Any) -> float | None:
    if raw is None or raw in NULLS:
        return None
    number = number_or_nan(raw)
    if not 0.0 <= number < math.inf:
        raise ValueError("not a dwell time" if not number < 0.0 else "a dwell time is not negative")
    return number


class Clock:
    """Times as numbers that can be compared: numbers as they are, dates in microseconds. One kind for a whole log."""

    def __init__(self) -> None:
        self._kind: Any = None

    @property
    def dates(self) -> bool:
        """Whether the times that were read are dates."""
        import pyarrow as pa

        return self._kind is not None and bool(pa.types.is_timestamp(self._kind))

    def read(self, column: Any, fail: Callable[..., NoReturn]) -> np.ndarray:
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_null(column.type):
            return np.full(len(column), math.nan)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        written = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        if written:
            column = pc.if_else(pc.is_in(column, value_set=pa.array(NULLS, column.type)), None, column)
        if column.null_count == len(column):
            return np.full(len(column), math.nan)
        valid = column.drop_null()
        if self._kind is None:
            self._kind = next((kind for kind in _kinds(column.type) if _castable(valid[0], kind)), pa.float64())
        try:
            read = column.cast(self._kind, safe=False)
        except pa.ArrowException:
            row = next(row for row, one in enumerate(column) if one.is_valid and not _castable(one, self._kind))
            remedy = "write numbers, or dates such as 2025-03-01 12:30:05; one kind throughout"
            fail(row, "not a time", column[row].as_py(), remedy)
        return (read.cast(pa.int64()) if pa.types.is_timestamp(self._kind) else read).cast(pa.float64()).to_numpy()


def _kinds(kind: Any) -> list[Any]:
    """What times of an Arrow type can be read as."""
    import pyarrow as pa

    dates = [pa.timestamp("us"), pa.timestamp("us", "UTC")]
    if pa.types.is_timestamp(kind):
        return dates[1:] if kind.tz else dates[:1]
    if pa.types.is_date(kind):
        return dates[:1]
    return [pa.float64(), *dates] if pa.types.is_string(kind) or pa.types.is_large_string(kind) else [pa.float64()]


def _castable(value: Any, kind: Any) -> bool:
    import pyarrow as pa

    try:
        value.cast(kind, safe=False)
    except pa.ArrowException:
        return False
    return True
