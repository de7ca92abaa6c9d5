"""Names of features in the order of an engine's feature set.

The order counts: some formats of models name a feature by its place in the set.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rankforce.data.dataset_columns import refuse_long_names
from rankforce.data.feature_logs.json_nodes import JsonNode
from rankforce.data.feature_logs.responses import text_lines
from rankforce.errors import DataError
from rankforce.files.streams import file_name
from rankforce.kinds import shown

_WANTED = (
    "a feature set is a list of names, a model, or a file: the feature set of Elasticsearch or OpenSearch, the feature "
    "store of Solr (both JSON), or one name per line"
)


def feature_set_names(given: Any) -> tuple[str, ...]:
    """The names of a feature set, in its order: from a list, a file, JSON that was read already, a model or data."""
    if isinstance(given, (str, os.PathLike)):
        names = _from_file(Path(file_name(given)))
    elif hasattr(given, "feature_names"):
        names = given.feature_names
    elif isinstance(given, Mapping):
        names = _from_json(JsonNode(given, key="feature set"))
    else:
        names = given
    return _checked(names)


def _checked(names: Any) -> tuple[str, ...]:
    if isinstance(names, bytes) or not isinstance(names, Iterable) or getattr(names, "ndim", 1) != 1:
        raise DataError(f"{_WANTED}, not {shown(names)}")
    listed = list(names)
    for name in listed:
        if not isinstance(name, str) or not name:
            raise DataError(f"the name of a feature is text, not {shown(name)}")
    if not listed:
        raise DataError("a feature set needs at least one feature")
    refuse_long_names(listed, "feature")
    twice, count = Counter(listed).most_common(1)[0]
    if count > 1:
        raise DataError(f"two features of the feature set are named {twice!r}")
    return tuple(map(str, listed))


def _from_file(path: Path) -> list[str]:
    lines = [text for _, text in text_lines(path)]
    whole = "".join(lines)
    if not whole.lstrip().startswith(("{", "[")):
        return [line.strip() for line in lines]
    try:
        value = json.loads(whole)
    except (ValueError, RecursionError) as error:
        JsonNode(None, str(path), key="feature set").fail(f"not JSON: {error}", _WANTED)
    return _from_json(JsonNode(value, str(path), key="feature set"))


def _from_json(node: JsonNode) -> list[str]:
    """``{"featureset": {"features": [{"name": ...}]}}``, also as it comes back from the engine, or the bare list."""
    while isinstance(node.value, Mapping):
        inner = next((key for key in ("_source", "featureset", "features") if key in node.value), None)
        if inner is None:
            node.fail("there are no 'features'", _WANTED)
        node = node[inner]
    return [one.value if isinstance(one.value, str) else one["name"].identifier() for one in node.elements()]
