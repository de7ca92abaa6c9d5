"""``rankforce split``: whole queries, dealt as ``Dataset.split`` deals them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    path = tmp_path / "whole.csv"
    rf.make_artificial(queries=20, documents=5, features=3, clicks=True, seed=1).write(path)
    return path


def test_the_parts_are_those_of_python(run: Any, whole: Path, tmp_path: Path) -> None:
    names = [tmp_path / name for name in ("train.csv", "valid.parquet", "test.csv.gz")]
    written = ",".join(map(str, names))
    done = run("split", whole, "--shares", "0.6,0.2,0.2", "--out", written, "--seed", 3, "--json")
    assert done.code == 0, done.err
    data = rf.read(whole)
    expected = data.split(0.6, 0.2, 0.2, seed=3)
    assert [rf.read(path).fingerprint for path in names] == [part.fingerprint for part in expected]
    assert [(Path(one["file"]).name, one["queries"]) for one in json.loads(done.out)] == [
        ("train.csv", 12),
        ("valid.parquet", 4),
        ("test.csv.gz", 4),
    ]
    assert set(rf.read(names[0]).labels) == set(data.labels)
    assert not set(rf.read(names[0]).query_ids) & set(rf.read(names[1]).query_ids)


def test_text_says_what_was_written_and_what_was_left(run: Any, whole: Path, tmp_path: Path) -> None:
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    done = run("split", whole, "--shares", "0.5, 0.25", "-o", f"{a}, {b}")
    assert done.code == 0, done.err
    assert f"{a}: 50 documents, 10 queries, 3 features" in done.out
    assert f"{b}: 25 documents, 5 queries, 3 features" in done.out
    assert "5 queries of 20 in no part" in done.err


def test_categories_stay_categories_in_small_parts(run: Any, tmp_path: Path) -> None:
    shops = np.array([f"shop {number % 5}" for number in range(40)], dtype=object)
    data = tmp_path / "shops.csv"
    lines = [f"{row // 4},{row % 2},{row / 40},{shop}" for row, shop in enumerate(shops)]
    data.write_text("\n".join(["qid,label,price,shop", *lines]) + "\n")
    done = run("split", data, "--shares", "0.9,0.1", "--out", f"{tmp_path / 'most.csv'},{tmp_path / 'few.csv'}")
    assert done.code == 0, done.err
    assert "shop" in rf.read(tmp_path / "few.csv").categories


@pytest.mark.parametrize(
    ("shares", "out", "problem"),
    [
        ("0.5,0.5", "a.csv", "--shares gives 2 and --out 1"),
        ("0.5,half", "a.csv,b.csv", "--shares 0.5,half: write numbers with commas"),
        ("0.5,0.6", "a.csv,b.csv", "the shares must not add up to more than 1"),
        ("0.5,0.5", "a.csv,./a.csv", "twice"),
        ("0.5,0.5", "a.csv,whole.csv", "is read by this command"),
        ("0.5,0.5", "a.csv,there.csv", "use --force"),
        ("0.5,0.5", "a.csv,nowhere/b.csv", "nowhere"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    run: Any, whole: Path, monkeypatch: pytest.MonkeyPatch, shares: str, out: str, problem: str
) -> None:
    monkeypatch.chdir(whole.parent)
    Path("there.csv").write_text("mine")
    refused = run("split", "whole.csv", "--shares", shares, "--out", out)
    assert refused.code == 2
    assert problem in refused.err
    assert not Path("a.csv").exists()
    assert Path("there.csv").read_text() == "mine"


def test_force_overwrites(run: Any, whole: Path, tmp_path: Path) -> None:
    there = tmp_path / "there.csv"
    there.write_text("mine")
    assert run("split", whole, "--shares", "0.5", "--out", there, "--force").code == 0
    assert rf.read(there).n_queries == 10


def test_a_store_has_no_values_to_write(run: Any, whole: Path, tmp_path: Path) -> None:
    rf.bin(whole, tmp_path / "whole.bins")
    refused = run("split", tmp_path / "whole.bins", "--shares", "0.5", "--out", tmp_path / "half.csv")
    assert refused.code == 2
    assert "bins" in refused.err
