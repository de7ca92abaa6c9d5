"""ONNX Runtime reads our files: trees score bit by bit, everything else to the last digits."""

from __future__ import annotations

import numpy as np
import pytest
from tests.export.models_of_every_form import OTHERS, TREES, between, model, rows

import rankforce as rf

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")


def scored(written, fed):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(written, options, providers=["CPUExecutionProvider"])
    return session.run(["score"], {"features": fed})[0][:, 0]


@pytest.mark.parametrize("holes", [True, False], ids=["nan", "zero"])
@pytest.mark.parametrize("kind", [*TREES, "tiny"])
def test_trees_score_bit_by_bit(kind, holes):
    written = rf.export_model(model(kind, holes), None, "onnx").contents
    given = rows(kind, holes)
    for fed in (given.astype(np.float64), between(given)):
        expected = model(kind, holes).predict(fed.astype(np.float32))
        if kind == "weighted":
            assert np.abs(scored(written, fed) - expected).max() < 1e-14
        else:
            assert np.array_equal(scored(written, fed), expected)
            assert np.array_equal(np.concatenate([scored(written, row[None]) for row in fed[:20]]), expected[:20])


@pytest.mark.parametrize("kind", OTHERS)
def test_everything_else_scores_to_the_last_digits(kind):
    written = rf.export_model(model(kind), None, "onnx", missing="nan").contents
    given = rows(kind, True)
    expected = model(kind).predict(given)
    found = scored(written, given.astype(np.float64))
    tolerance = 1e-5 if kind in ("linear", "stacked") else 1e-12  # a linear net's inputs are float32, its export's not
    assert (np.abs(found - expected) <= tolerance * np.maximum(np.abs(expected), 1.0)).all()


@pytest.mark.parametrize("kind", [*TREES, "softmax", "net", "mixed"])
def test_the_file_for_old_runtimes_scores_in_float32(kind):
    written = rf.export_model(model(kind), None, "onnx", engine="onnxruntime-1.16", missing="nan").contents
    given = rows(kind, True)
    expected = model(kind).predict(given)
    found = scored(written, given)
    assert found.dtype == np.float32
    assert np.abs(found - expected).max() < 1e-5 * np.abs(expected).max()
