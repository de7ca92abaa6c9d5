"""Hostile names and ids through every command: nothing that a terminal obeys reaches it, JSON keeps them exactly."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import random
import sys

import numpy as np
import pytest

import rankforce as rf
from rankforce.cli.application import build, command_names
from rankforce.models.net import Net
from rankforce.models.net_layout import Layout
from rankforce.models.net_scaling import Scaling
from rankforce.models.provenance import Provenance

pytest.importorskip("pyarrow")

FACTOR = float(os.environ.get("RANKFORCE_SOAK", "1"))

SIGNS = [
    "\x1b[31m",
    "\x1b]0;title\x07",
    "\x9b2J",
    "\u202e",
    "\u2066",
    "\u200f",
    "\r",
    "\nFORGED",
    "\u2028",
    "\x7f",
    "\x85",
    "\x08",
]
SIGNS += ["[red]", ":boom:", "{0}", "%s", "é", "\u00a0", "\U000e0041", "\ufeff"]
WITHOUT_TRAINING = {"inspect", "evaluate", "compare", "combine", "convert", "split", "clicks", "score", "features"}
WITHOUT_TRAINING |= {"explain", "importance", "report", "export", "propensities", "sessions", "off_policy"}
WITH_TRAINING = {"bin", "train", "tune", "cross_validate", "optimality"}
WITHOUT_FILES = {"demo", "generate", "reproduce", "warmup"}  # they read nothing
ELSEWHERE = {"serve"}  # tests/serving throws hostile requests at it


def hostile(rng: random.Random, stem: str) -> str:
    return stem + "".join(rng.choice(SIGNS) for _ in range(rng.randint(1, 3))) + stem[-1]


def run(*arguments: object) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as stopped:
        build()([str(argument) for argument in arguments], prog_name="rankforce")
    code = int(stopped.value.code or 0)
    for text in (out.getvalue(), err.getvalue()):
        for line in text.split("\n"):
            if not line.isprintable() or line.startswith("FORGED"):
                raise AssertionError(f"rankforce {arguments}: {line!r}")
    if code not in (0, 1, 2):
        raise AssertionError(f"rankforce {arguments} left with {code}: {err.getvalue()}")
    return code, out.getvalue(), err.getvalue()


def random_data(rng: random.Random) -> rf.Dataset:
    numbers = np.random.default_rng(rng.randrange(2**32))
    queries = [hostile(rng, f"q{number}") for number in range(6)]
    n = 4 * len(queries)
    labels = numbers.integers(0, 3, n)
    labels[:4] = 0  # a blank query
    features = numbers.normal(size=(n, 3))
    features[:, 2] = labels if rng.random() < 0.5 else 0.0  # gives the answer away, or is never seen
    return rf.Dataset(
        features,
        labels,
        np.repeat(np.array(queries, dtype=object), 4),
        labels={hostile(rng, "clicks"): numbers.random(n)},
        feature_names=[hostile(rng, f"f{number}") for number in range(3)],
        document_ids=[hostile(rng, f"d{number}") for number in range(n)],
    )


class Files:
    """What a case reads and writes."""

    def __init__(self, rng: random.Random, folder) -> None:
        self.folder = folder
        self.data = random_data(rng)
        name = hostile(rng, "data").replace("/", "") if rng.random() < 0.5 else "data"
        self.table = folder / f"{name}.{rng.choice(['csv', 'parquet'])}"
        self.data.write(self.table)
        self.scores = folder / "scores.txt"
        self.scores.write_text("".join(f"{rng.random()}\n" for _ in range(self.data.n_documents)))
        self.model = folder / "model.json"

    def feature(self, rng: random.Random) -> str:
        return "feature:" + rng.choice(self.data.feature_names)


def small_model(data: rf.Dataset, path) -> None:
    """A model with the names of the data, made without training."""
    lows, highs = data.features.min(axis=0), data.features.max(axis=0)
    known = Provenance(
        settings={data.feature_names[0]: data.feature_names[1]},
        objective=data.feature_names[2],
        history={data.feature_names[0]: [0.5, 0.25]},
        feature_lows=lows,
        feature_highs=highs,
        missing_shares=(0, 0, 0),
        versions={data.feature_names[1]: data.feature_names[0]},
    )
    weights = np.linspace(-1, 1, Layout(3, 0).size)
    scaling = Scaling("none", np.zeros(3), np.ones(3))
    Net(feature_names=data.feature_names, scaling=scaling, hidden=0, weights=weights, provenance=known).save(path)


def check_inspect(rng: random.Random, files: Files) -> None:
    run("inspect", files.table, files.table)
    _, out, _ = run("inspect", files.table, "--json")
    told = json.loads(out)["files"][str(files.table)]
    assert set(told["labels"]) == set(files.data.labels)
    small_model(files.data, files.model)
    run("inspect", files.model)
    _, out, _ = run("inspect", files.model, "--json")
    card = json.loads(out)["models"][str(files.model)]
    assert [one["name"] for one in card["features"]] == list(files.data.feature_names)
    far = files.data.replace(features=files.data.features + 9)
    far.write(files.folder / "far.csv")
    run("inspect", files.model, files.folder / "far.csv", "--train", files.table)
    _, out, _ = run("inspect", files.model, files.folder / "far.csv", "--train", files.table, "--json")
    (drift,) = json.loads(out)["drift"].values()
    assert {one["name"] for one in drift["features"]} == set(files.data.feature_names)


def check_evaluate(rng: random.Random, files: Files) -> None:
    segments = files.folder / "segments.txt"
    run("evaluate", files.table, files.feature(rng), "--blank", "raise")
    run("evaluate", files.table, "nothing" + rng.choice(SIGNS))
    run("evaluate", files.table, files.scores, "-m", "NDCG@2", "-m", f"NDCG:{hostile(rng, 'x')}")
    segments.write_text("".join(f"{number} {hostile(rng, 's')}\n" for number in range(6)))
    run("evaluate", files.table, files.scores, "--segments", segments)
    numbered = files.folder / "numbered.csv"
    files.data.replace().write(numbered)
    per_query = files.folder / "per_query.csv"
    code, _, _ = run("evaluate", files.table, files.scores, "--per-query", per_query)
    assert code == 0
    with open(per_query, encoding="utf-8", newline="") as file:
        assert [row[0] for row in csv.reader(file)][1:] == files.data.query_ids.tolist()


def check_compare(rng: random.Random, files: Files) -> None:
    code, _, err = run("compare", files.table, files.feature(rng), files.scores, "--graded", "-m", "NDCG", "-m", "MAP")
    assert code == 0, err
    _, out, _ = run("compare", files.table, files.feature(rng), files.scores, "--json")
    for one in json.loads(out)["measures"]["NDCG@10"]["changed"]:
        assert one["query"] in files.data.query_ids.tolist()


def check_combine(rng: random.Random, files: Files) -> None:
    features = [f"feature:{name}" for name in files.data.feature_names[:2]]
    code, _, err = run("combine", files.table, *features, "--run", files.folder / "a.run")
    assert code in (0, 2), err
    run("combine", files.table, files.scores, features[0], "--json", "--folds", 2)


def check_split(rng: random.Random, files: Files) -> None:
    parts = [files.folder / f"part{number}.csv" for number in range(2)]
    names = ",".join(map(str, parts))
    code, _, err = run("split", files.table, "--shares", "0.5,0.5", "--out", names, "--force")
    assert code == 0, err
    ids = [query for part in parts for query in rf.read(part).query_ids.tolist()]
    assert sorted(ids) == sorted(files.data.query_ids.tolist())
    run("split", files.table, "--shares", hostile(rng, "half"), "--out", names, "--force")
    run("split", files.table, "--shares", "0.5,0.5", "--out", hostile(rng, "out").replace("/", ""), "--force")


def check_convert(rng: random.Random, files: Files) -> None:
    code, _, err = run("convert", files.table, files.folder / "again.csv", "--force")
    assert code == 0, err
    assert rf.read(files.folder / "again.csv").feature_names == files.data.feature_names
    run("convert", files.table, files.folder / "again.txt", "--force", "--write", "label=grades")
    run("convert", files.table, files.folder / hostile(rng, "out").replace("/", ""), "--force")
    run("convert", files.folder / hostile(rng, "absent").replace("/", ""), files.folder / "x.csv", "--force")
    broken = files.folder / "broken.csv"
    broken.write_text(f'qid,"{hostile(rng, "x")}"\n"{hostile(rng, "q")}",{rng.choice(["a", "1,2", "inf"])}\n')
    run("convert", broken, files.folder / "x.csv", "--force")


def check_clicks(rng: random.Random, files: Files) -> None:
    log = files.folder / "log.csv"
    cells = [[hostile(rng, one) for one in ("s", "q", "d")] for _ in range(4)]
    rows = [",".join(f'"{cell}"' for cell in row) + f",{place},{place % 2}" for place, row in enumerate(cells)]
    if rng.random() < 0.3:
        rows.append(f'"s","{hostile(rng, "q")}","d","{hostile(rng, "1")}",1')
    log.write_text("session,query,document,position,clicked\n" + "\n".join(rows) + "\n")
    run("clicks", log, "--table", files.folder / "clicks.csv", "--force")
    run(
        "clicks",
        log,
        "--data",
        files.table,
        "--out",
        files.folder / "into.csv",
        "--label",
        hostile(rng, "n"),
        "--force",
    )


def check_propensities(rng: random.Random, files: Files) -> None:
    log = files.folder / "shown.csv"
    names = [hostile(rng, one) for one in ("q", "d", "e")]
    rows = [f'{number},"{names[0]}","{names[1 + number % 2]}",{1 + number // 2},1' for number in range(4)]
    if rng.random() < 0.3:
        rows.append(f'9,"{names[0]}","d","{hostile(rng, "1")}",1')
    log.write_text("session,query,document,position,clicked\n" + "\n".join(rows) + "\n")
    run("propensities", log, "--resamples", 2, "--out", files.folder / "propensities.json", "--force")


def check_sessions(rng: random.Random, files: Files) -> None:
    log = files.folder / "lists.csv"
    shown = [(files.data.qid[row], files.data.document_ids[row]) for row in (0, 1)]
    rows = [f'"{hostile(rng, "s")}","{query}","{document}",1,1' for query, document in shown]
    log.write_text("session,query,document,position,clicked\n" + "\n".join(rows) + "\n")
    run("sessions", log, "--data", files.table, "--out", files.folder / "shown-lists.csv", "--force")


def check_off_policy(rng: random.Random, files: Files) -> None:
    log = files.folder / "views.csv"
    with log.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["session", "query", "document", "position", "clicked"])
        for row in range(files.data.n_documents):
            document = hostile(rng, "d") if files.data.document_ids is None else files.data.document_ids[row]
            writer.writerow([hostile(rng, "s"), files.data.qid[row], document, 1 + row % 3, int(rng.random() < 0.3)])
    options = ("--data", files.table, "--ranking", files.feature(rng), "--resamples", 5)
    run("off-policy", log, *options, "--propensities", "1,0.5,0.3", "--max-unsupported", 1)
    run("off-policy", log, *options, "--propensities", "1", "--max-unsupported", 0, "--name", hostile(rng, "n"))
    run("off-policy", log, *options, "--propensities", hostile(rng, "p"), "--json")


def check_score(rng: random.Random, files: Files) -> None:
    small_model(files.data, files.model)
    code, out, err = run("score", files.model, files.table)
    assert code == 0, err
    assert len(out.split()) == files.data.n_documents
    run("score", files.model, files.table, "--tag", hostile(rng, "tag"), "--out", files.folder / "a.run")
    run("score", files.model, files.table, "--format", "csv")
    ranking = files.folder / "ranking.csv"
    code, _, err = run("score", files.model, files.table, "--out", ranking)
    assert code == 0, err
    with open(ranking, encoding="utf-8", newline="") as file:
        assert {row[1] for row in csv.reader(file)} == {"document", *files.data.document_ids.tolist()}
    small_model(files.data.replace(feature_names=["a", "b", hostile(rng, "c")]), files.model)
    code, _, _ = run("score", files.model, files.table)
    assert code == 2


def check_features(rng: random.Random, files: Files) -> None:
    log, judgments = files.folder / "log.json", files.folder / "judgments.csv"
    query, document, feature = (hostile(rng, stem) for stem in ("q", "d", "f"))
    logged = {"log_entry": [{"name": feature, "value": 1.0}]}
    hit = {"_id": document, "_score": 1.0, "fields": {"_ltrlog": [logged]}}
    log.write_text(json.dumps({"query_id": query, "hits": {"hits": [hit]}}), encoding="utf-8")
    judgments.write_text(f'query,document,grade\n"{query}","{document}",1\n', encoding="utf-8")
    run("features", log, "--judgments", judgments, "--out", files.folder / "logged.csv", "--force")
    run("features", log, "--entry", hostile(rng, "entry"))


def check_explain(rng: random.Random, files: Files) -> None:
    small_model(files.data, files.model)
    run("explain", files.model, files.table, "--background", 4)
    query = files.data.query_ids[0]
    rows = files.data.rows[files.data.query_starts[0] : files.data.query_starts[1]]
    documents = [str(files.data.document_ids[row]) for row in rows[:2]]
    run("explain", files.model, files.table, "--query", query, "--pair", *documents)
    run("explain", files.model, files.table, "--query", hostile(rng, "absent"))


def check_importance(rng: random.Random, files: Files) -> None:
    small_model(files.data, files.model)
    run("importance", files.model, files.table, "--permutations", 1)
    run("importance", files.model, files.table, "--feature", hostile(rng, "absent"))


def check_report(rng: random.Random, files: Files) -> None:
    small_model(files.data, files.model)
    page = files.folder / "report.html"
    options = ("--permutations", 1, "-q", "-o", page, "--title", hostile(rng, "t"), "--name", hostile(rng, "m"))
    name = hostile(rng, "n")
    baseline = f"--baseline={name}=scores:{files.scores}"
    code, out, err = run("report", files.model, files.table, baseline, "--queries", 2, *options, "--json")
    assert code == 0, err
    assert json.loads(out)["queries"]["ids"] == files.data.query_ids.tolist()
    assert json.loads(out)["rankings"][1] == name
    assert "FORGED" not in page.read_text(encoding="utf-8").split("\n")
    run("report", files.model, files.table, *options, "--baseline", hostile(rng, "absent"))
    run("report", files.model, files.table, *options, "--queries", hostile(rng, "q"))


def check_export(rng: random.Random, files: Files) -> None:
    small_model(files.data, files.model)
    for form, name in (("ltr-linear", "m.json"), ("solr", "s.json"), ("vespa", "v.profile"), ("ranklib", "r.txt")):
        run("export", files.model, "--to", form, "--out", files.folder / name)
    run("export", files.model, "--to", "ltr-linear", "--engine", hostile(rng, "engine"))


def check_train(rng: random.Random, files: Files) -> None:
    code, _, err = run("train", files.table, "-o", files.model, "--trees", 2, "--leaves", 3, "--threads", 1)
    assert code == 0, err
    run("train", files.table, "-o", files.model, "--trees", 2, "-m", f"NDCG:{hostile(rng, 'x')}")
    run("train", files.table, "-o", files.model, "--base-model", hostile(rng, "feature"))
    run("evaluate", files.table, files.model)
    run("inspect", files.model)


def check_bin(rng: random.Random, files: Files) -> None:
    store = files.folder / "hostile.bins"
    run("bin", files.table, "-o", store, "--force", "--check")
    run("inspect", store, files.table)
    run("train", store, "-o", files.model, "--trees", 2, "--leaves", 3, "--threads", 1)


def check_tune(rng: random.Random, files: Files) -> None:
    run("tune", files.table, "--try", "n_leaves=2,3", "--set", "n_trees=1", "--folds", 2, "--threads", 1, "-q")


def check_cross_validate(rng: random.Random, files: Files) -> None:
    run("cross-validate", files.table, "--folds", 2, "--set", "n_trees=1", "--threads", 1, "-q")


def check_optimality(rng: random.Random, files: Files) -> None:
    small_model(files.data, files.model)
    run("optimality", files.model, files.table, "--epsilon", 0.3, "--delta", 0.3, "--each-weight", "-q")


def check_names(rng: random.Random, folder, commands: list[str]) -> bool:
    files = Files(rng, folder)
    for command in commands:
        getattr(sys.modules[__name__], f"check_{command}")(rng, files)
    return True


def check_hostile_names(folder, count: int, seed: int, commands: list[str]) -> None:
    for case in range(count):
        here = folder / str(case)
        here.mkdir()
        try:
            check_names(random.Random(f"{seed} {case}"), here, commands)
        except Exception as error:
            raise AssertionError(f"case {case} of seed {seed}: {type(error).__name__}: {error}") from error
    print(f"{count:,} data sets with hostile names through {', '.join(commands)}")


def test_every_command_is_looked_at():
    assert set(command_names()) == WITHOUT_TRAINING | WITH_TRAINING | WITHOUT_FILES | ELSEWHERE


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setenv("RANKFORCE_QUIET", "1")
    monkeypatch.delenv("RANKFORCE_DEBUG", raising=False)


def test_hostile_names(tmp_path):
    check_hostile_names(tmp_path, 1, 1, sorted(WITHOUT_TRAINING))


@pytest.mark.compiled_only
def test_hostile_names_in_training(tmp_path):
    check_hostile_names(tmp_path, 1, 1, sorted(WITH_TRAINING))


@pytest.mark.soak
def test_many_hostile_names(tmp_path):
    check_hostile_names(tmp_path, int(200 * FACTOR), 2, sorted(WITHOUT_TRAINING))
    (tmp_path / "training").mkdir()
    check_hostile_names(tmp_path / "training", int(20 * FACTOR), 3, sorted(WITH_TRAINING))
