"""LETOR/SVMlight text written: what reading it again gives back, number for number."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Iterator

import numpy as np

from rankforce.data.categories import MOST_CATEGORIES, UNKNOWN
from rankforce.data.dataset import MAIN_LABEL, Dataset
from rankforce.data.letor.reading import ABSENT
from rankforce.errors import DataError
from rankforce.files.atomic_writes import atomic_write
from rankforce.files.streams import file_name
from rankforce.kinds import Choice, OrNone, check_choice, check_number
from rankforce.remedies import Phrase, ReadOption, WriteOption


def write_letor(
    data: Dataset,
    path: str | os.PathLike[str],
    *,
    label: str | None = None,
    weights: str = "raise",
    unlabelled: str = "raise",
    absent: str | None = None,
    first_index: int = 1,
) -> None:
    """Write a LETOR/SVMlight file, gzip if its name ends in ``.gz``; the old file stays until the new one is whole.

    Parameters
    ----------
    label
        The label source to write. The format holds one: with several, or one that is not ``"grades"``, choose.
    weights : "raise" or "drop"
        The format has no weights: whether they may be left out.
    unlabelled : "raise" or "allow"
        Whether to write labels that are NaN, as ``nan``; to be read with ``unlabelled="allow"``.
    absent : None, "zero" or "missing"
        Features to leave out: none, those that are 0, or those that are missing; to be read with the same
        ``absent=``. The first line names the last feature in any case, so that the number of features is kept.
    first_index : 1 or 0
        The index of the first feature. Features are numbered in their order; their names are not part of the format.

    Reading it again gives the same numbers: floats are written with the fewest digits that identify them, missing
    features as ``nan``. Document ids are written as ``#docid = ID``.
    """
    OrNone(Choice(tuple(ABSENT))).check("absent", absent)
    check_number("first_index", first_index, 0, 1, whole=True)
    labels = _label_to_write(data, label, unlabelled)
    check_choice("weights", weights, ("raise", "drop"))
    if weights == "raise" and (data.weights is not None or data.query_weights is not None):
        raise DataError(
            "LETOR files hold no weights: write Parquet or CSV to keep them, or pass ",
            WriteOption("weights", "drop"),
            " to lose them",
        )
    matrix = _numbers_to_write(data)
    queries = [_writable(str(query), "query id", b"[^ \t\r\n#]+") for query in data.query_ids.tolist()]
    lines = _lines(data, matrix, labels, queries, absent, first_index)
    with atomic_write(path) as file:
        if file_name(path).endswith(".gz"):
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0) as packed:
                packed.writelines(lines)
        else:
            file.writelines(lines)


def _label_to_write(data: Dataset, label: str | None, unlabelled: str) -> np.ndarray:
    check_choice("unlabelled", unlabelled, ("raise", "allow"))
    if label is None:
        if not data.labels:
            raise DataError(
                "LETOR files need a label and the data has none: ",
                Phrase("add one with data.with_label(name, values), or write", "write"),
                " Parquet or CSV",
            )
        if list(data.labels) != [MAIN_LABEL]:
            sources = ", ".join(map(repr, data.labels))
            raise DataError(
                f"LETOR files hold one label without a name, the data has {sources}: choose with ",
                WriteOption("label", next(iter(data.labels))),
                " (the others are lost), or write Parquet or CSV to keep all",
            )
    labels = data.label(label or MAIN_LABEL)
    unlabelled_rows = np.flatnonzero(np.isnan(labels))
    if len(unlabelled_rows) and unlabelled == "raise":
        raise DataError(
            f"{len(unlabelled_rows):,} documents have no label (the first is row {unlabelled_rows[0]}): pass ",
            WriteOption("unlabelled", "allow"),
            " to write nan, which must be read with ",
            ReadOption("unlabelled", "allow"),
        )
    return labels


def _writable(word: str, what: str, pattern: bytes) -> str:
    try:
        fits = re.fullmatch(pattern, word.encode()) is not None
    except UnicodeEncodeError:
        fits = False
    if not fits or any(ord(sign) < 32 or ord(sign) == 127 for sign in word):
        raise DataError(f"the {what} {word!r} cannot be written to a LETOR file: ids are words without white space")
    return word


def _numbers_to_write(data: Dataset) -> np.ndarray:
    """The features; of categories that are whole numbers these, not their codes."""
    matrix = data.features
    for name, categories in data.categories.items():
        column = data.features[:, data.feature_place(name)]
        numbers = [one for one in categories if isinstance(one, int) and abs(one) < MOST_CATEGORIES]
        if len(numbers) < len(categories) or (column == UNKNOWN).any():
            raise DataError(
                f"LETOR files hold numbers, and feature {name!r} has categories that are none: write Parquet or CSV"
            )
        matrix = matrix.copy() if matrix is data.features else matrix
        places = np.where(np.isnan(column), -1, column).astype(np.int64)
        matrix[:, data.feature_place(name)] = np.array([*numbers, np.nan], dtype=matrix.dtype)[places]
    return matrix


def _lines(
    data: Dataset, matrix: np.ndarray, labels: np.ndarray, queries: list[str], absent: str | None, first_index: int
) -> Iterator[bytes]:
    """The lines of a file, without holding more than a few thousand documents as text."""
    prefixes = np.array([f" {place}:" for place in range(first_index, first_index + data.n_features)], dtype=object)
    row_queries = data.row_queries
    chunk = max(1, 2**18 // max(1, data.n_features))
    for first in range(0, data.n_documents, chunk):
        values = matrix[first : first + chunk]
        bits, place = np.unique(values.view(np.uint32), return_inverse=True)  # as bits, −0.0 is not 0.0
        words = np.array([str(value) for value in bits.view(np.float32)], dtype=object)
        words = words[place.reshape(values.shape)] if len(bits) else np.empty(values.shape, dtype=object)
        texts = prefixes + words
        if absent is not None:
            left_out = np.isnan(values) if absent == "missing" else values.view(np.uint32) == 0
            if first == 0 and data.n_features:
                left_out[0, -1] = False
            texts[left_out] = ""
        for row, text in enumerate(texts.tolist(), first):
            line = f"{_label_text(float(labels[row]))} qid:{queries[row_queries[row]]}{''.join(text)}"
            if data.document_ids is not None and data.document_ids[row] != "":
                identity = _writable(str(data.document_ids[row]), "document id", b"[^ \t\r\n]+")
                line += f" #docid = {identity}"
            yield (line + "\n").encode()


def _label_text(label: float) -> str:
    """A label with the fewest digits; grades without a decimal point."""
    return str(int(label)) if label.is_integer() and abs(label) < 2**53 and str(label) != "-0.0" else repr(label)
