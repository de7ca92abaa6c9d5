"""``rankforce cross-validate``, and parameters of other libraries in files."""

from __future__ import annotations

import json

import pytest

import rankforce as rf
from rankforce.cli.foreign_parameters import read_parameters

SETTINGS = ["--set", "n_trees=4", "--set", "min_documents=3", "-q"]


@pytest.fixture
def data(tmp_path):
    made = rf.make_artificial(queries=20, documents=8, features=3, seed=1)
    made.write(tmp_path / "data.txt")
    return made


def test_a_data_file(run, data, tmp_path):
    csv = tmp_path / "queries.csv"
    outcome = run("cross-validate", tmp_path / "data.txt", "--folds", 3, "-m", "MAP", *SETTINGS, "--per-query", csv)
    assert outcome.code == 0, outcome.err
    assert "fold 3" in outcome.out
    assert {line.split(",")[1] for line in csv.read_text().splitlines()[1:]} == {"1", "2", "3"}  # as they are printed
    assert len(csv.read_text().splitlines()) == 21
    read = json.loads(run("cross-validate", tmp_path / "data.txt", "--folds", 3, "-m", "MAP", *SETTINGS, "--json").out)
    ranker = rf.LambdaMART(n_trees=4, min_documents=3)
    wanted = rf.cross_validate(ranker, rf.read(tmp_path / "data.txt"), "MAP", folds=3, progress=False)
    assert read["measures"]["MAP"]["mean"] == wanted.mean["MAP"]
    assert read["folds"]["MAP"] == wanted.fold_means["MAP"].tolist()


def test_the_level_of_the_intervals(run, data, tmp_path):
    asked = ("cross-validate", tmp_path / "data.txt", "--folds", 2, *SETTINGS, "--json")
    wide, narrow = (json.loads(run(*asked, "--level", level).out) for level in (0.99, 0.5))
    assert (wide["level"], narrow["level"]) == (0.99, 0.5)
    width = [high - low for low, high in (one["measures"]["NDCG@10"]["interval"] for one in (wide, narrow))]
    assert width[0] > 2 * width[1] > 0
    assert "level" in run(*asked, "--level", 2).err


def test_a_folder_of_folds(run, data, tmp_path):
    for number, (train, test) in enumerate(data.folds(2), start=1):
        folder = tmp_path / "folds" / f"Fold{number}"
        folder.mkdir(parents=True)
        train.write(folder / "train.txt")
        test.write(folder / "test.txt")
    outcome = run("cross-validate", tmp_path / "folds", *SETTINGS, "--json")
    assert outcome.code == 0, outcome.err
    assert len(json.loads(outcome.out)["folds"]["NDCG@10"]) == 2
    (tmp_path / "empty").mkdir()
    refused = run("cross-validate", tmp_path / "empty", *SETTINGS)
    assert refused.code == 2
    assert "the folder has no file" in refused.err


CONF = """\
task = train  # what to do
objective = lambdarank
data = rank.train
num_leaves = 7

label_gain = 0,1,3,7,15,31,63
min_data_in_leaf = 5
is_training_metric = true
min_sum_hessian_in_leaf = 5.0
"""


def test_parameters_of_lightgbm(run, data, tmp_path):
    (tmp_path / "train.conf").write_text(CONF)
    assert read_parameters(tmp_path / "train.conf") == {
        "objective": "lambdarank",
        "num_leaves": 7,
        "label_gain": (0, 1, 3, 7, 15, 31, 63),
        "min_data_in_leaf": 5,
        "is_training_metric": True,
        "min_sum_hessian_in_leaf": 5.0,
    }
    command = ["train", tmp_path / "data.txt", "-o", tmp_path / "model.json", "-q", "--trees", 3]
    outcome = run(*command, "--from-lightgbm", tmp_path / "train.conf")
    assert outcome.code == 0, outcome.err
    assert "not taken over: min_sum_hessian_in_leaf=5.0" in outcome.err
    settings = rf.load(tmp_path / "model.json").provenance.settings
    assert (settings["n_trees"], settings["n_leaves"], settings["min_documents"]) == (3, 7, 5)


def test_parameters_of_xgboost(run, data, tmp_path):
    (tmp_path / "params.json").write_text('{"objective": "rank:map", "max_depth": 2}')
    command = ["train", tmp_path / "data.txt", "-o", tmp_path / "model.json", "-q", "--trees", 3]
    assert run(*command, "--from-xgboost", tmp_path / "params.json").code == 0
    assert rf.load(tmp_path / "model.json").provenance.settings["n_leaves"] == 4
    both = run(*command, "--from-xgboost", tmp_path / "params.json", "--from-lightgbm", tmp_path / "params.json")
    assert both.code == 2
    assert "exclude each other" in both.err


def test_bags_from_the_shell(run, data, tmp_path):
    command = ["train", tmp_path / "data.txt", "-o", tmp_path / "model.json", "-q", "--trees", 3]
    assert run(*command, "--bag", 2).code == 0
    assert len(rf.load(tmp_path / "model.json").models) == 2
    model = (tmp_path / "model.json").read_bytes()
    for _ in range(2):  # written, and gone on from
        assert run(*command, "--bag", 2, "--checkpoint", tmp_path / "checkpoint").code == 0
        assert (tmp_path / "model.json").read_bytes() == model
        assert (tmp_path / "checkpoint").exists()
    assert "Bagging has no setting 'n_trees'" in run(*command, "--ranker", "bagging").err


@pytest.mark.parametrize(("text", "message"), [("{x", "not JSON"), ("a = 1\nb\n", "line 2")])
def test_parameters_that_cannot_be_read(tmp_path, text, message):
    (tmp_path / "params").write_text(text)
    with pytest.raises(rf.RankforceError, match=message):
        read_parameters(tmp_path / "params")
    with pytest.raises(rf.RankforceError, match="cannot be read"):
        read_parameters(tmp_path / "absent")
