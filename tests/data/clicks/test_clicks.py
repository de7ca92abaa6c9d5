"""Click labels against a slow twin, for every way of reading a log."""

from __future__ import annotations

import gzip
import json
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf
from rankforce.errors import DataError, FileFormatError, SettingsError

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


def random_log(sessions: int = 60, seed: int = 0, adjacent: bool = True) -> Any:
    """A log with repeated impressions, sessions of several queries, equal times and missing times of no click."""
    rng = np.random.default_rng(seed)
    rows = []
    for session in range(sessions):
        for query in rng.choice(["red shoes", "shoes red", "7", "q,8"], rng.integers(1, 4)):
            for position, document in enumerate(rng.choice(9, rng.integers(1, 6), replace=False), 1):
                clicked = int(rng.random() < 0.4)
                time = float(rng.integers(0, 4)) if clicked or rng.random() < 0.5 else math.nan
                rows.append((f"s{session}", str(query), f"d{document}", position, clicked, time))
    frame = pd.DataFrame(rows, columns=["session", "query", "document", "position", "clicked", "time"])
    return frame if adjacent else frame.sample(frac=1.0, random_state=seed).reset_index(drop=True)


def slow_labels(
    frame: Any,
    key: Any = lambda query: query,
    whole_sessions: bool = False,
    with_time: bool = True,
) -> dict[tuple[str, str], tuple[int, int, int]]:
    """(query, document) → (impressions, clicks, last clicks)."""
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    clicks: dict[Any, list[Any]] = defaultdict(list)
    for row, one in enumerate(frame.itertuples()):
        pair = (key(one.query), one.document)
        counts[pair][0] += 1
        if one.clicked:
            counts[pair][1] += 1
            scope = one.session if whole_sessions else (one.session, key(one.query))
            clicks[scope].append(((one.time if with_time else 0, one.position, row), pair))
    for made in clicks.values():
        counts[max(made)[1]][2] += 1
    return {pair: tuple(three) for pair, three in counts.items()}  # type: ignore[misc]


def counted(labels: rf.ClickLabels) -> dict[tuple[str, str], tuple[int, int, int]]:
    columns = (labels.impressions, labels.clicks, labels.last_clicks)
    keys = zip(labels.queries, labels.documents, strict=True)
    return dict(zip(keys, zip(*(column.tolist() for column in columns), strict=True), strict=True))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("adjacent", [True, False])
def test_counts_are_those_of_the_slow_twin(seed: int, adjacent: bool) -> None:
    frame = random_log(seed=seed, adjacent=adjacent)
    assert counted(rf.click_labels(frame)) == slow_labels(frame)
    assert counted(rf.click_labels(frame, last_of="session")) == slow_labels(frame, whole_sessions=True)
    without = frame.drop(columns="time")
    assert counted(rf.click_labels(without)) == slow_labels(frame, with_time=False)


@pytest.mark.parametrize("chunk_rows", [1, 2, 7, 64, 10_000])
@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz", "log.tsv", "log.parquet"])
def test_chunks_do_not_matter(name: str, chunk_rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankforce.data.clicks.session_logs._BLOCK", 200)
    monkeypatch.setattr("rankforce.data.clicks.counting._PARTS_AT_ONCE", 10)
    frame = random_log()
    path = tmp_path / name
    if name.endswith("parquet"):
        frame.to_parquet(path, row_group_size=11)
    else:
        frame.to_csv(path, index=False, sep="\t" if "tsv" in name else ",")
    whole = rf.click_labels(frame, smoothing=2.0)
    for option in (False, True):
        found = rf.click_labels(path, smoothing=2.0, chunk_rows=chunk_rows, sorted_by_session=option)
        for column, values in whole.columns().items():
            assert np.array_equal(found.columns()[column], values), column


def test_rates_smoothing_and_minimum() -> None:
    frame = pd.DataFrame(
        [
            ("s1", "q", "a", 1, 1),
            ("s1", "q", "b", 2, 1),
            ("s2", "q", "a", 1, 1),
            ("s2", "q", "b", 2, 0),
            ("s3", "q", "a", 1, 0),
            ("s3", "q", "c", 2, 0),
            ("s3", "r", "a", 1, 0),
        ],
        columns=["session_id", "qid", "docid", "rank", "click"],
    )
    plain = rf.click_labels(frame)
    assert list(zip(plain.queries, plain.documents, strict=True)) == [("q", "a"), ("q", "b"), ("q", "c"), ("r", "a")]
    assert plain.click_rate.tolist() == [2 / 3, 1 / 2, 0.0, 0.0]
    assert plain.last_click_rate.tolist() == [1 / 3, 1 / 2, 0.0, 0.0]  # in s1 the click on b was the last
    assert plain.values is plain.last_click_rate
    smooth = rf.click_labels(frame, "click", smoothing=4, min_impressions=2)
    mean = 3 / 6
    assert smooth.values[:2] == pytest.approx([(2 + 4 * mean) / 7, (1 + 4 * mean) / 6])
    assert np.isnan(smooth.values[2:]).all()
    over_all = rf.click_labels(frame, "click", smoothing=1, prior="global", smooth_zeros=True)
    assert over_all.values == pytest.approx([(2 + 3 / 7) / 4, (1 + 3 / 7) / 3, 3 / 14, 3 / 14])
    given = rf.click_labels(frame, "click", smoothing=1, prior=0.2)
    assert given.values == pytest.approx([2.2 / 4, 1.2 / 3, 0.0, 0.0])


def test_similar_queries_are_pooled() -> None:
    frame = random_log()

    def sorted_words(query: str) -> str:
        return " ".join(sorted(query.split()))

    expected = slow_labels(frame, key=sorted_words)
    assert ("red shoes", "d1") in expected
    mapping = {"shoes red": "red shoes"}
    column = frame.assign(key=frame["query"].map(sorted_words))
    for log, key in ((frame, sorted_words), (frame, mapping), (column, "key")):
        labels = rf.click_labels(log, query_key=key)
        assert counted(labels) == expected
        data = rf.Dataset(np.zeros((2, 1)), qid=["shoes red", "red shoes"], document_ids=["d1", "d1"])
        first, second = labels.for_data(data)
        assert first == second == labels.values[list(counted(labels)).index(("red shoes", "d1"))]


def test_a_query_has_one_key() -> None:
    frame = pd.DataFrame(
        {
            "session": [1, 2],
            "query": ["q", "q"],
            "document": [1, 1],
            "clicked": [0, 1],
            "position": 1,
            "key": ["a", "b"],
        }
    )
    with pytest.raises(DataError, match=r"row 1 \(from 0\): query 'q' has had another key, 'a'"):
        rf.click_labels(frame, query_key="key")
    for wrong in (None, 17.0, np.float32(17.0)):
        for query_key in (lambda query, wrong=wrong: wrong, {"q": wrong}):
            with pytest.raises(DataError, match=r"gave .* for the query 'q': a key is text or a whole number"):
                rf.click_labels(frame, query_key=query_key)


def test_a_column_may_have_two_roles(tmp_path: Path) -> None:
    frame = random_log()
    frame.to_csv(tmp_path / "log.csv", index=False)
    frame.to_parquet(tmp_path / "log.parquet")
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for roles in ({"query_key": "query"}, {"session": "query"}):
        wanted = counted(rf.click_labels(tmp_path / "log.csv", **roles))
        for log in (tmp_path / "log.parquet", frame, arrow.Table.from_pandas(frame), polars.from_pandas(frame)):
            assert counted(rf.click_labels(log, **roles)) == wanted


def test_columns_of_a_frame_may_be_named_by_numbers() -> None:
    frame = random_log()
    numbered = frame.set_axis(range(frame.shape[1]), axis=1)
    roles = {name: str(place) for place, name in enumerate(frame.columns)}
    assert counted(rf.click_labels(numbered, **roles)) == counted(rf.click_labels(frame))


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("query", [1.0, math.inf], r"row 1 \(from 0\): an id is text or a whole number: 'inf'"),
        ("document", [-math.inf, 1.0], r"row 0 \(from 0\): an id is text or a whole number"),
        ("query", [None, ["a", "b"]], r"column 'query', row 1 \(from 0\): a cell holds one value, not several"),
        ("session", [{"a": 1}, {"a": 2}], r"column 'session', row 0 \(from 0\): a cell holds one value"),
        ("clicked", [[0], [1]], r"column 'clicked'.* a cell holds one value"),
        ("position", [[0], [1]], r"column 'position'.* a cell holds one value"),
        ("time", [[0], [1]], r"column 'time'.* not a time"),
    ],
)
def test_cells_that_hold_no_single_finite_value(column: str, values: list[Any], message: str, tmp_path: Path) -> None:
    plain = {"session": [1, 2], "query": ["q", "r"], "document": ["a", "b"], "clicked": [0, 1], "position": [1, 2]}
    frame = pd.DataFrame(plain | {column: values})
    with pytest.raises(DataError, match=message):
        rf.click_labels(frame)
    frame.to_parquet(tmp_path / "log.parquet")
    with pytest.raises(FileFormatError, match=f"log.parquet: column '{column}'"):
        rf.click_labels(tmp_path / "log.parquet")


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    frame = random_log()
    wanted = rf.click_labels(frame, min_impressions=2)
    found = rf.click_labels(frame, min_impressions=np.int64(2), chunk_rows=np.int64(3))
    np.testing.assert_array_equal(found.values, wanted.values)
    assert found.to_dict() == wanted.to_dict()
    assert json.dumps(found.to_dict())


def test_labels_are_joined_by_ids_and_the_unseen_stay_unlabelled() -> None:
    frame = pd.DataFrame(
        {"session": [1, 1, 2], "query": [17, 17, 18], "document": [5.0, 6.0, 5.0], "clicked": [True, False, True]}
    ).assign(position=[1, 2, 1])
    labels = rf.click_labels(frame)
    data = rf.Dataset(np.zeros((4, 1)), [0, 1, 2, 0], ["18", "17", "17", "17"], document_ids=[5, 5, 6, 7])
    values = labels.for_data(data)
    assert np.array_equal(values, [1.0, 1.0, 0.0, math.nan], equal_nan=True)
    labelled = data.with_label("clicks", values)
    assert rf.evaluate(np.arange(4.0), labelled, "CNDCG@10:clicks").per_query["CNDCG@10:clicks"].tolist() == [
        1.0,
        pytest.approx(1 / math.log2(3)),
    ]
    with pytest.raises(DataError, match="no document ids"):
        labels.for_data(rf.Dataset(np.zeros((2, 1)), qid=[17, 17]))
    with pytest.raises(DataError, match=r"no document of the data is in the log.*'17' with document '5'"):
        labels.for_data(rf.Dataset(np.zeros((2, 1)), qid=[1, 1], document_ids=["x", "y"]))


def test_several_files_and_frames_are_one_log(tmp_path: Path) -> None:
    frame = random_log()
    middle = len(frame) // 2 + 1
    frame[:middle].to_csv(tmp_path / "monday.csv", index=False)
    whole = counted(rf.click_labels(frame))
    assert counted(rf.click_labels([tmp_path / "monday.csv", frame[middle:]])) == whole
    parts = pd.read_csv(tmp_path / "monday.csv", chunksize=10)
    assert counted(rf.click_labels(parts)) == counted(rf.click_labels(frame[:middle]))


def test_polars_and_arrow() -> None:
    polars = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    frame = random_log(20)
    expected = slow_labels(frame)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    assert counted(rf.click_labels(table)) == expected
    assert counted(rf.click_labels(polars.from_arrow(table))) == expected
    assert counted(rf.click_labels(frame.astype({"query": "category", "session": "category"}))) == expected


@pytest.mark.parametrize(
    "times",
    [
        ["2025-03-01 12:00:01", "2025-03-01 12:00:00", ""],
        ["2025-03-01T12:00:01Z", "2025-03-01T13:00:00+01:00", ""],
        ["1.5", "1", ""],
    ],
)
def test_kinds_of_time(times: list[str], tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = [f"s,q,{document},{clicked},{time}" for document, clicked, time in zip("abc", "110", times, strict=True)]
    path.write_text("\n".join(["session,query,document,clicked,time", *rows]))
    assert rf.click_labels(path).last_clicks.tolist() == [1, 0, 0]
    frame = pd.read_csv(path)
    if ":" in times[0]:
        frame["time"] = pd.to_datetime(frame["time"], utc="Z" in times[0])
    assert rf.click_labels(frame).last_clicks.tolist() == [1, 0, 0]


HEADER = "session,query,document,position,clicked,time\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"the file is empty\n.*session,query"),
        ("a;b;c\n", "no column says the session|there is no ','"),
        ("session,query,document,position\n1,2,3,4\n", r"line 1: no column says the clicked\n  name it: clicked="),
        ("session,query,document,clicked,click\n1,2,3,0,0\n", "several columns could be the clicked"),
        (HEADER, "the log has no rows"),
        (HEADER + "1,q,a,1,0,\n1,,b,2,0,\n", r"line 3, column 2: column 'query': the id is missing"),
        (HEADER + "1,q,a,1,0,\n\n1,q,b,2,yes,\n", r"line 4, column 5: column 'clicked': not a click: 'yes'"),
        (HEADER + "1,q,a,1,2,\n", r"line 2, column 5: column 'clicked': not a click: '2'"),
        (HEADER + "1,q,a,1,,\n", "whether it was clicked is missing"),
        (HEADER + "1,q,a,-1,0,\n", r"line 2, column 4: column 'position': not a position: '-1'"),
        (HEADER + "1,q,a,1,1,\n", "line 2, column 6: column 'time': the time of a click is missing"),
        (HEADER + "1,q,a,1,1,5\n1,q,b,1,1,noon\n", "line 3, column 6: column 'time': not a time: 'noon'"),
        (HEADER + "1,q,a,1,1,5\n1,q,b,1,1,2025-01-01\n", "line 3, column 6: column 'time': not a time"),
        (HEADER + "1,q,a,1,1,5\n1,q,b\n", r"line 3: 3 cells in a row, the header has 6"),
        (HEADER.replace(",time", "") + "1,q,a,,1\n", "the position of a click is missing"),
        ("session,query,document,clicked\n1,q,a,1\n", "neither a time nor a position"),
    ],
)
def test_bad_logs_are_refused_with_their_place(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(text)
    for chunk_rows in (1, 1000):
        with pytest.raises(DataError, match=message):
            rf.click_labels(path, chunk_rows=chunk_rows)


@pytest.mark.parametrize("chunk_rows", [1, 2, 3, 1000])
def test_torn_sessions_are_found(chunk_rows: int, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(HEADER + "1,q,a,1,1,5\n1,q,b,1,0,\n2,q,a,1,1,5\n3,q,a,1,0,\n1,q,c,2,1,6\n")
    message = "line 6, column 1: column 'session': session '1' goes on after another one"
    with pytest.raises(FileFormatError, match=message):
        rf.click_labels(path, sorted_by_session=True, chunk_rows=chunk_rows)
    labels = rf.click_labels(path, chunk_rows=chunk_rows)
    assert dict(zip(labels.documents, labels.last_clicks.tolist(), strict=True)) == {"a": 1, "b": 0, "c": 1}


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="there is no such file"):
        rf.click_labels(tmp_path / "absent.csv")
    with pytest.raises(FileFormatError, match="this is a directory"):
        rf.click_labels(tmp_path)
    (tmp_path / "log.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(FileFormatError, match="cannot be read as Parquet"):
        rf.click_labels(tmp_path / "log.parquet")
    whole = gzip.compress((HEADER + "1,q,a,1,1,5\n" * 5000).encode())
    (tmp_path / "log.csv.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileFormatError, match="damaged or cut off"):
        rf.click_labels(tmp_path / "log.csv.gz")


@pytest.mark.parametrize(
    "wrong",
    [
        {"rate": "stay"},
        {"similar": 3},
        {"satisfied_after": 0},
        {"longest_dwell": 10.0},
        {"unknown_dwell": "no"},
        {"time_unit": "min"},
        {"last_of": "day"},
        {"smoothing": -1},
        {"smoothing": math.inf},
        {"prior": "mode"},
        {"prior": 2.0},
        {"min_impressions": 0},
        {"min_impressions": 1.5},
        {"query_key": 3},
        {"chunk_rows": 0},
        {"chunk_rows": True},
        {"min_impressions": True},
    ],
)
def test_impossible_settings(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        rf.click_labels(random_log(2), **wrong)
    with pytest.raises(DataError, match="a session log is a file, a data frame"):
        rf.click_labels(5)
    with pytest.raises(DataError, match="there is no column 'sid'"):
        rf.click_labels(random_log(2), session="sid")


def test_labels_are_of_data_sets_and_tables_are_named_as_such(tmp_path: Path) -> None:
    labels = rf.click_labels(random_log())
    with pytest.raises(DataError, match="must be a Dataset"):
        labels.for_data(3)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="path"):
        labels.write(3)  # type: ignore[arg-type]
    for name in ("labels.json", "labels", "labels.txt.gz"):
        with pytest.raises(DataError, match=r"must be one of .parquet, .*\.csv"):
            labels.write(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["labels.csv", "labels.csv.gz", "labels.parquet"])
def test_the_table_is_written_and_read_back(name: str, tmp_path: Path) -> None:
    labels = rf.click_labels(random_log(), min_impressions=3)
    labels.write(tmp_path / name)
    read = pd.read_parquet if name.endswith("parquet") else pd.read_csv
    found = read(tmp_path / name)
    expected = labels.to_pandas()
    assert list(found.columns) == list(expected.columns)
    assert found["query"].astype(str).tolist() == expected["query"].tolist()
    assert np.array_equal(found["last_click_rate"], expected["last_click_rate"], equal_nan=True)
    assert "last-click rate" in str(labels)
    assert repr(labels).startswith("<ClickLabels of 4 queries")
