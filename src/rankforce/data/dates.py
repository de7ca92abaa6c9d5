"""Dates and times as numbers: days since 1970-01-01, as fractions of days where there is a time of the day.

Times with a zone are brought to UTC, times without one are taken as UTC. A feature is a float32 number: for dates of
this century its steps are 2**-9 of a day, about three minutes. A span of time (a duration) becomes its days.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankforce.data import frames

_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)?)\s?(Z|UTC|[+-]\d\d(?::?\d\d)?)?", re.ASCII
)
_UTC = (None, "Z", "UTC", "+00", "+0000", "+00:00")
_LONGEST_FAST = len("2024-01-31T12:30:00.123456")
_EPOCH = datetime.datetime(1970, 1, 1)
_DAY = np.timedelta64(1, "D")
_PER_DAY = {"s": 86400.0, "ms": 86400.0e3, "us": 86400.0e6, "ns": 86400.0e9}


def looks_like_date(text: str) -> bool:
    """Whether a text has the form of an ISO 8601 date, with or without a time; it may still be no day there was."""
    return _ISO.fullmatch(text) is not None


def days_of_text(texts: Sequence[str]) -> list[float] | None:
    """ISO dates and times as days; None if one is none."""
    matches = []
    for text in texts:
        match = _ISO.fullmatch(text)
        if match is None:
            return None
        matches.append(match)
    try:
        if all(match[2] in _UTC and len(match[1]) <= _LONGEST_FAST for match in matches):
            # many at once, 20 times as fast
            moments = np.array([match[1].replace(",", ".") for match in matches], dtype="M8[us]")
            days = _of_numpy(moments)
            assert days is not None
            return days.tolist()
        return [days_of(datetime.datetime.fromisoformat(match[1] + _zone(match[2]))) for match in matches]
    except ValueError:  # no calendar has such a day
        return None


def _zone(written: str | None) -> str:
    """The offset of a zone as Python reads it."""
    return "+00:00" if written in _UTC else str(written)


def days_of(moment: datetime.date) -> float:
    """A date, or a date and time, as days since 1970-01-01."""
    if not isinstance(moment, datetime.datetime):
        return float((moment - _EPOCH.date()).days)
    zone = moment.utcoffset()
    naive = moment.replace(tzinfo=None)
    return (naive - _EPOCH - (zone or datetime.timedelta())) / datetime.timedelta(days=1)


def days_of_column(values: Any) -> np.ndarray | None:
    """A column whose type is one of dates, times or spans, as days (float64, NaN: missing); None for other types."""
    library = frames.family(values)
    if library == "pyarrow" and hasattr(values, "type"):
        return _of_arrow(values)
    if library == "polars" and type(values).__name__ == "Series":
        return _of_polars(values)
    if library == "pandas" and hasattr(values, "dtype"):
        kind = str(values.dtype)
        if kind.endswith("[pyarrow]"):
            import pyarrow as pa

            return _of_arrow(pa.Array.from_pandas(values))
        if getattr(values.dtype, "tz", None) is not None:
            values = values.dt.tz_convert("UTC").dt.tz_localize(None)
        values = values.to_numpy() if isinstance(values.dtype, np.dtype) else None
    return _of_numpy(values)


def _of_numpy(values: Any) -> np.ndarray | None:
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "mM":
        return None
    spans = values if values.dtype.kind == "m" else values - np.datetime64("1970-01-01")
    return np.asarray(spans / _DAY, dtype=np.float64)


def _of_arrow(values: Any) -> np.ndarray | None:
    import pyarrow as pa

    kind = values.type
    if pa.types.is_date32(kind):
        return _floats(values.cast(pa.int32()))
    if pa.types.is_date64(kind):
        return _floats(values.cast(pa.int64())) / _PER_DAY["ms"]
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return _floats(values.cast(pa.int64())) / _PER_DAY[kind.unit]
    return None


def _floats(values: Any) -> np.ndarray:
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def _of_polars(values: Any) -> np.ndarray | None:
    kind = type(values.dtype).__name__ if not isinstance(values.dtype, type) else values.dtype.__name__
    if kind == "Date":
        return np.asarray(values.cast(int).cast(float).to_numpy(), dtype=np.float64)
    if kind in ("Datetime", "Duration"):
        counts = values.to_physical().cast(float).to_numpy()  # of the zone UTC
        return np.asarray(counts, dtype=np.float64) / _PER_DAY[values.dtype.time_unit]
    return None
