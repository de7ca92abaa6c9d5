"""ONNX graphs computed with NumPy, operator by operator: those that models are written with."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rankforce.errors import ModelFileError
from rankforce.export.emulation import Emulated, EmulatedTrees, less_or_equal
from rankforce.export.engines import MissingAs
from rankforce.export.onnx_graphs import INPUT, OUTPUT
from rankforce.export.onnx_trees import parsed_ensemble, parsed_regressor
from rankforce.models.expected_grade import logistic

_PLAIN: Mapping[str, Callable[..., Any]] = {
    "Abs": np.abs,
    "Add": np.add,
    "Clip": np.clip,
    "Div": np.divide,
    "Exp": np.exp,
    "Identity": np.asarray,
    "IsNaN": np.isnan,
    "Log": np.log,
    "MatMul": np.matmul,
    "Mul": np.multiply,
    "Sigmoid": logistic,
    "Sign": np.sign,
    "Sub": np.subtract,
    "Tanh": np.tanh,
    "Where": np.where,
}


def read_graph(written: bytes, names: tuple[str, ...], columns: dict[str, int]) -> Emulated:
    """The graph of a file: trees alone as trees, anything else as operators. ``columns``: the model's features."""
    import onnx

    model = onnx.load_from_string(written)
    onnx.checker.check_model(model, full_check=True)
    graph = model.graph
    if [one.name for one in graph.input] != [INPUT] or [one.name for one in graph.output] != [OUTPUT]:
        raise ModelFileError(f"the graph does not lead from {INPUT!r} to {OUTPUT!r}")
    width = graph.input[0].type.tensor_type.shape.dim[1].dim_value
    if width != len(names):
        raise ModelFileError(f"the graph has {width} features, the engine {len(names)}")
    column_of = {place: columns[name] for place, name in enumerate(names) if name in columns}
    operators = [node.op_type for node in graph.node]
    trees = {node.name: _trees(node, column_of) for node in graph.node if node.op_type in _TREES}
    if operators in (["TreeEnsemble", "Identity"], ["TreeEnsembleRegressor", "Identity"]):
        return next(iter(trees.values()))
    return EmulatedGraph(graph, trees, len(names), column_of)


_TREES = ("TreeEnsemble", "TreeEnsembleRegressor")


def _trees(node: Any, column_of: dict[int, int]) -> EmulatedTrees:
    given = _attributes(node)
    in_double = node.op_type == "TreeEnsemble"
    parsed = parsed_ensemble(given, column_of) if in_double else parsed_regressor(given, column_of)
    return EmulatedTrees(tuple(parsed), less_or_equal, MissingAs.SIDE, np.float64 if in_double else np.float32)


def _attributes(node: Any) -> dict[str, Any]:
    from onnx import helper

    return {one.name: helper.get_attribute_value(one) for one in node.attribute}


@dataclasses.dataclass(frozen=True, eq=False)
class EmulatedGraph(Emulated):
    """Operators after each other, in the types that the graph says."""

    graph: Any
    trees: Mapping[str, EmulatedTrees]
    width: int
    column_of: Mapping[int, int]

    def scores(self, rows: np.ndarray) -> np.ndarray:
        from onnx import TensorProto, numpy_helper

        double = self.graph.input[0].type.tensor_type.elem_type == TensorProto.DOUBLE
        fed = np.zeros((len(rows), self.width), dtype=np.float64 if double else np.float32)
        for place, column in self.column_of.items():
            fed[:, place] = rows[:, column]
        known: dict[str, Any] = {one.name: numpy_helper.to_array(one) for one in self.graph.initializer}
        known[INPUT] = fed
        with np.errstate(all="ignore"):
            for node in self.graph.node:
                known[node.output[0]] = self._computed(node, [known[name] for name in node.input], rows)
        return known[OUTPUT][:, 0].astype(np.float64)

    def _computed(self, node: Any, inputs: list[Any], rows: np.ndarray) -> Any:
        if node.op_type in _TREES:
            dtype = self.trees[node.name].dtype
            return self.trees[node.name].scores(rows)[:, None].astype(dtype)
        if node.op_type in _PLAIN:
            return _PLAIN[node.op_type](*inputs)
        given = _attributes(node)
        if node.op_type == "Gather":
            return np.take(inputs[0], inputs[1], axis=given["axis"])
        if node.op_type == "Concat":
            return np.concatenate(inputs, axis=given["axis"])
        if node.op_type == "Max":
            return np.max(np.stack(inputs), axis=0)
        if node.op_type == "Cast":
            from onnx import helper

            return inputs[0].astype(helper.tensor_dtype_to_np_dtype(given["to"]))
        raise ModelFileError(f"the graph has an operator that is not understood: {node.op_type}")
