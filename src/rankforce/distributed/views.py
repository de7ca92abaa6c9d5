"""Some queries of data on a cluster: the same pieces, of which the rows of all other queries are passed over.

Nothing is copied and nothing is read for it: which queries a piece has, and how many rows each, is known from the
survey of the whole. Thresholds are found when they are asked for, from the chosen queries alone, as a ``Dataset`` of
them has its own; a store keeps those it was made with, as ``BinnedDataset.take_queries`` does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.distributed.ingesting import Ingested, layout_like
from rankforce.distributed.pieces import Piece, StorePiece
from rankforce.distributed.surveying import DataLayout, Summary
from rankforce.stores.binned_dataset import part_fingerprint


@dataclasses.dataclass(frozen=True, eq=False)
class ChosenPiece(Piece):
    """The rows of some queries of a piece, with the features of the whole data; ``chosen`` are hashes, rising."""

    whole: Piece
    layout: DataLayout
    chosen: np.ndarray

    def blocks(self, content: Any) -> Iterator[Dataset]:
        for block in self.whole.blocks(content):
            mask = np.isin(block.query_hashes, self.chosen)
            if mask.any():
                yield self.layout.completed(block if mask.all() else block.take_queries(mask))


@dataclasses.dataclass(frozen=True, eq=False)
class ChosenStorePiece(StorePiece):
    """Some queries of a run of queries of a store; ``chosen`` are hashes, rising."""

    chosen: np.ndarray

    def blocks(self, content: Any) -> Iterator[Dataset]:
        store = self.opened()
        among = np.arange(self.first, self.last)
        yield store.take_queries(among[np.isin(store.query_hashes[self.first : self.last], self.chosen)])


def queries_in_order(found: Ingested) -> tuple[np.ndarray, np.ndarray]:
    """(hash, rows) of every query, by first appearance: the order of a ``Dataset`` of the same rows."""
    summaries = [found.summaries[number] for number in found.original_pieces()]
    hashes = np.concatenate([one.hashes for one in summaries])
    distinct, first, place = np.unique(hashes, return_index=True, return_inverse=True)
    rows = np.bincount(place.ravel(), np.concatenate([one.sizes for one in summaries]), len(distinct))
    order = np.argsort(first)
    return distinct[order], rows[order].astype(np.int64)


def chosen_queries(found: Ingested, mask: np.ndarray) -> Ingested:
    """What is known of some queries, given by a mask in the order of ``queries_in_order``; no thresholds yet."""
    wanted = np.sort(queries_in_order(found)[0][mask])
    pieces: dict[int, Piece] = {}
    summaries: dict[int, Summary] = {}
    nothing = np.empty(0, dtype=np.float32)
    for number, piece in found.pieces.items():
        whole = found.summaries[number]
        kept = np.isin(whole.hashes, wanted)
        if not kept.any():
            continue
        sizes = whole.sizes[kept]
        pieces[number] = _chosen(piece, found.layout, np.sort(whole.hashes[kept]))
        summaries[number] = Summary(
            int(sizes.sum()), whole.hashes[kept], sizes, found.layout.feature_names,
            nothing, nothing, nothing, whole.kind, (np.uint64(0), np.uint64(0)),
        )  # fmt: skip
    part = dataclasses.replace(found, pieces=pieces, summaries=summaries, known_data=None)
    if found.known_fingerprint is None:
        return dataclasses.replace(part, binning=None)
    return dataclasses.replace(part, known_fingerprint=part_fingerprint(found.known_fingerprint, mask))


def cut_like(found: Ingested, train: Ingested) -> Ingested:
    """Some queries as validation data: with the features and the thresholds of the training data."""
    layout = layout_like(found.layout, train.layout)
    return dataclasses.replace(found, layout=layout, binning=train.binning, max_bins=train.max_bins, known_data=None)


def _chosen(piece: Piece, layout: DataLayout, hashes: np.ndarray) -> Piece:
    if isinstance(piece, StorePiece):
        return ChosenStorePiece(**vars(piece) | {"chosen": hashes})
    whole = piece.whole if isinstance(piece, ChosenPiece) else piece
    return ChosenPiece(piece.number, piece.name, piece.size, whole, layout, hashes)
