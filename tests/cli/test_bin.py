"""``rankforce bin``, and the commands that take a store as data."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankforce as rf


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(1)
    lines = ["qid,label,price,brand"]
    for query in range(30):
        for _ in range(8):
            brand, price = random.choice(["acme", "zeta", "x\x1b[31m"]), random.normal()
            lines.append(f"{query},{int(price + (brand == 'acme') + 1 > 1)},{price:.3f},{brand}")
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_from_files_to_a_model_and_back(files, run):
    assert run("bin", "data.csv", "-o", "train.bins").code == 0
    assert run("bin", "data.csv", "-o", "held.bins", "--like", "train.bins", "--check").code == 0
    made = json.loads(run("bin", "data.csv", "-o", "own.bins", "--categorical", "price", "--json").out)
    assert set(made["categories"]) == {"brand", "price"}
    done = run("train", "train.bins", "--validation", "held.bins", "-o", "a.json", "--trees", "3", "--quiet")
    assert done.code == 0
    assert run("train", "data.csv", "--validation", "data.csv", "-o", "b.json", "--trees", "3", "--quiet").code == 0
    assert (files / "a.json").read_bytes() == (files / "b.json").read_bytes()
    by_store, by_file = (run("evaluate", one, "a.json", "--json") for one in ("held.bins", "data.csv"))
    assert json.loads(by_store.out)["measures"] == json.loads(by_file.out)["measures"]


def test_scoring_a_store(files, run):
    """Without values of features there is nothing to say of unseen ones, and nothing is looked for."""
    run("bin", "data.csv", "-o", "train.bins")
    assert run("train", "train.bins", "-o", "a.json", "--trees", "3", "--quiet").code == 0
    by_store, by_file = (run("score", "a.json", one) for one in ("train.bins", "data.csv"))
    assert by_store.code == 0, by_store.err
    assert by_store.out == by_file.out
    assert len(by_store.out.splitlines()) == rf.read("data.csv").n_documents
    for ending in ("csv", "parquet"):
        assert run("score", "a.json", "train.bins", "-o", f"scores.{ending}").code == 0


def test_inspecting(files, run):
    run("bin", "data.csv", "-o", "train.bins")
    said = run("inspect", "train.bins")
    assert said.code == 0
    assert "all digests are right" in said.out
    assert "\x1b" not in said.out
    two = json.loads(run("inspect", "train.bins", "data.csv", "--json").out)
    assert two["files"]["train.bins"]["store"]["sources"] == 1
    assert len(two["shared_queries"][0]["same_id"]) == 30
    store = rf.read("train.bins")
    content = bytearray((store.path / "rows.npy").read_bytes())
    content[-1] ^= 1
    (store.path / "rows.npy").write_bytes(content)
    told = run("inspect", "train.bins", "--strict")
    assert told.code == 1
    assert "rows" in told.out
    assert "damaged" in told.out
