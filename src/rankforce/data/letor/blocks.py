"""LETOR text in blocks: the lines of one round after the other, each as a data set."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Sequence
from typing import Any

from rankforce.data.dataset import Dataset
from rankforce.data.feature_columns import Unsettled
from rankforce.data.feature_options import FeatureOptions
from rankforce.data.letor.reading import LetorReader
from rankforce.data.seen_columns import SeenColumns
from rankforce.errors import FileFormatError
from rankforce.files.streams import TextFile


def letor_blocks(
    path: str | os.PathLike[str],
    seen: SeenColumns,
    *,
    absent: str = "zero",
    unlabelled: str = "raise",
    n_features: int | None = None,
    first_index: int = 1,
    allow_wide: bool = False,
    categorical: Sequence[str | int] = (),
    like: Any = None,
) -> Generator[tuple[Dataset, int], None, None]:
    """A LETOR/SVMlight file round by round: the data set of the next lines, and how many bytes were read with them.

    Options as for ``read_letor``; categories of a feature that was declared are those of the block. A file without a
    document yields nothing: it may be one of several.
    """
    known = FeatureOptions.of(categorical, like)
    reader = LetorReader(absent, unlabelled, n_features, first_index, allow_wide, known)
    seen.take({name: Unsettled() for name in known.categorical}, {name: name for name in known.categorical})
    with TextFile(path) as file, contextlib.closing(file.rounds()) as rounds:
        for part in rounds:
            reader.take(file, part, part.consumed / file.size if file.size else None)
            if reader.matrix.n_rows == 0:
                continue
            if not reader.has_queries:
                raise FileFormatError(
                    "the lines name no queries (qid:), and files of query sizes are not read in blocks",
                    path=file.path,
                    remedy="read the file whole, not in blocks",
                )
            yield reader.drain(file, known), part.consumed
        if reader.documents == 0:
            return
        for name in known.categorical:
            if not name.isdecimal() or int(name) - first_index >= reader.matrix.width:
                raise FileFormatError("there is no such feature to be categorical", path=file.path, text=name)
