"""Stores: the same bins, the same models, whatever the data comes from; damage and half-written ones are refused."""

from __future__ import annotations

import gzip
import json
import pickle
import shutil
import warnings

import numpy as np
import pytest
from tests.test_collective import DATA, HELD_OUT, made

import rankforce as rf
from rankforce.binning.binned import Binned
from rankforce.data.blocks import BlockSize, blocks_of
from rankforce.errors import DataError, FileFormatError, SettingsError
from rankforce.models.provenance import feature_ranges
from rankforce.stores.binned_dataset import BinnedDataset
from rankforce.stores.format import damaged_arrays

PLAIN = rf.Dataset(DATA.features, DATA.label("grades"), qid=DATA.query_ids[DATA.row_queries])


def shuffled(data, seed=3):
    """The same queries with their rows all over the place."""
    order = np.random.default_rng(seed).permutation(data.n_documents)
    return rf.Dataset(
        data.features[order],
        qid=data.qid[order],
        labels={name: values[order] for name, values in data.labels.items()},
        weights=None if data.weights is None else data.weights[order],
        query_weights=None if data.query_weights is None else data.query_weights[data.row_queries][order],
    )


def small_blocks(monkeypatch, rows):
    monkeypatch.setattr("rankforce.stores.writing.ROWS_IN_A_BLOCK", rows)


def file_of(ranker, data, path, **inputs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker.fit(data, **inputs)
    ranker.model_.save(path)
    return path.read_bytes()


def check_same(store, data):
    """The store has what the data has, as it is binned in memory."""
    binned = Binned.of(data)
    assert store.bins.binning == binned.binning
    np.testing.assert_array_equal(store.bins.rows, binned.rows)
    np.testing.assert_array_equal(store.query_starts, data.query_starts)
    assert store.query_ids.tolist() == data.query_ids.tolist()
    assert store.query_ids.dtype == data.query_ids.dtype
    for name, values in data.labels.items():
        np.testing.assert_array_equal(store.label(name), data.by_query(values))
    assert store.fingerprint == data.fingerprint
    np.testing.assert_array_equal(store.query_hashes, data.query_hashes)


@pytest.mark.parametrize("rows", [1, 7, 100, 10_000])
@pytest.mark.parametrize("mixed", [False, True])
def test_any_blocks_give_the_same(rows, mixed, tmp_path, monkeypatch):
    small_blocks(monkeypatch, rows)
    data = shuffled(DATA) if mixed else DATA
    store = rf.bin(data, tmp_path / "a.bins")
    check_same(store, data)
    np.testing.assert_array_equal(store.weights, data.by_query(data.weights))
    np.testing.assert_array_equal(store.query_weights, data.query_weights)
    assert [path.name for path in tmp_path.iterdir()] == ["a.bins"]


@pytest.mark.parametrize("exact_rows", [30, 200, 400])
@pytest.mark.parametrize("rows", [5, 64])
def test_thresholds_of_a_sample(exact_rows, rows, tmp_path, monkeypatch):
    monkeypatch.setattr("rankforce.binning.binning.EXACT_ROWS", exact_rows)
    small_blocks(monkeypatch, rows)
    check_same(rf.bin(shuffled(DATA), tmp_path / "a.bins", memory="64 MB"), shuffled(DATA))


def written(data, path):
    data.write(path)
    return rf.read(path)


@pytest.mark.parametrize("ending", ["txt", "txt.gz", "csv", "csv.gz", "parquet"])
def test_files(ending, tmp_path, monkeypatch):
    small_blocks(monkeypatch, 50)
    monkeypatch.setattr("rankforce.data.tables.table_blocks.CSV_BLOCK", 2_000)
    monkeypatch.setattr("rankforce.files.streams.FIRST_ROUND", 2_000)
    data = written(PLAIN, tmp_path / f"a.{ending}")
    check_same(rf.bin(tmp_path / f"a.{ending}", tmp_path / "a.bins"), data)


def test_several_files_and_patterns(tmp_path):
    thirds = [PLAIN.take_queries(part) for part in np.array_split(np.arange(PLAIN.n_queries), 3)]
    for number, third in enumerate(thirds):
        third.write(tmp_path / f"part{number}.parquet")
    check_same(rf.bin(str(tmp_path / "part*.parquet"), tmp_path / "a.bins"), PLAIN)
    check_same(rf.bin([tmp_path / f"part{number}.parquet" for number in range(3)], tmp_path / "b.bins"), PLAIN)
    with pytest.raises(DataError, match="no such file"):
        rf.bin(str(tmp_path / "other*.parquet"), tmp_path / "c.bins")


def test_features_that_turn_up_late(tmp_path, monkeypatch):
    monkeypatch.setattr("rankforce.files.streams.FIRST_ROUND", 200)
    monkeypatch.setattr("rankforce.files.streams.ROUND", 200)
    lines = [f"{row % 3} qid:{row // 10} 1:{row} 2:{row % 7}" for row in range(60)]
    lines += [f"{row % 3} qid:{row // 10} 1:{row} 5:{row % 4}" for row in range(60, 120)]
    path = tmp_path / "a.txt"
    path.write_text("\n".join(lines) + "\n")
    for absent in ("zero", "missing"):
        data = rf.read(path, absent=absent)
        store = rf.bin(path, tmp_path / f"{absent}.bins", absent=absent)
        check_same(store, data)
        assert str(store.feature_ranges()) == str(feature_ranges(data.features))


def test_ids_that_turn_out_to_be_text(tmp_path, monkeypatch):
    monkeypatch.setattr("rankforce.files.streams.FIRST_ROUND", 100)
    monkeypatch.setattr("rankforce.files.streams.ROUND", 100)
    path = tmp_path / "a.txt"
    queries = [*(str(number) for number in range(20)), "shoes", "7", "älter"]
    path.write_text("\n".join(f"{k % 2} qid:{name} 1:{k} 2:{-k % 5}" for k, name in enumerate(queries * 2)) + "\n")
    check_same(rf.bin(path, tmp_path / "a.bins"), rf.read(path))


def test_a_function_that_gives_blocks(tmp_path):
    def blocks():
        for query in range(PLAIN.n_queries):
            yield PLAIN.take_queries([query])

    check_same(rf.bin(blocks, tmp_path / "a.bins"), PLAIN)
    with pytest.raises(DataError, match="a block of rows is a Dataset"):
        rf.bin(lambda: [3], tmp_path / "b.bins")
    calls = []

    def changing():
        calls.append(1)
        yield PLAIN.take_queries(np.arange(5 + len(calls)))

    with pytest.raises(DataError, match="more rows than when it was read first"):
        rf.bin(changing, tmp_path / "b.bins")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.bins"]


RANKERS = {
    "LambdaMART": lambda **more: rf.LambdaMART(n_trees=6, min_documents=5, **more),
    "leafwise": lambda **more: rf.LambdaMART(n_trees=4, growth="leafwise", n_leaves=9, **more),
    "stopped early": lambda **more: rf.LambdaMART(n_trees=20, learning_rate=0.8, early_stopping=2, **more),
    "MART": lambda **more: rf.MART(n_trees=4, **more),
    "ordinal": lambda **more: rf.MART(n_trees=2, cost="ordinal", **more),
    "searched": lambda **more: rf.LambdaMART(n_trees=4, line_search=2, **more),
    "two measures": lambda **more: rf.LambdaMART(
        objective=rf.Graded(["NDCG", "CNDCG:clicks"], [0.7, 0.3]), n_trees=3, **more
    ),
}


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stores")
    rf.bin(DATA, folder / "train.bins")
    rf.bin(HELD_OUT, folder / "held_out.bins", like=folder / "train.bins")
    return folder


@pytest.mark.parametrize("memory", ["auto", "fast", "low", "mapped"])
@pytest.mark.parametrize("name", RANKERS)
def test_the_model_is_the_one_of_the_data(name, memory, stores, tmp_path):
    expected = file_of(RANKERS[name](), DATA, tmp_path / "a.json", validation=HELD_OUT)
    train, held_out = rf.read(stores / "train.bins"), rf.read(stores / "held_out.bins")
    ranker = RANKERS[name](memory=memory)
    assert file_of(ranker, train, tmp_path / "b.json", validation=held_out) == expected
    np.testing.assert_array_equal(ranker.model_.predict(train), DATA.by_query(ranker.model_.predict(DATA)))
    np.testing.assert_array_equal(ranker.predict(held_out), HELD_OUT.by_query(ranker.predict(HELD_OUT)))


def test_evaluating(stores):
    train = rf.read(stores / "train.bins")
    ranker = rf.LambdaMART(n_trees=5, progress=False).fit(train)
    assert (
        rf.evaluate(ranker, train, ["NDCG@5", "MAP"]).to_dict()
        == rf.evaluate(ranker, DATA, ["NDCG@5", "MAP"]).to_dict()
    )
    other = rf.LambdaMART(n_trees=2, progress=False).fit(train)
    assert "NDCG" in str(rf.compare(ranker, other, train, "NDCG"))


def test_going_on_from_a_checkpoint(stores, tmp_path):
    train, held_out = rf.read(stores / "train.bins"), rf.read(stores / "held_out.bins")
    expected = file_of(rf.LambdaMART(n_trees=6), DATA, tmp_path / "a.json", validation=HELD_OUT)
    kept = tmp_path / "kept.json"
    rf.LambdaMART(n_trees=3, progress=False).fit(train, validation=held_out, checkpoint=kept, checkpoint_every=2)
    ranker = rf.LambdaMART(n_trees=6)
    assert file_of(ranker, train, tmp_path / "b.json", validation=held_out, checkpoint=kept) == expected


def test_base_models(stores, tmp_path):
    train = rf.read(stores / "train.bins")
    base = rf.MART(n_trees=2, progress=False).fit(DATA).model_
    expected = file_of(rf.LambdaMART(n_trees=3, base_model=base), DATA, tmp_path / "a.json")
    assert file_of(rf.LambdaMART(n_trees=3, base_model=base), train, tmp_path / "b.json") == expected
    with pytest.raises(DataError, match="a store has bins in place of the values"):
        rf.LambdaMART(n_trees=3, base_model="1", progress=False).fit(train)


def test_folds_and_tuning(stores):
    train = rf.read(stores / "train.bins")
    result = rf.cross_validate(rf.LambdaMART(n_trees=3, progress=False), train, folds=3)
    assert "NDCG" in str(result)
    some = train.take_queries([1, 4, 7])
    np.testing.assert_array_equal(some.bins.rows, np.vstack([train.bins.rows[a:b] for a, b in _bounds(train, 1, 4, 7)]))
    assert some.fingerprint != train.fingerprint


def test_several_processes_tune_on_one_store(stores):
    train, held_out = rf.read(stores / "train.bins"), rf.read(stores / "held_out.bins")
    ranker, space = rf.LambdaMART(n_trees=2, progress=False), {"n_leaves": [2, 4]}
    one, two = (
        rf.tune(ranker, train, space, validation=held_out, method="grid", processes=count, progress=False)
        for count in (1, 2)
    )
    assert [(trial.number, trial.settings, trial.value) for trial in two.trials] == [
        (trial.number, trial.settings, trial.value) for trial in one.trials
    ]
    np.testing.assert_array_equal(two.ranker.predict(held_out), one.ranker.predict(held_out))


def _bounds(data, *queries):
    return [data.query_starts[query : query + 2] for query in queries]


def test_processes_open_it_again(stores):
    train = rf.read(stores / "train.bins")
    content = pickle.dumps(train)
    assert len(content) < 1_000
    np.testing.assert_array_equal(pickle.loads(content).bins.rows, train.bins.rows)
    some = pickle.loads(pickle.dumps(train.take_queries([2, 3])))
    assert some.query_ids.tolist() == train.query_ids[2:4].tolist()


def test_labels_can_be_replaced(stores, tmp_path):
    train = rf.read(stores / "train.bins")
    labels = np.round(train.label("grades") / 2)
    data = rf.LambdaMART(n_trees=2).fit(train.with_label("half", labels), validation=None)
    assert data.model_.n_trees == 2
    with pytest.raises(DataError, match="labels and weights can be replaced"):
        train.replace(features=np.zeros((train.n_documents, 2)))


@pytest.mark.parametrize(
    "work",
    [
        lambda store: store.features,
        lambda store: rf.LambdaRank().fit(store),
        lambda store: rf.evaluate("1", store),
        lambda store: store.take_features([0]),
        lambda store: rf.evaluate(rf.LambdaMART(n_trees=2, progress=False).fit(made(seed=9)), store),
        lambda store: rf.explain(rf.LambdaMART(n_trees=2, progress=False).fit(DATA), store),
        lambda store: store.write("x.csv"),
    ],
)
def test_what_needs_values_says_so(work, stores, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((DataError, SettingsError), match=r"store"):
        work(rf.read(stores / "train.bins"))
    assert not list(tmp_path.iterdir())


def test_settings_that_do_not_fit(stores, tmp_path):
    train = rf.read(stores / "train.bins")
    with pytest.raises(SettingsError, match="made for at most 255 bins, and the training wants 63"):
        rf.LambdaMART(n_trees=1, max_bins=63).fit(train)
    rf.bin(HELD_OUT, tmp_path / "own.bins")
    with pytest.raises(DataError, match="other thresholds than the training data"):
        rf.LambdaMART(n_trees=1, progress=False).fit(train, validation=rf.read(tmp_path / "own.bins"))
    with pytest.raises(SettingsError, match="is for a store"):
        rf.LambdaMART(n_trees=1, memory="mapped").fit(DATA)
    with pytest.raises(SettingsError, match="no option 'label'"):
        rf.read(stores / "train.bins", label="x")
    with pytest.raises(DataError, match="has 2 features, the bins were made for 6"):
        rf.bin(DATA.take_features([0, 1]), tmp_path / "b.bins", like=stores / "train.bins")


@pytest.mark.parametrize("part", ["rows", "query_starts", "labels.grades", "binning.thresholds", "header"])
def test_damage_is_found(part, stores, tmp_path):
    store = rf.bin(PLAIN, tmp_path / "a.bins").path
    del stores
    path = store / ("header.json" if part == "header" else f"{part}.npy")
    content = bytearray(path.read_bytes())
    content[-9] ^= 4
    path.write_bytes(content)
    if part == "rows":  # not looked at when it is opened: it may be larger than memory
        opened = rf.read(store)
        assert list(damaged_arrays(store, opened.header)) == ["rows"]
        with pytest.raises(FileFormatError, match="'rows' is damaged"):
            opened.check()
        for memory in ("fast", "low"):  # all of it is read
            with pytest.raises(FileFormatError, match="'rows' is damaged"):
                opened.binned(opened.max_bins, memory)
        return
    with pytest.raises(FileFormatError, match="damaged"):
        rf.read(store)


def test_cut_off_files_are_refused(tmp_path):
    store = rf.bin(PLAIN, tmp_path / "a.bins").path
    content = (store / "rows.npy").read_bytes()
    (store / "rows.npy").write_bytes(content[: len(content) // 2])
    with pytest.raises(FileFormatError, match="'rows' is damaged"):
        rf.read(store)
    (store / "rows.npy").unlink()
    with pytest.raises(FileFormatError, match="'rows' is damaged"):
        rf.read(store)


def test_other_folders_and_versions(tmp_path):
    with pytest.raises(FileFormatError, match="there is no such store"):
        rf.read(tmp_path / "none.bins")
    (tmp_path / "file.bins").write_text("x")
    with pytest.raises(FileFormatError, match="a store is a folder"):
        rf.read(tmp_path / "file.bins")
    (tmp_path / "empty.bins").mkdir()
    with pytest.raises(FileFormatError, match=r"no header\.json"):
        rf.read(tmp_path / "empty.bins")
    with pytest.raises(DataError, match="is no store: give another name"):
        rf.bin(PLAIN, tmp_path / "empty.bins")
    with pytest.raises(DataError, match=r"ends in \.bins"):
        rf.bin(PLAIN, tmp_path / "other")
    with pytest.raises(DataError, match="there is no folder"):
        rf.bin(PLAIN, tmp_path / "none" / "a.bins")
    from rankforce.stores import format as store_format

    store = rf.bin(PLAIN, tmp_path / "a.bins")
    store_format.write_header(store.path, store.header | {"version": 99})
    with pytest.raises(FileFormatError, match="version 99"):
        rf.read(store.path)


def test_an_old_store_is_replaced_when_the_new_one_is_whole(tmp_path):
    rf.bin(PLAIN, tmp_path / "a.bins")

    def breaking():
        yield PLAIN
        raise RuntimeError("gone")

    with pytest.raises(RuntimeError, match="gone"):
        rf.bin(breaking, tmp_path / "a.bins")
    check_same(rf.read(tmp_path / "a.bins"), PLAIN)
    rf.bin(HELD_OUT, tmp_path / "a.bins")
    check_same(rf.read(tmp_path / "a.bins"), HELD_OUT)
    (tmp_path / ".a.bins.0123.partial").mkdir()  # of a process that was killed
    rf.bin(PLAIN, tmp_path / "a.bins")
    assert [path.name for path in tmp_path.iterdir()] == ["a.bins"]


def test_files_that_change_meanwhile(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("".join(f"{k % 2} qid:{k // 4} 1:{k}\n" for k in range(40)))
    blocks = blocks_of(str(path), BlockSize(10, 1000))
    path.write_text(path.read_text() + "0 qid:99 1:1\n")
    with pytest.raises(DataError, match="was changed while it was read"):
        blocks.check_unchanged()


def test_sources_are_remembered(tmp_path):
    path = tmp_path / "a.txt.gz"
    with gzip.open(path, "wt") as file:
        file.write("".join(f"{k % 2} qid:{k // 4} 1:{k}\n" for k in range(40)))
    store = rf.bin(path, tmp_path / "a.bins")
    header = json.loads((store.path / "header.json").read_text().rsplit("\n", 2)[0])
    assert header["sources"][0]["path"] == str(path)
    assert isinstance(store, BinnedDataset)


def test_a_store_that_is_replaced_while_it_is_open(tmp_path):
    path = tmp_path / "a.bins"
    opened, kept = rf.bin(PLAIN, path), pickle.dumps(rf.bin(PLAIN, path))
    expected = file_of(rf.LambdaMART(n_trees=2), PLAIN, tmp_path / "expected.json")
    assert file_of(rf.LambdaMART(n_trees=2), opened, tmp_path / "same.json") == expected  # made again, from the same
    other = rf.Dataset(np.flip(PLAIN.features), PLAIN.label("grades"), qid=PLAIN.qid)
    for change in (lambda: rf.bin(other, path), lambda: rf.bin(PLAIN, path, max_bins=31), lambda: shutil.rmtree(path)):
        change()
        for memory in ("fast", "low"):
            with pytest.raises(DataError, match=r"a\.bins was changed since it was opened"):
                rf.LambdaMART(n_trees=2, memory=memory).fit(opened)
        for work in (opened.check, lambda: pickle.loads(kept)):
            with pytest.raises(DataError, match=r"a\.bins was changed since it was opened"):
                work()


def test_a_store_is_found_from_another_folder(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    rf.bin(PLAIN, "a.bins")
    opened = rf.read("a.bins")
    expected = file_of(rf.LambdaMART(n_trees=2), PLAIN, tmp_path / "expected.json")
    kept = pickle.dumps(opened)
    monkeypatch.chdir(tmp_path / "elsewhere")
    for one in (opened, pickle.loads(kept)):
        one.check()
        assert file_of(rf.LambdaMART(n_trees=2), one, tmp_path / "found.json") == expected
