"""``rankforce train`` and ``score``: a model goes into a file and ranks from there."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import rankforce as rf


@pytest.fixture
def training(tmp_path: Path) -> Path:
    path = tmp_path / "train.txt"
    rf.make_artificial(queries=30, documents=10, features=4, seed=0).write(path)
    return path


def test_train_score_and_evaluate(run: Any, training: Path, tmp_path: Path) -> None:
    model, scores = tmp_path / "model.json", tmp_path / "scores.txt"
    trained = run("train", training, "--out", model, "--trees", 5, "--leaves", 4, "--quiet", "--json")
    assert trained.code == 0, trained.err
    assert json.loads(trained.out)["iterations"] == 5
    assert run("score", model, training, "--out", scores).code == 0
    values = [json.loads(run("evaluate", training, one, "--json").out) for one in (model, scores)]
    assert [value["kind"] for value in values] == ["model", "scores"]
    assert values[0]["measures"]["NDCG@10"]["mean"] == values[1]["measures"]["NDCG@10"]["mean"] > 0.5


def test_broken_settings_and_models_are_refused(run: Any, training: Path, tmp_path: Path) -> None:
    wrongs = (("--ranker", "nonsense"), ("--set", "nonsense=1"), ("--trees", 0), ("--measure", "nonsense"))
    for wrong in (*wrongs, ("--seed", 99999999999999999999999), ("--seed", -1)):
        outcome = run("train", training, "--out", tmp_path / "model.json", "--quiet", *wrong)
        assert outcome.code == 2, wrong
        assert outcome.err.startswith("rankforce: ")
    (tmp_path / "broken.json").write_text('{"format": "rankforce model"')
    outcome = run("evaluate", training, tmp_path / "broken.json")
    assert outcome.code == 2
    assert "broken.json" in outcome.err


def test_a_setting_that_there_is_not(run: Any, training: Path, tmp_path: Path) -> None:
    for name, words in (
        ("nosuch", "has no setting 'nosuch'. It has: "),
        ("n_leafs", "did you mean n_leaves? It has: "),
    ):
        for command in (["train", training, "-o", tmp_path / "x.json", "--set"], ["tune", training, "--try"]):
            assert words in run(*command, f"{name}=1").err


def test_options_that_lack_a_file(run: Any, training: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.json"
    early = run("train", training, "-o", out, "--early-stopping", 3)
    assert (early.code, "--early-stopping needs --validation FILE" in early.err) == (2, True)
    base = run("train", training, "-o", out, "--base-model", "no-such.json")
    assert (base.code, "--base-model no-such.json: there is no such file" in base.err) == (2, True)


def test_refit_learns_from_both_files(run: Any, training: Path, tmp_path: Path) -> None:
    held_out, out = tmp_path / "valid.txt", tmp_path / "model.json"
    rf.make_artificial(queries=10, documents=10, features=4, seed=1).write(held_out)
    command = ("train", training, "--validation", held_out, "-o", out, "--trees", 20, "--early-stopping", 2, "--quiet")
    plain = json.loads(run(*command, "--json").out)
    again = run(*command, "--refit", "--json")
    assert again.code == 0, again.err
    found = json.loads(again.out)
    assert plain["refit"] is None
    assert found["refit"]["iterations"] == found["iterations"] == plain["iterations"]
    assert rf.load(out).provenance.settings["refit"]["history"]["validation"] == plain["values"]["validation"]
    assert "fitted again on training and validation data" in run(*command, "--refit").out
    assert "--refit needs --validation FILE" in run("train", training, "-o", out, "--refit").err


def test_a_share_held_out_is_the_same_as_two_files(run: Any, training: Path, tmp_path: Path) -> None:
    parts, out = [tmp_path / "part.txt", tmp_path / "valid.txt"], tmp_path / "model.json"
    assert run("split", training, "--shares", "0.7,0.3", "--out", ",".join(map(str, parts)), "--seed", 4).code == 0
    options = ("-o", out, "--trees", 20, "--early-stopping", 2, "--quiet", "--json", "--seed", 4)
    for further in ((), ("--refit",)):
        shared = run("train", training, "--validation-share", 0.3, *options, *further)
        assert shared.code == 0, shared.err
        assert "9 of 30 queries held out" in shared.err
        first = rf.load(out)
        apart = run("train", parts[0], "--validation", parts[1], *options, *further)
        assert json.loads(shared.out) == json.loads(apart.out)
        assert first.provenance.settings == rf.load(out).provenance.settings


def test_what_is_held_out_is_said_once(run: Any, training: Path, tmp_path: Path) -> None:
    command = ("train", training, "-o", tmp_path / "model.json", "--validation-share")
    assert "leave --validation-share out" in run(*command, 0.2, "--validation", training).err
    assert "--validation-share must be" in run(*command, 1.5).err
    refused = run(*command, 0.2, "--preferences", training)
    assert (refused.code, "rankforce split" in refused.err) == (2, True)


def test_shares_of_tiers_are_searched_for_all_or_none(run: Any, training: Path, tmp_path: Path) -> None:
    tiers = ("--tier", "MRR=0.2", "--tier", "MAP=search")
    refused = run("train", training, "-o", tmp_path / "model.json", "--validation", training, *tiers)
    assert refused.code == 2
    assert "--tier MAP=search: search for the shares of all tiers or of none" in refused.err


def test_mart_watches_the_measure(run: Any, training: Path, tmp_path: Path) -> None:
    outcome = run(
        "train", training, "--out", tmp_path / "m.json", "--ranker", "mart", "--set", "cost=ordinal", "-m", "NDCG@5",
        "--trees", 3, "--set", "min_documents=5", "--quiet",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    assert "MART, ExpectedGrade(ordinal" in outcome.out
    assert "NDCG@5 (ties hashed): train" in outcome.out
    assert "ordinal" in repr(rf.load(tmp_path / "m.json"))


def test_training_on_preferences(run: Any, tmp_path: Path) -> None:
    data = rf.make_artificial(queries=30, documents=10, features=4, seed=0)
    data = data.replace(document_ids=[f"d{row}" for row in range(len(data))])
    table, pairs = tmp_path / "train.csv", tmp_path / "pairs.csv"
    data.write(table)
    full = rf.Preferences.from_grades(data)
    lines = [f"{data.qid[i]},d{i},d{j}" for i, j in zip(full.better, full.worse, strict=True)]
    pairs.write_text("\n".join(["qid,better,worse", *lines]))
    small = ("--trees", 3, "--set", "min_documents=5", "--quiet", "--out", tmp_path / "model.json")
    outcome = run("train", table, "--preferences", pairs, *small)
    assert outcome.code == 0, outcome.err
    assert rf.load(tmp_path / "model.json").provenance.objective == "preferences (sigma=1)"
    for wrong in (("--preference-share", 0.5), ("--preferences", pairs, "--ranker", "mart")):
        outcome = run("train", table, *wrong, *small)
        assert outcome.code == 2
        assert "preference" in outcome.err


OWN_LAMBDA_FUNCTION = """
import rankforce as rf

class Nudge(rf.lambdas.PairwiseLambdaFunction):
    HAS_CURVATURE = False
    width: float = 1.0

    def pair_of_gap(self, gap, change, normaliser):
        return (change if gap < self.width else 0.0), 0.0
"""


def test_a_checkpoint_notices_an_edited_lambda_function(run: Any, training: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(OWN_LAMBDA_FUNCTION)
    options = (
        "--import",
        own,
        "--lambda-function",
        "Nudge(width=2)",
        "--trees",
        2,
        "--quiet",
        "--set",
        "step=gradient",
    )
    arguments = ("train", training, "--out", tmp_path / "model.json", *options, "--checkpoint", tmp_path / "kept")
    assert run(*arguments).code == 0
    assert run(*arguments, "--resume", "always").code == 0
    own.write_text(OWN_LAMBDA_FUNCTION.replace("(change if", "(2.0 * change if"))
    outcome = run(*arguments)
    assert outcome.code == 2
    assert "the code of lambda_function has changed (pair_of_gap of Nudge)" in outcome.err


def test_another_lambda_function(run: Any, training: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    outcome = run("train", training, "--out", model, "--lambda-function", "LocalCost(k=2)", "--trees", 3, "--quiet")
    assert outcome.code == 0, outcome.err
    assert "LocalCost(sigma=1.0, k=2)" in rf.load(model).provenance.objective
    (tmp_path / "own.py").write_text(OWN_LAMBDA_FUNCTION)
    own = ("--import", tmp_path / "own.py", "--lambda-function", "Nudge(width=2)", "--trees", 2, "--quiet")
    outcome = run("train", training, "--out", model, *own, "--set", "step=newton")
    assert outcome.code == 2
    assert "--set step=gradient" in outcome.err
    outcome = run("train", training, "--out", model, *own)
    assert outcome.code == 0, outcome.err
    assert "Nudge(width=2.0)" in rf.load(model).provenance.objective
    outcome = run("train", training, "--out", model, "--lambda-function", "Localcosts", "--quiet")
    assert outcome.code == 2
    assert "did you mean LocalCost" in outcome.err


def test_lambdamart_as_in_a_paper(run: Any, training: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.json"
    small = ("--out", out, "--trees", 4, "--leaves", 4, "--quiet")
    for year, settings in (
        ("2010", {"normalise": "none", "max_step": 1e300}),
        ("2011", {"step": "gradient", "normalise": "deviation"}),
    ):
        assert run("train", training, *small, "--preset", year).code == 0
        papers = {
            "lambda_function": "RankNetWeightPairs",
            "growth": "leafwise",
            "split": "least_squares",
            "anchor": 0.0,
        }
        direct = rf.LambdaMART(n_trees=4, n_leaves=4, progress=False, **papers, **settings).fit(rf.read(training))
        data = rf.read(training)
        assert rf.load(out).predict(data).tobytes() == direct.predict(data).tobytes()
    net = run("train", training, *small, "--preset", "2006")
    assert (net.code, "'2010', '2011'" in net.err) == (2, True)
    mart = run("train", training, *small, "--ranker", "mart", "--preset", "2010")
    assert (mart.code, "has no setting 'preset'" in mart.err) == (2, True)


def test_several_tiers(run: Any, tmp_path: Path) -> None:
    table = tmp_path / "train.csv"
    rf.make_artificial(queries=30, documents=10, features=4, seed=0, clicks=True).write(table)
    small = ("--trees", 3, "--set", "min_documents=5", "--quiet", "--out", tmp_path / "model.json")
    outcome = run("train", table, "-m", "NDCG@5", "--tier", "CNDCG:clicks=0.2", *small)
    assert outcome.code == 0, outcome.err
    by_options = rf.load(tmp_path / "model.json").provenance.settings["objective"]
    (tmp_path / "objective.toml").write_text(
        "[[tier]]\nmeasure = 'NDCG@5'\nweight = 0.8\n[[tier]]\nmeasure = 'CNDCG:clicks'\nweight = 0.2\n"
    )
    outcome = run("train", table, "--objective", tmp_path / "objective.toml", *small)
    assert outcome.code == 0, outcome.err
    assert rf.load(tmp_path / "model.json").provenance.settings["objective"] == by_options
    for wrong, words in (
        (("--tier", "CNDCG:clicks"), "MEASURE=WEIGHT"),
        (("--tier", "CNDCG:clicks=1.2"), "less than 1"),
        (("--tier", "CNDCG:clicks=0.2", "--objective", tmp_path / "objective.toml"), "--objective"),
        (("--tier", "CNDCG:clicks=0.2", "--ranker", "mart"), "no setting 'objective'"),
        (("--objective", tmp_path / "none.toml"), "none.toml"),
    ):
        outcome = run("train", table, *wrong, *small)
        assert outcome.code == 2
        assert words in outcome.err


def test_the_objective_files_of_the_guide(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rf.make_artificial(queries=10, documents=8, features=3, clicks=True).write("train.csv")
    guide = (Path(__file__).parents[2] / "docs" / "objectives.md").read_text(encoding="utf-8")
    for name, text in zip(
        ("tiers.toml", "changing.toml"), re.findall(r"```toml\n(.*?)```", guide, re.DOTALL), strict=True
    ):
        Path(name).write_text(text)
        [line] = re.findall(rf"^rankforce (train .* {name}.*)$", guide, re.MULTILINE)
        outcome = run(*shlex.split(line), "--trees", 2, "--quiet")
        assert outcome.code == 0, outcome.err
    options = ("--objective", "changing.toml", "--set", "step=newton", "--quiet")
    refused = run("train", "train.csv", "-o", "model.json", *options)
    assert refused.err == (
        "rankforce: train.csv: queries from column 'qid', label from column 'label', label 'clicks' from column "
        "'label:clicks'; 3 features\n"
        "rankforce: SigmoidCost(sigma=1.0, mu=1.0) has no positive curvature, which Newton's step divides by: "
        "use --set step=gradient\n"
    )


def test_a_cost_is_of_mart_and_a_lambda_function_of_the_others(run: Any, training: Path, tmp_path: Path) -> None:
    options = ("train", training, "--out", tmp_path / "model.json", "--trees", 2, "--quiet")
    assert "LambdaMART has no setting 'cost': use --lambda-function" in run(*options, "--cost", "ordinal").err
    refused = run(*options, "--ranker", "mart", "--lambda-function", "Step")
    assert "MART has no setting 'lambda_function': use --cost" in refused.err
    outcome = run(*options, "--ranker", "mart", "--cost", "ordinal")
    assert outcome.code == 0
    assert rf.load(tmp_path / "model.json").provenance.settings["cost"] == "ordinal"
