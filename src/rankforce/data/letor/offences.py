"""What can be wrong in a line of LETOR text, in words, each with its remedy."""

from __future__ import annotations

import re

from rankforce.kernels import letor as kernels
from rankforce.remedies import ReadOption, Words

LARGEST_INDEX = 2**31 - 2

# Offences that the kernels leave to be found here; theirs have smaller numbers.
LABEL_MALFORMED, LABEL_INFINITE, LABEL_MISSING = 100, 101, 102
VALUE_EMPTY, VALUE_MALFORMED, VALUE_INFINITE, VALUE_OVERFLOW = 110, 111, 112, 113
COLON_ABSENT, QUERY_MISPLACED, QUERY_ABSENT, QUERY_UNEXPECTED = 120, 121, 122, 123
LINE = "A line reads: label qid:ID index:value index:value ... # comment"
PROBLEMS: dict[int, tuple[str, Words]] = {
    LABEL_MALFORMED: ("the label is not a number", LINE),
    LABEL_INFINITE: ("the label is infinite", "Labels are finite numbers."),
    LABEL_MISSING: (
        "the label is missing",
        ("Pass ", ReadOption("unlabelled", "allow"), " if the document was not judged, or remove the line."),
    ),
    QUERY_MISPLACED: ("qid: must stand directly after the label, once", LINE),
    kernels.INDEX_MALFORMED: ("the feature index is not a whole number", LINE),
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
    COLON_ABSENT: ("a feature without a colon", LINE),
    VALUE_EMPTY: ("the value after the colon is absent", "Write index:value without a space, NULL if missing."),
    VALUE_MALFORMED: ("the value is not a number", "Write a missing value as NULL or nan."),
    VALUE_INFINITE: ("the value is infinite", "Write a missing value as NULL or nan, else a finite number."),
    VALUE_OVERFLOW: ("the value is beyond float32 (3.4e38)", "Scale the feature down."),
    kernels.STRAY_RETURN: (
        "a carriage return within a line",
        "Lines end in LF or CRLF: convert a file whose lines end in CR alone.",
    ),
    QUERY_ABSENT: ("this line has no qid:, lines before it have one", "Give every line its qid:."),
    QUERY_UNEXPECTED: ("this line has a qid:, lines before it have none", "Give every line its qid:, or none."),
}

_NEGATIVE_INDEX = re.compile(rb"-[0-9]+:.*", re.DOTALL)


def index_offence(word: bytes) -> int:
    """What is wrong with a word that does not start with digits and a colon."""
    if not word:
        return kernels.STRAY_RETURN
    if b":" not in word:
        return COLON_ABSENT
    if word.lower().startswith(b"qid:"):
        return QUERY_MISPLACED
    return kernels.INDEX_SMALL if _NEGATIVE_INDEX.fullmatch(word) else kernels.INDEX_MALFORMED
