"""docs/model_format.md says of every kind of model what its file holds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rankforce as rf
from rankforce.models.dag import NODE_FIELDS
from rankforce.models.file_versions import LATEST
from rankforce.models.storage import model_kinds, to_bytes

PAGE = (Path(__file__).parents[2] / "docs" / "model_format.md").read_text(encoding="utf-8")
QUICK: dict[str, Any] = {"progress": False}


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def rows(title: str) -> dict[str, str]:
    """Names in the first cell of a table -> its row."""
    found = {}
    for line in re.findall(r"^\| `.*$", section(title), flags=re.MULTILINE):
        for name in re.findall(r"`([^`]+)`", line.split("|")[1]):
            found[name] = line
    return found


@pytest.fixture(scope="module")
def files() -> dict[str, dict[str, Any]]:
    """The file of a model of every kind, as plain values."""
    data = rf.make_artificial(queries=12, documents=8, features=3, seed=0)
    trees = rf.LambdaMART(n_trees=2, n_leaves=4, min_documents=2, **QUICK).fit(data)
    grades = rf.MART("multiclass", n_trees=1, n_leaves=3, min_documents=2, **QUICK).fit(data)
    net = rf.LambdaRank(hidden=2, epochs=1, **QUICK).fit(data)
    combined = rf.combine([trees, net], data, "NDCG")
    learned = rf.combine([trees, net], data, "NDCG", method="net", hidden=2)
    models = [
        trees,
        grades,
        net,
        rf.PRank(epochs=1, **QUICK).fit(data),
        rf.XRank(n_steps=3, **QUICK).fit(data),
        combined.model,
        learned.model,
        rf.Bagging(rf.LambdaMART(n_trees=1, min_documents=2, **QUICK), n_models=2, **QUICK).fit(data),
    ]
    written = [json.loads(to_bytes(getattr(model, "model_", model))) for model in models]
    return {document["kind"]: document for document in written}


def test_every_kind_is_on_the_page(files: dict[str, dict[str, Any]]) -> None:
    assert set(rows("Kinds")) & set(model_kinds()) == set(model_kinds()) == set(files)


def test_the_frame_is_what_the_page_says(files: dict[str, dict[str, Any]]) -> None:
    named = list(rows("The frame"))
    for document in files.values():
        assert list(document) == [name for name in named if name != "categories"]
    assert f"or {LATEST}:" in rows("The frame")["version"]


def test_contents_are_what_the_page_says(files: dict[str, dict[str, Any]]) -> None:
    for kind, document in files.items():
        row = rows("Kinds")[kind].split("|")[3]
        named = set(re.findall(r"`(\w+)`", row)) | (set(NODE_FIELDS) if "the fields of nodes" in row else set())
        assert set(document["contents"]) == named - {"double_leaves"}, kind


def test_provenance_is_what_the_page_says(files: dict[str, dict[str, Any]]) -> None:
    assert set(files["tree ensemble"]["provenance"]) == set(rows("Provenance"))


def test_fields_of_trees_are_what_the_page_says(files: dict[str, dict[str, Any]]) -> None:
    named = set(rows("Trees"))
    frame = pd.DataFrame({"qid": np.repeat(np.arange(20), 10), "brand": [*"abcde"] * 40})
    frame["label"] = frame["brand"].isin(["a", "c"]).astype(int)
    with_sets = rf.LambdaMART(n_trees=1, min_documents=2, **QUICK).fit(rf.Dataset(frame))
    document = json.loads(to_bytes(with_sets.model_))
    assert document["version"] == 3
    assert document["categories"] == {"brand": [*"abcde"]}
    (tree,) = document["contents"]["trees"]
    assert set(tree) == named
    plain = files["tree ensemble"]["contents"]["trees"][0]
    assert set(plain) == {name for name in named if not name.startswith("subset_")}
    words = iter(tree["subset_words"])
    for node, size in zip(tree["subset_nodes"], tree["subset_sizes"], strict=True):
        bits = sum(next(words) << (32 * place) for place in range(size))
        left = {code for code in range(5) if bits >> code & 1}
        assert tree["feature"][node] == 0
        assert node > 0 or left in ({0, 2}, {1, 3, 4}), "the first set tells the good brands from the others"


def test_a_net_is_scored_as_the_page_says() -> None:
    data = rf.make_artificial(queries=6, documents=5, features=3, seed=1)
    model = rf.LambdaRank(hidden=2, epochs=1, scaling="log1p", **QUICK).fit(data).model_
    contents = json.loads(to_bytes(model))["contents"]
    weights, hidden = np.array(contents["weights"]), contents["hidden"]
    x = data.features.astype(np.float64)
    x = (np.sign(x) * np.log1p(np.abs(x)) - contents["centre"]) / contents["scale"]
    inner, biases = weights[: hidden * 3].reshape(hidden, 3), weights[hidden * 3 : hidden * 4]
    scores = np.tanh(x @ inner.T + biases) @ weights[hidden * 4 : -1] + weights[-1]
    np.testing.assert_allclose(scores, model.predict(data), rtol=1e-5)
