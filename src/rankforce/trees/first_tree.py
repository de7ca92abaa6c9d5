"""The kernel that grows trees, compiled in another process before the first tree wants it."""

from __future__ import annotations

import numpy as np

from rankforce import dtypes
from rankforce.binning.binned import WORD, Binned
from rankforce.binning.binning import BEYOND, Binning
from rankforce.binning.packing import Packing
from rankforce.compiling.background import compile_meanwhile
from rankforce.kernels.trees.leafwise import grow_tree
from rankforce.kernels.trees.quantised import pack_entries
from rankforce.kernels.trees.symmetric import grow_symmetric_tree
from rankforce.threads import thread_count, using_threads
from rankforce.trees.grower import Grower
from rankforce.trees.quantised import Scales

NUMBERS, CATEGORIES = "numbers", "categories"  # kernels are compiled for data with categories apart


def expect_first_tree(growth: str, categorical: bool = False) -> None:
    """Have the kernel that will grow trees compiled meanwhile, if there is a second processor for it."""
    if thread_count() < 2:
        return
    kernel = grow_tree if growth == "leafwise" else grow_symmetric_tree
    compile_meanwhile(kernel, pack_entries, grow_first_tree, growth, CATEGORIES if categorical else NUMBERS)


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
    with using_threads(1):
        grower.split_leaves(grower.begin(), Scales(32, 0, 0))
