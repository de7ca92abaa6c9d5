"""What a model keeps of its training data (``data/distributions.py``), from rows that pass by.

The rows of the queries with the smallest hashes, as ``known_data`` chooses them, are put aside in a file, column by
column within a block; then a few columns at a time are looked at.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.data.categories import Categories
from rankforce.data.distributions import (
    COLUMNS_AT_A_TIME,
    SAMPLE,
    Distribution,
    KnownData,
    column_distribution,
    known_words,
    last_hash,
)
from rankforce.threads import over_pieces


class KnownRows:
    """Rows in a file, of the queries that are chosen by their hashes and sizes."""

    def __init__(self, path: Path, hashes: np.ndarray, sizes: np.ndarray) -> None:
        self._path = path
        self._file = path.open("wb")
        self._sizes = sizes
        self._chosen = np.ones(len(sizes), dtype=bool)
        if sizes.sum() > SAMPLE:
            words = known_words(hashes)
            self._chosen = words <= last_hash(words, sizes, SAMPLE)
        self._queries: list[np.ndarray] = []  # of the rows of each block
        self._starts: list[int] = []

    def take(self, features: np.ndarray, queries: np.ndarray) -> None:
        """The next rows, and the numbers of their queries."""
        rows = np.flatnonzero(self._chosen[queries])
        if len(rows):
            self._starts.append(self._file.tell())
            self._queries.append(np.array(queries[rows]))
            np.ascontiguousarray(features[rows].T).tofile(self._file)

    def close(self) -> None:
        self._file.close()

    def known_data(self, feature_names: Sequence[str], categories: Categories) -> KnownData:
        """The distributions of all features; the file is removed."""
        n_features = len(feature_names)
        self._file.close()
        queries = np.concatenate(self._queries)
        order = np.argsort(queries, kind="stable")
        sizes = self._sizes[self._chosen]
        features: list[Any] = [None] * n_features

        def look(first: int, last: int) -> None:
            with self._path.open("rb") as file:
                columns = np.hstack(
                    [self._read(file, block, first, last - first) for block in range(len(self._starts))]
                )
            for place, column in enumerate(columns, start=first):
                listed = categories.get(feature_names[place])
                features[place] = column_distribution(column[order], sizes, listed)

        over_pieces([*range(0, n_features, COLUMNS_AT_A_TIME), n_features], look)
        self._path.unlink()
        return KnownData(len(self._sizes), len(sizes), tuple(features))

    def _read(self, file: Any, block: int, first: int, count: int) -> np.ndarray:
        rows = len(self._queries[block])
        file.seek(self._starts[block] + 4 * rows * first)
        return np.fromfile(file, dtypes.FEATURE, count * rows).reshape(count, rows)


def written_known_data(known: KnownData) -> dict[str, Any]:
    """As JSON holds it."""
    return dataclasses.asdict(known)


def read_known_data(written: dict[str, Any]) -> KnownData:
    """The inverse of ``written_known_data``."""
    features = []
    for one in written["features"]:
        parts: dict[str, Any] = {name: tuple(of) if isinstance(of, list) else of for name, of in one.items()}
        features.append(Distribution(**parts))
    return KnownData(written["all_queries"], written["queries"], tuple(features))
