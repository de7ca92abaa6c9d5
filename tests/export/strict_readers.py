"""Readers of exported files, written from what the engines' parsers do, one document and one float32 at a time.

They share nothing with the package. Each gives a function from a row (by the engine's feature names; NaN or absent is
missing) to a score.
"""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

import numpy as np

F = np.float32
Score = Callable[[dict[str, float]], float]


def pairs_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len({key for key, _ in pairs}) == len(pairs), "a field is there twice"
    return dict(pairs)


def strict_json(text: bytes) -> Any:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, object_pairs_hook=pairs_once, parse_constant=refuse)


def ranklib(text: bytes, feature_set: list[str]) -> Score:
    """Ensemble.java, Split.java and DenseProgramaticDataPoint.java; also LinearRegRank.java and RankNet.java."""
    lines = text.decode("ascii").splitlines()
    kind = lines[0].removeprefix("## ")
    if kind == "Linear Regression":
        return _ranklib_linear(lines[1:], feature_set)
    if kind == "RankNet":
        return _ranklib_net(lines[1:], feature_set)
    assert kind == "LambdaMART"
    assert all(line == line.strip() and line for line in lines)
    ensemble = ElementTree.fromstring("".join(lines[1:]))
    assert ensemble.tag == "ensemble"
    for element in ensemble.iter():
        assert element.tail is None
        assert (element.text is None) == (len(element) > 0), "text between elements would be an element"

    def value(row: dict[str, float], number: int) -> np.float32:
        assert 1 <= number <= len(feature_set), "unspecified feature"
        given = F(row.get(feature_set[number - 1], math.nan))
        return F(0) if np.isnan(given) else given

    def leaf(split: ElementTree.Element, row: dict[str, float]) -> float:
        if split[0].tag == "output":
            assert len(split) == 1
            return float(F(split[0].text))
        assert [child.tag for child in split] == ["feature", "threshold", "split", "split"]
        assert [split[2].attrib, split[3].attrib] == [{"pos": "left"}, {"pos": "right"}]
        goes_left = value(row, int(split[0].text or "")) <= F(split[1].text)
        return leaf(split[2] if goes_left else split[3], row)

    def score(row: dict[str, float]) -> float:
        total = F(0)
        for number, tree in enumerate(ensemble, start=1):
            assert tree.tag == "tree"
            assert tree.attrib.keys() == {"id", "weight"}
            assert int(tree.attrib["id"]) == number
            assert len(tree) == 1
            assert not tree[0].attrib
            total = F(float(total) + leaf(tree[0], row) * float(F(tree.attrib["weight"])))
        return float(total)

    return score


def _ranklib_linear(lines: list[str], feature_set: list[str]) -> Score:
    (line,) = [line for line in lines if not line.startswith("##")]
    pairs = [(int(pair.partition(":")[0]), float(pair.rpartition(":")[2])) for pair in line.split(" ")]
    assert [number for number, _ in pairs].count(0) == 1

    def score(row: dict[str, float]) -> float:
        total = next(weight for number, weight in pairs if number == 0)
        for number, weight in pairs:
            if number:
                value = row.get(feature_set[number - 1], math.nan)
                total += weight * (0.0 if math.isnan(value) else float(F(value)))
        return total

    return score


def _ranklib_net(lines: list[str], feature_set: list[str]) -> Score:
    lines = [line.strip() for line in lines if line.strip() and not line.startswith("##")]
    features = [int(number) for number in lines[0].split(" ")]
    assert int(lines[1]) == 1
    hidden = int(lines[2])
    links: dict[tuple[int, int], list[float]] = {}
    for line in lines[3:]:
        layer, unit, *weights = line.split(" ")
        links[int(layer), int(unit)] = [float(weight) for weight in weights]
    assert len(links) == len(features) + 1 + hidden
    bias = links[0, len(features)]
    assert len(bias) == hidden + 1

    def sigma(x: float) -> float:
        return 1.0 / (1.0 + math.exp(-x)) if x > -700 else 0.0

    def score(row: dict[str, float]) -> float:
        values = [row.get(feature_set[number - 1], math.nan) for number in features]
        inputs = [0.0 if math.isnan(value) else float(F(value)) for value in values]
        units = []
        for unit in range(hidden):
            total = sum(value * links[0, number][unit] for number, value in enumerate(inputs))
            units.append(sigma(total + bias[unit]))
        return sigma(sum(value * links[1, number][0] for number, value in enumerate(units)) + bias[-1])

    return score


def plugin_tree_score(roots: list[Any], missing: str) -> Score:
    """NaiveAdditiveDecisionTree.java; ``missing``: "zero", "right" or "side"; nodes are tuples or leaves."""

    def leaf(node: Any, row: dict[str, float]) -> np.float32:
        while isinstance(node, tuple):
            feature, threshold, default_left, left, right = node
            value = F(row.get(feature, math.nan))
            if np.isnan(value) and missing == "side":
                node = left if default_left else right
                continue
            if np.isnan(value) and missing == "zero":
                value = F(0)
            node = left if threshold > value else right
        return F(node)

    def score(row: dict[str, float]) -> float:
        total = F(0)
        for root in roots:
            total = F(total + F(F(1) * leaf(root, row)))
        return float(total)

    return score


def ltr_xgboost(text: bytes, feature_set: list[str], missing: str) -> Score:
    """XGBoostJsonParser.java of the plugins, as strict as the strictest of them."""
    document = strict_json(text)
    assert document.keys() == {"objective", "splits"}
    assert document["objective"] in ("binary:logitraw", "rank:pairwise", "reg:linear")  # all releases, no sigmoid
    assert document["splits"]

    def node(entry: dict[str, Any], depth: int) -> Any:
        assert entry.keys() <= {
            "nodeid",
            "depth",
            "split",
            "split_condition",
            "yes",
            "no",
            "missing",
            "leaf",
            "children",
        }
        assert type(entry["nodeid"]) is int
        if "leaf" in entry:
            assert entry.keys() == {"nodeid", "leaf"}
            return F(entry["leaf"])
        assert len(entry) == 8
        assert entry["depth"] == depth
        assert entry["split"] in feature_set
        yes, no = entry["children"]
        assert (yes["nodeid"], no["nodeid"]) == (entry["yes"], entry["no"])
        assert entry["missing"] in (entry["yes"], entry["no"])
        assert np.isfinite(F(entry["split_condition"]))
        sides = node(yes, depth + 1), node(no, depth + 1)
        return (entry["split"], F(entry["split_condition"]), entry["missing"] == entry["yes"], *sides)

    return plugin_tree_score([node(tree, 0) for tree in document["splits"]], missing)


def ltr_xgboost_raw(text: bytes, feature_set: list[str], missing: str, by_place: bool) -> Score:
    """XGBoostRawJsonParser.java: features by name, or (``by_place``, other releases) by their place in the set."""
    learner = strict_json(text)["learner"]
    assert learner["objective"]["name"] == "rank:pairwise"
    names = learner["feature_names"]
    assert set(names) <= set(feature_set)
    assert learner["feature_types"] == ["float"] * len(names)
    roots = []
    for tree in learner["gradient_booster"]["model"]["trees"]:

        def node(place: int, tree: Any = tree) -> Any:
            left, right = tree["left_children"][place], tree["right_children"][place]
            if left == -1 or right == -1:
                return F(tree["base_weights"][place])
            feature = tree["split_indices"][place]
            assert type(tree["default_left"][place]) is int
            return (
                feature_set[feature] if by_place else names[feature],
                F(tree["split_conditions"][place]),
                tree["default_left"][place] == 1,
                node(left),
                node(right),
            )

        roots.append(node(0))
    return plugin_tree_score(roots, missing)


def ltr_linear(text: bytes, feature_set: list[str]) -> Score:
    """LinearRankerParser.java and LinearRanker.java."""
    weights = strict_json(text)
    assert set(weights) <= set(feature_set)
    assert all(type(weight) in (int, float) for weight in weights.values())

    def score(row: dict[str, float]) -> float:
        total = F(0)
        for name in feature_set:
            value = F(row.get(name, math.nan))
            total = F(total + F(F(weights.get(name, 0.0)) * (F(0) if np.isnan(value) else value)))
        return float(total)

    return score


def solr(text: bytes) -> Score:
    """MultipleAdditiveTreesModel.java, LinearModel.java and NeuralNetworkModel.java; null is missing."""
    document = strict_json(text)
    assert document.keys() == {"class", "name", "features", "params"}
    names, divisors = [], []
    for entry in document["features"]:
        assert entry.keys() <= {"name", "norm"}
        names.append(entry["name"])
        divisors.append(F(1))
        if "norm" in entry:
            assert entry["norm"]["class"] == "org.apache.solr.ltr.norm.StandardNormalizer"
            assert F(entry["norm"]["params"]["avg"]) == 0
            divisors[-1] = F(entry["norm"]["params"]["std"])
            assert divisors[-1] > 0
    assert names
    parameters = document["params"]
    kind = document["class"].removeprefix("org.apache.solr.ltr.model.")

    def vector(row: dict[str, float], null: float) -> list[np.float32]:
        values = [F(row.get(name, math.nan)) for name in names]
        with np.errstate(over="ignore"):
            return [F(F(null) if np.isnan(v) else v) / by for v, by in zip(values, divisors, strict=True)]

    def linear(row: dict[str, float]) -> float:
        weights = parameters["weights"]
        assert list(weights) == names
        total = F(0)
        for name, value in zip(names, vector(row, 0.0), strict=True):
            total = F(total + F(value * F(weights[name])))
        return float(total)

    def network(row: dict[str, float]) -> float:
        values = vector(row, 0.0)
        for layer in parameters["layers"]:
            assert all(type(number) is float for weights in layer["matrix"] for number in weights)
            assert all(type(number) is float for number in layer["bias"])
            outputs = []
            for weights, bias in zip(layer["matrix"], layer["bias"], strict=True):
                total = F(bias)
                for weight, value in zip(weights, values, strict=True):
                    total = F(total + F(F(weight) * value))
                outputs.append(F(math.tanh(total)) if layer["activation"] == "tanh" else total)
            values = outputs
        (result,) = values
        return float(result)

    def number(text: Any) -> np.float32:
        assert isinstance(text, str), "Solr reads numbers in trees from texts"
        return F(text)

    def node(entry: dict[str, Any], as_zero: bool) -> Any:
        if "feature" not in entry:
            assert entry.keys() == {"value"}
            return number(entry["value"])
        assert entry.keys() == {"feature", "threshold", "left", "right"} | (set() if as_zero else {"missing"})
        side = entry.get("missing", "right")
        assert side in ("left", "right")
        threshold = F(number(entry["threshold"]) + F(1e-6))
        sides = node(entry["left"], as_zero), node(entry["right"], as_zero)
        return (names.index(entry["feature"]), threshold, side == "left", *sides)

    def additive() -> Score:
        assert parameters.keys() <= {"trees", "isNullSameAsZero"}
        as_zero = parameters.get("isNullSameAsZero", True)
        assert isinstance(as_zero, bool)
        roots = [(number(tree["weight"]), node(tree["root"], as_zero)) for tree in parameters["trees"]]

        def score(row: dict[str, float]) -> float:
            values = vector(row, 0.0 if as_zero else math.nan)
            total = F(0)
            for weight, root in roots:
                place = root
                while isinstance(place, tuple):
                    feature, threshold, missing_left, left, right = place
                    value = values[feature]
                    goes_left = missing_left if np.isnan(value) else value <= threshold
                    place = left if goes_left else right
                total = F(total + F(weight * place))
            return float(total)

        return score

    return {
        "LinearModel": lambda: linear,
        "NeuralNetworkModel": lambda: network,
        "MultipleAdditiveTreesModel": additive,
    }[kind]()
