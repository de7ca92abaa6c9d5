"""TREC files: reading, refusing, joining as trec_eval does."""

from __future__ import annotations

import gzip
import itertools
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankforce import (
    DataError,
    Dataset,
    FileFormatError,
    RankforceError,
    SettingsError,
    judged_run,
    read_qrels,
    read_run,
    write_run,
)

QRELS = "301 0 d1 2\n301 0 d2 0\n301 0 d9 1\n302\t0\td1\t-1\n303 0 d5 1\n"
RUN = "301 Q0 d2 1 9.5 tag\n301 Q0 d1 2 9.5 tag\n301 Q0 d7 3 -1e-3 tag\n302 Q0 d1 1 4 tag\n304 Q0 d1 1 4 tag\n"


def write(tmp_path, text, name="file.txt"):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_read(tmp_path):
    qrels = read_qrels(write(tmp_path, QRELS))
    assert qrels == {"301": {"d1": 2, "d2": 0, "d9": 1}, "302": {"d1": -1}, "303": {"d5": 1}}
    run = read_run(write(tmp_path, RUN))
    assert run == {"301": {"d2": 9.5, "d1": 9.5, "d7": -0.001}, "302": {"d1": 4}, "304": {"d1": 4}}


@pytest.mark.parametrize(
    "dress",
    [
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace(" ", "\t  ").encode(),
        lambda text: text.rstrip("\n").encode(),
        lambda text: ("\n  \n" + text).encode(),
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: gzip.compress(text.encode()),
    ],
)
def test_read_in_other_dress(tmp_path, dress):
    assert read_run(write(tmp_path, dress(RUN))) == read_run(write(tmp_path, RUN, "plain"))
    assert read_qrels(write(tmp_path, dress(QRELS))) == read_qrels(write(tmp_path, QRELS, "plain"))


@pytest.mark.parametrize(
    ("read", "text", "line", "message"),
    [
        (read_qrels, "1 0 d 1\n1 0 d2\n", 2, "3 columns instead of 4"),
        (read_qrels, RUN, 1, "looks like a run"),
        (read_run, QRELS, 1, "looks like judgments"),
        (read_run, "1 Q0 d 1 2.0\n", 1, "5 columns instead of 6"),
        (read_qrels, "1 0 d good\n", 1, "not a finite number: 'good'"),
        (read_qrels, "1 0 d nan\n", 1, "not a finite number"),
        (read_run, "1 Q0 d 1 inf t\n", 1, "not a finite number"),
        (read_run, "1 Q0 d 1 1_0 t\n", 1, "not a finite number"),
        (read_qrels, "1 0 d 1\n\n1 0 d 1\n", 3, "a second grade .* query '1': 'd'"),
        (read_run, "1 Q0 d 1 2 t\n1 Q0 d 2 1 t\n", 2, "a second score"),
        (read_run, b"1 Q0 d 1 2 t\n1 Q0 \xff 2 1 t\n", 2, "UTF-8"),
        (read_run, gzip.compress(RUN.encode(), mtime=0)[:-9], None, "damaged or cut off"),
        (read_run, gzip.compress(RUN.encode(), mtime=0)[:5], None, "damaged or cut off"),
        (read_run, "", None, "empty"),
        (read_qrels, " \n", None, "empty"),
    ],
)
def test_broken_lines(tmp_path, read, text, line, message):
    path = write(tmp_path, text)
    with pytest.raises(FileFormatError, match=message) as caught:
        read(path)
    assert line is None or caught.value.line == line
    assert str(path) in str(caught.value)


def test_no_file(tmp_path):
    with pytest.raises(FileFormatError, match="No such file"):
        read_run(tmp_path / "absent")
    with pytest.raises(FileFormatError, match="cannot be read"):
        read_qrels(tmp_path)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 120), inserted=st.binary(max_size=4), removed=st.integers(0, 4))
def test_mutated_files_are_read_or_refused(tmp_path, place, inserted, removed):
    for read, text in ((read_run, RUN), (read_qrels, QRELS)):
        content = text.encode()
        path = write(tmp_path, content[:place] + inserted + content[place + removed :])
        try:
            read(path)
        except RankforceError:
            continue  # any other exception fails the test


@pytest.fixture
def files(tmp_path):
    return read_qrels(write(tmp_path, QRELS, "qrels")), read_run(write(tmp_path, RUN, "run"))


def test_joined(files):
    joined = judged_run(*files)
    data = joined.data
    assert data.n_features == 0
    assert data.query_ids.tolist() == ["301", "302", "303"]
    # equal scores by falling document id; then what was not retrieved
    assert data.document_ids.tolist() == ["d2", "d1", "d7", "d9", "d1", "d5"]
    np.testing.assert_array_equal(data.labels["grades"], [0, 2, np.nan, 1, np.nan, 1])
    assert joined.scores.tolist() == [9.5, 9.5, -0.001, -math.inf, 4, -math.inf]
    assert joined.retrieved.tolist() == [True, True, True, False, True, False]
    assert joined.queries_without_run == ("303",)
    assert joined.queries_without_judgments == ("304",)


def test_queries_that_the_run_lacks(files):
    assert judged_run(*files, missing_queries="skip").data.query_ids.tolist() == ["301", "302"]
    with pytest.raises(DataError, match="lacks 1 of the 3 judged queries, among them '303'"):
        judged_run(*files, missing_queries="raise")
    with pytest.raises(SettingsError, match="missing_queries"):
        judged_run(*files, missing_queries="one")
    with pytest.raises(DataError, match="no query in common"):
        judged_run({"1": {"d": 1}}, {"01": {"d": 1}})


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ({"1": {"d": 1}}, {"1": {"d": math.nan}}),
        ({"1": {"d": 1}}, {"1": {"d": math.inf}}),
        ({"1": {"d": 1}}, {"1": {"d": -math.inf}}),
        ({"1": {"d": math.inf}}, {"1": {"d": 1}}),
        ({"1": {"d": "x"}}, {"1": {"d": 1}}),
        ({"1": {"d": 1}}, {"1": {"d": "x"}}),
        ({"1": {}}, {"1": {}}),
        ({}, {}),
        ([], {}),
    ],
)
def test_impossible_joins(qrels, run):
    with pytest.raises(DataError):
        judged_run(qrels, run)


def test_agrees_with_trec_eval_on_what_is_relevant_and_retrieved(files):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = files
    whole = {query: {name: int(grade) for name, grade in of.items()} for query, of in qrels.items()}
    theirs = pytrec_eval.RelevanceEvaluator(whole, {"num_rel", "num_ret", "num_rel_ret"}).evaluate(run)
    joined = judged_run(qrels, run, missing_queries="skip")
    for query, rows in zip(joined.data.query_ids, joined.data.each_query(), strict=True):
        relevant, retrieved = joined.data.labels["grades"][rows] >= 1, joined.retrieved[rows]
        assert theirs[query]["num_rel"] == relevant.sum()
        assert theirs[query]["num_ret"] == retrieved.sum()
        assert theirs[query]["num_rel_ret"] == (relevant & retrieved).sum()


def test_write_run_comes_back(tmp_path):
    random = np.random.default_rng(0)
    scores = random.standard_normal(30)
    data = Dataset(np.empty((30, 0)), qid=random.integers(0, 4, 30), document_ids=[f"d{row}" for row in range(30)])
    for name in ("run.txt", "run.txt.gz"):
        write_run(data, scores, tmp_path / name, tag="mine")
        run = read_run(tmp_path / name)
        for row in range(30):
            assert run[str(data.qid[row])][f"d{row}"] == scores[row]
    lines = (tmp_path / "run.txt").read_text().splitlines()
    assert lines[0].split()[3] == "1"
    assert lines[0].split()[5] == "mine"
    for previous, line in itertools.pairwise(lines):
        a, b = previous.split(), line.split()
        assert a[0] != b[0] or (float(a[4]) >= float(b[4]) and int(b[3]) == int(a[3]) + 1)


def test_write_run_depth_ties_and_what_was_not_retrieved(tmp_path):
    data = Dataset(np.empty((4, 0)), qid=[1] * 4, document_ids=[10, 11, 12, 13])
    write_run(data, [1, 2, 2, -np.inf], tmp_path / "run")
    assert [line.split()[2:5] for line in (tmp_path / "run").read_text().splitlines()] == [
        ["11", "1", "2.0"],
        ["12", "2", "2.0"],
        ["10", "3", "1.0"],
    ]
    write_run(data, [1, 2, 2, 0], tmp_path / "run", depth=1)
    assert len((tmp_path / "run").read_text().splitlines()) == 1


def test_impossible_runs(tmp_path):
    data = Dataset(np.empty((2, 0)), qid=[1, 1], document_ids=["a", "b"])
    for scores, message in (
        ([1], "one entry"),
        ([1, np.nan], "row 1"),
        ([np.inf, 1], "row 0"),
        (["x", "y"], "numbers"),
    ):
        with pytest.raises(DataError, match=message):
            write_run(data, scores, tmp_path / "run")
    with pytest.raises(DataError, match="no document ids"):
        write_run(data.replace(document_ids=None), [1, 2], tmp_path / "run")
    with pytest.raises(DataError, match="without white space"):
        write_run(data.replace(document_ids=["a b", "c"]), [1, 2], tmp_path / "run")
    with pytest.raises(DataError, match="the tag"):
        write_run(data, [1, 2], tmp_path / "run", tag="")
    with pytest.raises(SettingsError, match="depth"):
        write_run(data, [1, 2], tmp_path / "run", depth=0)
    assert not list(tmp_path.iterdir())
