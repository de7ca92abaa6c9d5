"""Trees as nested text, written without recursion: trees that grew leaf by leaf may be hundreds of levels deep."""

from __future__ import annotations

from collections.abc import Callable

from rankforce.errors import SettingsError
from rankforce.export.forms import AdditiveTrees, ScaledTree

# What comes before a node's left child, between its children, and after its right one; then the text of a leaf.
NodeText = Callable[[int, int], tuple[str, str, str]]
LeafText = Callable[[int, int], str]


def nested(tree: ScaledTree, node_text: NodeText, leaf_text: LeafText) -> str:
    """The text of a tree; texts of nodes and leaves are asked for by (number, depth)."""
    parts: list[str] = []
    waiting: list[tuple[int, int] | str] = [(tree.root, 0)]
    while waiting:
        top = waiting.pop()
        if isinstance(top, str):
            parts.append(top)
            continue
        child, depth = top
        if child < 0:
            parts.append(leaf_text(~child, depth))
            continue
        before, between, after = node_text(child, depth)
        parts.append(before)
        waiting += [
            after,
            (int(tree.right[child]), depth + 1),
            between,
            (int(tree.left[child]), depth + 1),
        ]
    return "".join(parts)


def depth_of(tree: ScaledTree) -> int:
    """The number of questions on the longest way."""
    depths = [0] * tree.n_nodes
    deepest = 0
    for node in range(tree.n_nodes):
        deepest = max(deepest, depths[node] + 1)
        for child in (tree.left[node], tree.right[node]):
            if child >= 0:
                depths[child] = depths[node] + 1
    return deepest


def refuse_depth(form: AdditiveTrees, most: int, engine: str) -> None:
    """Raise if a tree is deeper than the parser of an engine allows."""
    for number, tree in enumerate(form.trees):
        depth = depth_of(tree)
        if depth > most:
            raise SettingsError(
                f"tree {number} is {depth} levels deep, and the JSON parser of {engine} stops at {most}: train with a "
                "lower max_depth, or export as 'ranklib'"
            )
