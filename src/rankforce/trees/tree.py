"""One regression tree as plain arrays: NumPy alone."""

from __future__ import annotations

import dataclasses

import numpy as np

from rankforce.data import category_sets


def no_numbers() -> np.ndarray:
    """What stands for sets of categories where there are none."""
    return np.empty(0, dtype=np.int32)


@dataclasses.dataclass(frozen=True, eq=False)
class Tree:
    """A binary tree; internal nodes in order of creation, 0 is the root. A tree of one leaf has no internal node.

    Of a numeric feature, ``x <= threshold`` goes left; of a categorical one, a code that is in the set of the node. A
    missing value goes by ``missing_left``. A child c >= 0 is an internal node, c < 0 is the leaf ~c.

    Sets are bits (``data/category_sets.py``): what is beyond them, -1 and whatever is not a whole number go right. The
    threshold of a node with a set is 0 and not looked at. A tree without sets need not speak of them.
    """

    feature: np.ndarray  # int32, the number of the feature in the data
    threshold: np.ndarray  # float32
    missing_left: np.ndarray  # bool
    left: np.ndarray  # int32
    right: np.ndarray  # int32
    gain: np.ndarray  # float64, what each split gained on the training data
    leaf_value: np.ndarray  # float32
    leaf_documents: np.ndarray  # int64, training documents in each leaf
    subset: np.ndarray = dataclasses.field(default_factory=no_numbers)  # int32, which set, -1: none
    subset_starts: np.ndarray = dataclasses.field(default_factory=no_numbers)  # int64 (sets + 1,)
    subset_words: np.ndarray = dataclasses.field(default_factory=no_numbers)  # uint32

    def __post_init__(self) -> None:
        if len(self.subset) == 0:
            object.__setattr__(self, "subset", np.full(len(self.feature), -1, dtype=np.int32))
        if len(self.subset_starts) == 0:
            object.__setattr__(self, "subset_starts", np.zeros(1, dtype=np.int64))
        object.__setattr__(self, "subset_words", np.asarray(self.subset_words, dtype=np.uint32))

    @property
    def n_leaves(self) -> int:
        return len(self.leaf_value)

    @property
    def n_nodes(self) -> int:
        return len(self.feature)

    def node_words(self, node: int) -> np.ndarray:
        """The bits of the set that a node asks for: uint32."""
        number = self.subset[node]
        return self.subset_words[self.subset_starts[number] : self.subset_starts[number + 1]]

    def goes_left(self, values: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """Whether each value goes left at its node."""
        left = values <= self.threshold[nodes]
        sets = self.subset[nodes]
        if (sets >= 0).any():
            inside = category_sets.are_in(values, np.maximum(sets, 0), self.subset_starts, self.subset_words)
            left = np.where(sets >= 0, inside, left)
        return np.where(np.isnan(values), self.missing_left[nodes], left)

    def with_values(self, values: np.ndarray) -> Tree:
        """The same tree with these leaf values, rounded to float32."""
        return dataclasses.replace(self, leaf_value=np.asarray(values, dtype=np.float32))
