"""The data set against slow, obvious counterparts: grouping, frozenness, parts, fingerprints, errors."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import rankforce as rf
from rankforce import DataError, Dataset
from rankforce.data.dataset import tie_breakers

X = np.arange(12, dtype=np.float32).reshape(6, 2)
Y = [0, 1, 2, 0, 1, np.nan]
QID = ["b", "a", "b", "c", "a", "b"]


def full(**changes):
    parts = {
        "y": Y,
        "qid": QID,
        "labels": {"clicks": [0.1, np.nan, 0.3, 0, 0, 1]},
        "weights": [1, 2, 3, 4, 5, 6],
        "query_weights": [10, 20, 30],
        "feature_names": ["bm25", "length"],
        "document_ids": ["d0", "d1", "d2", "d3", "d4", "d5"],
    }
    return Dataset(X, **(parts | changes))


def test_queries_are_in_order_of_first_appearance_and_rows_keep_their_order():
    data = full()
    assert data.query_ids.tolist() == ["b", "a", "c"]
    assert [rows.tolist() for rows in data.each_query()] == [[0, 2, 5], [1, 4], [3]]
    assert data.qid.tolist() == QID
    assert data.row_queries.tolist() == [0, 1, 0, 2, 1, 0]
    assert data.query_sizes.tolist() == [3, 2, 1]
    assert not data.contiguous
    assert (len(data), data.n_documents, data.n_queries, data.n_features) == (6, 6, 3, 2)
    np.testing.assert_array_equal(data.by_query(X)[:3], X[[0, 2, 5]])
    np.testing.assert_array_equal(data.by_row(data.by_query(X)), X)


def test_grouping_equals_a_dictionary():
    random = np.random.default_rng(1)
    for trial in range(30):
        ids = random.integers(-3, 6, size=random.integers(1, 40))
        given = ids if trial % 2 else np.array([f"q{one}" for one in ids])
        groups: dict = {}
        for row, one in enumerate(given.tolist()):
            groups.setdefault(one, []).append(row)
        data = Dataset(np.zeros((len(ids), 1)), ids, given)
        assert data.query_ids.tolist() == list(groups)
        assert [rows.tolist() for rows in data.each_query()] == list(groups.values())


def test_group_sizes_equal_the_qid_they_stand_for():
    by_size = Dataset(X, Y, group=[2, 3, 1])
    by_id = Dataset(X, Y, [1, 1, 2, 2, 2, 3])
    assert by_size.contiguous
    assert by_size.fingerprint == by_id.fingerprint


def test_whole_numbers_keep_their_value_and_type():
    for given in (
        [3, 3, 1, 1, 2, 2],
        np.array([3, 3, 1, 1, 2, 2], dtype=np.uint8),
        [3.0, 3.0, 1.0, 1.0, 2.0, 2.0],
        np.array([3, 3, 1, 1, 2, 2.0], dtype=object),
    ):
        data = Dataset(X, Y, given)
        assert data.query_ids.dtype == np.int64
        assert data.query_ids.tolist() == [3, 1, 2]


def test_whole_numbers_beyond_64_bits_become_text_unchanged():
    large = [2**63, 2**63, 2**63 + 1, 5, 5, 5]
    for given in (np.array(large, dtype=np.uint64), np.array([*large[:2], 2**70, 5, 5, 5], dtype=object)):
        data = Dataset(X, Y, given)
        assert data.query_ids.tolist() == [str(one) for one in dict.fromkeys(given.tolist())]


@pytest.mark.parametrize(
    ("qid", "message"),
    [
        ([1, 1, 2, 2, 3], "one entry per document"),
        ([1, 1, 2, 2, 3, np.nan], "row 5 .* missing"),
        ([1, 1, 2, 2, 3, np.inf], "whole numbers or text"),
        ([1, 1, 2, 2, 3, 2.5], "whole numbers or text"),
        ([1, 1, 2, 2, 3, 1e300], "whole numbers or text"),
        (["a", "a", "b", "b", None, "c"], "row 4 .* missing"),
        (["a", "a", "b", "b", "", "c"], "row 4 .* empty"),
        ([True, True, False, False, True, True], "whole numbers or text"),
        (np.array([True, "a", 1, 1, 1, 1], dtype=object), "whole numbers or text"),
        (np.array(["a", 0.5, "a", "a", "a", "a"], dtype=object), "whole numbers or text"),
        (np.array(["2020-01-01"] * 6, dtype="M8[D]"), "whole numbers or text"),
        (np.array([b"a", b"\xff", b"a", b"a", b"a", b"a"], dtype=object), "UTF-8"),
        (np.array(["a", "a\0", "a", "a", "a", "a"], dtype=object), "NUL"),
        ([[1], [1, 2], [1], [1], [1], [1]], "flat sequence"),
    ],
)
def test_impossible_query_ids(qid, message):
    with pytest.raises(DataError, match=message):
        Dataset(X, Y, qid)


@pytest.mark.parametrize(
    ("group", "message"),
    [
        ([3, 2], "add up to 5"),
        ([6, 0], "positive"),
        ([7, -1], "positive"),
        ([2.5, 3.5], "whole numbers"),
        ([np.nan, 6], "whole numbers"),
        (["6"], "numbers"),
        ([[6]], "whole numbers"),
    ],
)
def test_impossible_groups(group, message):
    with pytest.raises(DataError, match=message):
        Dataset(X, Y, group=group)


def test_either_qid_or_group():
    with pytest.raises(DataError, match="not both"):
        Dataset(X, Y, QID, group=[6])
    with pytest.raises(DataError, match="which query"):
        Dataset(X, Y)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": [1, 2]}, r"one entry per document \(6\)"),
        ({"y": ["a"] * 6}, "must hold numbers"),
        ({"y": [1j] * 6}, "must hold numbers"),
        ({"y": np.array(["2020-01-01"] * 6, dtype="M8[D]")}, "must hold numbers"),
        ({"y": [0, 0, np.inf, 0, 0, 0]}, "row 2 .* infinite"),
        ({"y": np.zeros((6, 1))}, "one entry per document"),
        ({"labels": {"clicks": [1] * 5}}, "label 'clicks'"),
        ({"labels": {"clicks": None}}, "label 'clicks' is None"),
        ({"labels": {"": [1] * 6}}, "named by text"),
        ({"labels": {"grades": [1] * 6}}, "given twice"),
        ({"labels": ["clicks"]}, "labels must map"),
        ({"weights": [1, 1, 1, 1, 1, -1]}, "entry 5 is -1"),
        ({"weights": [1, 1, 1, 1, 1, np.nan]}, "entry 5 is nan"),
        ({"weights": ["1"] * 6}, "must hold numbers"),
        ({"query_weights": [1, 2]}, r"one entry per query \(3\)"),
        ({"query_weights": [1, 2, np.inf]}, "entry 2 is inf"),
        ({"query_weights": ["a", "b", "c"]}, "must hold numbers"),
        ({"query_weights": [1, 2, 1, 3, 2, 7]}, "differ within query .*b"),
        ({"feature_names": ["a"]}, "1 feature names for 2"),
        ({"feature_names": 5}, "one name per feature"),
        ({"feature_names": "ab"}, "one name per feature"),
        ({"feature_names": ["a", "a"]}, "two features are named 'a'"),
        ({"document_ids": ["d"] * 5}, "one entry per document"),
        ({"document_ids": ["d", "d", "d", None, "d", "d"]}, "document_ids of row 3 .* missing"),
    ],
)
def test_impossible_parts(changes, message):
    with pytest.raises(DataError, match=message):
        full(**changes)


def test_a_label_source_may_have_any_name_that_an_argument_has():
    data = Dataset(X, Y, QID, labels={"weights": [1] * 6, "qid": [2] * 6, "y": [3] * 6})
    assert {name: values[0] for name, values in data.labels.items()} == {"grades": 0, "weights": 1, "qid": 2, "y": 3}
    assert data.weights is None


def test_query_weights_per_document_or_per_query():
    assert full(query_weights=[10, 20, 10, 30, 20, 10]).query_weights.tolist() == [10, 20, 30]
    assert full().query_weights.tolist() == [10, 20, 30]


def test_label_names_what_there_is():
    assert full().label("clicks")[0] == 0.1
    with pytest.raises(DataError, match="'grades', 'clicks'"):
        full().label("dwell")


def test_no_features_no_labels():
    data = Dataset(np.empty((6, 0)), qid=QID)
    assert (data.n_features, dict(data.labels)) == (0, {})
    assert data.take_queries([1]).features.shape == (2, 0)
    assert len(data.fingerprint) == 32
    assert "no labels" in repr(data)
    with pytest.raises(DataError, match="at least one document"):
        Dataset(np.empty((0, 3)), qid=[])


def test_default_feature_names_count_from_one():
    assert Dataset(X, Y, QID).feature_names == ("1", "2")


def test_frozen():
    data = full()
    for array in (
        data.features,
        data.labels["clicks"],
        data.weights,
        data.query_weights,
        data.query_ids,
        data.rows,
        data.query_starts,
        data.document_ids,
        data.row_queries,
        data.query_hashes,
        data.qid,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[0]
    with pytest.raises(TypeError):
        data.labels["more"] = data.weights
    for name in ("features", "n_docs"):
        with pytest.raises(dataclasses.FrozenInstanceError, match="replace"):
            setattr(data, name, 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        del data.features


def test_the_users_arrays_stay_the_users():
    y, weights, names = np.zeros(6), np.ones(6), np.array(QID)
    data = Dataset(X, y, names, weights=weights)
    y[0] = weights[0] = 9
    names[0] = "z"
    assert (data.labels["grades"][0], data.weights[0], data.query_ids[0]) == (0, 1, "b")
    assert y.flags.writeable


def test_a_float32_matrix_is_not_copied():
    matrix = np.zeros((6, 2), dtype=np.float32)
    assert np.shares_memory(Dataset(matrix, Y, QID).features, matrix)


def assert_same(one: Dataset, other: Dataset) -> None:
    assert one.feature_names == other.feature_names
    assert list(one.labels) == list(other.labels)
    for name in ("features", "query_ids", "rows", "query_starts", "weights", "query_weights", "document_ids"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None), name
        if a is not None:
            assert a.dtype == b.dtype, name
            np.testing.assert_array_equal(a, b, err_msg=name)
    for name in one.labels:
        np.testing.assert_array_equal(one.labels[name], other.labels[name])


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda data: pickle.loads(pickle.dumps(data))])
def test_copies_are_equal_and_frozen(duplicate):
    data = full()
    assert data.fingerprint
    again = duplicate(data)
    assert_same(data, again)
    assert again.fingerprint == data.fingerprint
    assert not again.features.flags.writeable
    assert not again.labels["clicks"].flags.writeable
    with pytest.raises(dataclasses.FrozenInstanceError):
        again.weights = None


def test_take_queries_by_number_and_by_mask():
    data = full()
    for chosen in ([2, 0], np.array([True, False, True]), np.array([0, 2, 2])):
        part = data.take_queries(chosen)
        assert part.query_ids.tolist() == ["b", "c"]
        assert part.document_ids.tolist() == ["d0", "d2", "d3", "d5"]
        assert part.query_weights.tolist() == [10, 30]
        np.testing.assert_array_equal(part.labels["clicks"], [0.1, 0.3, 0, 1])
        np.testing.assert_array_equal(part.features, X[[0, 2, 3, 5]])
    assert_same(data.take_queries([0, 1, 2]), data)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ([3], "no query number 3"),
        ([-1], "no query number -1"),
        ([], "no query was chosen"),
        ([False] * 3, "no query was chosen"),
        ([True] * 2, "one entry per query"),
        (["b"], "not by their ids"),
    ],
)
def test_impossible_choices_of_queries(chosen, message):
    with pytest.raises(DataError, match=message):
        full().take_queries(chosen)


def test_take_and_drop_features():
    data = full()
    assert data.take_features(["length", 0]).feature_names == ("length", "bm25")
    np.testing.assert_array_equal(data.take_features(["length", 0]).features, X[:, ::-1])
    assert data.take_features(np.array([1])).features.flags.c_contiguous
    assert data.without_features(["bm25"]).feature_names == ("length",)
    assert data.without_features([0, 1]).n_features == 0
    for wrong, message in (
        ("title", "no feature 'title'"),
        (2, "no feature 2"),
        (-1, "no feature -1"),
        (0.5, "number"),
    ):
        with pytest.raises(DataError, match=message):
            data.take_features([wrong])


def test_replace_and_with_label():
    data = full()
    assert_same(data.replace(), data)
    assert data.replace(weights=None).weights is None
    assert list(data.with_label("dwell", [1] * 6).labels) == ["grades", "clicks", "dwell"]
    assert data.with_label("grades", [5] * 6).labels["grades"].tolist() == [5] * 6
    assert data.replace(labels={}).labels == {}
    with pytest.raises(DataError, match="no part 'qid'"):
        data.replace(qid=[1] * 6)
    with pytest.raises(DataError, match="6 documents, the features given are of 5"):
        data.replace(features=X[:5])


def test_fingerprint_ignores_the_order_of_queries_and_nothing_else():
    data = full()
    order = [3, 1, 4, 0, 2, 5]  # other order of queries, same order within each
    shuffled = Dataset(
        X[order],
        np.array(Y)[order],
        np.array(QID)[order],
        labels={"clicks": data.labels["clicks"][order]},
        weights=data.weights[order],
        query_weights=data.query_weights[data.row_queries][order],
        feature_names=data.feature_names,
    )
    assert shuffled.query_ids.tolist() != data.query_ids.tolist()
    assert shuffled.fingerprint == data.fingerprint
    others = [
        data.replace(features=X + 1),
        data.with_label("grades", [1] * 6),
        data.with_label("dwell", [1] * 6),
        data.replace(labels={"clicks": data.labels["grades"], "grades": data.labels["clicks"]}),
        data.replace(weights=None),
        data.replace(query_weights=None),
        data.replace(query_weights=[10, 20, 31]),
        data.replace(feature_names=["bm25", "len"]),
        Dataset(X, Y, ["x", "a", "x", "c", "a", "x"]),
        data.take_queries([0, 1]),
    ]
    assert len({data.fingerprint, *(other.fingerprint for other in others)}) == len(others) + 1


def test_tie_breakers_depend_on_query_and_position_only():
    data = full()
    reordered = data.take_queries([1, 2])
    of_a = tie_breakers(data, 7)[3:5]
    assert tie_breakers(reordered, 7)[:2].tolist() == of_a.tolist()
    assert len(set(tie_breakers(data, 7).tolist())) == 6
    assert tie_breakers(data, 8).tolist() != tie_breakers(data, 7).tolist()


def test_repr():
    assert repr(full()) == "Dataset(6 documents, 3 queries, 2 features, labels: grades, clicks)"


def test_a_frame_that_holds_the_label_too():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "label": [0, 1, 2], "clicked": [1, 1, 0], "qid": [1, 1, 1]})
    named = rf.Dataset(frame, "label")
    assert named.feature_names == ("a", "clicked")  # the column qid says the queries
    for y, column in ((frame["label"], "label"), (np.array([0, 1, 2]), "label"), (frame["clicked"], "clicked")):
        with pytest.raises(rf.DataError, match=f"the column '{column}' of X is the label itself"):
            rf.Dataset(frame, y)
    other = rf.Dataset(frame, [2, 1, 0])  # a feature of that name that is not the label
    assert "label" in other.feature_names


def test_a_frame_is_told_how_to_name_its_label():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0], "Relevance": [0, 1], "qid": [1, 1]})
    assert Dataset(frame).label().tolist() == [0, 1]
    with pytest.raises(rf.RankforceError, match=r"'target'.*rf\.Dataset\(frame, y='target'\)"):
        rf.LambdaMART().fit(frame.rename(columns={"Relevance": "target"}))


def test_sizes_of_queries_that_cannot_be_are_told_apart():
    for group, words in (
        ([3, 0, 3], "entry 1 \\(from 0\\) is 0; leave it out"),
        ([2, 3], "they add up to 5, there are 6 documents"),
        ([1e30], "they add up to 1000000000000000019884624838656, there"),
    ):
        with pytest.raises(DataError, match=words):
            Dataset(np.zeros((6, 1)), np.zeros(6), group=group)


def test_query_ids_around_64_bits_are_kept():
    for ids in ([2**63, 1], [2**63, -1], [2**70, 1], [2**64 - 1, 2**63 - 1]):
        assert Dataset(np.zeros((2, 1)), qid=ids).query_ids.tolist() == [str(one) for one in ids]
    with pytest.raises(DataError, match=r"9.22337e\+18, a float64: beyond 2\^53"):
        Dataset(np.zeros((2, 1)), qid=np.array([2.0**63, 1.0]))


def test_messages_show_query_ids_as_they_were_given():
    with pytest.raises(DataError, match="within query 2: one"):
        Dataset(np.zeros((4, 1)), qid=[2, 2, 3, 3], query_weights=[1, 2, 1, 1])
    with pytest.raises(DataError, match="within query 'b': one"):
        Dataset(np.zeros((4, 1)), qid=["a", "a", "b", "b"], query_weights=[1, 1, 2, 1])
