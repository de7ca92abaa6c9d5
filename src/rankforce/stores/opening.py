"""Data sets in files, and in stores: the ending of the name says which."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rankforce.data import files
from rankforce.data.dataset import Dataset
from rankforce.data.file_formats import is_store
from rankforce.data.found_files import FileNames
from rankforce.errors import SettingsError
from rankforce.files.streams import file_name
from rankforce.stores.binned_dataset import BinnedDataset


def read(path: FileNames, **options: Any) -> Dataset:
    """Read a data set.

    ``.parquet``, ``.pq``, ``.csv`` and ``.tsv`` (the last two also with ``.gz``) are tables with named columns: options
    as for ``rf.read_table``. ``.bins`` is a store that ``rf.bin`` made, and is opened: its bins stay on the disk. Every
    other file is LETOR/SVMlight text, plain or gzip: options as for ``rf.read_letor``.

    ``path`` may also be a list of files, a pattern (``"data/*.parquet"``) or a folder: the data set is that of one file
    with the rows of all, of a list in its order, else in the order of names. A folder stands for the files in it that
    end in ``.parquet``, ``.pq``, ``.csv``, ``.tsv``, ``.txt``, ``.letor``, ``.svm``, ``.libsvm`` or ``.dat``, the texts
    also with ``.gz``; names that begin with ``.`` or ``_`` are passed over. The files have one format. Tables have the
    same columns, in any order; what a column holds is found out over all of them. LETOR text is as wide as its highest
    feature. A query that goes on in the next file is one query.
    """
    if not isinstance(path, (str, bytes, os.PathLike)) or not is_store(file_name(path)):
        return files.read(path, **options)
    for option in options:
        raise SettingsError(f"a store has no option {option!r}: it is read as it was made")
    return BinnedDataset.open(Path(file_name(path)))
