"""From sources to whole queries in pieces: survey, strays, thresholds; everything but the loading."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankforce.binning.binning import Binning
from rankforce.data.categories import Categories
from rankforce.data.dataset import Dataset
from rankforce.data.distributions import KnownData
from rankforce.distributed.edges import find_edges
from rankforce.distributed.pieces import FilePiece, HeldPiece, Piece, PieceSource, source_of
from rankforce.distributed.settling import settle_columns
from rankforce.distributed.shards import Facts
from rankforce.distributed.strays import MOST_STRAYS, assembled, name_of_query, stray_queries, taken_out
from rankforce.distributed.surveying import (
    DataLayout,
    Overview,
    PieceKind,
    Summary,
    kept_limits,
    sample_limits,
    survey_piece,
)
from rankforce.distributed.tasks import Limits, gathered_from, quietly, wait_for_workers
from rankforce.errors import DataError
from rankforce.remedies import Argument, ReadOption
from rankforce.stores.binned_dataset import BinnedDataset

NONE = np.empty(0, dtype=np.uint64)
BYTES_OF_A_LINE = 2000  # of text, not fewer: where lines are shorter, more rows are kept than are needed


@dataclasses.dataclass
class Ingested:
    """Pieces with whole queries, and what is known of all.

    strays : hashes of the queries that are taken out of the files and stand in pieces of their own
    taken : the pieces, by number, that strays are taken out of
    known_fingerprint : of a store, which keeps it
    contents : what pieces hold that is no file: Dask's futures, by the numbers of pieces
    """

    pieces: dict[int, Piece]
    contents: dict[int, Any]
    summaries: dict[int, Summary]
    layout: DataLayout
    binning: Binning | None
    max_bins: int
    known_data: KnownData | None
    ranges: tuple[np.ndarray, np.ndarray, np.ndarray]
    strays: np.ndarray
    taken: frozenset[int]
    store: BinnedDataset | None = None
    known_fingerprint: str | None = None

    def documents_of_pieces(self) -> dict[int, int]:
        """Of pieces with documents, how many: what is loaded."""
        found = {}
        for number, summary in self.summaries.items():
            kept = ~np.isin(summary.hashes, self.strays_of(number))
            documents = int(summary.sizes[kept].sum())
            if documents:
                found[number] = documents
        return found

    @property
    def documents(self) -> int:
        return sum(self.documents_of_pieces().values())

    def original_pieces(self) -> dict[int, Piece]:
        """Those that the data came in: together they have every row once, in order."""
        return {number: piece for number, piece in self.pieces.items() if number in self.taken or not len(self.strays)}

    def strays_of(self, number: int) -> np.ndarray:
        """What is not loaded of a piece."""
        return self.strays if number in self.taken else NONE

    def facts(self, fingerprint: str) -> Facts:
        """What models keep of the data."""
        lows, highs, shares = (tuple(part.tolist()) for part in self.ranges)
        return Facts("the shared data", self.max_bins, fingerprint, lows, highs, shares, self.known_data)

    def collected(self, client: Any, within: Limits) -> Dataset:
        """All documents."""
        if self.store is not None:
            raise DataError(f"{self.store.path}: a store has bins in place of features: read the data itself")
        with quietly():
            tasks = [
                client.submit(taken_out, piece, self.contents.get(number), self.layout, None, 1, pure=False)
                for number, piece in self.original_pieces().items()
            ]
        parts = gathered_from(client, tasks, within)
        return Dataset.concat([one for part in parts for one in part if one is not None], same_query="merge")


def ingest(
    client: Any,
    data: Any,
    options: Mapping[str, Any],
    max_bins: int,
    like: Ingested | None,
    shuffle: bool,
    within: Limits,
) -> Ingested:
    """Look at all data, where it is."""
    n_workers = len(wait_for_workers(client, within.timeout))
    source = source_of(data, options, n_workers, None if like is None else like.layout.feature_names)
    if source.store is not None:
        found = of_store(source.store, source)
        if like is not None and found.binning != like.binning:
            raise DataError(f"{source.store.path}: the store was binned at other thresholds than what it shall be like")
        return found
    rows = _estimated_rows(source)
    with quietly():
        for number, part in source.contents.items():
            source.contents[number] = (
                client.submit(_held, part, pure=False) if isinstance(part, Dataset) else client.compute(part)
            )
    listed = None if like is None else like.layout.kind.categories
    surveyed, overview, limits = _survey(client, source, rows, listed, within)
    layout = overview.layout if like is None else layout_like(overview.layout, like.layout)
    pieces = {piece.number: piece for piece in source.pieces}
    summaries = dict(zip(pieces, overview.summaries, strict=True))
    contents = dict(source.contents)
    strays, rows = stray_queries(overview)
    taken: frozenset[int] = frozenset()
    if len(strays):
        if not shuffle:
            _refuse_strays(client, source, overview, strays, within)
        everything = rows > MOST_STRAYS * overview.documents
        taken = frozenset(pieces)
        strays = np.unique(overview.queries()[0]) if everything else strays
        _bring_together(client, pieces, contents, summaries, layout, strays, everything, n_workers, within)
    binning, known = None, None
    if not layout.kind.categories:
        wanted = max_bins if like is None else None
        binning, known = find_edges(client, surveyed, overview, limits, wanted, within)
        binning = binning if like is None else like.binning
    ranges = overview.lows, overview.highs, overview.missing_shares
    most = max_bins if like is None else like.max_bins
    return Ingested(pieces, contents, summaries, layout, binning, most, known, ranges, strays, taken)


def cut(client: Any, found: Ingested, within: Limits) -> Ingested:
    """The same queries with thresholds, and what models keep of the data: from a survey of these queries alone."""
    source = PieceSource(list(found.original_pieces().values()), found.contents)
    surveyed, overview, limits = _survey(client, source, found.documents, found.layout.kind.categories, within)
    binning, known = find_edges(client, surveyed, overview, limits, found.max_bins, within)
    ranges = overview.lows, overview.highs, overview.missing_shares
    return dataclasses.replace(found, binning=binning, known_data=known, ranges=ranges)


def _held(part: Any) -> Any:
    """On a worker: what the client has. Not scattered: what is lost then is lost for good."""
    return part


def _survey(
    client: Any, source: PieceSource, rows: float, like: Categories | None, within: Limits
) -> tuple[list[Any], Overview, Any]:
    """(what is left on the workers, by piece; what all tell; up to which words rows are sampled)."""
    limits = kept_limits(rows)
    while True:
        with quietly():
            surveyed = [
                client.submit(survey_piece, piece, source.contents.get(piece.number), limits, pure=False)
                for piece in source.pieces
            ]
            told = [client.submit(operator.itemgetter(0), one, pure=False) for one in surveyed]
        summaries = gathered_from(client, told, within)
        if any(one is None for one in summaries):  # of columns that hold no numbers
            columns = client.submit(_held, settle_columns(client, source.pieces, like, within), pure=False)
            source.contents.update({piece.number: columns for piece in source.pieces})
            continue
        overview = Overview.of(source.pieces, summaries)
        wanted = sample_limits(overview)
        if all(kept >= last for kept, last in zip(limits, wanted, strict=True)):
            return surveyed, overview, wanted
        limits = wanted  # fewer rows than were thought: some that are wanted were not kept


def _estimated_rows(source: PieceSource) -> float:
    """Not more rows than there are, about: too many that are kept are only in the way."""
    return sum(_estimated_rows_of(piece, source.contents.get(piece.number)) for piece in source.pieces)


def _estimated_rows_of(piece: Piece, content: Any) -> float:
    if isinstance(content, Dataset):
        return content.n_documents
    if not isinstance(piece, FilePiece):
        return 0.0
    if not piece.source.path.lower().endswith((".parquet", ".pq")):
        return piece.size / BYTES_OF_A_LINE
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return float(pq.read_metadata(piece.source.path).num_rows) * piece.size / max(piece.source.size, 1)
    except (pa.ArrowException, OSError):  # the survey says what is wrong with it
        return 0.0


def _bring_together(
    client: Any,
    pieces: dict[int, Piece],
    contents: dict[int, Any],
    summaries: dict[int, Summary],
    layout: DataLayout,
    strays: np.ndarray,
    everything: bool,
    n_workers: int,
    within: Limits,
) -> None:
    """Make pieces of the stray queries, one or some per worker."""
    buckets = n_workers * (4 if everything else 1)
    with quietly():
        parts = [
            client.submit(
                taken_out,
                piece,
                contents.get(number),
                layout,
                None if everything else strays,
                buckets,
                pure=False,
            )
            for number, piece in pieces.items()
            if everything or np.isin(summaries[number].hashes, strays).any()
        ]
        new = {}
        for bucket in range(buckets):
            of_bucket = [client.submit(operator.itemgetter(bucket), part, pure=False) for part in parts]
            new[len(pieces) + bucket] = client.submit(assembled, *of_bucket, pure=False)
        described = {
            number: client.submit(survey_piece, HeldPiece(number, "", 0), one, (np.uint64(0),) * 2, pure=False)
            for number, one in new.items()
        }
        told = [client.submit(operator.itemgetter(0), one, pure=False) for one in described.values()]
    found = dict(zip(described, gathered_from(client, told, within), strict=True))
    for number, summary in found.items():
        if summary.documents:
            pieces[number] = HeldPiece(number, f"queries of several pieces, part {number}", 8 * summary.documents)
            contents[number], summaries[number] = new[number], summary


def _refuse_strays(client: Any, source: PieceSource, overview: Overview, strays: np.ndarray, within: Limits) -> None:
    first, second = [
        piece for piece, summary in zip(source.pieces, overview.summaries, strict=True) if strays[0] in summary.hashes
    ][:2]
    content = source.contents.get(first.number)
    (name,) = gathered_from(client, [client.submit(name_of_query, first, content, int(strays[0]), pure=False)], within)
    raise DataError(
        f"query {name} is in {first.name} and in {second.name}, and {len(strays) - 1:,} more are in several pieces: ",
        Argument("shuffle", True),
        " brings their rows together",
    )


def layout_like(mine: DataLayout, other: DataLayout) -> DataLayout:
    """The features of other data, for this."""
    names, wanted = mine.feature_names, other.feature_names
    numbered = mine.absent is not None
    if names == wanted or (numbered and (names == wanted[: len(names)] or wanted == names[: len(wanted)])):
        return dataclasses.replace(mine, feature_names=wanted)
    lacking = next((name for name in wanted if name not in names), None)
    if lacking is not None:
        raise DataError(f"the data has no feature {lacking!r}, which what it shall be like has")
    raise DataError(
        "the data has other features, or in another order, than what it shall be like: name them in its order: ",
        ReadOption("features", ...),
    )


def of_store(store: BinnedDataset, source: PieceSource | None = None) -> Ingested:
    """A store: everything is known."""
    pieces = {} if source is None else {piece.number: piece for piece in source.pieces}
    summaries = {}
    nothing = np.empty(0, dtype=np.float32)
    for number, piece in pieces.items():
        first, last = piece.first, piece.last  # type: ignore[attr-defined]
        sizes = store.query_sizes[first:last]
        summaries[number] = Summary(
            int(sizes.sum()), store.query_hashes[first:last], sizes, store.feature_names,
            nothing, nothing, nothing, None, (np.uint64(0), np.uint64(0)),
        )  # fmt: skip
    kind = dataclasses.replace(PieceKind.of(store))
    ranges = tuple(np.array(part) for part in store.feature_ranges())
    layout = DataLayout(store.feature_names, None, kind)
    return Ingested(
        pieces, {}, summaries, layout, store.bins.binning, store.max_bins, store.known_data(),
        ranges, NONE, frozenset(), store, store.fingerprint,  # type: ignore[arg-type]
    )  # fmt: skip
