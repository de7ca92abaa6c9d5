"""Stores are made in two passes over the data, whatever its size: a survey, and the bins.

Memory is bounded by what one block of rows takes, some columns of the sample, and a few numbers per query.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.binning.binned import WORD, Binned
from rankforce.binning.binning import MOST_BINS, Binning
from rankforce.binning.packing import Packing
from rankforce.console.byte_progress import ByteProgress
from rankforce.data.blocks import Blocks, BlockSize, blocks_of
from rankforce.data.dataset import Dataset
from rankforce.data.distributions import KnownData
from rankforce.data.feature_options import UnusableColumnsError
from rankforce.data.file_formats import STORE, is_store
from rankforce.data.fingerprints import fingerprint_from
from rankforce.data.seen_columns import NotNumbersError
from rankforce.errors import DataError, FileFormatError
from rankforce.files.streams import file_name
from rankforce.kinds import OrNone, Switch, Whole, check_number
from rankforce.memory import bytes_of
from rankforce.stores.binned_dataset import CATEGORY_BINS, LABELS, BinnedDataset
from rankforce.stores.format import ROWS, digests_of, release_pages, take_room, write_header
from rankforce.stores.known_rows import KnownRows, written_known_data
from rankforce.stores.replacing import new_folder
from rankforce.stores.rows_by_query import QueryDigests, RowPlaces
from rankforce.stores.stored_texts import written_categories, written_texts
from rankforce.stores.survey import QUERY_NUMBERS, Survey

ROWS_IN_A_BLOCK = 65_536  # at most; fewer of many features
LEAST_MEMORY = 64_000_000
FIRST, SECOND = "pass 1 of 2", "pass 2 of 2"


def bin(
    data: Any,
    path: str | os.PathLike[str],
    *,
    max_bins: int = MOST_BINS,
    memory: int | str = "2 GB",
    like: Any = None,
    progress: bool | None = None,
    **options: Any,
) -> BinnedDataset:
    """Bin data that may be larger than memory into a store, and open it.

    Parameters
    ----------
    data
        The name of a file, a pattern (``"train/*.txt.gz"``), a folder of files or a list of these, as for ``rf.read``;
        a Dataset; or a function that returns an iterator of data sets with consecutive rows, and is called twice.
    path : ending in ``.bins``
        A folder, which must not exist unless it is a store; that is replaced when the new one is whole.
    max_bins
        As of the ranker that will learn from it.
    memory : bytes, or text as "2 GB"
        What may be taken, about; a few numbers per query come on top.
    like : the path of a store, or one that is open
        Bin at its thresholds, and by its categories: for validation data. Features are matched by name.
    progress
        Whether to show on standard error how far each of the two passes is, and the time left: a bar on a terminal,
        a line every ten seconds elsewhere. By default on a terminal, if it takes long.
    options
        As for ``rf.read``.

    Trees that are trained on the store are those that would be trained on the data, to the last bit.
    """
    name = file_name(path)
    if not is_store(name):
        raise DataError(f"{name}: the name of a store ends in {STORE}")
    check_number("max_bins", max_bins, 2, MOST_BINS, whole=True)
    OrNone(Switch()).check("progress", progress)
    limit = bytes_of(memory, "memory")
    Whole(LEAST_MEMORY).check("memory", limit)
    if like is not None:
        like = _opened(like)
        max_bins = like.max_bins
        if not isinstance(data, Dataset) and not callable(data):
            options["like"] = like
    with new_folder(Path(name)) as folder:
        blocks = blocks_of(data, BlockSize(ROWS_IN_A_BLOCK, limit // 16), **options)
        _write(blocks, folder, max_bins, limit, like, progress)
    return BinnedDataset.open(Path(name))


def _opened(like: Any) -> BinnedDataset:
    return like if isinstance(like, BinnedDataset) else BinnedDataset.open(Path(file_name(like)))


def _write(
    blocks: Blocks, folder: Path, max_bins: int, limit: int, like: BinnedDataset | None, progress: bool | None
) -> None:
    survey = _surveyed(blocks, folder, limit, like, progress)
    if like is None:
        survey.limit_sample()
        cuts = survey.sample.cuts(len(survey.feature_names), max_bins, limit // 2, survey.values_of_numbers())
        edges = Binning.from_cuts(*cuts, survey.category_bins(max_bins))
    else:
        edges = like.bins.binning
    survey.sample.remove()
    binned = _RowsOfStore(folder, survey, edges)
    with _progress(blocks, progress, SECOND) as bar, contextlib.closing(binned):
        for block, read in blocks:
            binned.take(block)
            bar.advance_to(read)
    blocks.check_unchanged()
    fingerprint = binned.fingerprint()
    arrays = _arrays(survey, edges) | written_categories(survey.feature_names, survey.categories)
    for part, array in arrays.items():
        np.save(folder / f"{part}.npy", array, allow_pickle=False)
    binned.rows.flush()
    described = {
        part: {"shape": list(array.shape), "dtype": array.dtype.str, "digests": digests_of(array)}
        for part, array in (arrays | {ROWS: binned.rows}).items()
    }
    survey.remove_files()
    write_header(
        folder,
        {
            "feature_names": list(survey.feature_names),
            "categories": list(survey.categories),
            "labels": list(survey.given_labels),
            "origins": survey.origins,
            "roles": survey.roles,
            "max_bins": max_bins,
            "fingerprint": fingerprint,
            "feature_lows": _written(survey.lows),
            "feature_highs": _written(survey.highs),
            "missing_shares": (survey.missing / survey.documents).tolist(),
            "known_data": written_known_data(binned.known_data()),
            "sources": [one._asdict() for one in blocks.files],
            "arrays": described,
        },
    )


def _surveyed(blocks: Blocks, folder: Path, limit: int, like: BinnedDataset | None, progress: bool | None) -> Survey:
    """The first pass; once more where columns turn out to be text, which had been read as numbers."""
    while True:
        survey = Survey(folder, blocks.absent, limit // 4)
        try:
            with _progress(blocks, progress, FIRST) as bar, contextlib.closing(survey):
                survey.look_at(blocks, bar)
            survey.settle(blocks.seen, like)
            return survey
        except NotNumbersError as error:
            blocks.seen.texts |= error.columns
        except UnusableColumnsError as error:
            raise FileFormatError(error.problem, path=_name_of(blocks), remedy=error.remedy) from None


def _name_of(blocks: Blocks) -> str:
    return blocks.files[0].path if blocks.files else "data"


def _progress(blocks: Blocks, wanted: bool | None, part: str) -> ByteProgress:
    """Of one pass over all files, called by the first of them."""
    more = f" and {len(blocks.files) - 1} more" if len(blocks.files) > 1 else ""
    return ByteProgress(_name_of(blocks) + more, blocks.size or None, wanted, part)


def _written(values: np.ndarray) -> list[float | None]:
    """Numbers as JSON has them; None for NaN, and zeros without a sign."""
    return [None if np.isnan(value) else float(value) for value in values + np.float32(0.0)]


def _arrays(survey: Survey, edges: Binning) -> dict[str, np.ndarray]:
    """Everything but the rows, in the order of the queries."""
    arrays = {f"{LABELS}{name}": survey.by_query(f"{LABELS}{name}") for name in survey.label_names}
    if survey.weighted:
        arrays["weights"] = survey.by_query("weights")
    weights = survey.weights_of_queries
    if weights is not None:
        arrays["query_weights"] = weights
    ids = survey.queries.ids
    if ids.dtype == object:
        arrays["query_ids_text"], arrays["query_ids_ends"] = written_texts(ids)
    else:
        arrays["query_ids"] = ids
    arrays["query_starts"] = survey.query_starts
    for name in ("features", "n_bins", "cut_starts", "thresholds"):
        arrays[f"binning.{name}"] = getattr(edges, name)
    return arrays | {f"{CATEGORY_BINS}{column}": of_code for column, of_code in edges.category_bins.items()}


class _RowsOfStore:
    """The second pass: rows of bins at their places, and the fingerprint of the data."""

    def __init__(self, folder: Path, survey: Survey, edges: Binning) -> None:
        self.survey = survey
        self.edges = edges
        width = -(-Packing.of(edges.n_bins).n_bytes // WORD) * WORD
        self.rows = np.lib.format.open_memmap(folder / f"{ROWS}.npy", "w+", dtypes.BIN, (survey.documents, width))
        take_room(folder / f"{ROWS}.npy")
        self._numbers = survey.column(QUERY_NUMBERS, np.int64)
        columns = [survey.by_query(f"{LABELS}{name}") for name in survey.label_names]
        columns += [survey.by_query("weights")] if survey.weighted else []
        weights = survey.weights_of_queries
        self._query_weighted = weights is not None
        self._places = RowPlaces(survey.query_starts)
        self._digests = QueryDigests(survey.query_starts, columns, None if weights is None else weights.__getitem__)
        queries = survey.queries
        self._known = KnownRows(folder / "known", queries.hashes[: len(queries)], queries.sizes[: len(queries)])
        self._done = 0

    def take(self, block: Dataset) -> None:
        """Bin the next rows."""
        last = self._done + block.n_documents
        if last > self.survey.documents:
            raise DataError("the data has more rows than when it was read first: begin again")
        block = self.survey.completed(block)
        numbers = self._numbers[self._done : last]
        rows = Binned.by(self.edges, block, "low").rows
        if self.survey.queries.contiguous:
            self.rows[self._done : last] = rows
        else:
            self.rows[self._places.of(numbers)[block.rows]] = rows
        release_pages(self.rows)
        self._digests.take(block, numbers)
        self._known.take(block.features, numbers)
        self._done = last

    def close(self) -> None:
        """No more rows are taken."""
        self._known.close()

    def known_data(self) -> KnownData:
        """What a model keeps of this data."""
        return self._known.known_data(self.survey.feature_names, self.survey.categories)

    def fingerprint(self) -> str:
        """That of the data as a data set in memory; an error unless all rows came."""
        survey = self.survey
        if self._done < survey.documents or not self._digests.complete:
            raise DataError("the data has other rows than when it was read first: begin again")
        header = (list(survey.label_names), survey.feature_names, survey.weighted, self._query_weighted)
        categories = dict(survey.categories)
        return fingerprint_from(self._digests.digests, (*header, categories) if categories else header)
