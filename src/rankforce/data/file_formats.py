"""What the ending of a name says about a file of data."""

from __future__ import annotations

TABLES = (".parquet", ".pq", ".csv", ".tsv", ".csv.gz", ".tsv.gz")
LETOR_TEXT = tuple(stem + packed for stem in (".txt", ".letor", ".svm", ".libsvm", ".dat") for packed in ("", ".gz"))
STORE = ".bins"
PARQUET = "Parquet"


def is_table(name: str) -> bool:
    """Whether a path names a table."""
    return name.lower().endswith(TABLES)


def is_store(path: str) -> bool:
    """Whether a path names a store."""
    return path.rstrip("/\\").lower().endswith(STORE)


def format_of(name: str) -> str:
    """The format of a file that is no store, in words; what is no table is LETOR text."""
    if not is_table(name):
        return "LETOR text"
    return PARQUET if name.lower().endswith((".parquet", ".pq")) else "delimited text"
