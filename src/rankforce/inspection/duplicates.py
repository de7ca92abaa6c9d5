"""Documents that stand twice in a query."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.data.dataset import Dataset
from rankforce.data.hashing import mix

_CHUNK = 16_384


@dataclasses.dataclass(frozen=True)
class Duplicates:
    """Repetitions within queries.

    ``documents`` have the same features as an earlier document of their query; ``queries`` is the number of queries
    concerned; ``conflicting_documents`` differ in some label from the first document with their features;
    ``example`` is a pair of rows (from 0) with equal features and different labels.
    """

    documents: int
    queries: int
    conflicting_documents: int
    example: tuple[int, int] | None
    repeated_ids: int

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def row_hashes(matrix: np.ndarray) -> np.ndarray:
    """A 64-bit hash of every row of a float32 matrix: equal rows (0 = -0, missing = missing) have equal hashes."""
    result = np.empty(len(matrix), dtype=dtypes.HASH)
    for start in range(0, len(matrix), _CHUNK):
        result[start : start + _CHUNK] = _word_hashes(_canonical(matrix[start : start + _CHUNK]).view(np.uint32))
    return result


def bin_hashes(rows: np.ndarray) -> np.ndarray:
    """The same of rows of bins, whose bytes fill whole words."""
    result = np.empty(len(rows), dtype=dtypes.HASH)
    for start in range(0, len(rows), _CHUNK):
        words = np.ascontiguousarray(rows[start : start + _CHUNK]).view(np.uint32)
        result[start : start + _CHUNK] = _word_hashes(words)
    return result


def _word_hashes(words: np.ndarray) -> np.ndarray:
    multipliers = mix(np.arange(words.shape[1])) | np.uint64(1)
    return mix(np.einsum("ij,j->i", words.astype(dtypes.HASH), multipliers))


def _canonical(rows: np.ndarray) -> np.ndarray:
    """One pattern of bits for each value: -0 becomes 0, every NaN the same NaN."""
    rows = rows + np.float32(0.0)  # -0 + 0 is 0
    rows[np.isnan(rows)] = np.nan
    return rows


def find(data: Dataset) -> Duplicates:
    """The repetitions within the queries of a data set. Documents without features repeat nothing."""
    if data.n_features == 0:
        return Duplicates(0, 0, 0, None, _repeated_ids(data))
    twins, firsts = _twins(data.row_queries, row_hashes(data.features), data.features)
    pairs = _conflicts(twins, firsts, data.labels)
    return Duplicates(
        documents=len(twins),
        queries=len(np.unique(data.row_queries[twins])),
        conflicting_documents=len(pairs),
        example=min(pairs, default=None),
        repeated_ids=_repeated_ids(data),
    )


def find_in_bins(data: Any) -> Duplicates:
    """Documents of a store that have the bins of an earlier one of their query; some queries at a time are read."""
    rows, starts = data.bins.rows, data.query_starts
    counts, pairs = np.zeros(3, dtype=np.int64), []
    first = 0
    while first < data.n_queries and data.bins.packing.n_bytes:
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + _CHUNK, side="right")) - 1)
        begin, end = int(starts[first]), int(starts[last])
        words = np.ascontiguousarray(rows[begin:end]).view(np.uint32)
        queries = np.repeat(np.arange(first, last), np.diff(starts[first : last + 1]))
        twins, firsts = _twins(queries, _word_hashes(words), words)
        found = _conflicts(twins, firsts, {name: values[begin:end] for name, values in data.labels.items()})
        counts += len(twins), len(np.unique(queries[twins])), len(found)
        pairs += [(begin + a, begin + b) for a, b in sorted(found)[:1]]
        first = last
    return Duplicates(int(counts[0]), int(counts[1]), int(counts[2]), min(pairs, default=None), 0)


def _twins(query: np.ndarray, hashes: np.ndarray, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(rows that repeat an earlier one of their query, the first row that each repeats)."""
    order = np.lexsort((np.arange(len(query)), hashes, query))  # twins are adjacent, the first row first
    alike = (query[order[1:]] == query[order[:-1]]) & (hashes[order[1:]] == hashes[order[:-1]])
    candidates = np.flatnonzero(alike)
    alike[candidates] = _equal_rows(matrix, order[candidates], order[candidates + 1])
    # the first row of each run of twins
    heads = np.arange(len(query))
    heads[1:][alike] = 0
    heads = np.maximum.accumulate(heads)
    later = np.flatnonzero(heads != np.arange(len(query)))
    return order[later], order[heads[later]]


def _conflicts(twins: np.ndarray, firsts: np.ndarray, sources: Mapping[str, np.ndarray]) -> list[tuple[int, int]]:
    """(first row, its twin) where a label differs."""
    conflict = np.zeros(len(twins), dtype=bool)
    for labels in sources.values():
        a, b = labels[twins], labels[firsts]
        conflict |= (a != b) & ~(np.isnan(a) & np.isnan(b))
    return [(int(firsts[k]), int(twins[k])) for k in np.flatnonzero(conflict)]


def _equal_rows(matrix: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whether rows a[k] and b[k] are equal, a missing value being equal to a missing value."""
    result = np.empty(len(a), dtype=bool)
    for start in range(0, len(a), _CHUNK):
        part = slice(start, start + _CHUNK)
        x, y = matrix[a[part]], matrix[b[part]]
        equal = x == y
        if matrix.dtype.kind == "f":
            equal |= np.isnan(x) & np.isnan(y)
        result[part] = equal.all(axis=1)
    return result


def _repeated_ids(data: Dataset) -> int:
    """How many (query, document id) pairs occur more than once; "" is no id."""
    if data.document_ids is None:
        return 0
    numbers: dict[Any, int] = {}
    ids = np.fromiter(
        (numbers.setdefault(one, len(numbers)) for one in data.document_ids.tolist()),
        dtype=np.int64,
        count=data.n_documents,
    )
    named = ids != numbers.get("", -1)
    _, counts = np.unique((data.row_queries * len(numbers) + ids)[named], return_counts=True)
    return int((counts > 1).sum())
