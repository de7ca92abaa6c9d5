"""Exported files in XGBoost and Treelite themselves: scores to the last bit, leaves, contributions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.export.hard_models import HOLED, NAMES, chain, hard_rows, random_tree, sums_of_trees, trees

import rankforce as rf
from rankforce.export.emulation import EmulatedTrees
from rankforce.export.exporting import _prepared
from rankforce.export.format import format_named
from rankforce.models.tree_ensemble import TreeEnsemble

xgboost = pytest.importorskip("xgboost")

SUMS = sums_of_trees()
ROWS = hard_rows(600)


def booster(path: Path) -> Any:
    return xgboost.Booster({"nthread": 1}, model_file=path)


def matrix(rows: np.ndarray) -> Any:
    return xgboost.DMatrix(rows, feature_names=list(NAMES), nthread=1)


@pytest.mark.parametrize("suffix", ["json", "ubj"])
@pytest.mark.parametrize("kind", SUMS)
@pytest.mark.parametrize("meaning", ["nan", "zero"])
def test_scores(kind: str, suffix: str, meaning: str, tmp_path: Path) -> None:
    model = SUMS[kind]
    path = tmp_path / f"model.{suffix}"
    made = model.export(path, "xgboost", missing=meaning, check=ROWS)
    assert made.check.passed
    found = booster(path).predict(matrix(ROWS))
    expected = model.predict(np.nan_to_num(ROWS, nan=0.0) if meaning == "zero" else ROWS)
    assert np.abs(found - expected).max() <= made.check.tolerance
    target = format_named("xgboost")
    prepared, _, _ = _prepared(model, target, None, meaning, None, "m", False)
    emulated = target.read(path.read_bytes(), prepared, f".{suffix}")
    assert isinstance(emulated, EmulatedTrees)
    assert np.array_equal(found, emulated.scores(ROWS).astype(np.float32)), "the emulation is XGBoost's to the last bit"


@pytest.mark.parametrize("suffix", ["json", "ubj"])
def test_every_document_comes_to_its_leaf(suffix: str, tmp_path: Path) -> None:
    model = trees(1)
    path = tmp_path / f"model.{suffix}"
    model.export(path, "xgboost")
    found = booster(path).predict(matrix(ROWS), pred_leaf=True)
    for mine, theirs in zip(model.leaf_indices(ROWS).T, found.T, strict=True):
        assert len(set(zip(mine.tolist(), theirs.tolist(), strict=True))) == len(set(mine.tolist()))
        assert len(set(theirs.tolist())) == len(set(mine.tolist()))


@pytest.mark.parametrize("model", [trees(2, base_score=1.5), chain(12)], ids=repr)
def test_contributions_add_up_and_weigh_by_documents(model: TreeEnsemble, tmp_path: Path) -> None:
    """Right children that do not follow left ones, or node counts of 0, would spoil them."""
    path = tmp_path / "model.json"
    model.export(path, "xgboost")
    loaded = booster(path)
    contributions = loaded.predict(matrix(ROWS), pred_contribs=True)
    assert np.abs(contributions.sum(axis=1) - loaded.predict(matrix(ROWS))).max() < 1e-4
    means = [np.average(tree.leaf_value, weights=tree.leaf_documents) for tree in model.trees]
    assert contributions[0, -1] == pytest.approx(model.base_score + sum(means), abs=1e-4)


def test_one_split_has_the_contribution_of_its_definition(tmp_path: Path) -> None:
    tree = random_tree(0, 2, np.array([0.5], dtype=np.float32))
    model = TreeEnsemble.from_trees([tree], NAMES, provenance=HOLED)
    model.export(tmp_path / "model.ubj", "xgboost")
    rows = np.full((1, len(NAMES)), 0.25, dtype=np.float32)
    found = booster(tmp_path / "model.ubj").predict(matrix(rows), pred_contribs=True)[0]
    mean = np.average(tree.leaf_value, weights=tree.leaf_documents)
    assert found[tree.feature[0]] == pytest.approx(tree.leaf_value[~tree.left[0]] - mean, abs=1e-6)


def test_text_and_binary_are_one_model_and_are_saved_again_alike(tmp_path: Path) -> None:
    """What XGBoost saves after loading has our numbers: nothing was read as something else."""
    for suffix in ("json", "ubj"):
        trees(4, base_score=0.75).export(tmp_path / f"ours.{suffix}", "xgboost")
        booster(tmp_path / f"ours.{suffix}").save_model(tmp_path / f"{suffix}.json")
    ours = json.loads((tmp_path / "ours.json").read_bytes())
    for suffix in ("json", "ubj"):
        theirs = json.loads((tmp_path / f"{suffix}.json").read_bytes())
        assert theirs["learner"]["feature_names"] == list(NAMES)
        model = theirs["learner"]["gradient_booster"]["model"]
        for mine, yours in zip(ours["learner"]["gradient_booster"]["model"]["trees"], model["trees"], strict=True):
            for key, values in mine.items():
                if key not in ("id", "tree_param"):
                    # XGBoost writes a value of float32 shorter than we do
                    assert np.array_equal(np.float32(values), np.float32(yours[key])), key


def test_training_goes_on_from_it(tmp_path: Path) -> None:
    data = rf.make_artificial(20, 10, len(NAMES)).replace(feature_names=NAMES)
    model = rf.LambdaMART(n_trees=3, min_documents=5, progress=False).fit(data)
    model.export(tmp_path / "start.json", "xgboost")
    given = xgboost.DMatrix(data.features, data.labels["grades"], group=data.query_sizes, feature_names=list(NAMES))
    more = xgboost.train(
        {"objective": "rank:pairwise", "nthread": 1}, given, 2, xgb_model=booster(tmp_path / "start.json")
    )
    assert more.num_boosted_rounds() == 5


def test_treelite_reads_it(tmp_path: Path) -> None:
    treelite = pytest.importorskip("treelite")
    model = trees(3, base_score=-0.5)
    for suffix, options in (("json", {"format_choice": "json"}), ("ubj", {"format_choice": "ubjson"})):
        path = tmp_path / f"model.{suffix}"
        model.export(path, "xgboost")
        read = treelite.frontend.load_xgboost_model(path, **options)
        assert read.num_tree == model.n_trees
        found = treelite.gtil.predict(read, ROWS, nthread=1).ravel()
        assert np.abs(found - model.predict(ROWS)).max() < 1e-5
