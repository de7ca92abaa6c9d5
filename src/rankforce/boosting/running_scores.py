"""The scores of a data set while trees are added to a model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankforce import dtypes
from rankforce.data.dataset import Dataset
from rankforce.kernels.trees.leaves import add_leaf_values
from rankforce.models.expected_grade import GradeLink
from rankforce.threads import FEW_IN_A_PASS, over_queries
from rankforce.training.monitor import Followed
from rankforce.training.monitoring import Watched
from rankforce.trees.tree import Tree


class RunningScores(Followed):
    """The scores of a data set while trees are added, its ranking by them, and the watched measure.

    Everything is in ``by_query`` order. ``outputs`` (outputs, documents) are the sums of trees; ``scores`` is the
    only output, or what the link makes of several.
    """

    def __init__(
        self, data: Dataset, base: np.ndarray, watched: Watched, seed: int, link: GradeLink | None = None
    ) -> None:
        super().__init__(data, watched, seed)
        self.link = link
        self.outputs = np.empty(base.shape, dtype=dtypes.SCORE)
        self.restart(base)

    def restart(self, outputs: np.ndarray) -> None:
        """Go on from other outputs, given by row."""
        for mine, given in zip(self.outputs, outputs, strict=True):
            mine[:] = self.data.by_query(given)
        self._rank()

    def add(self, trees: Sequence[Tree], leaves: Sequence[np.ndarray]) -> None:
        """Add one tree to every output; the leaf of every document is known."""
        added = list(zip(self.outputs, trees, leaves, strict=True))
        starts, ranking = self.ranking.starts, self.ranking

        def add(first: int, last: int) -> None:
            for output, tree, leaf_of in added:
                add_leaf_values(tree.leaf_value, leaf_of, int(starts[first]), int(starts[last]), output)
            if self.link is None:  # while the scores are in the cache
                ranking.update_some(self.outputs[0], first, last)

        over_queries(starts, add, FEW_IN_A_PASS)
        if self.link is None:
            self.scores, self.order = self.outputs[0], ranking.order
        else:
            self._rank()

    def value_with(self, tree: Tree, leaf_of: np.ndarray) -> float:
        """The watched measure if this tree were added to the only output; nothing is added."""
        return self.watched.mean(self.ranking.of(self.outputs[0] + tree.leaf_value[leaf_of]))

    def _rank(self) -> None:
        self.rank(self.outputs[0] if self.link is None else self.link.scores(self.outputs))
