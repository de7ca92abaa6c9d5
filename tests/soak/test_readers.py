"""Damaged and odd files for every reader: TREC, preferences, click logs, NumPy, LETOR, folds. Only errors of ours."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import random
import shutil
import warnings
import zipfile

import numpy as np
import pytest

import rankforce as rf
from rankforce.cli.rankings import read_judgments, read_ranking
from rankforce.cli.segments import read_segments
from rankforce.errors import RankforceError, RankforceWarning

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

FACTOR = float(os.environ.get("RANKFORCE_SOAK", "1"))

WORDS = [
    b"1",
    b"q1",
    b"d1",
    b"d2",
    b"Q0",
    b"0",
    b"-1",
    b"0.5",
    b"nan",
    b"inf",
    b"1e999",
    b"",
    b"\0",
    b"a\0b",
    b"\xff",
    b"\xc2",
]
WORDS += [
    b"\x1b[2J",
    "\u202e".encode(),
    b"\x85",
    "\u00a0".encode(),
    b"x" * 5000,
    b"9" * 40,
    b"1_0",
    b'"',
    b'"a,b"',
    b"\xef\xbb\xbf",
]
SPACES = [b" ", b"\t", b"  ", b",", b";", b"\r", b"\n", b"\r\n", b"\x0b", b""]
DATA = rf.Dataset(
    np.arange(8.0).reshape(4, 2), [1, 0, 2, 0], ["q1", "q1", "q2", "q2"], document_ids=["d1", "d2", "d1", "d3"]
)


class Exploding:
    """Unpickled, it would fail the test."""

    def __reduce__(self):
        return (os._exit, (77,))


def lines(rng: random.Random, rows: list[list[bytes]], separator: bytes) -> bytes:
    rows = [list(row) for row in rows]
    for _ in range(rng.choice([0, 0, 1, 1, 2])):
        row = rng.choice(rows)
        place = rng.randrange(len(row))
        kind = rng.random()
        if kind < 0.7:
            row[place] = rng.choice(WORDS)
        elif kind < 0.85:
            del row[place]
        else:
            row.insert(place, rng.choice(WORDS))
        if not row:
            rows.remove(row)
        if not rows:
            return b""
    if rng.random() < 0.1:
        separator = rng.choice(SPACES)
    return rng.choice([b"\n", b"\n", b"\r\n"]).join(separator.join(row) for row in rows) + rng.choice([b"\n", b""])


def packed(rng: random.Random, data: bytes) -> bytes:
    """Compressed now and then, damaged now and then."""
    if rng.random() < 0.2:
        data = damaged(rng, data)
    if rng.random() < 0.3:
        data = gzip.compress(data, 1)
        if rng.random() < 0.3:
            data = damaged(rng, data)
    return data


def damaged(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(changed) + 1)
        if rng.random() < 0.4 and place < len(changed):
            changed[place] = rng.randrange(256)
        elif rng.random() < 0.5:
            del changed[place : place + rng.randint(1, 30)]
        else:
            changed[place:place] = rng.choice(WORDS)
    return bytes(changed)


def trec(rng: random.Random, folder) -> None:
    qrels = [[b"q1", b"0", b"d1", b"1"], [b"q1", b"0", b"d2", b"0"], [b"q2", b"0", b"d1", b"2"]]
    run = [[b"q1", b"Q0", b"d1", b"1", b"0.5", b"t"], [b"q2", b"Q0", b"d9", b"1", b"-0.5", b"t"]]
    (folder / "a.qrels").write_bytes(packed(rng, lines(rng, qrels, b" ")))
    (folder / "a.run").write_bytes(packed(rng, lines(rng, run, b"\t")))
    joined = rf.judged_run(rf.read_qrels(folder / "a.qrels"), rf.read_run(folder / "a.run"))
    assert joined.data.n_documents == len(joined.scores)
    read_ranking(f"run:{folder / 'a.run'}", read_judgments(f"qrels:{folder / 'a.qrels'}"))


def preferences(rng: random.Random, folder) -> None:
    rows = [[b"qid", b"better", b"worse", b"probability", b"weight"], [b"q1", b"d1", b"d2", b"0.5", b"2"]]
    rows.append([b"q2", b"d3", b"d1", b"", b""])
    path = folder / rng.choice(["p.csv", "p.csv.gz", "p.tsv"])
    path.write_bytes(packed(rng, lines(rng, rows, b"\t" if path.suffix == ".tsv" else b",")))
    read = rf.read_preferences(path, DATA)
    assert np.isfinite(read.weight).all()


def click_log(rng: random.Random, folder) -> None:
    header = [b"session", b"query", b"document", b"position", b"clicked", b"time"]
    rows = [header] + [
        [b"s%d" % (place // 2), b"q1", b"d%d" % (place % 2), b"%d" % place, b"%d" % (place % 2), b"%d" % place]
        for place in range(4)
    ]
    if rng.random() < 0.3:
        path = folder / "log.parquet"
        kinds = [
            lambda: pa.array([1, 2, None]),
            lambda: pa.array([2.0**53, 0.5, float("nan")]),
            lambda: pa.array(np.array([2**24 + 1, 1, 0], np.float32)),
            lambda: pa.array([[1], [], None]),
            lambda: pa.array([b"a", b"\xff", b"b"]),
            lambda: pa.array(["a\0", "x" * 5000, "\x1b"]),
            lambda: pa.array([True, False, None]),
            lambda: pa.array(["a", "b", "a"]).dictionary_encode(),
            lambda: pa.array([1, 2, 3], pa.duration("us")),
            lambda: pa.array([1, 2, 3], pa.timestamp("us", "UTC")),
            lambda: pa.array([1, 0, 1]).cast(pa.decimal128(25, 1)),
            lambda: pa.nulls(3),
        ]
        usual = [pa.array(["s", "s", "t"]), pa.array(["q", "q", "q"]), pa.array(["a", "b", "a"]), pa.array([1, 2, 3])]
        columns = [*usual, pa.array([0, 1, 1]), pa.array([5, 6, 7])]
        columns[rng.randrange(6)] = rng.choice(kinds)()
        pq.write_table(pa.table(columns, names=[name.decode() for name in header]), path)
        if rng.random() < 0.3:
            path.write_bytes(damaged(rng, path.read_bytes()))
    else:
        path = folder / rng.choice(["log.csv", "log.csv.gz", "log.tsv"])
        path.write_bytes(packed(rng, lines(rng, rows, b"\t" if path.suffix == ".tsv" else b",")))
    labels = rf.click_labels(path, sorted_by_session=rng.random() < 0.2)
    assert len(labels) > 0
    assert str(labels)


def numpy_scores(rng: random.Random, folder) -> None:
    path = folder / "scores.npy"
    if path.is_dir():
        path.rmdir()
    path.unlink(missing_ok=True)
    buffer = io.BytesIO()
    kind = rng.randrange(8)
    odd = [np.arange(4.0), np.arange(4), np.array(["a"] * 4), np.zeros((2, 2)), np.array(1.0), np.zeros(4, "m8[s]")]
    odd += [
        np.array([1j] * 4),
        np.zeros(4, [("a", float)]),
        np.array([1, np.nan, np.inf, 0]),
        np.zeros(0),
        np.zeros(4, "V3"),
    ]
    if kind == 0:
        np.savez(buffer, scores=np.arange(4.0))
    elif kind == 1:
        np.save(buffer, np.array([Exploding()] * 4, dtype=object), allow_pickle=True)
    elif kind == 2:
        buffer.write(pickle.dumps(Exploding()))
    elif kind == 3:
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr(rng.choice(["a.npy", "b"]), "not an array")
    elif kind == 4:
        path.mkdir()
    elif kind == 5:
        header = rng.choice(
            [b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999,), }", b"{", b"__import__('os')"]
        )
        buffer.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    else:
        np.save(buffer, rng.choice(odd))
    if kind != 4:
        path.write_bytes(damaged(rng, buffer.getvalue()) if rng.random() < 0.4 else buffer.getvalue())
    ranking = read_ranking(str(path), DATA)
    rf.evaluate(ranking.scores, DATA, "NDCG@2")


def text_scores(rng: random.Random, folder) -> None:
    path = folder / rng.choice(["scores.txt", "scores.txt.gz"])
    path.write_bytes(packed(rng, lines(rng, [[b"0.5"], [b"1"], [b"-inf"], [b"2"]], b" ")))
    ranking = read_ranking(rng.choice(["", "scores:", "run:", "model:"]) + str(path), DATA)
    rf.evaluate(ranking.scores, ranking.data, "NDCG@2")


def segments(rng: random.Random, folder) -> None:
    path = folder / "segments.txt"
    path.write_bytes(lines(rng, [[b"q1", b"head"], [b"q2", b"tail"]], b" "))
    assert len(read_segments(path, DATA)) == 2


def letor(rng: random.Random, folder) -> None:
    rows = [[b"1", b"qid:7", b"1:0.5", b"2:1", b"#", b"docid", b"=", b"d1"], [b"0", b"qid:7", b"2:3"]]
    if rng.random() < 0.3:
        rows = [[word for word in row if not word.startswith(b"qid")] for row in rows]
    path = folder / rng.choice(["data.txt", "data.txt.gz"])
    path.write_bytes(packed(rng, lines(rng, rows, b" ")))
    (folder / "data.txt.query").write_bytes(lines(rng, [[rng.choice([b"2", b"1\n1"])]], b" "))
    assert rf.read(path).n_documents <= 4


def folds(rng: random.Random, folder) -> None:
    here = folder / "folds"
    shutil.rmtree(here, ignore_errors=True)
    names = ["Fold1", "fold_2", "Fold 3", "Fold1\x1b", "FoldX", "fold" + "9" * 30]
    for name in rng.sample(names, rng.randint(0, 3)):
        (here / name).mkdir(parents=True)
        for part in ("train.txt", "vali.txt", "test.txt"):
            if rng.random() < 0.9:
                (here / name / part).write_bytes(lines(rng, [[b"1", b"qid:1", b"1:2"], [b"0", b"qid:1", b"1:1"]], b" "))
            elif rng.random() < 0.5:
                (here / name / part).mkdir()
    for fold in rf.read_folds(here):
        assert fold.train.n_features == fold.test.n_features


READERS = (trec, preferences, click_log, numpy_scores, text_scores, segments, letor, folds)


def check_reader(rng: random.Random, folder) -> bool:
    """One case; whether it was accepted."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", RankforceWarning)
        try:
            rng.choice(READERS)(rng, folder)
        except RankforceError as error:
            text = str(error)
            if not all(line.isprintable() for line in text.split("\n")) or len(text) > 20_000:
                raise AssertionError(f"not printable: {text!r:.200}") from error
            return False
    return True


def check_readers(folder, count: int, seed: int) -> None:
    accepted = 0
    for case in range(count):
        try:
            accepted += check_reader(random.Random(f"{seed} {case}"), folder)
        except Exception as error:
            raise AssertionError(f"case {case} of seed {seed}: {type(error).__name__}: {error}") from error
    print(f"{count:,} files, {accepted:,} accepted")
    assert 0.1 * count < accepted < 0.9 * count


def test_damaged_files(tmp_path):
    check_readers(tmp_path, 600, seed=1)


@pytest.mark.soak
def test_many_damaged_files(tmp_path):
    check_readers(tmp_path, int(100_000 * FACTOR), seed=2)
