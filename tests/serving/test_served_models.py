"""Files that are replaced, damaged, removed and put back while their models serve."""

from __future__ import annotations

import gc
import os
import time
import weakref

import pytest
from tests.serving.conftest import NAMES, make_model
from tests.serving.test_application import MATRIX, QUERY

import rankforce as rf
from rankforce.serving import served_models
from rankforce.serving.loading import load_apart
from rankforce.serving.model_files import FileStamp, digest_of, model_files
from rankforce.serving.served_models import load_served


def age(path, seconds=60):
    """As if the file had been written a while ago."""
    then = time.time() - seconds
    os.utime(path, (then, then))


@pytest.fixture
def said():
    return []


@pytest.fixture
def served(start, file, said):
    age(file)
    return start(report=said.append)


def scores(client):
    return client.post("/score", QUERY).json()["scores"]


def test_a_replaced_file_is_served(served, file, said):
    shelf = served.service.shelf
    assert shelf.refresh("trees") is False
    new = make_model(1)
    new.save(file)  # written beside it and renamed
    assert shelf.refresh("trees") is True
    assert scores(served) == new.predict(MATRIX).tolist()
    assert shelf.get("trees").digest == digest_of(file)
    assert served.metric("rankforce_model_loads_total", model="trees", outcome="loaded") == 2
    assert said == [f"model 'trees': reloaded, {new!r}"]


def test_a_file_written_twice_within_a_tick_of_the_clock_is_seen(start, file):
    client = start()
    shelf, loaded = client.service.shelf, FileStamp.of(file)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    os.utime(file, ns=(loaded.modified, loaded.modified))
    assert FileStamp.of(file) == loaded
    shelf.refresh("trees")
    assert "damaged or edited" in shelf.problems["trees"]


def test_a_file_that_was_only_touched_is_not_loaded_again(served, file):
    shelf = served.service.shelf
    age(file, 30)
    assert shelf.refresh("trees") is False
    assert shelf.get("trees").stamp == FileStamp.of(file)
    assert served.metric("rankforce_model_loads_total", model="trees", outcome="loaded") == 1


@pytest.mark.parametrize("damage", ["cut", "empty", "foreign", "gone", "folder"])
def test_a_damaged_file_leaves_the_old_model_serving_and_is_shown(served, file, said, model, damage):
    shelf, good = served.service.shelf, file.read_bytes()
    if damage in ("gone", "folder"):
        file.unlink()
        if damage == "folder":
            file.mkdir()
    else:
        file.write_bytes({"cut": good[: len(good) // 2], "empty": b"", "foreign": b"tree\nversion=v4\n"}[damage])
    for _ in range(3):
        assert shelf.refresh("trees") is False
    assert scores(served) == model.predict(MATRIX).tolist()
    reply = served.get("/ready")
    assert (reply.status, reply.json()["ready"]) == (200, True)
    assert str(file) in reply.json()["problems"]["trees"]
    assert served.get("/models/trees").json()["problem"] == reply.json()["problems"]["trees"]
    assert served.metric("rankforce_model_stale", model="trees") == 1
    assert served.metric("rankforce_model_loads_total", model="trees", outcome="failed") == 1
    assert len(said) == 1, "told once"
    assert "the old one goes on serving" in said[0]
    if damage == "folder":
        file.rmdir()
    file.write_bytes(good)
    assert shelf.refresh("trees") is False, "the same content"
    assert served.get("/ready").json()["problems"] == {}
    assert served.metric("rankforce_model_stale", model="trees") == 0


def test_a_model_that_cannot_score_does_not_take_the_place_of_one_that_can(served, file, model, monkeypatch):
    def unable(model):
        raise rf.DataError("cannot score")

    make_model(1).save(file)
    monkeypatch.setattr(served_models, "warm", unable)
    assert served.service.shelf.refresh("trees") is False
    assert scores(served) == model.predict(MATRIX).tolist()
    assert "cannot score" in served.get("/ready").json()["problems"]["trees"]


def test_a_model_with_other_features_takes_over(served, file):
    from tests.models.random_trees import random_ensemble

    random_ensemble(3, [4], features=2, feature_names=["bm25", "new"]).save(file)
    assert served.service.shelf.refresh("trees") is True
    assert served.post("/score", QUERY).json()["features"] == ["new"]
    assert served.get("/models/trees").json()["features"] == ["bm25", "new"]


def test_the_files_are_watched(start, file, said):
    client = start(report=said.append)
    client.service.shelf.watch(0.01)
    new = make_model(2)
    new.save(file)
    deadline = time.monotonic() + 120
    while scores(client) != new.predict(MATRIX).tolist():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    client.service.shelf.stop()


def test_a_file_that_changes_while_it_is_read_is_read_again(file, monkeypatch):
    new = make_model(1)
    real, calls = served_models.load, []

    def replaced_meanwhile(path):
        found = real(path)
        if not calls:
            new.save(file)
        calls.append(path)
        return found

    monkeypatch.setattr(served_models, "load", replaced_meanwhile)
    served = load_served("trees", file)
    assert len(calls) == 2
    assert served.digest == digest_of(file)
    assert served.model.predict(MATRIX).tolist() == new.predict(MATRIX).tolist()

    def always_replaced(path):
        found = real(path)
        make_model(len(calls)).save(file)
        calls.append(path)
        return found

    monkeypatch.setattr(served_models, "load", always_replaced)
    with pytest.raises(rf.ModelFileError, match="changes while it is read"):
        load_served("trees", file)


def test_a_model_that_cannot_be_loaded_at_the_start_is_an_error(start, tmp_path, file):
    with pytest.raises(rf.ModelFileError, match="No such file"):
        start({"trees": file, "b": tmp_path / "nowhere.json"})
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(rf.ModelFileError, match="not a rankforce model file"):
        start({"b": tmp_path / "bad.json"})


def test_names_of_models(tmp_path):
    files = model_files(["a/trees.json", "b=x=y.json", "runs/lr=0.1/net.json.gz"])
    assert {name: str(path) for name, path in files.items()} == {
        "trees": "a/trees.json", "b": "x=y.json", "net": "runs/lr=0.1/net.json.gz"
    }  # fmt: skip
    for written, words in (
        (["a.json", "b/a.json"], "two models are named 'a'"),
        (["ä.json"], "cannot be served as 'ä'"),
        (["a b.json"], "cannot be served as 'a b'"),
        (["=x.json"], "cannot be served as '=x'"),
        (["a="], "names no file"),
        ([], "no model to serve"),
        ([f"{number}=x" for number in range(101)], "101 models are too many"),
    ):
        with pytest.raises(rf.SettingsError, match=words):
            model_files(written)


def test_warming_takes_models_without_ranges_and_without_features():
    served_models.warm(make_model())
    from tests.models.random_trees import random_ensemble

    constant = random_ensemble(0, [1], features=0, feature_names=[])
    served_models.warm(constant)
    assert len(NAMES) == make_model().n_features


def test_a_model_loaded_in_a_process_of_its_own_is_the_same(file, model):
    age(file)
    apart, here = load_apart("trees", file), load_served("trees", file)
    assert (apart.digest, apart.stamp, apart.settled, apart.path) == (here.digest, here.stamp, True, file)
    assert apart.model.predict(MATRIX).tobytes() == model.predict(MATRIX).tobytes()
    file.write_bytes(b"tree")
    with pytest.raises(rf.ModelFileError, match="not a rankforce model file"):
        load_apart("trees", file)


def test_a_loading_process_that_fails_is_a_problem_of_the_file(file, monkeypatch):
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(rf.ModelFileError, match="the process that loads it left with 1: without a word"):
        load_apart("trees", file)
    monkeypatch.setattr("sys.executable", str(file / "nowhere"))
    with pytest.raises(rf.ModelFileError, match="the process that loads it failed"):
        load_apart("trees", file)


def test_what_is_frozen_is_never_a_model_that_was_exchanged(start, file):
    client = start(warm=False)
    shelf = client.service.shelf
    try:
        shelf.warm_all(freeze=True)
        assert gc.get_freeze_count() > 1000
        old = weakref.ref(shelf.get("trees").model)
        make_model(1).save(file)
        assert shelf.refresh("trees")
        gc.collect()
        assert old() is None
    finally:
        gc.unfreeze()
