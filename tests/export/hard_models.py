"""Models and rows on which an export can go wrong, made by hand and at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.models.bagged import Bagged
from rankforce.models.combination import Combination
from rankforce.models.dag import RankingGraph
from rankforce.models.model import Model
from rankforce.models.net import Net
from rankforce.models.net_layout import Layout
from rankforce.models.net_scaling import Scaling
from rankforce.models.perceptron import Perceptron
from rankforce.models.provenance import Provenance
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.trees.tree import Tree

LARGEST = np.finfo(np.float32).max
SMALLEST = np.float32(1e-45)
NAMES = ("bm25", "titel, größe", "age", "clicks", "1")

# Zeros of both signs, numbers without a neighbour of their own size, Solr's slack, the ends of float32.
BESIDE = np.nextafter(np.float32(-0.015625), np.float32(0))
HARD = np.array(
    [0.0, -0.0, SMALLEST, -SMALLEST, 1.2e-38, 1e-10, -3e-8, 1e-6, -1e-6, 3.3e-6, -0.015625, BESIDE, 0.1, 0.5, -0.5, 1.0,
     -7.25, 16.0, 31.99, 65504.0, 1e7, 16777216.0, -1e20, 1e30, LARGEST],
    dtype=np.float32,
)  # fmt: skip
# Solr's slack can be scaled away only where sizes differ by less than 2^120.
MILDER = HARD[((np.abs(HARD) > 1e-20) & (np.abs(HARD) < 1e10)) | (HARD == 0) | (HARD == LARGEST)]

RANGE = {"feature_lows": (-1.0,) * len(NAMES), "feature_highs": (1.0,) * len(NAMES)}
KNOWN = Provenance(missing_shares=(0.0,) * len(NAMES), **RANGE)
HOLED = Provenance(missing_shares=(0.25,) * len(NAMES), **RANGE)


def random_tree(seed: int, leaves: int, thresholds: np.ndarray = HARD, n_features: int = len(NAMES)) -> Tree:
    """A tree of any shape: a leaf at random becomes a node until there are enough."""
    drawn = np.random.default_rng(seed)
    left, right = [], []
    places = [(-1, 0)]  # leaves: parent, side
    for node in range(leaves - 1):
        parent, side = places.pop(int(drawn.integers(len(places))))
        if parent >= 0:
            (left, right)[side][parent] = node
        left.append(0)
        right.append(0)
        places += [(node, 0), (node, 1)]
    for leaf, (parent, side) in enumerate(places):
        if parent >= 0:
            (left, right)[side][parent] = ~leaf
    nodes = leaves - 1
    return Tree(
        feature=drawn.integers(0, n_features, nodes).astype(np.int32),
        threshold=drawn.choice(thresholds, nodes).astype(np.float32),
        missing_left=drawn.random(nodes) < 0.5,
        left=np.array(left, dtype=np.int32),
        right=np.array(right, dtype=np.int32),
        gain=drawn.random(nodes),
        leaf_value=drawn.normal(size=leaves).astype(np.float32),
        leaf_documents=drawn.integers(1, 50, leaves),
    )


def trees(seed: int = 0, thresholds: np.ndarray = HARD, provenance: Provenance = HOLED, **more: Any) -> TreeEnsemble:
    """Random trees, one of a single leaf among them."""
    made = [random_tree(100 * seed + number, leaves, thresholds) for number, leaves in enumerate((12, 1, 9, 9, 9, 9))]
    return TreeEnsemble.from_trees(made, NAMES, provenance=provenance, **more)


def chain(levels: int) -> TreeEnsemble:
    """A tree as deep as it has leaves."""
    tree = Tree(
        feature=np.arange(levels, dtype=np.int32) % len(NAMES),
        threshold=np.linspace(-1, 1, levels, dtype=np.float32),
        missing_left=np.arange(levels) % 3 == 0,
        left=np.arange(-1, -levels - 1, -1, dtype=np.int32),
        right=np.append(np.arange(1, levels), ~levels).astype(np.int32),
        gain=np.ones(levels),
        leaf_value=np.linspace(-2, 2, levels + 1, dtype=np.float32),
        leaf_documents=np.ones(levels + 1, dtype=np.int64),
    )
    return TreeEnsemble.from_trees([tree], NAMES, provenance=HOLED)


def graph(seed: int = 6, thresholds: np.ndarray = HARD, tests: int = 9, places: int = 5) -> RankingGraph:
    """A graph with tests that have several parents."""
    drawn = np.random.default_rng(seed)

    def side() -> np.ndarray:
        later = [int(drawn.integers(test + 1, tests)) if test + 1 < tests else -1 for test in range(tests)]
        return np.where(drawn.random(tests) < 0.6, later, ~drawn.integers(0, places, tests)).astype(np.int32)

    left, right = side(), side()
    left[-1], right[-1] = ~0, ~(places - 1)
    return RankingGraph(
        feature_names=NAMES,
        provenance=HOLED,
        feature=drawn.integers(0, len(NAMES), tests),
        threshold=drawn.choice(thresholds, tests),
        missing_left=drawn.random(tests) < 0.5,
        left=left,
        right=right,
        gain=np.ones(tests),
        documents=drawn.integers(1, 9, places),
    )


def net(hidden: int, kind: str = "standard", provenance: Provenance = KNOWN) -> Net:
    drawn = np.random.default_rng(hidden)
    scaling = Scaling(kind, drawn.normal(size=len(NAMES)), drawn.random(len(NAMES)) + 0.1)
    weights = drawn.normal(size=Layout(len(NAMES), hidden).size)
    return Net(feature_names=NAMES, scaling=scaling, hidden=hidden, weights=weights, provenance=provenance)


def perceptron(kernel: str = "linear", provenance: Provenance = KNOWN) -> Perceptron:
    drawn = np.random.default_rng(3)
    size = len(NAMES) if kernel == "linear" else (len(NAMES) + 1) * (len(NAMES) + 2) // 2
    return Perceptron(
        feature_names=NAMES,
        provenance=provenance,
        kernel=kernel,
        means=drawn.normal(size=len(NAMES)),
        deviations=drawn.random(len(NAMES)) + 0.1,
        weights=drawn.normal(size=size),
        thresholds=np.array([0.0]),
        grades=np.array([0.0, 1.0]),
    )


def sums_of_trees(hard: np.ndarray = HARD) -> dict[str, Model]:
    """Models of every kind that is a sum of trees."""
    two = TreeEnsemble.from_trees([random_tree(8, 6, hard, n_features=2)], (NAMES[3], NAMES[0]), base_score=2.0)
    return {
        "trees": trees(0, hard),
        "with a base score": trees(1, hard, base_score=-3.7),
        "on a base model": trees(2, hard, base_model=trees(3, hard, base_score=0.3)),
        "other features": TreeEnsemble.from_trees([random_tree(5, 7, hard)], NAMES, provenance=HOLED, base_model=two),
        "bagged": Bagged.of(trees(4, hard), trees(5, hard, base_score=1.0), trees(6, hard), provenance=HOLED),
        "combined": Combination.of([trees(7, hard), graph(1, hard)], [0.3, -1.7], provenance=HOLED),
        "graph": graph(6, hard),
        "chain": chain(60),
        "no trees": TreeEnsemble.from_trees([], NAMES, base_score=0.25, provenance=HOLED),
    }


def hard_rows(count: int = 300, seed: int = 0, missing: bool = True) -> np.ndarray:
    """Rows of hard values and their neighbours, missing ones among them: float32."""
    drawn = np.random.default_rng(seed)
    values = drawn.choice(np.append(HARD[:-1], np.float32(-1e30)), (count, len(NAMES)))
    towards = drawn.choice(np.array([-np.inf, np.inf], dtype=np.float32), values.shape)
    rows = np.where(drawn.random(values.shape) < 0.5, values, np.nextafter(values, towards))
    rows[drawn.random(values.shape) < (0.2 if missing else 0.0)] = np.nan
    return rows.astype(np.float32)
