"""Documents that stand twice in a query."""

from __future__ import annotations

import dataclasses
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
    multipliers = mix(np.arange(matrix.shape[1])) | np.uint64(1)
    result = np.empty(len(matrix), dtype=dtypes.HASH)
    for start in range(0, len(matrix), _CHUNK):
        bits = _canonical(matrix[start : start + _CHUNK]).view(np.uint32)
        result[start : start + _CHUNK] = np.einsum("ij,j->i", bits.astype(dtypes.HASH), multipliers)
    return mix(result)


def _canonical(rows: np.ndarray) -> np.ndarray:
    """One pattern of bits for each value: -0 becomes 0, every NaN the same NaN."""
    rows = rows + np.float32(0.0)  # -0 + 0 is 0
    rows[np.isnan(rows)] = np.nan
    return rows


def find(data: Dataset) -> Duplicates:
    """The repetitions within the queries of a data set. Documents without features repeat nothing."""
    if data.n_features == 0:
        return Duplicates(0, 0, 0, None, _repeated_ids(data))
    query = data.row_queries
    hashes = row_hashes(data.features)
    order = np.lexsort((np.arange(data.n_documents), hashes, query))  # twins are adjacent, the first row first
    alike = (query[order[1:]] == query[order[:-1]]) & (hashes[order[1:]] == hashes[order[:-1]])
    candidates = np.flatnonzero(alike)
    alike[candidates] = _equal_rows(data.features, order[candidates], order[candidates + 1])
    # the first row of each run of twins
    heads = np.arange(data.n_documents)
    heads[1:][alike] = 0
    heads = np.maximum.accumulate(heads)
    later = np.flatnonzero(heads != np.arange(data.n_documents))
    twins, firsts = order[later], order[heads[later]]
    conflict = np.zeros(len(twins), dtype=bool)
    for labels in data.labels.values():
        a, b = labels[twins], labels[firsts]
        conflict |= (a != b) & ~(np.isnan(a) & np.isnan(b))
    pairs = [(int(firsts[k]), int(twins[k])) for k in np.flatnonzero(conflict)]
    return Duplicates(
        documents=len(twins),
        queries=len(np.unique(query[twins])),
        conflicting_documents=len(pairs),
        example=min(pairs, default=None),
        repeated_ids=_repeated_ids(data),
    )


def _equal_rows(matrix: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Whether rows a[k] and b[k] are equal, a missing value being equal to a missing value."""
    result = np.empty(len(a), dtype=bool)
    for start in range(0, len(a), _CHUNK):
        part = slice(start, start + _CHUNK)
        x, y = matrix[a[part]], matrix[b[part]]
        result[part] = ((x == y) | (np.isnan(x) & np.isnan(y))).all(axis=1)
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
