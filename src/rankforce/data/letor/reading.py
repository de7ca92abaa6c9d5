"""LETOR/SVMlight text: one document per line, ``label qid:ID index:value ... # comment``.

Read in one pass: rounds of whole lines are parsed by all threads straight into the rows of the final matrix. The
matrix grows as the file turns out longer (or, rarely, wider) than its first lines suggest; it is never held twice.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rankforce import dtypes
from rankforce.console.byte_progress import ByteProgress
from rankforce.data.dataset import Dataset
from rankforce.data.letor import offences
from rankforce.data.letor.query_sizes import group_beside, read_group
from rankforce.errors import DataError, FileFormatError, SettingsError
from rankforce.files.limits import ID_REMEDY, longest_id
from rankforce.files.streams import ROUND, Round, TextFile, file_name
from rankforce.kernels import letor as kernels
from rankforce.kinds import OrNone, Switch, check_choice, check_number, check_switches
from rankforce.memory import written_size
from rankforce.remedies import NAME_ALONE, ReadOption, Words
from rankforce.threads import over_pieces, thread_count

ABSENT = {"zero": np.float32(0.0), "missing": np.float32(np.nan)}
HARD_NUMBERS = 4096
MOST_QUERY_BYTES = 256
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
    OrNone(Switch()).check("progress", progress)
    sizes = None if group is None else file_name(group)
    with (
        TextFile(path) as file,
        ByteProgress(file.path, file.size, progress) as bar,
        contextlib.closing(file.rounds()) as rounds,
    ):
        for part in rounds:
            reader.take(file, part)
            bar.advance_to(part.consumed)
    return reader.finish(file, sizes)


class _Reader:
    """What was read so far: the matrix, with room for what is expected, and columns round by round."""

    def __init__(
        self, absent: str, unlabelled: str, n_features: int | None, first_index: int, allow_wide: bool
    ) -> None:
        check_choice("absent", absent, tuple(ABSENT))
        check_choice("unlabelled", unlabelled, ("error", "allow"))
        check_number("first_index", first_index, 0, 1, whole=True)
        check_switches(allow_wide=allow_wide)
        whole = isinstance(n_features, (int, np.integer)) and not isinstance(n_features, bool)
        if n_features is not None and not (whole and 1 <= n_features <= offences.LARGEST_INDEX):
            raise SettingsError(f"n_features must be a positive whole number or None, not {n_features!r}")
        self.absent = ABSENT[absent]
        self.unlabelled = unlabelled == "allow"
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
        self.guesses_documents = False  # their ids are words of comments that nothing names as ids

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
            room = self.store[self.documents * self.width : (self.documents + documents) * self.width]
            rows = room.reshape(documents, self.width)
            stretches = {first: _Stretch(self, part, columns, rows, first_rows[first]) for first in edges[:-1]}
            over_pieces(edges, functools.partial(_parse, stretches))
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
        # Room that is not written to costs nothing; growing later does.
        expected = needed * 1.25 / share if 0.0 < share < 1.0 else needed * (1.25 if file.size is None else 1.0)
        self._resize(file, max(needed, int(expected)))

    def _resize(self, file: TextFile, entries: int) -> None:
        # Grown in place: large blocks are moved by the memory manager, not copied. No view outlives a round.
        try:
            if self.documents == 0:
                self.store = np.empty(entries, dtype=dtypes.FEATURE)
            else:
                self.store.resize(entries, refcheck=False)
        except (MemoryError, ValueError, OverflowError):
            raise DataError(
                f"{file.path}: the features need {written_size(4 * entries)} of memory, which cannot be had"
            ) from None

    def _widen(self, file: TextFile, part: Round, width: int, place: int, documents: int) -> None:
        rows = self.documents + documents
        if not self.allow_wide and 4 * rows * width > max(DENSE_BYTES, DENSE_FACTOR * self.bytes):
            raise self._error(
                file,
                part,
                place,
                f"feature index {width - 1 + self.first_index} makes a matrix of {rows:,} × {width:,} features "
                f"({written_size(4 * rows * width)}) from {written_size(self.bytes)} of text",
                ("Correct the index if it is a mistake; pass ", ReadOption("allow_wide", True), " if it is none."),
            )
        old = self.width
        self._resize(file, max(len(self.store), self.documents * width))
        chunk = max(1, ROUND // (4 * width))
        for first in reversed(range(0, self.documents, chunk)):  # from the last row on: nothing is overwritten unread
            last = min(first + chunk, self.documents)
            rows_before = self.store[first * old : last * old].copy()
            rows_after = self.store[first * width : last * width].reshape(-1, width)
            rows_after[:, :old] = rows_before.reshape(-1, old)
            rows_after[:, old:] = self.absent
        self.width = width

    def _keep(self, file: TextFile, part: Round, columns: _Columns) -> None:
        """Keep labels, query ids and document ids of a round."""
        if len(columns.labels) == 0:
            return
        self.labels.append(columns.labels)
        if self.documents == 0:
            self.has_queries = bool(columns.query_at[0] != kernels.NOWHERE)
        if self.has_queries:
            words = np.flatnonzero(columns.query_at >= 0)
            if len(words):
                self.queries.append(self._text_queries(file, part, columns))
            else:
                self.queries.append(columns.queries)
        if self.document_ids is None and (columns.comment_at >= 0).any():
            self.document_ids = [""] * self.documents
            first = int(columns.comment_at[columns.comment_at >= 0][0])
            self.guesses_documents = _NAMED_DOCUMENT.match(part.text, first) is None
        if self.document_ids is not None:
            self.document_ids.extend(self._round_documents(file, part, columns.comment_at.tolist()))

    def _round_documents(self, file: TextFile, part: Round, places: list[int]) -> list[str]:
        names = [_document_id(part.text, place) for place in places]
        longest = longest_id()
        for place, name in zip(places, names, strict=True):
            if len(name) > longest:
                problem = f"the document id has {len(name):,} characters"
                raise self._error(file, part, place, problem, ID_REMEDY[0].upper() + ID_REMEDY[1:])
            if "\0" in name:
                raise self._error(file, part, place, "the document id holds a NUL character", "Remove it.")
        return names

    def _text_queries(self, file: TextFile, part: Round, columns: _Columns) -> list[str]:
        result = []
        known: dict[bytes, str] = {}
        for place, number in zip(columns.query_at.tolist(), columns.queries.tolist(), strict=True):
            if place == kernels.NUMBER:
                result.append(str(number))
                continue
            word = _word(part.text, place)
            if word not in known:
                known[word] = self._query_text(file, part, place, word)
            result.append(known[word])
        return result

    def _query_text(self, file: TextFile, part: Round, place: int, word: bytes) -> str:
        if not word:
            raise self._error(file, part, place - len("qid:"), "the query id after qid: is empty", offences.LINE)
        if len(word) > MOST_QUERY_BYTES:
            problem = f"the query id has more than {MOST_QUERY_BYTES} bytes"
            raise self._error(file, part, place, problem, "Number the queries, or check that the line is whole.")
        try:
            text = word.decode()
        except UnicodeDecodeError:
            remedy = "Convert the file to UTF-8."
            raise self._error(file, part, place, "the query id is not UTF-8 text", remedy) from None
        if any(sign.isspace() for sign in text):  # a no-break space looks like the end of the word and is none
            remedy = "Words are separated by blanks or tabs."
            raise self._error(file, part, place, "the query id holds a white space of another kind", remedy)
        if any(byte < 32 or byte == 127 for byte in word):
            remedy = "Query ids are visible characters."
            raise self._error(file, part, place, "the query id holds a control character", remedy)
        return text

    # -------------------------------------------------------------------------------------------------- complaints

    def _refuse(self, file: TextFile, part: Round, columns: _Columns, stretches: list[_Stretch]) -> None:
        """Raise for the first offence of a round, if there is one."""
        found = [offence for stretch in stretches for offence in stretch.complaints]
        if not found and len(columns.query_at):  # with an offence, not all rows are written
            given = columns.query_at != kernels.NOWHERE
            has_queries = self.has_queries if self.documents else bool(given[0])
            odd = np.flatnonzero(given != has_queries)
            if len(odd):
                place = _document_place(part, int(odd[0]))
                found.append((place, offences.QUERY_ABSENT if has_queries else offences.QUERY_UNEXPECTED))
        if not found:
            return
        place, status = min(found)
        if status == kernels.INDEX_MALFORMED:
            status = offences.index_offence(_word(part.text, place))
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
        word = _word(text, place)[:200]
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
            raise DataError(
                f"{file.path}: the lines name their queries (qid:): leave ", ReadOption("group", NAME_ALONE), " out"
            )
        origins = {}
        if not self.has_queries:
            sizes_file = group or group_beside(file.path)
            sizes = read_group(sizes_file, documents=self.documents, of=file.path)
            origins["queries"] = f"file {sizes_file!r}"
        if self.guesses_documents:
            origins["documents"] = "the first word of each comment"
        labels = np.concatenate(self.labels)
        self.labels.clear()
        self._resize(file, self.documents * self.width)
        return Dataset(
            self.store.reshape(self.documents, self.width),
            labels,
            qid,
            group=sizes,
            feature_names=[str(place) for place in range(self.first_index, self.first_index + self.width)],
            document_ids=_objects(self.document_ids) if self.document_ids and any(self.document_ids) else None,
        ).with_origins(origins)

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

    reader: _Reader
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
        text = self.part.bytes
        last_index = offences.LARGEST_INDEX
        if reader.n_features is not None:
            last_index = reader.first_index + int(reader.n_features) - 1
        hard = np.empty(HARD_NUMBERS * kernels.HARD_ENTRIES, dtype=np.int64)
        outcome = np.zeros(kernels.OUTCOME_SIZE, dtype=np.int64)
        while True:
            kernels.parse_lines(
                text, first, last, row, reader.first_index, last_index, reader.absent,
                self.rows, columns.labels, columns.queries, columns.query_at, columns.comment_at, hard, outcome,
            )  # fmt: skip
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
            word = _word(self.part.text, place)
            is_label = column == kernels.LABEL_COLUMN
            value = np.nan
            if _NUMBER.fullmatch(word):
                value = float(word)
                if is_label and np.isinf(value):
                    self.complaints.append((place, offences.LABEL_INFINITE))
                elif not is_label and abs(value) >= kernels.FLOAT32_OVERFLOW:
                    self.complaints.append((place, offences.VALUE_OVERFLOW))
                    value = np.nan
            elif _MISSING.fullmatch(word):
                if is_label and not self.reader.unlabelled:
                    self.complaints.append((place, offences.LABEL_MISSING))
            elif _INFINITE.fullmatch(word):
                self.complaints.append((place, offences.LABEL_INFINITE if is_label else offences.VALUE_INFINITE))
            elif is_label:
                self.complaints.append((place, offences.LABEL_MALFORMED))
            else:
                self.complaints.append((place, offences.VALUE_MALFORMED if word else offences.VALUE_EMPTY))
            if is_label:
                self.columns.labels[row] = value
            elif column < self.rows.shape[1]:
                self.rows[row, column] = value


_WORD = re.compile(rb"[^ \t\r\n#]*")
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MISSING = re.compile(rb"[+-]?nan|null", re.IGNORECASE)
_INFINITE = re.compile(rb"[+-]?inf(?:inity)?", re.IGNORECASE)
_DOCUMENT_ID = re.compile(rb"#[ \t]*(?:docid[ \t]*=[ \t]*)?([^ \t\r\n]+)", re.IGNORECASE)
_NAMED_DOCUMENT = re.compile(rb"#[ \t]*docid[ \t]*=", re.IGNORECASE)
_DOCUMENT_LINE = re.compile(rb"[ \t\r]*([^ \t\r\n#])[^\n]*\n|[^\n]*\n")


def _word(text: bytearray, place: int) -> bytes:
    """The word at a place, as the kernels see words."""
    found = _WORD.match(text, place)
    return found.group() if found else b""


def _document_id(text: bytearray, place: int) -> str:
    """The document id in the comment at a place: the word after ``docid =`` (LETOR 4), else the first word."""
    found = _DOCUMENT_ID.match(text, place) if place >= 0 else None
    return found.group(1).decode("utf-8", "replace") if found else ""


def _document_place(part: Round, row: int) -> int:
    """Where the line of the document in a row of the round starts."""
    places = (found.start(1) for found in _DOCUMENT_LINE.finditer(part.text, part.start, part.stop) if found[1])
    return next(itertools.islice(places, row, None))


def _pieces(part: Round) -> list[int]:
    """Places that cut a round into about equal stretches of whole lines: a few per thread."""
    count = max(1, min(2 * thread_count(), (part.stop - part.start) >> 16))
    edges = [part.start]
    for k in range(1, count):
        cut = part.text.find(b"\n", part.start + k * (part.stop - part.start) // count, part.stop) + 1
        if edges[-1] < cut < part.stop:
            edges.append(cut)
    return [*edges, part.stop]
