"""RankLib's text read and evaluated the slow, obvious way: with an XML parser, one document at a time, in float64."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np


def slow_ranklib_scores(text: str, rows: np.ndarray) -> np.ndarray:
    body = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    ensembles = list(ElementTree.fromstring(f"<file>{body}</file>"))
    scores = []
    for row in rows:
        total = 0.0
        for ensemble in ensembles:
            for tree in ensemble:
                weight = float(np.float32(tree.attrib["weight"]))
                total += weight * _output(tree[0], row) / len(ensembles)
        scores.append(total)
    return np.array(scores)


def _output(split: ElementTree.Element, row: np.ndarray) -> float:
    output = split.find("output")
    if output is not None:
        return float(np.float32(output.text or ""))
    value = row[int(split.findtext("feature", "")) - 1]
    value = 0.0 if np.isnan(value) else value
    goes_left = value <= np.float32(split.findtext("threshold", ""))
    return _output(next(part for part in split if part.get("pos") == ("left" if goes_left else "right")), row)
