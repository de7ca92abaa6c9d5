"""The sets of categories that nodes of an ensemble ask for: gathered from trees, cut out again, and in files.

In an ensemble every such node has a set of its own, and sets follow the order of the nodes.

In a file, a tree that asks for sets has three more lists: ``subset_nodes``, the nodes that do, rising;
``subset_sizes``, how many words the set of each has; ``subset_words``, these words (``data/category_sets.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankforce.data import category_sets
from rankforce.errors import DataError
from rankforce.trees.tree import Tree

if TYPE_CHECKING:
    from rankforce.models.tree_ensemble import TreeEnsemble

SET_FIELDS: dict[str, Any] = {"subset": np.int32, "subset_starts": np.int64, "subset_words": np.uint32}
FILE_FIELDS: dict[str, Any] = {"subset_nodes": np.int32, "subset_sizes": np.int64, "subset_words": np.uint32}


class SetLists(NamedTuple):
    """The three lists of a file for all trees, one after the other, and how long they are in each tree."""

    nodes: np.ndarray
    sizes: np.ndarray
    words: np.ndarray
    counts: np.ndarray  # int64 (trees, 3)


def of_trees(trees: Sequence[Tree]) -> dict[str, np.ndarray]:
    """The sets of these trees as those of an ensemble."""
    for tree in trees:
        _check(tree)
    asking = np.concatenate([np.empty(0, dtype=bool), *(tree.subset >= 0 for tree in trees)])
    sets = [tree.node_words(node) for tree in trees for node in np.flatnonzero(tree.subset >= 0).tolist()]
    starts, words = category_sets.joined(sets)
    return {"subset": _numbers(asking), "subset_starts": starts, "subset_words": words}


def of_range(model: TreeEnsemble, first_tree: int, last_tree: int) -> dict[str, np.ndarray]:
    """The sets of some trees of an ensemble, one after the other, as those of an ensemble of them."""
    asking = model.subset[model.node_starts[first_tree] : model.node_starts[last_tree]] >= 0
    if not asking.any():
        return {"subset": _numbers(asking), "subset_starts": np.zeros(1, dtype=np.int64), "subset_words": _NO_WORDS}
    starts = model.subset_starts[model.set_starts[first_tree] : model.set_starts[last_tree] + 1]
    words = model.subset_words[starts[0] : starts[-1]]
    return {"subset": _numbers(asking), "subset_starts": starts - starts[0], "subset_words": words}


def of_nodes(model: TreeEnsemble, chosen: np.ndarray) -> dict[str, np.ndarray]:
    """The sets of some nodes of an ensemble, given by a mask, as those of an ensemble of them."""
    numbers = model.subset[chosen]
    starts = model.subset_starts
    sets = [model.subset_words[starts[number] : starts[number + 1]] for number in numbers[numbers >= 0]]
    starts, words = category_sets.joined(sets)
    return {"subset": _numbers(numbers >= 0), "subset_starts": starts, "subset_words": words}


def asked_categories(model: TreeEnsemble) -> Iterator[tuple[str, np.ndarray]]:
    """Of every feature that sets are asked of, its name and the codes that any of them has."""
    for place, name in enumerate(model.feature_names):
        numbers = model.subset[(model.subset >= 0) & (model.feature == place)].tolist()
        if numbers:
            starts = model.subset_starts
            sets = [category_sets.categories_of(model.subset_words[starts[one] : starts[one + 1]]) for one in numbers]
            yield name, np.array(sorted({code for codes in sets for code in codes.tolist()}), dtype=np.int64)


def written(model: TreeEnsemble, number: int) -> dict[str, list[int]]:
    """What the file says about the sets of a tree; nothing where there are none."""
    if model.set_starts[number] == model.set_starts[number + 1]:
        return {}
    sets = of_range(model, number, number + 1)
    lists = (np.flatnonzero(sets["subset"] >= 0), np.diff(sets["subset_starts"]), sets["subset_words"])
    return {name: values.tolist() for name, values in zip(FILE_FIELDS, lists, strict=True)}


def lists_of_records(records: Sequence[dict[str, Any]], column: Any, error: Any) -> SetLists:
    """The lists of a file, taken out of the records of its trees.

    ``column(records, name, dtype)`` reads the lists of one name; ``error`` makes the exception of a problem.
    """
    parts: list[dict[str, Any]] = []
    for number, record in enumerate(records):
        said = [name for name in FILE_FIELDS if name in record]
        if said and len(said) < len(FILE_FIELDS):
            raise error(f"tree {number} must have all of {', '.join(FILE_FIELDS)}, or none")
        parts.append({name: record.pop(name) if said else [] for name in FILE_FIELDS})
    nodes, sizes, words = (column(parts, name, dtype) for name, dtype in FILE_FIELDS.items())
    counts = [[len(part[name]) for name in FILE_FIELDS] for part in parts]
    return SetLists(nodes, sizes, words, np.array(counts, dtype=np.int64).reshape(-1, len(FILE_FIELDS)))


def of_lists(lists: SetLists, node_starts: np.ndarray, error: Any) -> dict[str, np.ndarray]:
    """The sets of an ensemble out of the lists of its file. ``error`` makes the exception of a problem."""
    asking = np.zeros(int(node_starts[-1]), dtype=bool)
    tree = np.repeat(np.arange(len(node_starts) - 1), lists.counts[:, 0])
    places = node_starts[tree] + lists.nodes
    outside = (lists.nodes < 0) | (places >= node_starts[tree + 1])
    if outside.any() or (np.diff(places) <= 0).any() or (lists.sizes < 0).any():
        raise error("the nodes that ask for sets of categories must be nodes of their tree, and rise")
    # sizes are checked before they are added: what is beyond all words could overflow
    too_long = len(lists.sizes) > 0 and int(lists.sizes.max()) > len(lists.words)
    if too_long or (lists.counts[:, 0] != lists.counts[:, 1]).any():
        raise error("every node that asks for a set of categories must say how many words it has")
    if (np.bincount(tree, weights=lists.sizes, minlength=len(lists.counts)) != lists.counts[:, 2]).any():
        raise error("the words of the sets of categories are not as many as their sizes say")
    asking[places] = True
    starts = np.concatenate([[0], np.cumsum(lists.sizes, dtype=np.int64)])
    return {"subset": _numbers(asking), "subset_starts": starts, "subset_words": lists.words}


_NO_WORDS = np.empty(0, dtype=np.uint32)


def _numbers(asking: np.ndarray) -> np.ndarray:
    return np.where(asking, np.cumsum(asking) - 1, -1).astype(np.int32)


def _check(tree: Tree) -> None:
    """Raise unless the sets of a tree can be taken out of it."""
    starts, sets = tree.subset_starts, len(tree.subset_starts) - 1
    if tree.subset.shape != tree.feature.shape or (tree.subset >= sets).any():
        raise DataError(f"a tree of {tree.n_nodes} nodes and {sets} sets of categories must say which node asks which")
    if starts[0] != 0 or (np.diff(starts) < 0).any() or starts[-1] != len(tree.subset_words):
        raise DataError("the words of the sets of a tree must be given by where each set begins")
