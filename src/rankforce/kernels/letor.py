"""Lines of LETOR/SVMlight text to numbers: ``label qid:ID index:value ... # comment``.

The kernels work on a stretch of whole lines: ``buffer[stop - 1]`` is a line feed, so that every loop over the bytes
of a word ends without looking at ``stop``. They know what is common and report the place of everything else: an
offence, and numbers for Python to read.

Numbers are read as ``float(text)`` reads them, features then rounded to float32. A mantissa below 2^53 and a power of
ten up to 10^22 are both exact in double precision, so that one multiplication or division rounds correctly. A longer
number is computed with an error below 2^-50: where both ends of that interval round to the same float32, so does the
number between them. The few numbers that are left, and long labels, are for Python, with all that is no number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankforce.compiling.jit import kernel, subroutine
from rankforce.dtypes import Array, Number

TAB, LINE_FEED, RETURN, SPACE = 9, 10, 13, 32
HASH, PLUS, MINUS, POINT, ZERO, NINE, COLON = 35, 43, 45, 46, 48, 57, 58
WORD_ENDS = 1 << SPACE | 1 << TAB | 1 << LINE_FEED | 1 << RETURN | 1 << HASH  # as a set of bits
LOWER_CASE = 32  # the bit that makes a letter small
LETTER_A, LETTER_D, LETTER_E, LETTER_I, LETTER_L, LETTER_N, LETTER_Q, LETTER_U = b"adeilnqu"

# How a number was read; HARD is left to Python.
EXACT, NEAR, HARD = 0, 1, 2

# What a stretch of lines ended with; HARD_FULL asks to be called again.
OK, HARD_FULL, INDEX_MALFORMED, INDEX_SMALL, INDEX_REPEATED, INDEX_DECREASING, INDEX_LARGE = 0, 1, 2, 3, 4, 5, 6
STRAY_RETURN = 7

# Places in ``outcome``.
DOCUMENTS, LINES, STATUS, AT, WIDEST, WIDEST_AT, HARDS = 0, 1, 2, 3, 4, 5, 6
OUTCOME_SIZE = 7

# In ``query_at`` and ``comment_at``, beside places in the buffer: there is none; it is a number and in ``queries``.
NOWHERE, NUMBER = -1, -2

# In ``hard``, three entries for each word to be read as a number: its row, its column and its place.
HARD_ENTRIES = 3
LABEL_COLUMN = -1

MOST_DIGITS = 18  # an int64 holds any number of so many digits
FULL_MANTISSA = 10 ** (MOST_DIGITS - 1)  # from here on it has them
LARGE = 10**11  # beyond any index and exponent: further digits do not matter
EXACT_INTEGERS = 2**53
EXACT_POWERS = 22
NEAR_POWERS = 290  # beyond, the product may leave the range of normal doubles
NEAR_LOW, NEAR_HIGH = 1.0 - 2.0**-50, 1.0 + 2.0**-50
# Half way between the largest float32 and 2^128: from here on a double rounds to infinity.
FLOAT32_OVERFLOW = 2.0**128 - 2.0**103
POWERS = np.array([float(f"1e{k}") for k in range(NEAR_POWERS + 1)])


class LineFormat(NamedTuple):
    """What lines may say, and what they mean by saying nothing."""

    first_index: Number
    last_index: Number  # the largest that is allowed
    absent: Number  # float32: the value of a feature that a line does not name


class ParsedRows(NamedTuple):
    """Where documents are written, a row each."""

    features: Array  # float32 (documents, width): an index beyond the width is passed over
    labels: Array  # float64 (documents)
    queries: Array  # int64 (documents)
    query_at: Array  # int64 (documents): a place in the buffer, or NOWHERE, or NUMBER
    comment_at: Array  # int64 (documents): the same


@subroutine
def _ends_word(byte: Number) -> Number:
    return byte <= HASH and (WORD_ENDS >> byte) & 1 == 1


@subroutine
def _skip_blanks(buffer: Array, at: Number) -> Number:
    """The next place that is neither space, tab nor a carriage return before a line end."""
    while True:
        byte = buffer[at]
        if byte == RETURN:
            if buffer[at + 1] != LINE_FEED and buffer[at + 1] != RETURN:
                return at
        elif byte != SPACE and byte != TAB:
            return at
        at += 1


@subroutine
def _is_missing(buffer: Array, at: Number, end: Number) -> Number:
    """Whether the word is ``nan`` or ``NULL``, in any case."""
    if buffer[at] | LOWER_CASE != LETTER_N:
        return False
    second = buffer[at + 1] | LOWER_CASE
    third = buffer[at + 2] | LOWER_CASE
    if end == at + 3:
        return second == LETTER_A and third == LETTER_N
    return end == at + 4 and second == LETTER_U and third == LETTER_L and buffer[at + 3] | LOWER_CASE == LETTER_L


@subroutine
def _query(buffer: Array, at: Number, row: Number, queries: Array, query_at: Array) -> Number:
    """Read the query id at ``at``; its end. A whole number in its usual spelling is kept as a number."""
    query_at[row] = at
    negative = buffer[at] == MINUS
    if negative:
        at += 1
    begin = at
    number: Number = 0
    byte = np.int64(buffer[at])
    while ZERO <= byte <= NINE and at - begin < MOST_DIGITS:
        number = number * 10 + (byte - ZERO)
        at += 1
        byte = np.int64(buffer[at])
    # 007 is another query than 7
    if at > begin and _ends_word(byte) and (buffer[begin] != ZERO or (at == begin + 1 and not negative)):
        query_at[row] = NUMBER
    while not _ends_word(byte):
        at += 1
        byte = np.int64(buffer[at])
    queries[row] = -number if negative else number
    return at


@subroutine
def _leading_digits(buffer: Array, begin: Number, end: Number) -> tuple[Number, Number, Number]:
    """(mantissa, exponent, EXACT or NEAR) of the first digits behind leading zeros, up to ``end``."""
    mantissa: Number = 0
    exponent: Number = 0
    kind = EXACT
    decimals = 0  # 1 behind the point
    for k in range(begin, end):
        if buffer[k] == POINT:
            decimals = 1
        elif mantissa < FULL_MANTISSA:
            mantissa = mantissa * 10 + (np.int64(buffer[k]) - ZERO)
            exponent -= decimals
        else:
            exponent += 1 - decimals
            kind = NEAR
    return mantissa, exponent, kind


@kernel
def count_lines(buffer: Array, start: Number, stop: Number, outcome: Array) -> None:
    """Count the documents and the lines of ``buffer[start:stop]``; blank and comment lines hold no document."""
    lines = 0
    documents = 0
    at = start
    while at < stop:
        while buffer[at] == SPACE or buffer[at] == TAB or buffer[at] == RETURN:
            at += 1
        if buffer[at] != LINE_FEED and buffer[at] != HASH:
            documents += 1
        while buffer[at] != LINE_FEED:
            at += 1
        at += 1
        lines += 1
    outcome[DOCUMENTS] = documents
    outcome[LINES] = lines


@kernel
def parse_lines(
    buffer: Array,
    start: Number,
    stop: Number,
    row: Number,
    lines: LineFormat,
    rows: ParsedRows,
    hard: Array,
    outcome: Array,
) -> None:
    """Parse the lines of ``buffer[start:stop]`` into rows ``row``, ``row + 1``, ... of the arrays.

    buffer uint8; ``lines`` is a LineFormat; ``rows`` (ParsedRows), hard int64 and outcome int64 (OUTCOME_SIZE,) are
    written. ``outcome[AT]`` is the place of an offence, or the line to go on with after HARD_FULL;
    ``outcome[DOCUMENTS]`` the rows that are complete; ``outcome[WIDEST]`` the largest column beyond the width of the
    features, or -1; ``outcome[HARDS]`` the entries of ``hard`` in use.

    The loop over a line is one piece: every number passes through it, and subroutines for its number, its value and
    its index took 20 to 40 % longer, half of that where they were inlined by force.
    """
    features, labels, queries, query_at, comment_at = rows
    first_index, last_index, absent = lines
    width = features.shape[1]
    first_row = row
    status = OK
    hards = 0
    hards_before = 0
    widest = -1
    widest_at = 0
    at = start
    line = start
    while at < stop and status == OK:
        line = at
        hards_before = hards
        at = _skip_blanks(buffer, at)
        is_document = buffer[at] != LINE_FEED and buffer[at] != HASH and buffer[at] != RETURN
        if is_document:
            query_at[row] = NOWHERE
            comment_at[row] = NOWHERE
            column = LABEL_COLUMN
            index_at = at
            while True:
                # A number: the label, or a value behind its index.
                word = at
                byte: Number = np.int64(buffer[at])
                negative = byte == MINUS
                if negative or byte == PLUS:
                    at += 1
                    byte = np.int64(buffer[at])
                begin = at
                mantissa: Number = 0
                exponent: Number = 0
                kind = EXACT
                while ZERO <= byte <= NINE:
                    mantissa = mantissa * 10 + (byte - ZERO)
                    at += 1
                    byte = np.int64(buffer[at])
                digits = at - begin
                if byte == POINT:
                    at += 1
                    byte = np.int64(buffer[at])
                    while ZERO <= byte <= NINE:
                        mantissa = mantissa * 10 + (byte - ZERO)
                        at += 1
                        byte = np.int64(buffer[at])
                    exponent = digits - (at - begin - 1)
                    digits -= exponent
                if digits > MOST_DIGITS:  # the mantissa has overflown
                    mantissa, exponent, kind = _leading_digits(buffer, begin, at)
                if byte | LOWER_CASE == LETTER_E and digits > 0:
                    at += 1
                    byte = np.int64(buffer[at])
                    sign = 1
                    if byte == MINUS:
                        sign = -1
                    if sign < 0 or byte == PLUS:
                        at += 1
                        byte = np.int64(buffer[at])
                    power: Number = 0
                    digits = 0
                    while ZERO <= byte <= NINE:
                        digits += 1
                        if power < LARGE:
                            power = power * 10 + (byte - ZERO)
                        at += 1
                        byte = np.int64(buffer[at])
                    exponent += sign * power
                if digits == 0 or not _ends_word(byte):
                    kind = HARD
                    while not _ends_word(byte):
                        at += 1
                        byte = np.int64(buffer[at])
                value: Number = np.float64(mantissa)
                if kind != HARD and mantissa > 0:
                    if mantissa >= EXACT_INTEGERS or exponent < -EXACT_POWERS or exponent > EXACT_POWERS:
                        kind = NEAR
                    if exponent < -NEAR_POWERS or exponent > NEAR_POWERS:
                        kind = HARD
                    elif exponent < 0:
                        value /= POWERS[-exponent]
                    elif exponent > 0:
                        value *= POWERS[exponent]
                    if kind == NEAR and (
                        column == LABEL_COLUMN
                        or value >= FLOAT32_OVERFLOW * NEAR_LOW
                        or np.float32(value * NEAR_LOW) != np.float32(value * NEAR_HIGH)
                    ):
                        kind = HARD
                if kind == HARD:
                    value = np.nan
                    if column == LABEL_COLUMN or not _is_missing(buffer, word, at):
                        if hards == hard.shape[0]:
                            status = HARD_FULL
                            break
                        hard[hards] = row
                        hard[hards + 1] = column
                        hard[hards + 2] = word
                        hards += HARD_ENTRIES
                if negative:
                    value = -value
                if column == LABEL_COLUMN:
                    labels[row] = value
                    at = _skip_blanks(buffer, at)
                    if (
                        buffer[at] == LETTER_Q
                        and buffer[at + 1] == LETTER_I
                        and buffer[at + 2] == LETTER_D
                        and buffer[at + 3] == COLON
                    ):
                        at = _query(buffer, at + 4, row, queries, query_at)
                        at = _skip_blanks(buffer, at)
                elif column < width:
                    features[row, column] = value
                elif column > widest:
                    widest = column
                    widest_at = index_at
                column += 1  # from here on the next column to be filled
                byte = np.int64(buffer[at])
                if byte == SPACE:
                    at += 1
                    byte = np.int64(buffer[at])
                if byte < ZERO:
                    at = _skip_blanks(buffer, at)
                    byte = np.int64(buffer[at])
                    if byte == LINE_FEED or byte == HASH:  # a tuple would be slower to compile
                        break

                index_at = at
                index: Number = 0
                while ZERO <= byte <= NINE:
                    if index < LARGE:
                        index = index * 10 + (byte - ZERO)
                    at += 1
                    byte = np.int64(buffer[at])
                place = index - first_index
                if byte != COLON or at == index_at:
                    status = INDEX_MALFORMED
                elif place < 0:
                    status = INDEX_SMALL
                elif index > last_index:
                    status = INDEX_LARGE
                elif place < column:
                    status = INDEX_REPEATED if place == column - 1 else INDEX_DECREASING
                if status != OK:
                    at = index_at
                    break
                at += 1
                while column < place and column < width:
                    features[row, column] = absent
                    column += 1
                column = place
            if status != OK:
                break
            while column < width:
                features[row, column] = absent
                column += 1
            if buffer[at] == HASH:
                comment_at[row] = at
            row += 1
        while buffer[at] != LINE_FEED:
            if buffer[at] == RETURN and buffer[at + 1] != LINE_FEED and buffer[at + 1] != RETURN:
                status = STRAY_RETURN
                break
            at += 1
        if status == OK:
            at += 1
    if status == HARD_FULL:
        at = line
        hards = hards_before
    outcome[DOCUMENTS] = row - first_row
    outcome[STATUS] = status
    outcome[AT] = at
    outcome[WIDEST] = widest
    outcome[WIDEST_AT] = widest_at
    outcome[HARDS] = hards
