"""Parts, folds, cross-validations and searches of data on a cluster are those of one machine, to the last bit."""

from __future__ import annotations

import json
import signal
import time

import numpy as np
import pytest
from tests.distributed.clusters import file_of, learned
from tests.stores.test_stores import shuffled
from tests.test_collective import DATA, HELD_OUT, PLAIN

import rankforce as rf
from rankforce.binning.binned import Binned
from rankforce.data.distributions import known_data
from rankforce.errors import ClusterError, RankforceError, SettingsError
from rankforce.training.monitoring import TrainingWarning

pytestmark = [pytest.mark.cluster, pytest.mark.compiled_only]


def ranker(**settings):
    return rf.LambdaMART(**{"n_trees": 3, "growth": "leafwise", "n_leaves": 4, "min_documents": 5} | settings)


def check_same_part(part, data, folder):
    """A part of shared data is what the part of the data is, and trains as it does."""
    np.testing.assert_array_equal(part.query_hashes, data.query_hashes)
    np.testing.assert_array_equal(part.query_sizes, data.query_sizes)
    assert (part.n_documents, part.n_queries, part.feature_names) == (
        data.n_documents,
        data.n_queries,
        data.feature_names,
    )
    assert part.fingerprint == data.fingerprint
    assert file_of(learned(ranker(), part), folder) == file_of(learned(ranker(), data), folder)
    assert part.ingested.binning == Binned.of(data).binning
    assert part.ingested.known_data == known_data(data)
    assert part.form("bins").fingerprint == data.fingerprint
    bare = part.without_values()
    assert bare.query_ids.tolist() == data.query_ids.tolist()
    np.testing.assert_array_equal(bare.label("grades"), data.label("grades"))


# --------------------------------------------------------------------------------------------------------------- parts


def strays_in_row_groups(folder):
    import pyarrow.parquet as pq

    PLAIN.write(folder / "whole.parquet")
    pq.write_table(pq.read_table(folder / "whole.parquet"), folder / "a.parquet", row_group_size=101)
    return folder / "a.parquet", rf.read(folder / "a.parquet")


def rows_all_over_the_place(folder):
    mixed = shuffled(DATA)
    for number, rows in enumerate(np.array_split(np.arange(mixed.n_documents), 3)):
        mixed._take_rows(rows).write(folder / f"part{number}.parquet")
    parts = [rf.read(folder / f"part{number}.parquet") for number in range(3)]
    return str(folder / "part*.parquet"), rf.Dataset.concat(parts, same_query="merge")


def text_of_which_one_file_names_more_features(folder):
    lines = [f"{row % 3} qid:{row // 8} 1:{row * 7 % 50} 2:{row % 5}" for row in range(160)]
    more = [f"{row % 3} qid:{row // 8} 1:{row} 4:{row % 4}" for row in range(160, 168)]
    (folder / "a.txt").write_text("\n".join(lines) + "\n")
    (folder / "b.txt").write_text("\n".join(more) + "\n")
    (folder / "whole").write_text("\n".join([*lines, *more]) + "\n")
    return [folder / "a.txt", folder / "b.txt"], rf.read(folder / "whole")


@pytest.mark.parametrize(
    "source", [strays_in_row_groups, rows_all_over_the_place, text_of_which_one_file_names_more_features]
)
def test_parts_of_files(source, client, tmp_path):
    given, data = source(tmp_path)
    shared = rf.shared(given, client)
    assert bool(len(shared.ingested.strays)) == (source is not text_of_which_one_file_names_more_features)
    assert shared.fingerprint == data.fingerprint
    here, there = data.split(0.6, 0.3, seed=3), shared.split(0.6, 0.3, seed=3)
    check_same_part(there[0], here[0], tmp_path)
    np.testing.assert_array_equal(there[1].query_hashes, here[1].query_hashes)
    model = learned(ranker(), here[0])
    np.testing.assert_array_equal(model.predict(there[1]), model.predict(here[1]))
    assert str(rf.evaluate(model, there[1])) == str(rf.evaluate(model, here[1]))
    assert there[1].collect().fingerprint == here[1].fingerprint
    few = np.array([1, data.n_queries - 2])  # not the file that has all features, and almost nothing
    check_same_part(shared.take_queries(few), data.take_queries(few), tmp_path)


def test_folds_and_parts_of_parts(client, tmp_path, monkeypatch):
    monkeypatch.setattr("rankforce.binning.binning.EXACT_ROWS", 100)
    monkeypatch.setattr("rankforce.data.distributions.SAMPLE", 90)
    shared = rf.shared(DATA, client)
    for there, here in zip(shared.folds(2, seed=5), DATA.folds(2, seed=5), strict=True):
        np.testing.assert_array_equal(there[1].query_hashes, here[1].query_hashes)
        check_same_part(there[0], here[0], tmp_path)
        parts, alike = there[0].split(0.7, 0.3), here[0].split(0.7, 0.3)
        together = learned(ranker(early_stopping=1), parts[0], validation=parts[1])
        alone = learned(ranker(early_stopping=1), alike[0], validation=alike[1])
        assert file_of(together, tmp_path) == file_of(alone, tmp_path)
        assert together.history_ == alone.history_


def test_a_part_keeps_the_thresholds_of_its_store(client, tmp_path):
    store = rf.bin(DATA, tmp_path / "a.bins")
    shared = rf.shared(store, client)
    for here, there in zip(store.split(0.5, 0.5), shared.split(0.5, 0.5), strict=True):
        assert there.fingerprint == here.fingerprint
        first, second = here.split(0.5, 0.5)
        others = there.split(0.5, 0.5)
        assert [one.fingerprint for one in others] == [first.fingerprint, second.fingerprint]
        together = learned(ranker(early_stopping=1), others[0], validation=others[1])
        assert file_of(together, tmp_path) == file_of(
            learned(ranker(early_stopping=1), first, validation=second), tmp_path
        )
        np.testing.assert_array_equal(together.predict(others[1]), together.predict(second))


def test_parts_with_categories(client, tmp_path):
    features = DATA.features.copy()
    features[:, 1] = np.random.default_rng(5).integers(0, 9, len(features))
    categories = {"2": [f"brand {number}" for number in range(9)]}
    data = rf.Dataset(features, DATA.label("grades"), qid=DATA.qid, categories=categories)
    here, there = data.split(0.6, 0.4), rf.shared(data, client).split(0.6, 0.4)
    together = learned(ranker(early_stopping=1), there[0], validation=there[1])
    assert file_of(together, tmp_path) == file_of(
        learned(ranker(early_stopping=1), here[0], validation=here[1]), tmp_path
    )
    assert there[0].fingerprint == here[0].fingerprint


def test_a_part_that_is_held_is_the_same(client):
    before = set(client.futures)
    shared = rf.shared(PLAIN, client)
    train, test = shared.split(0.5, 0.5)
    assert shared.split(0.5, 0.5) == (train, test)
    assert shared.split(0.5, 0.5, seed=1)[0] is not train
    learned(ranker(), train, validation=test)
    left = client.futures.keys() - before
    assert not [key for key in left if key.startswith(("survey_piece", "column_parts"))]  # rows, on the workers
    thresholds = train.ingested
    train.close()
    assert shared.split(0.5, 0.5)[0].ingested is thresholds
    for match, call in (
        ("no query number", lambda: shared.take_queries([PLAIN.n_queries])),
        ("not by their ids", lambda: shared.take_queries(["1"])),
        ("no query was chosen", lambda: shared.take_queries([])),
        ("add up to more than 1", lambda: shared.split(0.6, 0.6)),
        ("need at least as many queries", lambda: shared.folds(PLAIN.n_queries + 1)),
    ):
        with pytest.raises(RankforceError, match=match):
            call()


# ---------------------------------------------------------------------------------------------------- cross-validation


def test_a_cross_validation(client, tmp_path):
    given, data = rows_all_over_the_place(tmp_path)
    numbers = {"here": [], "there": []}

    def count(where):
        return lambda fold: [lambda iteration: numbers[where].append((fold, iteration.number))]

    asked = {"folds": 2, "seed": 4, "validation_share": 0.25, "keep_rankers": True, "progress": False}
    here = rf.cross_validate(ranker(early_stopping=1), data, ["NDCG@5", "MAP"], **asked, callbacks=count("here"))
    shared = rf.shared(given, client)
    there = rf.cross_validate(ranker(early_stopping=1), shared, ["NDCG@5", "MAP"], **asked, callbacks=count("there"))
    assert str(there) == str(here)
    assert there.evaluation.to_dict() == here.evaluation.to_dict()
    np.testing.assert_array_equal(there.scores, here.scores)
    np.testing.assert_array_equal(there.fold_of, here.fold_of)
    for name in here.per_query:
        np.testing.assert_array_equal(there.per_query[name], here.per_query[name])
    assert [file_of(one, tmp_path) for one in there.rankers] == [file_of(one, tmp_path) for one in here.rankers]
    assert numbers["there"] == numbers["here"] != []


def test_folds_that_are_given(client):
    shared = rf.shared(PLAIN, client)
    here = rf.cross_validate(ranker(), list(PLAIN.folds(2)), progress=False)
    there = rf.cross_validate(ranker(), list(shared.folds(2)), progress=False)
    assert str(there) == str(here)
    np.testing.assert_array_equal(there.scores, here.scores)


# ------------------------------------------------------------------------------------------------------------- tuning


SPACE = {"n_leaves": [2, 5]}


def trials_of(journal):
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]


@pytest.mark.parametrize("held_out", [False, True])
def test_a_search(held_out, client, tmp_path, monkeypatch):
    shared = rf.shared(PLAIN, client)
    asked = {"method": "grid", "progress": False, "measure": "NDCG@5"}
    if held_out:
        further = {"validation": HELD_OUT}, {"validation": rf.shared(HELD_OUT, client, like=shared)}
    else:
        further = ({"folds": 2, "validation_share": 0.3},) * 2
    tried = ranker(early_stopping=1)
    here = rf.tune(tried, PLAIN, SPACE, **asked, **further[0], journal=tmp_path / "here")
    there = rf.tune(tried, shared, SPACE, **asked, **further[1], journal=tmp_path / "there")
    assert trials_of(tmp_path / "there") == trials_of(tmp_path / "here")
    assert there.settings == here.settings
    assert file_of(there.ranker, tmp_path) == file_of(here.ranker, tmp_path)

    def none(*given, **further):
        raise AssertionError("all trials are in the journal")

    monkeypatch.setattr(type(shared), "train", none)
    again = rf.tune(tried, shared, SPACE, **asked, **further[1], journal=tmp_path / "here", refit=False)
    assert [trial.value for trial in again.trials] == [trial.value for trial in here.trials]
    other = rf.shared(DATA, client)
    with pytest.raises(SettingsError, match="data"):
        rf.tune(tried, other, SPACE, **asked, folds=2, validation_share=0.3, journal=tmp_path / "here")


def test_what_cannot_be_is_refused_before_any_work(client, monkeypatch):
    from sklearn.linear_model import Ridge

    shared = rf.shared(PLAIN, client)

    def none(*given, **further):
        raise AssertionError("this is work")

    monkeypatch.setattr("rankforce.distributed.resampling.gathered_from", none)
    in_one = "needs all documents in one process"
    for match, call in (
        (f"LambdaRank {in_one}", lambda: rf.cross_validate(rf.LambdaRank(), shared)),
        (f"Bagging {in_one}", lambda: rf.cross_validate(rf.Bagging(ranker()), shared)),
        (f"Ridge {in_one}", lambda: rf.cross_validate(Ridge(), shared)),
        (f"RankNet {in_one}", lambda: rf.tune(rf.RankNet(), shared, {"epochs": [1]})),
        ("one trial after the other", lambda: rf.tune(ranker(), shared, SPACE, processes=2)),
        ("max_bins cannot be searched", lambda: rf.tune(ranker(), shared, {"max_bins": [4, 9]})),
        ("share both or none", lambda: rf.tune(ranker(), PLAIN, SPACE, validation=shared)),
    ):
        with pytest.raises(RankforceError, match=match):
            call()


def test_a_cluster_that_fails_is_no_failed_trial(client, monkeypatch, tmp_path):
    def fail(*given, **further):
        raise ClusterError("all workers are gone")

    shared = rf.shared(PLAIN, client)
    monkeypatch.setattr("rankforce.distributed.driver.Driver.fit", fail)
    with pytest.raises(ClusterError, match="all workers are gone"):
        rf.tune(ranker(), shared, SPACE, folds=2, progress=False, journal=tmp_path / "journal")
    assert len(trials_of(tmp_path / "journal")) == 1  # what is searched


@pytest.mark.parametrize("folds", [False, True])
def test_ctrl_c_in_the_client(client, folds):
    """A fit keeps its trees and says so; a cross-validation counts no fold by half. Workers stop after a tree."""
    data = rf.shared(DATA, client)
    begun = []

    def press(told):
        begun.append(told.number)
        if told.number == 3:
            signal.raise_signal(signal.SIGINT)
        time.sleep(0.05)  # workers ask twice a second whether to stop

    endless = ranker(n_trees=100_000, learning_rate=0.001, progress=False)
    if folds:
        with pytest.raises(KeyboardInterrupt):
            rf.cross_validate(endless, data, folds=2, progress=False, callbacks=lambda number: [press])
        assert begun == sorted(set(begun))  # of one fold
    else:
        with pytest.warns(TrainingWarning, match=r"interrupted after \d+ of 100,000 trees"):
            endless.fit(data, callbacks=[press])
        assert endless.interrupted_
        assert endless.model_.provenance.interrupted == f"after {endless.model_.n_trees} of 100,000 trees"
    assert learned(ranker(), data).model_.n_trees == 3  # the workers are free again
