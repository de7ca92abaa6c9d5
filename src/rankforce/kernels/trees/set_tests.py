"""Whether codes of categories are in the sets that nodes ask for: one at a time, and all sets of a feature at once.

All at once, a table has a row per category of a feature, a bit for each set that is asked of it: 1 where the test
*fails*, so that a document goes right. A document's code leads to its row, which answers all tests of the feature. A
block of documents then has a row per document and needs a word per set: the bits are transposed, 64 × 64 at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rankforce.compiling.jit import subroutine

PLACES = 64  # sets per word of the table
UNLISTED, MISSING = 0, 1  # rows of every feature: a category that no set has, and a missing value
_ONE = np.uint64(1)
_BIT_OF_WORD = np.uint32(31)
_WORD = np.int64(5)
_FAILS, _PASSES = np.float32(1.0), np.float32(-1.0)


class SetBits(NamedTuple):
    """The sets of an ensemble as they are written (``data/category_sets.py``)."""

    starts: Any  # int64 (sets + 1,)
    words: Any  # uint32


class SetTable(NamedTuple):
    """The sets of an ensemble, by feature and category. Sets have places: 64 to a word, each feature its own words."""

    features: Any  # int32, one entry per categorical feature that is asked
    code_starts: Any  # int64 (features + 1,): where the rows of each feature's categories stand in ``code_rows``
    code_rows: Any  # int32: the row of each category, UNLISTED for those that no set has
    table_starts: Any  # int64, one entry per feature
    word_starts: Any  # int64 (features + 1,): the words of each feature's sets
    table: Any  # uint64: the rows of a feature, one after the other, each of as many words as the feature has


class SetRows(NamedTuple):
    """Rows of values that say of each document whether it fails a test: for each, what is asked of which feature."""

    features: Any  # int32
    sets: Any  # int32
    missing_left: Any  # bool
    bits: SetBits


@subroutine
def is_in_set(value: Any, number: Any, sets: Any) -> Any:
    """Whether a value, which is not missing, is the code of a category of a set (of SetBits)."""
    first = sets.starts[number]
    categories = (sets.starts[number + 1] - first) << _WORD
    if not (value >= 0 and value < categories):
        return False
    code = np.int64(value)
    if value != code:
        return False
    word = sets.words[first + (code >> _WORD)]
    return (word >> (np.uint32(code) & _BIT_OF_WORD)) & np.uint32(1) != np.uint32(0)


@subroutine
def failing_value(value: Any, row: Any, rows: Any) -> Any:
    """1 where a value fails the test of a row (of SetRows), -1 where it passes: as if it were compared with 0."""
    if value == value:
        passes = is_in_set(value, rows.sets[row], rows.bits)
    else:
        passes = rows.missing_left[row]
    return _PASSES if passes else _FAILS


@subroutine
def table_row(value: Any, f: Any, table: Any) -> Any:
    """Where the row begins that answers all tests of the f-th categorical feature."""
    row = UNLISTED
    if value != value:
        row = MISSING
    elif value >= 0 and value < table.code_starts[f + 1] - table.code_starts[f]:
        code = np.int64(value)
        if value == code:
            row = table.code_rows[table.code_starts[f] + code]
    return table.table_starts[f] + row * (table.word_starts[f + 1] - table.word_starts[f])


@subroutine
def fill_values(features: Any, document: Any, table: Any, first: Any, values: Any) -> Any:
    """For a document and every place of a set, 1 where its test fails and -1 where not; ``values[first]`` onwards."""
    for f in range(table.features.shape[0]):
        row = table_row(features[document, table.features[f]], f, table)
        begin = table.word_starts[f]
        for w in range(table.word_starts[f + 1] - begin):
            word = table.table[row + w]
            at = first + PLACES * (begin + w)
            for place in range(PLACES):
                values[at + place] = _FAILS if (word >> np.uint64(place)) & _ONE != np.uint64(0) else _PASSES


@subroutine
def fill_failing(
    features: Any, start: Any, count: Any, width: Any, table: Any, rows: Any, square: Any, failing: Any
) -> Any:
    """For every place of a set, the documents of a block that fail its test, as bits; ``failing`` uint64.

    The block has ``width`` documents from ``start`` on; what is beyond ``count`` is the last one again. rows int64 and
    square uint64 are room for 64.
    """
    for f in range(table.features.shape[0]):
        for d in range(width):
            rows[d] = table_row(features[start + min(d, count - 1), table.features[f]], f, table)
        begin = table.word_starts[f]
        for w in range(table.word_starts[f + 1] - begin):
            for d in range(width):
                square[d] = table.table[rows[d] + w]
            for d in range(width, PLACES):
                square[d] = np.uint64(0)
            _transpose(square)
            for place in range(PLACES):
                failing[PLACES * (begin + w) + place] = square[place]


@subroutine
def _transpose(square: Any) -> Any:
    """Exchange bit k of word d and bit d of word k, in halves, quarters, ... of the square."""
    half = 32
    mask = np.uint64(0x00000000FFFFFFFF)
    while half:
        shift = np.uint64(half)
        for above in range(0, PLACES, 2 * half):
            for k in range(above, above + half):
                swapped = ((square[k] >> shift) ^ square[k + half]) & mask
                square[k] ^= swapped << shift
                square[k + half] ^= swapped
        half >>= 1
        mask ^= mask << np.uint64(half)
