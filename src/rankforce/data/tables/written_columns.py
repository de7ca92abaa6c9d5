"""Named columns as a file: Parquet or delimited text, whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rankforce.data.tables.arrow import arrow
from rankforce.data.tables.csv_reading import delimiter_of
from rankforce.data.tables.parquet import is_parquet
from rankforce.files.atomic_writes import atomic_write


def as_table(path: Path, columns: Mapping[str, np.ndarray]) -> Any:
    """Columns as an Arrow table: text from objects, NaN as a missing value. ``path`` names it where pyarrow is not."""
    pa = arrow(path)
    return pa.table(
        {
            name: pa.array(values, type=pa.string() if values.dtype == object else None, from_pandas=True)
            for name, values in columns.items()
        }
    )


def write_columns(path: Path, columns: Mapping[str, np.ndarray]) -> None:
    """Write columns as Parquet (``.parquet``, ``.pq``) or as text (``.csv``, ``.tsv``, compressed with ``.gz``)."""
    table = as_table(path, columns)
    pa = arrow(path)
    with atomic_write(path) as file:
        if is_parquet(path):
            import pyarrow.parquet as pq

            pq.write_table(table, file, write_page_checksum=True)
            return
        from pyarrow import csv as arrow_csv

        with pa.output_stream(file, compression="gzip" if path.suffix == ".gz" else None) as stream:
            options = arrow_csv.WriteOptions(delimiter=delimiter_of(path, None))
            arrow_csv.write_csv(table, stream, write_options=options)
