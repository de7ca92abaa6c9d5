"""The first pass over data that is binned: everything but the bins.

Which queries there are and how long, whether each is one run of rows, labels and weights, ranges of features, and a
sample of the rows. What grows with the rows goes to files.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.binning import binning
from rankforce.binning.category_bins import CategoryBins, bins_of_counts
from rankforce.console.byte_progress import ByteProgress
from rankforce.data.blocks import Blocks
from rankforce.data.categories import NO_CATEGORIES, Categories, Category
from rankforce.data.category_codes import AS_DECLARED
from rankforce.data.dataset import Dataset
from rankforce.data.feature_columns import Unusable
from rankforce.data.feature_matching import are_numbered, feature_places
from rankforce.data.feature_options import UnusableColumnsError
from rankforce.data.seen_columns import SeenColumns
from rankforce.errors import DataError
from rankforce.remedies import ReadOption
from rankforce.stores.category_tally import CategoryTally, SettledFeature, too_many
from rankforce.stores.format import release_pages, take_room
from rankforce.stores.query_table import QueryTable
from rankforce.stores.rows_by_query import RowPlaces
from rankforce.stores.sample import SpilledSample

QUERY_NUMBERS = "query_numbers"
ROWS_AT_A_TIME = 1 << 16


class Survey:
    """What the first pass found.

    documents, queries (``QueryTable``), feature_names, label_names
    lows, highs : float32, missing : int64
        Per feature.
    columns : name → (file, dtype)
        What was written per row: labels, weights, numbers of queries.
    query_weights : float64 (queries,) or None
    tallies : feature → the categories that its blocks had; ``settle`` makes ``settled`` and ``categories`` of them
    """

    def __init__(self, folder: Path, absent: float | None, most_bytes: int, sample: Any = None) -> None:
        """``most_bytes``: what categories may take.

        ``sample`` keeps rows as a ``SpilledSample`` does, which is made in the folder otherwise.
        """
        self.folder = folder
        self.absent = absent
        self.most_bytes = most_bytes
        self.tallies: dict[str, CategoryTally] = {}
        self.settled: dict[str, SettledFeature] = {}
        self.categories: Categories = NO_CATEGORIES
        self.origins: dict[str, str] = {}
        self.roles: dict[str, str] = {}
        self.places: list[int] | None = None  # of the features that are wanted, if not all are in their order
        self.documents = 0
        self.queries = QueryTable()
        self.feature_names: tuple[str, ...] = ()
        self.label_names: tuple[str, ...] = ()  # sorted; ``given_labels`` has them as they came
        self.given_labels: tuple[str, ...] = ()
        self.weighted = False
        self.query_weights: dict[int, float] | None = None
        self.lows = self.highs = np.empty(0, dtype=dtypes.FEATURE)
        self.missing = np.empty(0, dtype=np.int64)
        self.sample: SpilledSample = SpilledSample(folder / "sample", absent) if sample is None else sample
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
            self.feature_names, self.given_labels = block.feature_names, tuple(block.labels)
            self.label_names = tuple(sorted(block.labels))
            self.weighted = block.weights is not None
            self.query_weights = None if block.query_weights is None else {}
        self._check(block)
        self.origins.update(block.origins)
        self.roles.update(block.roles)
        known_features = len(self.lows)
        self._widen(block)
        numbers = self.queries.take(block)
        self._append(QUERY_NUMBERS, numbers)
        for name in self.label_names:
            self._append(f"labels.{name}", block.labels[name])
        if block.weights is not None:
            self._append("weights", block.weights)
        self._weigh_queries(block, numbers)
        features = self._numbered(block, known_features)
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
            self._put_by_query(given, path)
        return np.memmap(path, np.float64, "r", shape=(self.documents,))

    def _put_by_query(self, given: np.ndarray, path: Path) -> None:
        """Write a column in the order of the queries, some rows at a time: memory does not grow with their number."""
        numbers, places = self.column(QUERY_NUMBERS, np.int64), RowPlaces(self.query_starts)
        put = np.memmap(path, given.dtype, "w+", shape=given.shape)
        take_room(path)
        for first in range(0, self.documents, ROWS_AT_A_TIME):
            some = slice(first, first + ROWS_AT_A_TIME)
            put[places.of(numbers[some])] = given[some]
            for mapped in (numbers, given, put):
                release_pages(mapped)
        put.flush()

    @property
    def query_starts(self) -> np.ndarray:
        sizes = self.queries.sizes[: len(self.queries)]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(dtypes.OFFSET)

    def completed(self, block: Dataset) -> Dataset:
        """A block with the features that all blocks have together, and their codes."""
        lacking = len(self._names_met) - block.n_features
        if lacking == 0 and not self.tallies and self.places is None:
            return block
        features = block.features
        if lacking:
            rest = np.full((block.n_documents, lacking), self.absent, dtype=dtypes.FEATURE)
            features = np.hstack([features, rest])
        elif self.tallies:
            features = features.copy()
        for name, feature in self.settled.items():
            place = self._names_met.index(name)
            column = features[:, place]
            if name in block.categories:
                column[:] = self.tallies[name].numbers(column, block.categories[name], feature)
            elif place >= block.n_features and not np.isnan(column).all():
                column[:] = self.tallies[name].numbers(np.zeros_like(column), (int(column[0]),), feature)
            elif not np.isnan(column).all():
                raise mixed(name)
        if self.places is not None:
            features = features[:, self.places]
        return block.replace(features=features, feature_names=self.feature_names, categories=self.categories)

    def settle(self, seen: SeenColumns, like: Dataset | None) -> None:
        """All blocks were seen: the features that the data has, or those of ``like`` with its categories."""
        names = self._names_met = self.feature_names
        wanted: Sequence[str] = names
        if like is not None:
            self.places = feature_places(
                like.feature_names,
                names,
                named=not are_numbered(names),
                what="the data",
                of="the store",
                counted="the bins were made for",
                remedy="give both the same feature names",
            )
            self.feature_names = names if self.places is None else tuple(names[place] for place in self.places)
            wanted = like.feature_names
        unusable: dict[str, Unusable] = {}
        for name, alike in zip(self.feature_names, wanted, strict=True):
            found = self._settled(name, seen, None if like is None else like.categories.get(alike, ()))
            if isinstance(found, Unusable):
                unusable[seen.columns.get(name, name)] = found
            elif found is not None:
                self.settled[name] = found
                if found.role:
                    self.roles[seen.columns.get(name, name)] = found.role
                place = names.index(name)
                self.lows[place], self.highs[place] = self.tallies[name].range(found)
        if unusable:
            raise UnusableColumnsError(unusable)
        lists = {name: feature.categories for name, feature in self.settled.items() if feature.categories}
        if like is not None:  # a feature without any value has its list, too
            lists |= {
                name: like.categories[alike]
                for name, alike in zip(self.feature_names, wanted, strict=True)
                if alike in like.categories
            }
        self.categories = {name: lists[name] for name in self.feature_names if name in lists}
        if self.places is not None:
            self.lows, self.highs = self.lows[self.places], self.highs[self.places]
            self.missing = self.missing[self.places]

    def _settled(
        self, name: str, seen: SeenColumns, like: Sequence[Category] | None
    ) -> SettledFeature | Unusable | None:
        """What became of a feature with categories; None for one of numbers."""
        tally, how = self.tallies.get(name), seen.unsettled.get(name)
        if tally is None:
            if like and not np.isnan(self.lows[self._names_met.index(name)]):
                raise unlike(name, "numbers", "categories")
            return None
        if like is not None and not like:
            if how is None or not how.texts:
                raise unlike(name, "categories", "numbers")
            how = dataclasses.replace(how, find=False)
        return tally.settled(how, like)

    def category_bins(self, max_bins: int) -> dict[int, CategoryBins]:
        """By the places of features, the bins of categories."""
        return {
            place: bins_of_counts(
                self.settled[name].counts, self.tallies[name].present, int(self.missing[place]), max_bins
            )
            for place, name in enumerate(self.feature_names)
            if name in self.categories
        }

    def values_of_numbers(self) -> dict[int, np.ndarray]:
        """By the places of features, what the numbers of entries became that are no categories."""
        return {
            place: self.settled[name].values
            for place, name in enumerate(self.feature_names)
            if name in self.settled and name not in self.categories
        }

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

    def _numbered(self, block: Dataset, known_features: int) -> np.ndarray:
        """The features of a block, with the numbers of their tallies for categories; so many features were known."""
        if not block.categories and not self.tallies:
            return block.features
        features = block.features.copy()
        for place, name in enumerate(block.feature_names):
            listed = block.categories.get(name)
            if listed is None:
                if name in self.tallies and not np.isnan(features[:, place]).all():
                    raise mixed(name)
                continue
            if name not in self.tallies:
                self.tallies[name] = CategoryTally(name)
                if place >= known_features:
                    self._tally_absent(name, self.documents)
                elif not np.isnan(self.lows[place]):
                    raise mixed(name)
            features[:, place] = self.tallies[name].take(features[:, place], listed)
        for name in self.feature_names[block.n_features :]:
            if name in self.tallies:
                self._tally_absent(name, block.n_documents)
        if sum(tally.bytes for tally in self.tallies.values()) > self.most_bytes:
            largest = max(self.tallies.values(), key=lambda tally: tally.bytes)
            raise too_many(largest.name, f"{len(largest.categories):,} or more")
        return features

    def _tally_absent(self, name: str, documents: int) -> None:
        """A categorical feature that so many rows did not name: of text, where categories are numbers."""
        if documents and self.absent is not None and not np.isnan(self.absent):
            self.tallies[name].take(np.zeros(documents, dtype=dtypes.FEATURE), (int(self.absent),))

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


def mixed(name: str) -> DataError:
    """The error where a feature is categories here and numbers there."""
    return DataError(
        f"feature {name!r} holds categories in some blocks of rows, and numbers in others; say what it is: ",
        ReadOption("categorical", [name]),
    )


def unlike(name: str, held: str, wanted: str) -> DataError:
    """The error where a feature is something else than in the data that this is to be like."""
    return DataError(f"feature {name!r} holds {held} in the data and {wanted} in the store; ", AS_DECLARED)
