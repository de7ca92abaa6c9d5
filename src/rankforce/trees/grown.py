"""A tree as it was grown: its structure, the leaves of the documents, and where other documents go."""

from __future__ import annotations

import dataclasses

import numpy as np

from rankforce import dtypes
from rankforce.binning.binned import Binned
from rankforce.binning.packing import BYTE_VALUES
from rankforce.kernels.trees.partition import route_documents
from rankforce.threads import FEW_IN_A_WALK, over_queries
from rankforce.trees.tree import Tree


@dataclasses.dataclass(frozen=True, eq=False)
class Grown:
    """A tree as it was grown, before its leaves have values.

    structure : Tree
        With leaf values 0.
    leaf_of : int32 (documents,)
        The leaf of every document of the binned data, sampled or not, in ``by_query`` order.
    lower, upper : float64 (leaves,)
        What monotone constraints leave to the value of each leaf; infinite without constraints. Values clipped to
        these bounds keep every constraint.
    column, split_bin
        The splits in terms of bins.
    left_bins : bool (nodes, 256)
        Which bins a split on a categorical column sends to the left; False elsewhere.
    """

    structure: Tree
    leaf_of: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    column: np.ndarray
    split_bin: np.ndarray
    left_bins: np.ndarray

    def route(self, binned: Binned) -> np.ndarray:
        """The leaf of every document of data binned at the same thresholds: int32 (documents,)."""
        leaf_of = np.empty(binned.n_documents, dtype=dtypes.INDEX)
        self.route_into(binned, leaf_of)
        return leaf_of

    def route_into(self, binned: Binned, leaf_of: np.ndarray) -> None:
        """``route``, written into an array."""
        packing = binned.packing
        size = packing.size[self.column][:, None]
        bins = np.arange(BYTE_VALUES) // packing.stride[self.column][:, None] % size
        below = bins <= self.split_bin[:, None]
        asks_for_set = self.structure.subset >= 0
        below[asks_for_set] = np.take_along_axis(self.left_bins[asks_for_set], bins[asks_for_set], axis=1)
        sides = (below | ((bins == size - 1) & self.structure.missing_left[:, None])).astype(np.uint8)
        byte = packing.byte[self.column]

        def route(first: int, last: int) -> None:
            route_documents(
                binned.rows,
                byte,
                sides,
                self.structure.left,
                self.structure.right,
                int(binned.query_starts[first]),
                int(binned.query_starts[last]),
                leaf_of,
            )

        over_queries(binned.query_starts, route, FEW_IN_A_WALK)
