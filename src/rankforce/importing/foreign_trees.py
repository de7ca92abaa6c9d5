"""Trees of other libraries as ours: what every format is brought to.

A reader describes the places of a tree, one at a time, as a leaf or as a split with two further places. Here they are
walked, numbered and checked; the ensemble is made of them, with where it comes from.

**Weights.** SHAP needs to know how training documents were spread over the leaves. LightGBM counts them; XGBoost keeps
sums of second derivatives and CatBoost sums of weights, which are what their own SHAP values are made with. Where all
are whole numbers they become ``leaf_documents`` as they are, else in units of 2^-20. RankLib keeps none: all are 0.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankforce.data import category_sets
from rankforce.data.categories import Categories
from rankforce.errors import ModelFileError
from rankforce.models.provenance import Provenance
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.trees.tree import Tree

WEIGHT_UNITS = 1 << 20
_LARGEST = np.float32(np.finfo(np.float32).max)
_BEYOND = np.float32(-np.inf)


@dataclasses.dataclass(frozen=True)
class ForeignLeaf:
    value: float
    weight: float = 0.0
    number: int | None = None  # what the other library calls it


@dataclasses.dataclass(frozen=True)
class ForeignSplit:
    """``x <= threshold`` goes left, or a category of a set given by its words; a missing value by ``missing_left``."""

    feature: int
    threshold: np.float32
    missing_left: bool
    left: Any
    right: Any
    gain: float = 0.0
    words: np.ndarray | None = None


@dataclasses.dataclass(frozen=True)
class ForeignTree:
    splits: list[ForeignSplit]
    children: list[tuple[int, int]]  # of each split: a later split, or ~leaf
    leaves: list[ForeignLeaf]


class FlatTrees(NamedTuple):
    """Trees one after the other, as ``TreeEnsemble`` has them; leaves not yet scaled, weights as they are written."""

    nodes: np.ndarray  # int64 (trees)
    feature: np.ndarray
    threshold: np.ndarray  # float32
    missing_left: np.ndarray
    left: np.ndarray
    right: np.ndarray
    gain: np.ndarray
    leaf_value: np.ndarray  # float64
    leaf_weight: np.ndarray


Description = Callable[[Any], ForeignLeaf | ForeignSplit]


def read_tree(root: Any, describe: Description, *, most_places: int, where: str) -> ForeignTree:
    """Walk a tree from its root, splits before their children. ``most_places`` ends the walk where places repeat."""
    splits: list[ForeignSplit] = []
    children: list[list[int]] = []
    leaves: list[ForeignLeaf] = []
    waiting: list[tuple[Any, int, int]] = [(root, -1, 0)]  # place, split above, side
    while waiting:
        place, above, side = waiting.pop()
        found = describe(place)
        if isinstance(found, ForeignLeaf):
            child = ~len(leaves)
            leaves.append(found)
        else:
            child = len(splits)
            splits.append(found)
            children.append([0, 0])
            waiting += [(found.right, child, 1), (found.left, child, 0)]
        if above >= 0:
            children[above][side] = child
        if len(splits) + len(leaves) > most_places:
            raise ModelFileError(f"{where}: nodes refer to each other in a circle, or there are more than it says")
    return _by_leaf_number(ForeignTree(splits, [(left, right) for left, right in children], leaves))


def _by_leaf_number(tree: ForeignTree) -> ForeignTree:
    """The tree with its leaves in the order of their numbers, where each has one of its own."""
    numbers = [leaf.number for leaf in tree.leaves]
    if None in numbers or sorted(numbers, key=int) != list(range(len(numbers))):  # type: ignore[arg-type]
        return tree
    order = sorted(range(len(numbers)), key=lambda place: int(numbers[place] or 0))
    place_of = {old: new for new, old in enumerate(order)}
    moved = [tuple(child if child >= 0 else ~place_of[~child] for child in pair) for pair in tree.children]
    return ForeignTree(tree.splits, [(left, right) for left, right in moved], [tree.leaves[place] for place in order])


def ensemble(
    trees: Sequence[ForeignTree],
    feature_names: Sequence[str],
    *,
    name: str,
    source: Mapping[str, Any],
    base_score: float = 0.0,
    scale: float = 1.0,
    categories: Categories | None = None,
) -> TreeEnsemble:
    """The model of these trees, their leaves times ``scale``. ``source`` says what it was read from."""
    values = np.array([leaf.value for tree in trees for leaf in tree.leaves], dtype=np.float64)
    weights = np.array([leaf.weight for tree in trees for leaf in tree.leaves], dtype=np.float64)
    values, documents, double = _leaf_columns(values, weights, scale, name)
    made, first = [], 0
    for tree in trees:
        part = slice(first, first + len(tree.leaves))
        made.append(_tree(tree, values[part], documents[part]))
        first = part.stop
    return TreeEnsemble.from_trees(
        made,
        feature_names,
        base_score=base_score,
        provenance=_provenance(source),
        double_leaves=double,
        categories=categories,
    )


def flat_ensemble(
    trees: FlatTrees,
    feature_names: Sequence[str],
    *,
    name: str,
    source: Mapping[str, Any],
    scale: float = 1.0,
    categories: Categories | None = None,
) -> TreeEnsemble:
    """As ``ensemble``, of trees that stand one after the other already."""
    values, documents, double = _leaf_columns(trees.leaf_value, trees.leaf_weight, scale, name)
    return TreeEnsemble(
        feature_names=tuple(feature_names),
        provenance=_provenance(source),
        node_starts=np.concatenate([[0], np.cumsum(trees.nodes, dtype=np.int64)]),
        feature=trees.feature,
        threshold=trees.threshold,
        missing_left=trees.missing_left,
        left=trees.left,
        right=trees.right,
        gain=trees.gain,
        leaf_value=values,
        leaf_documents=documents,
        double_leaves=double,
        categories=categories or {},
    )


def _provenance(source: Mapping[str, Any]) -> Provenance:
    return Provenance(settings={"imported": dict(source)})


def _leaf_columns(
    values: np.ndarray, weights: np.ndarray, scale: float, name: str
) -> tuple[np.ndarray, np.ndarray, bool]:
    """(values, documents, whether the values need float64) of all leaves, checked."""
    values = values * scale
    if not np.isfinite(values).all():
        raise ModelFileError(f"{name}: a leaf value is not finite")
    if not ((weights >= 0) & (weights < 2.0**42)).all():
        raise ModelFileError(f"{name}: the weight of a leaf is negative or impossibly large")
    if not (weights == np.round(weights)).all():
        weights = weights * WEIGHT_UNITS
    with np.errstate(over="ignore"):
        double = bool((values.astype(np.float32) != values).any())
    return values, np.round(weights).astype(np.int64), double


def _tree(tree: ForeignTree, values: np.ndarray, documents: np.ndarray) -> Tree:
    children = np.array(tree.children, dtype=np.int32).reshape(-1, 2)
    gains = np.array([split.gain for split in tree.splits], dtype=np.float64)
    asking = np.array([split.words is not None for split in tree.splits], dtype=np.bool_)
    starts, words = category_sets.joined([split.words for split in tree.splits if split.words is not None])
    return Tree(
        feature=np.array([split.feature for split in tree.splits], dtype=np.int32),
        threshold=np.array([split.threshold for split in tree.splits], dtype=np.float32),
        missing_left=np.array([split.missing_left for split in tree.splits], dtype=np.bool_),
        left=children[:, 0],
        right=children[:, 1],
        gain=np.where(np.isfinite(gains), gains, 0.0),
        leaf_value=values,
        leaf_documents=documents,
        subset=np.where(asking, np.cumsum(asking) - 1, -1).astype(np.int32),
        subset_starts=starts,
        subset_words=words,
    )


# --------------------------------------------------------------------------------------------------- numbers and names


def at_most(threshold: float, where: str) -> np.float32:
    """The largest float32 that is not above a threshold: float32 features then go the same way."""
    if math.isnan(threshold):
        raise ModelFileError(f"{where}: a threshold is not a number")
    if threshold >= float(_LARGEST):
        return _LARGEST  # all that is known goes left
    with np.errstate(over="ignore"):
        rounded = np.float32(threshold)
    if float(rounded) > threshold:  # as float64: NumPy would round the threshold to compare it with a float32
        rounded = np.nextafter(rounded, _BEYOND)
    return _not_lowest(rounded, where)


def at_most_all(thresholds: np.ndarray) -> np.ndarray | None:
    """``at_most`` of many thresholds, none of them NaN; None if one of them cannot be kept."""
    with np.errstate(over="ignore"):
        rounded = thresholds.astype(np.float32)
        rounded = np.where(rounded.astype(np.float64) > thresholds, np.nextafter(rounded, _BEYOND), rounded)
    rounded = np.where(thresholds >= float(_LARGEST), _LARGEST, rounded)
    return None if (rounded == _BEYOND).any() else rounded


def below(threshold: float, where: str) -> np.float32:
    """The largest float32 below a float32 threshold: ``x < threshold`` as ``x <= ...``."""
    if math.isnan(threshold):
        raise ModelFileError(f"{where}: a threshold is not a number")
    with np.errstate(over="ignore"):
        return _not_lowest(np.nextafter(np.float32(threshold), _BEYOND), where)


def _not_lowest(threshold: np.float32, where: str) -> np.float32:
    if threshold == _BEYOND:
        raise ModelFileError(f"{where}: a threshold below all float32 numbers, which nothing passes, cannot be kept")
    return threshold


def number(value: Any, what: str, where: str) -> float:
    """A finite number of a file."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ModelFileError(f"{where}: {what} must be a number")
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        raise ModelFileError(f"{where}: {what} is not finite")
    return result


def as_float32(value: Any) -> float:
    """A number rounded to float32; what is beyond becomes infinite."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def whole(value: Any, what: str, where: str, *, least: int = 0, most: int = 2**31 - 1) -> int:
    """A whole number of a file, between two others; XGBoost writes some of them as text."""
    if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) <= 10:
        value = int(value)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        raise ModelFileError(f"{where}: {what} must be a whole number from {least:,} to {most:,}")
    return int(value)


def member(values: Any, key: str, kind: type | tuple[type, ...], where: str) -> Any:
    """An entry of an object of a file."""
    if not isinstance(values, Mapping) or key not in values:
        raise ModelFileError(f"{where}: {key!r} is missing")
    if not isinstance(values[key], kind):
        raise ModelFileError(f"{where}: {key!r} is not what it should be")
    return values[key]


def own_names(names: Sequence[str], automatic: str) -> tuple[str, ...]:
    """Names of features; the numbers 1, 2, 3, ... where the other library made them up (``automatic``: Column_{})."""
    if all(name == automatic.format(place) for place, name in enumerate(names)):
        return tuple(str(place) for place in range(1, len(names) + 1))
    return tuple(names)
