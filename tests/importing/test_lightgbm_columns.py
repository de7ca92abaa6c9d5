"""LightGBM's trees read all at once, by the kernel or without it, against the reader that goes node by node."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.importing.foreign_files import LIGHTGBM_TEXT
from tests.importing.mutations import damaged

from rankforce.errors import RankforceError
from rankforce.importing import lightgbm_columns, lightgbm_text
from rankforce.importing.recognising import read_foreign
from rankforce.models.storage import to_bytes

TEXT = LIGHTGBM_TEXT.encode() if isinstance(LIGHTGBM_TEXT, str) else LIGHTGBM_TEXT
WAYS = ("kernel", "columns", "node by node")


def random_text(seed, sizes, features=5, counts=True):
    """A file as LightGBM writes it: nodes numbered as they were split, thresholds of every kind."""
    rng = np.random.default_rng(seed)
    blocks = []
    for number, leaves in enumerate(sizes):
        children = np.zeros((leaves - 1, 2), dtype=int)
        hangs = [(-1, 0)]  # where each leaf hangs
        for node in range(leaves - 1):
            leaf = int(rng.integers(len(hangs)))
            above, side = hangs[leaf]
            if above >= 0:
                children[above, side] = node
            children[node] = ~leaf, ~len(hangs)
            hangs[leaf] = (node, 0)
            hangs.append((node, 1))
        thresholds = rng.standard_normal(leaves - 1) * 10.0 ** rng.integers(-3, 4, leaves - 1)
        special = [1.0000000180025095e-35, -1e-36, 0.0, -0.0, 1e300, 3.4028234663852886e38, 1e-35, 16777217.0, -1e-45]
        odd = rng.random(leaves - 1) < 0.3
        thresholds[odd] = rng.choice(special, odd.sum())
        entries = {
            "num_leaves": leaves,
            "num_cat": 0,
            "split_feature": rng.integers(0, features, leaves - 1),
            "split_gain": rng.random(leaves - 1).round(4),
            "threshold": thresholds,
            "decision_type": rng.choice([0, 2, 8, 10], leaves - 1),
            "left_child": children[:, 0],
            "right_child": children[:, 1],
            "leaf_value": rng.standard_normal(leaves) * 0.1,
            "leaf_weight": rng.random(leaves),
            "leaf_count": rng.integers(0, 1000, leaves) if counts else [],
            "is_linear": 0,
            "shrinkage": 0.1,
        }
        lines = [f"{key}={' '.join(map(repr, np.ravel(value).tolist()))}" for key, value in entries.items()]
        blocks.append("\n".join([f"Tree={number}", *lines, "\n"]))
    head = f"tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx={features - 1}\n"
    names = " ".join(f"Column_{place}" for place in range(features))
    return f"{head}objective=lambdarank\nfeature_names={names}\n\n{''.join(blocks)}\nend of trees\n\nend".encode()


def outcome(data, way, monkeypatch):
    """The file of the model, or the error; and whether all trees were read at once."""
    with monkeypatch.context() as patch:
        made = []

        def counted(original):
            def read(*arguments):
                made.append(original(*arguments))
                return made[-1]

            return read

        patch.setattr(lightgbm_text, "worth_it", lambda size, kernel: way == "kernel")
        compiled, simple = lightgbm_text._compiled_trees, lightgbm_text._simple_trees
        patch.setattr(lightgbm_text, "_compiled_trees", counted(compiled))
        patch.setattr(lightgbm_text, "_simple_trees", counted(simple) if way == "columns" else lambda *_: None)
        try:
            return to_bytes(read_foreign(data, "model")), any(one is not None for one in made)
        except RankforceError as error:
            return str(error), False


@pytest.mark.parametrize("sizes", [[1], [2], [31, 1, 7], [1, 1], [63] * 4, [3, 200]])
@pytest.mark.parametrize("counts", [True, False])
def test_all_ways_read_the_same_model(sizes, counts, monkeypatch):
    data = random_text(len(sizes), sizes, counts=counts)
    kernel, columns, slow = (outcome(data, way, monkeypatch) for way in WAYS)
    assert kernel == columns
    assert kernel[1]
    assert kernel[0] == slow[0]
    assert isinstance(slow[0], bytes)


def test_a_file_of_lightgbm_itself(monkeypatch):
    results = [outcome(TEXT, way, monkeypatch)[0] for way in WAYS]
    assert isinstance(results[0], bytes)
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"decision_type=", b"decision_type=4 "),  # zeros are missing values
        (b"num_cat=0", b"num_cat=1"),
        (b"is_linear=0", b"is_linear=1"),
        (b"is_linear=0\n", b""),
        (b"is_linear=0", b" is_linear=0"),
        (b"threshold=", b"threshold=nan "),
        (b"threshold=", b"threshold=-1e300 "),
        (b"threshold=", b"threshold=-inf "),
        (b"leaf_value=", b"leaf_value=-0 "),
        (b"leaf_value=", b"leaf_value=  "),
        (b"leaf_value=", b"leaf_value=1_0 "),
        (b"leaf_value=", b"leaf_value=12345678901234567890.5 "),
        (b"num_leaves=5", b"num_leaves=4"),
        (b"num_leaves=5", b"num_leaves=99999999"),
        (b"num_leaves=5", b"num_leaves=5\nnum_leaves=5"),
        (b"left_child=", b"left_child=0 "),
        (b"Tree=1", b" Tree=1"),
        (b"Tree=1\n", b"Tree=1\n\xff\n"),
        (b"split_gain=", b"split_gain=inf "),
        (b"\n", b"\r\n"),
    ],
)
def test_what_is_special_is_read_node_by_node_or_refused(old, new, monkeypatch):
    for exchanged in (False, True):  # with one number more, or in place of another
        data = random_text(4, [5, 5, 5])
        at = data.index(old)
        if exchanged and new.endswith(b" "):
            behind = data.index(b" ", at)
            data = data[:at] + new + data[behind + 1 :]
        else:
            data = data.replace(old, new) if old == b"\n" else data.replace(old, new, 1)
        results = [outcome(data, way, monkeypatch)[0] for way in WAYS]
        assert results[0] == results[1] == results[2]


@pytest.mark.compiled_only
def test_damaged_files_end_alike(monkeypatch):
    source = random.Random(7)
    kinds = set()
    for number in range(120):
        data = damaged(random_text(number, [4, 1, 6]), source)
        if not data.startswith(lightgbm_text.BEGIN):
            continue
        results = [outcome(data, way, monkeypatch)[0] for way in WAYS]
        assert results[0] == results[1] == results[2]
        kinds.add(type(results[0]))
    assert kinds == {bytes, str}


def test_nodes_that_stand_before_the_one_above_them_are_read_node_by_node(monkeypatch):
    """A walk numbers them anew; all at once they must stand in the order in which they were split."""
    data = random_text(4, [3]).replace(b"left_child=", b"left_child=1 -1\nother=").replace(
        b"right_child=", b"right_child=-2 -3\nmore="
    )  # fmt: skip
    assert outcome(data, "columns", monkeypatch) == outcome(data, "kernel", monkeypatch)
    assert outcome(data, "columns", monkeypatch)[1]
    columns = {key: np.zeros(2) for key in lightgbm_columns.NODE_KEYS} | {
        key: np.ones(3) for key in lightgbm_columns.LEAF_KEYS
    }
    columns["decision_type"][:] = 2
    columns["left_child"][:], columns["right_child"][:] = [-1, 0], [-2, -3]
    assert lightgbm_columns.flat_trees(np.array([3]), columns, 5) is None
