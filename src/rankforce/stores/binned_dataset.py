"""A data set whose features are bins in a store: for trees, of data that is larger than memory."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np

from rankforce import dtypes
from rankforce.binning.binned import Binned
from rankforce.binning.binning import Binning
from rankforce.binning.packing import Packing
from rankforce.cached_properties import cached_property
from rankforce.data.categories import NO_CATEGORIES, Categories
from rankforce.data.dataset import Dataset
from rankforce.data.dataset_columns import frozen
from rankforce.data.distributions import KnownData
from rankforce.data.hashing import hash_ids
from rankforce.data.query_groups import query_mask
from rankforce.errors import DataError, FileFormatError, SettingsError
from rankforce.remedies import MAKE_STORE, NAME_ALONE, Phrase, Setting
from rankforce.stores.format import ROWS, check_same_store, damaged_arrays, identity, open_array, read_header
from rankforce.stores.known_rows import read_known_data
from rankforce.stores.replacing import put_back
from rankforce.stores.stored_texts import CATEGORIES, read_categories, read_texts
from rankforce.threads import over_ranges

LABELS, CATEGORY_BINS = "labels.", "binning.category_bins."
ROWS_AT_A_TIME = 4096


class BinnedDataset(Dataset):
    """Labels, queries and weights as a ``Dataset`` has them, and bins in place of features.

    ``rf.bin`` makes the store and ``rf.read`` opens it. Trees learn from it what they would from the data themselves,
    to the last bit; whatever needs the values of features says so. Rows are in the order of the queries.
    """

    def __init__(
        self,
        path: Path,
        header: dict[str, Any],
        binned: Binned,
        parts: Mapping[str, np.ndarray],
        categories: Categories = NO_CATEGORIES,
        mapped: bool = False,
    ) -> None:
        """For those who open stores; ``parts`` are its arrays; ``mapped``: it is all of the store, on the disk."""
        starts, ids = frozen(parts["query_starts"]), frozen(parts["query_ids"])
        names = [name.removeprefix(LABELS) for name in sorted(parts) if name.startswith(LABELS)]
        order = [name for name in header.get("labels", ()) if name in names]  # of earlier stores it is not known
        labels = {name: frozen(parts[f"{LABELS}{name}"]) for name in dict.fromkeys([*order, *names])}
        vars(self).update(  # a data set is frozen
            path=path,
            folder=path.absolute() if mapped else path,  # found again wherever the process goes
            mapped=mapped,
            header=header,
            bins=dataclasses.replace(binned, query_starts=starts, query_hashes=frozen(hash_ids(ids))),
            feature_names=tuple(header["feature_names"]),
            categories=MappingProxyType(dict(categories)),
            query_ids=ids,
            query_starts=starts,
            labels=MappingProxyType(labels),
            weights=frozen(parts["weights"]) if "weights" in parts else None,
            query_weights=frozen(parts["query_weights"]) if "query_weights" in parts else None,
            document_ids=None,
            origins=MappingProxyType(dict(header.get("origins", {}))),  # stores of version 1 may have none
            roles=MappingProxyType(dict(header.get("roles", {}))),
        )

    @classmethod
    def open(cls, path: Path, known: str | None = None) -> BinnedDataset:
        """The store in this folder: its rows are mapped, everything else is read and checked.

        After a kill while it was replaced, the former one gets its name back, with a warning.

        ``known`` : the ``identity`` that it must have, where it was opened before
        """
        put_back(path)
        if known is not None:
            check_same_store(path, known, path)
        header = read_header(path)
        parts = {name: open_array(path, header, name) for name in header["arrays"] if name != ROWS}
        if "query_ids_text" in parts:
            texts = read_texts(parts.pop("query_ids_text"), parts.pop("query_ids_ends"))
            parts["query_ids"] = np.empty(len(texts), dtype=object)
            parts["query_ids"][:] = texts
        features, n_bins, starts, thresholds = (
            parts.pop(f"binning.{name}") for name in ("features", "n_bins", "cut_starts", "thresholds")
        )
        names, listed = header["feature_names"], header.get("categories", [])  # stores of version 1 have none
        tables = {
            int(name.removeprefix(CATEGORY_BINS)): parts[name] for name in parts if name.startswith(CATEGORY_BINS)
        }
        binning = Binning(features, n_bins, starts, thresholds, len(names), tables)
        rows = open_array(path, header, ROWS, mapped=True)
        check_same_store(path, known or identity(header), path)  # the rows, too, are of what the header tells of
        categories = read_categories(names, listed, parts)
        parts = {name: of for name, of in parts.items() if not name.startswith((CATEGORIES, CATEGORY_BINS))}
        return cls(path, header, _binned(binning, np.asarray(rows)), parts, categories, mapped=True)

    def check(self) -> None:
        """Read all of the store and raise if anything in it is not as it was written."""
        self._check_same()
        for name in damaged_arrays(self.folder, self.header):
            raise FileFormatError(
                f"its array {name!r} is damaged",
                path=self.path,
                remedy=("make the store again from the data: ", MAKE_STORE),
            )

    def __reduce__(self) -> Any:
        if self.mapped:  # another process opens the store again
            return BinnedDataset.open, (self.folder, self.identity)
        return BinnedDataset, (self.path, self.header, self.bins, self._parts(), dict(self.categories))

    def _parts(self) -> dict[str, np.ndarray]:
        """The arrays of the constructor."""
        parts = {"query_ids": self.query_ids, "query_starts": self.query_starts}
        parts |= {f"{LABELS}{name}": values for name, values in self.labels.items()}
        return parts | {name: of for name in ("weights", "query_weights") if (of := getattr(self, name)) is not None}

    # ------------------------------------------------------------------------------------------- what a Dataset has

    path: Path
    folder: Path
    mapped: bool
    header: dict[str, Any]

    @property
    def features(self) -> NoReturn:  # type: ignore[override]
        raise DataError(
            f"{self.path}: a store has bins in place of the values of features, from which trees can be learned, and "
            "nothing else: read the data itself for this"
        )

    @property
    def n_documents(self) -> int:
        return self.bins.n_documents

    @property
    def n_features(self) -> int:
        return len(self.feature_names)

    @cached_property
    def rows(self) -> np.ndarray:
        return frozen(np.arange(self.n_documents, dtype=dtypes.OFFSET))

    @property
    def contiguous(self) -> bool:
        return True

    @property
    def fingerprint(self) -> str:
        return str(self.header["fingerprint"])

    @property
    def identity(self) -> str:
        """By which the store is known again."""
        return identity(self.header)

    def _check_same(self) -> None:
        """Raise if another store has taken the place of this one."""
        if self.mapped:
            check_same_store(self.folder, self.identity, self.path)

    @property
    def max_bins(self) -> int:
        """Into how many bins features were cut at most."""
        return int(self.header["max_bins"])

    def feature_ranges(self) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
        """Per feature: lowest and highest value, and the share of missing values."""
        lows, highs, shares = (
            tuple(map(_number, self.header[name])) for name in ("feature_lows", "feature_highs", "missing_shares")
        )
        return lows, highs, shares

    def known_data(self) -> KnownData | None:
        """What a model keeps of this data; None of some queries of a store, whose values nobody knows."""
        written = self.header.get("known_data")
        return None if written is None else read_known_data(written)

    def take_queries(self, queries: Any) -> BinnedDataset:
        """The data set of some queries, with the bins of the whole; their rows are copied into memory."""
        mask = query_mask(queries, self.n_queries)
        rows = np.flatnonzero(np.repeat(mask, self.query_sizes))
        starts = np.concatenate([[0], np.cumsum(self.query_sizes[mask])]).astype(dtypes.OFFSET)
        of_queries = {"query_ids": mask, "query_weights": mask}
        parts = {
            name: values[of_queries.get(name, rows)] for name, values in self._parts().items() if name != "query_starts"
        }
        parts["query_starts"] = starts
        header = self.header | {"fingerprint": part_fingerprint(self.fingerprint, mask), "known_data": None}
        bins = _binned(self.bins.binning, np.array(self.bins.rows[rows]))
        return BinnedDataset(self.path, header, bins, parts, self.categories)

    def take_features(self, features: Any) -> NoReturn:
        raise DataError(f"{self.path}: the features of a store cannot be taken apart: choose them when it is made")

    def replace(self, **changes: Any) -> BinnedDataset:
        """A copy with other labels or weights."""
        unknown = set(changes) - {"labels", "weights", "query_weights"}
        if unknown:
            raise DataError(
                f"{self.path}: a store keeps its {sorted(unknown)[0]!r}; labels and weights can be replaced"
            )
        plain = self.without_bins(**changes)
        parts = {name: self._parts()[name] for name in ("query_ids", "query_starts")}
        parts |= {f"{LABELS}{name}": values for name, values in plain.labels.items()}
        parts |= {name: of for name in ("weights", "query_weights") if (of := getattr(plain, name)) is not None}
        header = self.header | {"fingerprint": f"{self.fingerprint}, {plain.fingerprint}"}
        rows = np.array(self.bins.rows) if self.mapped else self.bins.rows
        return BinnedDataset(self.path, header, dataclasses.replace(self.bins, rows=rows), parts, self.categories)

    def without_bins(self, **changes: Any) -> Dataset:
        """The same documents without any feature, perhaps with other labels or weights."""
        parts = {"labels": dict(self.labels), "weights": self.weights, "query_weights": self.query_weights}
        nothing = np.empty((self.n_documents, 0), dtype=dtypes.FEATURE)
        return Dataset(nothing, qid=self.query_ids[self.row_queries], **parts | changes)

    # ---------------------------------------------------------------------------------------------------------- bins

    def binned(self, max_bins: int, memory: str) -> Binned:
        """The bins for a training with this setting; ``memory``: "fast" adds a copy by columns, "low" reads the rows
        into memory, "mapped" leaves them in the store.
        """
        self.check_max_bins(max_bins)
        if memory == "mapped":
            return self.bins
        rows = self._read_rows() if self.mapped else np.array(self.bins.rows)
        columns = by_columns(self.bins.packing, rows) if memory == "fast" else None
        return dataclasses.replace(self.bins, rows=rows, columns=columns)

    def _read_rows(self) -> np.ndarray:
        """Read, not copied from the map: mapped pages would count twice. All bytes pass by, so that damage is found."""
        self._check_same()
        try:
            return open_array(self.folder, self.header, ROWS)
        finally:
            self._check_same()  # it may have been replaced just now

    def check_max_bins(self, max_bins: int) -> None:
        """Raise unless this is into how many bins features were cut."""
        if max_bins != self.max_bins:
            raise SettingsError(
                f"{self.path}: the store was made for at most {self.max_bins} bins, and the training wants {max_bins}: "
                "give both the same ",
                Setting("max_bins", NAME_ALONE),
            )

    def binned_like(self, binning: Binning) -> Binned:
        """The bins, if they were made at these thresholds."""
        if self.bins.binning != binning:
            raise self.unlike("other thresholds")
        return self.bins

    def unlike(self, others: str) -> DataError:
        """The error for a store that was not made like that of the training data."""
        return DataError(
            f"{self.path}: the store was binned with {others} than the training data: make it like the store of the "
            "training data: ",
            Phrase("rf.bin(..., like=train)", "rankforce bin ... --like TRAIN"),
        )


def _binned(binning: Binning, rows: np.ndarray) -> Binned:
    nothing = np.empty(0, dtype=dtypes.HASH)
    return Binned(binning, Packing.of(binning.n_bins), rows, None, nothing, nothing)


def by_columns(packing: Packing, rows: np.ndarray) -> np.ndarray:
    """The bins column by column, some rows at a time: they stay in the cache while all columns are taken."""
    columns = np.empty((len(packing.byte), len(rows)), dtype=dtypes.BIN)

    def fill(first: int, last: int) -> None:
        for begin in range(first, last, ROWS_AT_A_TIME):
            block = slice(begin, min(begin + ROWS_AT_A_TIME, last))
            for column in range(len(columns)):
                columns[column, block] = packing.bins(rows[block], column)

    over_ranges(len(rows), fill)
    return columns


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def part_fingerprint(whole: str, mask: np.ndarray) -> str:
    """The fingerprint of some queries of a store, given by that of the store and a mask of its queries."""
    return f"{whole}, {hashlib.blake2b(np.packbits(mask).tobytes(), digest_size=16).hexdigest()}"
