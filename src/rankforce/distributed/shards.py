"""The documents that a worker has: whole queries of some pieces, as bins or as values, in memory.

A shard stays on its worker from one training to the next, in a register of this module: what Dask keeps it would also
move, and copy. Workers of one process have registers of their own.
"""

from __future__ import annotations

import dataclasses
import hashlib
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from rankforce import dtypes
from rankforce.binning.binned import WORD, Binned
from rankforce.binning.binning import Binning
from rankforce.binning.packing import Packing
from rankforce.collective import ALONE, using_collective
from rankforce.data.concatenation import as_one_kind
from rankforce.data.dataset import MAIN_LABEL, Dataset
from rankforce.data.distributions import KnownData
from rankforce.data.query_groups import Numbered
from rankforce.distributed.pieces import Piece, StorePiece
from rankforce.distributed.surveying import DataLayout, Summary, named
from rankforce.errors import DataError
from rankforce.stores.binned_dataset import LABELS, BinnedDataset, by_columns
from rankforce.stores.query_table import QueryTable
from rankforce.stores.rows_by_query import QueryDigests, RowPlaces

Form = Literal["bins", "values"]  # as which features are kept
MATRIX = "matrix"
OF_QUERIES = ("query_ids", "sizes", "query_weights")


@dataclasses.dataclass(frozen=True)
class ShardPlan:
    """What every shard of a data set is made by.

    token : the name of the shards
    binning : of the whole data; None for shards of values
    """

    token: str
    form: Form
    layout: DataLayout
    binning: Binning | None

    @property
    def width(self) -> int:
        """Columns of the matrix."""
        if self.binning is None:
            return len(self.layout.feature_names)
        return -(-Packing.of(self.binning.n_bins).n_bytes // WORD) * WORD

    @property
    def bytes_per_document(self) -> int:
        """Of the matrix."""
        return self.width * (1 if self.form == "bins" else 4)


class Loading:
    """Whole queries of one piece, their rows by query: the second pass over it."""

    def __init__(self, plan: ShardPlan, summary: Summary, strays: np.ndarray) -> None:
        self._plan, self._summary = plan, summary
        self._kept = ~np.isin(summary.hashes, strays)
        sizes = summary.sizes[self._kept]
        self._number = np.cumsum(self._kept) - 1
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(dtypes.OFFSET)
        kind, n = plan.layout.kind, int(starts[-1])
        dtype: Any = dtypes.BIN if plan.form == "bins" else dtypes.FEATURE
        self.arrays: dict[str, np.ndarray] = {MATRIX: np.empty((n, self._width), dtype=dtype), "sizes": sizes}
        self.arrays |= {f"{LABELS}{name}": np.empty(n, dtype=dtypes.LABEL) for name in kind.labels}
        if kind.weighted:
            self.arrays["weights"] = np.empty(n)
        if kind.query_weighted:
            self.arrays["query_weights"] = np.full(len(sizes), np.nan)
        self._table, self._places = QueryTable(), RowPlaces(starts)
        columns = [self.arrays[name] for name in self.arrays if name.startswith(LABELS) or name == "weights"]
        weights = self.arrays.get("query_weights")
        self.digests = QueryDigests(starts, columns, None if weights is None else weights.__getitem__)

    @property
    def _width(self) -> int:
        return self._plan.width

    def _keep_features(self, block: Dataset, places: np.ndarray) -> None:
        if self._plan.binning is None:
            self.arrays[MATRIX][places] = block.features
        else:
            self.arrays[MATRIX][places[block.rows]] = Binned.by(self._plan.binning, block, "low").rows

    def take(self, block: Dataset) -> None:
        """The next rows."""
        numbers = self._table.take(block)
        if len(self._table) > len(self._kept):
            raise DataError("the data has more queries than when it was read first: begin again")
        kept = self._kept[numbers]
        if not kept.any():
            return
        if not kept.all():
            block = block._take_rows(np.flatnonzero(kept))
        block = self._plan.layout.completed(block)
        numbers = self._number[numbers[kept]]
        places = self._places.of(numbers)
        if places.max() >= len(self.arrays[MATRIX]):
            raise DataError("the data has more rows than when it was read first: begin again")
        self._keep_features(block, places)
        for name, values in block.labels.items():
            self.arrays[f"{LABELS}{name}"][places] = values
        if block.weights is not None:
            self.arrays["weights"][places] = block.weights
        if block.query_weights is not None:
            self.arrays["query_weights"][numbers[block.rows[block.query_starts[:-1]]]] = block.query_weights
        self.digests.take(block, numbers)

    def finish(self) -> None:
        """No more rows come."""
        sizes = self._table.sizes[: len(self._table)]
        if not np.array_equal(sizes, self._summary.sizes) or not self.digests.complete:
            raise DataError("the data has other rows than when it was read first: begin again")
        self.arrays["query_ids"] = self._table.ids[self._kept]


class Shard:
    """What one worker has of one data set, by pieces; joined when it is asked for."""

    def __init__(self, plan: ShardPlan) -> None:
        self.plan = plan
        self.digests: dict[int, list[bytes]] = {}  # of the queries of each piece
        self._apart: dict[int, dict[str, np.ndarray]] = {}
        self._together: dict[str, np.ndarray] = {}
        self._sizes: dict[int, tuple[int, int]] = {}  # queries and documents of the pieces that are together, in order

    @property
    def pieces(self) -> set[int]:
        return set(self.digests)

    def add(self, number: int, arrays: dict[str, np.ndarray], digests: list[bytes]) -> None:
        """A piece that was read; nothing if it is there: two tasks may have read it at once."""
        if number not in self.digests:
            self.digests[number] = digests
            self._apart[number] = arrays

    def keep(self, pieces: Sequence[int]) -> None:
        """Give up all other pieces: they have gone to another worker."""
        gone = self.pieces.difference(pieces)
        for number in gone:
            del self.digests[number]
            self._apart.pop(number, None)
        if gone & self._sizes.keys():
            numbers, (queries, documents) = list(self._sizes), np.array(list(self._sizes.values())).T
            stays = ~np.isin(numbers, list(gone))
            of_queries, of_documents = np.repeat(stays, queries), np.repeat(stays, documents)
            for name, values in self._together.items():
                self._together[name] = values[of_queries if name in OF_QUERIES else of_documents]
            self._sizes = {number: sizes for number, sizes in self._sizes.items() if number not in gone}

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything, piece after piece; parts are given up as they are copied."""
        parts = [self._together] if self._sizes else []
        for number, part in self._apart.items():
            self._sizes[number] = len(part["sizes"]), len(part[MATRIX])
            parts.append(part)
        if not parts:
            return _nothing(self.plan)
        if len(parts) > 1:
            names = list(parts[0])
            self._together = {name: _joined(name, [part.pop(name) for part in parts]) for name in names}
        else:
            self._together = parts[0]
        self._apart = {}
        return self._together

    def dataset(self, facts: Facts | None) -> Dataset:
        """As a ranker is fitted on it."""
        return _dataset_of(self.plan, self.arrays(), facts)


def _joined(name: str, parts: list[np.ndarray]) -> np.ndarray:
    if name == "query_ids":
        return as_one_kind(parts)
    if name != MATRIX:
        return np.concatenate(parts)
    matrix = np.empty((sum(map(len, parts)), parts[0].shape[1]), dtype=parts[0].dtype)
    first = 0
    while parts:  # at most one part is in memory twice
        part = parts.pop(0)
        matrix[first : first + len(part)] = part
        first += len(part)
    return matrix


def _nothing(plan: ShardPlan) -> dict[str, np.ndarray]:
    """The arrays of a worker without documents."""
    empty = np.empty(0, dtype=np.uint64)
    summary = Summary(
        0, empty, np.empty(0, dtype=np.int64), (), empty, empty, empty, None, (np.uint64(0), np.uint64(0))
    )
    loading = Loading(plan, summary, empty)
    loading.finish()
    return loading.arrays


@dataclasses.dataclass(frozen=True)
class Facts:
    """What is known of the whole data, and kept in models: from the survey, for shards of bins."""

    name: str
    max_bins: int
    fingerprint: str
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    missing_shares: tuple[float, ...]
    known_data: KnownData | None


class BinnedShard(BinnedDataset):
    """Bins of some queries, in memory, and what is known of all; a worker's share of a training."""

    def __init__(self, plan: ShardPlan, facts: Facts, arrays: Mapping[str, np.ndarray]) -> None:
        assert plan.binning is not None
        sizes = arrays["sizes"]
        parts = {name: values for name, values in arrays.items() if name not in (MATRIX, "sizes")}
        parts["query_starts"] = np.concatenate([[0], np.cumsum(sizes)]).astype(dtypes.OFFSET)
        nothing = np.empty(0, dtype=dtypes.HASH)
        packing = Packing.of(plan.binning.n_bins)
        binned = Binned(plan.binning, packing, arrays[MATRIX], None, nothing, nothing)
        header = {
            "feature_names": plan.layout.feature_names,
            "fingerprint": facts.fingerprint,
            "max_bins": facts.max_bins,
            "feature_lows": facts.lows,
            "feature_highs": facts.highs,
            "missing_shares": facts.missing_shares,
        }
        super().__init__(Path(facts.name), header, binned, parts)
        vars(self).update(_known=facts.known_data, roles=MappingProxyType(dict(plan.layout.kind.roles)))

    def known_data(self) -> KnownData | None:
        return vars(self)["_known"]

    def binned(self, max_bins: int, memory: str) -> Binned:
        """The bins themselves: they are in memory, and nobody writes to them."""
        self.check_max_bins(max_bins)
        if memory != "fast":
            return self.bins
        return dataclasses.replace(self.bins, columns=by_columns(self.bins.packing, self.bins.rows))


def _dataset_of(plan: ShardPlan, arrays: Mapping[str, np.ndarray], facts: Facts | None) -> Dataset:
    if plan.form == "bins":
        assert facts is not None
        return BinnedShard(plan, facts, arrays)
    sizes, kind = arrays["sizes"], plan.layout.kind
    labels = {name: arrays[f"{LABELS}{name}"] for name in kind.labels}
    return Dataset(
        arrays[MATRIX],
        labels.pop(MAIN_LABEL, None),
        Numbered(np.repeat(np.arange(len(sizes)), sizes), arrays["query_ids"]),
        labels=labels,
        weights=arrays.get("weights"),
        query_weights=arrays.get("query_weights"),
        feature_names=plan.layout.feature_names,
        categories=kind.categories,
    ).with_origins(kind.origins, kind.roles)


# ------------------------------------------------------------------------------------------------------------ register

_register: dict[tuple[str, str], Shard] = {}
_loading = threading.Lock()  # a worker may run several tasks at once


def _shard(worker: str, plan: ShardPlan) -> Shard:
    return _register.setdefault((worker, plan.token), Shard(plan))


def load_piece(
    worker: str, plan: ShardPlan, piece: Piece, content: Any, summary: Summary, strays: np.ndarray
) -> list[bytes]:
    """On a worker: read the queries of a piece into its shard; returns their digests."""
    with _loading:
        known = _shard(worker, plan).digests.get(piece.number)
    if known is not None:
        return known
    loading = Loading(plan, summary, strays)
    with using_collective(ALONE):
        try:
            if isinstance(piece, StorePiece):
                arrays, digests = _of_store(piece), []
            else:
                for block in piece.blocks(content):
                    loading.take(block)
                loading.finish()
                arrays, digests = loading.arrays, loading.digests.digests
        except DataError as error:
            raise named(piece, error) from None
    with _loading:
        _shard(worker, plan).add(piece.number, arrays, digests)
    return digests


def _of_store(piece: StorePiece) -> dict[str, np.ndarray]:
    store: Any = next(piece.blocks(None))
    parts = {name: np.array(values) for name, values in store._parts().items() if name != "query_starts"}
    return {MATRIX: store.bins.rows, "sizes": np.diff(store.query_starts), **parts}


def shard_of(worker: str, plan: ShardPlan, pieces: Sequence[int]) -> Shard:
    """The shard of this worker, which must have these pieces, and gives up others."""
    with _loading:
        shard = _shard(worker, plan)
        if not shard.pieces.issuperset(pieces):
            del _register[worker, plan.token]
            raise ShardLostError(f"worker {worker} lacks pieces of {plan.token}")
        shard.keep(pieces)
        return shard


class ShardLostError(Exception):
    """A worker does not have what it was thought to have; it is loaded again."""


def forget(token: str) -> None:
    """On a worker: give up all shards of this name."""
    with _loading:
        for key in [key for key in _register if key[1] == token]:
            del _register[key]


def token_of(*parts: Any) -> str:
    """A name for shards."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()
