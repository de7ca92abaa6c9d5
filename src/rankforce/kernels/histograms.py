"""Packed fixed-point histograms: one 64-bit integer add per document and feature.

Every document has one **entry**, two integers in one word: ``q·2^shift + r`` with r ≥ 0, where q is its quantised force
and r its quantised curvature (or 1, a count). A histogram holds the sum of the entries of a leaf's documents for every
bin of every feature. Sums of integers do not depend on their order, so neither does any tree.

Bins come as words: eight features' bytes in one uint64, feature 8w + t in byte t. The histogram of feature f starts at
``offsets[f]``; the starts are an odd number of cache lines apart, because the most frequent bins of many features
would otherwise fall into the same few sets of the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.jit import prefetch_row, subroutine

AHEAD = 16  # how many places ahead a row is asked for: below the root, rows are scattered and latency rules
BYTE = np.uint64(8)
LOW_BYTE = np.uint64(255)
ONE = np.uint64(1)
LINE = 64  # bytes of a cache line


@subroutine
def clear_histogram(histogram: Any, begin: Any, end: Any) -> Any:
    for k in range(begin, end):
        histogram[k] = 0


@subroutine
def _ask_for(words: Any, entries: Any, document: Any, first_word: Any, last_word: Any) -> Any:
    for byte in range(first_word * 8, last_word * 8, LINE):
        prefetch_row(words, document, byte)
    prefetch_row(words, document, last_word * 8 - 1)
    prefetch_row(entries, document, 0)


@subroutine
def add_documents(
    words: Any,
    offsets: Any,
    documents: Any,
    entries: Any,
    keep: Any,
    put: Any,
    first_word: Any,
    last_word: Any,
    histogram: Any,
) -> Any:
    """Add the entries of ``documents`` to the histograms of the features in words ``first_word`` to ``last_word``.

    words uint64 (documents, words); offsets uint64 (8·words,); documents int32; entries int64, one per document of the
    data set. What is added is ``entry & keep | put``: the entry itself with (−1, 0), a count with (0, 1).
    Two documents at a time: the loads of one hide behind the adds of the other.
    """
    size = len(documents)
    from_word = np.uint64(first_word)
    to_word = np.uint64(last_word)
    for k in range(0, size - 1, 2):
        if k + AHEAD + 1 < size:
            _ask_for(words, entries, documents[k + AHEAD], first_word, last_word)
            _ask_for(words, entries, documents[k + AHEAD + 1], first_word, last_word)
        a = np.uint64(documents[k])
        b = np.uint64(documents[k + 1])
        entry_a = entries[a] & keep | put
        entry_b = entries[b] & keep | put
        for w in range(from_word, to_word):
            bins_a = words[a, w]
            bins_b = words[b, w]
            feature = w * BYTE
            for t in range(8):
                start = offsets[feature + np.uint64(t)]
                histogram[start + (bins_a & LOW_BYTE)] += entry_a
                histogram[start + (bins_b & LOW_BYTE)] += entry_b
                bins_a = bins_a >> BYTE
                bins_b = bins_b >> BYTE
    if size % 2 == 1:
        a = np.uint64(documents[size - 1])
        entry_a = entries[a] & keep | put
        for w in range(from_word, to_word):
            bins_a = words[a, w]
            feature = w * BYTE
            for t in range(8):
                histogram[offsets[feature + np.uint64(t)] + (bins_a & LOW_BYTE)] += entry_a
                bins_a = bins_a >> BYTE


@subroutine
def subtract_histogram(histogram: Any, part: Any, begin: Any, end: Any) -> Any:
    """Leave the sibling: ``histogram − part``, exactly."""
    for k in range(begin, end):
        histogram[k] -= part[k]
