from __future__ import annotations

import copy
import gzip
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.importing.adversarial_rows import adversarial_rows
from tests.importing.foreign_files import (
    CATBOOST_JSON,
    FILES,
    LIGHTGBM_JSON,
    LIGHTGBM_JSON_SETS,
    LIGHTGBM_SETS,
    LIGHTGBM_TEXT,
    RANKLIB_FOREST,
    RANKLIB_TEXT,
    XGBOOST_DUMP,
    XGBOOST_JSON,
    XGBOOST_SETS,
)
from tests.importing.mutations import check, damaged
from tests.importing.slow_ranklib import slow_ranklib_scores

import rankforce as rf
from rankforce.errors import ModelFileError, SettingsError
from rankforce.importing.recognising import names_model_file
from rankforce.models.tree_ensemble import TreeEnsemble


def load(data: bytes | str, tmp_path: Path, **options: Any) -> TreeEnsemble:
    path = tmp_path / "model"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    model = rf.load(path, **options)
    assert isinstance(model, TreeEnsemble)
    return model


@pytest.mark.parametrize("form", FILES)
def test_a_file_is_recognised_by_its_content(form: str, tmp_path: Path) -> None:
    model = load(FILES[form], tmp_path)
    assert model.provenance.settings["imported"]["library"] == form.split()[0]
    assert model.n_trees > 0
    rows = adversarial_rows(model, 1, 50)
    (tmp_path / "packed").write_bytes(gzip.compress(FILES[form]))
    np.testing.assert_array_equal(rf.load(tmp_path / "packed").predict(rows), model.predict(rows))
    model.save(tmp_path / "ours.json")
    np.testing.assert_array_equal(rf.load(tmp_path / "ours.json").predict(rows), model.predict(rows))


@pytest.mark.parametrize("form", FILES)
def test_damaged_files_are_refused_or_score(form: str, tmp_path: Path) -> None:
    random_source = random.Random(form)
    outcomes = [check(damaged(FILES[form], random_source), tmp_path / "model") for _ in range(150)]
    assert not all(outcomes)


@pytest.mark.parametrize("text", [RANKLIB_TEXT, RANKLIB_FOREST], ids=["LambdaMART", "forest"])
def test_ranklib_scores_as_the_slow_reader_says(text: str, tmp_path: Path) -> None:
    model = load(text, tmp_path)
    rows = adversarial_rows(model, 3)
    np.testing.assert_allclose(model.predict(rows), slow_ranklib_scores(text, rows), rtol=1e-15, atol=1e-15)
    assert (model.leaf_documents == 0).all()
    assert model.feature_names == ("1", "2", "3", "4")


def test_features_that_a_file_only_numbers_can_be_named(tmp_path: Path) -> None:
    names = ["bm25", "clicks", "length", "age", "price", "votes"]
    model = load(RANKLIB_TEXT, tmp_path, feature_names=names)
    assert model.feature_names == tuple(names)
    rows = np.random.default_rng(1).standard_normal((20, 6)).astype(np.float32)
    np.testing.assert_array_equal(model.predict(rows), load(RANKLIB_TEXT, tmp_path).predict(rows[:, :4]))
    with pytest.raises(SettingsError, match="4 features, feature_names has 2"):
        load(RANKLIB_TEXT, tmp_path, feature_names=names[:2])
    with pytest.raises(SettingsError, match="names its features itself"):
        load(LIGHTGBM_TEXT, tmp_path, feature_names=names)
    for junk in ("abc", [1], 5):
        with pytest.raises(SettingsError, match="feature_names"):
            load(RANKLIB_TEXT, tmp_path, feature_names=junk)


def changed(document: Any, path: str, value: Any) -> str:
    """The JSON of a document with another value at a path like ``tree_info/0/num_leaves``."""
    document = copy.deepcopy(document)
    *above, last = [int(part) if part.isdecimal() else part for part in path.split("/")]
    inner: Any = document
    for part in above:
        inner = inner[part]
    inner[last] = value
    return json.dumps(document)


_ROOT = "tree_info/0/tree_structure"
_TREE = "learner/gradient_booster/model/trees/0"
HOSTILE = [
    (LIGHTGBM_TEXT[:-600], "truncated"),
    (LIGHTGBM_TEXT.replace("tree_sizes=300 60", "tree_sizes=300"), "1 trees are announced, not 2"),
    (LIGHTGBM_TEXT.replace("left_child=-1 -2", "left_child=-1 0"), "two parents"),
    (LIGHTGBM_TEXT.replace("right_child=1 -3", "right_child=0 -3"), "two parents"),
    (LIGHTGBM_TEXT.replace("right_child=1 -3", "right_child=7 -3"), "right_child must be whole numbers from -3 to 1"),
    (LIGHTGBM_TEXT.replace("right_child=1 -3", "right_child=-2 -3"), "two parents|hang nowhere"),
    (LIGHTGBM_TEXT.replace("threshold=0.25", "threshold=nan"), "threshold is not a number"),
    (LIGHTGBM_TEXT.replace("threshold=0.25", "threshold=-1e300"), "cannot be kept"),
    (LIGHTGBM_TEXT.replace("split_feature=0 2", "split_feature=0 3"), "split_feature must be"),
    (LIGHTGBM_TEXT.replace("leaf_value=0.125", "leaf_value=inf"), "not finite"),
    (LIGHTGBM_TEXT.replace("leaf_value=0.125 -0.3", "leaf_value=0.125"), "leaf_value has 2 entries, not 3"),
    (LIGHTGBM_TEXT.replace("num_leaves=3", "num_leaves=99999999999"), "num_leaves must be a whole number"),
    (LIGHTGBM_TEXT.replace("num_class=1", "num_class=3"), "several outputs"),
    (LIGHTGBM_TEXT.replace("decision_type=10", "decision_type=11"), "no set of categories 0.25"),
    (LIGHTGBM_SETS.replace("threshold=0.25 0\n", "threshold=0.25 1\n"), "no set of categories 1"),
    (LIGHTGBM_SETS.replace("cat_boundaries=0 2", "cat_boundaries=0 3"), "cat_boundaries must be"),
    (LIGHTGBM_SETS.replace("cat_boundaries=0 2", "cat_boundaries=0 1"), "cat_boundaries must"),
    (LIGHTGBM_SETS.replace("cat_threshold=5 8", "cat_threshold=5 4294967296"), "cat_threshold must be"),
    (LIGHTGBM_SETS.replace("cat_threshold=5 8", "cat_threshold=5 -8"), "cat_threshold must be"),
    (LIGHTGBM_SETS.replace("cat_threshold=5 8", "cat_threshold=5 16"), "a category that its feature does not have"),
    (LIGHTGBM_SETS.replace("num_cat=1", "num_cat=2"), "cat_boundaries has 2 entries, not 3"),
    (LIGHTGBM_SETS.replace('"colour 1"', '"colour 2"'), "two categories"),
    (LIGHTGBM_SETS.replace("pandas_categorical:[[", "pandas_categorical:[["[:-1]), "categories"),
    (LIGHTGBM_SETS.replace('"colour 1"', "[1]"), "a category is a text or a number"),
    (LIGHTGBM_TEXT.replace("clicks length", "clicks clicks"), "two features of the model are named"),
    (changed(LIGHTGBM_JSON, f"{_ROOT}/left_child", None), "a node must be an object"),
    (changed(LIGHTGBM_JSON, f"{_ROOT}/threshold", "2"), "threshold must be a number"),
    (changed(LIGHTGBM_JSON, f"{_ROOT}/decision_type", "<"), "splits by '<'"),
    (changed(LIGHTGBM_JSON, f"{_ROOT}/decision_type", "=="), "'threshold' is not what it should be"),
    (changed(LIGHTGBM_JSON_SETS, f"{_ROOT}/threshold", "0||x"), "a category must be a whole number"),
    (changed(LIGHTGBM_JSON_SETS, f"{_ROOT}/threshold", "0||16777216"), "a category must be a whole number"),
    (changed(LIGHTGBM_JSON, f"{_ROOT}/missing_type", "Odd"), "no missing type 'Odd'"),
    (changed(LIGHTGBM_JSON, "tree_info/0/num_leaves", 7), "7 leaves are announced, there are 2"),
    ('{"tree_info": ' + "[" * 100_000, "nested too deeply|cannot be read"),
    (changed(XGBOOST_JSON, f"{_TREE}/left_children", [0, -1, -1]), "two parents"),
    (changed(XGBOOST_JSON, f"{_TREE}/left_children", [9, -1, -1]), "outside the tree"),
    (changed(XGBOOST_JSON, f"{_TREE}/left_children", [-1, -1, -1]), "one child"),
    (changed(XGBOOST_JSON, f"{_TREE}/split_conditions", [10**400, 0, 0]), "too large"),
    (changed(XGBOOST_JSON, f"{_TREE}/split_conditions", [0.5, 1e300, 0]), "not finite"),
    (changed(XGBOOST_JSON, f"{_TREE}/split_indices", [5, 0, 0]), "2 features only"),
    (changed(XGBOOST_JSON, f"{_TREE}/sum_hessian", [1, -1, 0.5]), "weight of a leaf"),
    (changed(XGBOOST_JSON, f"{_TREE}/tree_param/num_nodes", "4"), "list of 4 numbers"),
    (changed(XGBOOST_JSON, "learner/learner_model_param/base_score", "[1,2]"), "not one number"),
    (changed(XGBOOST_JSON, "learner/gradient_booster/name", "gblinear"), "gblinear"),
    (changed(XGBOOST_DUMP, "0/missing", 9), "must name its two children"),
    (changed(XGBOOST_DUMP, "0/split_condition", [1, "x"]), "a category must be a whole number"),
    (changed(XGBOOST_SETS, f"{_TREE}/categories_nodes", [1]), "'categories_nodes' must name the nodes"),
    (changed(XGBOOST_SETS, f"{_TREE}/split_type", [0, 0, 0]), "'categories_nodes' must name the nodes"),
    (changed(XGBOOST_SETS, f"{_TREE}/split_type", [2, 0, 0]), "'categories_nodes' must name the nodes"),
    (changed(XGBOOST_SETS, f"{_TREE}/categories_sizes", [4]), "outside of 'categories'"),
    (changed(XGBOOST_SETS, "learner/gradient_booster/model/cats/enc/1/values", [-61] * 36), "beyond ASCII"),
    (changed(XGBOOST_SETS, f"{_TREE}/categories_sizes", []), "a beginning and a size"),
    (changed(XGBOOST_SETS, f"{_TREE}/categories", [0, 2, -35]), "whole number"),
    (changed(XGBOOST_SETS, f"{_TREE}/categories", [0, 2, 36]), "a category that its feature does not have"),
    (changed(XGBOOST_DUMP, "0/children/1", {"nodeid": 2}), "'split' is missing"),
    (changed(CATBOOST_JSON, "oblivious_trees/0/leaf_values", [0.0] * 8), "do not fit 2 splits of one output"),
    (changed(CATBOOST_JSON, "oblivious_trees/0/splits/0/split_type", "OneHotFeature"), "OneHotFeature"),
    (changed(CATBOOST_JSON, "oblivious_trees/0/splits/0/float_feature_index", 2), "from 0 to 1"),
    (changed(CATBOOST_JSON, "scale_and_bias", [1, [0, 0]]), "2 outputs"),
    (RANKLIB_TEXT[:-40], "truncated|damaged"),
    (RANKLIB_TEXT.replace("LambdaMART", "RankNet"), "models of 'RankNet' are not read"),
    (RANKLIB_TEXT.replace("<feature> 2", "<feature> 0"), "a number from 1 to 1,000,000"),
    (RANKLIB_TEXT.replace("<feature> 2", "<feature> 99999999999"), "a number from 1 to 1,000,000"),
    (RANKLIB_TEXT.replace("> 0.5 <", "> NaN <"), "finite number, not 'NaN'"),
    (RANKLIB_TEXT.replace('pos="right"', 'pos="left"'), "one must be at the left"),
    (RANKLIB_TEXT.replace("<ensemble>", "<!DOCTYPE x><ensemble>"), "damaged at '<!DOCTYPE"),
    ("## LambdaMART\n<ensemble><tree>" + "<split>" * 20_000, "cannot stand within|not closed"),
    ("hello", "not a rankforce model file"),
    ('{"a": 1}', "nor one of LightGBM"),
    ("[]", "nor one of LightGBM"),
    ('{"a": NaN}', "cannot be read as a model"),
]


@pytest.mark.parametrize(("content", "reason"), HOSTILE, ids=[str(place) for place in range(len(HOSTILE))])
def test_hostile_files_are_refused_with_the_reason(content: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=reason):
        load(content, tmp_path)


def test_names_of_model_files_are_told_from_names_of_features() -> None:
    for name in ("model.json", "model.json.gz", "lightgbm.txt", "XGB.UBJ", "ranklib.xml"):
        assert names_model_file(name)
    for name in ("bm25", "json", "a.b", "model.gz"):
        assert not names_model_file(name)


def test_imported_models_are_ordinary_models(tmp_path: Path) -> None:
    data = rf.make_artificial(queries=30, documents=12, features=4, seed=1)
    model = load(RANKLIB_TEXT, tmp_path)
    assert 0 < rf.evaluate(model, data, "NDCG@5").mean["NDCG@5"] < 1
    path = tmp_path / "ranklib.txt"
    path.write_text(RANKLIB_TEXT)
    ranker = rf.LambdaMART(n_trees=2, n_leaves=4, base_model=str(path), progress=False).fit(data)
    ranker.model_.save(tmp_path / "boosted.json")
    again = rf.load(tmp_path / "boosted.json")
    np.testing.assert_array_equal(again.predict(data), ranker.predict(data))
    np.testing.assert_array_equal(again.predict(data, n_trees=0), model.predict(data))
