"""Values in text: every option reads them as what the setting is declared to be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import rankforce as rf
from rankforce.cli.reading import reading_options
from rankforce.cli.search_space import read_space
from rankforce.cli.settings import read_settings


@pytest.mark.parametrize(
    ("ranker", "written", "value"),
    [
        ("PRank", "large_margin=false", False),
        ("PRank", "large_margin=True", True),
        ("LambdaMART", "early_stopping=none", None),
        ("LambdaMART", "early-stopping=5", 5),
        ("LambdaMART", "n_trees=30", 30),
        ("LambdaMART", "l2=1e-3", 1e-3),
        ("LambdaMART", "normalise=none", "none"),
        ("LambdaMART", "pairs=top 30", "top 30"),
        ("LambdaMART", "pairs=('top', 30)", ("top", 30)),
        ("LambdaMART", 'monotone={"1": 1, "2": -1}', {"1": 1, "2": -1}),
        ("LambdaMART", "validation_measure=NDCG@10,ERR@10(max_grade=4)", ["NDCG@10", "ERR@10(max_grade=4)"]),
        ("LambdaMART", "measure=ERR@10(max_grade=4)", "ERR@10(max_grade=4)"),
        ("MART", "label=2024", "2024"),
        ("MART", "values=[0, 1, 3]", [0, 1, 3]),
        ("MART", "cost=ordinal", "ordinal"),
        ("RankNet", "preset=2006", "2006"),
        ("RankNet", "learning_rate=0.1,0.01", [0.1, 0.01]),
        ("RankNet", "learning_rate=auto", "auto"),
    ],
)
def test_set(ranker: str, written: str, value: Any) -> None:
    (read,) = read_settings([written], getattr(rf, ranker)).values()
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("ranker", "written", "message"),
    [
        ("PRank", "large_margin=maybe", "--set large_margin=maybe: large_margin must be True or False, not 'maybe'"),
        ("PRank", "large_margin=0", "--set large_margin=0: large_margin must be True or False"),
        ("LambdaMART", "n_trees=many", "--set n_trees=many: n_trees must be a whole number of at least 1, not 'many'"),
        ("LambdaMART", "n_trees=1e3", "--set n_trees=1e3: n_trees must be a whole number"),
        ("LambdaMART", "growth=deep", "growth must be one of 'auto', 'leafwise', 'symmetric', not 'deep'"),
        ("LambdaMART", "early_stopping=never", "early_stopping must be a whole number of at least 1 or None"),
        ("LambdaMART", "measure=NDGC", "--set measure=NDGC: unknown measure 'NDGC'; did you mean"),
        ("LambdaMART", "monotone=up", "--set monotone=up: monotone must be one direction per feature"),
        ("LambdaMART", "n_estimators=5", "has no setting 'n_estimators': that is n_trees here"),
        ("LambdaMART", "n_trees", "--set n_trees: write NAME=VALUE, for example --set n_leaves=15"),
        ("Bagging", "ranker=lambdamart", "--set ranker=lambdamart: ranker must be a ranker"),
    ],
)
def test_what_set_refuses(ranker: str, written: str, message: str) -> None:
    with pytest.raises(rf.SettingsError) as caught:
        read_settings([written], getattr(rf, ranker))
    assert message in str(caught.value)


def test_a_switch_that_is_off_is_off_in_the_model(run: Any, data: Path, tmp_path: Path) -> None:
    models = []
    for value in ("false", "true"):
        model = tmp_path / f"{value}.json"
        few = ("--set", "n_members=2", "--set", "epochs=2", "--quiet")
        trained = run("train", data, "-o", model, "--ranker", "prank", *few, "--set", f"large_margin={value}")
        assert trained.code == 0, trained.err
        models.append(json.loads(model.read_text())["provenance"])
    assert [model["settings"]["large_margin"] for model in models] == [False, True]
    assert [model["objective"] for model in models] == ["linear PRank", "linear PRank, large margin"]


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("--learning-rate", "fast", "--learning-rate fast: learning_rate must be a number above 0"),
        ("--scaling", "none at all", "--scaling none at all: scaling must be one of 'auto', "),
        ("--preset", "2007", "--preset 2007: preset must be one of '2006', '2009' or None, not '2007'"),
        ("--measure", "nonsense", "--measure nonsense: unknown measure 'nonsense'"),
        ("--lambda-function", "Sprign", "--lambda-function Sprign: unknown λ-function 'Sprign'; did you mean Spring"),
    ],
)
def test_options_that_are_settings(run: Any, data: Path, tmp_path: Path, option: str, text: str, message: str) -> None:
    outcome = run("train", data, "-o", tmp_path / "m.json", "--ranker", "lambdarank", option, text)
    assert outcome.code == 2
    assert message in outcome.err


def test_what_is_tried() -> None:
    tried = ["early_stopping=none,10", "growth=leafwise,symmetric", "l2=0.1..10,log", "measure=NDCG,ERR@5(max_grade=4)"]
    assert read_space(tried, None, rf.LambdaMART) == {
        "early_stopping": [None, 10],
        "growth": ["leafwise", "symmetric"],
        "l2": (0.1, 10, "log"),
        "measure": ["NDCG", "ERR@5(max_grade=4)"],
    }
    assert read_space(["large_margin=true,false"], None, rf.PRank) == {"large_margin": [True, False]}
    with pytest.raises(rf.SettingsError, match="--try n_leaves=8,many: n_leaves must be a whole number"):
        read_space(["n_leaves=8,many"], None, rf.LambdaMART)
    with pytest.raises(rf.SettingsError, match="a range is low"):
        read_space(["n_leaves=8..many"], None, rf.LambdaMART)


def test_options_of_reading() -> None:
    written = [
        "label=2024",
        "weight=false",
        "features=1,2",
        "first_index=0",
        r"delimiter=\t",
        "allow_wide=true",
        "qid=q",
    ]
    assert reading_options(written) == {
        "label": "2024",
        "weight": False,
        "features": ["1", "2"],
        "first_index": 0,
        "delimiter": "\t",
        "allow_wide": True,
        "qid": "q",
    }
    with pytest.raises(rf.SettingsError, match="--read first_index=one: first_index must be a whole number"):
        reading_options(["first_index=one"])
    with pytest.raises(rf.SettingsError, match="--read allow_wide=1: allow_wide must be True or False"):
        reading_options(["allow_wide=1"])


@pytest.mark.parametrize(
    ("options", "name"),
    [
        (("-m", "NDCG@3", "--set", "measure=MAP"), "measure"),
        (("--leaves", 16, "--set", "n_leaves=4"), "n_leaves"),
        (("--trees", 5, "--set", "n-trees=7"), "n_trees"),
        (("--set", "n_trees=5", "--set", "n_trees=7"), "n_trees"),
        (("--seed", 1, "--set", "seed=2"), "seed"),
        (("--threads", 1, "--set", "threads=2"), "threads"),
    ],
)
def test_a_setting_that_is_given_twice_is_refused(
    options: tuple[object, ...], name: str, run: Any, data: Path, tmp_path: Path
) -> None:
    outcome = run("train", data, "-o", tmp_path / "m.json", *options)
    assert outcome.code != 0
    assert f"{name} is given twice" in outcome.err
    assert not (tmp_path / "m.json").exists()
