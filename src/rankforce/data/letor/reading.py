"""LETOR/SVMlight text: one document per line, ``label qid:ID index:value ... # comment``.

Read in one pass: rounds of whole lines are parsed by all threads straight into the rows of the final matrix. The
matrix grows as the file turns out longer (or, rarely, wider) than its first lines suggest; it is never held twice.
"""

from __future__ import annotations

import contextlib
import functools
import os
import stat
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankforce.console.byte_progress import ByteProgress
from rankforce.data.dataset import Dataset
from rankforce.data.feature_options import FeatureOptions
from rankforce.data.file_formats import LETOR_TEXT
from rankforce.data.found_files import FileNames, found_files, together
from rankforce.data.letor import offences, usual_lines  # noqa: F401  # stands in for kernels that are not compiled
from rankforce.data.letor.growing_matrix import GrowingMatrix
from rankforce.data.letor.ids import BadId, document_ids, query_ids
from rankforce.data.letor.query_sizes import group_beside, read_group
from rankforce.data.letor.stretches import RoundColumns, Stretch, parse_stretches
from rankforce.data.letor.words import NAMED_DOCUMENT, document_place, pieces, word_at
from rankforce.errors import DataError, FileFormatError, SettingsError
from rankforce.files.streams import Round, TextFile, file_name
from rankforce.kernels import letor as kernels
from rankforce.kinds import OrNone, Switch, Whole, check_choice, check_number, check_switches
from rankforce.memory import written_size
from rankforce.remedies import NAME_ALONE, ReadOption, Words
from rankforce.threads import over_pieces

ABSENT = {"zero": np.float32(0.0), "missing": np.float32(np.nan)}
# A matrix may be this many times larger than the text it comes from, or this many bytes, whichever is more.
DENSE_FACTOR = 64
DENSE_BYTES = 64 * 2**20


def read_letor(
    path: FileNames,
    *,
    absent: str = "zero",
    unlabelled: str = "raise",
    n_features: int | None = None,
    first_index: int = 1,
    group: str | os.PathLike[str] | None = None,
    allow_wide: bool = False,
    progress: bool | None = None,
    categorical: Sequence[str | int] = (),
    like: Any = None,
) -> Dataset:
    """Read a LETOR/SVMlight file, plain or gzip, or several as if they were one.

    Parameters
    ----------
    path
        The file, or a list of files, a pattern or a folder, as for ``rf.read``. Lines end in LF or CRLF; blank lines
        and lines that hold a comment only are passed over.
    absent : "zero" or "missing"
        What a feature is that a line does not name. A feature given as ``NULL`` or ``nan`` is missing.
    unlabelled : "raise" or "allow"
        Whether a label may be ``nan`` or ``NULL``: a document that nobody has judged.
    n_features
        The number of features; by default the largest index in the file decides, or ``like``, if it has more.
    first_index : 1 or 0
        The index of the first feature.
    group
        A file of query sizes, one whole number per line, for a file without ``qid:``. By default the file of the
        same name with ``.query`` or ``.group`` added is looked for; of several files each has one of its own.
    allow_wide
        Whether the matrix may be more than 64 times larger than the text (and than 64 MB): usually a sign of a
        feature index that is no index.
    progress
        Whether to show on standard error how far it is: a bar on a terminal, a line every ten seconds elsewhere. By
        default on a terminal, if it takes long.
    categorical
        Features whose whole numbers name categories, by the numbers that the file gives them.
    like : Dataset, model or fitted ranker
        Its categorical features are categorical here, with the same codes. If its features have numbers, the file has
        at least as many.

    Returns
    -------
    Dataset
        Rows in the order of the file. Query ids are whole numbers if all are in their usual spelling (7, not 007),
        else text. Document ids are text: the word after ``docid =`` in the comment, else its first word, "" without
        one; None if no line has one.

    Numbers are read as ``float(text)`` reads them; features are then rounded to float32.
    """
    known = FeatureOptions.of(categorical, like)
    reader = LetorReader(absent, unlabelled, n_features, first_index, allow_wide, known)
    OrNone(Switch()).check("progress", progress)
    sizes = None if group is None else file_name(group)
    files = found_files(path, LETOR_TEXT)
    if len(files) > 1 and sizes is not None:
        raise DataError(
            f"{together(files)}: sizes of queries are those of one file: put those of each beside it, as "
            f"{files[0]}.query, and leave ",
            ReadOption("group", NAME_ALONE),
            " out",
        )
    total = _total_size(files)
    before = 0
    with ByteProgress(together(files), total, progress) as bar:
        for one in files:
            with TextFile(one) as file, contextlib.closing(file.rounds()) as rounds:
                reader.begin()
                for part in rounds:
                    read = before + part.consumed
                    reader.take(file, part, read / total if total else None)
                    bar.advance_to(read)
                reader.end(file, sizes)
                before += file.size or 0
    return reader.finish(together(files), known)


def _total_size(files: Sequence[str]) -> int | None:
    """The bytes of all files; None if one is a pipe, or cannot be looked at (opening it will say so)."""
    try:
        found = [os.stat(file) for file in files]
    except OSError:
        return None
    return sum(one.st_size for one in found) if all(stat.S_ISREG(one.st_mode) for one in found) else None


class LetorReader:
    """What was read so far, of one file after the other: the matrix, with room for what is expected, and columns."""

    def __init__(
        self,
        absent: str,
        unlabelled: str,
        n_features: int | None,
        first_index: int,
        allow_wide: bool,
        known: FeatureOptions,
    ) -> None:
        check_choice("absent", absent, tuple(ABSENT))
        check_choice("unlabelled", unlabelled, ("raise", "allow"))
        check_number("first_index", first_index, 0, 1, whole=True)
        check_switches(allow_wide=allow_wide)
        if not OrNone(Whole(1, offences.LARGEST_INDEX)).holds(n_features):
            raise SettingsError(f"n_features must be a positive whole number or None, not {n_features!r}")
        self.absent = ABSENT[absent]
        self.unlabelled = unlabelled == "allow"
        self.first_index = first_index
        self.n_features = n_features
        self.allow_wide = allow_wide
        self.matrix = GrowingMatrix(
            self.absent, known.numbered_from(first_index) if n_features is None else int(n_features)
        )
        self.documents = 0
        self.lines = 0  # of the file that is read
        self.bytes = 0
        self.sizes: list[np.ndarray] = []  # of queries, by file, where lines do not name them
        self.sizes_files: list[str] = []
        self._documents_before = 0  # those of earlier files
        self.labels: list[np.ndarray] = []
        self.queries: list[np.ndarray | list[str]] = []
        self.document_ids: list[str] | None = None
        self.has_queries = False
        self.guesses_documents = False  # their ids are words of comments that nothing names as ids

    # --------------------------------------------------------------------------------------------------- one file

    def begin(self) -> None:
        """The rounds of another file come next."""
        self.lines = 0
        self._documents_before = self.documents

    def end(self, file: TextFile, group: str | None) -> None:
        """All rounds of the file were taken: find the sizes of its queries, if its lines do not name them."""
        documents = self.documents - self._documents_before
        if documents == 0 or self.has_queries:
            if documents and group is not None:
                raise DataError(
                    f"{file.path}: the lines name their queries (qid:): leave ", ReadOption("group", NAME_ALONE), " out"
                )
            return
        sizes_file = group or group_beside(file.path)
        self.sizes.append(read_group(sizes_file, documents=documents, of=file.path))
        self.sizes_files.append(str(sizes_file))

    def take(self, file: TextFile, part: Round, share: float | None) -> None:
        """Parse the lines of a round into the next rows; ``share`` says how much of all files is read with it."""
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

        columns = RoundColumns(documents)
        while True:
            rows = self.matrix.next_rows(file.path, documents, share)
            stretches = {first: Stretch(self, part, columns, rows, first_rows[first]) for first in edges[:-1]}
            over_pieces(edges, functools.partial(parse_stretches, stretches))
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

    def _keep(self, part: Round, columns: RoundColumns) -> None:
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

    def _refuse(self, file: TextFile, part: Round, columns: RoundColumns, stretches: list[Stretch]) -> None:
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

    def finish(self, name: str, known: FeatureOptions) -> Dataset:
        """The data set of all that was read; ``name`` is that of the files."""
        if self.matrix.n_rows == 0:
            raise no_document(name, empty=self.bytes == 0)
        origins = {}
        if self.sizes_files:
            origins["queries"] = f"file {together(self.sizes_files)!r}"
        if self.guesses_documents:
            origins["documents"] = "the first word of each comment"
        labels = np.concatenate(self.labels)
        self.labels.clear()
        return Dataset(
            self.matrix.finish(name),
            labels,
            self._queries(),
            group=np.concatenate(self.sizes) if self.sizes else None,
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


def no_document(name: str, *, empty: bool) -> FileFormatError:
    """The error of files without a document, which are empty, or hold comments only."""
    return FileFormatError(
        "the file is empty" if empty else "the file holds no document, only comments or blank lines",
        path=name,
        remedy="A line reads: label qid:ID index:value index:value ... # comment",
    )


def _objects(words: Sequence[str]) -> np.ndarray:
    array = np.empty(len(words), dtype=object)
    array[:] = words
    return array
