"""Queries with rows in several pieces: brought together, in the order of pieces and of the rows in them.

A query is never divided between workers. Where a few are cut by the border between two pieces, their rows are taken
out of both and make pieces of their own; where many are, all rows are dealt by the hashes of their queries. Either way
a new piece is assembled of the parts, and has whole queries.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.collective import ALONE, using_collective
from rankforce.data.dataset import Dataset
from rankforce.data.hashing import hash_ids
from rankforce.distributed.pieces import Piece
from rankforce.distributed.surveying import DataLayout, Overview
from rankforce.errors import DataError

MOST_STRAYS = 0.05  # of the rows; beyond, all rows are dealt anew


def stray_queries(overview: Overview) -> tuple[np.ndarray, int]:
    """(the hashes of queries with rows in several pieces, rising; how many rows they have)."""
    hashes, sizes, pieces = overview.queries()
    if len(pieces) == 0 or pieces[0] == pieces[-1]:
        return np.empty(0, dtype=np.uint64), 0
    order = np.argsort(hashes, kind="stable")
    again = np.flatnonzero((hashes[order][1:] == hashes[order][:-1]) & (pieces[order][1:] != pieces[order][:-1]))
    strays = np.unique(hashes[order[again]])
    return strays, int(sizes[np.isin(hashes, strays)].sum())


def taken_out(piece: Piece, content: Any, layout: DataLayout, strays: np.ndarray | None, buckets: int) -> list[Any]:
    """On a worker: the rows of stray queries (None: of all) in a piece, a data set or None per bucket."""
    parts: list[list[Dataset]] = [[] for _ in range(buckets)]
    with using_collective(ALONE):
        for block in piece.blocks(content):
            block = layout.completed(block)
            hashes = hash_ids(block.query_ids)
            bucket = (hashes % np.uint64(buckets)).astype(np.int64)
            wanted = np.ones(len(hashes), dtype=bool) if strays is None else np.isin(hashes, strays)
            for place in np.unique(bucket[wanted]).tolist():
                parts[place].append(block.take_queries(wanted & (bucket == place)))
        return [Dataset.concat(found, same_query="merge") if found else None for found in parts]


def assembled(*parts: Any) -> Dataset | None:
    """On a worker: the data set of the parts, which come in the order of their pieces."""
    found = [part for part in parts if part is not None]
    with using_collective(ALONE):
        return Dataset.concat(found, same_query="merge") if found else None


def name_of_query(piece: Piece, content: Any, wanted: int) -> str:
    """On a worker: the id of the query with this hash."""
    with using_collective(ALONE):
        for block in piece.blocks(content):
            for name, found in zip(block.query_ids.tolist(), hash_ids(block.query_ids).tolist(), strict=True):
                if found == wanted:
                    return repr(name)
    raise DataError(f"{piece.name} was changed since it was looked at: begin again")
