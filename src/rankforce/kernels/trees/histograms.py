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
# In batches: documents, words of them at a time, and from how many words on it may be worth it.
BATCH = 128
WORDS_AT_ONCE = 17
MANY_WORDS = 24
BYTE = np.uint64(8)
LOW_BYTE = np.uint64(255)
LINE = 64  # bytes of a cache line


@uncounted_subroutine
def clear_histogram(histogram: Any, first_word: Any, last_word: Any) -> Any:
    for k in range(np.uint64(first_word * WORD * REGION), np.uint64(last_word * WORD * REGION)):
        histogram[k] = 0  # with a place that may be negative, an entry at a time


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
    ahead = np.uint64(AHEAD)
    from_word = np.uint64(first_word)
    to_word = np.uint64(last_word)
    for k in range(size + ahead):
        if k < size:
            _ask_for(words, entries, documents[k], first_word, last_word)
        if k < ahead:
            continue
        document = np.uint64(documents[k - ahead])
        entry = entries[document] & keep | put
        for w in range(from_word, to_word):
            bins = np.uint64(words[document, w])
            byte = w * np.uint64(WORD)
            for t in range(WORD):
                histogram[(byte + np.uint64(t)) * np.uint64(REGION) + (bins & LOW_BYTE)] += entry
                bins = bins >> BYTE


@uncounted_subroutine
def _ask_for(words: Any, entries: Any, document: Any, first_word: Any, last_word: Any) -> Any:
    for byte in range(first_word * WORD, last_word * WORD, LINE):
        prefetch_row(words, document, byte)
    prefetch_row(words, document, last_word * WORD - 1)
    prefetch_row(entries, document, 0)


@uncounted_subroutine
def add_in_batches(
    words: Any,
    documents: Any,
    entries: Any,
    keep: Any,
    put: Any,
    first_word: Any,
    last_word: Any,
    histogram: Any,
) -> Any:
    """As ``add_documents``: some words of all documents of a batch, while the same of the next batch are asked for.

    Histograms of many words fill a nearest cache of 32 KB eight times, so that most additions wait for the next one;
    those of some words fit better. Which of the two is faster depends on the processor.
    """
    size = len(documents)
    width = last_word - first_word
    blocks = -(-width // WORDS_AT_ONCE)
    for begin in range(-BATCH, size, BATCH):
        for block in range(blocks):
            from_word = first_word + width * block // blocks
            to_word = first_word + width * (block + 1) // blocks
            if begin < 0:
                for k in range(min(size, BATCH)):
                    _ask_for_some(words, entries, documents[k], from_word, to_word)
                continue
            for k in range(np.uint64(begin), np.uint64(min(begin + BATCH, size))):
                following = documents[min(k + np.uint64(BATCH), np.uint64(size - 1))]
                _ask_for_some(words, entries, following, from_word, to_word)
                document = np.uint64(documents[k])
                entry = entries[document] & keep | put
                for w in range(np.uint64(from_word), np.uint64(to_word)):
                    bins = np.uint64(words[document, w])
                    byte = w * np.uint64(WORD)
                    for t in range(WORD):
                        histogram[(byte + np.uint64(t)) * np.uint64(REGION) + (bins & LOW_BYTE)] += entry
                        bins = bins >> BYTE


@uncounted_subroutine
def _ask_for_some(words: Any, entries: Any, document: Any, first_word: Any, last_word: Any) -> Any:
    """Ask for an entry and for words of a row that lie in two cache lines at most."""
    prefetch_row(words, document, first_word * WORD)
    prefetch_row(words, document, last_word * WORD - 1)
    prefetch_row(entries, document, 0)


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
