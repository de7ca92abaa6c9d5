"""Files that ``rankforce score`` writes: scores row by row, or the documents of every query by rank."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rankforce.displayed_text import displayed
from rankforce.errors import SettingsError
from rankforce.files.atomic_writes import atomic_write

if TYPE_CHECKING:
    import numpy as np

    from rankforce.data.dataset import Dataset
    from rankforce.models.ranking import Ranking

SCORES, CSV, PARQUET, TREC = "scores", "csv", "parquet", "trec"
TAG = "rankforce"  # of a run that nobody named
COLUMNS = ("query", "document", "rank", "score")
_ENDINGS = {".csv": CSV, ".tsv": CSV, ".parquet": PARQUET, ".pq": PARQUET, ".run": TREC, ".trec": TREC}


def form_of(out: Path | None, given: str | None, tag: str | None) -> str:
    """The form to write: as it was asked for, else by the ending of the file; scores row by row where neither says."""
    if tag is not None and given not in (None, TREC):
        raise SettingsError(f"--tag is that of a TREC run, not of {given}: leave one of the two out")
    form = TREC if tag is not None else given
    if form is None:
        form = SCORES if out is None else _ENDINGS.get(_ending(out), SCORES)
    if out is None and form in (PARQUET, TREC):
        raise SettingsError(f"{'--tag' if tag is not None else f'--format {form}'} needs --out FILE")
    if out is not None and form == PARQUET and out.suffix == ".gz":
        raise SettingsError(f"{out}: Parquet is compressed in itself: leave .gz out")
    return form


def _ending(path: Path) -> str:
    """The ending of a name in small letters, that before ``.gz`` for a compressed file."""
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()


def write_ranking(data: Dataset, scores: np.ndarray, out: Path, form: str, tag: str) -> None:
    """Write a file in one of the forms, whole or not at all."""
    from rankforce.data.tables.parquet import write_parquet
    from rankforce.data.trec import write_run

    if form == TREC:
        write_run(data, scores, out, tag=tag)
    elif form == PARQUET:
        ranking = ranking_of(data, scores)
        columns = (ranking.qid, _documents(ranking), ranking.rank, ranking.score)
        write_parquet(out, list(zip(COLUMNS, columns, strict=True)))
    else:
        with atomic_write(out) as raw, contextlib.ExitStack() as opened:
            file: Any = raw
            if out.suffix.lower() == ".gz":  # without name and time: the same scores, the same bytes
                file = opened.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0))
            text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
            opened.callback(text.detach)  # flushes, and leaves the file open to who opened it
            if form == SCORES:
                text.writelines(f"{value!r}\n" for value in scores.tolist())
            else:
                _write_csv(text, ranking_of(data, scores), "\t" if _ending(out) == ".tsv" else ",")


def ranking_of(data: Dataset, scores: np.ndarray) -> Ranking:
    """Documents by falling score within their queries; equal scores stay in the order of the rows."""
    from rankforce.models.ranking import Ranking

    return Ranking.of_scores(scores, data.row_queries, data.query_ids, data.document_ids, None)


def csv_text(data: Dataset, scores: np.ndarray) -> str:
    """The ranking as CSV, for standard output: ids on one line each, what a terminal would obey escaped."""
    lines = io.StringIO()
    _write_csv(lines, ranking_of(data, scores), ",", displayed)
    return lines.getvalue().rstrip("\n")


def _write_csv(text: IO[str], ranking: Ranking, delimiter: str, shown: Callable[[str], str] = str) -> None:
    """Rows with all text in quotes, so that ids may hold delimiters and line ends, and "7" is not the number 7."""
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(COLUMNS)
    columns = (ranking.qid, _documents(ranking), ranking.rank, ranking.score)
    for row in zip(*(column.tolist() for column in columns), strict=True):
        writer.writerow([shown(cell) if isinstance(cell, str) else cell for cell in row])


def _documents(ranking: Ranking) -> np.ndarray:
    """Document ids; where there are none, rows (from 0)."""
    return ranking.row if ranking.document_id is None else ranking.document_id
