"""Files that would fill the memory or are no files of their kind: refused with the place and what to do."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import rankforce as rf
from rankforce import DataError, FileFormatError, RankforceError
from rankforce.cli.rankings import read_ranking
from rankforce.errors import ModelFileError
from rankforce.files import limits
from rankforce.models.storage import from_bytes

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

DATA = rf.Dataset(np.zeros((2, 1)), [1, 0], [1, 1], document_ids=["a", "b"])
READERS = {
    "letor.txt.gz": (rf.read, b"1 qid:1 1:2\n"),
    "table.csv.gz": (rf.read, b"qid,x\n1,2\n"),
    "a.qrels": (rf.read_qrels, b"1 0 d 1\n"),
    "a.run": (rf.read_run, b"1 Q0 d 1 1 t\n"),
    "pairs.csv.gz": (lambda path: rf.read_preferences(path, DATA), b"qid,better,worse\n1,a,b\n"),
    "log.csv.gz": (rf.click_labels, b"session,query,document,position,clicked\ns,q,d,1,1\n"),
    "scores.txt.gz": (lambda path: read_ranking(f"scores:{path}", DATA), b"1\n2\n"),
}


@pytest.fixture
def small_limits(monkeypatch):
    monkeypatch.setattr(limits, "EXPANSION_FLOOR", 1 << 16)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("filling", [b"\0", b"\n", b"a"])
def test_what_expands_beyond_reason_is_refused(name, filling, tmp_path, small_limits):
    reader, begin = READERS[name]
    path = tmp_path / name
    path.write_bytes(gzip.compress(begin + filling * 5_000_000))
    with pytest.raises(FileFormatError, match=r"compressed bytes hold more than .*\n.*RANKFORCE_MOST_EXPANSION"):
        reader(path)


def test_the_limit_of_expansion_can_be_set(tmp_path, small_limits, monkeypatch):
    path = tmp_path / "data.txt.gz"
    path.write_bytes(gzip.compress(b"1 qid:1 1:2\n" + b"\n" * 5_000_000))
    monkeypatch.setenv("RANKFORCE_MOST_EXPANSION", "2000")
    assert rf.read(path).n_documents == 1


def test_a_compressed_model_that_expands_beyond_reason_is_refused(small_limits):
    with pytest.raises(ModelFileError, match="compressed bytes hold more than"):
        from_bytes(gzip.compress(b" " * 5_000_000), "model.json.gz")


@pytest.mark.parametrize("name", [name for name in READERS if name != "scores.txt.gz"])
def test_a_line_that_never_ends_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.setenv("RANKFORCE_LONGEST_LINE", "1000000")
    reader, begin = READERS[name]
    path = tmp_path / name.removesuffix(".gz")
    path.write_bytes(begin + b"7" * 20_000_000)
    with pytest.raises(RankforceError, match=r"RANKFORCE_LONGEST_LINE|straddl|field larger") as told:
        reader(path)
    assert len(str(told.value)) < 2000


@pytest.mark.parametrize("ending", ["txt", "csv", "tsv", "parquet"])
@pytest.mark.parametrize("role", ["qid", "document"])
def test_one_id_of_megabytes_is_refused(ending, role, tmp_path):
    path = tmp_path / f"data.{ending}"
    long = "x" * 2_000_000
    qid, document = (long, "d") if role == "qid" else ("q", long)
    if ending == "txt":
        path.write_text(f"1 qid:{qid} 1:2 # docid = {document}\n0 qid:1 1:2\n")
    elif ending == "parquet":
        pq.write_table(pa.table({"qid": [qid, "1"], "document": [document, "e"], "x": [1.0, 2.0]}), path)
    else:
        separator = "," if ending == "csv" else "\t"
        path.write_text(f"qid,document,x\n{qid},{document},1\n1,e,2\n".replace(",", separator))
    with pytest.raises(DataError, match=r"characters|more than 256 bytes|field larger") as told:
        rf.read(path)
    assert len(str(told.value)) < 2000


def test_few_bytes_of_parquet_for_many_rows_are_refused(tmp_path, small_limits):
    path = tmp_path / "data.parquet"
    one = pa.array(np.zeros(3_000_000, np.float32))
    pq.write_table(pa.table({"qid": pa.array(np.zeros(3_000_000, np.int64)), "x": one}), path, compression="zstd")
    with pytest.raises(FileFormatError, match=r"bytes hold 3,000,000 rows of 2 columns\n.*RANKFORCE_MOST_EXPANSION"):
        rf.read(path)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1], [2]]),
        pa.array([{"a": 1}, {"a": 2}]),
        pa.array([True, False]),
        pa.array([1, 2], pa.duration("us")),
        pa.array([1, 2], pa.timestamp("us")),
        pa.array([b"ab", b"cd"], pa.binary(2)),
        pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
    ],
    ids=lambda column: str(column.type),
)
@pytest.mark.parametrize("role", ["qid", "document", "label", "weight", "x"])
def test_columns_of_parquet_that_cannot_have_a_role(column, role, tmp_path):
    columns = {"qid": pa.array([1, 1]), "label": pa.array([1, 0]), "x": pa.array([0.5, 1.0])} | {role: column}
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table(columns), path)
    options = {"weight": "weight"} if role == "weight" else {}
    days = pa.types.is_timestamp(column.type) or pa.types.is_duration(column.type)
    if (role in ("label", "weight", "x") and pa.types.is_boolean(column.type)) or (role == "x" and days):
        rf.read(path, **options)  # truth values are numbers, dates are as features
        return
    problem = "1 column is no feature: 'x'" if role == "x" else f"column '{role}' is taken as .* but holds [a-z]"
    with pytest.raises(FileFormatError, match=problem):
        rf.read(path, **options)


def test_names_that_are_whole_texts_are_refused(tmp_path, monkeypatch):
    long = "n" * 5000
    path = tmp_path / "data.csv"
    path.write_text(f"qid,{long}\n1,2\n")
    attempts = (
        lambda: rf.read(path),
        lambda: rf.Dataset([[1.0]], qid=[1], feature_names=[long]),
        lambda: rf.Dataset([[1.0]], qid=[1], labels={long: [1]}),
    )
    for attempt in attempts:
        with pytest.raises(DataError, match=r"has 5,000 characters .*RANKFORCE_LONGEST_ID") as told:
            attempt()
        assert len(str(told.value)) < 1000
    monkeypatch.setenv("RANKFORCE_LONGEST_ID", "5000")
    for attempt in attempts:
        attempt()


def test_over_long_names_of_files_are_refused(tmp_path):
    long = tmp_path / ("n" * 300 + ".csv")
    data = rf.Dataset([[1.0]], qid=[1], document_ids=["a"])
    for attempt in (
        rf.read,
        rf.read_qrels,
        rf.read_run,
        rf.read_folds,
        rf.load,
        rf.click_labels,
        lambda path: rf.read_preferences(path, data),
        data.write,
        lambda path: rf.write_run(data, [1.0], path),
    ):
        with pytest.raises(RankforceError, match="more than 255 bytes"):
            attempt(long)


@pytest.mark.parametrize("kind", ["zip", "directory", "objects", "text"])
def test_what_is_no_array_of_scores(kind, tmp_path):
    path = tmp_path / "scores.npy"
    if kind == "zip":
        with open(path, "wb") as file:
            np.savez(file, scores=np.zeros(2))
    elif kind == "directory":
        path.mkdir()
    else:
        np.save(path, np.array([1, "a"], dtype=object if kind == "objects" else str), allow_pickle=True)
    with pytest.raises(FileFormatError, match=r"not an array of numbers|cannot be read|an array of <U"):
        read_ranking(f"scores:{path}", DATA)


def test_memory_that_cannot_be_had_is_an_error_of_ours():
    with (
        pytest.raises(FileFormatError, match=r"data.txt: .* does not fit into the memory"),
        limits.within_memory("data.txt"),
    ):
        raise MemoryError


def test_ids_of_logs_that_stand_for_several_numbers_are_refused(tmp_path):
    path = tmp_path / "log.parquet"
    columns = {"session": [1, 1], "query": [1, 1], "position": [1, 2], "clicked": [1, 0]}
    for name, numbers, told in (
        ("float32", np.array([2**24 + 1, 1], np.float32), "column 'document', row 1: beyond 2\\^24"),
        ("text", ["x" * 5000, "a"], "the id has 5,000 characters"),
        ("NUL", ["a\0", "a"], "the id holds a NUL character"),
    ):
        pq.write_table(pa.table(columns | {"document": pa.array(numbers)}), path)
        with pytest.raises(FileFormatError, match=told):
            rf.click_labels(path)
        assert name
