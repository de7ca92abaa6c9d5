from __future__ import annotations

import dataclasses
import gzip
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.random_trees import (
    categorical_ensemble,
    random_ensemble,
    random_features,
    slow_scores,
    with_codes,
)

import rankforce as rf
from rankforce.errors import ModelFileError, RankforceError
from rankforce.models import appended_trees, tree_text
from rankforce.models.bagged import Bagged
from rankforce.models.combination import Combination
from rankforce.models.file_versions import LATEST
from rankforce.models.model import Model
from rankforce.models.net import Net
from rankforce.models.net_layout import Layout
from rankforce.models.net_scaling import Scaling
from rankforce.models.provenance import Provenance
from rankforce.models.stacked import Stacked
from rankforce.models.storage import ENDING, FORMAT, from_bytes, load, model_kinds, save, shortest, to_bytes
from rankforce.models.tree_ensemble import LEAF_FIELDS, NODE_FIELDS, TreeEnsemble

PROVENANCE = Provenance(
    settings={"n_trees": 3, "sigma": 0.1, "monotone": {"f1": 1}, "base": None, "threads": 8, "progress": True},
    objective="NDCG@10",
    history={"train NDCG@10": [0.1, float("nan"), float("inf"), -float("inf")], "validation NDCG@10": [0.2, 1 / 3]},
    data_fingerprint="abc",
    feature_lows=(0.0, float("nan"), -3.4e38),
    feature_highs=(1.0, float("nan"), 3.4e38),
    missing_shares=(0.0, 1.0, 0.5),
    versions={"rankforce": "0.1.0"},
    cpu_target="znver3",
    seed=7,
)


def some_models() -> dict[str, Model]:
    trees = random_ensemble(1, [1, 4, 9], provenance=PROVENANCE)
    on_model = random_ensemble(2, [3, 5], base_model=trees, base_score=1e-7)
    return {
        "trees": trees,
        "on a model": on_model,
        "on a feature": random_ensemble(3, [3], base_model="f2"),
        "no trees": random_ensemble(4, []),
        "bagged": Bagged.of(trees, on_model, provenance=PROVENANCE),
        "combination": Combination.of([trees, on_model], [0.1, -2.5e-7], provenance=PROVENANCE),
        "stacked": Stacked.of([trees, on_model], small_net(2), provenance=PROVENANCE),
    }


def small_net(features: int, kind: str = "standard") -> Net:
    rng = np.random.default_rng(0)
    scaling = Scaling(kind, rng.normal(size=features), rng.uniform(1, 2, features))
    names = tuple(str(number) for number in range(1, features + 1))
    weights = rng.normal(size=Layout(features, 3).size)
    return Net(feature_names=names, scaling=scaling, hidden=3, weights=weights)


@pytest.mark.parametrize("name", some_models())
@pytest.mark.parametrize("ending", ["json", "json.gz"])
def test_a_model_reads_back_as_it_was(tmp_path: Path, name: str, ending: str) -> None:
    model = some_models()[name]
    path = tmp_path / f"model.{ending}"
    model.save(path)
    again = rf.load(path)
    assert type(again) is type(model)
    assert again.feature_names == model.feature_names
    assert to_bytes(again) == to_bytes(model)
    matrix = random_features(5, 100, missing=0.0)
    np.testing.assert_array_equal(again.predict(matrix), model.predict(matrix))
    twin = tmp_path / f"twin-with-another-name.{ending}"
    again.save(str(twin))
    assert twin.read_bytes() == path.read_bytes()
    assert sorted(os.listdir(tmp_path)) == sorted([path.name, twin.name])


def test_provenance_is_kept_without_what_does_not_decide_the_model() -> None:
    again = from_bytes(to_bytes(random_ensemble(1, [2], provenance=PROVENANCE))).provenance
    assert again.settings == {"n_trees": 3, "sigma": 0.1, "monotone": {"f1": 1}, "base": None}
    assert again.objective == "NDCG@10"
    assert again.history["validation NDCG@10"] == [0.2, 1 / 3]
    assert np.isnan(again.history["train NDCG@10"][1])
    np.testing.assert_array_equal(again.feature_highs, [1.0, np.nan, 3.4e38])
    assert again.seed == 7
    assert again.cpu_target == "znver3"


def test_provenance_of_a_training() -> None:
    data = rf.Dataset([[1.0, np.nan], [3.0, np.nan]], [0, 1], qid=[1, 1])
    found = Provenance.of_training(data, settings={"measure": rf.NDCG(10)}, objective="NDCG@10", history={}, seed=3)
    assert found.settings == {"measure": "NDCG@10"}
    assert (found.feature_lows[0], found.feature_highs[0], found.missing_shares) == (1.0, 3.0, (0.0, 1.0))
    assert np.isnan(found.feature_lows[1])
    assert found.data_fingerprint == data.fingerprint
    assert found.versions["rankforce"] == rf.__version__
    assert found.cpu_target


def test_combinations_add_weighted_scores() -> None:
    one, other = random_ensemble(1, [4, 3]), random_ensemble(2, [5])
    both = Combination.of([one, other], [0.25, 3.0])
    matrix = np.random.default_rng(0).normal(size=(7, one.n_features)).astype(np.float32)
    wanted = 0.25 * one.predict(matrix) + 3.0 * other.predict(matrix)
    np.testing.assert_array_equal(both.predict(matrix), wanted)
    for models, weights in (([one], [1.0, 2.0]), ([], []), ([one], [np.inf])):
        with pytest.raises(rf.SettingsError):
            Combination.of(models, weights)


def test_a_net_is_stacked_on_the_scores_of_models() -> None:
    one, other = random_ensemble(1, [4, 3]), random_ensemble(2, [5])
    matrix = random_features(5, 20, missing=0.0)
    scores = np.column_stack([one.predict(matrix), other.predict(matrix)]).astype(np.float32)
    np.testing.assert_array_equal(Stacked.of([one, other], small_net(2)).predict(matrix), small_net(2).predict(scores))
    for net in (small_net(3), small_net(2, "query"), one):
        with pytest.raises(rf.SettingsError, match="stacked by a net"):
            Stacked.of([one, other], net)


def test_bagged_models_average() -> None:
    one, other = random_ensemble(1, [5]), random_ensemble(2, [6], features=8)
    matrix = random_features(3, 50, features=8)
    both = Bagged.of(one, other)
    assert both.n_features == 8
    np.testing.assert_array_equal(both.predict(matrix), (one.predict(matrix[:, :7]) + other.predict(matrix)) / 2)
    with pytest.raises(rf.SettingsError, match="at least one"):
        Bagged.of()


def test_every_kind_of_model_is_found_by_its_file() -> None:
    assert {"bagged", "tree ensemble"} <= set(model_kinds())
    assert all(name == kind.KIND for name, kind in model_kinds().items())


def test_the_file_is_json_that_anyone_can_read() -> None:
    document = json.loads(to_bytes(random_ensemble(6, [4, 1], provenance=PROVENANCE)))
    assert document["format"] == FORMAT
    assert document["version"] == 1 <= LATEST
    assert len(document["contents"]["trees"][0]["threshold"]) == 3
    assert document["provenance"]["history"]["train NDCG@10"] == [
        0.1,
        *({"float": one} for one in ("nan", "inf", "-inf")),
    ]


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
@settings(max_examples=100, deadline=None)
def test_float32_numbers_read_back_exactly(numbers: list[float]) -> None:
    values = np.array(numbers, dtype=np.float32)
    again = np.array(json.loads(json.dumps(shortest(values).tolist()))).astype(np.float32)
    np.testing.assert_array_equal(again.view(np.int32), values.view(np.int32))  # also the sign of 0


def test_float32_numbers_are_written_short() -> None:
    assert (
        json.dumps(shortest(np.array([0.1, 1e-7, 16777216.0], dtype=np.float32)).tolist()) == "[0.1, 1e-07, 16777216.0]"
    )


# -------------------------------------------------------------------------------------------------------- broken files

GOOD = to_bytes(random_ensemble(1, [1, 4, 9], base_model=random_ensemble(2, [3]), provenance=PROVENANCE))
GOOD_GZ = gzip.compress(GOOD, mtime=0)


@given(st.integers(0, len(GOOD) - 1))
@settings(max_examples=150, deadline=None)
def test_a_truncated_file_is_refused(length: int) -> None:
    with pytest.raises(ModelFileError, match=r"truncated|empty"):
        from_bytes(GOOD[:length])


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
@settings(max_examples=300, deadline=None)
def test_a_flipped_byte_is_noticed(place: int, flip: int) -> None:
    damaged = bytearray(GOOD)
    damaged[place] ^= flip
    with pytest.raises(ModelFileError):
        from_bytes(bytes(damaged))


@given(st.integers(0, len(GOOD_GZ) - 1))
@settings(max_examples=100, deadline=None)
def test_a_truncated_compressed_file_is_refused(length: int) -> None:
    with pytest.raises(ModelFileError):
        from_bytes(GOOD_GZ[:length])


@given(st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_other_bytes_are_refused(data: bytes) -> None:
    for content in (data, b"\x1f\x8b" + data, GOOD + data + b"x"):
        with pytest.raises(ModelFileError):
            from_bytes(content)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"{}", "not a rankforce model"),
        (b'{"learner": {"version": [2, 0]}}', "not a rankforce model"),
        (b"tree\nversion=v4\n", "not a rankforce model"),
        (GOOD[:20], "truncated"),
        (GOOD[:-5], "truncated"),
        (GOOD.replace(b'"seed": 7', b'"seed": 8'), "damaged or edited"),
        (json.dumps(json.loads(GOOD), indent=1).encode(), "not a rankforce model"),
        (GOOD.replace(b'"version": 1,', b'"version": 4,', 1)[:-90], "version 4.*upgrade"),
    ],
)
def test_the_error_says_what_is_wrong(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=says) as caught:
        load(path)
    assert "broken.json" in str(caught.value)


def signed(body: str) -> bytes:
    """A file with this text before its digest, which then fits: what somebody who means harm would write."""
    data = body.encode()
    return data + f'\n"sha256": "{hashlib.sha256(data).hexdigest()}"}}\n'.encode()


def body_of(document: dict[str, Any]) -> str:
    rest = {key: value for key, value in document.items() if key not in ("format", "version", "sha256")}
    return f'{{"format": "{FORMAT}",\n"version": {document["version"]},\n' + json.dumps(rest)[1:-1] + ","


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path to every value of a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(inner for key, item in items for inner in places(item, (*path, key)))]


DOCUMENT = json.loads(GOOD)
PLACES = [path for path in places(DOCUMENT) if path and path[0] not in ("format", "version", "sha256")]
ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 40), st.sampled_from([2**31, -(2**63), 10**400]), st.floats(),
    st.text(max_size=3), st.just([]), st.just({}), st.just([[1]]), st.just({"float": "nan"}),
)  # fmt: skip


@given(st.sampled_from(PLACES), ANYTHING, st.booleans())
@settings(max_examples=500, deadline=None)
def test_a_file_made_to_harm_gives_a_sound_model_or_an_error(place: tuple[Any, ...], value: Any, remove: bool) -> None:
    document = json.loads(GOOD)
    holder = document
    for key in place[:-1]:
        holder = holder[key]
    if remove:
        del holder[place[-1]]
    else:
        holder[place[-1]] = value
    try:
        model = from_bytes(signed(body_of(document)))
    except ModelFileError:
        return
    matrix = np.zeros((70, model.n_features), dtype=np.float32)
    assert np.isfinite(model.predict(matrix)).all()
    assert to_bytes(from_bytes(to_bytes(model))) == to_bytes(model)


def test_well_signed_files_that_are_no_models() -> None:
    assert to_bytes(from_bytes(signed(body_of(DOCUMENT)))) == GOOD  # the signature itself is right
    deep = '{"format": "rankforce model",\n"version": 1,\n"kind": ' + "[" * 100_000 + "]" * 100_000 + ","
    for body in (body_of(DOCUMENT | {"kind": "oracle"}), deep, body_of(DOCUMENT).replace('"seed": 7', '"seed": NaN')):
        with pytest.raises(ModelFileError):
            from_bytes(signed(body))
    with pytest.raises(ModelFileError, match=r"version 9.*upgrade"):
        from_bytes(signed(body_of(DOCUMENT | {"version": 9})))


def test_paths_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cannot be read"):
        load(tmp_path / "absent.json")
    with pytest.raises(ModelFileError, match="cannot be read"):
        load(tmp_path)
    with pytest.raises(ModelFileError, match="cannot be written"):
        save(random_ensemble(1, [2]), tmp_path / "no" / "folder.json")
    with pytest.raises(ModelFileError, match="cannot be written"):
        save(random_ensemble(1, [2]), tmp_path)
    assert os.listdir(tmp_path) == []
    for wrong in (None, 3, "a\0b"):
        with pytest.raises(RankforceError, match="path"):
            load(wrong)  # type: ignore[arg-type]
        with pytest.raises(RankforceError, match="path"):
            save(random_ensemble(1, [2]), wrong)  # type: ignore[arg-type]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.json"
    random_ensemble(1, [2]).save(path)
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelFileError, match="No space left"):
        random_ensemble(2, [3]).save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.json"]


def test_a_large_model_loads_about_as_fast_as_its_json(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    random_ensemble(1, [31] * 1000, features=136).save(path)
    ours, plain = [], []
    for _ in range(3):  # in turns, in time of the processor: the machine may be busy
        start = time.process_time()
        load(path)
        loaded = time.process_time()
        json.loads(path.read_bytes())
        ours.append(loaded - start)
        plain.append(time.process_time() - loaded)
    assert min(ours) < 10.0 * min(plain)


WITHOUT_COMPILER = """
import sys
for name in ("numba", "llvmlite", "sklearn", "scipy"):
    sys.modules[name] = None
import numpy as np
import rankforce as rf
model = rf.load(sys.argv[1])
np.save(sys.argv[3], model.predict(np.load(sys.argv[2])))
"""


def test_numpy_alone_scores_a_saved_model(tmp_path: Path) -> None:
    model = Bagged.of(*(random_ensemble(seed, [31, 1, 70], base_model=random_ensemble(9, [3])) for seed in range(2)))
    matrix = random_features(3, 300)
    model.save(tmp_path / "model.json.gz")
    np.save(tmp_path / "features.npy", matrix)
    files = [str(tmp_path / name) for name in ("model.json.gz", "features.npy", "scores.npy")]
    source = str(Path(rf.__file__).parents[1])
    subprocess.run(
        [sys.executable, "-c", WITHOUT_COMPILER, *files],
        check=True,
        env={**os.environ, "PYTHONPATH": source},
        timeout=120,
    )
    np.testing.assert_array_equal(np.load(tmp_path / "scores.npy"), model.predict(matrix))


def test_loading_imports_neither_numba_nor_sklearn(tmp_path: Path) -> None:
    random_ensemble(1, [3]).save(tmp_path / "model.json")
    script = "import sys, rankforce as rf; rf.load(sys.argv[1]); print(sorted({'numba', 'sklearn'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "model.json")],
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(rf.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hidden", {"float": "inf"}),
        ("hidden", 2.0),
        ("hidden", 10**30),
        ("hidden", True),
        ("hidden", -1),
        ("sigma", {"float": "inf"}),
        ("sigma", "1"),
        ("weights", [{"float": "nan"}]),
        ("seed", -1),
        ("seed", 2**64),
        ("seed", 1.0),
        ("missing_shares", [2.0, 0.0]),
        ("missing_shares", [0.0]),
        ("feature_lows", [{"float": "-inf"}, 0.0]),
        ("feature_highs", [-5.0, -5.0]),
        ("version", 0),
        ("version", True),
        ("feature_names", ["n" * 5000, "b"]),
    ],
)
def test_every_number_of_a_file_is_checked(key: str, value: Any) -> None:
    provenance = Provenance(feature_lows=(0, 0), feature_highs=(1, 1), missing_shares=(0, 0), seed=1)
    document = json.loads(to_bytes(dataclasses.replace(small_net(2), provenance=provenance)))
    del document["sha256"]
    place = next(part for part in (document, document["contents"], document["provenance"]) if key in part)
    place[key] = value
    text = ",\n".join(f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in document.items())
    body = b"{" + text.encode() + b","
    with pytest.raises(ModelFileError):
        from_bytes(body + f'\n"sha256": "{hashlib.sha256(body).hexdigest()}"}}\n'.encode())


@pytest.mark.parametrize("sizes", [[1], [4, 1, 31], [1, 1], [2] * 30])
def test_trees_read_by_the_column_are_those_read_as_json(sizes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    model = random_ensemble(8, sizes)
    whole = TreeEnsemble.from_trees(random_ensemble(9, [5]).trees, model.feature_names, base_model=model)
    for one in (model, whole, model.truncate(0)):
        data = to_bytes(one)
        _, sections = tree_text.cut_out(data, NODE_FIELDS | LEAF_FIELDS, LEAF_FIELDS)
        assert len(sections) == (2 if one is whole else min(1, one.n_trees))
        fast = from_bytes(data)
        monkeypatch.setattr(tree_text, "cut_out", lambda data, types, leaves: (data, []))
        assert to_bytes(from_bytes(data)) == to_bytes(fast) == data
        monkeypatch.undo()


def test_double_leaves_are_kept_in_a_file_of_version_2() -> None:
    values = np.array([0.1, -1 / 3])
    tree = dataclasses.replace(random_ensemble(8, [2]).trees[0], leaf_value=values)
    model = TreeEnsemble.from_trees([tree], [f"f{k}" for k in range(7)], double_leaves=True)
    around = TreeEnsemble.from_trees([], model.feature_names, base_model=model)
    for one in (model, around):
        assert json.loads(to_bytes(one))["version"] == 2
        assert to_bytes(from_bytes(to_bytes(one))) == to_bytes(one)
    np.testing.assert_array_equal(from_bytes(to_bytes(model)).leaf_value, values)
    matrix = random_features(1, 100)
    expected = slow_scores([tree], matrix)
    for documents in (1, 10, 100):
        np.testing.assert_array_equal(model.predict(matrix[:documents]), expected[:documents])
        np.testing.assert_array_equal(around.predict(matrix[:documents]), expected[:documents])
    assert set(expected) <= set(values)


COUNTS = {1: 5, 4: 70}
CATEGORIES = {"f1": tuple("abcdö"), "f4": tuple(range(70))}


@pytest.mark.parametrize("sizes", [[2], [4, 1, 31], [31] * 12])
def test_sets_of_categories_are_read_by_the_column_as_they_are_as_json(
    sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = categorical_ensemble(8, sizes, COUNTS, categories=CATEGORIES)
    around = TreeEnsemble.from_trees(model.trees, model.feature_names, base_model=model, categories=CATEGORIES)
    matrix = with_codes(2, random_features(1, 100), COUNTS)
    for one in (model, around, model.truncate(1), random_ensemble(8, sizes, categories=CATEGORIES)):
        data = to_bytes(one)
        assert json.loads(data)["version"] == 3
        _, sections = tree_text.cut_out(data, NODE_FIELDS | LEAF_FIELDS, LEAF_FIELDS)
        assert len(sections) == (2 if one is around else 1)
        fast = from_bytes(data)
        assert fast.categories == CATEGORIES
        np.testing.assert_array_equal(fast.predict(matrix), one.predict(matrix))
        monkeypatch.setattr(tree_text, "cut_out", lambda data, types, leaves: (data, []))
        assert to_bytes(from_bytes(data)) == to_bytes(fast) == data
        monkeypatch.undo()


def test_models_without_categories_keep_their_version() -> None:
    assert json.loads(to_bytes(random_ensemble(8, [4, 31])))["version"] == 1
    sets_alone = categorical_ensemble(8, [31, 31], COUNTS)
    assert json.loads(to_bytes(sets_alone))["version"] == 3
    assert json.loads(to_bytes(Bagged.of(random_ensemble(1, [2]), sets_alone)))["version"] == 3
    empty = sets_alone.truncate(0)
    assert json.loads(to_bytes(empty))["version"] == 1


def test_rounds_with_sets_are_appended_to_a_checkpoint_without() -> None:
    whole = categorical_ensemble(8, [1, 9, 31, 7], COUNTS, categories=CATEGORIES)
    settings = {"checkpoint": "x"}
    first = dataclasses.replace(whole.truncate(1), provenance=Provenance(settings=settings))
    data = to_bytes(first)
    digest = data[-ENDING:-3].decode()
    for start, end in ((1, 2), (2, 4)):
        part = TreeEnsemble.from_trees(whole.trees[start:end], whole.feature_names, categories=CATEGORIES)
        record, digest = appended_trees.record_of(part, digest)
        data += record
    found = from_bytes(data)
    expected = dataclasses.replace(whole, provenance=Provenance(settings=settings))
    assert to_bytes(found) == to_bytes(expected)


WITH_SETS = json.loads(to_bytes(categorical_ensemble(8, [9, 31], COUNTS, categories=CATEGORIES)))


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("categories",), {"f1": ["a"] * 5}, "two categories"),
        (("categories",), {"f1": ["a"]}, "a category that its feature does not have"),
        (("categories",), {"f9": ["a"]}, "no feature"),
        (("categories",), ["f1"], "must be an object"),
        (("categories",), {"f1": [True]}, "text or a whole number"),
        (("kind",), "net", "missing|cannot"),
        (("contents", "trees", 1, "subset_nodes"), [0], "how many words"),
        (("contents", "trees", 1, "subset_nodes"), None, "must hold lists"),
        (("contents", "trees", 1, "subset_sizes"), [10**18], "how many words|sizes"),
        (("contents", "trees", 1, "subset_words"), [], "sizes say|how many words"),
        (("contents", "trees", 1, "subset_words", 0), -1, "too large|whole"),
        (("contents", "trees", 1, "subset_words", 0), 2**32, "too large"),
        (("contents", "trees", 1, "subset_words", 0), 1.5, "whole number"),
        (("contents", "trees", 1, "subset_nodes", 0), 30, "must be nodes of their tree, and rise"),
        (("contents", "trees", 1, "subset_nodes", 0), -1, "must be nodes of their tree, and rise"),
        (("contents", "trees", 1, "other"), [], "must be an object with"),
    ],
)
def test_damaged_sets_are_refused(path: tuple[Any, ...], value: Any, says: str) -> None:
    document = json.loads(json.dumps(WITH_SETS))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(ModelFileError, match=says):
        from_bytes(signed(body_of(document)))


def test_a_tree_needs_all_lists_of_its_sets() -> None:
    for name in ("subset_nodes", "subset_sizes", "subset_words"):
        document = json.loads(json.dumps(WITH_SETS))
        del document["contents"]["trees"][1][name]
        with pytest.raises(ModelFileError, match="all of subset_nodes, subset_sizes, subset_words, or none"):
            from_bytes(signed(body_of(document)))
