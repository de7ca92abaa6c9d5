"""What ``rf.inspect`` reports, against data made to have each fault and against slow twins."""

from __future__ import annotations

import html
import itertools
import json
import os
from pathlib import Path

import numpy as np
import pytest

import rankforce as rf
from rankforce.inspection import duplicates, feature_strength
from rankforce.inspection.feature_strength import feature_strengths
from rankforce.inspection.shared_queries import shared_queries


def make(queries: int = 20, documents: int = 12, features: int = 4, seed: int = 0, **changes: object) -> rf.Dataset:
    """Data without a fault: noise features, grades 0 to 2, each query with all of them, in mixed order."""
    rng = np.random.default_rng(seed)
    n = queries * documents
    parts = {
        "X": rng.normal(size=(n, features)),
        "y": np.concatenate([rng.permutation(np.arange(documents) % 3) for _ in range(queries)]).astype(float),
        "qid": np.repeat(np.arange(1, queries + 1), documents),
    }
    return rf.Dataset(**(parts | changes))  # type: ignore[arg-type]


def kinds(report: object) -> set[str]:
    return {finding.kind for finding in report.findings}  # type: ignore[attr-defined]


def test_clean_data_has_no_findings() -> None:
    report = rf.inspect(make())
    assert report.findings == ()
    assert "Nothing suspicious" in str(report)
    assert (report.documents, report.queries, report.features) == (240, 20, 4)
    assert report.documents_per_query == (12, 12.0, 12)
    (source,) = report.labels
    assert source.values == {0.0: 80, 1.0: 80, 2.0: 80}
    assert source.mixed_queries == 20


def test_report_is_json_and_text_without_nan() -> None:
    data = make().with_label("clicks", np.full(240, np.nan))
    text = json.dumps(rf.inspect(data).to_dict(), default=str)
    assert json.loads(text)["labels"]["clicks"]["unlabelled"] == 240
    assert "label clicks" in str(rf.inspect(data))


def test_constant_missing_and_never_seen_features() -> None:
    X = np.array(make(features=6).features)
    X[:, 1] = 7.0
    X[:, 2] = 0.0
    X[:, 3] = np.nan
    X[: len(X) * 3 // 4, 4] = np.nan
    X[::2, 5] = 1.0
    X[1::2, 5] = np.nan  # one value, but whether it is missing varies
    report = rf.inspect(make(X=X))
    assert report.constant_features == {"2": 7.0}
    assert report.never_seen_features == ("3", "4")
    assert report.missing_features == {"4": 1.0, "5": 0.75, "6": 0.5}
    assert report.missing_share == pytest.approx(2.25 / 6)
    assert kinds(report) == {"constant_features", "never_seen_features", "often_missing_features"}


def test_heavy_tail() -> None:
    X = np.array(make().features)
    X[17, 2] = 1e6
    report = rf.inspect(make(X=X))
    assert list(report.heavy_tailed_features) == ["3"]
    assert kinds(report) == {"heavy_tailed_features"}


def test_blank_uniform_and_unlabelled_queries() -> None:
    y = np.array(make().labels["grades"])
    y[:12] = 0.0  # blank
    y[12:24] = 2.0  # uniform
    y[24:36] = np.nan
    y[36] = np.nan
    source = rf.inspect(make(y=y)).labels[0]
    assert (source.blank_queries, source.uniform_queries, source.unlabelled_queries) == (1, 2, 1)
    assert (source.unlabelled, source.mixed_queries) == (13, 17)
    assert kinds(rf.inspect(make(y=y))) == {"blank_queries", "unlabelled_documents"}


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (np.full(240, 3.0), "one_label"),
        (np.arange(240.0), "large_labels"),
        (np.tile([0.0, 2000.0], 120), "large_labels"),
        (np.where(np.arange(240) % 5 == 0, -1.0, np.arange(240) % 2), "negative_labels"),
    ],
)
def test_odd_labels(labels: np.ndarray, kind: str) -> None:
    assert kind in kinds(rf.inspect(make(y=labels)))


@pytest.mark.parametrize("direction", [1, -1])
def test_rows_sorted_by_grade(direction: int) -> None:
    y = np.array(make().labels["grades"]).reshape(20, 12)
    ordered = np.sort(y, axis=1)[:, ::direction].ravel()
    report = rf.inspect(make(y=ordered))
    assert report.labels[0].sorted_queries == 20
    assert kinds(report) == {"sorted_by_label"}
    shuffled = np.random.default_rng(1).permutation(240)  # the rows of a query keep their order, scattered
    parts = make(y=ordered)
    by_place = np.argsort(shuffled, kind="stable")
    scattered = rf.Dataset(parts.features[by_place], ordered[by_place], parts.qid[by_place])
    assert rf.inspect(scattered).labels[0].sorted_queries == _sorted_twin(scattered)


def _sorted_twin(data: rf.Dataset) -> int:
    count = 0
    for rows in data.each_query():
        labels = data.labels["grades"][rows].tolist()
        if len(set(labels)) > 1 and labels in (sorted(labels), sorted(labels, reverse=True)):
            count += 1
    return count


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_feature_that_is_the_label(sign: float) -> None:
    X = np.array(make().features)
    X[:, 1] = sign * make().labels["grades"]
    report = rf.inspect(make(X=X))
    (leak,) = report.answering_features
    assert leak.feature == "2"
    assert (leak.certainty, leak.decided) == (1.0, 1.0)
    assert kinds(report) == {"feature_gives_answer"}


def test_feature_made_from_the_label_with_noise_or_as_a_flag() -> None:
    data = make(queries=60)
    grades = data.labels["grades"]
    X = np.array(data.features)
    X[:, 0] = grades + 0.1 * X[:, 0]  # near
    X[:, 2] = grades >= 2  # decides part of the pairs, never wrongly
    found = {one.feature for one in rf.inspect(make(queries=60, X=X)).answering_features}
    assert found == {"1", "3"}


def test_few_pairs_are_not_taken_for_a_leak() -> None:
    data = rf.Dataset([[1.0], [0.0], [2.0], [1.0]], [1, 0, 1, 0], qid=[1, 1, 2, 2])
    assert rf.inspect(data).answering_features == ()


def test_strengths_equal_all_pairs_counted_one_by_one() -> None:
    X = np.array(make().features)
    X[:, 1] = np.round(X[:, 1])
    X[::7, 2] = np.nan
    data = make(X=X)
    found = {one.feature: one for one in feature_strengths(data)}
    for feature in range(4):
        right = wrong = pairs = 0
        for rows in data.each_query():
            for a, b in itertools.permutations(rows, 2):
                if data.labels["grades"][a] > data.labels["grades"][b]:
                    pairs += 1
                    right += data.features[a, feature] > data.features[b, feature]
                    wrong += data.features[a, feature] < data.features[b, feature]
        one = found[data.feature_names[feature]]
        assert one.accuracy == right / (right + wrong)
        assert one.decided == (right + wrong) / pairs


def test_strengths_on_a_sample_of_pairs_are_near(monkeypatch: pytest.MonkeyPatch) -> None:
    data = make(queries=30, documents=60)
    exact = {one.feature: one for one in feature_strengths(data)}
    monkeypatch.setattr(feature_strength, "MOST_PAIRS", 30_000)
    monkeypatch.setattr(feature_strength, "_CHUNK", 1000)
    for one in feature_strengths(data):
        assert one.accuracy == pytest.approx(exact[one.feature].accuracy, abs=0.02)
        assert one.decided == 1.0


def test_duplicates_with_equal_and_different_labels() -> None:
    X = np.array(make().features)
    y = np.array(make().labels["grades"])
    X[3] = X[1]
    y[3] = y[1]
    X[20] = X[14]
    X[22] = X[14]
    y[[14, 20, 22]] = [0.0, 1.0, 0.0]
    X[40] = X[1]  # another query: no duplicate
    X[50] = X[51] = [np.nan, -0.0, 0.0, 1.0]
    X[51, 1] = 0.0
    y[51] = y[50]
    found = rf.inspect(make(X=X, y=y)).duplicates
    assert (found.documents, found.queries) == (4, 3)
    assert (found.conflicting_documents, found.example) == (1, (14, 20))
    assert kinds(rf.inspect(make(X=X, y=y))) == {"duplicate_documents", "conflicting_duplicates"}


def test_equal_hashes_of_different_rows_are_no_duplicates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "row_hashes", lambda matrix: np.zeros(len(matrix), dtype=np.uint64))
    assert rf.inspect(make()).duplicates.documents == 0


def test_repeated_document_ids() -> None:
    ids = np.array([f"d{k}" for k in range(240)], dtype=object)
    ids[5] = "d2"
    ids[30] = "d2"  # in another query: fine
    report = rf.inspect(make(document_ids=ids))
    assert report.duplicates.repeated_ids == 1
    assert kinds(report) == {"repeated_document_ids"}


def test_single_document_queries_and_scattered_rows() -> None:
    report = rf.inspect(make(qid=np.concatenate([[99], np.repeat(np.arange(1, 21), 12)[1:]])))
    assert report.single_document_queries == 1
    assert kinds(report) == {"single_document_queries"}
    assert "every_query_has_one_document" in kinds(rf.inspect(make(qid=np.arange(240))))
    assert "scattered_queries" in kinds(rf.inspect(make(qid=np.tile(np.arange(1, 21), 12))))


def test_only_data_sets_are_inspected() -> None:
    for wrong in (None, np.zeros((3, 2))):
        with pytest.raises(rf.DataError, match="must be a Dataset"):
            rf.inspect(wrong)  # type: ignore[arg-type]


def test_no_labels_and_no_features() -> None:
    assert kinds(rf.inspect(make(y=None))) == {"no_labels"}
    report = rf.inspect(make(X=np.empty((240, 0))))
    assert report.features == report.duplicates.documents == 0


def test_shared_queries() -> None:
    data = make(queries=9)
    first, second = data.take_queries([0, 1, 2, 3]), data.take_queries([3, 4, 5])
    assert shared_queries(data.take_queries([0, 1]), data.take_queries([2, 3])).findings == ()
    found = shared_queries(first, second, ("train", "test"))
    assert found.same_id == ("4",)
    assert [finding.kind for finding in found.findings] == ["query_in_two_splits"]
    assert "train and test" in found.findings[0].what


def test_shared_queries_under_other_numbers() -> None:
    data = make(queries=6)
    first = data.take_queries([0, 1, 2])
    second = data.take_queries([2, 3])
    order = np.random.default_rng(3).permutation(second.n_documents)  # the order of rows does not hide it
    renamed = rf.Dataset(second.features[order], second.labels["grades"][order], second.qid[order] + 100)
    found = shared_queries(first, renamed)
    assert found.renumbered == (("3", "103"),)
    assert kinds(found) == {"query_in_two_splits_renumbered"}


def test_shared_ids_with_other_documents() -> None:
    found = shared_queries(make(seed=0, queries=3), make(seed=1, queries=2))
    assert found.other_documents == ("1", "2")
    assert kinds(found) == {"query_id_in_two_splits"}


def test_shared_queries_of_files_that_end_at_different_features() -> None:
    X = np.array(make(queries=2).features)
    X[:, 3] = 0.0
    long, short = make(queries=2, X=X), make(queries=2, X=X[:, :3])
    assert shared_queries(long, short).same_id == ("1", "2")


def test_what_is_known_of_mq2008() -> None:
    beside = Path(__file__).parents[3] / "shared" / "data"
    folder = Path(os.environ.get("RANKFORCE_DATA", beside)) / "mq2008" / "Fold1"
    if not folder.is_dir():
        pytest.skip(f"needs MQ2008 in {folder}; RANKFORCE_DATA says where the data is")
    train, test = rf.read(folder / "train.txt"), rf.read(folder / "test.txt")
    report = rf.inspect(train)
    assert (report.documents, report.queries, report.features) == (9630, 471, 46)
    assert report.never_seen_features == ("6", "7", "8", "9", "10", "43")
    assert report.labels[0].blank_queries == 132
    assert report.answering_features == ()
    assert shared_queries(train, test).findings == ()


def test_labels_whose_gain_is_infinite_are_called_so() -> None:
    labels = np.tile([0.0, 2000.0], 10)
    data = rf.Dataset(np.arange(20.0)[:, None], labels, qid=np.repeat(np.arange(10), 2))
    [found] = [one for one in rf.inspect(data).findings if one.kind == "large_labels"]
    assert "is infinite: measures refuse it. Use gain=linear" in found.remedy
    with pytest.raises(rf.MeasureError, match="is infinite"):
        rf.evaluate("1", data, "NDCG")
    rf.evaluate("1", data, "NDCG(gain=linear)")


def test_a_feature_that_points_the_other_way_is_called_so() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 400).astype(float)
    X = np.column_stack([-labels + rng.normal(size=400), labels + rng.normal(size=400)])
    report = rf.inspect(rf.Dataset(X, labels, qid=np.repeat(np.arange(20), 20), feature_names=["down", "up"]))
    shares = {one.feature: one.accuracy for one in report.strongest_features}
    text = str(report)
    assert f"down: {shares['down']:.0%} right (reversed {1 - shares['down']:.0%}) on" in text
    assert f"up: {shares['up']:.0%} right on" in text


def test_notebooks_show_tables_and_escape_names() -> None:
    data = rf.Dataset([[1.0], [2.0]], [1.0, np.nan], qid=[1, 1], feature_names=["<b>"])
    shown = data._repr_html_()
    assert "Dataset(2 documents, 1 query, 1 feature)" in shown
    assert "features: &lt;b&gt;" in shown
    assert '<td style="text-align:left">grades</td><td style="text-align:right">1</td>' in shown
    report = rf.inspect(data)
    shown = report._repr_html_()
    assert all(html.escape(one.what) in shown for one in report.findings)
    assert "<b>" not in shown
    nameless = rf.Dataset(np.empty((2, 0)), None, qid=[1, 1])
    assert "features: none" in nameless._repr_html_()
