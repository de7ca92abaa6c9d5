"""Models as graphs of ONNX operators, in double, or in float32 for runtimes without the trees of ai.onnx.ml 5."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
    StackedForm,
)
from rankforce.export.lightgbm_trees import trees_with_start
from rankforce.export.onnx_trees import tree_attributes, tree_attributes_of_regressor
from rankforce.models.net import Net
from rankforce.models.net_scaling import NO_VARIATION

INPUT, OUTPUT = "features", "score"
_LARGEST = float(np.finfo(np.float32).max)


class OnnxGraph:
    """Nodes and constants. A method for a form adds what computes it, and returns the name of its column of scores."""

    def __init__(self, features: FeatureSet, double: bool) -> None:
        self.features = features
        self.dtype: type[np.floating] = np.float64 if double else np.float32
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        from onnx import helper

        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name=name, domain=domain, **attributes))
        return name

    def constant(self, values: Any, dtype: Any = None) -> str:
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype=dtype or self.dtype), name))
        return name

    def score(self, form: Form) -> str:
        """The scores of a form: a column."""
        if isinstance(form, AdditiveTrees):
            return self._trees(form)
        if isinstance(form, LinearForm):
            return self._linear(form)
        if isinstance(form, NetForm):
            return self._net(form.net, self._gathered(form.places), form.missing_as_zero)
        if isinstance(form, QuadraticForm):
            return self._quadratic(form)
        if isinstance(form, GradeForm):
            return self._grade(form)
        if isinstance(form, StackedForm):
            scores = self.node("Concat", *map(self.score, form.inputs), axis=1)
            return self._net(form.net, self._rounded(scores), True)
        assert isinstance(form, MixedForm)
        return self._sum(
            [
                self.node("Mul", self.score(term), self.constant([weight]))
                for weight, term in zip(form.weights, form.terms, strict=True)
            ]
        )

    def _sum(self, terms: Sequence[str]) -> str:
        total = terms[0]
        for term in terms[1:]:
            total = self.node("Add", total, term)
        return total

    def _trees(self, form: AdditiveTrees) -> str:
        trees = trees_with_start(form)
        ml = "ai.onnx.ml"
        if self.dtype is np.float64:
            return self.node("TreeEnsemble", INPUT, domain=ml, **tree_attributes(trees, self.features))
        return self.node(
            "TreeEnsembleRegressor", INPUT, domain=ml, **tree_attributes_of_regressor(trees, self.features)
        )

    def _rounded(self, values: str) -> str:
        """Values in float32, which inputs of nets are."""
        from onnx import TensorProto

        if self.dtype is np.float32:
            return values
        return self.node("Cast", self.node("Cast", values, to=TensorProto.FLOAT), to=TensorProto.DOUBLE)

    def _filled(self, values: str, fills: Any) -> str:
        return self.node("Where", self.node("IsNaN", values), self.constant(fills), values)

    def _linear(self, form: LinearForm) -> str:
        weights = np.zeros((len(self.features.names), 1))
        fills = np.zeros((1, len(self.features.names)))
        used = np.flatnonzero(form.weights)
        weights[self.features.places[used], 0] = form.weights[used]
        fills[0, self.features.places[used]] = form.fills[used]
        product = self.node("MatMul", self._filled(INPUT, fills), self.constant(weights))
        return self.node("Add", product, self.constant([form.constant]))

    def _gathered(self, places: np.ndarray) -> str:
        """Columns of the features, by the model's numbers."""
        return self.node("Gather", INPUT, self.constant(self.features.places[places], np.int64), axis=1)

    def _scaled(self, values: str, centre: np.ndarray, scale: np.ndarray, *, zero: bool, log: bool = False) -> str:
        """(t(x) − centre) / scale; a missing x is 0 before that (``zero``) or makes 0."""
        known = self._filled(values, [0.0]) if zero else values
        turned = known
        if log:
            size = self.node("Log", self.node("Add", self.node("Abs", known), self.constant([1.0])))
            turned = self.node("Mul", self.node("Sign", known), size)
        scaled = self.node("Div", self.node("Sub", turned, self.constant(centre)), self.constant(scale))
        return scaled if zero else self.node("Where", self.node("IsNaN", values), self.constant([0.0]), scaled)

    def _net(self, net: Net, values: str, zero: bool) -> str:
        scaling, layout, weights = net.scaling, net.layout, net.weights
        varying = np.flatnonzero(scaling.scale != NO_VARIATION)
        chosen = self.node("Gather", values, self.constant(varying, np.int64), axis=1)
        z = self._scaled(
            chosen, scaling.centre[varying], scaling.scale[varying], zero=zero, log=scaling.kind == "log1p"
        )
        z = self._rounded(self.node("Clip", z, self.constant(-_LARGEST), self.constant(_LARGEST)))
        output = layout.output_weights(weights)
        if net.hidden:
            matrix = layout.hidden_weights(weights)[:, varying]
            product = self.node("MatMul", z, self.constant(matrix.T))
            z = self.node("Tanh", self.node("Add", product, self.constant(layout.hidden_biases(weights))))
        else:
            output = output[varying]
        return self.node("Add", self.node("MatMul", z, self.constant(output[:, None])), self.constant([weights[-1]]))

    def _quadratic(self, form: QuadraticForm) -> str:
        model = form.perceptron
        z = self._scaled(self._gathered(form.places), model.means, model.deviations, zero=form.missing_as_zero)
        n = model.n_features + 1
        upper = np.zeros((n, n))
        upper[np.triu_indices(n)] = model.weights
        # Σ_i z_i Σ_{j≥i} w_ij z_j with a last z of 1: its row and column are the linear part and the constant
        inner = self.node("MatMul", z, self.constant(upper[:-1, :-1].T))
        inner = self.node("Add", inner, self.constant(upper[:-1, -1]))
        rows = self.node("MatMul", self.node("Mul", inner, z), self.constant(np.ones((n - 1, 1))))
        return self.node("Add", rows, self.constant([upper[-1, -1]]))

    def _grade(self, form: GradeForm) -> str:
        link = form.link
        outputs = [self.score(one) for one in form.outputs]
        if link.kind == "ordinal":
            start = self.constant([link.values[0]])
            steps = [
                self.node(
                    "Mul",
                    self.node("Sigmoid", self.node("Mul", output, self.constant([2.0 * link.sigma]))),
                    self.constant([rise]),
                )
                for rise, output in zip(np.diff(link.values), outputs, strict=True)
            ]
            return self._sum([*steps, start])
        highest = self.node("Max", *outputs)
        masses = [self.node("Exp", self.node("Sub", output, highest)) for output in outputs]
        weighted = [
            self.node("Mul", mass, self.constant([value])) for value, mass in zip(link.values, masses, strict=True)
        ]
        return self.node("Div", self._sum(weighted), self._sum(masses))
