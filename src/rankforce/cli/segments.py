"""``--segments FILE``: which segment each query belongs to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rankforce.displayed_text import displayed
from rankforce.errors import FileFormatError

if TYPE_CHECKING:
    from rankforce.data.dataset import Dataset


def read_segments(path: Path, data: Dataset) -> list[str]:
    """The segment of every query, following ``data.query_ids``, from lines of ``query segment``."""
    segments: dict[str, str] = {}
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        remedy = "is it compressed, or in another encoding?"
        raise FileFormatError("not UTF-8 text", path=path, remedy=remedy) from None
    except (OSError, ValueError) as error:
        problem = f"the segments cannot be read: {getattr(error, 'strerror', None) or error}"
        raise FileFormatError(problem, path=path) from None
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        words = line.replace(",", " ").split(maxsplit=1)
        if len(words) != 2:
            raise FileFormatError(
                "a query without a segment",
                path=path,
                line=number,
                text=line,
                remedy="write a query id, a space, tab or comma, and the name of its segment",
            )
        query, segment = words[0], words[1].strip()
        if segments.setdefault(query, segment) != segment:
            raise FileFormatError(f"query {displayed(query)} is in two segments", path=path, line=number, text=line)
    missing = [str(query) for query in data.query_ids.tolist() if str(query) not in segments]
    if missing:
        raise FileFormatError(
            f"no segment for {len(missing):,} of {data.n_queries:,} queries, "
            f"the first is query {displayed(missing[0])}",
            path=path,
            remedy="name a segment for every query of the data",
        )
    return [segments[str(query)] for query in data.query_ids.tolist()]
