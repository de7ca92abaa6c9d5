"""Files of query sizes, beside data whose lines do not name their queries."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import numpy as np

from rankforce import dtypes
from rankforce.errors import DataError, FileFormatError
from rankforce.files.streams import TextFile
from rankforce.remedies import ReadOption


def group_beside(path: str) -> str | None:
    """The file of query sizes that belongs to ``path``, by its name."""
    stems = [path, path[: -len(".gz")]] if path.endswith(".gz") else [path]
    found = [stem + ending for stem in stems for ending in (".query", ".group") if Path(stem + ending).is_file()]
    if len(found) > 1:
        raise DataError(
            f"{path}: there are two files of query sizes, {' and '.join(found)}: choose one with ", ReadOption("group")
        )
    return found[0] if found else None


def read_group(path: str | os.PathLike[str] | None, *, documents: int, of: str) -> np.ndarray:
    """Query sizes from a file with one whole number per line; they add up to ``documents``, those of file ``of``."""
    if path is None:
        raise FileFormatError(
            "no line says which query it belongs to",
            path=of,
            line=1,
            remedy=(
                f"Write qid:ID after the labels, or put the sizes of the queries into {of}.query, one per line, "
                "or name such a file: ",
                ReadOption("group"),
            ),
        )
    sizes: list[int] = []
    number = 0
    with TextFile(path) as file, contextlib.closing(file.rounds()) as rounds:
        for part in rounds:
            for line in bytes(memoryview(part.text)[part.start : part.stop - 1]).split(b"\n"):
                number += 1
                word = line.strip(b" \t\r")
                if not word:
                    continue
                if not word.isdigit() or len(word) > 18 or int(word) == 0:
                    raise FileFormatError(
                        "the size of a query is not a positive whole number",
                        path=file.path,
                        line=number,
                        column=line.find(word) + 1,
                        text=word[:200].decode("utf-8", "replace"),
                        remedy="A file of query sizes holds one number per line: how many lines each query has.",
                    )
                sizes.append(int(word))
    if sum(sizes) != documents:
        raise FileFormatError(
            f"the query sizes add up to {sum(sizes):,}, but {of} has {documents:,} documents",
            path=file.path,
            remedy="Check that the two files belong together.",
        )
    return np.array(sizes, dtype=dtypes.OFFSET)
