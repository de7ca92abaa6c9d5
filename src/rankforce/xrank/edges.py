"""The edges of a martingale and the bound that follows from them.

Let i ▷ j be a pair of training documents in the nodes k and l of level t, and h = 1 for a document that goes up. The
edge of (t, k, l) is the mean of h(i) − h(j) over such pairs. If all edges of level t are at least γ_t and Σ γ_t > 0,
then after L levels the share of pairs that are not in the right order is at most exp(−(Σ γ_t)² / (4L)).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from rankforce.kernels.xrank.edges import pair_edges
from rankforce.xrank.sample import Sample


@dataclasses.dataclass(frozen=True)
class LevelEdges:
    """Of one level: the least edge over the pairs of nodes that hold pairs of documents, and the mean."""

    minimum: float
    mean: float

    @classmethod
    def of(cls, sample: Sample, positions: np.ndarray, up: np.ndarray) -> LevelEdges:
        """Measured on a sample whose documents are at ``positions`` and of which some go ``up``."""
        nodes = int(positions.max()) + 1
        pairs, edges = (np.zeros((nodes, nodes), dtype=np.int64) for _ in range(2))
        pair_edges(sample.labels, positions, up, sample.starts, pairs, edges)
        there = pairs > 0
        if not there.any():
            return cls(0.0, 0.0)
        return cls(float((edges[there] / pairs[there]).min()), float(edges.sum() / pairs.sum()))


@dataclasses.dataclass(frozen=True)
class MartingaleReport:
    """What the levels of a martingale achieved on the training pairs.

    minimum, mean : γ_t as the least edge of level t, and as the mean edge
    misordered : the share of pairs whose better document is not above the worse one in the end
    bound : exp(−(Σ minimum)² / (4L)), which holds for ``misordered``; 1 where Σ minimum ≤ 0, and it says nothing
    mean_bound : the same expression of the mean edges. It is no theorem: edges of single nodes may be lower
    """

    minimum: tuple[float, ...]
    mean: tuple[float, ...]
    misordered: float
    bound: float
    mean_bound: float

    @classmethod
    def of(cls, sample: Sample, positions: np.ndarray, levels: Sequence[LevelEdges]) -> MartingaleReport:
        """Of a martingale whose levels brought the documents to ``positions``."""
        nodes = int(positions.max()) + 1
        pairs, edges = (np.zeros((nodes, nodes), dtype=np.int64) for _ in range(2))
        pair_edges(sample.labels, positions, np.zeros(len(positions), dtype=bool), sample.starts, pairs, edges)
        total = int(pairs.sum())
        right = int(np.triu(pairs, k=1).sum())
        minimum, mean = tuple(level.minimum for level in levels), tuple(level.mean for level in levels)
        return cls(minimum, mean, (total - right) / max(total, 1), _bound(minimum), _bound(mean))


def _bound(edges: Sequence[float]) -> float:
    total = math.fsum(edges)
    return math.exp(-(total**2) / (4 * len(edges))) if total > 0 else 1.0
