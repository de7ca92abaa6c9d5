"""The lines of one round, parsed by threads: each has a stretch of them, and writes into rows of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from rankforce import dtypes
from rankforce.data.letor import offences
from rankforce.data.letor.words import INFINITE, MISSING, NUMBER, word_at
from rankforce.files.streams import Round
from rankforce.kernels import letor as kernels

HARD_NUMBERS = 4096


class FileFormat(Protocol):
    """What options say of the lines of a file."""

    first_index: int
    n_features: int | None
    absent: np.float32
    unlabelled: bool


class RoundColumns:
    """What is read of the documents of one round beside their features."""

    def __init__(self, documents: int) -> None:
        self.labels = np.empty(documents, dtype=dtypes.LABEL)
        self.queries = np.empty(documents, dtype=np.int64)
        self.query_at = np.empty(documents, dtype=np.int64)
        self.comment_at = np.empty(documents, dtype=np.int64)


def parse_stretches(stretches: dict[int, Stretch], first: int, last: int) -> None:
    """Let the stretch that begins at ``first`` parse its lines."""
    stretches[first].parse(first, last)


@dataclass
class Stretch:
    """The lines of one thread, and their outcome."""

    format: FileFormat
    part: Round
    columns: RoundColumns
    rows: np.ndarray
    row: int
    complaints: list[tuple[int, int]] = field(default_factory=list)
    widest: int = -1
    widest_at: int = 0

    def parse(self, first: int, last: int) -> None:
        """Parse the lines between two places of the round into ``rows``, from ``row`` on, and into ``columns``."""
        format, columns, row = self.format, self.columns, self.row
        last_index = offences.LARGEST_INDEX
        if format.n_features is not None:
            last_index = format.first_index + int(format.n_features) - 1
        lines = kernels.LineFormat(format.first_index, last_index, format.absent)
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
                if is_label and not self.format.unlabelled:
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
