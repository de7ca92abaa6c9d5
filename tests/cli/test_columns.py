"""A shop's table in the shell: what became of its columns is said, what cannot be used is told with what to type."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import rankforce as rf

HEADER = "query,sku,title,brand,size,price,in_stock,added,grade"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path, dice = tmp_path / "shop.csv", random.Random(0)
    rows = []
    for row in range(300):
        brand = dice.choice(["acme", "bolt", "omni", "zeta"])
        cells = [f"q{row // 10}", f"P{row}", f"title {row}", brand, dice.choice(["38", "40", "M"])]
        cells += [f"{50 * dice.random():.2f}", dice.choice(["true", "false"]), f"2024-03-{dice.randint(10, 28)}"]
        rows.append(",".join([*cells, str(int(brand == "acme") + dice.randint(0, 1))]))
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return path


OPTIONS = ["--read", "ignore=title", "--read", "document=sku", "--categorical", "size"]


def test_what_cannot_be_used_is_told_with_what_to_type(run: Any, shop: Path, tmp_path: Path) -> None:
    for command in (["train", shop, "--out", tmp_path / "m.json"], ["inspect", shop], ["cross-validate", shop]):
        outcome = run(*command)
        assert outcome.code == 2
        assert "3 columns are no features: 'sku' (300 different texts in 300 rows: ids or free text)" in outcome.err
        assert "--read ignore=sku,title,size" in outcome.err
        assert "--categorical size" in outcome.err
    outcome = run("evaluate", shop, "price")  # which has no --categorical
    assert "--read categorical=size" in outcome.err


def test_train_says_what_became_of_the_columns(run: Any, shop: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    outcome = run("train", shop, "--out", model, "--trees", 5, "--quiet", "--json", *OPTIONS)
    assert outcome.code == 0, outcome.err
    assert (
        "queries from column 'query', label from column 'grade', documents from column 'sku'; 5 features "
        "(categories: 'brand', 'size'; days since 1970-01-01: 'added'; 0 and 1: 'in_stock'); "
        "left out: 'title' (as asked)"
    ) in outcome.err
    told = json.loads(outcome.out)
    assert told["roles"]["title"] == "left out (as asked)"
    assert told["categories"] == {"brand": 4, "size": 3}
    assert dict(rf.load(model).categories)["size"] == ("38", "40", "M")
    card = json.loads(run("inspect", model, "--json").out)["models"][str(model)]
    assert card["columns"] == told["roles"]
    report = json.loads(run("inspect", shop, "--json", *OPTIONS).out)["files"][str(shop)]
    assert report["roles"] == told["roles"]


def test_models_read_data_by_their_own_columns(run: Any, shop: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    assert run("train", shop, "--out", model, "--trees", 5, "--quiet", *OPTIONS).code == 0
    few = tmp_path / "few.csv"
    lines = shop.read_text().splitlines()
    few.write_text("\n".join([*lines[:4], lines[4].replace("acme", "new").replace("omni", "new")]) + "\n")
    scored = run("score", model, few)
    assert scored.code == 0, scored.err
    data = rf.read(few, like=rf.load(model))
    assert [float(line) for line in scored.out.split()] == rf.load(model).predict(data).tolist()
    for command in (["evaluate", few, model], ["compare", few, model, model], ["explain", model, few]):
        outcome = run(*command)
        assert outcome.code == 0, outcome.err
    whole = rf.load(model).predict(rf.read(shop, ignore=["title", "sku"], categorical=["size"]))
    assert data.n_documents == 4
    assert rf.load(model).predict(data)[:3].tolist() == whole[:3].tolist()


def test_validation_data_of_other_rows_is_coded_alike(run: Any, shop: Path, tmp_path: Path) -> None:
    lines = shop.read_text().splitlines()
    first, second = tmp_path / "train.csv", tmp_path / "validation.csv"
    first.write_text("\n".join([HEADER, *lines[1:201]]) + "\n")
    second.write_text("\n".join([HEADER, *(line for line in lines[201:] if "bolt" not in line)]) + "\n")
    out = tmp_path / "model.json"
    outcome = run("train", first, "--validation", second, "--out", out, "--trees", 5, "--quiet", "--json", *OPTIONS)
    assert outcome.code == 0, outcome.err
    value = rf.evaluate(rf.load(out), rf.read(second, like=rf.load(out)), "NDCG", ties="hashed", seed=0)
    told = json.loads(outcome.out)
    assert told["history"]["validation"][told["iterations"] - 1] == pytest.approx(value.mean[rf.measure("NDCG")])


def test_small_validation_data_is_read_like_the_training_data(run: Any, shop: Path, tmp_path: Path) -> None:
    few, out = tmp_path / "few.csv", tmp_path / "model.json"
    rows = [line.split(",") for line in shop.read_text().splitlines()[1:6]]
    for cells, brand in zip(rows, ["acme", "bolt", "omni", "zeta", "new"], strict=True):
        cells[3] = brand  # five texts in five rows: alone, ids or free text
    few.write_text("\n".join([HEADER, *map(",".join, rows)]) + "\n")
    assert run("inspect", few, *OPTIONS).code == 2
    trained = (
        "train",
        shop,
        "--validation",
        few,
        "--out",
        out,
        "--trees",
        5,
        "--early-stopping",
        3,
        "--quiet",
        "--json",
    )
    outcome = run(*trained, *OPTIONS)
    assert outcome.code == 0, outcome.err
    told = json.loads(outcome.out)
    assert dict(rf.load(out).categories)["brand"] == ("acme", "bolt", "omni", "zeta")
    value = rf.evaluate(rf.load(out), rf.read(few, like=rf.load(out)), "NDCG", ties="hashed", seed=0)
    assert told["history"]["validation"][told["iterations"] - 1] == pytest.approx(value.mean[rf.measure("NDCG")])
    assert run(*trained, "--refit", *OPTIONS).code == 0


def test_rankers_without_categories_say_what_to_type(run: Any, shop: Path, tmp_path: Path) -> None:
    outcome = run("train", shop, "--out", tmp_path / "m.json", "--ranker", "lambdarank", "--quiet", *OPTIONS)
    assert outcome.code == 2
    assert "--read ignore=brand,size" in outcome.err


def test_a_label_that_is_called_otherwise(run: Any, shop: Path, tmp_path: Path) -> None:
    shop.write_text(shop.read_text().replace("grade", "target", 1))
    outcome = run("train", shop, "--out", tmp_path / "m.json", "--quiet", *OPTIONS)
    assert outcome.code == 2
    assert "if it is in the column 'target', name it: --read label=target" in outcome.err


def test_options_that_say_the_same(run: Any, shop: Path) -> None:
    outcome = run("inspect", shop, *OPTIONS, "--read", "categorical=size")
    assert (outcome.code, "give one of them" in outcome.err) == (2, True)
    outcome = run("inspect", shop, *OPTIONS, "--read", "like=model.json")
    assert (outcome.code, "nothing to type" in outcome.err) == (2, True)
    outcome = run("inspect", shop, "--read", "ignore=title,sku", "--categorical", "size, nosuch")
    assert (outcome.code, "no such column to be categorical: 'nosuch'" in outcome.err) == (2, True)


def test_a_decimal_comma_is_an_option_of_reading(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "eu.csv"
    path.write_text("qid;label;rating\n" + "".join(f"{q};{r};4,{r}\n" for q in range(4) for r in range(3)))
    refused = run("inspect", path, "--read", "delimiter=;")
    assert refused.code != 0
    assert "decimal comma ('4,0')" in refused.err
    assert "--read decimal=," in refused.err
    assert run("inspect", path, "--read", "delimiter=;", "--read", "decimal=,").code == 0


def test_text_where_a_model_has_numbers_is_told_with_its_cell(run: Any, tmp_path: Path) -> None:
    data = rf.make_artificial(queries=6, documents=6, features=2, seed=0).replace(feature_names=["bm25", "price"])
    rf.LambdaMART(n_trees=2, n_leaves=3, min_documents=2, progress=False).fit(data).save(tmp_path / "m.json")
    path = tmp_path / "new.csv"
    path.write_text("qid,label,bm25,price\n1,0,cheap,3\n1,1,dear,4\n2,1,cheap,3\n2,0,dear,5\n2,0,dear,5\n")
    outcome = run("score", tmp_path / "m.json", path)
    assert outcome.code != 0
    assert "line 2" in outcome.err
    assert "column 'bm25': not a number" in outcome.err
    assert "'cheap'" in outcome.err
    assert "--categorical" not in outcome.err
    assert "ignore" not in outcome.err
