"""Which documents belong to one query: from ids in any order, or from sizes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.collective import alone
from rankforce.data import frames
from rankforce.data.identifiers import as_ids
from rankforce.errors import DataError


@dataclasses.dataclass(frozen=True)
class Numbered:
    """Queries of rows as numbers into an array of ids, which spares comparing ids that are known to differ."""

    numbers: np.ndarray
    ids: np.ndarray


def grouped_by_query(qid: Any, group: Any, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(query ids in order of first appearance, rows by query, where each query starts)."""
    if (qid is None) == (group is None):
        raise DataError(
            "say which query each document belongs to: qid=(one id per document), or group=(sizes of the queries)"
            + (", not both" if qid is not None else "")
        )
    if group is not None:
        sizes = frames.as_numbers(group, "group")
        if sizes.ndim != 1 or sizes.dtype.kind == "b" or not (np.isfinite(sizes) & (sizes == np.floor(sizes))).all():
            raise DataError("group must hold the sizes of the queries, whole numbers")
        if (sizes < 1).any():
            place = int(np.argmax(sizes < 1))
            raise DataError(
                f"group sizes must be positive: entry {place} (from 0) is {int(sizes[place])}; leave it out"
            )
        total = sum(map(int, sizes.tolist()))  # beyond 64 bits, too
        if total != n:
            raise DataError(
                f"group sizes must add up to the number of documents: they add up to {total}, there are {n} documents"
            )
        sizes = sizes.astype(dtypes.OFFSET)
        ids = np.arange(1, len(sizes) + 1)
        rows = np.arange(n, dtype=dtypes.OFFSET)
    else:
        ids, sizes, rows = _by_first_appearance(*_query_numbers(qid, n))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(dtypes.OFFSET)
    return ids, rows, starts


def _query_numbers(qid: Any, n: int) -> tuple[np.ndarray, np.ndarray | None]:
    """(a whole number for every document, equal within a query; the ids that the numbers count, or None: themselves)"""
    if isinstance(qid, Numbered):
        if len(qid.numbers) != n:
            raise DataError(f"the data set has {len(qid.numbers)} documents, the features given are of {n}")
        return qid.numbers, qid.ids
    given = as_ids(qid, n, "qid")
    if given.dtype != object:
        return given, None
    places: dict[str, int] = {}
    numbers = np.fromiter((places.setdefault(one, len(places)) for one in given), dtype=dtypes.OFFSET, count=n)
    if "" in places:
        raise DataError(f"qid of row {int(np.flatnonzero(numbers == places[''])[0])} (from 0) is empty")
    ids = np.empty(len(places), dtype=object)  # NumPy's own text has room for the longest in every entry
    ids[:] = list(places)
    return numbers, ids


def _by_first_appearance(numbers: np.ndarray, ids: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(query ids in order of first appearance, sizes of the queries, rows by query)."""
    n = len(numbers)
    changes = np.flatnonzero(numbers[1:] != numbers[:-1]) + 1
    starts = np.concatenate([[0], changes]) if n else changes
    heads = numbers[starts]
    if len(np.unique(heads)) == len(heads):  # each query is one run of rows: nothing to sort
        sizes, rows = np.diff(np.concatenate([starts, [n]])), np.arange(n, dtype=dtypes.OFFSET)
    else:
        distinct, first, place = np.unique(numbers, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        appearance = np.empty(len(first), dtype=dtypes.OFFSET)
        appearance[order] = np.arange(len(first))
        query = appearance[place.ravel()]
        heads, sizes = distinct[order], np.bincount(query)
        rows = np.argsort(query, kind="stable").astype(dtypes.OFFSET)
    return (heads.copy() if ids is None else ids[heads]), sizes, rows


def query_mask(queries: Any, count: int) -> np.ndarray:
    """Which of ``count`` queries are chosen: given by their numbers (from 0) or as a mask; at least one."""
    chosen = frames.as_vector(queries)
    mask = np.zeros(count, dtype=bool)
    if chosen.dtype == bool:
        if chosen.shape != mask.shape:
            raise DataError(f"a mask needs one entry per query ({count}), not shape {chosen.shape}")
        mask = chosen
    elif chosen.size:
        if chosen.dtype.kind not in "iu":
            raise DataError("queries are taken by their numbers (from 0) or with a mask, not by their ids")
        outside = chosen[(chosen < 0) | (chosen >= count)]
        if outside.size:
            raise DataError(f"there is no query number {outside[0]}: queries are numbered 0 to {count - 1}")
        mask[chosen] = True
    if not mask.any() and alone():
        raise DataError("no query was chosen: a data set needs at least one")
    return mask
