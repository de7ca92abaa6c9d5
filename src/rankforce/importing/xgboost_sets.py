"""Lists of numbers, sets of categories and their names in XGBoost's own format."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.data.categories import Category
from rankforce.errors import ModelFileError
from rankforce.importing.foreign_categories import named_categories, set_of_codes
from rankforce.importing.foreign_trees import member, whole

_LISTS = ("categories", "categories_nodes", "categories_segments", "categories_sizes")


def node_sets(tree: Mapping[str, Any], nodes: int, where: str) -> dict[int, np.ndarray]:
    """The words of the sets that nodes ask for: those categories go right."""
    lists = {key: _whole_numbers(tree.get(key), key, where) for key in _LISTS}
    asking = [int(node) for node in lists["categories_nodes"]]
    types = column_of(tree, "split_type", nodes, where) if "split_type" in tree else np.zeros(nodes)
    if sorted(asking) != np.flatnonzero(types == 1).tolist() or not ((types == 0) | (types == 1)).all():
        raise ModelFileError(f"{where}: 'categories_nodes' must name the nodes whose 'split_type' is 1")
    segments, sizes = lists["categories_segments"], lists["categories_sizes"]
    if not len(asking) == len(segments) == len(sizes):
        raise ModelFileError(f"{where}: every set of categories must have a beginning and a size")
    sets = {}
    for node, first, size in zip(asking, segments.tolist(), sizes.tolist(), strict=True):
        if first + size > len(lists["categories"]):
            raise ModelFileError(f"{where}, node {node}: a set of categories outside of 'categories'")
        sets[node] = set_of_codes(lists["categories"][first : first + size].tolist(), f"{where}, node {node}")
    return sets


def _whole_numbers(values: Any, key: str, where: str) -> np.ndarray:
    values = [] if values is None else values
    if not isinstance(values, (list, np.ndarray)):
        raise ModelFileError(f"{where}: {key!r} must be a list")
    numbers = [whole(int(one) if isinstance(one, np.integer) else one, key, where) for one in values]
    return np.array(numbers, dtype=np.int64)


def categories_of(model: Mapping[str, Any], names: Sequence[str], where: str) -> dict[str, tuple[Category, ...]]:
    """The names of categories, of features that have them: text as bytes with offsets, or numbers."""
    given = model.get("cats")
    if not isinstance(given, Mapping) or given.get("enc") is None or len(given["enc"]) == 0:
        return {}
    lists = member(given, "enc", list, where)
    if len(lists) != len(names):
        raise ModelFileError(f"{where}: there are categories of {len(lists)} features, not of {len(names)}")
    found = {name: _names_of(one, where) for name, one in zip(names, lists, strict=True)}
    return named_categories(
        [values for values in found.values() if values], [name for name, values in found.items() if values], where
    )


def _names_of(given: Any, where: str) -> list[Any]:
    values = member(given, "values", (list, np.ndarray), where)
    if "offsets" not in given:
        return list(values)
    offsets = [
        whole(one, "offsets", where, most=len(values)) for one in member(given, "offsets", (list, np.ndarray), where)
    ]
    text = bytes(whole(int(one), "values", where, least=-128, most=255) % 256 for one in values)
    if not text.isascii():  # it counts characters, and takes them for bytes: 3.2 does
        raise ModelFileError(f"{where}: XGBoost writes names of categories beyond ASCII incompletely: train on numbers")
    return [text[first:last].decode() for first, last in itertools.pairwise(offsets)]


def column_of(tree: Mapping[str, Any], key: str, nodes: int, where: str) -> np.ndarray:
    """A list of numbers, one per node, as XGBoost holds them: float32 where they are not whole."""
    values = tree.get(key)
    if not isinstance(values, (list, np.ndarray)) or len(values) != nodes:
        raise ModelFileError(f"{where}: {key!r} must be a list of {nodes} numbers")
    if isinstance(values, list) and not {int, float, bool}.issuperset(map(type, values)):
        raise ModelFileError(f"{where}: {key!r} holds something that is not a number")
    try:
        with np.errstate(over="ignore"):
            column = np.array(values, dtype=np.float64).astype(np.float32)
    except (OverflowError, ValueError):
        raise ModelFileError(f"{where}: {key!r} holds a number that is too large") from None
    if key in ("split_conditions", "sum_hessian", "loss_changes"):
        return column.astype(np.float64)
    if not np.isfinite(column).all():
        raise ModelFileError(f"{where}: {key!r} must hold whole numbers")
    exact = np.array(values, dtype=np.float64)
    if not (exact == np.floor(exact)).all():
        raise ModelFileError(f"{where}: {key!r} must hold whole numbers")
    return exact
