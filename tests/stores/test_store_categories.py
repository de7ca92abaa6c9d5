"""Stores with categories: the lists, bins and models of the data in memory, whatever the blocks and files."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import rankforce as rf
from rankforce.binning.binned import Binned
from rankforce.data.tables.csv_rows import NULLS
from rankforce.errors import DataError, FileFormatError, SettingsError
from rankforce.models.provenance import feature_ranges
from rankforce.stores import category_tally

BRANDS = ["zeta", "acme", "Ä & Co", "x,y", 'quo"te', "rare one", "rarer", "no. 7"]
FEW_BINS = 6  # fewer than there are brands: some share the last bin


def made(queries=30, seed=1, brands=BRANDS):
    """A frame with texts, declared numbers, truth values and dates as text, and gaps in all of them."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 25, queries)
    qid = np.repeat([f"q{number}" for number in range(queries)], sizes)
    n = len(qid)
    merit = random.normal(size=n)
    frame = pd.DataFrame(
        {
            "qid": qid,
            "price": np.round(merit + random.normal(size=n), 2).astype(np.float32),
            "brand": np.array(brands, dtype=object)[
                np.minimum(random.geometric(0.4, n) + (merit > 0), len(brands)) - 1
            ],
            "size": random.choice([36, 37, 40, 100], n),
            "fresh": np.where(random.random(n) < 0.5, "true", "FALSE"),
            "day": [f"2024-0{month}-1{day}" for month, day in zip(*random.integers(1, 9, (2, n)), strict=True)],
            "label": np.clip(np.round(merit + 1), 0, 4),
        }
    )
    for column in ("brand", "fresh", "day"):
        frame.loc[random.random(n) < 0.1, column] = None
    return frame


FRAME, HELD_OUT = made(), made(9, seed=2, brands=[*BRANDS[:4], "unseen", *BRANDS[5:]])
OPTIONS = {"categorical": ["size"]}
DATA = rf.Dataset(FRAME, **OPTIONS)


def small_blocks(monkeypatch, rows):
    monkeypatch.setattr("rankforce.stores.writing.ROWS_IN_A_BLOCK", rows)
    monkeypatch.setattr("rankforce.data.tables.table_blocks.CSV_BLOCK", 40 * rows)


def check_same(store, data, max_bins=FEW_BINS):
    """The store has what the data has, as it is binned in memory."""
    binned = Binned.of(data, max_bins)
    assert store.categories == data.categories
    assert list(store.categories) == list(data.categories)
    assert store.feature_names == data.feature_names
    assert store.bins.binning == binned.binning
    np.testing.assert_array_equal(store.bins.rows, binned.rows)
    assert store.fingerprint == data.fingerprint
    assert str(store.feature_ranges()) == str(feature_ranges(data.features))


def written(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path, row_group_size=40)
    else:
        frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
@pytest.mark.parametrize("rows", [20, 100_000])
def test_files(ending, rows, tmp_path, monkeypatch):
    small_blocks(monkeypatch, rows)
    path = written(FRAME, tmp_path / f"a.{ending}")
    check_same(rf.bin(path, tmp_path / "a.bins", max_bins=FEW_BINS, **OPTIONS), rf.read(path, **OPTIONS))
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_order_of_files_does_not_decide(ending, tmp_path):
    parts = [part for _, part in FRAME.groupby(FRAME["qid"].str[1:].astype(int) % 3, sort=True)]
    paths = [written(part, tmp_path / f"part{number}.{ending}") for number, part in enumerate(parts)]
    store = rf.bin(paths, tmp_path / "a.bins", max_bins=FEW_BINS, **OPTIONS)
    check_same(store, rf.Dataset(pd.concat(parts), **OPTIONS))
    other = rf.bin(paths[::-1], tmp_path / "b.bins", max_bins=FEW_BINS, **OPTIONS)
    assert (other.fingerprint, other.categories) == (store.fingerprint, store.categories)
    assert other.bins.binning == store.bins.binning


@pytest.mark.parametrize("rows", [5, 10_000])
def test_data_sets(rows, tmp_path, monkeypatch):
    small_blocks(monkeypatch, rows)
    check_same(rf.bin(DATA, tmp_path / "a.bins", max_bins=FEW_BINS), DATA)
    own_order = DATA.replace(categories={**DATA.categories, "size": [100, 40, 37, 36]})  # as it was declared
    check_same(rf.bin(own_order, tmp_path / "a.bins", max_bins=FEW_BINS), own_order)


def test_blocks_that_each_find_their_own_categories(tmp_path):
    def blocks():
        for _, part in FRAME.groupby("qid", sort=False):
            matrix, lists = DATA.features[part.index].copy(), {}
            for place, name in ((1, "brand"), (2, "size")):
                found = list(dict.fromkeys(part[name].dropna()))  # in the order of the rows
                if found:
                    lists[name] = found
                matrix[:, place] = [found.index(one) if not pd.isna(one) else np.nan for one in part[name]]
            yield rf.Dataset(matrix, part["label"], part["qid"], feature_names=DATA.feature_names, categories=lists)

    check_same(rf.bin(blocks, tmp_path / "a.bins", max_bins=FEW_BINS), DATA)


def test_letor(tmp_path, monkeypatch):
    monkeypatch.setattr("rankforce.files.streams.FIRST_ROUND", 300)
    monkeypatch.setattr("rankforce.files.streams.ROUND", 300)
    lines = [f"{k % 3} qid:{k // 10} 1:{k % 7} 2:{k * k % 11}" + " 3:5" * (k > 150 and k % 2) for k in range(300)]
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n")
    for absent in ("zero", "missing"):
        options = {"categorical": [2, 3], "absent": absent}
        data = rf.read(tmp_path / "a.txt", **options)
        check_same(rf.bin(tmp_path / "a.txt", tmp_path / "a.bins", max_bins=FEW_BINS, **options), data)
    with pytest.raises(FileFormatError, match="no such feature to be categorical"):
        rf.bin(tmp_path / "a.txt", tmp_path / "b.bins", categorical=[9])


RANKERS = {
    "leafwise": lambda **more: rf.LambdaMART(n_trees=4, growth="leafwise", n_leaves=9, min_documents=5, **more),
    "symmetric": lambda **more: rf.LambdaMART(n_trees=3, growth="symmetric", max_depth=3, min_documents=5, **more),
    "stopped early": lambda **more: rf.LambdaMART(n_trees=20, learning_rate=0.8, early_stopping=2, **more),
    "MART": lambda **more: rf.MART(n_trees=4, **more),
}


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stores")
    written(FRAME, folder / "train.csv")
    rf.bin(folder / "train.csv", folder / "train.bins", max_bins=FEW_BINS, **OPTIONS)
    columns = ["extra", *HELD_OUT.columns[::-1]]  # by name, and what the training has not is left out
    written(HELD_OUT.assign(extra=3.0, remark="x")[[*columns, "remark"]], folder / "held_out.csv")
    rf.bin(folder / "held_out.csv", folder / "held_out.bins", like=folder / "train.bins")
    return folder


@pytest.fixture(scope="module")
def in_memory(stores):
    train = rf.read(stores / "train.csv", **OPTIONS)
    return train, rf.read(stores / "held_out.csv", like=train)


def file_of(ranker, data, path, **inputs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker.fit(data, **inputs)
    ranker.model_.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("name", RANKERS)
def test_the_model_is_the_one_of_the_data(name, stores, in_memory, tmp_path):
    data, held = in_memory
    ranker = RANKERS[name](max_bins=FEW_BINS)
    expected = file_of(ranker, data, tmp_path / "a.json", validation=held)
    assert any(True for _ in ranker.model_.category_tests()), "no tree asks for categories"
    train, held_out = rf.read(stores / "train.bins"), rf.read(stores / "held_out.bins")
    for memory in ("auto", "fast", "low", "mapped"):
        ranker = RANKERS[name](memory=memory, max_bins=FEW_BINS)
        assert file_of(ranker, train, tmp_path / "b.json", validation=held_out) == expected, memory
    np.testing.assert_array_equal(ranker.predict(train), data.by_query(ranker.predict(data)))
    np.testing.assert_array_equal(ranker.predict(held_out), held.by_query(ranker.predict(held)))
    assert rf.evaluate(ranker, held_out).to_dict() == rf.evaluate(ranker, held).to_dict()


def test_going_on_from_a_checkpoint(stores, in_memory, tmp_path):
    train, held_out = rf.read(stores / "train.bins"), rf.read(stores / "held_out.bins")
    ranker = RANKERS["leafwise"](max_bins=FEW_BINS)
    expected = file_of(ranker, in_memory[0], tmp_path / "a.json", validation=in_memory[1])
    kept = tmp_path / "kept.json"
    rf.LambdaMART(n_trees=2, growth="leafwise", n_leaves=9, min_documents=5, max_bins=FEW_BINS, progress=False).fit(
        train, validation=held_out, checkpoint=kept, checkpoint_every=1
    )
    again = RANKERS["leafwise"](max_bins=FEW_BINS)
    assert file_of(again, train, tmp_path / "b.json", validation=held_out, checkpoint=kept) == expected
    folds = rf.cross_validate(RANKERS["leafwise"](max_bins=FEW_BINS, progress=False), train, folds=2)
    assert "NDCG" in str(folds)


def test_what_bins_cannot_answer_is_refused(stores, in_memory, tmp_path):
    train, held_out = rf.read(stores / "train.bins"), rf.read(stores / "held_out.bins")
    fine = rf.MART(n_trees=10, progress=False).fit(in_memory[0].take_features(["brand"]))  # each brand has a bin
    with pytest.raises(DataError, match="has no bin of its own in the store"):
        fine.predict(train)
    other = rf.bin(HELD_OUT_ALONE := rf.Dataset(HELD_OUT, **OPTIONS), tmp_path / "own.bins", max_bins=FEW_BINS)
    with pytest.raises(DataError, match="with other categories than the training data"):
        rf.MART(n_trees=1, max_bins=FEW_BINS, progress=False).fit(train, validation=other)
    assert HELD_OUT_ALONE.categories != train.categories
    assert held_out.categories == train.categories
    constant = rf.Dataset(FRAME.assign(price=1.0), **OPTIONS)
    rf.bin(constant, tmp_path / "constant.bins", max_bins=FEW_BINS)
    like = rf.bin(DATA, tmp_path / "like.bins", like=tmp_path / "constant.bins")
    ranker = rf.MART(n_trees=2, progress=False).fit(rf.Dataset(FRAME[["qid", "price", "label"]]))
    with pytest.raises(DataError, match="'price', which the store has no bins of"):
        ranker.predict(like)


def test_columns_that_are_no_features(tmp_path, monkeypatch):
    path = written(FRAME.assign(name=[f"n{k}" for k in range(len(FRAME))]), tmp_path / "a.csv")
    with pytest.raises(FileFormatError, match="ids or free text"):
        rf.bin(path, tmp_path / "a.bins")
    with pytest.raises(FileFormatError, match="numbers, but also 'oops'"):
        rf.bin(written(FRAME.assign(price=["1.5"] * 90 + ["oops"] * (len(FRAME) - 90)), path), tmp_path / "a.bins")
    monkeypatch.setattr(category_tally, "BYTES_PER_CATEGORY", 2**22)
    with pytest.raises(DataError, match=r"'brand' has 8 or more different entries, which cannot be kept"):
        rf.bin(DATA, tmp_path / "a.bins", memory="100 MB")
    assert [one.name for one in tmp_path.iterdir()] == ["a.csv"]


def test_numbers_in_one_block_and_categories_in_another(tmp_path):
    numbers = rf.Dataset(np.ones((2, 1)), [0, 1], [1, 1], feature_names=["brand"])
    texts = rf.Dataset(np.zeros((2, 1)), [0, 1], [2, 2], feature_names=["brand"], categories={"brand": ["acme"]})
    for blocks in ([numbers, texts], [texts, numbers]):
        with pytest.raises(DataError, match="categories in some blocks of rows, and numbers in others"):
            rf.bin(lambda blocks=blocks: iter(blocks), tmp_path / "a.bins")
    train = rf.bin(texts, tmp_path / "a.bins")
    with pytest.raises(DataError, match="holds numbers in the data and categories in the store"):
        rf.bin(numbers, tmp_path / "b.bins", like=train)
    with pytest.raises(DataError, match="holds categories in the data and numbers in the store"):
        rf.bin(texts, tmp_path / "b.bins", like=rf.bin(numbers, tmp_path / "c.bins"))


@pytest.mark.parametrize("part", ["categories.1.text", "categories.1.whole", "binning.category_bins.1"])
def test_damage_is_found(part, tmp_path):
    store = rf.bin(DATA, tmp_path / "a.bins").path
    content = bytearray((store / f"{part}.npy").read_bytes())
    content[-1] ^= 1
    (store / f"{part}.npy").write_bytes(content)
    with pytest.raises(FileFormatError, match="damaged"):
        rf.read(store)


@pytest.mark.parametrize(
    "options",
    [
        {"qid": 3},
        {"label": 3.5},
        {"labels": "label"},
        {"document": []},
        {"weight": True},
        {"features": "price"},
        {"ignore": "price"},
        {"ignore": ["none"]},
        {"categorical": "brand"},
        {"categorical": ["none"]},
        {"delimiter": "::"},
        {"unknown": 1},
    ],
)
def test_options_are_checked_alike(options, tmp_path):
    path = written(FRAME, tmp_path / "a.csv")
    with pytest.raises((DataError, SettingsError)) as whole:
        rf.read(path, **options)
    with pytest.raises((DataError, SettingsError)) as in_blocks:
        rf.bin(path, tmp_path / "a.bins", **options)
    assert str(in_blocks.value) == str(whole.value)


def test_words_for_missing_values(tmp_path):
    path = tmp_path / "a.csv"
    rows = [f"1,{k % 2},{word}" for k, word in enumerate([*NULLS, *["acme", "zeta"] * 8])]
    path.write_text("\n".join(["qid,label,brand", *rows]) + "\n")
    check_same(rf.bin(path, tmp_path / "a.bins", max_bins=FEW_BINS), rf.read(path))
