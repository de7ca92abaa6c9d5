"""Propensities: how likely users look at each position, relative to the first."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankforce.console.result_tables import ResultTable, Tabular
from rankforce.console.tables import load_pandas
from rankforce.console.wording import counted
from rankforce.data.frames import as_numbers
from rankforce.errors import DataError, FileFormatError
from rankforce.files.atomic_writes import atomic_write
from rankforce.files.streams import file_name
from rankforce.kinds import shown

GIVEN = "given"
WIDEST = 2.0  # upper end over lower end of an interval; wider ones say little
_KIND, _VERSION = "propensities", 1
_COUNTS = ("impressions", "clicks", "documents")


class Propensities(Tabular):
    """The probability that a position is looked at, divided by that of the first position.

    values : sequence of numbers above 0, or a mapping of position (from 1) to such
        They are divided by the first. NaN: not known.

    Attributes
    ----------
    values : float64 (positions)
    low, high : float64 (positions), or None
        A 95 % interval by bootstrap.
    impressions, clicks, documents : int64 (positions), or None
        Of the log; ``documents`` are those that tell something of a position: clicked, and shown at others, too.
    connections : int64 (positions, positions), or None
        How many of these documents were shown at both positions.
    method : "harvest", "em" or "given"
    notes : what else is to be known about the estimate, by name
    """

    def __init__(self, values: Any, *, low: Any = None, high: Any = None, method: str = GIVEN, **more: Any) -> None:
        given = _from_mapping(values) if isinstance(values, Mapping) else values
        numbers = as_numbers(given, "propensities").astype(np.float64)
        if numbers.ndim != 1 or not len(numbers) or not numbers[0] > 0.0:
            raise DataError(
                f"propensities are a list of numbers above 0, the first that of position 1, not {shown(values)}"
            )
        wrong = np.flatnonzero(~(np.isnan(numbers) | ((numbers > 0.0) & np.isfinite(numbers))))
        if len(wrong):
            raise DataError(
                f"the propensity of position {wrong[0] + 1} is {numbers[wrong[0]]:g}: it must be above 0, or NaN where "
                "it is not known"
            )
        first = numbers[0]
        self.values = numbers / first
        self.low = None if low is None else np.asarray(low, dtype=np.float64) / first
        self.high = None if high is None else np.asarray(high, dtype=np.float64) / first
        self.method = str(method)
        self.impressions, self.clicks, self.documents = (_counts(more.pop(name, None)) for name in _COUNTS)
        self.connections = _counts(more.pop("connections", None))
        self.notes: dict[str, Any] = dict(more.pop("notes", None) or {})
        if more:
            raise TypeError(f"propensities have no {next(iter(more))!r}")

    def __len__(self) -> int:
        return len(self.values)

    def at(self, positions: Any) -> np.ndarray:
        """The propensity of each of these positions (from 1)."""
        asked = as_numbers(positions, "positions")
        if asked.size and not (np.isfinite(asked).all() and (asked == np.floor(asked)).all() and asked.min() >= 1):
            raise DataError("positions are whole numbers from 1")
        if asked.size and asked.max() > len(self):
            raise DataError(
                f"there is a position {int(asked.max())}, but propensities of the first {len(self)} only: estimate more"
            )
        found = self.values[asked.astype(np.int64) - 1]
        if np.isnan(found).any():
            place = int(asked[np.isnan(found)][0])
            raise DataError(f"the propensity of position {place} is not known: {self.verdict}")
        return found

    @property
    def rich_enough(self) -> bool:
        """Whether all positions are known, each to better than a factor of WIDEST between the ends of its interval."""
        return not np.isnan(self.values).any() and not self._widest() > WIDEST

    @property
    def verdict(self) -> str:
        """Whether the log was rich enough, in a sentence; and if not, what is missing."""
        if self.method == GIVEN:
            return "given, not estimated"
        unknown = np.flatnonzero(np.isnan(self.values)) + 1
        if len(unknown):
            which = f"position {unknown[0]}" if len(unknown) == 1 else f"positions {', '.join(map(str, unknown[:10]))}"
            return (
                f"not rich enough: {which} cannot be compared with position 1, since too few clicked documents were "
                "shown at both; show some sessions another order, or estimate fewer positions"
            )
        if self.low is None or self.high is None:
            return "all positions are connected; how precise the estimate is was not asked"
        place = int(np.argmax(np.nan_to_num(self.high / self.low, nan=0.0)))
        ends = f"position {place + 1} lies between {self.low[place]:.3f} and {self.high[place]:.3f}"
        if self.rich_enough:
            return f"rich enough: all positions are connected, and at worst {ends}"
        return f"not rich enough: {ends}; more sessions are needed, with exchanged places, or fewer positions"

    def _widest(self) -> float:
        if self.low is None or self.high is None:
            return 1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.nanmax(self.high / self.low))

    def columns(self) -> dict[str, np.ndarray]:
        """The table: position, propensity, low, high, and counts."""
        table: dict[str, Any] = {"position": np.arange(1, len(self) + 1), "propensity": self.values}
        table |= {"low": self.low, "high": self.high} | {name: getattr(self, name) for name in _COUNTS}
        return {name: values for name, values in table.items() if values is not None}

    def to_pandas(self) -> Any:
        """The table as a pandas data frame."""
        return load_pandas().DataFrame(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; NaN is None."""
        form: dict[str, Any] = {"kind": _KIND, "version": _VERSION, "method": self.method}
        form |= {"propensities": _plain(self.values), "low": _plain(self.low), "high": _plain(self.high)}
        form |= {name: _plain(getattr(self, name)) for name in (*_COUNTS, "connections")}
        return form | {"rich_enough": self.rich_enough, "verdict": self.verdict, "notes": self.notes}

    def write(self, path: str | Path) -> None:
        """Write everything as JSON, whole or not at all."""
        with atomic_write(path) as file:
            file.write((json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())

    @classmethod
    def read(cls, path: str | Path) -> Propensities:
        """Read what ``write`` wrote; of a file by hand ``{"propensities": [1, 0.6, 0.4]}`` is enough."""
        path = Path(file_name(path))
        remedy = 'write {"propensities": [1, 0.6, 0.4]}, the first that of the top'
        try:
            form = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise FileFormatError(f"the file cannot be read ({error.strerror or error})", path=path) from None
        except ValueError as error:
            raise FileFormatError(f"this is not JSON: {error}", path=path, remedy=remedy) from None
        if not isinstance(form, dict) or not isinstance(form.get("propensities"), list):
            raise FileFormatError("these are no propensities", path=path, remedy=remedy)
        names = ("low", "high", *_COUNTS, "connections", "notes")
        try:
            more = {name: form[name] for name in names if form.get(name) is not None}
            more |= {name: _numbers(more[name]) for name in ("low", "high") if name in more}
            return cls(_numbers(form["propensities"]), method=form.get("method", GIVEN), **more)
        except (DataError, TypeError, ValueError) as error:
            raise FileFormatError(f"these are no propensities: {error}", path=path, remedy=remedy) from None

    def _result_table(self) -> ResultTable:
        columns = self.columns()
        rows = []
        for place in range(len(self)):
            cells = [str(place + 1)]
            for name, values in columns.items():
                if name in _COUNTS:
                    cells.append(f"{int(values[place]):,}")
                elif name != "position":
                    cells.append("–" if math.isnan(values[place]) else f"{values[place]:.4f}")
            rows.append(cells)
        heads = [{"documents": "telling documents"}.get(name, name) for name in columns]
        title = "Propensities, given" if self.method == GIVEN else f"Propensities ({self.method})"
        notes = [self.verdict, *(str(note) for note in self.notes.values())]
        return ResultTable(title, heads, rows, notes)

    def __repr__(self) -> str:
        return f"<Propensities of {counted(len(self), 'position')} ({self.method})>"


def as_propensities(given: Any) -> Propensities:
    """Propensities, from them or from their values."""
    return given if isinstance(given, Propensities) else Propensities(given)


def _from_mapping(values: Mapping[Any, Any]) -> list[Any]:
    if sorted(values, key=str) != sorted(range(1, len(values) + 1), key=str):
        raise DataError(f"propensities by position need every position from 1 on, not {shown(list(values))}")
    return [values[position] for position in range(1, len(values) + 1)]


def _counts(given: Any) -> np.ndarray | None:
    return None if given is None else np.asarray(given, dtype=np.int64)


def _numbers(values: list[Any]) -> np.ndarray:
    return np.array([math.nan if value is None else float(value) for value in values])


def _plain(values: np.ndarray | None) -> Any:
    if values is None:
        return None
    if values.dtype.kind == "i":
        return values.tolist()
    return [None if math.isnan(value) else value for value in values.tolist()]
