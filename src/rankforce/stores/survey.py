"""The first pass over data that is binned: everything but the bins.

Which queries there are and how long, whether each is one run of rows, labels and weights, ranges of features, and a
sample of the rows. What grows with the rows goes to files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.binning import binning
from rankforce.console.byte_progress import ByteProgress
from rankforce.data.blocks import Blocks
from rankforce.data.dataset import Dataset
from rankforce.data.hashing import hash_ids
from rankforce.errors import DataError
from rankforce.stores.sample import SpilledSample

QUERY_NUMBERS = "query_numbers"


class QueryTable:
    """Queries by their first appearance: ids, hashes, how many rows each has, and whether each is one run of rows."""

    def __init__(self) -> None:
        self._numbers: dict[int | str, int] = {}
        self._as_text = False
        self.sizes = np.zeros(1024, dtype=np.int64)
        self.hashes = np.zeros(1024, dtype=dtypes.HASH)
        self.contiguous = True
        self._last = -1

    def __len__(self) -> int:
        return len(self._numbers)

    def take(self, block: Dataset) -> np.ndarray:
        """The number of its query for every row of the next block."""
        keys = self._keys(block.query_ids)
        known = len(self._numbers)
        numbers = np.fromiter((self._numbers.setdefault(key, len(self._numbers)) for key in keys), np.int64, len(keys))
        self._make_room()
        fresh = numbers >= known
        self.hashes[numbers[fresh]] = hash_ids(block.query_ids)[fresh]
        self.sizes[numbers] += block.query_sizes
        rows = numbers[block.row_queries]
        runs = rows[np.concatenate([[0], np.flatnonzero(np.diff(rows)) + 1])]
        again = (runs < known) & (runs != self._last)
        if again.any() or len(np.unique(runs)) < len(runs) or self._last in runs[1:]:
            self.contiguous = False
        self._last = int(rows[-1])
        return rows

    @property
    def ids(self) -> np.ndarray:
        keys = list(self._numbers)
        if not self._as_text:
            return np.array(keys, dtype=np.int64)
        ids = np.empty(len(keys), dtype=object)
        ids[:] = keys
        return ids

    def _keys(self, ids: np.ndarray) -> list[Any]:
        """Ids as they are looked up: whole numbers, as long as all are, else text."""
        whole = ids.dtype.kind in "iu"
        if not whole and not self._as_text:
            self._as_text = True
            self._numbers = {str(key): number for key, number in self._numbers.items()}
        return ids.tolist() if not self._as_text else list(map(str, ids.tolist()))

    def _make_room(self) -> None:
        if len(self._numbers) > len(self.sizes):
            room = 2 * len(self._numbers)
            self.sizes.resize(room, refcheck=False)
            self.hashes.resize(room, refcheck=False)


class Survey:
    """What the first pass found.

    documents, queries (``QueryTable``), feature_names, label_names
    lows, highs : float32, missing : int64
        Per feature.
    columns : name → (file, dtype)
        What was written per row: labels, weights, numbers of queries.
    query_weights : float64 (queries,) or None
    """

    def __init__(self, folder: Path, absent: float | None, sample: Any = None) -> None:
        """``sample`` keeps rows as a ``SpilledSample`` does, which is made in the folder otherwise."""
        self.folder = folder
        self.absent = absent
        self.documents = 0
        self.queries = QueryTable()
        self.feature_names: tuple[str, ...] = ()
        self.label_names: tuple[str, ...] = ()
        self.weighted = False
        self.query_weights: dict[int, float] | None = None
        self.lows = self.highs = np.empty(0, dtype=dtypes.FEATURE)
        self.missing = np.empty(0, dtype=np.int64)
        self.sample = SpilledSample(folder / "sample", absent) if sample is None else sample
        self._files: dict[str, Any] = {}

    def look_at(self, blocks: Blocks, bar: ByteProgress) -> None:
        """Pass over all blocks."""
        for block, read in blocks:
            self.take(block)
            bar.advance_to(read)
        if self.documents == 0:
            raise DataError("there is no document in the data")

    def close(self) -> None:
        """Nothing more is written."""
        for file in (*self._files.values(), self.sample):
            file.close()

    def take(self, block: Dataset) -> None:
        """Look at the next rows."""
        if self.documents == 0:
            self.feature_names, self.label_names = block.feature_names, tuple(sorted(block.labels))
            self.weighted = block.weights is not None
            self.query_weights = None if block.query_weights is None else {}
        self._check(block)
        self._widen(block)
        numbers = self.queries.take(block)
        self._append(QUERY_NUMBERS, numbers)
        for name in self.label_names:
            self._append(f"labels.{name}", block.labels[name])
        if block.weights is not None:
            self._append("weights", block.weights)
        self._weigh_queries(block, numbers)
        features = block.features
        width = features.shape[1]
        self.lows[:width] = np.fmin(self.lows[:width], np.fmin.reduce(features, axis=0))
        self.highs[:width] = np.fmax(self.highs[:width], np.fmax.reduce(features, axis=0))
        self.missing[:width] += np.count_nonzero(np.isnan(features), axis=0)
        self._look_at_absent(width, block.n_documents)
        words = binning.sample_words(self.queries.hashes[: len(self.queries)])
        self.sample.take(features, words[numbers])
        if self.sample.overfull:
            self.sample.limit(words, self.queries.sizes[: len(self.queries)])
        self.documents += block.n_documents

    def limit_sample(self) -> None:
        """Keep what is sampled of all queries, if not all rows are."""
        if self.documents > binning.EXACT_ROWS:
            count = len(self.queries)
            words = binning.sample_words(self.queries.hashes[:count])
            self.sample.limit(words, self.queries.sizes[:count])

    def column(self, name: str, dtype: Any = np.float64) -> np.ndarray:
        """What was written per row, from the file."""
        return np.memmap(self.folder / name, dtype, "r", shape=(self.documents,))

    def by_query(self, name: str) -> np.ndarray:
        """The same in the order of the queries."""
        given = self.column(name)
        if self.queries.contiguous:
            return given
        path = self.folder / f"{name}.by_query"
        if not path.exists():
            np.asarray(given[np.argsort(self.column(QUERY_NUMBERS, np.int64), kind="stable")]).tofile(path)
        return np.memmap(path, np.float64, "r", shape=(self.documents,))

    @property
    def query_starts(self) -> np.ndarray:
        sizes = self.queries.sizes[: len(self.queries)]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(dtypes.OFFSET)

    def completed(self, block: Dataset) -> Dataset:
        """A block of text with the features that later blocks name."""
        lacking = len(self.feature_names) - block.n_features
        if lacking == 0:
            return block
        rest = np.full((block.n_documents, lacking), self.absent, dtype=dtypes.FEATURE)
        return block.replace(features=np.hstack([block.features, rest]), feature_names=self.feature_names)

    def remove_files(self) -> None:
        """What the second pass needed."""
        for name in self._files:
            for path in (self.folder / name, self.folder / f"{name}.by_query"):
                path.unlink(missing_ok=True)

    @property
    def weights_of_queries(self) -> np.ndarray | None:
        if self.query_weights is None:
            return None
        return np.array([self.query_weights[number] for number in range(len(self.queries))])

    def _check(self, block: Dataset) -> None:
        if tuple(sorted(block.labels)) != self.label_names:
            mine, first = (", ".join(map(repr, names)) or "none" for names in (sorted(block.labels), self.label_names))
            raise DataError(f"a block of rows has the labels {mine}, the first one had {first}")
        weighted = block.weights is not None, block.query_weights is not None
        if weighted != (self.weighted, self.query_weights is not None):
            raise DataError("some blocks of rows have weights and others have none")
        if block.categories:
            raise DataError(
                f"the feature {next(iter(block.categories))!r} holds categories, which a store cannot keep: leave it "
                "out"
            )

    def _widen(self, block: Dataset) -> None:
        """Room for the features of a block; only numbered ones may become more."""
        names, known = block.feature_names, self.feature_names
        shorter = min(len(names), len(known))
        if names[:shorter] != known[:shorter] or (len(names) != len(known) and self.absent is None):
            odd = next((one for one in names if one not in known), None) or next(
                one for one in known if one not in names
            )
            raise DataError(f"blocks of rows have different features: {odd!r} is not in all of them")
        if len(names) <= len(self.lows):
            return
        self.feature_names = names
        further = len(names) - len(self.lows)
        unseen = np.full(further, np.nan, dtype=dtypes.FEATURE)
        missing = np.zeros(further, dtype=np.int64)
        if self.documents and self.absent is not None:  # earlier rows did not name them
            if np.isnan(self.absent):
                missing[:] = self.documents
            else:
                unseen[:] = self.absent
        self.lows, self.highs = np.concatenate([self.lows, unseen]), np.concatenate([self.highs, unseen])
        self.missing = np.concatenate([self.missing, missing])

    def _look_at_absent(self, width: int, documents: int) -> None:
        """Features that this block does not name."""
        if width == len(self.lows) or self.absent is None:
            return
        if np.isnan(self.absent):
            self.missing[width:] += documents
        else:
            self.lows[width:] = np.fmin(self.lows[width:], self.absent)
            self.highs[width:] = np.fmax(self.highs[width:], self.absent)

    def _weigh_queries(self, block: Dataset, numbers: np.ndarray) -> None:
        if block.query_weights is None or self.query_weights is None:
            return
        firsts = numbers[block.rows[block.query_starts[:-1]]].tolist()
        for number, weight, name in zip(firsts, block.query_weights.tolist(), block.query_ids.tolist(), strict=True):
            if self.query_weights.setdefault(number, weight) != weight:
                raise DataError(f"query_weights differ within query {name!r}: one weight per query")

    def _append(self, name: str, values: np.ndarray) -> None:
        if name not in self._files:
            self._files[name] = (self.folder / name).open("wb")
        np.ascontiguousarray(values).tofile(self._files[name])
