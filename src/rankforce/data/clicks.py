"""Click labels from session logs: one number per query and document.

labels = rf.click_labels("log.parquet")
data = data.with_label("clicks", labels.for_data(data))
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.data.dataset import Dataset
from rankforce.data.hashing import hash_ids
from rankforce.data.session_logs import Coded, LogChunk, read_log
from rankforce.data.tables import arrow, delimiter_of, is_parquet
from rankforce.errors import DataError, SettingsError, missing_dependency
from rankforce.replacing import replacing

RATES = ("last_click", "click")
CHUNK_ROWS = 1 << 20
_PARTS_AT_ONCE = 1 << 22  # entries of unmerged counts that are kept before they are merged
_WHOLE_SESSION = -1  # in place of a query: the last click of the session, whatever the query

QueryKey = Callable[[str], Any] | Mapping[Any, Any]


def click_labels(
    log: Any,
    rate: str = "last_click",
    *,
    query_key: str | QueryKey | None = None,
    last_of: str = "query",
    smoothing: float = 0.0,
    prior: str | float = "query",
    smooth_zeros: bool = False,
    min_impressions: int = 1,
    session: str | None = None,
    query: str | None = None,
    document: str | None = None,
    position: str | None = None,
    clicked: str | None = None,
    time: str | None = None,
    sorted_by_session: bool = False,
    chunk_rows: int = CHUNK_ROWS,
    progress: bool | None = None,
) -> ClickLabels:
    """Labels in [0, 1] from what users clicked.

    Of the n impressions of a document under a query, c were clicked, and l of these clicks were the last of their
    session for that query. The click-through rate is c/n; the last-click rate is l/n, which suffers less from the
    position: a user who stops has found something, wherever it stood. Documents that were never shown have no label.

    Parameters
    ----------
    log : path, data frame, or an iterable of these
        A row per document shown: ``session``, ``query``, ``document``, ``clicked`` (0 or 1), ``position`` (1 is the
        top) and ``time``, of which one may be absent. CSV (.csv, .tsv, also .gz) or Parquet; read in chunks.
    rate : "last_click" or "click"
        Which rate is the label; both are in the result.
    query_key : function, mapping, or name of a column of the log
        Queries with the same key are one query: their impressions are pooled, in the log and in ``for_data``. A
        function is called with the query as text; a query that a mapping lacks is its own key.
    last_of : "query" or "session"
        Whose last click counts: that of each query of a session, or only that of the whole session.
    smoothing : number
        Imaginary impressions s at the prior mean m: (c + s·m)/(n + s). With few impressions the label stays near m.
    prior : "query", "global" or number
        The mean m: of all impressions of the query, of the whole log, or given.
    smooth_zeros : bool
        False: what was never clicked stays exactly 0, whatever the smoothing, so that objectives that leave zero
        clicks out still see them. True: such a document gets s·m/(n + s).
    min_impressions : int
        With fewer a document is unlabelled.
    session, query, document, position, clicked, time : str
        The names of the columns, where they are not called so.
    sorted_by_session : bool
        The rows of a session are adjacent, which is checked. Needs 8 bytes of memory per session in place of a few
        hundred for each last click.
    chunk_rows : int
        Rows looked at together; the result does not depend on it.
    progress : bool, optional
        Show a progress bar; by default on a terminal, for files that take long.

    The last click is that with the latest time; without times, or where they are equal, that at the lowest place of
    the list (users read downwards), then the later row. Ids are compared as text.
    """
    settings = ClickSettings(rate, last_of, smoothing, prior, smooth_zeros, min_impressions)
    if isinstance(chunk_rows, bool) or not isinstance(chunk_rows, int) or chunk_rows < 1:
        raise SettingsError(f"chunk_rows must be a positive whole number, not {chunk_rows!r}")
    keys = _Keys(query_key)
    names = {
        "session": session,
        "query": query,
        "document": document,
        "position": position,
        "clicked": clicked,
        "time": time,
        "key": keys.column,
    }
    counting = _Counting(keys, last_of == "session", sorted_by_session)
    for chunk in read_log(log, names, chunk_rows, progress):
        counting.add(chunk)
    return counting.labels(settings)


@dataclasses.dataclass(frozen=True)
class ClickSettings:
    """How counts become labels; see ``click_labels``."""

    rate: str = "last_click"
    last_of: str = "query"
    smoothing: float = 0.0
    prior: str | float = "query"
    smooth_zeros: bool = False
    min_impressions: int = 1

    def __post_init__(self) -> None:
        for name, value, known in (("rate", self.rate, RATES), ("last_of", self.last_of, ("query", "session"))):
            if value not in known:
                raise SettingsError(f"{name} must be {' or '.join(map(repr, known))}, not {value!r}")
        if not _is_number(self.smoothing) or not 0.0 <= self.smoothing < math.inf:
            raise SettingsError(f"smoothing is a number of impressions, at least 0, not {self.smoothing!r}")
        given = _is_number(self.prior) and 0.0 <= float(self.prior) <= 1.0
        if not given and self.prior not in ("query", "global"):
            raise SettingsError(f"prior must be 'query', 'global' or a rate from 0 to 1, not {self.prior!r}")
        if isinstance(self.min_impressions, bool) or not isinstance(self.min_impressions, int):
            raise SettingsError(f"min_impressions must be a whole number, not {self.min_impressions!r}")
        if self.min_impressions < 1:
            raise SettingsError("min_impressions must be at least 1: a document never shown has no label")

    def rates(self, clicks: np.ndarray, impressions: np.ndarray, query: np.ndarray) -> np.ndarray:
        """(clicks + s·m)/(impressions + s); ``query`` numbers the queries from 0."""
        mean: Any = self.prior
        if self.prior == "query":
            mean = (np.bincount(query, clicks) / np.bincount(query, impressions))[query]
        elif self.prior == "global":
            mean = clicks.sum() / impressions.sum()
        result = (clicks + self.smoothing * mean) / (impressions + self.smoothing)
        if not self.smooth_zeros:
            result[clicks == 0] = 0.0
        result[impressions < self.min_impressions] = np.nan
        return result


class ClickLabels:
    """What was counted in a log, and the labels made of it.

    One entry per query (or query key) and document that was shown, queries and their documents in order of first
    appearance: ``queries`` and ``documents`` (text), ``impressions``, ``clicks``, ``last_clicks`` (int64), and
    ``click_rate`` and ``last_click_rate`` (float64), smoothed, NaN below the minimum of impressions. ``values`` is the
    one of the two that is the label.
    """

    def __init__(
        self, pairs: np.ndarray, counts: np.ndarray, query_codes: dict[str, int], documents: dict[str, int],
        keys: _Keys, settings: ClickSettings,
    ) -> None:  # fmt: skip
        self.settings = settings
        self._pairs = pairs  # number of the query << 32 | number of the document, ascending
        self._query_codes = query_codes
        self._document_codes = documents
        self._keys = keys
        query = pairs >> 32
        self.queries = np.array(list(query_codes), dtype=object)[query]
        self.documents = np.array(list(documents), dtype=object)[pairs & 0xFFFFFFFF]
        self.impressions, self.clicks, self.last_clicks = counts
        self.click_rate = settings.rates(self.clicks, self.impressions, query)
        self.last_click_rate = settings.rates(self.last_clicks, self.impressions, query)

    @property
    def values(self) -> np.ndarray:
        return self.last_click_rate if self.settings.rate == "last_click" else self.click_rate

    def __len__(self) -> int:
        return len(self._pairs)

    def for_data(self, data: Dataset) -> np.ndarray:
        """The label of each row of a data set, by its query id and document id; NaN where there is none."""
        if data.document_ids is None:
            raise DataError(
                "the data has no document ids, which the labels are joined by: data.replace(document_ids=...)"
            )
        keys = [self._query_codes.get(self._keys.of(str(one)), -1) for one in data.query_ids.tolist()]
        queries = np.array(keys, dtype=np.int64)[data.row_queries]
        documents = np.fromiter(
            (self._document_codes.get(str(one), -1) for one in data.document_ids.tolist()),
            dtype=np.int64,
            count=data.n_documents,
        )
        wanted = np.where((queries < 0) | (documents < 0), -1, (queries << 32) | documents)
        places = np.minimum(np.searchsorted(self._pairs, wanted), len(self._pairs) - 1)
        found = self._pairs[places] == wanted
        if not found.any():
            raise DataError(
                "no document of the data is in the log: ids are compared as text, and the log has query "
                f"{self.queries[0]!r} with document {self.documents[0]!r}, the data query {str(data.qid[0])!r} with "
                f"document {str(data.document_ids[0])!r}; query_key= can bring queries together"
            )
        return np.where(found, self.values[places], np.nan).astype(dtypes.LABEL)

    def columns(self) -> dict[str, np.ndarray]:
        """The table: query, document, counts and rates."""
        return {
            "query": self.queries,
            "document": self.documents,
            "impressions": self.impressions,
            "clicks": self.clicks,
            "last_clicks": self.last_clicks,
            "click_rate": self.click_rate,
            "last_click_rate": self.last_click_rate,
        }

    def write(self, path: str | Path) -> None:
        """Write the table as Parquet (``.parquet``) or delimited text (``.csv``, ``.tsv``), whole or not at all."""
        path = Path(path)
        pa = arrow(path)
        columns = {
            name: pa.array(values, type=pa.string() if values.dtype == object else None, from_pandas=True)
            for name, values in self.columns().items()
        }
        table = pa.table(columns)
        with replacing(path) as file:
            if is_parquet(path):
                import pyarrow.parquet as pq

                pq.write_table(table, file, write_page_checksum=True)
                return
            from pyarrow import csv as arrow_csv

            with pa.output_stream(file, compression="gzip" if path.suffix == ".gz" else None) as stream:
                options = arrow_csv.WriteOptions(delimiter=delimiter_of(path, None))
                arrow_csv.write_csv(table, stream, write_options=options)

    def to_pandas(self) -> Any:
        """The table as a pandas data frame."""
        try:
            import pandas
        except ImportError:
            raise missing_dependency("pandas", "frames", "a data frame") from None
        return pandas.DataFrame(self.columns())

    def to_dict(self) -> dict[str, Any]:
        """What was counted, in total, and the settings."""
        return {
            "labels": int((~np.isnan(self.values)).sum()),
            "zero_labels": int((self.values == 0.0).sum()),
            "below_min_impressions": int((self.impressions < self.settings.min_impressions).sum()),
            "queries": len(self._query_codes),
            "documents": len(self._document_codes),
            "impressions": int(self.impressions.sum()),
            "clicks": int(self.clicks.sum()),
            "last_clicks": int(self.last_clicks.sum()),
            "settings": dataclasses.asdict(self.settings) | {"query_key": self._keys.words},
        }

    def __str__(self) -> str:
        told, settings = self.to_dict(), self.settings
        name = "last-click rate" if settings.rate == "last_click" else "click-through rate"
        words = [
            f"{told['labels']:,} labels ({name}) of {told['queries']:,} queries, {told['zero_labels']:,} of them 0",
            f"from {told['impressions']:,} impressions, {told['clicks']:,} clicks, {told['last_clicks']:,} of them the "
            f"last of their {settings.last_of}",
        ]
        if told["below_min_impressions"]:
            words.append(
                f"unlabelled, with fewer than {settings.min_impressions} impressions: {told['below_min_impressions']:,}"
            )
        if settings.smoothing:
            mean = f"of {settings.prior:g}" if _is_number(settings.prior) else f"mean of the {_MEANS[settings.prior]}"
            zeros = "" if settings.smooth_zeros else "; what was never clicked stays 0"
            words.append(f"smoothed by {settings.smoothing:g} impressions at the {mean}{zeros}")
        if self._keys.words:
            words.append(f"queries pooled by {self._keys.words}")
        return "\n".join(words)

    def __repr__(self) -> str:
        return f"<ClickLabels of {len(self._query_codes):,} queries: {len(self):,} documents shown>"


_MEANS: dict[Any, str] = {"query": "query", "global": "log"}


class _Keys:
    """From a query to the key under which it is counted."""

    def __init__(self, given: str | QueryKey | None) -> None:
        self.column = given if isinstance(given, str) else None
        self._given = given
        self._known: dict[str, str] = {}
        if isinstance(given, Mapping):
            self._known = {str(query): str(key) for query, key in given.items()}
        elif given is not None and not isinstance(given, str) and not callable(given):
            raise SettingsError(f"query_key is a function, a mapping or the name of a column, not {given!r}")

    @property
    def words(self) -> str | None:
        if self._given is None:
            return None
        if self.column is not None:
            return f"column {self.column}"
        return "a mapping" if isinstance(self._given, Mapping) else getattr(self._given, "__name__", "a function")

    def of(self, query: str) -> str:
        """The key of a query; of one that neither mapping nor log knows: itself."""
        found = self._known.get(query)
        if found is None and callable(self._given):
            made = self._given(query)
            if made is None or isinstance(made, float):
                raise DataError(f"query_key gave {made!r} for the query {query!r}: a key is text or a whole number")
            found = self._known[query] = str(made)
        return query if found is None else found

    def learn(self, chunk: LogChunk) -> None:
        """Take the keys of a column; a query has one."""
        if chunk.key is None:
            return
        both = np.unique(chunk.query.codes * len(chunk.key.values) + chunk.key.codes)
        for one in both.tolist():
            query = chunk.query.values[one // len(chunk.key.values)]
            key = chunk.key.values[one % len(chunk.key.values)]
            if self._known.setdefault(query, key) != key:
                wrong = (chunk.query.codes * len(chunk.key.values) + chunk.key.codes) == one
                chunk.fail(
                    int(np.flatnonzero(wrong)[0]),
                    "key",
                    f"query {query!r} has had another key, {self._known[query]!r}",
                    "a query has one key throughout",
                )


@dataclasses.dataclass
class _LastClick:
    """The latest click so far of a session (and query)."""

    when: tuple[float, float, int]  # time, position, row
    pair: int


class _Counting:
    """Counts over the chunks of a log. All sums are of integers: chunks and their order do not matter."""

    def __init__(self, keys: _Keys, whole_sessions: bool, adjacent: bool) -> None:
        self._keys = keys
        self._whole_sessions = whole_sessions
        self._adjacent = adjacent
        self._queries: dict[str, int] = {}
        self._documents: dict[str, int] = {}
        self._last: dict[tuple[str, int], _LastClick] = {}
        self._closed: list[np.ndarray] = []  # hashes of the sessions that are over, sorted runs of falling length
        self._open: str | None = None
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []  # pairs, counts (3, pairs)
        self._rows = 0

    def add(self, chunk: LogChunk) -> None:
        if len(chunk) == 0:
            return
        self._keys.learn(chunk)
        if self._adjacent:
            self._check_adjacent(chunk)
        queries = _numbered(self._queries, [self._keys.of(one) for one in chunk.query.values])[chunk.query.codes]
        documents = _numbered(self._documents, chunk.document.values)[chunk.document.codes]
        pairs = (queries << 32) | documents
        shown, place = np.unique(pairs, return_inverse=True)
        counts = np.zeros((3, len(shown)), dtype=np.int64)
        counts[0] = np.bincount(place, minlength=len(shown))
        counts[1] = np.bincount(place[chunk.clicked], minlength=len(shown))
        self._parts.append((shown, counts))
        self._find_last_clicks(chunk, queries, pairs)
        self._rows += len(chunk)
        if self._adjacent:
            self._close_sessions(chunk.session)
        if sum(len(part) for part, _ in self._parts[1:]) > max(_PARTS_AT_ONCE, len(self._parts[0][0])):
            self._merge()

    def labels(self, settings: ClickSettings) -> ClickLabels:
        if self._rows == 0:
            raise DataError("the log has no rows: there is nothing to make labels of")
        self._count_last_clicks(self._last.values())
        pairs, counts = self._merge()
        return ClickLabels(pairs, counts, self._queries, self._documents, self._keys, settings)

    def _find_last_clicks(self, chunk: LogChunk, queries: np.ndarray, pairs: np.ndarray) -> None:
        rows = np.flatnonzero(chunk.clicked)
        if chunk.time is None and chunk.position is None:
            raise DataError(
                "the log has neither a time nor a position of clicks: which one was the last cannot be told\n"
                "  name the column: time=... or position=..."
            )
        unknown = np.full(len(rows), -1.0)
        times = unknown if chunk.time is None else chunk.time[rows]
        positions = unknown if chunk.position is None else chunk.position[rows]
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
        found = zip(sessions[latest].tolist(), scope[latest].tolist(), when, pairs[rows[latest]].tolist(), strict=True)
        for session, query, moment, pair in found:
            key = (chunk.session.values[session], query)
            known = self._last.get(key)
            if known is None:
                self._last[key] = _LastClick(moment, pair)
            elif moment > known.when:
                known.when, known.pair = moment, pair

    def _check_adjacent(self, chunk: LogChunk) -> None:
        codes = chunk.session.codes
        starts = np.flatnonzero(np.diff(codes, prepend=-1))  # of the runs of one session
        first_seen = np.full(len(chunk.session.values), -1)
        first_seen[codes[starts[::-1]]] = starts[::-1]
        again = starts[first_seen[codes[starts]] != starts]
        hashes = hash_ids(np.array(chunk.session.values, dtype=object))
        known = np.zeros(len(hashes), dtype=bool)
        for run in self._closed:
            known |= run[np.minimum(np.searchsorted(run, hashes), len(run) - 1)] == hashes
        if self._open in chunk.session.values and chunk.session.values[codes[0]] != self._open:
            known[chunk.session.values.index(self._open)] = True
        torn = np.sort(np.concatenate([again, first_seen[known]]))
        if len(torn):
            row = int(torn[0])
            chunk.fail(
                row,
                "session",
                f"session {chunk.session.values[codes[row]]!r} goes on after another one",
                "sort the log by session, or say sorted_by_session=False, which takes more memory",
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
        if over:
            self._closed.append(np.sort(hash_ids(np.array(sorted(over), dtype=object))))
        while len(self._closed) > 1 and len(self._closed[-2]) <= len(self._closed[-1]):
            self._closed[-2:] = [np.sort(np.concatenate(self._closed[-2:]))]

    def _count_last_clicks(self, clicks: Any) -> None:
        pairs, times = np.unique(np.array([click.pair for click in clicks], dtype=np.int64), return_counts=True)
        self._parts.append((pairs, np.stack([np.zeros_like(times), np.zeros_like(times), times])))

    def _merge(self) -> tuple[np.ndarray, np.ndarray]:
        pairs = np.concatenate([part for part, _ in self._parts])
        counts = np.concatenate([part for _, part in self._parts], axis=1)
        order = np.argsort(pairs, kind="stable")
        heads = np.flatnonzero(np.diff(pairs[order], prepend=-1))
        merged = (pairs[order][heads], np.add.reduceat(counts[:, order], heads, axis=1))
        self._parts = [merged]
        return merged


def _numbered(numbers: dict[str, int], values: list[str]) -> np.ndarray:
    """The number of each value; new ones get the next."""
    return np.fromiter((numbers.setdefault(one, len(numbers)) for one in values), dtype=np.int64, count=len(values))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
