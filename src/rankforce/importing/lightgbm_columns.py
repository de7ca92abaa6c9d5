"""All trees of a LightGBM text at once, by columns, where every split is one of ours.

``lightgbm_text.py`` reads any file, a node at a time, and says what is wrong with a damaged one. Nearly all files hold
nothing but numerical splits whose missing values are of type None or NaN: those take a tenth of the time here. Whatever
is not that, or not right, is None, and read there.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rankforce.importing.foreign_trees import FlatTrees, at_most_all
from rankforce.importing.lightgbm_splits import (
    BELOW_ZERO,
    CATEGORICAL,
    DEFAULT_LEFT,
    MISSING_SHIFT,
    NAN,
    NONE,
    ZERO_ABOVE,
)
from rankforce.models.tree_lines import MOST_HARD

if TYPE_CHECKING:
    from rankforce.compiling.jit import Kernel
    from rankforce.kernels.lightgbm_text import BlockForm

NODE_KEYS = ("split_feature", "threshold", "decision_type", "left_child", "right_child", "split_gain")
LEAF_KEYS = ("leaf_value", "leaf_count")
KEYS = NODE_KEYS + LEAF_KEYS

Columns: TypeAlias = tuple[np.ndarray, dict[str, np.ndarray]]


def flat_trees(leaves: np.ndarray, columns: dict[str, np.ndarray], features: int) -> FlatTrees | None:
    """The trees of these columns, float64, that hold all trees one after the other; None unless they are simple.

    Nodes are numbered as a walk meets them, the left side first; leaves have LightGBM's numbers.
    """
    inner = leaves - 1
    starts = np.concatenate([[0], np.cumsum(inner)])
    tree = np.repeat(np.arange(len(inner)), inner)
    most = inner[tree]
    left, right = (_whole(columns[key], -1 - most, most - 1) for key in ("left_child", "right_child"))
    feature = _whole(columns["split_feature"], 0, features - 1)
    decision = _whole(columns["decision_type"], 0, 15)
    threshold = columns["threshold"]
    if left is None or right is None or feature is None or decision is None or np.isnan(threshold).any():
        return None
    missing = decision >> MISSING_SHIFT
    if (decision & CATEGORICAL).any() or not ((missing == NONE) | (missing == NAN)).all():
        return None
    cut = at_most_all(threshold)
    if cut is None:
        return None
    within = np.abs(threshold) <= float(ZERO_ABOVE)  # LightGBM hands its trees 0 for whatever lies within
    cut[within] = np.where(threshold[within] >= 0, ZERO_ABOVE, BELOW_ZERO)
    order = _walked(starts, tree, left, right)
    if order is None:
        return None
    places, number = order
    gain = columns["split_gain"][places]
    goes_left = np.where(missing == NONE, threshold >= 0.0, (decision & DEFAULT_LEFT) > 0)
    sides = [np.where(side < 0, side, number[np.maximum(side, 0) + starts[tree]])[places] for side in (left, right)]
    return FlatTrees(
        nodes=inner,
        feature=feature[places],
        threshold=cut[places],
        missing_left=goes_left[places],
        left=sides[0],
        right=sides[1],
        gain=np.where(np.isfinite(gain), gain, 0.0),
        leaf_value=columns["leaf_value"],
        leaf_weight=columns["leaf_count"],
    )


def kernel() -> Kernel:
    from rankforce.kernels.lightgbm_text import read_lightgbm_blocks

    made: Kernel = read_lightgbm_blocks
    return made


def compile_reading() -> None:
    """Have the kernel compiled, or loaded from disk."""
    compiled_columns(b"\nTree=0\nnum_leaves=1\nleaf_value=0.5\n\nend of trees\n")


def compiled_columns(data: bytes) -> Columns | None:
    """(leaves of each tree, columns) of a file, read by the kernel; None unless LightGBM writes it so."""
    from rankforce.kernels import lightgbm_text as kernels

    start, stop = data.find(b"\nTree=") + 1, data.find(b"\nend of trees")
    if not 0 < start < stop:
        return None
    size = stop - start
    lists = kernels.BlockLists(
        numbers=np.empty((len(KEYS), size // len(KEYS))),
        leaves=np.empty(size // len("Tree=0\nnum_leaves=1\nleaf_value=0\n") + 1, dtype=np.int64),
        hard=np.empty((MOST_HARD, kernels.HARD_ENTRIES), dtype=np.int64),
        counts=np.zeros(2, dtype=np.int64),
    )
    form = _form()
    if kernels.read_lightgbm_blocks(np.frombuffer(data, dtype=np.uint8), start, stop, form, lists) < 0:
        return None
    trees, hards = lists.counts.tolist()
    for row, place, begin, end in lists.hard[:hards].tolist():
        lists.numbers[row, place] = float(data[begin:end])
    leaves = lists.leaves[:trees]
    total = int(leaves.sum())
    return leaves, {
        key: lists.numbers[row, : total if key in LEAF_KEYS else total - trees] for row, key in enumerate(KEYS)
    }


@functools.cache
def _form() -> BlockForm:
    from rankforce.kernels.lightgbm_text import BlockForm

    words = [f"{word}=" for word in ("Tree", "num_leaves", "num_cat", "is_linear", *KEYS)]
    return BlockForm(
        words=np.frombuffer(bytearray("".join(words).encode()), dtype=np.uint8),
        word_starts=np.concatenate([[0], np.cumsum([len(word) for word in words])]),
        on_leaves=np.array([key in LEAF_KEYS for key in KEYS], dtype=np.int64),
        optional=np.array([key == "leaf_count" for key in KEYS], dtype=np.int64),
    )


def plain_columns(blocks: Sequence[dict[str, str]]) -> Columns | None:
    """The same of the entries of all trees; None if one is not as expected."""
    leaves = []
    for entries in blocks:
        announced = entries.get("num_leaves", "")
        if not (announced.isascii() and announced.isdigit() and len(announced) <= 8 and int(announced) > 0):
            return None
        if entries.get("num_cat", "0") != "0" or entries.get("is_linear", "0") != "0":
            return None
        leaves.append(int(announced))
    columns = {}
    for key in KEYS:
        words: list[str] = []
        for entries, count in zip(blocks, leaves, strict=True):
            expected = count if key in LEAF_KEYS else count - 1
            own = entries.get(key, "").split()
            if key == "leaf_count" and not own:
                own = ["0"] * count
            if len(own) != expected:
                return None
            words += own
        try:
            columns[key] = np.array(words, dtype=np.float64)
        except ValueError:
            return None
    return np.array(leaves, dtype=np.int64), columns


def _whole(values: np.ndarray, least: int | np.ndarray, most: int | np.ndarray) -> np.ndarray | None:
    """The values as whole numbers, if they are such numbers in this range."""
    with np.errstate(invalid="ignore"):  # NaN, which is none
        whole = values.astype(np.int64)
    return whole if ((whole == values) & (whole >= least) & (whole <= most)).all() else None


def _walked(
    starts: np.ndarray, tree: np.ndarray, left: np.ndarray, right: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """(nodes in the order of a walk, number of each node in its tree by that order), the left side first.

    None unless every node comes after the one above it, and every node and leaf but the roots hangs from one.
    """
    nodes = len(tree)
    local = np.arange(nodes) - starts[tree]
    sides = [(side >= 0, side + starts[tree], ~side + starts[tree] + tree) for side in (left, right)]
    above = np.sum([np.bincount(place[inner], minlength=nodes) for inner, place, _ in sides], axis=0)
    most = nodes + len(starts) - 1
    leaves = np.sum([np.bincount(leaf[~inner], minlength=most) for inner, _, leaf in sides], axis=0)
    forward = all(((side > local) | (side < 0)).all() for side in (left, right))
    alone = np.diff(starts) == 0  # a tree of one leaf, which hangs from nothing
    hanging = np.repeat(~alone, np.diff(starts) + 1)
    if not forward or (above != (local > 0)).any() or (leaves != hanging).any():
        return None
    # One node of every tree at a time: those below it are done before it, those above it after it.
    below = np.ones(nodes + 1, dtype=np.int64)  # nodes of each subtree; the last entry is a leaf's
    below[-1] = 0
    at_left, at_right = (np.where(inner, place, nodes) for inner, place, _ in sides)
    number = np.zeros(nodes + 1, dtype=np.int64)
    by_place = np.argsort(local, kind="stable")  # the first node of every tree, the second, ...
    edges = np.concatenate([[0], np.cumsum(np.bincount(local, minlength=1))]) if nodes else np.zeros(1, dtype=np.int64)
    ranks = [by_place[first:last] for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)]
    for members in reversed(ranks):
        below[members] += below[at_left[members]] + below[at_right[members]]
    for members in ranks:
        next_number = number[members] + 1
        number[at_left[members]] = next_number
        number[at_right[members]] = next_number + below[at_left[members]]
    number = number[:nodes]
    places = np.empty(nodes, dtype=np.int64)
    places[number + starts[tree]] = np.arange(nodes)
    return places, number
