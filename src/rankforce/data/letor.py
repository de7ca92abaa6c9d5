"""LETOR/SVMlight text: one document per line, ``label qid:ID index:value ... # comment``.

Read in one pass: rounds of whole lines are parsed by all threads straight into the rows of the final matrix. The
matrix grows as the file turns out longer (or, rarely, wider) than its first lines suggest; it is never held twice.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from rankforce import dtypes
from rankforce.data.dataset import Dataset
from rankforce.data.progress import ByteProgress
from rankforce.data.streams import Round, TextFile
from rankforce.errors import DataError, FileFormatError, SettingsError
from rankforce.kernels import letor as kernels
from rankforce.threads import over_pieces, thread_count

ABSENT = {"zero": np.float32(0.0), "missing": np.float32(np.nan)}
LARGEST_INDEX = 2**31 - 2
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
        Whether to show a progress bar on standard error; by default on a terminal, if it takes long.

    Returns
    -------
    Dataset
        Rows in the order of the file. Query ids are whole numbers if all are in their usual spelling (7, not 007),
        else text. Document ids are text: the word after ``docid =`` in the comment, else its first word, "" without
        one; None if no line has one.

    Numbers are read as ``float(text)`` reads them; features are then rounded to float32.
    """
    reader = _Reader(absent, unlabelled, n_features, first_index, allow_wide)
    with TextFile(path) as file, ByteProgress(file.path, file.size, progress) as bar:
        with contextlib.closing(file.rounds()) as rounds:
            for part in rounds:
                reader.take(file, part)
                bar.advance_to(part.consumed)
    return reader.finish(file, None if group is None else os.fspath(group))


class _Reader:
    """What was read so far: the matrix, with room for what is expected, and columns round by round."""

    def __init__(
        self, absent: str, unlabelled: str, n_features: int | None, first_index: int, allow_wide: bool
    ) -> None:
        if absent not in ABSENT:
            raise SettingsError(f'absent must be "zero" or "missing", not {absent!r}')
        if unlabelled not in ("error", "allow"):
            raise SettingsError(f'unlabelled must be "error" or "allow", not {unlabelled!r}')
        if isinstance(first_index, bool) or first_index not in (0, 1):
            raise SettingsError(f"first_index must be 1 or 0, not {first_index!r}")
        whole = isinstance(n_features, (int, np.integer)) and not isinstance(n_features, bool)
        if n_features is not None and not (whole and 1 <= n_features <= LARGEST_INDEX):
            raise SettingsError(f"n_features must be a positive whole number or None, not {n_features!r}")
        self.absent = ABSENT[absent]
        self.unlabelled = 1 if unlabelled == "allow" else 0
        self.first_index = first_index
        self.n_features = n_features
        self.allow_wide = allow_wide
        self.width = 0 if n_features is None else int(n_features)
        self.documents = 0
        self.lines = 0
        self.bytes = 0
        self.store = np.empty(0, dtype=dtypes.FEATURE)
        self.labels: list[np.ndarray] = []
        self.queries: list[np.ndarray | list[str]] = []
        self.document_ids: list[str] | None = None
        self.has_queries = False

    # -------------------------------------------------------------------------------------------------- one round

    def take(self, file: TextFile, part: Round) -> None:
        """Parse the lines of a round into the next rows."""
        text = part.bytes
        edges = _pieces(part)
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
            self._make_room(file, part, documents)
            rows = (
                self.store[: (self.documents + documents) * self.width].reshape(-1, self.width)[self.documents :]
                if self.width
                else np.empty((documents, 0), dtype=dtypes.FEATURE)
            )
            stretches = {first: _Stretch() for first in edges[:-1]}

            def parse(first: int, last: int) -> None:
                stretches[first].parse(self, text, first, last, first_rows[first], rows, columns)

            over_pieces(edges, parse)
            self._refuse(file, part, columns, list(stretches.values()))
            widest, place = max((s.widest, -s.widest_at) for s in stretches.values())
            if widest < self.width:
                break
            self._widen(file, part, widest + 1, -place, documents)
        self._keep(file, part, columns)
        self.documents += documents
        self.lines += sum(int(count[kernels.LINES]) for count in counts.values())

    def _make_room(self, file: TextFile, part: Round, documents: int) -> None:
        needed = (self.documents + documents) * self.width
        if needed <= len(self.store):
            return
        share = part.consumed / file.size if file.size else 0.0
        expected = needed * 1.01 / share if 0.0 < share < 1.0 else needed * (1.25 if file.size is None else 1.0)
        self._resize(file, max(needed, int(expected)))

    def _resize(self, file: TextFile, entries: int) -> None:
        # Grown in place: large blocks are moved by the memory manager, not copied. No view outlives a round.
        try:
            self.store.resize(entries, refcheck=False)
        except (MemoryError, ValueError, OverflowError):
            raise DataError(
                f"{file.path}: the features need {_size(4 * entries)} of memory, which cannot be had"
            ) from None

    def _widen(self, file: TextFile, part: Round, width: int, place: int, documents: int) -> None:
        rows = self.documents + documents
        if not self.allow_wide and 4 * rows * width > max(DENSE_BYTES, DENSE_FACTOR * self.bytes):
            raise self._error(
                file,
                part,
                place,
                f"feature index {width - 1 + self.first_index} makes a matrix of {rows:,} × {width:,} features "
                f"({_size(4 * rows * width)}) from {_size(self.bytes)} of text",
                "Correct the index if it is a mistake; pass allow_wide=True if it is none.",
            )
        old = self.width
        self._resize(file, max(len(self.store), self.documents * width))
        kernels.widen_rows(self.store, self.documents, old, width, self.absent)
        self.width = width

    def _keep(self, file: TextFile, part: Round, columns: _Columns) -> None:
        """Keep labels, query ids and document ids of a round."""
        spans = columns.spans
        if len(spans) == 0:
            return
        self.labels.append(columns.labels)
        if self.documents == 0:
            self.has_queries = bool(spans[0, kernels.QUERY_AT] >= 0)
        if self.has_queries:
            if spans[:, kernels.QUERY_IS_NUMBER].all():
                self.queries.append(columns.queries)
            else:
                self.queries.append(self._text_queries(file, part, spans))
        commented = spans[:, kernels.ID_END] > spans[:, kernels.ID_AT]
        if self.document_ids is None and commented.any():
            self.document_ids = [""] * self.documents
        if self.document_ids is not None:
            text = part.text
            places = spans[:, [kernels.ID_AT, kernels.ID_END]].tolist()
            self.document_ids.extend([text[first:last].decode("utf-8", "replace") for first, last in places])

    def _text_queries(self, file: TextFile, part: Round, spans: np.ndarray) -> list[str]:
        result = []
        known: dict[bytes, str] = {}
        for first, last in spans[:, [kernels.QUERY_AT, kernels.QUERY_END]].tolist():
            word = bytes(part.text[first:last])
            if word not in known:
                try:
                    known[word] = word.decode()
                except UnicodeDecodeError:
                    raise self._error(
                        file, part, first, "a query id is not UTF-8 text", "Convert the file to UTF-8."
                    ) from None
            result.append(known[word])
        return result

    # -------------------------------------------------------------------------------------------------- complaints

    def _refuse(self, file: TextFile, part: Round, columns: _Columns, stretches: list[_Stretch]) -> None:
        """Raise for the first offence of a round, if there is one."""
        found = [offence for stretch in stretches for offence in stretch.offences]
        if not found and len(columns.spans):  # with an offence, not all rows are written
            given = columns.spans[:, kernels.QUERY_AT] >= 0
            has_queries = self.has_queries if self.documents else bool(given[0])
            odd = np.flatnonzero(given != has_queries)
            if len(odd):
                place = int(columns.spans[odd[0], kernels.LABEL_AT])
                found.append((place, _QUERY_ABSENT if has_queries else _QUERY_UNEXPECTED))
        if not found:
            return
        place, status = min(found)
        problem, remedy = _PROBLEMS[status]
        if status == kernels.INDEX_LARGE and self.n_features is not None:
            problem = f"a feature index is beyond n_features={self.n_features}"
            remedy = "Leave n_features out, or give the number of features that the file has."
        if status == kernels.INDEX_SMALL:
            problem = f"a feature index is below {self.first_index}"
            remedy = "Pass first_index=0 if the file counts features from 0." if self.first_index else remedy
        raise self._error(file, part, place, problem, remedy)

    def _error(self, file: TextFile, part: Round, place: int, problem: str, remedy: str) -> FileFormatError:
        text = part.text
        line_start = max(text.rfind(b"\n", 0, place) + 1, part.start)
        end = place
        while text[end] not in b" \t\r\n":
            end += 1
        word = bytes(text[place : min(max(end, place + 1), place + 200)])
        whole_line = bytes(text[line_start : min(text.find(b"\n", place), line_start + 10_000)])
        if b"\0" in whole_line:
            problem = f"this is not a text file ({problem})"
            remedy = "LETOR files are UTF-8 text; a UTF-16 file must be converted." if whole_line else remedy
        return FileFormatError(
            problem,
            path=file.path,
            line=self.lines + text.count(b"\n", 0, place) + 1,
            column=place - line_start + 1,
            text=word.decode("utf-8", "replace").rstrip("\n"),
            remedy=remedy,
        )

    # -------------------------------------------------------------------------------------------------------- end

    def finish(self, file: TextFile, group: str | None) -> Dataset:
        """The data set of all that was read."""
        if self.documents == 0:
            raise FileFormatError(
                "the file is empty" if self.bytes == 0 else "the file holds no document, only comments or blank lines",
                path=file.path,
                remedy="A line reads: label qid:ID index:value index:value ... # comment",
            )
        qid, sizes = self._queries(), None
        if self.has_queries and group is not None:
            raise DataError(f"{file.path}: the lines name their queries (qid:), so that group= must be left out")
        if not self.has_queries:
            sizes = read_group(group or _group_beside(file.path), documents=self.documents, of=file.path)
        labels = np.concatenate(self.labels)
        self.labels.clear()
        self._resize(file, self.documents * self.width)
        return Dataset(
            self.store.reshape(self.documents, self.width),
            labels,
            qid,
            group=sizes,
            feature_names=[str(place) for place in range(self.first_index, self.first_index + self.width)],
            document_ids=None if self.document_ids is None else _objects(self.document_ids),
        )

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
        self.spans = np.empty((documents, kernels.SPAN_SIZE), dtype=np.int64)


@dataclass
class _Stretch:
    """The outcome of one thread's lines."""

    offences: list[tuple[int, int]] = field(default_factory=list)
    widest: int = -1
    widest_at: int = 0

    def parse(
        self,
        reader: _Reader,
        text: np.ndarray,
        first: int,
        last: int,
        row: int,
        rows: np.ndarray,
        columns: _Columns,
    ) -> None:
        last_index = LARGEST_INDEX
        if reader.n_features is not None:
            last_index = reader.first_index + int(reader.n_features) - 1
        hard = np.empty((HARD_NUMBERS, 4), dtype=np.int64)
        outcome = np.zeros(kernels.OUTCOME_SIZE, dtype=np.int64)
        while True:
            kernels.parse_lines(
                text, first, last, row, reader.first_index, last_index, reader.unlabelled, reader.absent,
                rows, columns.labels, columns.queries, columns.spans, hard, outcome,
            )  # fmt: skip
            if outcome[kernels.WIDEST] > self.widest:
                self.widest = int(outcome[kernels.WIDEST])
                self.widest_at = int(outcome[kernels.WIDEST_AT])
            self._read_hard_numbers(text, hard[: outcome[kernels.HARDS]], rows, columns.labels)
            status = int(outcome[kernels.STATUS])
            if status != kernels.HARD_FULL:
                if status != kernels.OK:
                    self.offences.append((int(outcome[kernels.AT]), status))
                return
            if outcome[kernels.DOCUMENTS] == 0:  # one line holds more of them
                hard = np.empty((2 * len(hard), 4), dtype=np.int64)
            row += int(outcome[kernels.DOCUMENTS])
            first = int(outcome[kernels.AT])

    def _read_hard_numbers(self, text: np.ndarray, hard: np.ndarray, rows: np.ndarray, labels: np.ndarray) -> None:
        for row, column, first, last in hard.tolist():
            value = float(text[first:last].tobytes())
            if column == kernels.LABEL_COLUMN:
                labels[row] = value
                if np.isinf(value):
                    self.offences.append((first, kernels.LABEL_INFINITE))
            elif abs(value) >= kernels.FLOAT32_OVERFLOW:
                self.offences.append((first, kernels.VALUE_OVERFLOW))
            elif column < rows.shape[1]:
                rows[row, column] = value


def _pieces(part: Round) -> list[int]:
    """Places that cut a round into about equal stretches of whole lines: a few per thread."""
    count = max(1, min(2 * thread_count(), (part.stop - part.start) >> 16))
    edges = [part.start]
    for k in range(1, count):
        cut = part.text.find(b"\n", part.start + k * (part.stop - part.start) // count, part.stop) + 1
        if edges[-1] < cut < part.stop:
            edges.append(cut)
    return [*edges, part.stop]


def _size(count: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:,.0f} {unit}" if unit == "bytes" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"


_QUERY_ABSENT, _QUERY_UNEXPECTED = 100, 101
_LINE = "A line reads: label qid:ID index:value index:value ... # comment"
_PROBLEMS = {
    kernels.LABEL_MALFORMED: ("the label is not a number", _LINE),
    kernels.LABEL_INFINITE: ("the label is infinite", "Labels are finite numbers."),
    kernels.LABEL_MISSING: (
        "the label is missing",
        'Pass unlabelled="allow" if the document was not judged, or remove the line.',
    ),
    kernels.QUERY_EMPTY: ("the query id after qid: is empty", _LINE),
    kernels.QUERY_LONG: (
        f"the query id has more than {kernels.MOST_QUERY_BYTES} bytes",
        "Number the queries, or check that the line is whole.",
    ),
    kernels.QUERY_CONTROL: ("the query id holds a control character", "Query ids are visible characters."),
    kernels.QUERY_MISPLACED: ("qid: must stand directly after the label, once", _LINE),
    kernels.INDEX_MALFORMED: ("the feature index is not a whole number", _LINE),
    kernels.INDEX_SMALL: ("the feature index is too small", "Feature indices are not negative."),
    kernels.INDEX_REPEATED: (
        "the feature index is given twice in a line",
        "Remove one of the two values; which is right cannot be known.",
    ),
    kernels.INDEX_DECREASING: (
        "the feature index is smaller than the one before",
        "Indices must rise within a line: sort them, and check that two lines were not joined.",
    ),
    kernels.INDEX_LARGE: ("the feature index is too large to be one", f"The largest index is {LARGEST_INDEX}."),
    kernels.COLON_ABSENT: ("a feature without a colon", _LINE),
    kernels.VALUE_EMPTY: ("the value after the colon is absent", "Write index:value without a space, NULL if missing."),
    kernels.VALUE_MALFORMED: ("the value is not a number", "Write a missing value as NULL or nan."),
    kernels.VALUE_INFINITE: ("the value is infinite", "Write a missing value as NULL or nan, else a finite number."),
    kernels.VALUE_OVERFLOW: ("the value is beyond float32 (3.4e38)", "Scale the feature down."),
    kernels.STRAY_RETURN: (
        "a carriage return within a line",
        "Lines end in LF or CRLF: convert a file whose lines end in CR alone.",
    ),
    _QUERY_ABSENT: ("this line has no qid:, lines before it have one", "Give every line its qid:."),
    _QUERY_UNEXPECTED: ("this line has a qid:, lines before it have none", "Give every line its qid:, or none."),
}


def _group_beside(path: str) -> str | None:
    """The file of query sizes that belongs to ``path``, by its name."""
    stems = [path, path[: -len(".gz")]] if path.endswith(".gz") else [path]
    found = [stem + ending for stem in stems for ending in (".query", ".group") if Path(stem + ending).is_file()]
    if len(found) > 1:
        raise DataError(f"{path}: there are two files of query sizes, {' and '.join(found)}: choose one with group=")
    return found[0] if found else None


def read_group(path: str | os.PathLike[str] | None, *, documents: int, of: str) -> np.ndarray:
    """Query sizes from a file with one whole number per line; they add up to ``documents``, those of file ``of``."""
    if path is None:
        raise FileFormatError(
            "no line says which query it belongs to",
            path=of,
            line=1,
            remedy=f"Write qid:ID after the labels, or put the sizes of the queries into {of}.query, one per line, "
            "or name such a file with group=.",
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
