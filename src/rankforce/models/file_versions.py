"""Which version of the file format a model needs: files are of the oldest that can say what they hold.

1: everything else. 2: leaves that are float64 (``double_leaves``), which readers of version 1 would round. 3: what
categories features have, and trees that ask for sets of them, which older readers would not see.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

LATEST = 3


def oldest_version(document: dict[str, Any]) -> int:
    """The version of the file of a document as ``storage.document_of`` makes it."""
    contents = document["contents"]
    if document.get("categories") or any("subset_nodes" in tree for tree in contents.get("trees", ())):
        return 3
    own = 2 if contents.get("double_leaves") is True else 1
    return max([own, *map(oldest_version, _models_within(contents))])


def _models_within(contents: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name, part in contents.items():
        for one in part if isinstance(part, list) and name != "trees" else [part]:
            if isinstance(one, dict) and "kind" in one and "contents" in one:
                yield one
