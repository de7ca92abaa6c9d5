"""The fingerprint of data on a cluster: that of the data set of the same rows, from a digest of every query."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from rankforce.collective import ALONE, using_collective
from rankforce.data.dataset import Dataset
from rankforce.data.fingerprints import fingerprint_from
from rankforce.distributed.ingesting import Ingested
from rankforce.distributed.pieces import Piece
from rankforce.distributed.shards import Loading, ShardPlan
from rankforce.distributed.surveying import DataLayout, Summary, named
from rankforce.distributed.tasks import Limits, gathered_from, quietly
from rankforce.errors import DataError


class Digesting(Loading):
    """A pass over a piece that keeps digests and no features."""

    @property
    def _width(self) -> int:
        return 0

    def _keep_features(self, block: Dataset, places: np.ndarray) -> None:
        """None are kept."""


def digest_piece(piece: Piece, content: Any, layout: DataLayout, summary: Summary, strays: np.ndarray) -> list[bytes]:
    """On a worker: the digests of the whole queries of a piece."""
    digesting = Digesting(ShardPlan("", "values", layout, None), summary, strays)
    with using_collective(ALONE):
        try:
            for block in piece.blocks(content):
                digesting.take(block)
            digesting.finish()
        except DataError as error:
            raise named(piece, error) from None
    return digesting.digests.digests


def joined_fingerprint(layout: DataLayout, digests: Iterable[list[bytes]]) -> str:
    """The fingerprint, from the digests of all pieces."""
    kind = layout.kind
    header: tuple[Any, ...] = (list(kind.labels), layout.feature_names, kind.weighted, kind.query_weighted)
    if kind.categories:
        header = (*header, dict(kind.categories))
    return fingerprint_from([one for part in digests for one in part], header)


def find_fingerprint(client: Any, found: Ingested, within: Limits) -> str:
    """The fingerprint of data of which nothing need be loaded: all pieces are read for it, a block at a time."""
    if found.known_fingerprint is not None:
        return found.known_fingerprint
    with quietly():
        tasks = [
            client.submit(
                digest_piece,
                found.pieces[number],
                found.contents.get(number),
                found.layout,
                found.summaries[number],
                found.strays_of(number),
                pure=False,
            )
            for number in found.documents_of_pieces()
        ]
    return joined_fingerprint(found.layout, gathered_from(client, tasks, within))
