"""Model cards, in Python and from the shell."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankforce as rf
from rankforce.inspection.model_card import model_card
from rankforce.models.combination import Combination
from rankforce.models.storage import is_model_file


@pytest.fixture(scope="module")
def data():
    made = rf.make_artificial(queries=20, documents=10, features=4, seed=1)
    X = np.array(made.features)
    X[::10, 3] = np.nan
    return made.replace(features=X, feature_names=["a", "b", "c", "d"])


@pytest.fixture(scope="module")
def ranker(data):
    return rf.LambdaMART("NDCG@5", n_trees=9, n_leaves=4, min_documents=3, progress=False).fit(data, validation=data)


def test_the_card_of_a_model(data, ranker):
    card = model_card(ranker.model_)
    assert card.settings["n_trees"] == 9
    assert card.data_fingerprint == data.fingerprint
    assert "NDCG@5" in card.objective
    np.testing.assert_allclose([one.gain for one in card.features], ranker.feature_importances_)
    assert sum(one.splits for one in card.features) == len(ranker.model_.feature)
    assert card.features[0].low == data.features[:, 0].min()
    assert card.features[3].missing == pytest.approx(0.1)
    assert card.history["validation"] == tuple(ranker.history_["validation"])
    text = str(card)
    for part in ("n_trees = 9", data.fingerprint, "best", "NDCG@5", "10.0 %"):
        assert part in text
    assert not card.checkpoint


@pytest.mark.parametrize("wrong", [rf.MART(), None, "model.json"], ids=repr)
def test_what_has_no_card(wrong):
    with pytest.raises(rf.SettingsError, match="a card is of a model"):
        model_card(wrong)


def test_of_an_average(data, ranker):
    bagged = rf.Bagging(ranker, n_models=2, progress=False).fit(data)
    card = model_card(bagged.model_)
    assert sum(one.gain for one in card.features) == pytest.approx(1.0)
    assert card.settings["n_models"] == 2
    assert card.settings["ranker__n_leaves"] == 4


def test_of_a_checkpoint(data, ranker, tmp_path):
    rf.LambdaMART(n_trees=3, min_documents=3, progress=False).fit(data, checkpoint=tmp_path / "checkpoint")
    card = model_card(rf.load(tmp_path / "checkpoint"))
    assert card.checkpoint
    assert card.data_fingerprint == data.fingerprint
    assert card.settings["min_documents"] == 3
    assert "A checkpoint" in str(card)


def test_which_files_are_models(ranker, data, tmp_path):
    ranker.save(tmp_path / "model.json")
    ranker.save(tmp_path / "model.gz")
    data.write(tmp_path / "data.txt.gz")
    (tmp_path / "empty").touch()
    (tmp_path / "torn.gz").write_bytes((tmp_path / "model.gz").read_bytes()[:12])
    found = {name: is_model_file(tmp_path / name) for name in ("model.json", "model.gz", "data.txt.gz", "empty")}
    assert found == {"model.json": True, "model.gz": True, "data.txt.gz": False, "empty": False}
    assert not is_model_file(tmp_path / "torn.gz")
    assert not is_model_file(tmp_path / "absent")


def test_from_the_shell(ranker, data, tmp_path):
    from typer.testing import CliRunner

    from rankforce.cli.application import build

    ranker.save(tmp_path / "model.json")
    data.write(tmp_path / "data.txt")
    files = [str(tmp_path / "model.json"), str(tmp_path / "data.txt")]
    shown = CliRunner().invoke(build(), ["inspect", *files])
    assert shown.exit_code == 0
    assert "n_leaves = 4" in shown.stdout
    assert "queries" in shown.stdout
    read = json.loads(CliRunner().invoke(build(), ["inspect", "--json", *files]).stdout)
    assert read["models"][files[0]]["settings"]["n_leaves"] == 4
    assert list(read["files"]) == files[1:]


def test_of_a_combination(data, ranker):
    net = rf.LambdaRank("NDCG@5", hidden=0, epochs=2, progress=False).fit(
        data.replace(features=np.nan_to_num(data.features))
    )
    mixed = Combination.of([ranker.model_, net.model_], [0.5, 0.5])
    card = model_card(mixed)
    np.testing.assert_allclose([one.gain for one in card.features], ranker.feature_importances_)
    assert sum(one.splits for one in card.features) == len(ranker.model_.feature)
    assert str(card).endswith(f"gain (the mean of shares) and splits are of {ranker.model_!r}")
    twice = model_card(Combination.of([ranker.model_, ranker.model_], [0.5, 0.5]))
    np.testing.assert_allclose([one.gain for one in twice.features], ranker.feature_importances_)
    without = str(model_card(Combination.of([net.model_, net.model_], [0.5, 0.5])))
    assert "splits" not in without
    assert "–" not in without
