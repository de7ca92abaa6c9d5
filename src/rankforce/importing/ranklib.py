"""RankLib's text of tree ensembles: MART, LambdaMART and Random Forests.

``x <= threshold`` goes left; a feature that a document lacks is 0 there, so a missing value goes where 0 goes. Features
are numbered from 1; the file does not say how many there are: as many as the largest number it splits by, unless
``load`` is told their names. A forest is the mean of its ensembles. RankLib adds in float32, rankforce in float64.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankforce.errors import ModelFileError
from rankforce.importing.foreign_trees import ForeignLeaf, ForeignSplit, ForeignTree, at_most, ensemble, read_tree
from rankforce.models.tree_ensemble import TreeEnsemble

BEGIN = b"## "
RANKERS = ("MART", "LambdaMART", "Random Forests")
MOST_FEATURES = 1_000_000
MOST_PLACES = 1 << 22
_TOKEN = re.compile(r"<(/?)([a-z]+)((?:\s+[a-z]+\s*=\s*\"[^\"<>]*\")*)\s*>|([^<>]+)|(.)", re.DOTALL)
_ATTRIBUTE = re.compile(r"([a-z]+)\s*=\s*\"([^\"]*)\"")
_INSIDE = {"": ("ensemble",), "ensemble": ("tree",), "tree": ("split",)}
_IN_SPLIT = ("feature", "threshold", "split", "output")
_DEEPEST = 10_000


class Element:
    """A part of the file: its name, attributes, text and parts."""

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name = name
        self.attributes = attributes
        self.text = ""
        self.parts: list[Element] = []

    def only(self, name: str) -> Element | None:
        found = [part for part in self.parts if part.name == name]
        return found[0] if len(found) == 1 else None


def read_ranklib(data: bytes, name: str) -> TreeEnsemble:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise ModelFileError(f"{name}: the RankLib model is damaged: it is not text") from None
    lines = text.splitlines()
    ranker = lines[0].removeprefix("## ").strip() if lines else ""
    if ranker not in RANKERS:
        raise ModelFileError(
            f"{name}: RankLib models of {ranker[:40]!r} are not read; of {', '.join(RANKERS)} they are"
        )
    ensembles = _elements("\n".join(line for line in lines if not line.startswith("#")), name)
    if not ensembles or (len(ensembles) > 1 and ranker != "Random Forests"):
        raise ModelFileError(f"{name}: the RankLib model holds {len(ensembles)} ensembles")
    trees: list[ForeignTree] = []
    for one in ensembles:
        for tree in one.parts:
            trees.append(_tree(tree, f"{name}: tree {len(trees)}"))
    features = max((split.feature for tree in trees for split in tree.splits), default=-1) + 1
    return ensemble(
        trees,
        [str(place) for place in range(1, features + 1)],
        name=name,
        scale=1.0 / len(ensembles),
        source={"library": "RankLib", "format": "text", "ranker": ranker, "ensembles": len(ensembles)},
    )


def _elements(text: str, name: str) -> list[Element]:
    """The ensembles of a file."""
    file = Element("", {})
    path = [file]
    for closing, tag, attributes, words in _tokens(text, name):
        inside = path[-1]
        if words:
            if words.strip():
                inside.text += words.strip()
        elif closing:
            if tag != inside.name or len(path) == 1:
                raise ModelFileError(f"{name}: </{tag}> closes what is not open")
            path.pop()
        else:
            allowed = _IN_SPLIT if inside.name == "split" else _INSIDE.get(inside.name, ())
            if tag not in allowed or len(path) > _DEEPEST:
                raise ModelFileError(f"{name}: <{tag}> cannot stand within <{inside.name}>")
            made = Element(tag, dict(_ATTRIBUTE.findall(attributes)))
            inside.parts.append(made)
            path.append(made)
    if len(path) > 1:
        raise ModelFileError(f"{name}: the RankLib model is truncated: <{path[-1].name}> is not closed")
    return file.parts


def _tokens(text: str, name: str) -> Iterator[tuple[str, str, str, str]]:
    for found in _TOKEN.finditer(text):
        closing, tag, attributes, words, wrong = found.groups()
        if wrong is not None:
            raise ModelFileError(
                f"{name}: the RankLib model is damaged at {text[found.start() : found.start() + 30]!r}"
            )
        yield closing or "", tag or "", attributes or "", words or ""


def _tree(tree: Element, where: str) -> ForeignTree:
    weight = _number(tree.attributes.get("weight", "1.0"), "the weight", where)
    root = tree.only("split")
    if root is None:
        raise ModelFileError(f"{where}: a tree must be one <split>")

    def describe(place: Any) -> ForeignLeaf | ForeignSplit:
        names = sorted(part.name for part in place.parts)
        if names == ["output"]:
            return ForeignLeaf(_number(place.parts[0].text, "an output", where) * weight)
        if names != ["feature", "split", "split", "threshold"]:
            raise ModelFileError(f"{where}: a <split> is an <output>, or a <feature>, a <threshold> and two splits")
        sides = {part.attributes.get("pos"): part for part in place.parts if part.name == "split"}
        if sides.keys() != {"left", "right"}:
            raise ModelFileError(f"{where}: of two splits, one must be at the left and one at the right")
        number = place.only("feature").text
        if not number.isdecimal() or len(number) > 7 or not 1 <= int(number) <= MOST_FEATURES:
            raise ModelFileError(
                f"{where}: a feature must be a number from 1 to {MOST_FEATURES:,}, not {number[:20]!r}"
            )
        threshold = at_most(_number(place.only("threshold").text, "a threshold", where), where)
        return ForeignSplit(int(number) - 1, threshold, bool(threshold >= 0), sides["left"], sides["right"])

    return read_tree(root, describe, most_places=MOST_PLACES, where=where)


def _number(text: str, what: str, where: str) -> float:
    """A finite float32, as RankLib reads it."""
    try:
        with np.errstate(over="ignore"):
            value = float(np.float32(text.strip())) if text.isascii() and "_" not in text else float("nan")
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        raise ModelFileError(f"{where}: {what} must be a finite number, not {text[:20]!r}")
    return value
