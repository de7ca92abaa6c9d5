"""Packed fixed-point histograms: one 64-bit integer add per document and feature.

Every document has one **entry**, two integers in one word: ``q·2^shift + r`` with r ≥ 0, where q is its quantised force
and r its quantised curvature (or 1, a count). A histogram holds the sum of the entries of a leaf's documents for every
bin of every feature. Sums of integers do not depend on their order, so neither does any tree.

Bytes come as words, four in a uint32, byte 4w + t of the row from bit 8t on. The histogram over the values of byte b
starts at b·REGION; those of columns that share a byte stand behind all of them. Regions are equally long, so that the
place to add to needs no table, and an odd number of cache lines, because the most frequent bins of many features would
otherwise fall into the same few sets of the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.compiling.intrinsics import prefetch_row
from rankforce.compiling.jit import uncounted_subroutine

AHEAD = 16  # how many places ahead a row is asked for: below the root, rows are scattered and latency rules
WORD = 4  # bytes in a word
LINE_ENTRIES = 8  # histogram entries in a cache line
REGION = 33 * LINE_ENTRIES  # entries of a histogram over the 256 values of a byte
BYTE_VALUES = 256
# Of so many words, some of all documents of a batch are added, then the next: histograms of all of them fill the
# nearest cache eight times, and most additions would wait for the next one.
MANY_WORDS = 24
WORDS_AT_ONCE = 17
BATCH = 128
BYTE = np.uint64(8)
LOW_BYTE = np.uint64(255)
LINE = 64  # bytes of a cache line


@uncounted_subroutine
def clear_histogram(histogram: Any, first_word: Any, last_word: Any) -> Any:
    for k in range(np.uint64(first_word * WORD * REGION), np.uint64(last_word * WORD * REGION)):
        histogram[k] = 0  # with a place that may be negative, an entry at a time


@uncounted_subroutine
def _ask_for(words: Any, entries: Any, document: Any, first_byte: Any, last_byte: Any) -> Any:
    """Ask for an entry and for bytes of a row that lie in two cache lines at most."""
    prefetch_row(words, document, first_byte)
    prefetch_row(words, document, last_byte)
    prefetch_row(entries, document, 0)


@uncounted_subroutine
def add_documents(
    words: Any,
    documents: Any,
    entries: Any,
    keep: Any,
    put: Any,
    first_word: Any,
    last_word: Any,
    histogram: Any,
) -> Any:
    """Add the entries of ``documents`` to the histograms of the bytes in words ``first_word`` to ``last_word``.

    words uint32 (documents, words); documents int32; entries int64, one per document of the data set. What is added is
    ``entry & keep | put``: the entry itself with (−1, 0), a count with (0, 1).
    One document after the other: two that are in the same bin of a feature would wait for each other's addition.
    """
    size = np.uint64(len(documents))
    if last_word - first_word >= MANY_WORDS:
        _add_batches(words, documents, entries, keep, put, first_word, last_word, histogram)
        return
    first_byte = first_word * WORD
    last_byte = last_word * WORD - 1
    ahead = np.uint64(AHEAD)
    for k in range(size + ahead):
        if k < size:
            _ask_for(words, entries, documents[k], first_byte, last_byte)
            prefetch_row(words, documents[k], min(first_byte + LINE, last_byte))
        if k < ahead:
            continue
        document = np.uint64(documents[k - ahead])
        _add_row(words, document, entries[document] & keep | put, first_word, last_word, histogram)


@uncounted_subroutine
def _add_batches(
    words: Any,
    documents: Any,
    entries: Any,
    keep: Any,
    put: Any,
    first_word: Any,
    last_word: Any,
    histogram: Any,
) -> Any:
    """As ``add_documents``: some words of all documents of a batch, while the same of the next batch are asked for."""
    size = len(documents)
    width = last_word - first_word
    blocks = -(-width // WORDS_AT_ONCE)
    for begin in range(-BATCH, size, BATCH):
        for block in range(blocks):
            from_word = first_word + width * block // blocks
            to_word = first_word + width * (block + 1) // blocks
            from_byte = from_word * WORD
            last_byte = to_word * WORD - 1  # at most a cache line behind
            if begin < 0:
                for k in range(min(size, BATCH)):
                    _ask_for(words, entries, documents[k], from_byte, last_byte)
                continue
            for k in range(np.uint64(begin), np.uint64(min(begin + BATCH, size))):
                following = documents[min(k + np.uint64(BATCH), np.uint64(size - 1))]
                _ask_for(words, entries, following, from_byte, last_byte)
                document = np.uint64(documents[k])
                _add_row(words, document, entries[document] & keep | put, from_word, to_word, histogram)


@uncounted_subroutine
def _add_row(words: Any, document: Any, entry: Any, first_word: Any, last_word: Any, histogram: Any) -> Any:
    for w in range(np.uint64(first_word), np.uint64(last_word)):
        bins = np.uint64(words[document, w])
        byte = w * np.uint64(WORD)
        for t in range(WORD):
            histogram[(byte + np.uint64(t)) * np.uint64(REGION) + (bins & LOW_BYTE)] += entry
            bins = bins >> BYTE


@uncounted_subroutine
def subtract_histogram(histogram: Any, part: Any, begin: Any, end: Any) -> Any:
    """Leave the sibling: ``histogram − part``, exactly."""
    for k in range(np.uint64(begin), np.uint64(end)):
        histogram[k] -= part[k]


@uncounted_subroutine
def add_up_column(histogram: Any, start: Any, byte: Any, values: Any, stride: Any, size: Any) -> Any:
    """Make the histogram of a column that shares a byte of so many ``values``, at ``start``.

    A byte that belongs to one column needs nothing: its histogram is the column's.
    """
    shared = byte * REGION
    if start == shared:
        return
    first = np.uint64(start)
    for digit in range(np.uint64(size)):
        histogram[first + np.uint64(digit)] = 0
    digit = 0
    next_digit = stride
    total = np.int64(0)
    for value in range(values):
        if value == next_digit:
            histogram[first + np.uint64(digit)] += total
            total = np.int64(0)
            digit = digit + 1 if digit + 1 < size else 0
            next_digit += stride
        total += histogram[np.uint64(shared + value)]
    histogram[first + np.uint64(digit)] += total
