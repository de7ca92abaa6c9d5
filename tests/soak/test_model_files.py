"""Mutated model files: an error of ours, or the model that the file describes; never another one."""

from __future__ import annotations

import copy
import dataclasses
import gzip
import hashlib
import json
import math
import os
import random

import numpy as np
import pytest

from rankforce.errors import ModelFileError
from rankforce.models.bagged import Bagged
from rankforce.models.combination import Combination
from rankforce.models.dag import RankingGraph
from rankforce.models.expected_grade import ExpectedGrade, GradeLink
from rankforce.models.model import Model
from rankforce.models.net import Net
from rankforce.models.net_layout import Layout
from rankforce.models.net_scaling import Scaling
from rankforce.models.perceptron import Perceptron
from rankforce.models.provenance import Provenance
from rankforce.models.stacked import Stacked
from rankforce.models.storage import from_bytes, model_kinds, to_bytes
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.trees.tree import Tree

FACTOR = float(os.environ.get("RANKFORCE_SOAK", "1"))

NAMES = ("bm25", "pagerank")
PROVENANCE = Provenance(
    settings={"n_trees": 2, "monotone": {"bm25": 1}},
    objective="NDCG@10",
    history={"train": [0.25, float("nan")]},
    feature_lows=(0.0, float("nan")),
    feature_highs=(1.0, float("nan")),
    missing_shares=(0.0, 1.0),
    versions={"rankforce": "0.1.0"},
    seed=7,
)
ODD = [
    0,
    1,
    -1,
    2,
    3,
    0.5,
    -0.5,
    1e300,
    -1e300,
    1e-300,
    2**31,
    2**63,
    -(2**63) - 1,
    10**400,
    True,
    False,
    None,
    "",
    "1",
]
ODD += [
    [],
    {},
    [1],
    [[1]],
    {"float": "inf"},
    {"float": "-inf"},
    {"float": "nan"},
    {"float": 1},
    "nan",
    "a\x1b[2J\u202e",
]
ODD += ["x" * 10_000, {"kind": "net"}, [None], ["bm25"], "tree ensemble", "net"]


def tree() -> Tree:
    return Tree(
        feature=np.array([0, 1], np.int32),
        threshold=np.array([0.5, 0.25], np.float32),
        missing_left=np.array([True, False]),
        left=np.array([1, ~0], np.int32),
        right=np.array([~1, ~2], np.int32),
        gain=np.array([2.0, 1.0]),
        leaf_value=np.array([0.5, -0.5, 0.25], np.float32),
        leaf_documents=np.array([3, 2, 1]),
    )


def tree_with_set() -> Tree:
    more = {"subset": np.array([-1, 0]), "subset_starts": np.array([0, 1]), "subset_words": np.array([5])}
    return dataclasses.replace(tree(), threshold=np.array([0.5, 0.0], np.float32), **more)


def some_models() -> list[Model]:
    trees = TreeEnsemble.from_trees([tree(), tree()], NAMES, provenance=PROVENANCE)
    scaling = Scaling("standard", np.array([0.5, 1.0]), np.array([1.0, 2.0]))
    nets = [
        Net(feature_names=NAMES, scaling=scaling, hidden=hidden, weights=np.linspace(-1, 1, Layout(2, hidden).size))
        for hidden in (0, 2)
    ]
    graph = RankingGraph(
        feature_names=NAMES,
        feature=np.array([0, 1]),
        threshold=np.array([0.5, 0.25]),
        missing_left=np.array([True, False]),
        left=np.array([1, ~0]),
        right=np.array([~1, ~1]),
        gain=np.array([1.0, 2.0]),
        documents=np.array([4, 5]),
    )
    arrays = {"means": [0, 1], "deviations": [1, 2], "weights": [1, -1], "thresholds": [0.5], "grades": [0, 1]}
    perceptron = Perceptron(feature_names=NAMES, kernel="linear", **{n: np.array(v, float) for n, v in arrays.items()})
    link = GradeLink("ordinal", np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 3.0]))
    grades = ExpectedGrade(feature_names=NAMES, link=link, members=(trees, trees))
    return [
        *(trees, *nets, graph, perceptron, grades),
        TreeEnsemble.from_trees([tree()], NAMES, base_model=trees),
        TreeEnsemble.from_trees([tree_with_set()], NAMES, categories={NAMES[1]: ("acme", 7, "zeta")}),
        Bagged.of(trees, nets[1]),
        Combination.of([trees, nets[0]], [0.25, -1.0], provenance=PROVENANCE),
        Stacked.of([trees, nets[0]], nets[1]),
    ]


def places(value, path=()):
    """The path of every value within a document."""
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from places(entry, (*path, key))


def changed(rng: random.Random, document):
    """The document with one value replaced, removed or repeated."""
    document = copy.deepcopy(document)
    path = rng.choice(list(places(document))[1:])
    parent = document
    for key in path[:-1]:
        parent = parent[key]
    kind = rng.random()
    if kind < 0.7:
        parent[path[-1]] = copy.deepcopy(rng.choice(ODD))
    elif kind < 0.85:
        del parent[path[-1]]
    elif isinstance(parent, list):
        parent.insert(path[-1], copy.deepcopy(parent[path[-1]]))
    else:
        parent["another"] = parent[path[-1]]
    return document


def as_file(rng: random.Random, document) -> bytes:
    """A document as a model file with a right digest; now and then a number beyond all numbers in it."""
    text = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in document.items())
    if rng.random() < 0.05:
        text = text.replace("0.5", rng.choice(["1e999", "NaN", "Infinity", "5e-1", "1" * 5000]), 1)
    body = b"{" + text.encode() + b","
    return body + f'\n"sha256": "{hashlib.sha256(body).hexdigest()}"}}\n'.encode()


def agrees(told, loaded) -> bool:
    """Whether what a file says is what the loaded model says; float32 numbers up to their rounding."""
    if isinstance(told, dict) and isinstance(loaded, dict):
        told = {"watched": {}, "ties": ""} | told  # of provenance: older files do not have them
        return all(key in told and agrees(told[key], entry) for key, entry in loaded.items())
    if isinstance(told, list) and isinstance(loaded, list):
        return len(told) == len(loaded) and all(map(agrees, told, loaded))
    if type(told) in (int, float) and type(loaded) in (int, float):
        return told == loaded or math.isclose(told, loaded, rel_tol=1e-6, abs_tol=1e-37)
    return told == loaded and isinstance(told, bool) == isinstance(loaded, bool)


def check_model_file(rng: random.Random, models: list[Model]) -> bool:
    """One case; whether it was loaded."""
    model = rng.choice(models)
    original = to_bytes(model)
    if rng.random() < 0.25:  # damage: never loaded
        data = bytearray(gzip.compress(original, 1) if rng.random() < 0.3 else original)
        place = rng.randrange(len(data))
        if rng.random() < 0.5:
            del data[place : place + rng.randint(1, 50)]
        else:
            data[place] ^= 1 << rng.randrange(8)
        try:
            loaded = from_bytes(bytes(data), "damaged")
        except ModelFileError:
            return False
        assert to_bytes(loaded) == original  # bits of the gzip header that mean nothing
        return True
    document = json.loads(original)
    del document["sha256"]
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        document = changed(rng, document)
    try:
        loaded = from_bytes(as_file(rng, document), "changed")
    except ModelFileError as error:
        text = str(error)
        if not all(line.isprintable() for line in text.split("\n")) or len(text) > 20_000:
            raise AssertionError(f"not printable: {text!r:.200}") from error
        return False
    again = json.loads(to_bytes(loaded))
    del again["sha256"]
    document.pop("version", None)  # of a file that could do with an older, or would need a later one
    del again["version"]
    assert agrees(document, again)
    rows = np.array([[0.5, 1.0], [float("nan"), 0.0]], np.float32)
    if loaded.categories or loaded.unnamed_categories:
        rows = np.zeros_like(rows)  # a code that there always is
    if loaded.n_features == 2:
        with np.errstate(over="ignore", invalid="ignore"):
            assert loaded.predict(rows).shape == (2,)
    assert str(loaded)
    return True


def check_model_files(count: int, seed: int) -> None:
    models = some_models()
    assert {model.KIND for model in models} == set(model_kinds())
    loaded = 0
    for case in range(count):
        try:
            loaded += check_model_file(random.Random(f"{seed} {case}"), models)
        except Exception as error:
            raise AssertionError(f"case {case} of seed {seed}: {type(error).__name__}: {error}") from error
    print(f"{count:,} model files, {loaded:,} loaded")
    assert 0.02 * count < loaded < 0.6 * count


def test_mutated_model_files():
    check_model_files(1500, seed=1)


@pytest.mark.soak
def test_many_mutated_model_files():
    check_model_files(int(200_000 * FACTOR), seed=2)
