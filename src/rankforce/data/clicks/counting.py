"""Impressions, clicks and last clicks, counted in one pass over a session log."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from rankforce.data.clicks.dwell import DWELL_COUNTS, Dwelling
from rankforce.data.clicks.keys import QueryKeys
from rankforce.data.clicks.log_values import Coded
from rankforce.data.clicks.pooled_labels import SimilarClickLabels
from rankforce.data.clicks.propensities import Propensities
from rankforce.data.clicks.rates import COUNTS, LOOK_UNIT, ClickLabels, ClickSettings, CountedPairs
from rankforce.data.clicks.session_logs import LogChunk, positions_of
from rankforce.data.clicks.similar_queries import SimilarQueries
from rankforce.data.hashing import hash_ids
from rankforce.errors import DataError
from rankforce.remedies import NAME_ALONE, Argument, LogColumn

_PARTS_AT_ONCE = 1 << 22  # entries of unmerged counts that are kept before they are merged
_WHOLE_SESSION = -1  # in place of a query: the last click of the session, whatever the query


@dataclasses.dataclass
class _LastClick:
    """The latest click so far of a session (and query)."""

    when: tuple[float, float, int]  # time, position, row
    pair: int


class Counting:
    """Counts over the chunks of a log. All sums are of integers: chunks and their order do not matter."""

    def __init__(
        self,
        keys: QueryKeys,
        whole_sessions: bool,
        adjacent: bool,
        propensities: Propensities | None = None,
        dwelling: Dwelling | None = None,
    ) -> None:
        self._keys = keys
        self._propensities = propensities
        self._dwelling = dwelling
        looks = () if propensities is None else ("look_units",)
        self._kinds = (*COUNTS, *looks, *(() if dwelling is None else DWELL_COUNTS))
        self._whole_sessions = whole_sessions
        self._adjacent = adjacent
        self._queries: dict[str, int] = {}
        self._documents: dict[str, int] = {}
        self._last: dict[tuple[str, int], _LastClick] = {}
        self._closed: list[np.ndarray] = []  # hashes of the sessions that are over, sorted runs of falling length
        self._open: str | None = None
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []  # pairs, counts (kinds, pairs)
        self._rows = 0
        self._columns: dict[str, dict[str, None]] = {}  # role → the columns that it was read from

    def add(self, chunk: LogChunk) -> None:
        if len(chunk) == 0:
            return
        self._keys.learn(chunk)
        for role, column in chunk.columns.items():
            self._columns.setdefault(role, {})[column] = None
        if self._adjacent:
            self._check_adjacent(chunk)
        queries = numbered(self._queries, [self._keys.of(query) for query in chunk.query.values])[chunk.query.codes]
        documents = numbered(self._documents, chunk.document.values)[chunk.document.codes]
        pairs = (queries << 32) | documents
        distinct_pairs, pair_number = np.unique(pairs, return_inverse=True)
        counts = np.zeros((len(self._kinds), len(distinct_pairs)), dtype=np.int64)
        counts[0] = np.bincount(pair_number, minlength=len(distinct_pairs))
        counts[1] = np.bincount(pair_number[chunk.clicked], minlength=len(distinct_pairs))
        if self._propensities is not None:
            np.add.at(
                counts[3], pair_number, np.rint(self._propensities.at(positions_of(chunk)) / LOOK_UNIT).astype(int)
            )
        self._parts.append((distinct_pairs, counts))
        self._find_last_clicks(chunk, queries, pairs)
        if self._dwelling is not None:
            self._dwelling.add(chunk, pairs)
        self._rows += len(chunk)
        if self._adjacent:
            self._close_sessions(chunk.session)
        self._take_dwell_times()
        if sum(len(part) for part, _ in self._parts[1:]) > max(_PARTS_AT_ONCE, len(self._parts[0][0])):
            self._merge()

    def labels(self, settings: ClickSettings, similar: SimilarQueries | None = None) -> ClickLabels:
        if self._rows == 0:
            raise DataError("the log has no rows: there is nothing to make labels of")
        self._count_last_clicks(self._last.values())
        medians = None
        if self._dwelling is not None:
            self._dwelling.settle()
            self._take_dwell_times()
        pairs, counts = self._merge()
        if self._dwelling is not None and settings.rate == "median_dwell":
            medians = self._dwelling.medians(pairs)
        columns = {role: list(names) for role, names in self._columns.items()}
        by_kind = dict(zip(self._kinds, counts, strict=True))
        counted = CountedPairs(pairs, by_kind, self._queries, self._documents, self._keys)
        pooled = None if similar is None else SimilarClickLabels(counted, settings, similar)
        return ClickLabels(counted, settings, columns, medians, pooled)

    def _find_last_clicks(self, chunk: LogChunk, queries: np.ndarray, pairs: np.ndarray) -> None:
        rows = np.flatnonzero(chunk.clicked)
        if chunk.time is None and chunk.position is None:
            raise DataError(
                "the log has neither a time nor a position of clicks: which one was the last cannot be told\n"
                "  name the column: ",
                LogColumn("time"),
                " or ",
                LogColumn("position"),
            )
        no_values = np.full(len(rows), -1.0)
        times = no_values if chunk.time is None else chunk.time[rows]
        positions = no_values if chunk.position is None else chunk.position[rows]
        for values, role, needed in ((times, "time", True), (positions, "position", chunk.time is None)):
            missing = ~np.isfinite(values)
            if needed and missing.any():
                row = int(rows[np.flatnonzero(missing)[0]])
                chunk.fail(row, role, f"the {role} of a click is missing", f"every click needs its {role}")
        positions = np.where(np.isnan(positions), -1.0, positions)
        sessions = chunk.session.codes[rows]
        scope = np.full(len(rows), _WHOLE_SESSION) if self._whole_sessions else queries[rows]
        order = np.lexsort((rows, positions, times, scope, sessions))
        ends = np.ones(len(rows), dtype=bool)
        ends[:-1] = (np.diff(sessions[order]) != 0) | (np.diff(scope[order]) != 0)
        latest = order[ends]
        when = zip(
            times[latest].tolist(), positions[latest].tolist(), (rows[latest] + self._rows).tolist(), strict=True
        )
        last_clicks = zip(
            sessions[latest].tolist(), scope[latest].tolist(), when, pairs[rows[latest]].tolist(), strict=True
        )
        for session, query, moment, pair in last_clicks:
            key = (chunk.session.values[session], query)
            last = self._last.get(key)
            if last is None:
                self._last[key] = _LastClick(moment, pair)
            elif moment > last.when:
                last.when, last.pair = moment, pair

    def _check_adjacent(self, chunk: LogChunk) -> None:
        codes = chunk.session.codes
        starts = np.flatnonzero(np.diff(codes, prepend=-1))  # of the runs of one session
        first_seen = np.full(len(chunk.session.values), -1)
        first_seen[codes[starts[::-1]]] = starts[::-1]
        second_starts = starts[first_seen[codes[starts]] != starts]
        hashes = hash_ids(np.array(chunk.session.values, dtype=object))
        session_seen = np.zeros(len(hashes), dtype=bool)
        for run in self._closed:
            session_seen |= run[np.minimum(np.searchsorted(run, hashes), len(run) - 1)] == hashes
        if self._open in chunk.session.values and chunk.session.values[codes[0]] != self._open:
            session_seen[chunk.session.values.index(self._open)] = True
        split_starts = np.sort(np.concatenate([second_starts, first_seen[session_seen]]))
        if len(split_starts):
            row = int(split_starts[0])
            chunk.fail(
                row,
                "session",
                f"session {chunk.session.values[codes[row]]!r} goes on after another one",
                (
                    "sort the log by session, or leave ",
                    Argument("sorted_by_session", NAME_ALONE),
                    " out, which takes more memory",
                ),
            )

    def _close_sessions(self, session: Coded) -> None:
        """Forget all sessions but the last one, which may go on in the next chunk."""
        going_on = session.values[session.codes[-1]]
        over = {one for one in session.values if one != going_on}
        if self._open is not None and self._open != going_on:
            over.add(self._open)
        self._open = going_on
        kept = {key: click for key, click in self._last.items() if key[0] == going_on}
        self._count_last_clicks(click for key, click in self._last.items() if key[0] != going_on)
        self._last = kept
        if self._dwelling is not None:
            self._dwelling.settle(going_on)
        if over:
            self._closed.append(np.sort(hash_ids(np.array(sorted(over), dtype=object))))
        while len(self._closed) > 1 and len(self._closed[-2]) <= len(self._closed[-1]):
            self._closed[-2:] = [np.sort(np.concatenate(self._closed[-2:]))]

    def _count_last_clicks(self, clicks: Any) -> None:
        pairs, times = np.unique(np.array([click.pair for click in clicks], dtype=np.int64), return_counts=True)
        counts = np.zeros((len(self._kinds), len(pairs)), dtype=np.int64)
        counts[COUNTS.index("last_clicks")] = times
        self._parts.append((pairs, counts))

    def _take_dwell_times(self) -> None:
        for pairs, dwell_counts in [] if self._dwelling is None else self._dwelling.taken():
            others = np.zeros((len(self._kinds) - len(DWELL_COUNTS), len(pairs)), dtype=np.int64)
            self._parts.append((pairs, np.concatenate([others, dwell_counts])))

    def _merge(self) -> tuple[np.ndarray, np.ndarray]:
        pairs = np.concatenate([part for part, _ in self._parts])
        counts = np.concatenate([part for _, part in self._parts], axis=1)
        order = np.argsort(pairs, kind="stable")
        heads = np.flatnonzero(np.diff(pairs[order], prepend=-1))
        merged = (pairs[order][heads], np.add.reduceat(counts[:, order], heads, axis=1))
        self._parts = [merged]
        return merged


def numbered(numbers: dict[str, int], values: list[str]) -> np.ndarray:
    """The number of each value; new ones get the next."""
    return np.fromiter((numbers.setdefault(one, len(numbers)) for one in values), dtype=np.int64, count=len(values))
