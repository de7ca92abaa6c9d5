"""Thresholds of features on a cluster, and what models keep of the data: from rows that the survey kept.

Exact, without a sketch: a task per piece and some columns makes runs of equal values, (value, how often), a task per
some columns puts those of all pieces together, and cuts as one machine does.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rankforce import dtypes
from rankforce.binning.binning import Binning, sample_words
from rankforce.binning.cuts import Cuts, cuts_of_columns
from rankforce.collective import ALONE, using_collective
from rankforce.data.distributions import Distribution, KnownData, column_distribution, known_words
from rankforce.distributed.surveying import Overview, RowsOfQueries, Surveyed
from rankforce.distributed.tasks import Limits, gathered_from

COLUMNS_AT_A_TIME = 32
Runs = list[tuple[np.ndarray, np.ndarray]]  # (values, counts) of each column; NaN is a value


class ColumnParts(NamedTuple):
    """What one piece tells of some columns: runs for thresholds, and the rows that distributions are found from."""

    runs: Runs
    rows: int
    hashes: np.ndarray
    values: np.ndarray


def column_parts(
    surveyed: Surveyed, absent: float | None, first: int, last: int, limits: tuple[np.uint64, np.uint64]
) -> ColumnParts:
    """On a worker: of one piece and the columns ``first`` to ``last``."""
    sampled = list(surveyed.for_edges.among(limits[0]))
    known = list(surveyed.for_distributions.among(limits[1]))
    hashes = [chunk.hashes for chunk in known]
    return ColumnParts(
        [_runs(sampled, column, absent) for column in range(first, last)],
        sum(len(chunk.words) for chunk in sampled),
        np.concatenate(hashes) if hashes else np.empty(0, dtype=dtypes.HASH),
        np.stack([_column(known, column, absent) for column in range(first, last)]),
    )


def _column(chunks: Sequence[RowsOfQueries], column: int, absent: float | None) -> np.ndarray:
    """A feature of all rows; what their block did not name is absent."""
    parts = [
        chunk.features[:, column]
        if column < chunk.features.shape[1]
        else np.full(len(chunk.words), absent, dtype=dtypes.FEATURE)
        for chunk in chunks
    ]
    return np.concatenate(parts) if parts else np.empty(0, dtype=dtypes.FEATURE)


def _runs(chunks: Sequence[RowsOfQueries], column: int, absent: float | None) -> tuple[np.ndarray, np.ndarray]:
    return np.unique(_column(chunks, column, absent), return_counts=True)


def cut_columns(parts: Sequence[ColumnParts], max_bins: int | None) -> tuple[Cuts | None, list[Distribution]]:
    """On a worker: thresholds (None: none are wanted) and distributions of the columns that all parts are of."""
    count = len(parts[0].runs)
    rows = sum(part.rows for part in parts)

    def fill(first: int, columns: np.ndarray) -> None:
        for place, column in enumerate(columns, start=first):
            values, counts = (np.concatenate(one) for one in zip(*(part.runs[place] for part in parts), strict=True))
            column[:] = np.repeat(values, counts)

    hashes = np.concatenate([part.hashes for part in parts])
    order = np.argsort(hashes, kind="stable")
    _, sizes = np.unique(hashes, return_counts=True)
    with using_collective(ALONE):
        cuts = None if max_bins is None else cuts_of_columns(count, rows, fill, max_bins, 1)
        distributions = [
            column_distribution(np.concatenate([part.values[place] for part in parts])[order], sizes, None)
            for place in range(count)
        ]
    return cuts, distributions


def find_edges(
    client: Any,
    surveyed: Sequence[Any],
    overview: Overview,
    limits: tuple[np.uint64, np.uint64],
    max_bins: int | None,
    within: Limits,
) -> tuple[Binning | None, KnownData]:
    """Where all features are cut (None: they are, already), and what models keep of the data.

    Workers give up what surveys left there, at once: the client may collect its garbage much later.
    """
    n_features = len(overview.layout.feature_names)
    cut, told = [], list(surveyed)
    for first in range(0, n_features, COLUMNS_AT_A_TIME):
        last = min(first + COLUMNS_AT_A_TIME, n_features)
        parts = [
            client.submit(column_parts, one, overview.layout.absent, first, last, limits, pure=False)
            for one, summary in zip(surveyed, overview.summaries, strict=True)
            if summary.documents
        ]
        cut.append(client.submit(cut_columns, parts, max_bins, pure=False))
        told += parts
    found = gathered_from(client, cut, within)
    for one in (*told, *cut):
        one.release()
    queries = len(np.unique(overview.queries()[0]))
    features = tuple(itertools.chain.from_iterable(one for _, one in found))
    binning = None
    if max_bins is not None:
        cuts = Cuts(*(np.concatenate(part) for part in zip(*(one for one, _ in found), strict=True)))
        rows = _sampled_rows(overview, limits[0])
        binning = Binning.from_cuts(cuts, rows)
    return binning, KnownData(queries, _known_queries(overview, limits[1]), features)


def _sampled_rows(overview: Overview, limit: np.uint64) -> int:
    hashes, sizes, _ = overview.queries()
    return int(sizes[sample_words(hashes) <= limit].sum())


def _known_queries(overview: Overview, limit: np.uint64) -> int:
    hashes = np.unique(overview.queries()[0])
    return int(np.count_nonzero(known_words(hashes) <= limit))
