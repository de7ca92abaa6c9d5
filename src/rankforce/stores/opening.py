"""Data sets in files, and in stores: the ending of the name says which."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rankforce.data import files
from rankforce.data.dataset import Dataset
from rankforce.errors import SettingsError
from rankforce.files.streams import file_name
from rankforce.stores.binned_dataset import BinnedDataset
from rankforce.stores.format import is_store


def read(path: str | os.PathLike[str], **options: Any) -> Dataset:
    """Read a data set.

    ``.parquet``, ``.pq``, ``.csv`` and ``.tsv`` (the last two also with ``.gz``) are tables with named columns: options
    as for ``rf.read_table``. ``.bins`` is a store that ``rf.bin`` made, and is opened: its bins stay on the disk. Every
    other file is LETOR/SVMlight text, plain or gzip: options as for ``rf.read_letor``.
    """
    name = file_name(path)
    if not is_store(name):
        return files.read(name, **options)
    for option in options:
        raise SettingsError(f"a store has no option {option!r}: it is read as it was made")
    return BinnedDataset.open(Path(name))
