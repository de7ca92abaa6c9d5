"""The kernel that reads trees, against JSON, which reads anything."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.models.random_trees import random_ensemble

from rankforce.compiling.jit import PLAIN
from rankforce.errors import ModelFileError
from rankforce.models import tree_lines, tree_text
from rankforce.models.bagged import Bagged
from rankforce.models.storage import from_bytes, to_bytes
from rankforce.models.tree_ensemble import LEAF_FIELDS, NODE_FIELDS, TreeEnsemble

TYPES = NODE_FIELDS | LEAF_FIELDS
LINE = (
    '{"feature": [3, 1], "threshold": [0.5, -1e-05], "missing_left": [true, false], "left": [1, -1], '
    '"right": [-2, -3], "gain": [10.0, 1.5e+16], "leaf_value": [0.1, -0.0, 2.5], "leaf_documents": [7, 8, 0]}'
)


def read(lines):
    """What the kernel reads of a list of trees, and None where it leaves it to others."""
    data = f'"trees": [\n{lines}]\n'.encode()
    found = tree_lines.read(data, 11, len(data), TYPES, LEAF_FIELDS)
    return found[:2] if found and found[2] == len(data) - 2 else None


def by_json(lines):
    """The same, by JSON; None where it is not a list of trees."""
    import json

    try:
        trees = json.loads(f"[{lines}]")
    except ValueError:
        return None
    return {name: [value for tree in trees for value in tree[name]] for name in TYPES}, [
        len(tree["feature"]) for tree in trees
    ]


@pytest.mark.parametrize("lines", [LINE, f"{LINE},\n{LINE}", ",\n".join([LINE] * 50)])
def test_the_kernel_reads_what_json_reads(lines):
    columns, nodes = read(lines)
    expected, expected_nodes = by_json(lines)
    assert nodes == expected_nodes
    for name, values in columns.items():
        assert values.tobytes() == np.array(expected[name], dtype=values.dtype).tobytes(), name


def test_trees_of_one_leaf():
    leaf = (
        '{"feature": [], "threshold": [], "missing_left": [], "left": [], "right": [], "gain": [], '
        '"leaf_value": [0.25], "leaf_documents": [3]}'
    )
    columns, nodes = read(f"{leaf},\n{LINE},\n{leaf}")
    assert nodes == [0, 2, 0]
    assert columns["leaf_value"].tolist() == [0.25, 0.1, -0.0, 2.5, 0.25]
    assert columns["feature"].tolist() == [3, 1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[3, 1]", "[3,1]"),
        ("[3, 1]", "[3, 1.0]"),
        ("[3, 1]", "[3, 01]"),
        ("[3, 1]", "[3]"),
        ("[3, 1]", "[3, 1, 2]"),
        ("[3, 1]", "[3, ]"),
        ("[3, 1]", "[3, 1"),
        ("0.5", "5"),
        ("0.5", "NaN"),
        ("0.5", '{"float": "nan"}'),
        ("true", "True"),
        ("true", "tru"),
        ("true", "1"),
        ('"gain"', '"gains"'),
        ("{", "{ "),
        ("]}", "]} "),
        ("]}", "], }"),
        ("[7, 8, 0]", "[7, 8]"),
        ("[7, 8, 0]", "[7, 8, 99999999999999999999]"),
        ("[0.1, -0.0, 2.5]", "[0.1, -0.0]"),
    ],
)
def test_what_is_written_in_another_way_is_left_to_others(old, new):
    assert read(LINE.replace(old, new, 1)) is None
    assert read(f"{LINE},\n{LINE.replace(old, new, 1)}") is None


def test_numbers_that_the_kernel_cannot_read_are_read_by_python():
    hard = ["12345678901234567890.123456", "5e-324", "1e+400", "1e23"]
    lines = ",\n".join(LINE.replace("1.5e+16", one) for one in hard)
    columns, _ = read(lines)
    assert columns["gain"][1::2].tolist() == [float(one) for one in hard]


def test_a_list_that_would_not_fit_is_not_read():
    """Places are for numbers in all lists: one long list is none of ours."""
    assert read(LINE.replace("[3, 1]", "[" + ", ".join(["3"] * 500) + "]")) is None


def test_there_is_room_for_trees_that_take_the_least():
    """One leaf each, of numbers as short as they can be: 200 of them, none of which may be written beyond its array."""
    leaf = (
        '{"feature": [], "threshold": [], "missing_left": [], "left": [], "right": [], "gain": [], '
        '"leaf_value": [0.0], "leaf_documents": [0]}'
    )
    columns, nodes = read(",\n".join([leaf] * 200))
    assert nodes == [0] * 200
    assert columns["leaf_documents"].tolist() == [0] * 200


def test_more_trees_than_there_is_room_for_are_not_read():
    data = f'"trees": [\n{LINE},\n{LINE},\n{LINE}]\n'.encode()
    assert tree_lines.read(data, 11, 11 + len(LINE) // 2, TYPES, LEAF_FIELDS) is None


def test_bags_take_room_for_their_own_trees(monkeypatch):
    """Of many lists of trees each has room for itself, not for all that follow."""
    model = Bagged.of(*(random_ensemble(seed, [7] * 20) for seed in range(12)))
    data = to_bytes(model)
    room = []

    def counted(data, start, limit, *others, original=tree_lines.read):
        room.append(limit - start)
        return original(data, start, limit, *others)

    monkeypatch.setattr(tree_lines, "worth_it", lambda size: True)
    monkeypatch.setattr(tree_lines, "read", counted)
    assert to_bytes(from_bytes(data)) == data
    assert len(room) == 12
    assert sum(room[1:]) < len(data)


def through_the_kernel(monkeypatch):
    """Read every model by the kernel; how often it was."""
    calls = []

    def counted(*arguments, original=tree_lines.read):
        calls.append(original(*arguments))
        return calls[-1]

    monkeypatch.setattr(tree_lines, "worth_it", lambda size: True)
    monkeypatch.setattr(tree_lines, "read", counted)
    return calls


def arrays(model):
    return {
        field.name: value.tobytes() if isinstance(value, np.ndarray) else value
        for field in dataclasses.fields(model)
        for value in [getattr(model, field.name)]
        if field.name not in ("provenance", "base_model")
    }


@pytest.mark.parametrize("double_leaves", [False, True])
def test_models_are_the_same(monkeypatch, double_leaves):
    base = random_ensemble(3, [5, 1, 9])
    model = random_ensemble(1, [31, 1, 2, 63, 1, 7], base_model=base)
    if double_leaves:
        values = np.random.default_rng(0).standard_normal(len(model.leaf_value))
        model = dataclasses.replace(model, leaf_value=values, double_leaves=True)
    data = to_bytes(model)
    plain = from_bytes(data)
    calls = through_the_kernel(monkeypatch)
    read_model = from_bytes(data)
    assert len(calls) == 2
    assert None not in calls
    assert isinstance(plain, TreeEnsemble)
    assert arrays(read_model) == arrays(plain)
    assert to_bytes(read_model) == data


@pytest.mark.compiled_only
def test_damaged_trees_are_refused_alike(monkeypatch):
    """Random bytes of the trees exchanged, the digest made anew: kernel, NumPy and JSON accept and refuse the same."""
    import hashlib

    data = bytearray(to_bytes(random_ensemble(5, [4, 1, 3])))
    begin, end = data.index(b'"trees"'), data.index(b'\n"sha256"')
    rng = np.random.default_rng(4)
    outcomes = set()
    for _ in range(600):
        damaged = data[:end]
        place = int(rng.integers(begin, end))
        damaged[place] = rng.choice(np.frombuffer(b'0123456789-.,e []{}"\ntx', dtype=np.uint8))
        digest = hashlib.sha256(damaged).hexdigest()
        file = bytes(damaged) + f'\n"sha256": "{digest}"}}\n'.encode()
        results = []
        for way in ("kernel", "NumPy", "JSON"):
            with monkeypatch.context() as patch:
                if way == "kernel":
                    through_the_kernel(patch)
                elif way == "NumPy":
                    patch.setattr(tree_lines, "worth_it", lambda size: False)
                else:
                    patch.setattr(tree_text, "cut_out", lambda data, *_: (data, []))
                try:
                    results.append(to_bytes(from_bytes(file)))
                except ModelFileError as error:
                    results.append(str(error))
        assert results[0] == results[1] == results[2]
        outcomes.add(type(results[0]))
    assert outcomes == {bytes, str}


def test_small_files_do_not_load_the_compiler(monkeypatch):
    from rankforce.compiling import jit
    from rankforce.kernels.tree_text import read_tree_lines

    assert not PLAIN or not tree_lines.worth_it(2**30)
    monkeypatch.setattr(type(read_tree_lines), "compiled", property(lambda self: False))
    monkeypatch.setattr(type(read_tree_lines), "is_on_disk", property(lambda self: True))
    monkeypatch.setattr(jit, "is_loaded", lambda: False)
    assert not tree_lines.worth_it(2**24)
    monkeypatch.setattr(jit, "is_loaded", lambda: True)
    assert tree_lines.worth_it(2**24)
    assert not tree_lines.worth_it(2**18)
    monkeypatch.setattr(type(read_tree_lines), "is_on_disk", property(lambda self: False))
    assert not tree_lines.worth_it(2**24)
    assert tree_lines.worth_it(2**28)
