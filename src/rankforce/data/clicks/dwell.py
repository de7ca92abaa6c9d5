"""How long users stayed with what they clicked.

The dwell time of a click is what a column of the log says, or the time from the click to the next action of its
session: the next row of the session, clicked or not, with a later time. It is unknown where there is no next action,
where that comes so late that the user had left (beyond ``longest_dwell``), and where the cell of a dwell column is
empty.

A dwell of t seconds counts as ln(1 + t)/ln(1 + longest_dwell), a number from 0 to 1, kept as a whole number of 2^-24's:
sums are exact, and no order of the rows can change them.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Final

import numpy as np

from rankforce.data.clicks.session_logs import LogChunk
from rankforce.errors import DataError, SettingsError
from rankforce.kinds import Choice, OrNone, check_choice, check_number
from rankforce.remedies import Argument, LogColumn

DWELL_COUNTS = ("satisfied_clicks", "unknown_dwells", "timed_clicks", "dwell_units")
UNIT: Final = 2.0**-24
UNITS_OF_TIME = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_LARGEST_IN_SECONDS = 1e11  # the year 5138: whoever writes more writes milliseconds
_OF_DATES = 1e-6  # seconds: dates are read in microseconds


@dataclasses.dataclass(frozen=True)
class DwellSettings:
    """What a dwell time means; see ``click_labels``."""

    satisfied_after: float = 30.0
    longest_dwell: float = 1800.0
    unknown_dwell: str = "satisfied"
    time_unit: str | None = None

    def __post_init__(self) -> None:
        for name in ("satisfied_after", "longest_dwell"):
            check_number(name, getattr(self, name), 0.0, above=True)
            object.__setattr__(self, name, float(getattr(self, name)))
        if self.satisfied_after > self.longest_dwell:
            raise SettingsError(
                f"satisfied_after ({self.satisfied_after:g} s) must not be above longest_dwell "
                f"({self.longest_dwell:g} s), beyond which a dwell time is unknown"
            )
        check_choice("unknown_dwell", self.unknown_dwell, ("satisfied", "leave_out"))
        OrNone(Choice(tuple(UNITS_OF_TIME))).check("time_unit", self.time_unit)

    def counts(self, seconds: np.ndarray) -> np.ndarray:
        """``DWELL_COUNTS`` (4, clicks) of clicks with such dwell times; NaN: unknown."""
        known = seconds <= self.longest_dwell
        satisfied = known & (seconds >= self.satisfied_after)
        if self.unknown_dwell == "satisfied":
            satisfied |= ~known
        return np.stack([satisfied, ~known, known, self.units(seconds)]).astype(np.int64)

    def units(self, seconds: np.ndarray) -> np.ndarray:
        """What dwell times count, in units; 0 where they are unknown."""
        known = np.where(seconds <= self.longest_dwell, seconds, 0.0)
        return np.round(np.log1p(known) / math.log1p(self.longest_dwell) / UNIT).astype(np.int64)


class Dwelling:
    """Dwell times over the chunks of a log: counts of the clicks whose sessions are over."""

    def __init__(self, settings: DwellSettings, keep_each: bool) -> None:
        self._settings = settings
        self._sessions: dict[str, int] = {}
        self._actions: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # session, seconds, pair (−1: no click)
        self._settled: list[tuple[np.ndarray, np.ndarray]] = []
        self._each: list[tuple[np.ndarray, np.ndarray]] | None = [] if keep_each else None  # pairs, units: for medians

    def add(self, chunk: LogChunk, pairs: np.ndarray) -> None:
        """Take the rows of a chunk; ``pairs`` says of which query and document each is."""
        clicked = np.flatnonzero(chunk.clicked)
        if chunk.dwell is not None:
            self._settle(pairs[clicked], chunk.dwell[clicked])
            return
        if chunk.time is None:
            raise DataError(
                "the log says neither how long users stayed nor when they clicked\n  name the column: ",
                LogColumn("dwell"),
                " (seconds) or ",
                LogColumn("time"),
            )
        missing = clicked[~np.isfinite(chunk.time[clicked])]
        if len(missing):
            chunk.fail(int(missing[0]), "time", "the time of a click is missing", "every click needs its time")
        seconds = chunk.time * self._seconds_per_unit(chunk)
        timed = np.isfinite(seconds)
        numbers = [self._sessions.setdefault(one, len(self._sessions)) for one in chunk.session.values]
        sessions = np.array(numbers, dtype=np.int64)[chunk.session.codes]
        others = np.flatnonzero(timed & ~chunk.clicked)
        others = others[np.lexsort((seconds[others], sessions[others]))]
        others = others[_moments(sessions[others], seconds[others])]  # one row of a page that was shown says it all
        self._actions.append((sessions[clicked], seconds[clicked], pairs[clicked]))
        self._actions.append((sessions[others], seconds[others], np.full(len(others), -1)))

    def settle(self, going_on: str | None = None) -> None:
        """All sessions are over, but the one that goes on."""
        if not self._actions:
            return
        session, seconds, pair = (np.concatenate(parts) for parts in zip(*self._actions, strict=True))
        open_number = -1 if going_on is None else self._sessions.get(going_on, -1)
        over = session != open_number
        kept = ~over
        self._sessions = {} if open_number < 0 or going_on is None else {going_on: 0}
        self._actions = [(np.zeros(int(kept.sum()), np.int64), seconds[kept], pair[kept])] if kept.any() else []
        dwell = until_next(session[over], seconds[over])
        clicks = pair[over] >= 0
        self._settle(pair[over][clicks], dwell[clicks])

    def taken(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The counts of clicks that are settled, (pairs, counts), each handed over once."""
        settled, self._settled = self._settled, []
        return settled

    def medians(self, pairs: np.ndarray) -> np.ndarray:
        """The median of what the known dwell times of each pair count (pairs ascending); NaN where none is known."""
        medians = np.full(len(pairs), np.nan)
        if self._each:
            of_pair = np.concatenate([one for one, _ in self._each])
            units = np.concatenate([one for _, one in self._each])
            order = np.lexsort((units, of_pair))
            of_pair, units = of_pair[order], units[order]
            starts, ends = np.searchsorted(of_pair, pairs, "left"), np.searchsorted(of_pair, pairs, "right")
            some = ends > starts
            low, high = (starts + ends - 1)[some] // 2, (starts + ends)[some] // 2
            medians[some] = (units[low] + units[high]) * (0.5 * UNIT)
        return medians

    def _settle(self, pairs: np.ndarray, seconds: np.ndarray) -> None:
        self._settled.append((pairs, self._settings.counts(seconds)))
        if self._each is not None:
            known = seconds <= self._settings.longest_dwell
            self._each.append((pairs[known], self._settings.units(seconds[known])))

    def _seconds_per_unit(self, chunk: LogChunk) -> float:
        assert chunk.time is not None
        if chunk.dates:
            return _OF_DATES
        if self._settings.time_unit is not None:
            return UNITS_OF_TIME[self._settings.time_unit]
        too_large = np.flatnonzero(np.abs(np.nan_to_num(chunk.time)) > _LARGEST_IN_SECONDS)
        if len(too_large):
            remedy = ("if times are milliseconds: ", Argument("time_unit", "ms"), "; else 's', 'us' or 'ns'")
            chunk.fail(int(too_large[0]), "time", "as seconds this lies beyond the year 5000", remedy)
        return 1.0


def until_next(session: np.ndarray, time: np.ndarray) -> np.ndarray:
    """From each action to the next of its session that is later; NaN where there is none."""
    order = np.lexsort((time, session))
    session, time = session[order], time[order]
    begins = _moments(session, time)
    moments = np.flatnonzero(begins)
    following = np.full(len(moments), np.nan)
    same_session = session[moments[1:]] == session[moments[:-1]]
    following[:-1][same_session] = time[moments[1:]][same_session]
    result = np.empty(len(session))
    result[order] = following[np.cumsum(begins) - 1] - time
    return result


def _moments(session: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Whether a row is the first of its session and time, of sorted rows."""
    begins = np.ones(len(session), dtype=bool)
    begins[1:] = (np.diff(session) != 0) | (np.diff(time) != 0.0)
    return begins
