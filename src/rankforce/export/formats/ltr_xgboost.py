"""``model/xgboost+json`` of the plugins for OpenSearch and Elasticsearch: XGBoost's dump, read strictly.

Left if x < split_condition, in float32; leaves summed in float32, tree after tree. A field that the parsers do not know
is an error, among them ``gain`` and ``cover``. The objective is one that every release takes and that changes nothing.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

import numpy as np

from rankforce.errors import ModelFileError
from rankforce.export.emulation import EmulatedTree, EmulatedTrees, less
from rankforce.export.format import Format, Prepared
from rankforce.export.forms import AdditiveTrees, Form, ScaledTree
from rankforce.export.thresholds import for_less, written
from rankforce.export.tree_text import nested, refuse_depth
from rankforce.models.json_text import refuse_constant

OBJECTIVE = "rank:pairwise"
MOST_LEVELS = 450  # two levels of JSON each, of which the engines' parser allows a thousand
_NODE = {"nodeid", "depth", "split", "split_condition", "yes", "no", "missing", "children"}
_LEAF = {"nodeid", "leaf"}


class LtrXgboost(Format):
    NAME: ClassVar[str] = "ltr-xgboost"
    TITLE: ClassVar[str] = "model/xgboost+json of the OpenSearch and Elasticsearch plugins"
    SUFFIX: ClassVar[str] = ".json"

    def refuse(self, form: Form) -> None:
        super().refuse(form)
        if isinstance(form, AdditiveTrees):
            refuse_depth(form, MOST_LEVELS, "the plugins")

    def write(self, prepared: Prepared, suffix: str) -> bytes:
        assert isinstance(prepared.form, AdditiveTrees)
        trees = ",\n".join(_text(tree, prepared) for tree in prepared.form.with_constant_tree())
        return f'{{"objective":"{OBJECTIVE}","splits":[\n{trees}\n]}}\n'.encode()

    def read(self, written: bytes, prepared: Prepared, suffix: str) -> EmulatedTrees:
        document = json.loads(written, parse_constant=refuse_constant)
        if document.keys() != {"objective", "splits"} or document["objective"] != OBJECTIVE:
            raise ModelFileError("the file is not what the plugins read: an objective and splits")
        columns = prepared.features.columns()
        trees = tuple(_parsed(tree, columns) for tree in document["splits"])
        return EmulatedTrees(trees, less, prepared.behaviour, np.float32)


def _text(tree: ScaledTree, prepared: Prepared) -> str:
    thresholds = for_less(tree.threshold)

    def id_of(child: int) -> int:
        return child if child >= 0 else tree.n_nodes + ~child

    def node(number: int, depth: int) -> tuple[str, str, str]:
        yes, no = id_of(int(tree.left[number])), id_of(int(tree.right[number]))
        name = json.dumps(prepared.features.name(int(tree.feature[number])), ensure_ascii=False)
        return (
            f'{{"nodeid":{number},"depth":{depth},"split":{name},"split_condition":{written(thresholds[number])},'
            f'"yes":{yes},"no":{no},"missing":{yes if tree.missing_left[number] else no},"children":[',
            ",",
            "]}",
        )

    def leaf(number: int, depth: int) -> str:
        return f'{{"nodeid":{id_of(~number)},"leaf":{written(np.float32(tree.leaf_value[number]))}}}'

    return nested(tree, node, leaf)


def _parsed(tree: Any, columns: dict[str, int]) -> EmulatedTree:
    """A tree by the parsers' rules."""
    nodes: list[tuple[int, float, bool, int, int]] = []
    values: list[float] = []
    waiting: list[tuple[Any, int, int]] = [(tree, -1, 0)]
    while waiting:
        entry, parent, side = waiting.pop()
        if "leaf" in entry:
            _check(entry, _LEAF)
            number = ~len(values)
            values.append(entry["leaf"])
        else:
            _check(entry, _NODE)
            yes, no = entry["children"]
            if (yes["nodeid"], no["nodeid"]) != (entry["yes"], entry["no"]) or entry["missing"] not in (
                entry["yes"],
                entry["no"],
            ):
                raise ModelFileError(f"node {entry['nodeid']}: yes, no or missing are not its children")
            if entry["split"] not in columns:
                raise ModelFileError(f"node {entry['nodeid']}: there is no feature {entry['split']!r}")
            number = len(nodes)
            to_left = entry["missing"] == entry["yes"]
            nodes.append((columns[entry["split"]], entry["split_condition"], to_left, 0, 0))
            waiting += [(no, number, 4), (yes, number, 3)]
        if parent >= 0:
            above: list[Any] = list(nodes[parent])
            above[side] = number
            nodes[parent] = tuple(above)
    return EmulatedTree.of(nodes, values, np.float32)


def _check(entry: dict[str, Any], fields: set[str]) -> None:
    if entry.keys() != fields:
        raise ModelFileError(f"a node has {', '.join(sorted(entry))}, not {', '.join(sorted(fields))}")
