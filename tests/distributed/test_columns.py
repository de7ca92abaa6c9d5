"""Columns of files that hold no numbers: on a cluster the features of one machine, and its model to the last byte."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.distributed.clusters import file_of, learned
from tests.test_collective import PLAIN

import rankforce as rf
from rankforce.errors import DataError

pytestmark = [pytest.mark.cluster, pytest.mark.compiled_only]


def ranker():
    return rf.LambdaMART(n_trees=3, growth="leafwise", n_leaves=5, min_documents=5)


def frame_of(data=PLAIN):
    """A table with every kind of column."""
    frame = data.to_pandas()
    n = len(frame)
    random = np.random.default_rng(3)
    brands = np.array(["shoe", "hat", "coat", "éclair", "7a"], dtype=object)
    frame["brand"] = brands[random.integers(0, 5, n)]
    frame.loc[::11, "brand"] = None
    frame["listed"] = pd.Categorical(np.array(["s", "m", "l"])[random.integers(0, 3, n)], ["s", "m", "l"], ordered=True)
    frame["day"] = pd.date_range("2020-01-01", periods=n, freq="7h").strftime("%Y-%m-%dT%H:%M:%S")
    frame["new"] = random.integers(0, 2, n) == 1
    frame["sold"] = np.array(["true", "False"], dtype=object)[random.integers(0, 2, n)]
    return frame


def check(shared, data, folder):
    assert shared.feature_names == data.feature_names
    assert dict(shared.categories) == dict(data.categories)
    assert dict(shared.roles) == dict(data.roles)
    assert shared.collect().fingerprint == data.fingerprint
    together, alone = learned(ranker(), shared), learned(ranker(), data)
    assert file_of(together, folder) == file_of(alone, folder)
    np.testing.assert_array_equal(alone.predict(shared), alone.predict(data))


def test_parquet_by_row_groups(client, tmp_path):
    frame = frame_of()
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=40)
    shared = rf.shared(tmp_path / "a.parquet", client)
    assert len(shared.ingested.original_pieces()) > 2
    data = rf.read(tmp_path / "a.parquet")
    assert {"brand", "listed"} <= set(data.categories)
    check(shared, data, tmp_path)


def test_delimited_text_in_several_files(client, tmp_path):
    frame = frame_of()
    frame["late"] = [f"{value:.3f}" for value in np.linspace(0.0, 1.0, len(frame))]
    frame.loc[frame.index[-9:], "late"] = "none"  # numbers in all files but the last
    frame["late"] = frame["late"].where(frame["late"] == "none", "some")
    frame.to_csv(tmp_path / "whole.csv", index=False)
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), 3)):
        frame.iloc[rows].to_csv(tmp_path / f"part{number}.csv", index=False)
    check(rf.shared(str(tmp_path / "part*.csv"), client), rf.read(tmp_path / "whole.csv"), tmp_path)


def written_in_parts(frame, folder, ending, count=3):
    """Files of some rows each, every one with its columns in an order of its own."""
    random = np.random.default_rng(5)
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), count)):
        part = frame.iloc[rows, random.permutation(frame.shape[1])]
        if ending == "csv":
            part.to_csv(folder / f"part{number}.csv", index=False)
        else:
            part.to_parquet(folder / f"part{number}.parquet", row_group_size=40)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("texts", [False, True], ids=["numbers", "texts"])
def test_every_file_has_its_own_order_of_columns(texts, ending, client, tmp_path):
    written_in_parts(frame_of() if texts else PLAIN.to_pandas(), tmp_path, ending)
    data = rf.read(tmp_path)
    assert data.feature_names == rf.read(tmp_path / f"part0.{ending}").feature_names
    assert data.feature_names != rf.read(tmp_path / f"part1.{ending}").feature_names
    shared = rf.shared(tmp_path, client)
    check(shared, data, tmp_path)
    if not texts:
        assert shared.form("bins").fingerprint == data.fingerprint


def test_validation_data_in_another_order_than_the_training_data(client, tmp_path):
    frame = PLAIN.to_pandas()
    frame.to_parquet(tmp_path / "train.parquet")
    (tmp_path / "held_out").mkdir()
    written_in_parts(frame.iloc[:90], tmp_path / "held_out", "parquet", 2)
    train = rf.shared(tmp_path / "train.parquet", client)
    held_out = rf.shared(tmp_path / "held_out", client, like=train)
    assert held_out.feature_names == train.feature_names != rf.read(tmp_path / "held_out").feature_names
    together = learned(ranker(), train, validation=held_out)
    alone = learned(ranker(), rf.read(tmp_path / "train.parquet"), validation=rf.read(tmp_path / "held_out"))
    assert file_of(together, tmp_path) == file_of(alone, tmp_path)


def test_a_file_with_other_columns_in_another_order_is_named(client, tmp_path):
    frame = PLAIN.to_pandas()
    frame.iloc[:100].to_csv(tmp_path / "a.csv", index=False)
    frame.iloc[100:, ::-1].rename(columns={"4": "price"}).to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(DataError, match=r"b.csv: it has no feature '4', unlike .*a.csv"):
        rf.shared(tmp_path, client)


def test_without_categories_files_are_shared_as_bins(client, tmp_path):
    frame = frame_of().drop(columns=["brand", "listed"])
    frame.to_csv(tmp_path / "a.csv", index=False)
    shared, data = rf.shared(tmp_path / "a.csv", client), rf.read(tmp_path / "a.csv")
    check(shared, data, tmp_path)
    assert shared.form("bins").fingerprint == data.fingerprint


def test_validation_data_has_the_lists_of_the_training_data(client, tmp_path):
    frame = frame_of()
    held_out = frame[frame["brand"] != "hat"]
    frame.to_parquet(tmp_path / "a.parquet")
    held_out.to_parquet(tmp_path / "b.parquet")
    train = rf.shared(tmp_path / "a.parquet", client)
    together = learned(ranker(), train, validation=rf.shared(tmp_path / "b.parquet", client, like=train))
    data = rf.read(tmp_path / "a.parquet")
    alone = learned(ranker(), data, validation=rf.read(tmp_path / "b.parquet", like=data))
    assert file_of(together, tmp_path) == file_of(alone, tmp_path)


def test_refusals(client, tmp_path):
    frame = frame_of()
    frame["id"] = [f"document {number}" for number in range(len(frame))]
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=40)
    with pytest.raises(DataError, match=r"1 column is no feature: 'id' \(\d+ different texts in \d+ rows"):
        rf.shared(tmp_path / "a.parquet", client)
    (tmp_path / "mixed").mkdir()
    frame["id"] = "seven"
    frame.to_parquet(tmp_path / "mixed" / "a.parquet")
    frame["id"] = 7
    frame.to_parquet(tmp_path / "mixed" / "b.parquet")
    with pytest.raises(DataError, match="'id' holds categories in some blocks of rows, and numbers in others"):
        rf.shared(tmp_path / "mixed", client)
    PLAIN.write(tmp_path / "a.txt")
    with pytest.raises(DataError, match="feature 2 was declared as categories, which is not shared from LETOR text"):
        rf.shared(tmp_path / "a.txt", client, categorical=["2"])
