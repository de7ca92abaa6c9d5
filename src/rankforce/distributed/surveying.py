"""The first pass over data on a cluster: a survey of every piece, where Dask finds room for it; and what all say.

A survey gives a ``Summary``, which is small and comes to the client, and rows of the queries with the smallest hashes,
which stay on the workers: thresholds are found from them, and what a model keeps of its data. Dask moves them to the
disk where memory is short, and computes them anew where a worker is lost.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankforce import dtypes
from rankforce.binning import binning
from rankforce.collective import ALONE, using_collective
from rankforce.data import distributions
from rankforce.data.categories import Categories
from rankforce.data.dataset import Dataset
from rankforce.distributed.pieces import HeldPiece, Piece, UnsettledColumnsError
from rankforce.errors import DataError
from rankforce.stores.survey import QUERY_NUMBERS, Survey

NO_LIMIT = np.uint64(2**64 - 1)
SLACK = 1.3  # times as many rows are kept as a sample wants by the estimate, before the number of rows is known


class RowsOfQueries(NamedTuple):
    """Rows of chosen queries, of one block: by which word each was chosen, its query's hash, and its features."""

    words: np.ndarray
    hashes: np.ndarray
    features: np.ndarray


class KeptRows:
    """The rows whose query's word is at most ``limit``; a sample as ``Survey`` fills one."""

    def __init__(self, limit: np.uint64) -> None:
        self.limit_word = limit
        self.chunks: list[RowsOfQueries] = []

    overfull = False

    def take(self, features: np.ndarray, words: np.ndarray) -> None:
        """For ``Survey``, which knows no hashes: ``keep`` is told all."""

    def keep(self, features: np.ndarray, words: np.ndarray, hashes: np.ndarray) -> None:
        chosen = np.flatnonzero(words <= self.limit_word)
        if len(chosen):
            self.chunks.append(RowsOfQueries(words[chosen], hashes[chosen], features[chosen]))

    def close(self) -> None:
        """Nothing is open."""

    def among(self, last: np.uint64) -> Iterator[RowsOfQueries]:
        """The rows of queries whose words are at most ``last``."""
        for chunk in self.chunks:
            chosen = np.flatnonzero(chunk.words <= last)
            yield RowsOfQueries(*(part[chosen] for part in chunk))


@dataclasses.dataclass(frozen=True)
class Summary:
    """What the survey of one piece tells.

    hashes, sizes : of its queries, in order of first appearance
    lows, highs, missing : per feature that the piece names
    kind : what all pieces must agree in (see ``PieceKind``)
    kept : the largest words up to which its rows were kept, for thresholds and for distributions
    """

    documents: int
    hashes: np.ndarray
    sizes: np.ndarray
    feature_names: tuple[str, ...]
    lows: np.ndarray
    highs: np.ndarray
    missing: np.ndarray
    kind: PieceKind | None
    kept: tuple[np.uint64, np.uint64]


@dataclasses.dataclass(frozen=True)
class PieceKind:
    """What all pieces of one data set have alike."""

    labels: tuple[str, ...]
    weighted: bool
    query_weighted: bool
    categories: Categories
    origins: Mapping[str, str]
    roles: Mapping[str, str]

    @classmethod
    def of(cls, block: Dataset) -> PieceKind:
        return cls(
            tuple(sorted(block.labels)),
            block.weights is not None,
            block.query_weights is not None,
            dict(block.categories),
            dict(block.origins),
            dict(block.roles),
        )


class Surveyed(NamedTuple):
    """What the survey of a piece leaves on its worker; no summary where its columns have to be settled first."""

    summary: Summary | None
    for_edges: KeptRows
    for_distributions: KeptRows


class PieceSurvey(Survey):
    """A survey of one piece: nothing is written."""

    def __init__(self, absent: float | None, limits: tuple[np.uint64, np.uint64]) -> None:
        self.for_edges, self.for_distributions = map(KeptRows, limits)
        super().__init__(Path(), absent, most_bytes=0, sample=self.for_edges)  # lists of categories are not found here
        self.kind: PieceKind | None = None
        self._numbers = np.empty(0, dtype=np.int64)

    def take(self, block: Dataset) -> None:
        if self.kind is None:
            self.kind = PieceKind.of(block)
        super().take(block)
        hashes = self.queries.hashes[self._numbers]
        self.for_edges.keep(block.features, binning.sample_words(hashes), hashes)
        self.for_distributions.keep(block.features, distributions.known_words(hashes), hashes)

    def _append(self, name: str, values: np.ndarray) -> None:
        if name == QUERY_NUMBERS:
            self._numbers = values

    def _numbered(self, block: Dataset, known_features: int) -> np.ndarray:
        """Codes as they are: all pieces have the same lists."""
        return block.features

    def _check(self, block: Dataset) -> None:
        first, mine = self.kind, PieceKind.of(block)
        assert first is not None
        problem = difference(first, mine)
        if problem:
            raise DataError(f"its blocks differ: {problem}")

    def summary(self) -> Summary:
        count = len(self.queries)
        return Summary(
            self.documents,
            self.queries.hashes[:count].copy(),
            self.queries.sizes[:count].copy(),
            self.feature_names,
            self.lows,
            self.highs,
            self.missing,
            self.kind,
            (self.for_edges.limit_word, self.for_distributions.limit_word),
        )


def survey_piece(piece: Piece, content: Any, limits: tuple[np.uint64, np.uint64]) -> Surveyed:
    """On a worker: look at all rows of a piece."""
    survey = PieceSurvey(piece.absent, limits)
    with using_collective(ALONE):
        try:
            for block in piece.blocks(content):
                survey.take(block)
        except UnsettledColumnsError:
            return Surveyed(None, survey.for_edges, survey.for_distributions)
        except DataError as error:
            raise named(piece, error) from None
    return Surveyed(survey.summary(), survey.for_edges, survey.for_distributions)


def named(piece: Piece, error: DataError) -> DataError:
    """The error, with the name of the piece unless it says it."""
    return error if piece.name in str(error) else DataError(f"{piece.name}: ", *error.args)


def _remedy(piece: Piece, problem: str) -> str:
    """What to do about text of a frame, whose partitions come one by one; of files it is listed for all together."""
    if not isinstance(piece, HeldPiece) or not problem.endswith("has other categories"):
        return ""
    return " than in the first one: make them the same in all partitions, frame.categorize(), or share Parquet files"


def difference(first: PieceKind, other: PieceKind) -> str:
    """In words, what differs between two pieces; empty where nothing does."""
    if first.labels != other.labels:
        mine, theirs = (", ".join(map(repr, one.labels)) or "none" for one in (other, first))
        return f"it has the labels {mine}, the first one has {theirs}"
    for of, has, first_has in (
        ("documents", other.weighted, first.weighted),
        ("queries", other.query_weighted, first.query_weighted),
    ):
        if has != first_has:
            told = f"weights of {of}, the first one has none" if has else f"no weights of {of}, the first one has"
            return f"it has {told}: give all of them weights, or leave them out"
    if first.categories != other.categories:
        odd = next(
            n for n in {**first.categories, **other.categories} if first.categories.get(n) != other.categories.get(n)
        )
        return f"feature {odd!r} has other categories"
    return ""


@dataclasses.dataclass(frozen=True)
class DataLayout:
    """Features and further columns of all pieces; what a feature is that a block of text does not name."""

    feature_names: tuple[str, ...]
    absent: float | None
    kind: PieceKind

    def completed(self, block: Dataset) -> Dataset:
        """A block of text with the features that others name."""
        lacking = len(self.feature_names) - block.n_features
        if lacking == 0:
            return block
        rest = np.full((block.n_documents, lacking), self.absent, dtype=dtypes.FEATURE)
        return block.replace(features=np.hstack([block.features, rest]), feature_names=self.feature_names)


@dataclasses.dataclass(frozen=True)
class Overview:
    """What all pieces have together.

    summaries : by piece
    lows, highs, missing : per feature
    """

    summaries: Sequence[Summary]
    layout: DataLayout
    lows: np.ndarray
    highs: np.ndarray
    missing: np.ndarray

    @classmethod
    def of(cls, pieces: Sequence[Piece], summaries: Sequence[Summary]) -> Overview:
        """An error that names the piece which is unlike the others."""
        filled = [(piece, one) for piece, one in zip(pieces, summaries, strict=True) if one.documents]
        if not filled:
            raise DataError("there is no document in the data")
        first_piece, first = filled[0]
        assert first.kind is not None
        absent = first_piece.absent
        wanted = first.feature_names
        if absent is not None:  # numbered features of text: files name them up to the highest that they have
            wanted = max((one.feature_names for _, one in filled), key=len)
        for piece, one in filled:
            assert one.kind is not None
            problem = difference(first.kind, one.kind)
            names = one.feature_names
            if not problem and names != (wanted if absent is None else wanted[: len(names)]):
                lacking = next((name for name in first.feature_names if name not in names), None)
                more = next((name for name in names if name not in first.feature_names), None)
                problem = f"it has no feature {lacking!r}" if lacking else f"it has the further feature {more!r}"
                if lacking is None and more is None:
                    problem = "its features stand in another order"
                problem += f", unlike {first_piece.name}"
            if problem:
                raise DataError(f"{piece.name}: {problem}{_remedy(piece, problem)}")
        kinds = [one.kind for _, one in filled]
        kind = dataclasses.replace(
            first.kind,
            origins=first.kind.origins if all(one.origins == first.kind.origins for one in kinds if one) else {},
            roles=first.kind.roles if all(one.roles == first.kind.roles for one in kinds if one) else {},
        )
        layout = DataLayout(wanted, absent, kind)
        return cls(summaries, layout, *_ranges([one for _, one in filled], len(wanted), absent))

    @property
    def documents(self) -> int:
        return sum(one.documents for one in self.summaries)

    @property
    def missing_shares(self) -> np.ndarray:
        return self.missing / self.documents

    def queries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(hash, rows, piece) of every query in every piece."""
        pieces = np.repeat(np.arange(len(self.summaries)), [len(one.hashes) for one in self.summaries])
        return (
            np.concatenate([one.hashes for one in self.summaries]),
            np.concatenate([one.sizes for one in self.summaries]),
            pieces,
        )


def _ranges(
    summaries: Sequence[Summary], width: int, absent: float | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(lows, highs, missing) of all features; what a piece does not name is ``absent`` in all its rows."""
    unseen = np.float32(np.nan if absent is None else absent)
    lows = np.full(width, np.nan, dtype=dtypes.FEATURE)
    highs, missing = lows.copy(), np.zeros(width, dtype=np.int64)
    for one in summaries:
        count = len(one.feature_names)
        lows[:count], highs[:count] = np.fmin(lows[:count], one.lows), np.fmax(highs[:count], one.highs)
        missing[:count] += one.missing
        if np.isnan(unseen):
            missing[count:] += one.documents
        else:
            lows[count:], highs[count:] = np.fmin(lows[count:], unseen), np.fmax(highs[count:], unseen)
    return lows + np.float32(0.0), highs + np.float32(0.0), missing


def kept_limits(estimated_rows: float) -> tuple[np.uint64, np.uint64]:
    """Up to which words rows are kept, if there are about so many: some more than the samples will want."""
    return (
        _word(SLACK * binning.EXACT_ROWS / max(estimated_rows, 1.0)),
        _word(SLACK * distributions.SAMPLE / max(estimated_rows, 1.0)),
    )


def _word(share: float) -> np.uint64:
    return NO_LIMIT if share >= 1.0 else np.uint64(int(share * 2.0**64))


def sample_limits(overview: Overview) -> tuple[np.uint64, np.uint64]:
    """Up to which words rows belong to the samples: of thresholds, and of distributions."""
    hashes, sizes, _ = overview.queries()
    hashes, place = np.unique(hashes, return_inverse=True)
    rows = np.bincount(place.ravel(), sizes, len(hashes)).astype(np.int64)
    edges = distribution = NO_LIMIT
    if overview.documents > binning.EXACT_ROWS:
        edges = binning.last_sampled(binning.sample_words(hashes), rows)
    if overview.documents > distributions.SAMPLE:
        distribution = distributions.last_hash(distributions.known_words(hashes), rows, distributions.SAMPLE)
    return edges, distribution
