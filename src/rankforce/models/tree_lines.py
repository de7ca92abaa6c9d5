"""The lines of trees in a model file, read by a kernel, where that is worth it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rankforce.compiling import jit
from rankforce.models import compiled_trees

if TYPE_CHECKING:
    from rankforce.kernels.tree_text import LineForm

MOST_HARD = 4096  # numbers that Python reads: rare, unless somebody has written the file by other rules

# Bytes that take as long without the kernel as loading it from disk, as loading Numba, and as compiling it.
WORTH_THE_KERNEL = 2**19
WORTH_NUMBA = 2**25
WORTH_COMPILING = 2**27


def _kernel() -> jit.Kernel:
    from rankforce.kernels.tree_text import read_tree_lines

    made: jit.Kernel = read_tree_lines
    return made


def worth_it(size: int, kernel: Callable[[], jit.Kernel] = _kernel) -> bool:
    """Whether a text of this many bytes is read sooner by a kernel, with all that has to come before."""
    if not (jit.is_loaded() or (size >= WORTH_NUMBA and compiled_trees.available())):
        return False
    reads = kernel()
    return reads.compiled or (size >= WORTH_THE_KERNEL and (reads.is_on_disk or size >= WORTH_COMPILING))


def compile_reading() -> None:
    """Have the kernel compiled, or loaded from disk."""
    read(b'{"n": [1], "x": [0.5]}\n', 0, 22, {"n": np.int64, "x": np.float64}, {})


def read(
    data: bytes, start: int, limit: int, dtypes: Mapping[str, Any], leaf_fields: Mapping[str, Any]
) -> tuple[dict[str, np.ndarray], list[int], int] | None:
    """(columns, nodes of each tree, where they end) of the lines from ``start``; None unless written as ours are.

    Before ``limit`` they end: there is room for what can stand so far.

    Columns are float64 or int64, whole numbers of any size.
    """
    from rankforce.kernels import tree_text as kernels

    if start >= limit or not data.endswith(b"\n"):
        return None
    form = _form(tuple(dtypes.items()), tuple(leaf_fields))
    kinds = form.kinds.tolist()
    floats = kinds.count(kernels.FLOATS)
    places = (limit - start) // (2 * len(dtypes)) + 1  # a number and a comma for each list
    trees = (limit - start) // int(form.mark_starts[len(dtypes) + 1]) + 1  # what stands around the numbers
    lists = kernels.TreeLists(
        wholes=np.empty((len(kinds) - floats, places), dtype=np.int64),
        floats=np.empty((floats, places)),
        nodes=np.empty(trees, dtype=np.int64),
        hard=np.empty((MOST_HARD, kernels.HARD_ENTRIES), dtype=np.int64),
        counts=np.zeros(2, dtype=np.int64),
    )
    end = kernels.read_tree_lines(np.frombuffer(data, dtype=np.uint8), start, form, lists)
    if end == kernels.NOT_READ:
        return None
    count, hards = lists.counts.tolist()
    for row, place, begin, behind in lists.hard[:hards].tolist():
        lists.floats[row, place] = float(data[begin:behind])
    nodes = lists.nodes[:count].tolist()
    rows = {False: iter(lists.wholes), True: iter(lists.floats)}
    total = sum(nodes)
    columns = {
        name: next(rows[kind == kernels.FLOATS])[: total + count * (name in leaf_fields)]
        for name, kind in zip(dtypes, kinds, strict=True)
    }
    return columns, nodes, end


@functools.cache
def _form(dtypes: tuple[tuple[str, Any], ...], leaf_fields: tuple[str, ...]) -> LineForm:
    from rankforce.kernels import tree_text as kernels

    kinds = {"f": kernels.FLOATS, "b": kernels.TRUTHS, "i": kernels.WHOLES, "u": kernels.WHOLES}
    before = [("], " if place else "{") + f'"{name}": [' for place, (name, _) in enumerate(dtypes)]
    marks = [*before, "]}", "true", "false"]
    return kernels.LineForm(
        marks=np.frombuffer(bytearray("".join(marks).encode()), dtype=np.uint8),
        mark_starts=np.concatenate([[0], np.cumsum([len(mark) for mark in marks])]),
        kinds=np.array([kinds[np.dtype(dtype).kind] for _, dtype in dtypes], dtype=np.int64),
        on_leaves=np.array([name in leaf_fields for name, _ in dtypes], dtype=np.int64),
    )
