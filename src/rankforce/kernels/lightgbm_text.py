"""The trees of a LightGBM text to columns of numbers, in one pass.

A tree is a block of lines ``key=value``. The lists among the values that matter are read, other lines passed over.
Whatever is written in another way than LightGBM writes it ends the reading with NOT_READ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankforce.compiling.jit import kernel
from rankforce.dtypes import Array, Number
from rankforce.kernels.decimals import DECIMAL, HARD, MINUS, WHOLE, ZERO, read_number

SPACE, LINE_FEED, LETTER_A, LETTER_Z, LOWER_CASE = 32, 10, 97, 122, 32
NOT_READ = -1
HARD_ENTRIES = 4  # of a number for Python to read: its list, its place there, where it begins and where it ends
# What comes before the lists among the words that lines begin with.
TREE, LEAVES, MUST_BE_ZERO, MUST_BE_ZERO_TOO, FIRST_LIST = 0, 1, 2, 3, 4


class BlockForm(NamedTuple):
    """What lines begin with: ``Tree=``, ``num_leaves=``, two that must be 0, and the lists."""

    words: Array  # uint8: one after the other, each with its =
    word_starts: Array  # int64 (words + 1)
    on_leaves: Array  # int64 (lists): 1 for a list that has an entry per leaf, 0 for one per node
    optional: Array  # int64 (lists): 1 for a list that may be empty or missing, and is 0 then


class BlockLists(NamedTuple):
    """What was read, the trees one after the other."""

    numbers: Array  # float64 (lists, places)
    leaves: Array  # int64 (trees)
    hard: Array  # int64 (numbers, HARD_ENTRIES)
    counts: Array  # int64 (2): trees, and numbers in ``hard``


@kernel
def read_lightgbm_blocks(text: Array, start: Number, stop: Number, form: BlockForm, lists: BlockLists) -> Number:
    """Read the blocks from ``start`` on, where the first one begins, to ``stop``, a line feed; ``stop`` if all is well.

    text uint8. More numbers than ``lists`` has places for, or more trees, are not read.
    """
    words, word_starts, on_leaves, optional = form
    places = lists.numbers.shape[1]
    list_count = on_leaves.shape[0]
    lengths = np.zeros(list_count, dtype=np.int64)
    one = np.uint64(1)
    at = np.uint64(start)
    end = np.uint64(stop)
    trees = 0
    node_total = 0
    hards = 0
    leaves = 0
    seen = 0  # a bit for every word of this block
    while True:
        # A line: which word it begins with, -1 if with another.
        word = -1
        if at < end:
            byte = np.int64(text[at])
            letter = LETTER_A <= byte | LOWER_CASE <= LETTER_Z
            if byte != LINE_FEED and not letter:
                return np.int64(NOT_READ)  # blanks before a key, for one, which others might pass over
            if letter:
                for candidate in range(word_starts.shape[0] - 1):
                    k = word_starts[candidate]
                    last = word_starts[candidate + 1]
                    here = at
                    while k < last and text[here] == words[k]:
                        k += 1
                        here += one
                    if k == last:
                        word = candidate
                        at = here
                        break
        if word == TREE or at >= end:
            if seen:  # the block before is complete
                if not seen & (1 << LEAVES) or trees >= lists.leaves.shape[0]:
                    return np.int64(NOT_READ)
                for k in range(list_count):
                    begin = node_total + trees * on_leaves[k]
                    size = leaves - 1 + on_leaves[k]
                    if optional[k] and lengths[k] == 0 and begin + size <= places:
                        for place in range(begin, begin + size):
                            lists.numbers[k, place] = 0.0
                    elif lengths[k] != size:
                        return np.int64(NOT_READ)
                lists.leaves[trees] = leaves
                trees += 1
                node_total += leaves - 1
            if at >= end:
                lists.counts[0] = trees
                lists.counts[1] = hards
                return np.int64(at)
            leaves = 0
            seen = 0
            lengths[:] = 0
        elif word < 0:
            if not seen:
                return np.int64(NOT_READ)
        elif not seen or seen & (1 << word):
            return np.int64(NOT_READ)
        if word >= 0:
            seen |= 1 << word
        if word == LEAVES:
            here, found, leaves, _ = read_number(text, at)
            if found != WHOLE or leaves < 1 or leaves > places or text[here] != LINE_FEED:
                return np.int64(NOT_READ)
            at = here
        elif word == MUST_BE_ZERO or word == MUST_BE_ZERO_TOO:
            if text[at] != ZERO or text[at + one] != LINE_FEED:
                return np.int64(NOT_READ)
            at += one
        elif word >= FIRST_LIST:
            k = word - FIRST_LIST
            begin = node_total + trees * on_leaves[k]
            place = begin
            if text[at] != LINE_FEED:
                while True:
                    if place >= places:
                        return np.int64(NOT_READ)
                    here, found, digits, value = read_number(text, at)
                    if found == DECIMAL:
                        lists.numbers[k, place] = value
                    elif found == WHOLE:
                        lists.numbers[k, place] = -0.0 if digits == 0 and text[at] == MINUS else np.float64(digits)
                    elif found == HARD and hards < lists.hard.shape[0]:
                        lists.hard[hards, 0] = k
                        lists.hard[hards, 1] = place
                        lists.hard[hards, 2] = at
                        lists.hard[hards, 3] = here
                        hards += 1
                    else:
                        return np.int64(NOT_READ)
                    at = here
                    place += 1
                    if text[at] == LINE_FEED:
                        break
                    if text[at] != SPACE:
                        return np.int64(NOT_READ)
                    at += one
            lengths[k] = place - begin
        while text[at] != LINE_FEED:
            at += one
        at += one
