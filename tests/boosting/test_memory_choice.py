"""``memory="auto"``: the fastest way that fits into what is free, and a word where it is not the fastest of all."""

from __future__ import annotations

import pytest

import rankforce as rf
from rankforce.boosting import memory_choice
from rankforce.boosting.memory_choice import BYTES_PER_DOCUMENT, SHARE, chosen_memory, within_limit

DATA = rf.make_artificial(queries=6, documents=20, features=5, seed=3)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return rf.bin(DATA, tmp_path_factory.mktemp("store") / "a.bins")


def needs(data):
    """Bytes that must be free for "fast", and for "low"."""
    rows = DATA.n_documents * DATA.n_features if data.bins is None else data.bins.rows.nbytes
    return [int((copies * rows + BYTES_PER_DOCUMENT * data.n_documents) / SHARE) + 1 for copies in (2, 1)]


def test_by_what_is_free(store, monkeypatch):
    part = store.take_queries([0, 1, 2])
    for data, tight in ((DATA, "low"), (store, "mapped"), (part, "low")):
        fast, low = needs(data)
        for free, expected in ((None, "fast"), (fast, "fast"), (fast - 2, "low"), (low, "low"), (low - 2, tight)):
            monkeypatch.setattr(memory_choice, "available_memory", lambda free=free: free)
            chosen, said = chosen_memory("auto", data)
            assert chosen == expected, (data, free)
            assert said.startswith("" if expected == "fast" else f"memory: {expected}, ")
            assert ("can be had" in said) == (expected != "fast")
            assert chosen_memory("fast", data) == ("fast", "")


def test_a_limit_counts_too_while_it_holds(monkeypatch):
    fast, _ = needs(DATA)
    for free, left, expected in ((10 * fast, fast - 2, "low"), (fast - 2, 10 * fast, "low"), (None, 0, "low")):
        monkeypatch.setattr(memory_choice, "available_memory", lambda free=free: free)
        with within_limit(lambda left=left: left):
            assert chosen_memory("auto", DATA)[0] == expected
    monkeypatch.setattr(memory_choice, "available_memory", lambda: fast)
    assert chosen_memory("auto", DATA)[0] == "fast"


def test_the_training_says_so(store, monkeypatch, capfd, tmp_path):
    monkeypatch.setattr(memory_choice, "available_memory", lambda: 1)
    mapped = rf.LambdaMART(n_trees=1, progress=True).fit(store)
    assert "memory: mapped" in capfd.readouterr().err
    monkeypatch.undo()
    fast = rf.LambdaMART(n_trees=1, progress=False).fit(store)
    for name, ranker in (("mapped", mapped), ("fast", fast)):
        ranker.model_.save(tmp_path / name)
    assert (tmp_path / "mapped").read_bytes() == (tmp_path / "fast").read_bytes()
