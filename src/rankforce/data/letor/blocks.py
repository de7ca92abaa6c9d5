"""LETOR text in blocks: the lines of one round after the other, each as a data set."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator

from rankforce.data.dataset import Dataset
from rankforce.data.feature_options import FeatureOptions
from rankforce.data.letor.reading import LetorReader
from rankforce.errors import FileFormatError
from rankforce.files.streams import TextFile


def letor_blocks(
    path: str | os.PathLike[str],
    *,
    absent: str = "zero",
    unlabelled: str = "error",
    n_features: int | None = None,
    first_index: int = 1,
    allow_wide: bool = False,
) -> Generator[tuple[Dataset, int], None, None]:
    """A LETOR/SVMlight file round by round: the data set of the next lines, and how many bytes were read with them.

    Options as for ``read_letor``.
    """
    reader = LetorReader(absent, unlabelled, n_features, first_index, allow_wide)
    with TextFile(path) as file, contextlib.closing(file.rounds()) as rounds:
        for part in rounds:
            reader.take(file, part)
            if reader.matrix.n_rows == 0:
                continue
            if not reader.has_queries:
                raise FileFormatError(
                    "the lines name no queries (qid:), and files of query sizes are not read in blocks",
                    path=file.path,
                    remedy="read the file whole, not in blocks",
                )
            yield reader.drain(file), part.consumed
        if reader.documents == 0:
            reader.finish(file, None, FeatureOptions.of((), None))  # says what is wrong
