"""Lines of trees in a model file to columns of numbers, in one pass.

A line is ``{"feature": [3, 1], "threshold": [0.5, 1e-05], ...}``: the *marks* before, between and behind the lists are
always the same, and so are the separators. Whatever is written in another way ends the reading with NOT_READ: what is
wrong with it is for others to find.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankforce.compiling.jit import kernel
from rankforce.dtypes import Array, Number
from rankforce.kernels.decimals import DECIMAL, HARD, WHOLE, read_number

COMMA, SPACE, LINE_FEED, CLOSING, LETTER_T = 44, 32, 10, 93, 116
WHOLES, FLOATS, TRUTHS = 0, 1, 2  # what a list holds
NOT_READ = -1
HARD_ENTRIES = 4  # of a number for Python to read: its column, its place there, where it begins and where it ends


class LineForm(NamedTuple):
    """How a line is written."""

    marks: Array  # uint8: one after the other, and behind them ``true`` and ``false``
    mark_starts: Array  # int64 (columns + 4)
    kinds: Array  # int64 (columns): WHOLES, FLOATS or TRUTHS
    on_leaves: Array  # int64 (columns): 1 for a list that has an entry per leaf, 0 for one per node


class TreeLists(NamedTuple):
    """What was read: a row per column of the kind, the trees one after the other."""

    wholes: Array  # int64 (columns, places): whole numbers, truth values
    floats: Array  # float64 (columns, places)
    nodes: Array  # int64 (trees)
    hard: Array  # int64 (numbers, HARD_ENTRIES)
    counts: Array  # int64 (2): trees, and numbers in ``hard``


@kernel
def read_tree_lines(text: Array, start: Number, form: LineForm, lists: TreeLists) -> Number:
    """Read lines from ``start`` on, as long as a comma and a line feed follow; where reading ended.

    text uint8, with a line feed as its last byte: no mark and no number has one, so that nothing is read beyond it.
    More numbers or trees than ``lists`` has places for are not read.
    """
    marks, mark_starts, kinds, on_leaves = form
    columns = kinds.shape[0]
    places = lists.floats.shape[1]
    trees = 0
    node_total = 0
    hards = 0
    at = np.uint64(start)  # unsigned: a signed index may count from the end
    one = np.uint64(1)
    while True:
        if trees >= lists.nodes.shape[0]:
            return np.int64(NOT_READ)
        nodes = 0
        whole_row = 0
        float_row = 0
        for column in range(columns + 1):
            for k in range(mark_starts[column], mark_starts[column + 1]):
                if text[at] != marks[k]:
                    return np.int64(NOT_READ)
                at += one
            if column == columns:
                break
            kind = kinds[column]
            begin = node_total + trees * on_leaves[column]
            place = begin
            row = whole_row
            if kind == FLOATS:
                row = float_row
                float_row += 1
            else:
                whole_row += 1
            if text[at] != CLOSING:
                while True:
                    if place >= places:
                        return np.int64(NOT_READ)
                    if kind == TRUTHS:
                        truth = text[at] == LETTER_T
                        word = columns + 1 if truth else columns + 2
                        for k in range(mark_starts[word], mark_starts[word + 1]):
                            if text[at] != marks[k]:
                                return np.int64(NOT_READ)
                            at += one
                        lists.wholes[row, place] = np.int64(truth)
                    else:
                        end, found, digits, value = read_number(text, at)
                        if kind == WHOLES:
                            if found != WHOLE:
                                return np.int64(NOT_READ)
                            lists.wholes[row, place] = digits
                        elif found == DECIMAL:
                            lists.floats[row, place] = value
                        elif found == HARD and hards < lists.hard.shape[0]:
                            lists.hard[hards, 0] = row
                            lists.hard[hards, 1] = place
                            lists.hard[hards, 2] = at
                            lists.hard[hards, 3] = end
                            hards += 1
                        else:
                            return np.int64(NOT_READ)
                        at = end
                    place += 1
                    if text[at] == CLOSING:
                        break
                    if text[at] != COMMA or text[at + one] != SPACE:
                        return np.int64(NOT_READ)
                    at += one + one
            if column == 0:
                nodes = place - begin
            elif place - begin != nodes + on_leaves[column]:
                return np.int64(NOT_READ)
        lists.nodes[trees] = nodes
        trees += 1
        node_total += nodes
        lists.counts[0] = trees
        lists.counts[1] = hards
        if text[at] != COMMA or text[at + one] != LINE_FEED:
            return np.int64(at)
        at += one + one
