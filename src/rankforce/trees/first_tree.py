"""The kernel that grows trees, compiled in another process before the first tree wants it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankforce import dtypes
from rankforce.binning.binned import WORD, Binned
from rankforce.binning.binning import BEYOND, Binning
from rankforce.binning.packing import Packing
from rankforce.collective import ALONE, using_collective
from rankforce.compiling.background import compile_meanwhile
from rankforce.kernels.trees.leafwise import grow_tree
from rankforce.kernels.trees.leaves import add_leaf_values, mark_leaves
from rankforce.kernels.trees.quantised import pack_entries
from rankforce.kernels.trees.symmetric import grow_symmetric_tree
from rankforce.threads import thread_count, using_threads
from rankforce.trees.grower import Grower
from rankforce.trees.leaves import leaf_sums
from rankforce.trees.quantised import Scales

NUMBERS, CATEGORIES = "numbers", "categories"  # kernels are compiled for data with categories apart


def expect_first_tree(growth: str, *, categorical: bool = False, then: Callable[[], object] = lambda: None) -> None:
    """Have the kernel that will grow trees compiled meanwhile, if there is a second processor for it.

    When the first tree has to wait for it, ``then`` and the kernels that follow a tree are called, to be compiled.
    """
    if thread_count() < 2:
        return
    kernel = grow_tree if growth == "leafwise" else grow_symmetric_tree

    def before_waiting() -> None:
        # Whether a member waits depends on its own cache: others may not, and would not know what they are asked.
        with using_threads(1), using_collective(ALONE):
            call_what_follows()
            then()

    features = CATEGORIES if categorical else NUMBERS
    compile_meanwhile(kernel, pack_entries, grow_first_tree, growth, features, before_waiting=before_waiting)


def call_what_follows() -> None:
    """Call the kernels that every tree needs once it is grown, with two documents in one leaf."""
    documents, leaf_of = np.arange(2, dtype=dtypes.INDEX), np.zeros(2, dtype=dtypes.INDEX)
    mark_leaves(documents, np.zeros(1, dtype=np.int64), np.full(1, 2, dtype=np.int64), 0, 2, leaf_of)
    leaf_sums(leaf_of, 1, np.zeros(2), np.zeros(2))
    add_leaf_values(np.zeros(1, dtype=dtypes.LEAF), leaf_of, 0, 2, np.zeros(2, dtype=dtypes.SCORE))


def grow_first_tree(growth: str, features: str = NUMBERS) -> None:
    """Grow a tree on two documents, whose bins and entries were not computed: no other kernel is called."""
    binning = Binning(
        features=np.zeros(1, dtype=dtypes.INDEX),
        n_bins=np.full(1, 2, dtype=dtypes.INDEX),
        cut_starts=np.array([0, 2], dtype=dtypes.OFFSET),
        thresholds=np.array([0.0, BEYOND], dtype=dtypes.FEATURE),
        n_features=1,
        category_bins={0: np.zeros(1, dtype=dtypes.BIN)} if features == CATEGORIES else {},
    )
    binned = Binned(
        binning,
        Packing.of(binning.n_bins),
        rows=np.zeros((2, WORD), dtype=dtypes.BIN),
        columns=np.zeros((1, 2), dtype=dtypes.BIN),
        query_starts=np.array([0, 2], dtype=dtypes.OFFSET),
        query_hashes=np.zeros(1, dtype=np.uint64),
    )
    grower = Grower(binned, n_leaves=2, growth=growth, min_documents=1)
    work = grower.begin()
    work.documents[:] = 0, 1
    with using_threads(1):
        grower.split_leaves(work, Scales(32, 0, 0))
