"""Scores of data on a cluster: every piece is read and scored where Dask finds room, and numbers come home."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.collective import ALONE, using_collective
from rankforce.data.dataset import MAIN_LABEL, Dataset
from rankforce.data.query_groups import Numbered
from rankforce.distributed.pieces import Piece
from rankforce.distributed.surveying import DataLayout, named
from rankforce.errors import DataError
from rankforce.evaluation.scores import scores_of

Scored = tuple[np.ndarray, Dataset]


def score_piece(piece: Piece, content: Any, layout: DataLayout, ranking: Any) -> Scored | None:
    """On a worker: the scores of the rows of a piece, and its data without features; None of an empty one."""
    parts: list[Scored] = []
    with using_collective(ALONE):
        try:
            for block in piece.blocks(content):
                block = layout.completed(block)
                parts.append((block.by_row(scores_of(ranking, block)), _without_features(block)))
        except DataError as error:
            raise named(piece, error) from None
        return joined(parts) if parts else None


def bare_piece(piece: Piece, content: Any) -> Dataset | None:
    """On a worker: the data of a piece without features; None of an empty one."""
    with using_collective(ALONE):
        parts = [_without_features(block) for block in piece.blocks(content)]
        return Dataset.concat(parts, same_query="merge") if parts else None


def joined(parts: Iterable[Scored]) -> Scored:
    """Scores and data of several pieces, one after the other."""
    scores, sets = zip(*parts, strict=True)
    with using_collective(ALONE):
        return np.concatenate(scores), Dataset.concat(sets, same_query="merge")


def _without_features(block: Dataset) -> Dataset:
    labels = dict(block.labels)
    return Dataset(
        np.empty((block.n_documents, 0), dtype=dtypes.FEATURE),
        labels.pop(MAIN_LABEL, None),
        Numbered(block.row_queries, block.query_ids),
        labels=labels,
        weights=block.weights,
        query_weights=block.query_weights,
    )
