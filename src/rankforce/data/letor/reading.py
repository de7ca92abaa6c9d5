"""LETOR/SVMlight text: one document per line, ``label qid:ID index:value ... # comment``.

Read in one pass: rounds of whole lines are parsed by all threads straight into the rows of the final matrix. The
matrix grows as the file turns out longer (or, rarely, wider) than its first lines suggest; it is never held twice.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.console.byte_progress import ByteProgress
from rankforce.data.dataset import Dataset
from rankforce.data.feature_options import FeatureOptions
from rankforce.data.letor import offences, usual_lines  # noqa: F401  # stands in for kernels that are not compiled
from rankforce.data.letor.growing_matrix import GrowingMatrix
from rankforce.data.letor.ids import BadId, document_ids, query_ids
from rankforce.data.letor.query_sizes import group_beside, read_group
from rankforce.data.letor.words import INFINITE, MISSING, NAMED_DOCUMENT, NUMBER, document_place, pieces, word_at
from rankforce.errors import DataError, FileFormatError, SettingsError
from rankforce.files.streams import Round, TextFile, file_name
from rankforce.kernels import letor as kernels
from rankforce.kinds import OrNone, Switch, Whole, check_choice, check_number, check_switches
from rankforce.memory import written_size
from rankforce.remedies import NAME_ALONE, ReadOption, Words
from rankforce.threads import over_pieces

ABSENT = {"zero": np.float32(0.0), "missing": np.float32(np.nan)}
HARD_NUMBERS = 4096
# A matrix may be this many times larger than the text it comes from, or this many bytes, whichever is more.
DENSE_FACTOR = 64
DENSE_BYTES = 64 * 2**20


def read_letor(
    path: str | os.PathLike[str],
    *,
    absent: str = "zero",
    unlabelled: str = "error",
    n_features: int | None = None,
    first_index: int = 1,
    group: str | os.PathLike[str] | None = None,
    allow_wide: bool = False,
    progress: bool | None = None,
    categorical: Sequence[str | int] = (),
    like: Any = None,
) -> Dataset:
    """Read a LETOR/SVMlight file, plain or gzip.

    Parameters
    ----------
    path
        The file. Lines end in LF or CRLF; blank lines and lines that hold a comment only are passed over.
    absent : "zero" or "missing"
        What a feature is that a line does not name. A feature given as ``NULL`` or ``nan`` is missing.
    unlabelled : "error" or "allow"
        Whether a label may be ``nan`` or ``NULL``: a document that nobody has judged.
    n_features
        The number of features; by default the largest index in the file decides.
    first_index : 1 or 0
        The index of the first feature.
    group
        A file of query sizes, one whole number per line, for a file without ``qid:``. By default the file of the
        same name with ``.query`` or ``.group`` added is looked for.
    allow_wide
        Whether the matrix may be more than 64 times larger than the text (and than 64 MB): usually a sign of a
        feature index that is no index.
    progress
        Whether to show on standard error how far it is: a bar on a terminal, a line every ten seconds elsewhere. By
        default on a terminal, if it takes long.
    categorical
        Features whose whole numbers name categories, by the numbers that the file gives them.
    like : Dataset, model or fitted ranker
        Its categorical features are categorical here, with the same codes.

    Returns
    -------
    Dataset
        Rows in the order of the file. Query ids are whole numbers if all are in their usual spelling (7, not 007),
        else text. Document ids are text: the word after ``docid =`` in the comment, else its first word, "" without
        one; None if no line has one.

    Numbers are read as ``float(text)`` reads them; features are then rounded to float32.
    """
    reader = LetorReader(absent, unlabelled, n_features, first_index, allow_wide)
    OrNone(Switch()).check("progress", progress)
    known = FeatureOptions.of(categorical, like)
    sizes = None if group is None else file_name(group)
    with (
        TextFile(path) as file,
        ByteProgress(file.path, file.size, progress) as bar,
        contextlib.closing(file.rounds()) as rounds,
    ):
        for part in rounds:
            reader.take(file, part)
            bar.advance_to(part.consumed)
    return reader.finish(file, sizes, known)


class LetorReader:
    """What was read so far: the matrix, with room for what is expected, and columns round by round."""

    def __init__(
        self, absent: str, unlabelled: str, n_features: int | None, first_index: int, allow_wide: bool
    ) -> None:
        check_choice("absent", absent, tuple(ABSENT))
        check_choice("unlabelled", unlabelled, ("error", "allow"))
        check_number("first_index", first_index, 0, 1, whole=True)
        check_switches(allow_wide=allow_wide)
        if not OrNone(Whole(1, offences.LARGEST_INDEX)).holds(n_features):
            raise SettingsError(f"n_features must be a positive whole number or None, not {n_features!r}")
        self.absent = ABSENT[absent]
        self.unlabelled = unlabelled == "allow"
        self.first_index = first_index
        self.n_features = n_features
        self.allow_wide = allow_wide
        self.matrix = GrowingMatrix(self.absent, 0 if n_features is None else int(n_features))
        self.documents = 0
        self.lines = 0
        self.bytes = 0
        self.labels: list[np.ndarray] = []
        self.queries: list[np.ndarray | list[str]] = []
        self.document_ids: list[str] | None = None
        self.has_queries = False
        self.guesses_documents = False  # their ids are words of comments that nothing names as ids

    # -------------------------------------------------------------------------------------------------- one round

    def take(self, file: TextFile, part: Round) -> None:
        """Parse the lines of a round into the next rows."""
        text = part.bytes
        edges = pieces(part)
        counts = {first: np.zeros(kernels.OUTCOME_SIZE, dtype=np.int64) for first in edges[:-1]}
        over_pieces(edges, lambda first, last: kernels.count_lines(text, first, last, counts[first]))
        first_rows = {}
        documents = 0
        for first, count in counts.items():
            first_rows[first] = documents
            documents += int(count[kernels.DOCUMENTS])
        self.bytes += part.stop - part.start

        columns = _Columns(documents)
        while True:
            rows = self.matrix.next_rows(file.path, documents, part.consumed / file.size if file.size else None)
            stretches = {first: _Stretch(self, part, columns, rows, first_rows[first]) for first in edges[:-1]}
            over_pieces(edges, functools.partial(_parse, stretches))
            self._refuse(file, part, columns, list(stretches.values()))
            widest, place = max((s.widest, -s.widest_at) for s in stretches.values())
            if widest < self.matrix.width:
                break
            self._widen(file, part, widest + 1, -place, documents)
        try:
            self._keep(part, columns)
        except BadId as bad:
            raise self._error(file, part, bad.place, str(bad), bad.remedy) from None
        self.matrix.n_rows += documents
        self.documents += documents
        self.lines += sum(int(count[kernels.LINES]) for count in counts.values())

    def _widen(self, file: TextFile, part: Round, width: int, place: int, documents: int) -> None:
        rows = self.matrix.n_rows + documents
        if not self.allow_wide and 4 * rows * width > max(DENSE_BYTES, DENSE_FACTOR * self.bytes):
            raise self._error(
                file,
                part,
                place,
                f"feature index {width - 1 + self.first_index} makes a matrix of {rows:,} × {width:,} features "
                f"({written_size(4 * rows * width)}) from {written_size(self.bytes)} of text",
                ("Correct the index if it is a mistake; pass ", ReadOption("allow_wide", True), " if it is none."),
            )
        self.matrix.widen(file.path, width)

    def _keep(self, part: Round, columns: _Columns) -> None:
        """Keep labels, query ids and document ids of a round."""
        if len(columns.labels) == 0:
            return
        self.labels.append(columns.labels)
        if self.documents == 0:
            self.has_queries = bool(columns.query_at[0] != kernels.NOWHERE)
        if self.has_queries:
            if (columns.query_at >= 0).any():
                self.queries.append(query_ids(part, columns.query_at.tolist(), columns.queries.tolist()))
            else:
                self.queries.append(columns.queries)
        if self.document_ids is None and (columns.comment_at >= 0).any():
            self.document_ids = [""] * self.matrix.n_rows
            first = int(columns.comment_at[columns.comment_at >= 0][0])
            self.guesses_documents = NAMED_DOCUMENT.match(part.text, first) is None
        if self.document_ids is not None:
            self.document_ids.extend(document_ids(part, columns.comment_at.tolist()))

    # -------------------------------------------------------------------------------------------------- complaints

    def _refuse(self, file: TextFile, part: Round, columns: _Columns, stretches: list[_Stretch]) -> None:
        """Raise for the first offence of a round, if there is one."""
        found = [offence for stretch in stretches for offence in stretch.complaints]
        if not found and len(columns.query_at):  # with an offence, not all rows are written
            given = columns.query_at != kernels.NOWHERE
            has_queries = self.has_queries if self.documents else bool(given[0])
            odd = np.flatnonzero(given != has_queries)
            if len(odd):
                place = document_place(part, int(odd[0]))
                found.append((place, offences.QUERY_ABSENT if has_queries else offences.QUERY_UNEXPECTED))
        if not found:
            return
        place, status = min(found)
        if status == kernels.INDEX_MALFORMED:
            status = offences.index_offence(word_at(part.text, place))
        problem, remedy = offences.PROBLEMS[status]
        if status == kernels.INDEX_LARGE and self.n_features is not None:
            problem = f"a feature index is beyond n_features={self.n_features}"
            remedy = (
                "Leave ",
                ReadOption("n_features", NAME_ALONE),
                " out, or give the number of features that the file has.",
            )
        if status == kernels.INDEX_SMALL:
            problem = f"a feature index is below {self.first_index}"
            if self.first_index:
                remedy = ("Pass ", ReadOption("first_index", 0), " if the file counts features from 0.")
        raise self._error(file, part, place, problem, remedy)

    def _error(self, file: TextFile, part: Round, place: int, problem: str, remedy: Words) -> FileFormatError:
        text = part.text
        line_start = max(text.rfind(b"\n", 0, place) + 1, part.start)
        word = word_at(text, place)[:200]
        whole_line = bytes(text[line_start : min(text.find(b"\n", place), line_start + 10_000)])
        if b"\0" in whole_line:
            problem = f"this is not a text file ({problem})"
            remedy = "LETOR files are UTF-8 text; a UTF-16 file must be converted."
        return FileFormatError(
            problem,
            path=file.path,
            line=self.lines + text.count(b"\n", 0, place) + 1,
            column=place - line_start + 1,
            text=word.decode("utf-8", "replace"),
            remedy=remedy,
        )

    # -------------------------------------------------------------------------------------------------------- end

    def finish(self, file: TextFile, group: str | None, known: FeatureOptions) -> Dataset:
        """The data set of all that was read."""
        if self.matrix.n_rows == 0:
            raise FileFormatError(
                "the file is empty" if self.bytes == 0 else "the file holds no document, only comments or blank lines",
                path=file.path,
                remedy="A line reads: label qid:ID index:value index:value ... # comment",
            )
        qid, sizes = self._queries(), None
        if self.has_queries and group is not None:
            raise DataError(
                f"{file.path}: the lines name their queries (qid:): leave ", ReadOption("group", NAME_ALONE), " out"
            )
        origins = {}
        if not self.has_queries:
            sizes_file = group or group_beside(file.path)
            sizes = read_group(sizes_file, documents=self.matrix.n_rows, of=file.path)
            origins["queries"] = f"file {sizes_file!r}"
        if self.guesses_documents:
            origins["documents"] = "the first word of each comment"
        labels = np.concatenate(self.labels)
        self.labels.clear()
        return Dataset(
            self.matrix.finish(file.path),
            labels,
            qid,
            group=sizes,
            **self._features(known),
            document_ids=_objects(self.document_ids) if self.document_ids and any(self.document_ids) else None,
        ).with_origins(origins)

    def _features(self, known: FeatureOptions) -> dict[str, Any]:
        """The arguments of ``Dataset`` about the names of features, and their categories."""
        names = [str(place) for place in range(self.first_index, self.first_index + self.matrix.width)]
        lists = {name: known.lists[name] for name in names if name in known.lists}
        return {
            "feature_names": names,
            "categorical": [*known.categorical, *(name for name in lists if name not in known.categorical)],
            "categories": lists or None,
        }

    def drain(self, file: TextFile, known: FeatureOptions) -> Dataset:
        """The data set of what was read since it was drained last, without document ids."""
        width = self.matrix.width
        features = self._features(known)  # later lines may name further ones
        features["categorical"] = [name for name in features["categorical"] if name in features["feature_names"]]
        data = Dataset(self.matrix.finish(file.path), np.concatenate(self.labels), self._queries(), **features)
        self.matrix = GrowingMatrix(self.absent, width)
        self.labels.clear()
        self.queries.clear()
        self.document_ids = None
        return data

    def _queries(self) -> np.ndarray | None:
        if not self.has_queries:
            return None
        if all(isinstance(part, np.ndarray) for part in self.queries):
            return np.concatenate(self.queries)
        words: list[str] = []
        for part in self.queries:
            words.extend(map(str, part.tolist()) if isinstance(part, np.ndarray) else part)
        return _objects(words)


def _objects(words: Sequence[str]) -> np.ndarray:
    array = np.empty(len(words), dtype=object)
    array[:] = words
    return array


class _Columns:
    """What is read of the documents of one round beside their features."""

    def __init__(self, documents: int) -> None:
        self.labels = np.empty(documents, dtype=dtypes.LABEL)
        self.queries = np.empty(documents, dtype=np.int64)
        self.query_at = np.empty(documents, dtype=np.int64)
        self.comment_at = np.empty(documents, dtype=np.int64)


def _parse(stretches: dict[int, _Stretch], first: int, last: int) -> None:
    stretches[first].parse(first, last)


@dataclass
class _Stretch:
    """The lines of one thread, and their outcome."""

    reader: LetorReader
    part: Round
    columns: _Columns
    rows: np.ndarray
    row: int
    complaints: list[tuple[int, int]] = field(default_factory=list)
    widest: int = -1
    widest_at: int = 0

    def parse(self, first: int, last: int) -> None:
        """Parse the lines between two places of the round into ``rows``, from ``row`` on, and into ``columns``."""
        reader, columns, row = self.reader, self.columns, self.row
        last_index = offences.LARGEST_INDEX
        if reader.n_features is not None:
            last_index = reader.first_index + int(reader.n_features) - 1
        lines = kernels.LineFormat(reader.first_index, last_index, reader.absent)
        rows = kernels.ParsedRows(self.rows, columns.labels, columns.queries, columns.query_at, columns.comment_at)
        hard = np.empty(HARD_NUMBERS * kernels.HARD_ENTRIES, dtype=np.int64)
        outcome = np.zeros(kernels.OUTCOME_SIZE, dtype=np.int64)
        while True:
            kernels.parse_lines(self.part.bytes, first, last, row, lines, rows, hard, outcome)
            if outcome[kernels.WIDEST] > self.widest:
                self.widest = int(outcome[kernels.WIDEST])
                self.widest_at = int(outcome[kernels.WIDEST_AT])
            self._read_hard_numbers(hard[: outcome[kernels.HARDS]])
            status = int(outcome[kernels.STATUS])
            if status != kernels.HARD_FULL:
                if status != kernels.OK:
                    self.complaints.append((int(outcome[kernels.AT]), status))
                return
            if outcome[kernels.DOCUMENTS] == 0:  # one line holds more of them
                hard = np.empty(2 * len(hard), dtype=np.int64)
            row += int(outcome[kernels.DOCUMENTS])
            first = int(outcome[kernels.AT])

    def _read_hard_numbers(self, hard: np.ndarray) -> None:
        """Read the words that the kernel left over: long numbers, numbers near the limits, and what is no number."""
        for row, column, place in hard.reshape(-1, kernels.HARD_ENTRIES).tolist():
            word = word_at(self.part.text, place)
            is_label = column == kernels.LABEL_COLUMN
            value = np.nan
            if NUMBER.fullmatch(word):
                value = float(word)
                if is_label and np.isinf(value):
                    self.complaints.append((place, offences.LABEL_INFINITE))
                elif not is_label and abs(value) >= kernels.FLOAT32_OVERFLOW:
                    self.complaints.append((place, offences.VALUE_OVERFLOW))
                    value = np.nan
            elif MISSING.fullmatch(word):
                if is_label and not self.reader.unlabelled:
                    self.complaints.append((place, offences.LABEL_MISSING))
            elif INFINITE.fullmatch(word):
                self.complaints.append((place, offences.LABEL_INFINITE if is_label else offences.VALUE_INFINITE))
            elif is_label:
                self.complaints.append((place, offences.LABEL_MALFORMED))
            else:
                self.complaints.append((place, offences.VALUE_MALFORMED if word else offences.VALUE_EMPTY))
            if is_label:
                self.columns.labels[row] = value
            elif column < self.rows.shape[1]:
                self.rows[row, column] = value
