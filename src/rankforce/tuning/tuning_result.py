"""What a search for settings yields: its trials, the best of them, and the ranker."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from rankforce.console import tables
from rankforce.console.result_tables import Cell, ResultTable, Tabular
from rankforce.console.wording import counted
from rankforce.data.dataset import Dataset
from rankforce.errors import SettingsError
from rankforce.measures.measure import Measure
from rankforce.models.provenance import plain
from rankforce.remedies import Argument

DONE, PRUNED, FAILED = "done", "pruned", "failed"


@dataclasses.dataclass(frozen=True)
class Trial:
    """One combination of settings and what it gave."""

    number: int  # from 1
    settings: dict[str, Any]
    value: float  # the mean of the measure; NaN if the trial failed
    seconds: float
    state: str = DONE  # "done", "pruned" (it fell behind and was stopped), "failed"
    iterations: int | None = None  # trees or epochs that early stopping kept
    reason: str = ""  # why it failed

    def record(self) -> dict[str, Any]:
        """The trial as a line of a journal."""
        value = None if math.isnan(self.value) else self.value
        return dataclasses.asdict(self) | {"settings": plain(self.settings), "value": value}

    @classmethod
    def of_record(cls, record: dict[str, Any], number: int, settings: dict[str, Any]) -> Trial:
        """The inverse of ``record``."""
        value = math.nan if record["value"] is None else float(record["value"])
        kept = {name: record[name] for name in ("seconds", "state", "iterations", "reason")}
        return cls(number, settings, value, **kept)


@dataclasses.dataclass(frozen=True, eq=False)
class Tuning(Tabular):
    """What ``rf.tune`` yields: every trial, the best one, and the ranker fitted with its settings (None if not asked
    for)."""

    trials: tuple[Trial, ...]
    measure: Measure
    chosen_by: str
    ranker: Any = None
    interrupted: str = ""  # "after 3 of 20 trials", if Ctrl-C ended the search

    @property
    def best(self) -> Trial:
        """The finished trial of the highest value; of equal ones the first."""
        return max((trial for trial in self.trials if trial.state == DONE), key=lambda trial: trial.value)

    @property
    def settings(self) -> dict[str, Any]:
        """The best settings."""
        return self.best.settings

    @property
    def value(self) -> float:
        """The best value."""
        return self.best.value

    def refit(self, *data: Dataset, scaled: bool = False) -> Any:
        """The best ranker fitted once more, on all this data: ``refit`` of rankers, on ``ranker``."""
        if self.ranker is None:
            raise SettingsError("nothing was fitted that could be fitted again: tune with ", Argument("refit", True))
        return self.ranker.refit(*data, scaled=scaled)

    @property
    def table(self) -> list[dict[str, Any]]:
        """One row per trial, the best first: its number, its settings, value, seconds, state."""
        order = sorted(self.trials, key=lambda one: (one.state != DONE, _falling(one.value), one.number))
        return [
            {
                "trial": one.number,
                **one.settings,
                str(self.measure): one.value,
                "iterations": one.iterations,
                "seconds": one.seconds,
                "state": one.state,
            }
            for one in order
        ]

    def to_pandas(self) -> Any:
        """The table as a data frame."""
        return tables.load_pandas().DataFrame.from_records(self.table)

    def plot(self, setting: str | None = None, *, ax: Any = None, path: Any = None) -> Any:
        """The trials, or their values against a setting, as a picture: ``rf.plot.tuning``."""
        import rankforce

        return rankforce.plot.tuning(self, setting, ax=ax, path=path)

    def _result_table(self) -> ResultTable:
        rows = self.table
        header = list(rows[0])
        cells = [[_cell(row[name]) for name in header] for row in rows]
        place = header.index(str(self.measure))
        for row, line in zip(rows, cells, strict=True):
            if row["state"] == DONE and row["trial"] == self.best.number:
                line[place] = dataclasses.replace(line[place], best=True)
        ended = f" (interrupted {self.interrupted})" if self.interrupted else ""
        title = f"{counted(len(rows), 'trial')}{ended}, chosen by {self.measure} {self.chosen_by}"
        return ResultTable(title, header, cells)


def _falling(value: float) -> float:
    return math.inf if math.isnan(value) else -value


def _cell(value: Any) -> Cell:
    if isinstance(value, float):
        usual = math.isnan(value) or 0.01 <= abs(value) < 1e5 or value == 0
        return Cell(tables.number(value) if usual else f"{value:.3g}", values=(value,))
    return Cell(str(value)) if value is not None else Cell("–", values=(math.nan,))
