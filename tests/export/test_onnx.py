"""ONNX: graphs that the check computes as the model does; what needs onnx says so."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from tests.export.models_of_every_form import NAMES, OTHERS, TREES, data, model

import rankforce as rf

onnx = pytest.importorskip("onnx")


@pytest.mark.parametrize("holes", [True, False], ids=["nan", "zero"])
@pytest.mark.parametrize("kind", [*TREES, *OTHERS])
def test_the_check_finds_no_difference_in_double(kind, holes):
    missing = "nan" if holes else "zero"
    checked = rf.export_model(model(kind, holes), None, "onnx", missing=missing, check=data(holes)).check
    assert checked is not None
    assert checked.reordered == 0
    assert checked.changed_leaves == (0 if kind in TREES else None)
    exact = kind in TREES and kind != "weighted"
    assert checked.largest_difference <= (0.0 if exact else 1e-6 * checked.largest_score)


@pytest.mark.parametrize("kind", [kind for kind in (*TREES, *OTHERS) if kind != "quadratic"])
def test_old_runtimes_get_float32(kind):
    exported = rf.export_model(model(kind), None, "onnx", engine="onnxruntime-1.16", missing="nan", check=data(True))
    made = onnx.load_from_string(exported.contents)
    assert made.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    assert not any(node.op_type == "TreeEnsemble" for node in made.graph.node)
    assert exported.check is not None
    assert not exported.check.changed_leaves
    assert exported.check.largest_difference <= 1e-4 * exported.check.largest_score


def test_names_of_features_stand_in_the_metadata():
    features = ["more", *reversed(NAMES)]
    exported = rf.export_model(model("hard"), None, "onnx", features=features, name="shop", check=True)
    made = onnx.load_from_string(exported.contents)
    assert json.loads({one.key: one.value for one in made.metadata_props}["feature_names"]) == features
    assert made.graph.input[0].type.tensor_type.shape.dim[1].dim_value == len(features)
    assert made.graph.name == "shop"
    assert "double, documents × 6" in exported.notes[0]


def test_the_same_model_gives_the_same_bytes():
    a, b = (rf.export_model(model("mixed"), None, "onnx", missing="nan").contents for _ in range(2))
    assert a == b


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(rf.RankforceError, match=r"writing ONNX needs onnx.*pip install '\.\[export\]'"):
        rf.export_model(model("hard"), None, "onnx")


def test_scores_of_one_document_do_not_depend_on_others():
    from rankforce.export.onnx_reading import read_graph

    written = rf.export_model(model("net"), None, "onnx", missing="nan").contents
    emulated = read_graph(written, NAMES, {name: place for place, name in enumerate(NAMES)})
    given = data(True).features[:10]
    alone = np.concatenate([emulated.scores(given[row : row + 1]) for row in range(10)])
    assert np.allclose(alone, emulated.scores(given), rtol=1e-15)
