"""``rankforce tune``."""

from __future__ import annotations

import json

import pytest

import rankforce as rf
from rankforce.cli.search_space import read_space


@pytest.fixture
def files(tmp_path):
    for seed, name in enumerate(("train.txt", "valid.txt")):
        rf.make_artificial(queries=15, documents=8, features=3, seed=seed).write(tmp_path / name)
    return tmp_path


def test_tune_writes_the_best_model(run, files):
    command = ["tune", files / "train.txt", "--validation", files / "valid.txt", "--try", "n_leaves=2,6", "-q"]
    command += ["--set", "n_trees=4", "--set", "min_documents=3", "--method", "grid", "--journal", files / "journal"]
    outcome = run(*map(str, command), "-o", str(files / "best.json"), "--json")
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)
    assert [trial["settings"] for trial in found["trials"]] == [{"n_leaves": 2}, {"n_leaves": 6}]
    assert found["value"] == max(trial["value"] for trial in found["trials"])
    assert rf.load(files / "best.json").provenance.settings["n_leaves"] == found["settings"]["n_leaves"]
    again = run(*map(str, command))
    assert again.code == 0
    assert "best: n_leaves=" in again.out
    assert len((files / "journal").read_text().splitlines()) == 3


def test_refit_learns_from_both_files(run, files):
    command = ["tune", files / "train.txt", "--try", "n_leaves=2", "-q", "--set", "n_trees=4", "--method", "grid"]
    command += ["--set", "min_documents=3", "--set", "early_stopping=2", "-o", files / "best.json", "--refit"]
    for held_out in (["--validation", files / "valid.txt"], ["--validation-share", 0.3, "--folds", 2]):
        outcome = run(*command, *held_out)
        assert outcome.code == 0, outcome.err
        assert "fitted again on all data" in outcome.out
        assert rf.load(files / "best.json").provenance.settings["refit"]["iterations"] >= 1
    outcome = run(*command)
    assert outcome.code == 2
    assert "--refit goes with --out FILE and with --validation" in outcome.err


def test_errors_name_the_option(run, files):
    outcome = run("tune", str(files / "train.txt"), "--try", "n_leafs=2,3")
    assert outcome.code == 2
    assert "did you mean n_leaves" in outcome.err
    assert run("tune", str(files / "train.txt")).code == 2


def test_what_try_reads():
    assert read_space(["a=0.05,0.1", "b=8..64", "c=0.1..10,log", "d-e=x", 'f=[1, "y"]'], None, rf.LambdaMART) == {
        "a": [0.05, 0.1],
        "b": (8, 64),
        "c": (0.1, 10, "log"),
        "d_e": ["x"],
        "f": [1, "y"],
    }
    assert read_space(["m=ERR@10(max_grade=4),MAP", "n=None,3"], None, rf.LambdaMART) == {
        "m": ["ERR@10(max_grade=4)", "MAP"],
        "n": [None, 3],
    }


def test_a_space_in_a_file(tmp_path):
    path = tmp_path / "space.toml"
    path.write_text("n_leaves = [4, 8]\nl2 = {low = 0.1, high = 10.0, log = true}\nmax_bins = {low = 2, high = 9}\n")
    assert read_space(["n_leaves=3"], path, rf.LambdaMART) == {
        "n_leaves": [3],
        "l2": (0.1, 10.0, "log"),
        "max_bins": (2, 9),
    }


@pytest.mark.parametrize(
    ("tried", "text", "message"),
    [
        (["a"], None, "write name=value"),
        (["a=1..x"], None, "two numbers"),
        (["a=1..2,lag"], None, "low..high,log"),
        ([], None, "say what to try"),
        ([], "a = ", "not TOML"),
        ([], "a = {from = 1}", "a range is written"),
    ],
)
def test_what_is_refused(tmp_path, tried, text, message):
    path = None
    if text is not None:
        path = tmp_path / "space.toml"
        path.write_text(text)
    with pytest.raises(rf.SettingsError, match=message):
        read_space(tried, path, rf.LambdaMART)


def test_what_to_try_is_said_as_it_is_typed(run, data):
    outcome = run("tune", data)
    assert outcome.err == "rankforce: say what to try: --try n_leaves=8..64, or --space FILE.toml\n"
    outcome = run("tune", data, "--folds", 2, "--try", "n_leaves=4..8", "--method", "grid", "--quiet")
    assert "list the values to try, or use --method random" in outcome.err
    outcome = run("tune", data, "--folds", 2, "--try", "measure=NDCG,MAP", "--quiet")
    assert "say which measure decides between the trials: --measure NDCG@10" in outcome.err
    outcome = run("tune", data, "--folds", 2, "--try", "n_leaves=4", "--set", "normalise=deviation", "--quiet")
    assert "the last one: --set normalise=deviation goes with --set step=gradient" in outcome.err


def test_truth_values_are_read_as_such():
    assert read_space(["keep_weights=true,false"], None, rf.LambdaRank) == {"keep_weights": [True, False]}
