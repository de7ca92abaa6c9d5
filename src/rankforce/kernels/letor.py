"""Lines of LETOR/SVMlight text to numbers and back: ``label qid:ID index:value ... # comment``.

The reading kernels work on a stretch of whole lines: ``buffer[stop - 1]`` is a line feed, so that every loop over
the bytes of a word ends without looking at ``stop``. Nothing is raised; the first offence is reported as a code and
the place of the offending word, and put into words elsewhere.

Numbers are read as ``float(text)`` reads them, features then rounded to float32. A mantissa below 2^53 and a power of
ten up to 10^22 are both exact in double precision, so that one multiplication or division rounds correctly. A longer
number is computed with an error below 2^-50: where both ends of that interval round to the same float32, so does the
number between them. The few numbers that are left, and long labels, are handed back as places in the text.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.jit import kernel, subroutine

TAB, LINE_FEED, RETURN, SPACE = 9, 10, 13, 32
HASH, PLUS, MINUS, POINT, ZERO, NINE, COLON, EQUALS = 35, 43, 45, 46, 48, 57, 58, 61
LOWER_CASE = 32  # the bit that makes a letter small

# How a number was read.
EXACT, NEAR, HARD, MISSING, INFINITE, MALFORMED = 0, 1, 2, 3, 4, 5

# What can be wrong with a line; 0 is nothing, HARD_FULL asks to be called again.
OK, HARD_FULL = 0, 1
LABEL_MALFORMED, LABEL_INFINITE, LABEL_MISSING = 10, 11, 12
QUERY_EMPTY, QUERY_LONG, QUERY_CONTROL, QUERY_MISPLACED = 20, 21, 22, 23
INDEX_MALFORMED, INDEX_SMALL, INDEX_REPEATED, INDEX_DECREASING, INDEX_LARGE, COLON_ABSENT = 30, 31, 32, 33, 34, 35
VALUE_EMPTY, VALUE_MALFORMED, VALUE_INFINITE, VALUE_OVERFLOW = 40, 41, 42, 43
STRAY_RETURN = 50

# Places in ``outcome``.
DOCUMENTS, LINES, STATUS, AT, WIDEST, WIDEST_AT, HARDS = 0, 1, 2, 3, 4, 5, 6
OUTCOME_SIZE = 7

# Columns of ``spans``: where words of a document's line are in the buffer.
LABEL_AT, QUERY_AT, QUERY_END, QUERY_IS_NUMBER, ID_AT, ID_END = 0, 1, 2, 3, 4, 5
SPAN_SIZE = 6

# Columns of ``hard``: a number that the caller must read. LABEL_COLUMN stands for the label.
HARD_ROW, HARD_COLUMN, HARD_AT, HARD_END = 0, 1, 2, 3
LABEL_COLUMN = -1

MOST_DIGITS = 18  # an int64 holds any number of so many digits
MOST_QUERY_BYTES = 256
EXACT_INTEGERS = 2**53
EXACT_POWERS = 22
NEAR_POWERS = 290  # beyond, the product may leave the range of normal doubles
NEAR_LOW, NEAR_HIGH = 1.0 - 2.0**-50, 1.0 + 2.0**-50
# Half way between the largest float32 and 2^128: from here on a double rounds to infinity.
FLOAT32_OVERFLOW = 2.0**128 - 2.0**103
POWERS = np.array([float(f"1e{k}") for k in range(309)])


@subroutine
def _ends_word(byte: Any) -> Any:
    return byte == SPACE or byte == LINE_FEED or byte == TAB or byte == RETURN or byte == HASH


@subroutine
def _word_end(buffer: Any, at: Any) -> Any:
    while not _ends_word(buffer[at]):
        at += 1
    return at


@subroutine
def _spells(buffer: Any, at: Any, word: Any) -> Any:
    """Whether the letters of ``word`` (small) stand at ``at``, in any case. A line feed never matches."""
    for k in range(len(word)):
        if buffer[at + k] | LOWER_CASE != word[k]:
            return False
    return True


NAN, NULL, INF, INFINITY, DOCID = b"nan", b"null", b"inf", b"infinity", b"docid"


@subroutine
def _special(buffer: Any, at: Any, signed: Any) -> Any:
    """(kind, end) of a word that is no digits: a missing value, an infinity, or malformed."""
    end = _word_end(buffer, at)
    size = end - at
    if size == 3 and _spells(buffer, at, NAN):
        return MISSING, end
    if size == 4 and not signed and _spells(buffer, at, NULL):
        return MISSING, end
    if (size == 3 and _spells(buffer, at, INF)) or (size == 8 and _spells(buffer, at, INFINITY)):
        return INFINITE, end
    return MALFORMED, end


@subroutine
def _significant(buffer: Any, at: Any, end: Any) -> Any:
    """(mantissa, dropped digits before the point, whether all digits are in it, digits after the point in it)."""
    mantissa = 0
    digits = 0
    dropped = 0
    decimals = 0
    whole = True
    after_point = False
    for k in range(at, end):
        byte = buffer[k]
        if byte == POINT:
            after_point = True
            continue
        if digits < MOST_DIGITS:
            mantissa = mantissa * 10 + (np.int64(byte) - ZERO)
            if mantissa > 0:
                digits += 1
            if after_point:
                decimals += 1
        else:
            whole = False
            if not after_point:
                dropped += 1
    return mantissa, dropped, whole, decimals


@subroutine
def _number(buffer: Any, at: Any) -> Any:
    """Read the number at ``at``: (kind, value, end of the word)."""
    negative = buffer[at] == MINUS
    signed = negative or buffer[at] == PLUS
    if signed:
        at += 1
    begin = at
    mantissa = 0
    decimals = 0
    digit = np.int64(buffer[at]) - ZERO
    while 0 <= digit <= 9:
        mantissa = mantissa * 10 + digit
        at += 1
        digit = np.int64(buffer[at]) - ZERO
    count = at - begin
    if buffer[at] == POINT:
        at += 1
        point = at
        digit = np.int64(buffer[at]) - ZERO
        while 0 <= digit <= 9:
            mantissa = mantissa * 10 + digit
            at += 1
            digit = np.int64(buffer[at]) - ZERO
        decimals = at - point
        count += decimals
    if count == 0:
        if at > begin:
            return MALFORMED, 0.0, _word_end(buffer, at)
        kind, end = _special(buffer, at, signed)
        return kind, 0.0, end
    digits_end = at
    exponent = 0
    if buffer[at] | LOWER_CASE == 101:  # e
        at += 1
        falling = buffer[at] == MINUS
        if falling or buffer[at] == PLUS:
            at += 1
        digit = np.int64(buffer[at]) - ZERO
        if not 0 <= digit <= 9:
            return MALFORMED, 0.0, _word_end(buffer, at)
        while 0 <= digit <= 9:
            exponent = min(exponent * 10 + digit, 100_000_000)
            at += 1
            digit = np.int64(buffer[at]) - ZERO
        if falling:
            exponent = -exponent
    if not _ends_word(buffer[at]):
        return MALFORMED, 0.0, _word_end(buffer, at)
    whole = True
    if count > MOST_DIGITS:
        mantissa, dropped, whole, decimals = _significant(buffer, begin, digits_end)
        exponent += dropped
    exponent -= decimals
    kind = HARD
    value = 0.0
    if mantissa == 0:  # then no digit was dropped either: only digits after a first non-zero one are
        kind = EXACT
    elif whole and mantissa < EXACT_INTEGERS and -EXACT_POWERS <= exponent <= EXACT_POWERS:
        kind = EXACT
        value = mantissa / POWERS[-exponent] if exponent < 0 else mantissa * POWERS[exponent]
    elif -NEAR_POWERS <= exponent <= NEAR_POWERS:
        kind = NEAR
        value = mantissa / POWERS[-exponent] if exponent < 0 else mantissa * POWERS[exponent]
    return kind, -value if negative else value, at


@subroutine
def _skip_blanks(buffer: Any, at: Any) -> Any:
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
def _comment(buffer: Any, at: Any, spans: Any, row: Any) -> Any:
    """Pass over the comment at ``at`` (its ``#``), noting the document id in it: (status, place of the line feed).

    The id is the word after ``docid =``, as LETOR 4 writes it, else the first word.
    """
    at += 1
    while buffer[at] == SPACE or buffer[at] == TAB:
        at += 1
    begin = at
    while buffer[at] != SPACE and buffer[at] != TAB and buffer[at] != RETURN and buffer[at] != LINE_FEED:
        at += 1
    end = at
    if _spells(buffer, begin, DOCID):
        value = begin + len(DOCID)
        while buffer[value] == SPACE or buffer[value] == TAB:
            value += 1
        if buffer[value] == EQUALS:
            value += 1
            while buffer[value] == SPACE or buffer[value] == TAB:
                value += 1
            after = value
            while (
                buffer[after] != SPACE
                and buffer[after] != TAB
                and buffer[after] != RETURN
                and buffer[after] != LINE_FEED
            ):
                after += 1
            if after > value:
                begin = value
                end = after
    if row >= 0:
        spans[row, ID_AT] = begin
        spans[row, ID_END] = end
    while buffer[at] != LINE_FEED:
        if buffer[at] == RETURN and buffer[at + 1] != LINE_FEED and buffer[at + 1] != RETURN:
            return STRAY_RETURN, at
        at += 1
    return OK, at


@subroutine
def _query(buffer: Any, at: Any, row: Any, queries: Any, spans: Any) -> Any:
    """Read the query id at ``at``: (status, end). A whole number in its usual spelling is kept as a number."""
    end = at
    number = 0
    digits = 0
    while not _ends_word(buffer[end]):
        byte = np.int64(buffer[end])
        if byte < SPACE or byte == 127:
            return QUERY_CONTROL, end
        if ZERO <= byte <= NINE:
            digits += 1
            if digits <= MOST_DIGITS:
                number = number * 10 + (byte - ZERO)
        end += 1
    size = end - at
    if size == 0:
        return QUERY_EMPTY, end
    if size > MOST_QUERY_BYTES:
        return QUERY_LONG, end
    negative = buffer[at] == MINUS
    usual = digits == size - (1 if negative else 0) and 0 < digits <= MOST_DIGITS
    if usual and buffer[end - digits] == ZERO and (digits > 1 or negative):
        usual = False  # 007 is another query than 7
    spans[row, QUERY_AT] = at
    spans[row, QUERY_END] = end
    spans[row, QUERY_IS_NUMBER] = 1 if usual else 0
    queries[row] = -number if negative else number
    return OK, end


@kernel
def count_lines(buffer: Any, start: Any, stop: Any, outcome: Any) -> None:
    """Count the documents and the lines of ``buffer[start:stop]``; blank and comment lines hold no document."""
    lines = 0
    suspects = 0
    for k in range(start, stop - 1):  # plain enough to be vectorised
        feed = buffer[k] == LINE_FEED
        follower = buffer[k + 1]
        lines += feed
        suspects += feed & ((follower <= SPACE) | (follower == HASH))
    lines += 1
    documents = lines
    if suspects > 0 or buffer[start] <= SPACE or buffer[start] == HASH:
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
    outcome[DOCUMENTS] = documents
    outcome[LINES] = lines


@kernel
def parse_lines(
    buffer: Any,
    start: Any,
    stop: Any,
    row: Any,
    first_index: Any,
    last_index: Any,
    unlabelled: Any,
    absent: Any,
    features: Any,
    labels: Any,
    queries: Any,
    spans: Any,
    hard: Any,
    outcome: Any,
) -> None:
    """Parse the lines of ``buffer[start:stop]`` into rows ``row``, ``row + 1``, ... of the arrays.

    buffer uint8; indices from ``first_index`` to ``last_index`` are allowed; ``unlabelled`` 1 allows a NaN label;
    ``absent`` float32 is the value of a feature that a line does not name.

    features float32 (documents, width): an index beyond the width is passed over and reported in
    ``outcome[WIDEST]``; labels float64; queries int64; spans int64 (documents, SPAN_SIZE), ``QUERY_AT`` −1 where a
    line has no query; hard int64 (any, 4); outcome int64 (OUTCOME_SIZE,). ``outcome[AT]`` is the place of an
    offence, or the line to go on with after HARD_FULL; ``outcome[DOCUMENTS]`` the rows that are complete.
    """
    width = features.shape[1]
    first_row = row
    status = OK
    hards = 0
    hards_before = 0
    widest = -1
    widest_at = 0
    at = start
    line = start
    while at < stop:
        line = at
        hards_before = hards
        at = _skip_blanks(buffer, at)
        if buffer[at] == LINE_FEED:
            at += 1
            continue
        if buffer[at] == HASH:
            status, at = _comment(buffer, at, spans, -1)
            if status != OK:
                break
            at += 1
            continue
        if buffer[at] == RETURN:
            status = STRAY_RETURN
            break
        spans[row, LABEL_AT] = at
        spans[row, QUERY_AT] = -1
        spans[row, QUERY_IS_NUMBER] = 0
        spans[row, ID_AT] = 0
        spans[row, ID_END] = 0

        kind, value, end = _number(buffer, at)
        if kind >= MISSING:
            if kind == MISSING and unlabelled == 1:
                value = np.nan
            else:
                status = LABEL_MALFORMED
                if kind == MISSING:
                    status = LABEL_MISSING
                elif kind == INFINITE:
                    status = LABEL_INFINITE
                break
        labels[row] = value
        if kind == NEAR or kind == HARD:
            if hards == hard.shape[0]:
                status = HARD_FULL
                break
            hard[hards, HARD_ROW] = row
            hard[hards, HARD_COLUMN] = LABEL_COLUMN
            hard[hards, HARD_AT] = at
            hard[hards, HARD_END] = end
            hards += 1
        at = _skip_blanks(buffer, end)

        if buffer[at] == 113 and buffer[at + 1] == 105 and buffer[at + 2] == 100 and buffer[at + 3] == COLON:  # qid:
            status, end = _query(buffer, at + 4, row, queries, spans)
            if status != OK:
                break
            at = _skip_blanks(buffer, end)

        column = 0  # the next column to be filled
        while True:
            byte = buffer[at]
            if byte == LINE_FEED or byte == HASH:
                break
            word = at
            index = 0
            digit = np.int64(byte) - ZERO
            while 0 <= digit <= 9:
                index = min(index * 10 + digit, 100_000_000_000)
                at += 1
                digit = np.int64(buffer[at]) - ZERO
            if buffer[at] != COLON or at == word:
                at = word
                status = _index_offence(buffer, word)
                break
            place = index - first_index
            if place < column or index > last_index:
                at = word
                if place < 0:
                    status = INDEX_SMALL
                elif index > last_index:
                    status = INDEX_LARGE
                elif place == column - 1:
                    status = INDEX_REPEATED
                else:
                    status = INDEX_DECREASING
                break
            at += 1
            kind, value, end = _number(buffer, at)
            if kind != EXACT:
                if kind == NEAR:
                    if abs(value) >= FLOAT32_OVERFLOW * NEAR_LOW or np.float32(value * NEAR_LOW) != np.float32(
                        value * NEAR_HIGH
                    ):
                        kind = HARD
                if kind == HARD:
                    if hards == hard.shape[0]:
                        status = HARD_FULL
                        break
                    hard[hards, HARD_ROW] = row
                    hard[hards, HARD_COLUMN] = place
                    hard[hards, HARD_AT] = at
                    hard[hards, HARD_END] = end
                    hards += 1
                    value = 0.0
                elif kind == MISSING:
                    value = np.nan
                elif kind == INFINITE:
                    status = VALUE_INFINITE
                    break
                elif kind == MALFORMED:
                    status = VALUE_EMPTY if end == at else VALUE_MALFORMED
                    break
            if abs(value) >= FLOAT32_OVERFLOW:
                status = VALUE_OVERFLOW
                break
            if place < width:
                while column < place:
                    features[row, column] = absent
                    column += 1
                features[row, place] = value
            elif place > widest:
                widest = place
                widest_at = word
            column = place + 1
            at = end
            if buffer[at] == SPACE:
                at += 1
            if np.int64(buffer[at]) - ZERO > 9 or np.int64(buffer[at]) < ZERO:
                at = _skip_blanks(buffer, at)
        if status != OK:
            break
        while column < width:
            features[row, column] = absent
            column += 1
        if buffer[at] == HASH:
            status, at = _comment(buffer, at, spans, row)
            if status != OK:
                break
        at += 1
        row += 1
    if status == HARD_FULL:
        at = line
        hards = hards_before
    outcome[DOCUMENTS] = row - first_row
    outcome[STATUS] = status
    outcome[AT] = at
    outcome[WIDEST] = widest
    outcome[WIDEST_AT] = widest_at
    outcome[HARDS] = hards


@subroutine
def _index_offence(buffer: Any, at: Any) -> Any:
    """What is wrong with a word that does not start with digits and a colon."""
    if buffer[at] == RETURN:
        return STRAY_RETURN
    end = _word_end(buffer, at)
    colon = at
    while colon < end and buffer[colon] != COLON:
        colon += 1
    if colon == end:
        return COLON_ABSENT
    if colon - at == 3 and _spells(buffer, at, b"qid"):
        return QUERY_MISPLACED
    if buffer[at] == MINUS and colon > at + 1:
        for k in range(at + 1, colon):
            if not ZERO <= buffer[k] <= NINE:
                return INDEX_MALFORMED
        return INDEX_SMALL
    return INDEX_MALFORMED


@kernel
def widen_rows(store: Any, rows: Any, old: Any, new: Any, absent: Any) -> None:
    """Lay out ``rows`` rows of ``old`` values as rows of ``new`` ones, in place; the new places become ``absent``."""
    for row in range(rows - 1, -1, -1):
        for column in range(new - 1, old - 1, -1):
            store[row * new + column] = absent
        for column in range(old - 1, -1, -1):
            store[row * new + column] = store[row * old + column]
