"""TREC files: judgments (qrels) and ranked lists (runs), and the two joined for evaluation."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import io
import math
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from rankforce import dtypes
from rankforce.data.dataset import Dataset, check_dataset
from rankforce.data.frames import as_numbers
from rankforce.errors import DataError, FileFormatError
from rankforce.files.atomic_writes import atomic_write
from rankforce.files.decompression import lines, opened
from rankforce.files.limits import ID_REMEDY, longest_id, within_memory
from rankforce.files.streams import file_name
from rankforce.kinds import Number, check_choice, check_number, shown
from rankforce.remedies import DOCUMENT_IDS, Argument, Phrase

Judgments = Mapping[str, Mapping[str, float]]  # query → document → grade
Rankings = Mapping[str, Mapping[str, float]]  # query → document → score


@dataclasses.dataclass(frozen=True)
class JudgedRun:
    """A run and its judgments as one data set.

    Attributes
    ----------
    data : Dataset
        Without features. The documents of a query are those of the run, by falling score and then falling document
        id (the order of trec_eval), followed by those that were judged but not retrieved. Documents of the run that
        nobody judged are unlabelled (NaN).
    scores : float64 array of shape (documents,)
        −∞ for a document that was not retrieved. Such a document counts among the relevant ones and in the ideal
        order, but it is not part of the ranked list: it has no rank and earns nothing.
    retrieved : bool array of shape (documents,)
    queries_without_run, queries_without_judgments : tuples of query ids
        What the two files do not have in common. Queries without judgments are left out.
    """

    data: Dataset
    scores: np.ndarray
    retrieved: np.ndarray
    queries_without_run: tuple[str, ...]
    queries_without_judgments: tuple[str, ...]


def read_qrels(path: str | Path) -> dict[str, dict[str, float]]:
    """Judgments as ``{query: {document: grade}}`` from lines of four columns: query, iteration, document, grade.

    Any white space separates, gzip is recognised, blank lines are skipped, ids are text, the iteration is ignored.
    A document judged twice for a query is an error, and so is a grade that is not a finite number.
    """
    what = _TrecColumns(4, 2, 3, "grade", "query, iteration, document, grade", "a run (use read_run)", 6)
    return _read(Path(file_name(path)), what)


def read_run(path: str | Path) -> dict[str, dict[str, float]]:
    """A run as ``{query: {document: score}}`` from lines of six columns: query, Q0, document, rank, score, tag.

    The ranks are ignored, as trec_eval does: scores decide. Otherwise as ``read_qrels``.
    """
    what = _TrecColumns(6, 2, 4, "score", "query, Q0, document, rank, score, tag", "judgments (use read_qrels)", 4)
    return _read(Path(file_name(path)), what)


def write_run(
    data: Dataset, scores: Any, path: str | Path, *, tag: str = "rankforce", depth: int | None = None
) -> None:
    """Write the ranking of a data set by scores (one per row, in the order of the rows) as a run.

    Equal scores keep the order of the rows; note that trec_eval orders them by falling document id instead. Scores
    are written with all their digits. Documents with score −∞ are left out, and so is what ranks below ``depth``.
    """
    check_dataset(data)
    values = as_numbers(scores, "scores").astype(dtypes.SCORE)
    if values.shape != (data.n_documents,):
        raise DataError(f"scores must have one entry per document ({data.n_documents}), not shape {values.shape}")
    if not (values < np.inf).all():  # NaN compares false
        raise DataError(f"score of row {int(np.flatnonzero(~(values < np.inf))[0])} (from 0) is not a number")
    names, queries = names_in_run(data, tag)
    check_number("depth", depth, 1, whole=True, optional=True)
    with atomic_write(file_name(path)) as raw, _text_to(raw, Path(file_name(path))) as file:
        for query, rows in zip(queries, data.each_query(), strict=True):
            ranking = rows[np.argsort(-values[rows], kind="stable")][:depth]
            for rank, row in enumerate(ranking, start=1):
                if values[row] > -np.inf:
                    file.write(f"{query} Q0 {names[row]} {rank} {float(values[row])!r} {tag}\n")


def names_in_run(data: Dataset, tag: str) -> tuple[list[str], list[str]]:
    """Document ids by row and query ids as a run holds them, or an error: it holds words."""
    if data.document_ids is None:
        raise DataError("a run names documents, and the data has no document ids: ", DOCUMENT_IDS)
    _checked_word(tag, "tag")
    documents = [_checked_word(str(name), "document id") for name in data.document_ids]
    return documents, [_checked_word(str(name), "query id") for name in data.query_ids]


def judged_run(
    qrels: Judgments, run: Rankings, *, missing_queries: Literal["zero", "skip", "raise"] = "zero"
) -> JudgedRun:
    """Join judgments and a run for ``evaluate``; both as ``{query: {document: number}}``.

    A judged query that the run does not have is kept with nothing retrieved (``"zero"``: it scores 0, as with
    trec_eval's ``-c``), left out (``"skip"``: trec_eval's default) or an error (``"raise"``). A query of the run
    without judgments cannot be evaluated and is left out. Negative grades, which TREC files use for documents that
    were not judged, are unlabelled.
    """
    check_choice("missing_queries", missing_queries, ("zero", "skip", "raise"))
    if not isinstance(qrels, Mapping) or not isinstance(run, Mapping):
        raise DataError("judgments and run must be mappings, as read_qrels and read_run give them")
    without_run = tuple(str(query) for query in qrels if query not in run)
    without_judgments = tuple(str(query) for query in run if query not in qrels)
    if without_run and missing_queries == "raise":
        raise DataError(
            f"the run lacks {len(without_run)} of the {len(qrels)} judged queries, among them {without_run[0]!r}; ",
            Argument("missing_queries", "zero"),
            " counts them as 0, ",
            Argument("missing_queries", "skip"),
            " leaves them out",
        )
    queries = [query for query in qrels if missing_queries == "zero" or query in run]
    if len(without_run) == len(qrels):
        raise DataError("the run and the judgments have no query in common: are their ids written alike?")
    ids: list[str] = []
    documents: list[str] = []
    grades: list[float] = []
    scores: list[float] = []
    for query in queries:
        grade_of, score_of = _numbers(qrels[query], query, "grade"), _numbers(run.get(query, {}), query, "score")
        by_score = sorted(score_of.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)
        entries = by_score + [(name, -math.inf) for name in grade_of if name not in score_of]
        ids += [str(query)] * len(entries)
        documents += [str(name) for name, _ in entries]
        grades += [grade_of.get(name, math.nan) for name, _ in entries]
        scores += [score for _, score in entries]
    values = np.array(scores, dtype=dtypes.SCORE)
    labels = np.array(grades, dtype=dtypes.LABEL)
    labels[labels < 0] = np.nan
    retrieved = values > -np.inf
    data = Dataset(np.empty((len(ids), 0), dtypes.FEATURE), labels, ids, document_ids=documents)
    for array in (values, retrieved):
        array.setflags(write=False)
    return JudgedRun(data, values, retrieved, without_run, without_judgments)


def _numbers(of_query: Mapping[str, Any], query: str, what: str) -> dict[str, float]:
    """What a query has by document, as finite floats."""
    if not isinstance(of_query, Mapping):
        raise DataError(f"query {query!r} must map documents to numbers, not be {shown(of_query)}")
    result = {}
    for name, value in of_query.items():
        if not Number().holds(value):
            raise DataError(f"the {what} of document {name!r} and query {query!r} is not a finite number: {value!r}")
        result[name] = float(value)
    return result


@dataclasses.dataclass(frozen=True)
class _TrecColumns:
    """Where a kind of file has what."""

    count: int
    document: int
    number: int
    number_name: str
    written: str
    lookalike: str
    lookalike_count: int


def _read(path: Path, columns: _TrecColumns) -> dict[str, dict[str, float]]:
    with within_memory(path):
        return _numbers_by_document(path, columns)


def _numbers_by_document(path: Path, columns: _TrecColumns) -> dict[str, dict[str, float]]:
    by_query: dict[str, dict[str, float]] = {}
    longest = longest_id()
    for line, text in _lines(path):
        parts = text.split()
        if not parts:
            continue
        if len(parts) != columns.count:
            remedy = f"each line is: {columns.written}"
            if len(parts) == columns.lookalike_count:
                remedy += f"; this looks like {columns.lookalike}"
            problem = f"{len(parts)} columns instead of {columns.count}"
            raise FileFormatError(problem, path=path, line=line, text=text.strip(), remedy=remedy)
        number = _number(parts[columns.number])
        if number is None:
            raise FileFormatError(
                f"the {columns.number_name} is not a finite number",
                path=path,
                line=line,
                column=columns.number + 1,
                text=parts[columns.number],
                remedy=f"each line is: {columns.written}",
            )
        for place in (0, columns.document):
            if len(parts[place]) > longest:
                problem = f"the id has {len(parts[place]):,} characters"
                raise FileFormatError(problem, path=path, line=line, column=place + 1, remedy=ID_REMEDY)
            if "\0" in parts[place]:
                problem = "the id holds a NUL character"
                raise FileFormatError(problem, path=path, line=line, column=place + 1, text=parts[place])
        of_query = by_query.setdefault(parts[0], {})
        if parts[columns.document] in of_query:
            raise FileFormatError(
                f"a second {columns.number_name} for this document and query {parts[0]!r}",
                path=path,
                line=line,
                column=columns.document + 1,
                text=parts[columns.document],
                remedy="remove one of the two lines",
            )
        of_query[parts[columns.document]] = number
    if not by_query:
        raise FileFormatError("the file is empty", path=path, remedy=f"each line is: {columns.written}")
    return by_query


def _number(text: str) -> float | None:
    if "_" in text:  # Python reads 1_000 as a number, nobody else does
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """(line number from 1, text); whatever keeps a file from being read becomes a FileFormatError."""
    line = 0
    try:
        with opened(path) as file:
            for content in lines(file, path):
                line += 1
                yield line, content.decode("utf-8-sig" if line == 1 else "utf-8")
    except UnicodeDecodeError:
        remedy = "is it compressed, or in another encoding?"
        raise FileFormatError("not UTF-8 text", path=path, line=line, remedy=remedy) from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        remedy = "copy or compress it again"
        raise FileFormatError(
            "the compressed file is damaged or cut off", path=path, line=line + 1, remedy=remedy
        ) from None
    except OSError as error:
        raise FileFormatError(f"the file cannot be read: {error.strerror or error}", path=path) from error


@contextlib.contextmanager
def _text_to(raw: IO[bytes], target: Path) -> Iterator[IO[str]]:
    with contextlib.ExitStack() as opened:
        file: Any = raw
        if target.suffix == ".gz":  # without name and time: same run, same bytes
            file = opened.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0))
        yield opened.enter_context(io.TextIOWrapper(file, encoding="utf-8", newline="\n"))


def _checked_word(text: str, what: str) -> str:
    if not isinstance(text, str) or len(text.split()) != 1 or text != text.strip():
        raise DataError(
            f"a run cannot hold the {what} {text!r}: it must be one word, without white space; write it with another "
            "sign in place of blanks",
            Phrase("", ", or use --format csv"),
        )
    return text
