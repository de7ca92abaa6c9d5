"""Preferences between documents of a query: pairs with a probability, in place of grades or beside them.

A list need not be complete, nor consistent: pairs may be listed twice, contradict each other or run in circles, as the
votes of several judges do.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.cached_properties import cached_property
from rankforce.collective import alone, gathered
from rankforce.data.dataset import MAIN_LABEL, Dataset, check_dataset
from rankforce.data.frames import as_numbers, as_vector
from rankforce.data.pair_counts import count_pairs
from rankforce.data.tables.columns import ROLE_NAMES
from rankforce.data.tables.csv_rows import rows as csv_rows
from rankforce.errors import DataError, FileFormatError
from rankforce.files.limits import within_memory
from rankforce.files.streams import file_name
from rankforce.kinds import shown
from rankforce.memory import check_memory
from rankforce.remedies import DOCUMENT_IDS, Phrase

BYTES_PER_PAIR = 64  # rows, probability and weight, and once more sorted by query


@dataclasses.dataclass(frozen=True)
class ListedPairs:
    """Preferences as kernels see them: documents in ``by_query`` order, pairs by query.

    The order of the pairs of a query does not depend on the order in which they were given.
    """

    better: np.ndarray  # int32 (pairs)
    worse: np.ndarray  # int32 (pairs)
    probability: np.ndarray  # float64 (pairs)
    weight: np.ndarray  # float64 (pairs)
    starts: np.ndarray  # int64 (queries + 1)


class Preferences:
    """Pairs of documents of one data set, each with the probability that the first belongs above the second.

    Parameters
    ----------
    data : Dataset
    better, worse : arrays of shape (pairs,)
        Rows of the data set (from 0); both of one query.
    probability : number or array of shape (pairs,)
        P̄, that ``better`` belongs above ``worse``: 1 is a certain preference, ½ says that they belong together, less
        than ½ prefers the second.
    weight : array of shape (pairs,), optional
        How much a pair counts, times its query's weight and the weights of its two documents.
    """

    def __init__(self, data: Dataset, better: Any, worse: Any, probability: Any = 1.0, weight: Any = None) -> None:
        if not isinstance(data, Dataset):
            raise DataError(f"preferences are between documents of a Dataset, not of {type(data).__name__}")
        self.data = data
        self.better = _rows(better, data, "better")
        self.worse = _rows(worse, data, "worse")
        n = len(self.better)
        if len(self.worse) != n:
            raise DataError(f"{n} better and {len(self.worse)} worse documents: a pair has one of each")
        if n == 0 and alone():
            raise DataError("there are no preferences: give at least one pair")
        self.probability = _per_pair(probability, n, "probability")
        self.weight = _per_pair(1.0 if weight is None else weight, n, "weight")
        self.columns: tuple[str, ...] = ()  # of the file that it was read from
        self._check()

    def _check(self) -> None:
        first, second = self.data.row_queries[self.better], self.data.row_queries[self.worse]
        for wrong, problem in (
            (self.better == self.worse, "compares row {better} with itself"),
            (first != second, "compares documents of two queries, {query!r} and {other!r}"),
            (~((self.probability >= 0) & (self.probability <= 1)), "has the probability {probability:g}, not in 0 … 1"),
            (~((self.weight >= 0) & np.isfinite(self.weight)), "has the weight {weight:g}: not finite, or negative"),
        ):
            if wrong.any():
                pair = int(np.flatnonzero(wrong)[0])
                told = problem.format(
                    better=self.better[pair],
                    query=self.data.query_id(first[pair]),
                    other=self.data.query_id(second[pair]),
                    probability=self.probability[pair],
                    weight=self.weight[pair],
                )
                raise DataError(f"preference {pair} (from 0) {told}")

    def __len__(self) -> int:
        return len(self.better)

    def __repr__(self) -> str:
        return f"Preferences({len(self):,} pairs of {self.data.n_documents:,} documents)"

    @classmethod
    def from_ids(
        cls, data: Dataset, qid: Any, better: Any, worse: Any, probability: Any = 1.0, weight: Any = None
    ) -> Preferences:
        """From ids: of the query, and of its two documents (``data.document_ids``). Ids are compared as text."""
        queries, firsts, seconds = (as_vector(values).tolist() for values in (qid, better, worse))
        if not len(queries) == len(firsts) == len(seconds):
            raise DataError(
                f"{len(queries)} queries, {len(firsts)} better and {len(seconds)} worse documents: "
                "a preference has one of each"
            )
        find = _Finder(data)
        found = []
        for pair, ids in enumerate(zip(queries, firsts, seconds, strict=True)):
            try:
                found.append((find.row(ids[0], ids[1]), find.row(ids[0], ids[2])))
            except DataError as error:
                raise DataError(f"preference {pair} (from 0): {error}") from None
        rows = np.array(found, dtype=dtypes.OFFSET).reshape(-1, 2)
        return cls(data, rows[:, 0], rows[:, 1], probability, weight)

    @classmethod
    def from_grades(cls, data: Dataset, label: str = MAIN_LABEL, *, ties: bool = False) -> Preferences:
        """All pairs with different labels, as certain preferences; with ``ties`` also pairs of equal labels, at ½.

        Unlabelled documents are in no pair. The list takes memory for every pair.
        """
        labels = data.label(label)
        count = sum(count_pairs(labels[rows], ties=ties) for rows in data.each_query())
        check_memory(
            BYTES_PER_PAIR * count,
            "the list of all pairs",
            f"{count:,} pairs × {BYTES_PER_PAIR} bytes",
            "leave the ties out, or learn from the grades themselves, with pairs='sample 10'",
        )
        better, worse = [], []
        for rows in data.each_query():
            rows = rows[~np.isnan(labels[rows])]
            above, below = labels[rows][:, None], labels[rows][None, :]
            preferred = above > below
            if ties:
                preferred |= np.triu(above == below, 1)
            i, j = np.nonzero(preferred)
            better.append(rows[i])
            worse.append(rows[j])
        first, second = np.concatenate(better), np.concatenate(worse)
        return cls(data, first, second, np.where(labels[first] > labels[second], 1.0, 0.5))

    @cached_property
    def listed(self) -> ListedPairs:
        """The pairs by query."""
        places = np.empty(self.data.n_documents, dtype=dtypes.INDEX)
        places[self.data.rows] = np.arange(self.data.n_documents, dtype=dtypes.INDEX)
        queries = self.data.row_queries[self.better]
        better, worse = places[self.better], places[self.worse]
        order = np.lexsort((self.weight, self.probability, worse, better, queries))
        counts = np.bincount(queries, minlength=self.data.n_queries)
        return ListedPairs(
            better=better[order],
            worse=worse[order],
            probability=self.probability[order],
            weight=self.weight[order],
            starts=np.concatenate([[0], np.cumsum(counts)]).astype(dtypes.OFFSET),
        )

    @property
    def fingerprint(self) -> str:
        """A digest of the pairs, whatever their order and that of the queries; of all members' where several train."""
        listed = self.listed
        sizes = np.diff(listed.starts)
        first = np.repeat(self.data.query_starts[:-1], sizes)
        query = np.repeat(self.data.query_hashes, sizes)
        parts = [
            gathered(part)
            for part in (query, listed.better - first, listed.worse - first, listed.probability, listed.weight)
        ]
        order = np.argsort(parts[0], kind="stable")
        digest = hashlib.blake2b(digest_size=16)
        for part in parts:
            digest.update(np.ascontiguousarray(part[order]).tobytes())
        return digest.hexdigest()


class _Finder:
    """Rows by query id and document id."""

    def __init__(self, data: Dataset) -> None:
        if data.document_ids is None:
            raise DataError(
                "the data has no document ids: ",
                DOCUMENT_IDS,
                Phrase(", or Preferences(data, better, worse) with numbers of rows", ""),
            )
        self._queries = set(map(str, data.query_ids))
        self._rows: dict[tuple[str, str], int] = {}
        self._twice: set[tuple[str, str]] = set()
        for row, ids in enumerate(zip(map(str, data.qid), map(str, data.document_ids), strict=True)):
            if self._rows.setdefault(ids, row) != row:
                self._twice.add(ids)

    def row(self, query: Any, document: Any) -> int:
        ids = (str(query), str(document))
        if ids not in self._rows:
            if ids[0] not in self._queries:
                raise DataError(f"the data has no query {ids[0]!r}")
            raise DataError(f"query {ids[0]!r} has no document {ids[1]!r}")
        if ids in self._twice:
            raise DataError(f"query {ids[0]!r} has the document {ids[1]!r} twice: which one is meant?")
        return self._rows[ids]


def read_preferences(path: str | Path, data: Dataset, *, delimiter: str | None = None) -> Preferences:
    """Preferences from delimited text whose first line names the columns, in any order::

        qid,better,worse,probability,weight

    The last two may be absent (then 1), and so may their cells. ``better`` and ``worse`` are document ids of the data.
    The delimiter is a tab in files that end in ``.tsv`` (or ``.tsv.gz``), else a comma.
    """
    check_dataset(data)
    file = Path(file_name(path))
    if delimiter is not None and not (isinstance(delimiter, str) and len(delimiter) == 1):
        raise DataError(f"a delimiter is one character, not {shown(delimiter)}")
    separator = delimiter or ("\t" if file.name.lower().endswith((".tsv", ".tsv.gz")) else ",")
    with within_memory(file):
        return _read_pairs(file, separator, data)


def _read_pairs(file: Path, separator: str, data: Dataset) -> Preferences:
    lines = csv_rows(file, separator, header=True)
    columns = _columns(lines, file, separator)
    find = _Finder(data)
    pairs: list[tuple[int, int, float, float]] = []
    for line, cells in lines:
        if len(cells) != columns.count:
            problem = f"{len(cells)} cells in a row, the header has {columns.count}"
            raise FileFormatError(problem, path=file, line=line, text=separator.join(cells))
        try:
            query = cells[columns.qid]
            rows = [find.row(query, cells[place]) for place in (columns.better, columns.worse)]
            if rows[0] == rows[1]:
                raise DataError(f"document {cells[columns.better]!r} is compared with itself")
            probability = _number(cells, columns.probability, "probability", 1.0)
            weight = _number(cells, columns.weight, "weight", math.inf)
        except DataError as error:
            raise FileFormatError(error.args, path=file, line=line, text=separator.join(cells)) from None
        pairs.append((rows[0], rows[1], probability, weight))
    if not pairs:
        raise FileFormatError("the file has a header and no rows", path=file)
    better, worse, probabilities, weights = map(np.array, zip(*pairs, strict=True))
    preferences = Preferences(data, better, worse, probabilities, weights)
    preferences.columns = columns.named
    return preferences


@dataclasses.dataclass(frozen=True)
class _PreferenceColumns:
    """Where the columns of a file of preferences are; −1 for one that is absent."""

    count: int
    qid: int
    better: int
    worse: int
    probability: int
    weight: int

    @property
    def named(self) -> tuple[str, ...]:
        places = dataclasses.asdict(self)
        return tuple(name for name, place in places.items() if name != "count" and place >= 0)


def _columns(lines: Iterator[tuple[int, list[str]]], path: Path, separator: str) -> _PreferenceColumns:
    first = next(lines, None)
    remedy = f"the first line names the columns: {separator.join(('qid', 'better', 'worse', 'probability'))}"
    if first is None:
        raise FileFormatError("the file is empty", path=path, remedy=remedy)
    header = [name.strip().lower() for name in first[1]]
    header = ["qid" if name in ROLE_NAMES["qid"] else name for name in header]
    known = ("qid", "better", "worse", "probability", "weight")
    for name in header:
        if name not in known or header.count(name) > 1:
            problem = "a column twice" if name in known else f"unknown column {name!r}"
            raise FileFormatError(problem, path=path, line=first[0], text=separator.join(first[1]), remedy=remedy)
    for name in known[:3]:
        if name not in header:
            problem = f"there is no column {name!r}"
            raise FileFormatError(problem, path=path, line=first[0], text=separator.join(first[1]), remedy=remedy)
    places = {name: header.index(name) if name in header else -1 for name in known}
    return _PreferenceColumns(len(header), **places)


def _number(cells: list[str], place: int, what: str, most: float) -> float:
    """A number from 0 to ``most``; 1 where the column or the cell is absent."""
    if place < 0 or not cells[place].strip():
        return 1.0
    try:
        number = float(cells[place])
    except ValueError:
        number = math.nan
    if not 0.0 <= number <= most or math.isinf(number):
        wanted = "a number from 0 to 1" if most == 1.0 else "a finite number, not negative"
        raise DataError(f"{what} must be {wanted}")
    return number


def consistent_posteriors(adjacent: Any) -> np.ndarray:
    """All target posteriors of a chain of documents from those of its neighbours.

    ``adjacent[i]`` is P̄ that document i belongs above document i + 1. Consistency fixes the rest:
    P̄_ik = P̄_ij·P̄_jk / (1 + 2·P̄_ij·P̄_jk − P̄_ij − P̄_jk), that is, log-odds add along the chain. Returns float64
    (documents, documents), with ½ on the diagonal and P̄_ji = 1 − P̄_ij. A chain of ½ stays at ½; above ½ it grows
    with its length, below it falls; 0 and 1 stay. A chain that holds both 0 and 1 has no answer and is an error.
    """
    steps = np.atleast_1d(as_numbers(adjacent, "adjacent").astype(np.float64))
    if steps.ndim != 1 or not ((steps >= 0) & (steps <= 1)).all():
        raise DataError("adjacent must hold one probability from 0 to 1 for every two neighbours")
    zeros, ones = np.flatnonzero(steps == 0), np.flatnonzero(steps == 1)
    if len(zeros) and len(ones):
        raise DataError(
            f"adjacent[{zeros[0]}] is 0 and adjacent[{ones[0]}] is 1: no probability is consistent with both; "
            "use probabilities inside (0, 1)"
        )
    n = len(steps) + 1
    with np.errstate(divide="ignore"):
        logits = np.log(steps) - np.log1p(-steps)
    posteriors = np.full((n, n), 0.5)
    for i in range(n - 1):
        chain = np.cumsum(logits[i:])
        e = np.exp(-np.abs(chain))
        likelier = 1.0 / (1.0 + e)
        less_likely = e / (1.0 + e)
        posteriors[i, i + 1 :] = np.where(chain >= 0, likelier, less_likely)
        posteriors[i + 1 :, i] = np.where(chain >= 0, less_likely, likelier)
    return posteriors


def _rows(values: Any, data: Dataset, what: str) -> np.ndarray:
    array = as_numbers(values, what)
    if array.ndim != 1 or array.dtype.kind == "b" or not (np.isfinite(array) & (array == np.floor(array))).all():
        raise DataError(f"{what} must hold numbers of rows (from 0), whole numbers, one per pair")
    outside = (array < 0) | (array >= data.n_documents)
    if outside.any():
        pair = int(np.flatnonzero(outside)[0])
        raise DataError(
            f"preference {pair} (from 0): there is no row {array[pair]:g}; rows are numbered 0 to {len(data) - 1}"
        )
    return _frozen(array.astype(dtypes.OFFSET))


def _per_pair(values: Any, n: int, what: str) -> np.ndarray:
    array = as_numbers(values, what).astype(np.float64)
    if array.ndim == 0:
        array = np.full(n, float(array))
    if array.shape != (n,):
        raise DataError(f"{what} must be a number or have one entry per pair ({n}), not shape {array.shape}")
    return _frozen(np.array(array))


def _frozen(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array
