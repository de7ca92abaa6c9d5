"""RankLib's text, also ``model/ranklib`` of the plugins: LambdaMART, Linear Regression, RankNet.

Trees: left if x <= threshold, in float32; features are numbered from 1. Elements are read by their position, and space
between them would be an element: one per line, nothing else in it.
"""

from __future__ import annotations

import re
from typing import ClassVar

import numpy as np

from rankforce.errors import ModelFileError
from rankforce.export.emulation import Emulated, EmulatedTree, EmulatedTrees, less_or_equal
from rankforce.export.engines import MissingAs
from rankforce.export.folded_nets import folded
from rankforce.export.format import Format, Prepared
from rankforce.export.forms import AdditiveTrees, Form, LinearForm, NetForm, ScaledTree
from rankforce.export.ranklib_functions import LINEAR, NET, linear_text, net_text, parsed_linear, parsed_net, squeeze
from rankforce.export.thresholds import for_less_or_equal, written
from rankforce.export.tree_text import nested
from rankforce.models.expected_grade import logistic

HEADER = "## LambdaMART"


class Ranklib(Format):
    NAME: ClassVar[str] = "ranklib"
    TITLE: ClassVar[str] = "RankLib's text; model/ranklib of the OpenSearch and Elasticsearch plugins"
    SUFFIX: ClassVar[str] = ".txt"
    FORMS = (AdditiveTrees, LinearForm, NetForm)

    def refuse(self, form: Form) -> None:
        super().refuse(form)
        if isinstance(form, NetForm):
            folded(form, self.NAME)

    def write(self, prepared: Prepared, suffix: str) -> bytes:
        form, features = prepared.form, prepared.features
        if isinstance(form, LinearForm):
            return linear_text(form, features).encode()
        if isinstance(form, NetForm):
            return net_text(folded(form, self.NAME), features).encode()
        assert isinstance(form, AdditiveTrees)
        trees = "".join(
            f'<tree id="{number}" weight="1.0">\n<split>\n{_text(tree, prepared)}</split>\n</tree>\n'
            for number, tree in enumerate(form.with_constant_tree(), start=1)
        )
        return f"{HEADER}\n<ensemble>\n{trees}</ensemble>\n".encode()

    def read(self, written: bytes, prepared: Prepared, suffix: str) -> Emulated:
        text = written.decode("ascii")
        feature_of = {int(place) + 1: feature for feature, place in enumerate(prepared.features.places) if place >= 0}
        if text.startswith(LINEAR):
            return parsed_linear(text, feature_of)
        if text.startswith(NET):
            return parsed_net(text, feature_of)
        return _parsed_trees(_Lines(text), feature_of)

    def expected(self, scores: np.ndarray, prepared: Prepared) -> np.ndarray:
        if isinstance(prepared.form, NetForm):
            slope, start = squeeze(folded(prepared.form, self.NAME))
            return logistic(slope * scores + start)
        return super().expected(scores, prepared)

    def notes(self, prepared: Prepared) -> list[str]:
        if isinstance(prepared.form, NetForm):
            return ["scores are a rising function of the model's, between 0 and 0.5: RankLib's nets end in a sigmoid"]
        return []


def _parsed_trees(lines: _Lines, feature_of: dict[int, int]) -> EmulatedTrees:
    lines.take(re.escape(HEADER))
    lines.take("<ensemble>")
    trees: list[EmulatedTree] = []
    while not lines.at("</ensemble>"):
        number = int(lines.take('<tree id="([0-9]+)" weight="1.0">'))
        if number != len(trees) + 1:
            raise ModelFileError(f"tree {number} where {len(trees) + 1} is expected")
        lines.take("<split>")
        trees.append(_parsed(lines, feature_of))
        lines.take("</tree>")
    lines.take("</ensemble>")
    return EmulatedTrees(tuple(trees), less_or_equal, MissingAs.ZERO, np.float32)


def _text(tree: ScaledTree, prepared: Prepared) -> str:
    thresholds = for_less_or_equal(tree.threshold)

    def node(number: int, depth: int) -> tuple[str, str, str]:
        ordinal = prepared.features.ordinal(int(tree.feature[number]))
        return (
            f'<feature>{ordinal}</feature>\n<threshold>{written(thresholds[number])}</threshold>\n<split pos="left">\n',
            '</split>\n<split pos="right">\n',
            "</split>\n",
        )

    def leaf(number: int, depth: int) -> str:
        return f"<output>{written(np.float32(tree.leaf_value[number]))}</output>\n"

    return nested(tree, node, leaf)


class _Lines:
    """Lines taken one after the other, each as a pattern says."""

    def __init__(self, text: str) -> None:
        self.lines = text.removesuffix("\n").split("\n")
        self.place = 0

    def at(self, line: str) -> bool:
        return self.place < len(self.lines) and self.lines[self.place] == line

    def take(self, pattern: str) -> str:
        """The next line, or the group of the pattern in it."""
        line = self.lines[self.place] if self.place < len(self.lines) else ""
        match = re.fullmatch(pattern, line)
        if match is None:
            raise ModelFileError(f"line {self.place + 1} is {line!r}, where {pattern} is expected")
        self.place += 1
        return match[1] if match.groups() else line


_NUMBER = "(-?[0-9.e+-]+)"


def _parsed(lines: _Lines, feature_of: dict[int, int]) -> EmulatedTree:
    """The inside of a tree's first split, up to its end."""
    nodes: list[list[float]] = []
    values: list[float] = []
    open_nodes: list[tuple[int, str]] = []  # node and the side that is being read
    while True:
        if lines.at("") or lines.place >= len(lines.lines):
            raise ModelFileError("the file ends within a tree")
        if lines.lines[lines.place].startswith("<feature>"):
            ordinal = int(lines.take("<feature>([0-9]+)</feature>"))
            if ordinal not in feature_of:
                raise ModelFileError(f"there is no feature {ordinal}")
            nodes.append([feature_of[ordinal], float(lines.take(f"<threshold>{_NUMBER}</threshold>")), 0, 0, 0])
            _attach(nodes, open_nodes, len(nodes) - 1)
            lines.take('<split pos="left">')
            open_nodes.append((len(nodes) - 1, "left"))
            continue
        values.append(float(lines.take(f"<output>{_NUMBER}</output>")))
        _attach(nodes, open_nodes, ~(len(values) - 1))
        while True:
            lines.take("</split>")
            if not open_nodes:
                rows = [(int(f), t, False, int(left), int(right)) for f, t, _, left, right in nodes]
                return EmulatedTree.of(rows, values, np.float32)
            node, side = open_nodes.pop()
            if side == "left":
                lines.take('<split pos="right">')
                open_nodes.append((node, "right"))
                break


def _attach(nodes: list[list[float]], open_nodes: list[tuple[int, str]], child: int) -> None:
    if open_nodes:
        node, side = open_nodes[-1]
        nodes[node][3 if side == "left" else 4] = child
