"""Data on a cluster gives the model of one machine, to the last byte, wherever it comes from and however it is cut."""

from __future__ import annotations

import errno
import gzip
import itertools
import os
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from tests.distributed.clusters import Security, cluster_of, file_of, learned
from tests.distributed.settings_at_random import random_settings
from tests.stores.test_stores import shuffled
from tests.test_collective import DATA, HELD_OUT, PLAIN, TRAININGS

import rankforce as rf
from rankforce.binning.binned import Binned
from rankforce.boosting import memory_choice
from rankforce.boosting.memory_choice import chosen_memory
from rankforce.data.distributions import known_data
from rankforce.distributed import mpi, taking_part
from rankforce.distributed.driver import check_alike
from rankforce.distributed.placing import check_room
from rankforce.distributed.shards import forget
from rankforce.distributed.taking_part import Introduction
from rankforce.distributed.tasks import alive_workers
from rankforce.errors import DataError, RankforceError, SettingsError

pytestmark = [pytest.mark.cluster, pytest.mark.compiled_only]


@pytest.fixture(scope="module", params=[1, 2, 4])
def any_client(request):
    with cluster_of(request.param) as client:
        yield client


def ranker(**settings):
    return rf.LambdaMART(**{"n_trees": 4, "growth": "leafwise", "n_leaves": 6, "min_documents": 5} | settings)


def check_same(shared, data, folder, **settings):
    """What is shared has what the data has, and trains as it does."""
    assert (shared.n_documents, shared.n_queries) == (data.n_documents, data.n_queries)
    assert shared.feature_names == data.feature_names
    assert file_of(learned(ranker(**settings), shared), folder) == file_of(learned(ranker(**settings), data), folder)
    assert shared.ingested.binning == Binned.of(data).binning
    assert shared.ingested.known_data == known_data(data)
    assert shared.form("bins").fingerprint == data.fingerprint


@pytest.mark.parametrize("name", ["graded", "ordinal"])
def test_any_number_of_workers(name, any_client, tmp_path):
    train = rf.shared(DATA, any_client)
    held_out = rf.shared(HELD_OUT, any_client, like=train)
    together = learned(TRAININGS[name](), train, validation=held_out)
    alone = learned(TRAININGS[name](), DATA, validation=HELD_OUT)
    assert file_of(together, tmp_path) == file_of(alone, tmp_path)
    assert together.history_ == alone.history_
    assert together.best_iteration_ == alone.best_iteration_
    assert train.last_run["members"] == min(len(alive_workers(any_client)), 24)


def test_validation_may_be_a_dataset(client, tmp_path):
    together = learned(ranker(early_stopping=2), rf.shared(DATA, client), validation=HELD_OUT)
    assert file_of(together, tmp_path) == file_of(
        learned(ranker(early_stopping=2), DATA, validation=HELD_OUT), tmp_path
    )


# ------------------------------------------------------------------------------------------------------------- sources


def thirds(data):
    return [data.take_queries(part) for part in np.array_split(np.arange(data.n_queries), 3)]


@pytest.mark.parametrize("ending", ["txt.gz", "csv", "parquet"])
def test_files(ending, client, tmp_path):
    for number, third in enumerate(thirds(PLAIN)):
        third.write(tmp_path / f"part{number}.{ending}")
    whole = rf.Dataset.concat([rf.read(tmp_path / f"part{number}.{ending}") for number in range(3)])
    check_same(rf.shared(str(tmp_path / f"part*.{ending}"), client), whole, tmp_path)


def test_a_folder_whose_row_groups_cut_queries(client, tmp_path):
    import pyarrow.parquet as pq

    (tmp_path / "train").mkdir()
    PLAIN.write(tmp_path / "whole.parquet")
    table = pq.read_table(tmp_path / "whole.parquet")
    pq.write_table(table, tmp_path / "train" / "a.parquet", row_group_size=17)
    shared = rf.shared(tmp_path / "train", client)
    assert len(shared.ingested.pieces) > 4
    assert len(shared.ingested.strays)
    check_same(shared, rf.read(tmp_path / "train" / "a.parquet"), tmp_path)


def test_roles_of_columns_are_kept(client, tmp_path):
    frame = PLAIN.to_pandas()
    frame["new"] = frame.index % 3 == 0
    frame["title"] = "shoes"
    frame.to_parquet(tmp_path / "a.parquet")
    data = rf.read(tmp_path / "a.parquet", ignore=["title"])
    assert data.roles["new"]
    check_same(rf.shared(tmp_path / "a.parquet", client, ignore=["title"]), data, tmp_path)


@pytest.mark.parametrize("partitions", [1, 5])
def test_a_frame_of_dask_with_unknown_divisions(partitions, client, tmp_path):
    dd = pytest.importorskip("dask.dataframe")
    frame = PLAIN.to_pandas()
    lazy = dd.from_pandas(frame, npartitions=partitions, sort=False).clear_divisions()
    lazy = dd.concat([lazy, lazy[lazy["qid"] == "nobody"]])  # partitions without a row
    assert not lazy.known_divisions
    check_same(rf.shared(lazy, client), rf.Dataset(frame), tmp_path)


def test_a_store(client, tmp_path):
    store = rf.bin(DATA, tmp_path / "a.bins")
    train, held_out = rf.shared(tmp_path / "a.bins", client), rf.bin(HELD_OUT, tmp_path / "b.bins", like=store)
    together = learned(ranker(early_stopping=2), train, validation=rf.shared(held_out, client, like=train))
    alone = learned(ranker(early_stopping=2), DATA, validation=HELD_OUT)
    assert file_of(together, tmp_path) == file_of(alone, tmp_path)
    with pytest.raises(DataError, match="values of features"):
        ranker(base_model=alone).fit(train)


def test_a_store_that_is_replaced_while_it_is_shared(client, tmp_path):
    rf.bin(DATA, tmp_path / "a.bins")
    train = rf.shared(tmp_path / "a.bins", client)
    part = train.take_queries(np.arange(12))
    rf.bin(PLAIN, tmp_path / "a.bins")
    for data in (train, part):
        with pytest.raises(DataError, match=r"a\.bins.* was changed since it was opened"):
            ranker().fit(data)


def test_a_piece_that_is_other_when_it_is_read_again(client):
    train = rf.shared(PLAIN, client)
    learned(ranker(), train)
    form = train.form("bins")
    content = train.ingested.contents[0].result()
    other = content.replace(features=np.flip(content.features))
    train.ingested.contents[0] = client.submit(lambda part: part, other, pure=False)
    client.run(forget, form.plan.token)
    for worker in set(form.owners.values()):
        form.misplaced(worker)
    for _ in range(2):  # it stays refused
        with pytest.raises(DataError, match="queries 0 to 2 has other rows than when it was loaded first"):
            ranker().fit(train)


def test_what_is_forgotten_late_is_not_what_was_loaded_since(client):
    train = rf.shared(PLAIN, client)
    former = train.form("bins").plan.token
    train.close()
    assert train.form("bins").plan.token != former


def test_rows_all_over_the_place_are_dealt_by_query(client, tmp_path):
    mixed = shuffled(DATA)
    for number, rows in enumerate(np.array_split(np.arange(mixed.n_documents), 5)):
        mixed._take_rows(rows).write(tmp_path / f"part{number}.parquet")
    shared = rf.shared(str(tmp_path / "part*.parquet"), client)
    assert len(shared.ingested.strays) == mixed.n_queries
    parts = [rf.read(tmp_path / f"part{number}.parquet") for number in range(5)]
    check_same(shared, rf.Dataset.concat(parts, same_query="merge"), tmp_path)
    with pytest.raises(DataError, match=r"query 'q\d+' is in .*part\d.parquet and in .*part\d.parquet, and 2\d more"):
        rf.shared(str(tmp_path / "part*.parquet"), client, shuffle=False)


def test_features_that_only_one_shard_names(client, tmp_path):
    for name, lines in (
        ("a", [f"{row % 3} qid:{row // 10} 1:{row} 2:{row % 7}" for row in range(60)]),
        ("b", [f"{row % 3} qid:{row // 10} 1:{row} 5:{row % 4}" for row in range(55, 120)]),
    ):
        with gzip.open(tmp_path / f"{name}.txt.gz", "wt") as file:
            file.write("\n".join(lines) + "\n")
    text = b"".join(gzip.decompress((tmp_path / f"{name}.txt.gz").read_bytes()) for name in "ab")
    (tmp_path / "whole.txt").write_bytes(text)
    for absent in ("zero", "missing"):
        shared = rf.shared([tmp_path / "a.txt.gz", tmp_path / "b.txt.gz"], client, absent=absent)
        check_same(shared, rf.read(tmp_path / "whole.txt", absent=absent), tmp_path)


def test_a_shard_with_other_columns_is_named(client, tmp_path):
    first, second, third = thirds(PLAIN)
    first.write(tmp_path / "a.parquet")
    second.without_features([2]).write(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b.parquet: it has no feature '3', unlike .*a.parquet"):
        rf.shared(tmp_path, client)
    first.without_features([2]).write(tmp_path / "a.parquet")
    second.write(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b.parquet: it has the further feature '3', unlike .*a.parquet"):
        rf.shared(tmp_path, client)
    first.write(tmp_path / "a.parquet")
    third.with_label("clicks", np.ones(third.n_documents)).write(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b.parquet: it has the labels 'clicks', 'grades', the first one has 'grades'"):
        rf.shared(tmp_path, client)
    third.replace(query_weights=np.ones(third.n_queries)).write(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b.parquet: it has weights of queries, the first one has none: give all"):
        rf.shared(tmp_path, client)
    first.replace(weights=np.ones(first.n_documents)).write(tmp_path / "a.parquet")
    third.write(tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b.parquet: it has no weights of documents, the first one has: give all"):
        rf.shared(tmp_path, client)
    (tmp_path / "b.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(DataError, match=r"b.parquet"):
        rf.shared(tmp_path, client)


def test_missing_labels_and_text_that_looks_like_numbers(client, tmp_path):
    labels = DATA.label("grades").copy()
    labels[::7] = np.nan
    names = np.array([f"{number}" if number % 2 else f"q{number}" for number in range(DATA.n_queries)], dtype=object)
    data = rf.Dataset(DATA.features, labels, qid=names[DATA.row_queries])
    check_same(rf.shared(data, client), data, tmp_path)


def test_thresholds_of_a_sample(client, tmp_path, monkeypatch):
    monkeypatch.setattr("rankforce.binning.binning.EXACT_ROWS", 150)
    monkeypatch.setattr("rankforce.data.distributions.SAMPLE", 90)
    check_same(rf.shared(DATA, client), DATA, tmp_path)


# ----------------------------------------------------------------------------------------------- what bins do not tell


def test_categories_a_base_model_and_a_cost_of_ones_own(client, tmp_path):
    features = DATA.features.copy()
    features[:, 1] = np.random.default_rng(5).integers(0, 9, len(features))
    categories = {"2": [f"brand {number}" for number in range(9)]}
    data = rf.Dataset(features, DATA.label("grades"), qid=DATA.qid, categories=categories)
    shared = rf.shared(data, client)
    for make in (
        ranker,
        lambda: ranker(base_model="1"),
        lambda: ranker(base_model=learned(rf.LambdaMART(n_trees=2), data)),
        lambda: rf.MART(squares, n_trees=2),
    ):
        assert file_of(learned(make(), shared), tmp_path) == file_of(learned(make(), data), tmp_path)


def squares(scores, labels, data):
    return labels - scores


# ------------------------------------------------------------------------------------------------------------ refusals


def test_refusals(client, tmp_path):
    train = rf.shared(PLAIN, client)
    preferences = rf.Preferences(PLAIN, PLAIN.rows[:1], PLAIN.rows[1:2])
    assert repr(train).startswith(f"SharedDataset({PLAIN.n_documents:,} documents, {PLAIN.n_queries} queries, ")
    for match, call in (
        ("store was made for at most 255 bins", lambda: ranker(max_bins=9).fit(train)),
        ("leave weights out", lambda: ranker().fit(train, weights=np.ones(3))),
        ("give nothing beside it", lambda: ranker().fit(train, PLAIN.label())),
        ("preferences name rows", lambda: ranker().fit(train, preferences=preferences)),
        ("preference_share goes with", lambda: ranker().fit(train, preference_share=0.5)),
        ("instruments look at", lambda: ranker().fit(train, instruments=[rf.diagnostics.GradesInTop(3)])),
        ("needs all documents in one process", lambda: rf.LambdaRank().fit(train)),
        ("validation must be a SharedDataset", lambda: ranker().fit(train, validation=3)),
        ("binned at other thresholds", lambda: ranker().fit(train, validation=rf.shared(HELD_OUT, client))),
        ("client must be a client of Dask's", lambda: rf.shared(PLAIN, 3)),
        ("no such file", lambda: rf.shared("nowhere*.parquet", client)),
        ("has no file with one of the endings", lambda: rf.shared(tmp_path, client)),
        ("files are read from folders", lambda: rf.shared("s3://bucket/train", client)),
        ("a Dataset has no option 'label'", lambda: rf.shared(PLAIN, client, label="x")),
        ("preferences name rows of a data set in one", lambda: ranker().fit(train, preferences=[(0, 1)])),
        ("early_stopping needs validation data", lambda: ranker(early_stopping=3).fit(train)),
    ):
        with pytest.raises(RankforceError, match=match):
            call()
    learned(ranker(), train, preference_share=1.0, instruments=[])  # and is as it was


def test_memory_is_checked_before_loading(client, monkeypatch):
    train = rf.shared(PLAIN, client)
    workers = {name: {"memory_limit": 70_000} for name in alive_workers(client)}
    monkeypatch.setattr("rankforce.distributed.driver.wait_for_workers", lambda *given: workers)
    with pytest.raises(
        SettingsError, match=r"would need .*: \d+ documents × \(8 bytes of bins \+ 97 .* is 70.0 kB, and Dask"
    ):
        ranker().fit(train)


def test_memory_of_both_data_sets_and_of_bins_that_are_made():
    def placed(form, count):
        layout = SimpleNamespace(feature_names=("a", "b", "c", "d"))
        plan = SimpleNamespace(form=form, width=4, bytes_per_document=4 if form == "bins" else 16, layout=layout)
        return SimpleNamespace(plan=plan, limits={"w": limit}), {"w": count}

    settings = rf.LambdaMART(n_trees=1, n_leaves=2)
    histograms = 8 * 264 * 4 * 2
    for form, each in (("bins", 4 + 97), ("values", 16 + 4 + 97)):
        need = 100 * each + 50 * each + histograms
        limit = need / 0.8 + 1
        check_room(settings, [placed(form, 100), placed(form, 50)])
        limit = need / 0.8 - 2
        with pytest.raises(SettingsError, match=r"100 documents × .* \+ 50 of validation × .* pauses it at 80%"):
            check_room(settings, [placed(form, 100), placed(form, 50)])


def test_workers_choose_memory_by_their_own_limit(client, monkeypatch):
    left = []

    def chosen(setting, data):
        left.append(memory_choice._limit.get()())
        return chosen_memory(setting, data)

    monkeypatch.setattr("rankforce.boosting.course.chosen_memory", chosen)
    learned(ranker(n_trees=1), rf.shared(PLAIN, client))
    limits = [one["memory_limit"] for one in alive_workers(client).values()]
    assert len(left) == len(limits)
    assert all(0 <= one < 0.8 * max(limits) for one in left)


def test_nobody_listens_after_a_refusal(client, monkeypatch):
    real, count = taking_part.traits, itertools.count()
    monkeypatch.setattr(taking_part, "traits", lambda: real() | {"C library": f"glibc {next(count)}"})
    with pytest.raises(SettingsError, match="workers differ in their C library"):
        ranker().fit(rf.shared(PLAIN, client))
    until = time.monotonic() + 60
    while taking_part._listeners and time.monotonic() < until:
        time.sleep(0.05)
    assert not taking_part._listeners


def test_a_training_leaves_no_traces_at_the_scheduler(client, tmp_path):
    for _ in range(2):
        path = tmp_path / "kept.json"
        learned(
            ranker(), rf.shared(PLAIN, client), callbacks=[lambda one: None], checkpoint=path, checkpoint_every=1,
            resume="never",
        )  # fmt: skip
        assert path.stat().st_size > 1000

    def traces(dask_scheduler):
        of_topics = [event for events in dask_scheduler.get_events().values() for event in events]
        kinds = [dask_scheduler.extensions[kind] for kind in ("queues", "variables")]
        names = [name for one in (kinds[0].queues, kinds[1].variables) for name in one if "rankforce" in str(name)]
        large = [one for one in of_topics if len(str(one)) > 10_000 and "checkpoint" in str(one)]
        return names, large, [name for name in dask_scheduler.get_events() if str(name).startswith("rankforce")]

    until = time.monotonic() + 60
    while (found := client.run_on_scheduler(traces))[0] and time.monotonic() < until:
        time.sleep(0.1)  # a queue is released without waiting
    assert found == ([], [], ["rankforce"])


def test_an_address_that_cannot_be_listened_at_is_named(monkeypatch):
    def listener(host, port=0):
        raise OSError(failure, os.strerror(failure))

    monkeypatch.setattr(taking_part, "Listener", listener)
    failure = errno.EADDRNOTAVAIL
    for port, name in ((0, "nowhere, the host"), (4000, "nowhere, port 4000, the host")):
        with pytest.raises(RankforceError, match=f"cannot listen at {name} .*: {os.strerror(failure)}"):
            taking_part._listen("nowhere", port)
    failure = errno.EADDRINUSE
    with pytest.raises(RankforceError, match="none of the ports 4000 to 4063 is free on nowhere"):
        taking_part._listen("nowhere", 4000)


def test_text_of_a_frame_whose_partitions_have_other_words(client):
    dd = pytest.importorskip("dask.dataframe")
    frame = PLAIN.to_pandas()
    frame["shop"] = np.where(np.arange(len(frame)) < len(frame) // 2, "here", "there")
    with pytest.raises(DataError, match=r"'shop' has other categories.*frame\.categorize\(\)"):
        rf.shared(dd.from_pandas(frame, npartitions=2, sort=False), client)
    known = dd.from_pandas(frame, npartitions=2, sort=False).categorize(columns=["shop"])
    assert set(rf.shared(known, client).categories["shop"]) == {"here", "there"}


def test_everything_can_be_brought_back(client):
    mixed = shuffled(DATA)
    assert rf.shared(mixed, client).collect().fingerprint == mixed.fingerprint


# ----------------------------------------------------------------------------------------------------- around training


def test_scores_and_evaluations_come_home(client, tmp_path):
    mixed = shuffled(DATA)
    for number, rows in enumerate(np.array_split(np.arange(mixed.n_documents), 3)):
        mixed._take_rows(rows).write(tmp_path / f"part{number}.parquet")
    shared = rf.shared(str(tmp_path / "part*.parquet"), client)
    whole = rf.Dataset.concat([rf.read(tmp_path / f"part{number}.parquet") for number in range(3)], same_query="merge")
    model, other = learned(ranker(), whole), learned(rf.LambdaMART(n_trees=1), whole)
    np.testing.assert_array_equal(model.predict(shared), model.predict(whole))
    np.testing.assert_array_equal(model.predict(shared, n_trees=2), model.predict(whole, n_trees=2))
    for ranking in (model, "2", lambda X: X[:, 0]):
        here, there = (rf.evaluate(ranking, data, ["NDCG@5", "MAP"]) for data in (whole, shared))
        assert str(here) == str(there)
    assert str(rf.compare(model, other, whole, "NDCG")) == str(rf.compare(model, other, shared, "NDCG"))


def test_callbacks_run_in_the_client_and_may_stop(client):
    heard = []

    def stop_at_three(iteration):
        heard.append((iteration.number, dict(iteration.values), len(iteration.history["train"])))
        if iteration.number == 3:
            iteration.stop()

    together = learned(ranker(n_trees=6), rf.shared(DATA, client), callbacks=[stop_at_three])
    alone = learned(ranker(n_trees=3), DATA)
    assert together.history_ == alone.history_
    assert [one[0] for one in heard] == [1, 2, 3]
    assert [one[1]["train"] for one in heard] == alone.history_["train"]

    def fail(iteration):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        learned(ranker(n_trees=6), rf.shared(DATA, client), callbacks=[fail])


def test_a_checkpoint_is_the_clients(client, tmp_path):
    train, path = rf.shared(DATA, client), tmp_path / "run.json"
    learned(ranker(n_trees=3), train, checkpoint=path, checkpoint_every=1)
    assert rf.load(path).n_trees == 3
    together = learned(ranker(n_trees=5), train, checkpoint=path)
    assert file_of(together, tmp_path) == file_of(learned(ranker(n_trees=5), DATA), tmp_path)
    alone = learned(ranker(n_trees=6), DATA, checkpoint=path)  # one machine goes on from it
    assert file_of(alone, tmp_path) == file_of(learned(ranker(n_trees=6), train, checkpoint=path), tmp_path)
    with pytest.raises(SettingsError, match=r"learning_rate was 0\.1 and is 0\.2"):
        learned(ranker(n_trees=6, learning_rate=0.2), train, checkpoint=path)
    with pytest.raises(SettingsError, match="no checkpoint to resume from"):
        learned(ranker(), train, checkpoint=tmp_path / "none.json", resume="always")


def test_two_trainings_at_once(client, tmp_path):
    alone = file_of(learned(ranker(), DATA), tmp_path)
    train = [rf.shared(DATA, client), rf.shared(DATA, client)]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(lambda one: ranker(progress=False).fit(one), train))
    assert [file_of(one, tmp_path) for one in together] == [alone] * 2


def test_members_that_are_unlike_are_refused_by_name():
    traits = {"version of numpy": "2.4", "processor": "x"}
    members = [Introduction(f"tcp://{n}", f"w{n}", ("h", 1), 1, traits) for n in range(3)]
    check_alike(members)
    odd = Introduction("tcp://9", "w9", ("h", 1), 1, traits | {"processor": "y"})
    with pytest.raises(SettingsError, match=r"differ in their processor.*: w9 at tcp://9 \(y\); the others have x"):
        check_alike([*members, odd])


def test_workers_and_processes_are_compared_by_the_same():
    assert taking_part.traits is mpi.traits
    assert {"C library", "NumPy's processor features", "version of numpy"} <= mpi.traits().keys()


def test_a_cluster_without_workers_is_an_error():
    with cluster_of(0) as client, pytest.raises(RankforceError, match=r"no worker for 0\.3 seconds"):
        rf.shared(PLAIN, client, timeout=0.3)


def test_settings_at_random(client, tmp_path):
    train, held_out = rf.shared(DATA, client), HELD_OUT
    for seed in range(2):
        settings = random_settings(np.random.default_rng(seed))
        together = learned(rf.LambdaMART(**settings), train, validation=held_out)
        assert file_of(together, tmp_path) == file_of(
            learned(rf.LambdaMART(**settings), DATA, validation=held_out), tmp_path
        ), settings


def test_members_talk_as_their_cluster_does(tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl, to make a certificate")
    certificate, key = str(tmp_path / "certificate.pem"), str(tmp_path / "key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=member", "-addext",
         "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True,
        capture_output=True,
    )  # fmt: skip
    paths = {f"tls_{who}_{what}": path for who in ("client", "worker", "scheduler") for what, path in
             (("cert", certificate), ("key", key))}  # fmt: skip
    security = Security(tls_ca_file=certificate, require_encryption=True, **paths)
    with cluster_of(2, protocol="tls://", security=security) as client:
        assert all(name.startswith("tls://") for name in alive_workers(client))
        together = learned(ranker(), rf.shared(DATA, client, port=23_450))
    assert file_of(together, tmp_path) == file_of(learned(ranker(), DATA), tmp_path)
