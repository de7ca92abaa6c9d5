"""One regression tree as plain arrays: NumPy alone."""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True, eq=False)
class Tree:
    """A binary tree; internal nodes in order of creation, 0 is the root. A tree of one leaf has no internal node.

    ``x <= threshold`` goes left, a missing value by ``missing_left``. A child c >= 0 is an internal node, c < 0 is
    the leaf ~c.
    """

    feature: np.ndarray  # int32, the number of the feature in the data
    threshold: np.ndarray  # float32
    missing_left: np.ndarray  # bool
    left: np.ndarray  # int32
    right: np.ndarray  # int32
    gain: np.ndarray  # float64, what each split gained on the training data
    leaf_value: np.ndarray  # float32
    leaf_documents: np.ndarray  # int64, training documents in each leaf

    @property
    def n_leaves(self) -> int:
        return len(self.leaf_value)

    @property
    def n_nodes(self) -> int:
        return len(self.feature)

    def with_values(self, values: np.ndarray) -> Tree:
        """The same tree with these leaf values, rounded to float32."""
        return dataclasses.replace(self, leaf_value=np.asarray(values, dtype=np.float32))
