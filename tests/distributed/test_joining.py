"""Workers that join take part in the next training, and in one that runs where that pays; the model is the same."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from tests.distributed.clusters import Queue, cluster_of, file_of, learned
from tests.test_collective import DATA, HELD_OUT

import rankforce as rf
from rankforce.distributed import joining, reporting
from rankforce.distributed.placing import dealt, joining_pays
from rankforce.distributed.reporting import EVENTS, Listening
from rankforce.distributed.shards import Shard, ShardPlan

pytestmark = [pytest.mark.cluster, pytest.mark.compiled_only]


@pytest.fixture
def client():
    with cluster_of(2) as client:
        yield client


def ranker(**settings):
    return rf.LambdaMART(**{"n_trees": 12, "growth": "leafwise", "n_leaves": 6, "min_documents": 5} | settings)


def grow(client, workers):
    client.cluster.scale(workers)
    client.wait_for_workers(workers, timeout=120)


def test_the_next_training_has_all_workers(client, tmp_path):
    train = rf.shared(DATA, client)
    held_out = rf.shared(HELD_OUT, client, like=train)
    alone = file_of(learned(ranker(), DATA, validation=HELD_OUT), tmp_path)
    for workers in (2, 3, 3):
        grow(client, workers)
        assert file_of(learned(ranker(), train, validation=held_out), tmp_path) == alone
        assert train.last_run["members"] == workers
        assert train.last_run["losses"] == []


def test_a_training_that_runs_takes_them_in(client, tmp_path, monkeypatch):
    asked, heard = threading.Event(), []
    regroup = Listening.regroup

    def noted(listening):
        regroup(listening)
        asked.set()

    def callback(iteration):
        heard.append((iteration.number, len(iteration.history["train"])))
        if iteration.number == 6:
            grow(client, 3)
            assert asked.wait(200)

    monkeypatch.setattr(Listening, "regroup", noted)
    monkeypatch.setattr(joining, "joining_pays", lambda *given: True)
    monkeypatch.setattr(reporting, "LOOK_AGAIN", 0.01)
    train = rf.shared(DATA, client)
    together = learned(ranker(), train, validation=HELD_OUT, callbacks=[callback])
    alone = learned(ranker(), DATA, validation=HELD_OUT)
    assert file_of(together, tmp_path) == file_of(alone, tmp_path)
    assert together.history_ == alone.history_
    assert heard == [(number, number) for number in range(1, 13)]
    assert train.last_run["members"] == 3
    assert len(train.last_run["joined"]) == 1
    assert train.last_run["losses"] == []


def test_when_it_pays():
    """An hour of trees is left; a third worker takes a third of it."""
    thirds = {"largest": 600, "then": 400, "trees": 3600, "seconds_per_tree": 1.0}
    assert joining_pays(**thirds, seconds_of_loading=500.0)
    assert not joining_pays(**thirds, seconds_of_loading=700.0)
    assert not joining_pays(**thirds | {"trees": 50}, seconds_of_loading=0.0)
    assert not joining_pays(**thirds | {"then": 600}, seconds_of_loading=0.0)


def test_pieces_stay_where_they_are_unless_somebody_has_nothing():
    documents = dict.fromkeys(range(8), 10)
    owners, load = dealt(documents, {}, ["a", "b"])
    assert load == {"a": 40, "b": 40}
    assert dealt(documents, owners, ["a", "b"]) == (owners, load)
    more, load = dealt(documents, owners, ["a", "b", "c"])
    assert load == {"a": 30, "b": 30, "c": 20}
    assert sum(more[piece] != owners[piece] for piece in documents) == 2
    assert dealt(documents, more, ["a", "b", "c"])[0] == more
    fewer, load = dealt(documents, more, ["a", "c"])
    assert load == {"a": 40, "c": 40}
    assert all(fewer[piece] == more[piece] for piece in documents if more[piece] != "b")
    assert dealt({0: 10}, {0: "a"}, ["a", "b"]) == ({0: "a"}, {"a": 10, "b": 0})


@pytest.mark.parametrize("when", ["apart", "together", "both"])
def test_a_shard_gives_up_pieces(when):
    """Whatever was joined and is cut out again: as if the others alone had been read."""

    def part(number):
        rows = np.full(number + 2, number)
        matrix = np.repeat(rows[:, None], 3, axis=1)
        return {"matrix": matrix, "sizes": np.array([number + 1, 1]), "query_ids": np.array([number, 100 + number]),
                "labels.grades": rows.astype(float)}  # fmt: skip

    plan = ShardPlan("token", "values", None, None)
    shard, other = Shard(plan), Shard(plan)
    for number in range(5):
        shard.add(number, part(number), [b"%d" % number])
        shard.add(number, part(9), [b"twice"])  # nothing: it is there
        if when == "together" or (when == "both" and number == 2):
            shard.arrays()
    for number in (1, 4):
        other.add(number, part(number), [b"%d" % number])
    shard.keep([1, 4])
    assert shard.pieces == {1, 4}
    assert shard.digests == other.digests
    found, wanted = shard.arrays(), other.arrays()
    assert found.keys() == wanted.keys()
    for name in wanted:
        np.testing.assert_array_equal(found[name], wanted[name])


# ------------------------------------------------------------------------------------------------------------- answers


def test_answers_belong_to_a_run(client):
    """A first member that was given up may speak later: nobody hears it, and it takes nobody's answer."""
    heard = []

    def callback(iteration):
        heard.append((iteration.number, dict(iteration.values), dict(iteration.history)))
        if iteration.number == 4:
            iteration.stop()

    def tell(run, number, **more):
        values = {"train": number / 10}
        client.log_event(EVENTS, {"run": run, "number": number, "values": values, "best": number} | more)
        return Queue(f"topic-answers-{run}", client=client).get(timeout=120)

    def begin(listening, run):
        listening.begin(run)
        client.submit(int).result()  # what was sent before it has arrived

    past = [0.1, 0.2, 0.3, 0.4]
    with Listening(client, "topic", ranker(progress=False), [callback], None, False) as listening:
        begin(listening, "a")
        assert tell("a", 1, history={"train": past[:1]}) == "go"
        begin(listening, "b")
        assert tell("a", 2) == "stop"  # who is asked no more
        assert [one[0] for one in heard] == [1]
        assert tell("b", 3, history={"train": past[:3]}) == "go"  # the second tree was never told of
        begin(listening, "c")
        assert tell("c", 3, history={"train": past[:3]}) == "go"  # grown again
        assert tell("c", 4) == "stop"
        assert tell("c", 4) == "stop"  # as was said before
    assert heard == [(n, {"train": n / 10}, {"train": past[:n]}) for n in (1, 2, 3, 4)]
    assert listening.error is None


def test_callbacks_are_not_told_of_trees_that_a_checkpoint_had(client):
    heard = []
    with Listening(client, "topic2", ranker(progress=False), [lambda one: heard.append(one.number)], None, True) as one:
        one.begin("a")
        client.submit(int).result()  # what was sent before it has arrived
        client.log_event(
            EVENTS, {"run": "a", "number": 7, "values": {"t": 1.0}, "best": 3, "history": {"t": [0.0] * 6 + [1.0]}}
        )
        assert Queue("topic2-answers-a", client=client).get(timeout=120) == "go"
    assert heard == [7]
