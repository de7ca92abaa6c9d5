"""ONNX: a graph from a matrix of features (``features``) to a column of scores (``score``).

In double, with the trees of ai.onnx.ml 5; for runtimes that lack them (ONNX Runtime before 1.20) in float32.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from rankforce.errors import SettingsError, missing_dependency
from rankforce.export.emulation import Emulated, EmulatedTrees
from rankforce.export.format import Format, Prepared
from rankforce.export.forms import KINDS_OF_FORMS, AdditiveTrees, set_features
from rankforce.export.lightgbm_trees import without_start
from rankforce.export.onnx_graphs import INPUT, OUTPUT, OnnxGraph
from rankforce.export.onnx_reading import read_graph
from rankforce.remedies import Argument

TREES_IN_DOUBLE = (1, 20)  # of ONNX Runtime
_NEW = {"": 21, "ai.onnx.ml": 5, "ir": 10}
_OLD = {"": 15, "ai.onnx.ml": 3, "ir": 8}


class Onnx(Format):
    NAME: ClassVar[str] = "onnx"
    TITLE: ClassVar[str] = "ONNX, in double (float32 for runtimes before ai.onnx.ml 5)"
    SUFFIX: ClassVar[str] = ".onnx"
    FORMS = KINDS_OF_FORMS
    BINARY: ClassVar[bool] = True
    DOUBLE: ClassVar[bool] = True
    SETS: ClassVar[tuple[str, ...]] = ("onnxruntime", "vespa")

    def write(self, prepared: Prepared, suffix: str) -> bytes:
        onnx = _package()
        double = in_double(prepared)
        if not double and len(set_features(prepared.form)):
            raise SettingsError(
                "the model asks whether categories are in sets, which trees of ONNX can say since ai.onnx.ml 5: "
                "take a later runtime, ",
                Argument("engine", "onnxruntime-1.20"),
            )
        graph = OnnxGraph(prepared.features, double)
        graph.nodes.append(onnx.helper.make_node("Identity", [graph.score(prepared.form)], [OUTPUT], name="named"))
        kind = onnx.TensorProto.DOUBLE if double else onnx.TensorProto.FLOAT
        shapes = {INPUT: ["documents", len(prepared.features.names)], OUTPUT: ["documents", 1]}
        ends = {name: onnx.helper.make_tensor_value_info(name, kind, shape) for name, shape in shapes.items()}
        made = onnx.helper.make_graph(graph.nodes, prepared.name, [ends[INPUT]], [ends[OUTPUT]], graph.constants)
        versions = _NEW if double else _OLD
        model = onnx.helper.make_model(
            made,
            producer_name="rankforce",
            ir_version=versions["ir"],
            opset_imports=[onnx.helper.make_opsetid(name, versions[name]) for name in ("", "ai.onnx.ml")],
        )
        named = json.dumps(list(prepared.features.names), ensure_ascii=False)
        onnx.helper.set_model_props(model, {"feature_names": named})
        return model.SerializeToString(deterministic=True)

    def read(self, written: bytes, prepared: Prepared, suffix: str) -> Emulated:
        _package()
        emulated = read_graph(written, prepared.features.names, prepared.features.columns())
        if isinstance(emulated, EmulatedTrees) and isinstance(prepared.form, AdditiveTrees):
            trees, start = without_start(list(emulated.trees), prepared.form)
            return EmulatedTrees(trees, emulated.comparison, emulated.missing, emulated.dtype, start)
        return emulated

    def notes(self, prepared: Prepared) -> list[str]:
        kind = "double" if in_double(prepared) else "float"
        return [
            f"input {INPUT!r}: {kind}, documents × {len(prepared.features.names)}; output {OUTPUT!r}: {kind}, "
            "documents × 1; the names of the features stand in the metadata (feature_names)"
        ]


def in_double(prepared: Prepared) -> bool:
    """Whether the runtime has trees in double."""
    reader = prepared.reader
    return reader is None or reader.engine != "onnxruntime" or reader.since >= TREES_IN_DOUBLE


def _package() -> Any:
    try:
        import onnx
    except ImportError:
        raise missing_dependency("onnx", "export", "writing ONNX") from None
    return onnx
