"""Models as functions of a Vespa rank profile: ranking expressions in double, named so that each is written once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np

from rankforce.export.feature_sets import FeatureSet
from rankforce.export.forms import (
    AdditiveTrees,
    Form,
    GradeForm,
    LinearForm,
    MixedForm,
    NetForm,
    QuadraticForm,
    ScaledTree,
    StackedForm,
)
from rankforce.export.thresholds import for_less_in_double, written
from rankforce.export.tree_text import nested
from rankforce.models.net import Net
from rankforce.models.net_scaling import NO_VARIATION

PREFIX = "rf_"


def number(value: float | np.floating) -> str:
    """A constant of an expression; a negative one in parentheses, so that no sign follows another."""
    text = written(value)
    return f"({text})" if text.startswith("-") else text


@dataclasses.dataclass
class VespaFunctions:
    """The functions of a profile, in the order in which they need each other."""

    features: FeatureSet
    functions: dict[str, str] = dataclasses.field(default_factory=dict)  # name → expression

    def add(self, kind: str, expression: str) -> str:
        """A new function; what to write to call it."""
        name = f"{PREFIX}{kind}{sum(one.startswith(f'{PREFIX}{kind}') for one in self.functions)}"
        self.functions[name] = expression
        return f"{name}()"

    def expression(self, form: Form) -> str:
        """The score of a form, as an expression that may call functions added here."""
        if isinstance(form, AdditiveTrees):
            terms = [_tree_text(tree, self.features) for tree in form.trees]
            start = [number(form.constant)] if form.constant or not terms else []
            return _sum([*start, *terms])
        if isinstance(form, LinearForm):
            filled = [
                f"{number(form.weights[feature])} * {self._filled(feature, form.fills[feature])}"
                for feature in np.flatnonzero(form.weights).tolist()
            ]
            return _sum([number(form.constant), *filled])
        if isinstance(form, NetForm):
            return self._net(form.net, [self._value(place, form.missing_as_zero) for place in form.places.tolist()])
        if isinstance(form, QuadraticForm):
            return self._quadratic(form)
        if isinstance(form, GradeForm):
            return self._grade(form)
        if isinstance(form, StackedForm):
            return self._net(form.net, [(self.add("score", self.expression(one)), None) for one in form.inputs])
        assert isinstance(form, MixedForm)
        terms = [
            f"{number(weight)} * {self.add('term', self.expression(term))}"
            for weight, term in zip(form.weights, form.terms, strict=True)
        ]
        return _sum(terms)

    def _filled(self, feature: int, fill: float) -> str:
        """A feature, with a number in place of a missing value; as it is where that stays missing (``fill`` NaN)."""
        name = self.features.name(feature)
        return name if np.isnan(fill) else f"if (isNan({name}), {number(fill)}, {name})"

    def _value(self, feature: int, as_zero: bool) -> tuple[str, str | None]:
        """(a feature, the condition under which its scaled value is 0): missing values stand in the middle."""
        if as_zero:
            return self._filled(feature, 0.0), None
        return self.features.name(feature), f"isNan({self.features.name(feature)})"

    def _scaled(self, kind: str, value: tuple[str, str | None], centre: float, scale: float, log: bool) -> str:
        text, absent = value
        if log:
            known = self.add(f"{kind}known", text) if text.startswith("if") else text
            text = f"if ({known} < 0.0, 0.0 - log(1.0 - {known}), log(1.0 + {known}))"
        scaled = f"({text} - {number(centre)}) / {number(scale)}"
        return self.add(kind, scaled if absent is None else f"if ({absent}, 0.0, {scaled})")

    def _net(self, net: Net, values: Sequence[tuple[str, str | None]]) -> str:
        scaling, layout, weights = net.scaling, net.layout, net.weights
        varying = [place for place in range(net.n_features) if scaling.scale[place] != NO_VARIATION]
        inputs = {
            place: self._scaled(
                "input", values[place], scaling.centre[place], scaling.scale[place], scaling.kind == "log1p"
            )
            for place in varying
        }
        if not net.hidden:
            return _weighted(weights[-1], weights[varying], inputs.values())
        rows = layout.hidden_weights(weights)[:, varying]
        units = [
            self.add("hidden", f"tanh({_weighted(bias, row, inputs.values())})")
            for bias, row in zip(layout.hidden_biases(weights), rows, strict=True)
        ]
        return _weighted(weights[-1], layout.output_weights(weights), units)

    def _quadratic(self, form: QuadraticForm) -> str:
        perceptron = form.perceptron
        inputs = [
            self._scaled("input", self._value(place, form.missing_as_zero), mean, deviation, False)
            for place, mean, deviation in zip(
                form.places.tolist(), perceptron.means, perceptron.deviations, strict=True
            )
        ]
        inputs.append("1.0")
        rows, at = [], 0
        for i, outer in enumerate(inputs):
            inner = inputs[i:]
            terms = [f"{number(weight)} * {one}" for weight, one in zip(perceptron.weights[at:], inner, strict=False)]
            at += len(inner)
            rows.append(f"{self.add('row', _sum(terms))} * {outer}")
        return _sum(rows)

    def _grade(self, form: GradeForm) -> str:
        link = form.link
        outputs = [self.add("output", self.expression(one)) for one in form.outputs]
        if link.kind == "ordinal":
            rises = zip(np.diff(link.values), outputs, strict=True)
            steps = [f"{number(rise)} * sigmoid({number(2.0 * link.sigma)} * {output})" for rise, output in rises]
            return _sum([number(link.values[0]), *steps])
        highest = outputs[0]
        for output in outputs[1:]:
            highest = f"max({highest}, {output})"
        top = self.add("highest", highest)
        masses = [self.add("mass", f"exp({output} - {top})") for output in outputs]
        weighted = _sum([f"{number(value)} * {mass}" for value, mass in zip(link.values, masses, strict=True)])
        return f"({weighted}) / ({_sum(masses)})"


def _weighted(constant: float, weights: Iterable[float], values: Iterable[str]) -> str:
    return _sum([number(constant), *(f"{number(weight)} * {one}" for weight, one in zip(weights, values, strict=True))])


def _sum(terms: Sequence[str]) -> str:
    return " +\n".join(terms) if len(terms) > 1 else terms[0]


def _tree_text(tree: ScaledTree, features: FeatureSet) -> str:
    thresholds = for_less_in_double(tree.threshold)

    def node(place: int, depth: int) -> tuple[str, str, str]:
        name, threshold = features.name(int(tree.feature[place])), number(thresholds[place])
        asked = f"!({name} >= {threshold})" if tree.missing_left[place] else f"{name} < {threshold}"
        return f"if ({asked}, ", ", ", ")"

    return nested(tree, node, lambda leaf, depth: number(tree.leaf_value[leaf]))
