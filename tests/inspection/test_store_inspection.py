"""What is said about a store is what is true of its data; what bins do not tell is named."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import rankforce as rf
from rankforce.inspection.shared_queries import shared_queries


def made(seed=1, queries=30, first=0):
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 20, queries)
    n = int(sizes.sum())
    grades = random.integers(0, 5, n).astype(float)
    X = random.normal(size=(n, 6)).astype(np.float32)
    X[:, 1] = np.round(X[:, 1])  # few values: bins are as fine
    X[random.random(n) < 0.2, 1] = np.nan
    X[:, 2] = 0.0
    X[:, 3] = 7.0
    X[:, 4] = grades + random.random(n) / 4  # gives the answer away
    X[:, 5] = random.integers(0, 3, n)
    names = ["a", "b", "zero", "seven", "answer", "brand"]
    qid = np.repeat(np.arange(first, first + queries), sizes)
    return rf.Dataset(
        X, grades, qid, labels={"clicks": grades > 2}, feature_names=names, categories={"brand": ["x", "y", "z"]}
    )


DATA = made()
SAME = (
    *("documents", "queries", "features", "documents_per_query", "single_document_queries", "labels", "categories"),
    *("missing_features", "never_seen_features", "constant_features"),
)


def test_what_is_exact(tmp_path):
    report, expected = rf.inspect(rf.bin(DATA, tmp_path / "a.bins")), rf.inspect(DATA)
    for name in SAME:
        assert getattr(report, name) == getattr(expected, name), name
    assert report.missing_share == pytest.approx(expected.missing_share)
    assert [leak.feature for leak in report.leaks] == [leak.feature for leak in expected.leaks]
    assert report.leaks[0].feature == "answer"
    assert report.store.damaged == ()
    assert report.store.changed_sources == {}
    assert report.store.ranges["seven"] == (7.0, 7.0)
    low, high = report.store.ranges["a"]
    assert (low, high) == (float(DATA.features[:, 0].min()), float(DATA.features[:, 0].max()))
    text = str(report)
    assert "all digests are right" in text
    assert "not known" in text
    assert report.to_dict()["store"]["not_known"]
    assert expected.to_dict()["store"] is None
    assert "digests" in report._repr_html_()


def test_features_are_judged_on_a_sample(tmp_path, monkeypatch):
    monkeypatch.setattr("rankforce.inspection.store_inspection.VALUES", 6 * 120)
    report = rf.inspect(rf.bin(DATA, tmp_path / "a.bins"))
    assert 1 < report.store.sampled_queries < DATA.n_queries
    assert report.leaks[0].feature == "answer"


@pytest.mark.parametrize("chunk", [1, 40, 100_000])
def test_documents_that_no_bin_tells_apart(chunk, tmp_path, monkeypatch):
    monkeypatch.setattr("rankforce.inspection.duplicates._CHUNK", chunk)
    few = made().take_features(["b", "seven", "brand"])  # few values: bins tell what values tell
    store = rf.bin(few, tmp_path / "a.bins")
    assert rf.inspect(store).duplicates == rf.inspect(few).duplicates
    assert rf.inspect(store).duplicates.documents > 10
    coarse = rf.inspect(rf.bin(DATA.take_features(["a"]), tmp_path / "b.bins", max_bins=2))
    assert coarse.duplicates.documents > rf.inspect(DATA.take_features(["a"])).duplicates.documents == 0
    assert any("repeat the bins of another one" in finding.what for finding in coarse.findings)
    nothing = rf.bin(DATA.take_features(["zero", "seven"]), tmp_path / "c.bins")
    assert rf.inspect(nothing).duplicates.documents == 0


def test_a_store_is_found_again_from_another_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rf.bin(DATA, "a.bins")
    store = rf.read("a.bins")
    monkeypatch.chdir("/")
    assert rf.inspect(store).store.damaged == ()


def test_damage_and_changed_sources(tmp_path):
    path = tmp_path / "a.csv"
    DATA.write(path)
    store = rf.bin(path, tmp_path / "a.bins")
    assert not [one for one in rf.inspect(store).findings if one.kind in ("damaged_store", "changed_sources")]
    rows = store.path / "rows.npy"
    content = bytearray(rows.read_bytes())
    content[-1] ^= 1
    rows.write_bytes(content)
    path.write_text(path.read_text() + "99,0,0,1,1,0,7,1,x\n")
    report = rf.inspect(rf.read(tmp_path / "a.bins"))
    assert report.store.damaged == ("rows",)
    assert report.store.changed_sources == {str(path): "was changed"}
    assert {"damaged_store", "changed_sources"} <= {finding.kind for finding in report.findings}
    path.unlink()
    assert rf.inspect(rf.read(tmp_path / "a.bins")).store.changed_sources == {str(path): "is not there"}


def test_some_queries_of_a_store(tmp_path):
    some = rf.bin(DATA, tmp_path / "a.bins").take_queries([1, 3, 5, 9])
    report = rf.inspect(some)
    assert report.queries == 4
    assert report.store.damaged is None
    assert "in memory" in str(report)


def test_queries_of_two_stores(tmp_path):
    train = rf.bin(DATA, tmp_path / "train.bins")
    other = made(seed=2, first=20)  # ids 20 to 29 in both, with other documents
    like = rf.bin(other, tmp_path / "like.bins", like=train)
    expected = shared_queries(DATA, other)
    for first, second in ((train, like), (DATA, like), (train, other)):
        assert dataclasses.astuple(shared_queries(first, second)) == dataclasses.astuple(expected)
    assert len(expected.other_documents) == 10
    own = rf.bin(other, tmp_path / "own.bins")
    found = shared_queries(train, own)
    assert found.other_documents == expected.other_documents
    assert "whose bins cannot be compared" in found.findings[0].what
    again = rf.bin(DATA.take_queries([2, 3]), tmp_path / "again.bins", like=train)
    assert shared_queries(train, again).same_id == ("2", "3")
