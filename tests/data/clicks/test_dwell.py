"""Dwell times against a slow twin, and what is unknown, missing or impossible."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf
from rankforce.errors import DataError, SettingsError

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

COLUMNS = ["session", "query", "document", "position", "clicked", "time"]


def random_log(sessions: int = 50, seed: int = 0) -> Any:
    """Sessions of several pages with times of clicks, and of pages for some of the rows that were not clicked."""
    rng = np.random.default_rng(seed)
    rows = []
    for session in range(sessions):
        now = float(rng.integers(0, 1000))
        for query in rng.choice(["a", "b"], rng.integers(1, 4)):
            page = now
            for position, document in enumerate(rng.choice(5, 3, replace=False), 1):
                clicked = int(rng.random() < 0.5)
                now += float(rng.choice([0, 5, 29, 30, 200, 5000])) if clicked else 0.0
                time = now if clicked else (page if rng.random() < 0.5 else math.nan)
                rows.append((f"s{session}", str(query), f"d{document}", position, clicked, time))
            now += float(rng.choice([1, 40]))
    frame = pd.DataFrame(rows, columns=COLUMNS)
    return frame.sample(frac=1.0, random_state=seed).reset_index(drop=True)


def slow_dwells(frame: Any) -> dict[tuple[str, str], list[float | None]]:
    """(query, document) → the dwell time of every click; None: unknown."""
    dwells: dict[tuple[str, str], list[float | None]] = defaultdict(list)
    for row in frame.itertuples():
        dwells[row.query, row.document] += []
        if row.clicked:
            later = [one.time for one in frame.itertuples() if one.session == row.session and one.time > row.time]
            dwell = min(later) - row.time if later else None
            dwells[row.query, row.document].append(None if dwell is None or dwell > 1800.0 else dwell)
    return dwells


def log_share(seconds: float) -> float:
    return math.log1p(seconds) / math.log1p(1800.0)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("unknown", ["satisfied", "leave_out"])
def test_labels_are_those_of_the_slow_twin(seed: int, unknown: str) -> None:
    frame = random_log(seed=seed)
    dwells = slow_dwells(frame)
    shown = frame.groupby(["query", "document"]).size()
    labels = {
        rate: rf.click_labels(frame, rate, unknown_dwell=unknown)
        for rate in ("satisfied_click", "dwell", "median_dwell")
    }
    assert any(None in one for one in dwells.values())
    for place, pair in enumerate(zip(labels["dwell"].queries, labels["dwell"].documents, strict=True)):
        known = [one for one in dwells[pair] if one is not None]
        lost = len(dwells[pair]) - len(known)
        satisfied = sum(one >= 30.0 for one in known) + (lost if unknown == "satisfied" else 0)
        chances = shown[pair] - (lost if unknown == "leave_out" else 0)
        assert labels["satisfied_click"].values[place] == pytest.approx(satisfied / chances if chances else math.nan)
        shares = [log_share(one) for one in known] or ([math.nan] if dwells[pair] else [0.0])
        assert labels["dwell"].values[place] == pytest.approx(statistics.fmean(shares), abs=1e-7, nan_ok=True)
        assert labels["median_dwell"].values[place] == pytest.approx(statistics.median(shares), abs=1e-7, nan_ok=True)
        assert labels["dwell"].timed_clicks is not None
        assert labels["dwell"].timed_clicks[place] == len(known)


@pytest.mark.parametrize("rate", ["satisfied_click", "dwell", "median_dwell"])
def test_neither_chunks_nor_the_order_of_rows_matter(rate: str, tmp_path: Path) -> None:
    frame = random_log(25).sort_values("session", kind="stable")
    wanted = rf.click_labels(frame, rate).to_pandas()
    path = tmp_path / "log.csv"
    frame.to_csv(path, index=False)
    for chunk_rows in (3, 1000):
        for adjacent in (False, True):
            found = rf.click_labels(path, rate, chunk_rows=chunk_rows, sorted_by_session=adjacent)
            pd.testing.assert_frame_equal(found.to_pandas(), wanted, check_exact=True)
    keys = ["query", "document"]
    shuffled = rf.click_labels(frame.sample(frac=1.0, random_state=3), rate).to_pandas()
    pd.testing.assert_frame_equal(
        shuffled.drop(columns=["last_clicks", "last_click_rate"]).sort_values(keys, ignore_index=True),
        wanted.drop(columns=["last_clicks", "last_click_rate"]).sort_values(keys, ignore_index=True),
        check_exact=True,
    )


def test_a_column_of_dwell_times_comes_before_the_clock() -> None:
    rows = [
        ("s", "q", "a", 1, 1, 0.0),
        ("s", "q", "b", 2, 1, 1.0),
        ("s", "q", "c", 3, 1, 2.0),
        ("t", "q", "a", 1, 0, None),
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS).assign(dwell=[45.0, 3.0, None, None])
    labels = rf.click_labels(frame, "satisfied_click")
    assert labels.values.tolist() == [0.5, 0.0, 1.0]  # what is unknown counts as satisfied
    assert labels.unknown_dwells is not None
    assert labels.unknown_dwells.tolist() == [0, 0, 1]
    left_out = rf.click_labels(frame, "satisfied_click", unknown_dwell="leave_out")
    assert np.array_equal(left_out.values, [0.5, 0.0, math.nan], equal_nan=True)
    named = rf.click_labels(frame.rename(columns={"dwell": "stay"}).drop(columns="time"), "dwell", dwell="stay")
    assert named.values[:2] == pytest.approx([log_share(45.0), log_share(3.0)], abs=1e-7)
    assert np.isnan(named.values[2])  # clicked, and nobody knows for how long
    assert "dwell" not in rf.click_labels(frame.assign(dwell="nonsense")).log_columns  # what is not asked is not read


def test_actions_at_one_moment_have_the_same_next_action() -> None:
    rows = [("s", "q", "a", 1, 1, 5.0), ("s", "q", "b", 2, 1, 5.0), ("s", "r", "c", 1, 0, 35.0)]
    labels = rf.click_labels(pd.DataFrame(rows, columns=COLUMNS), "satisfied_click", unknown_dwell="leave_out")
    assert labels.values.tolist() == [1.0, 1.0, 0.0]
    later = rf.click_labels(pd.DataFrame(rows, columns=COLUMNS), "satisfied_click", satisfied_after=31)
    assert later.values.tolist() == [0.0, 0.0, 0.0]


def test_units_of_time() -> None:
    rows = [("s", "q", "a", 1, 1, 0), ("s", "q", "b", 2, 1, 60)]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    seconds = rf.click_labels(frame, "dwell").values[0]
    dates = frame.assign(time=pd.to_datetime(1_700_000_000 + frame["time"], unit="s"))
    assert rf.click_labels(dates, "dwell").values[0] == seconds
    stamps = frame.assign(time=(1_700_000_000 + frame["time"]) * 1000)
    assert rf.click_labels(stamps, "dwell", time_unit="ms").values[0] == seconds
    with pytest.raises(DataError, match=r"beyond the year 5000.*\n.*time_unit='ms'"):
        rf.click_labels(stamps, "dwell")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"time": [1.0, None]}, r"row 1 \(from 0\): the time of a click is missing"),
        ({"dwell": [1.0, -2.0]}, r"column 'dwell', row 1 \(from 0\): a dwell time is not negative: '-2.0'"),
        ({"dwell": [1.0, math.inf]}, "not a dwell time: 'inf'"),
        ({"dwell": ["1", "long"]}, "not a dwell time: 'long'"),
        ({}, r"neither how long users stayed nor when they clicked\n  name the column: dwell=... \(seconds\) or time="),
    ],
)
def test_what_cannot_be_a_dwell_time_is_refused(columns: dict[str, list[Any]], message: str) -> None:
    plain = {"session": [1, 1], "query": "q", "document": ["a", "b"], "clicked": [1, 1], "position": [1, 2]}
    with pytest.raises(DataError, match=message):
        rf.click_labels(pd.DataFrame(plain | columns), "dwell")


def test_medians_are_neither_smoothed_nor_pooled() -> None:
    for wrong in ({"smoothing": 1.0}, {"similar": "words"}):
        with pytest.raises(SettingsError, match="medians are not"):
            rf.click_labels(random_log(3), "median_dwell", **wrong)


def test_smoothing_and_pooling_of_mean_dwell() -> None:
    rows = [
        ("s", "q", "a", 1, 1, 10.0),
        ("s", "q", "b", 2, 1, 50.0),
        ("t", "Q", "a", 1, 1, 7.0),
        ("u", "q", "c", 1, 0, None),
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS).assign(dwell=[100.0, 10.0, 1000.0, None])
    smooth = rf.click_labels(frame, "dwell", smoothing=2.0, query_key=str.lower)
    shares = {"a": [log_share(100.0), log_share(1000.0)], "b": [log_share(10.0)]}
    mean = statistics.fmean(shares["a"] + shares["b"])
    assert smooth.values[:2] == pytest.approx(
        [(sum(one) + 2 * mean) / (len(one) + 2) for one in shares.values()], abs=1e-7
    )
    assert smooth.values[2] == 0.0  # never clicked
    pooled = rf.click_labels(frame, "dwell", similar="words").similar
    assert pooled is not None
    table = dict(zip(zip(pooled.queries, pooled.documents, strict=True), pooled.values, strict=True))
    assert table["q", "a"] == table["Q", "a"] == pytest.approx(statistics.fmean(shares["a"]), abs=1e-7)
    assert table["Q", "b"] == pytest.approx(log_share(10.0), abs=1e-7)
    assert "satisfied_click_rate" in pooled.columns()
