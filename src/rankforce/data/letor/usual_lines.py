"""Small LETOR files by Python: lines as they are usually written, while the kernels are not compiled.

Each function does what the kernel of ``kernels/letor.py`` would do, or, where a line is not as usual, nothing: what is
wrong with a file is the kernel's to say.
"""

from __future__ import annotations

import itertools
import re

import numpy as np

from rankforce.dtypes import Array
from rankforce.kernels import letor as kernels

MOST_TEXT = 1 << 22  # bytes: of more, compiling is sooner done

_NUMBER = rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_VALUE = rb"(?:%s|[nN][aA][nN]|[nN][uU][lL][lL])" % _NUMBER
_LINE = re.compile(
    rb"[ \t]*(?:(?P<label>%s)(?:[ \t]+qid:(?P<query>[^ \t\r\n#]+))?(?P<values>(?:[ \t]+[0-9]{1,18}:%s)*)[ \t]*)?"
    rb"(?P<comment>\#[^\r\n]*)?\r*\n" % (_NUMBER, _VALUE)
)
_WITHOUT_DOCUMENT = re.compile(rb"^[ \t\r]*[#\n]", re.MULTILINE)
_CANONICAL = re.compile(rb"0|-?[1-9][0-9]{0,%d}" % (kernels.MOST_DIGITS - 1))


@kernels.count_lines.stood_in_by
def count_usual_lines(buffer: Array, start: int, stop: int, outcome: Array) -> bool:
    """As ``count_lines``."""
    if stop - start > MOST_TEXT:
        return False
    text = buffer[start:stop].tobytes()
    outcome[kernels.LINES] = text.count(b"\n")
    outcome[kernels.DOCUMENTS] = outcome[kernels.LINES] - len(_WITHOUT_DOCUMENT.findall(text))
    return True


@kernels.parse_lines.stood_in_by
def parse_usual_lines(
    buffer: Array,
    start: int,
    stop: int,
    row: int,
    lines: kernels.LineFormat,
    rows: kernels.ParsedRows,
    hard: Array,
    outcome: Array,
) -> bool:
    """As ``parse_lines``; False at the first line that is not as usual."""
    if stop - start > MOST_TEXT:
        return False
    text = buffer[start:stop].tobytes()
    features = _Features(lines, rows.features)
    first_row, at = row, 0
    while at < len(text):
        line = _LINE.match(text, at)
        if line is None:
            return False
        at = line.end()
        if line["label"] is None:
            continue
        label = float(line["label"])
        if np.isinf(label) or not features.read(row, line["values"], start + line.start("values")):
            return False
        rows.labels[row] = label
        query = line["query"]
        rows.query_at[row] = kernels.NOWHERE
        if query is not None:
            is_number = _CANONICAL.fullmatch(query) is not None
            rows.query_at[row] = kernels.NUMBER if is_number else start + line.start("query")
            rows.queries[row] = int(query) if is_number else 0
        rows.comment_at[row] = kernels.NOWHERE if line["comment"] is None else start + line.start("comment")
        row += 1
    outcome[kernels.DOCUMENTS] = row - first_row
    outcome[kernels.STATUS] = kernels.OK
    outcome[kernels.AT] = stop
    outcome[kernels.WIDEST] = features.widest
    outcome[kernels.WIDEST_AT] = features.widest_at
    outcome[kernels.HARDS] = 0
    return True


class _Features:
    """Where values of lines are written, and the largest column that had no place there."""

    def __init__(self, lines: kernels.LineFormat, matrix: Array) -> None:
        self._lines = lines
        self._matrix = matrix
        self._width = matrix.shape[1]
        self._numbered: list[bytes] = []  # indices as lines usually have them: all of them, in turn
        self.widest = -1
        self.widest_at = 0

    def read(self, row: int, text: bytes, place: int) -> bool:
        """Write the values of a line, which stand in the text from ``place`` on; False if an index is out of order."""
        words = text.replace(b":", b" ").split()
        indices = words[0::2]
        values = np.array([np.nan if word[:1] in b"nN" else float(word) for word in words[1::2]])
        if not np.all((np.abs(values) < kernels.FLOAT32_OVERFLOW) | np.isnan(values)):
            return False
        first, last, absent = self._lines
        while len(self._numbered) < len(indices):
            self._numbered.append(b"%d" % (first + len(self._numbered)))
        columns: range | list[int] = range(len(indices))
        if indices != self._numbered[: len(indices)]:
            columns = [int(index) - first for index in indices]
            if columns[0] < 0 or any(a >= b for a, b in itertools.pairwise(columns)):
                return False
        if len(columns) and columns[-1] + first > last:
            return False
        within = len(columns) if not len(columns) or columns[-1] < self._width else _count_below(columns, self._width)
        if isinstance(columns, range):
            self._matrix[row, :within] = values[:within]
            self._matrix[row, within:] = absent
        else:
            self._matrix[row] = absent
            self._matrix[row, columns[:within]] = values[:within]
        if within < len(columns) and columns[-1] > self.widest:
            self.widest = columns[-1]
            self.widest_at = place + _place_of_last(text)
        return True


def _count_below(columns: range | list[int], width: int) -> int:
    return int(np.searchsorted(np.asarray(columns), width))


def _place_of_last(text: bytes) -> int:
    """Where the last index of a line's values stands."""
    end = len(text.rstrip(b" \t"))
    return max(text.rfind(b" ", 0, end), text.rfind(b"\t", 0, end)) + 1
