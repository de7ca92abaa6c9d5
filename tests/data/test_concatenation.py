"""Several data sets as one: what is kept, what is matched, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf


def made(ids, features=2, *, offset=0.0, **parts):
    n = len(ids)
    values = np.arange(n * features, dtype=np.float32).reshape(n, features) + offset
    return rf.Dataset(values, np.arange(n) % 3, ids, **parts)


def test_parts_of_a_split_are_the_whole_again():
    whole = rf.make_artificial(queries=12, documents=(2, 5), features=4, seed=1, clicks=True)
    whole = whole.replace(
        weights=np.arange(whole.n_documents) + 1.0,
        query_weights=np.arange(whole.n_queries) + 0.5,
        document_ids=[f"d{row}" for row in range(whole.n_documents)],
    )
    joined = rf.Dataset.concat(whole.split(0.5, 0.3, 0.2, seed=3))
    assert joined.fingerprint == whole.fingerprint  # whatever the order of the queries
    assert joined.feature_names == whole.feature_names
    by_name = dict(zip(whole.document_ids.tolist(), whole.features[:, 0].tolist(), strict=True))
    assert [by_name[name] for name in joined.document_ids] == joined.features[:, 0].tolist()


def test_one_set_is_itself():
    data = made([1, 2, 1], weights=[1, 2, 3])
    assert rf.Dataset.concat([data]).fingerprint == data.fingerprint


def test_features_are_matched_by_name():
    a = made([1, 1], feature_names=["x", "y"])
    b = made([2, 2], feature_names=["y", "x"], offset=10)
    joined = rf.Dataset.concat([a, b])
    assert joined.feature_names == ("x", "y")
    assert joined.features.tolist() == [[0, 1], [2, 3], [11, 10], [13, 12]]
    numbered = made([3])
    assert rf.Dataset.concat([a, numbered]).features.tolist() == [[0, 1], [2, 3], [0, 1]]
    assert rf.Dataset.concat([numbered, a]).feature_names == ("x", "y")


def test_features_that_not_all_have():
    a, b = made([1], feature_names=["x", "y"]), made([2], feature_names=["z", "x"])
    with pytest.raises(rf.DataError, match=r"data set 2 has no feature 'y', another one has \(and 1 more .*union"):
        rf.Dataset.concat([a, b])
    union = rf.Dataset.concat([a, b], features="union")
    assert union.feature_names == ("x", "y", "z")
    assert np.array_equal(union.features, [[0, 1, np.nan], [1, np.nan, 0]], equal_nan=True)
    shared = rf.Dataset.concat([a, b], features="shared")
    assert shared.feature_names == ("x",)
    assert shared.features.tolist() == [[0], [1]]
    wider = rf.Dataset.concat([made([1], 2), made([2], 3)], features="union")
    assert wider.feature_names == ("1", "2", "3")
    assert np.isnan(wider.features[0, 2])


def test_labels_and_weights_where_one_has_none():
    a = made([1, 1], weights=[2, 3], labels={"clicks": [0.5, 0.25]})
    b = made([2, 3], query_weights=[4, 5])
    joined = rf.Dataset.concat([a, b])
    assert np.array_equal(joined.label("clicks"), [0.5, 0.25, np.nan, np.nan], equal_nan=True)
    assert joined.weights.tolist() == [2, 3, 1, 1]
    assert joined.query_weights.tolist() == [1, 4, 5]
    unlabelled = rf.Dataset(np.zeros((1, 2)), qid=[9])
    assert np.isnan(rf.Dataset.concat([a, unlabelled]).label()[2])


def test_a_query_of_two_sets():
    a, b = made([7, 8]), made([8, 7, 9], query_weights=[1, 1, 3])
    with pytest.raises(rf.DataError, match="query 8 is in data sets 1 and 2, and 1 more are in two"):
        rf.Dataset.concat([a, b])
    merged = rf.Dataset.concat([a, b], same_query="merge")
    assert merged.query_ids.tolist() == [7, 8, 9]
    assert merged.qid.tolist() == [7, 8, 8, 7, 9]
    assert merged.query_weights.tolist() == [1, 1, 3]
    apart = rf.Dataset.concat([a, b], same_query="apart")
    assert apart.qid.tolist() == ["7", "8", "8:2", "7:2", "9"]
    hostile = rf.Dataset.concat([made(["7", "7:2"]), made(["7"])], same_query="apart")
    assert hostile.qid.tolist() == ["7", "7:2", "7:2'"]
    with pytest.raises(rf.DataError, match="query 8 has different weights"):
        rf.Dataset.concat([a, made([8], query_weights=[2])], same_query="merge")


def test_ids_of_two_kinds_are_text():
    joined = rf.Dataset.concat([made([1, 2], document_ids=[5, 6]), made(["a"], document_ids=["x"])])
    assert joined.query_ids.tolist() == ["1", "2", "a"]
    assert joined.document_ids.tolist() == ["5", "6", "x"]
    with pytest.raises(rf.DataError, match="query '1' is in data sets 1 and 2"):
        rf.Dataset.concat([made([1]), made(["1"])])
    with pytest.raises(rf.DataError, match="document ids"):
        rf.Dataset.concat([made([1], document_ids=[5]), made([2])])


def test_categories_are_united_and_recoded():
    def coloured(ids, codes, colours):
        features = np.column_stack([np.arange(len(ids)), codes])
        return rf.Dataset(features, qid=ids, feature_names=["size", "colour"], categories={"colour": colours})

    a = coloured([1, 1, 1], [0, 1, -1], ["red", "blue"])
    b = coloured([2, 2, 2, 2], [0, 1, np.nan, -1], ["green", "red"])
    joined = rf.Dataset.concat([a, b])
    assert joined.categories == {"colour": ("red", "blue", "green")}
    assert np.array_equal(joined.features[:, 1], [0, 1, -1, 2, 0, np.nan, -1], equal_nan=True)
    numbers = rf.Dataset([[1.0, 2.0]], qid=[3], feature_names=["size", "colour"])
    with pytest.raises(rf.DataError, match="'colour' is categories in one data set and numbers in another"):
        rf.Dataset.concat([a, numbers])
    without = rf.Dataset([[1.0]], qid=[3], feature_names=["size"])
    assert rf.Dataset.concat([a, without], features="union").categories == {"colour": ("red", "blue")}


@pytest.mark.parametrize("numbered_first", [False, True])
def test_categories_are_matched_by_place_as_features_are(numbered_first):
    named = rf.Dataset([[0.0], [1.0]], qid=[1, 1], feature_names=["brand"], categories={"brand": ["a", "b"]})
    numbered = rf.Dataset([[0.0], [1.0]], qid=[2, 2], categories={"1": ["b", "x"]})
    joined = rf.Dataset.concat([numbered, named] if numbered_first else [named, numbered])
    assert joined.feature_names == ("brand",)
    brands = [joined.categories["brand"][int(code)] for code in joined.features[:, 0]]
    assert brands == (["b", "x", "a", "b"] if numbered_first else ["a", "b", "b", "x"])
    numbers = rf.Dataset([[0.0], [1.0]], qid=[3, 3])
    with pytest.raises(rf.DataError, match="'brand' is categories in one data set and numbers in another"):
        rf.Dataset.concat([numbers, named] if numbered_first else [named, numbers])


def test_numbered_features_keep_their_values_beside_sets_of_more_features():
    numbered = made([2, 2], offset=10)
    joined = rf.Dataset.concat(
        [made([1, 1], feature_names=["x", "y"]), numbered, made([3], 3, feature_names=["x", "y", "z"])],
        features="union",
    )
    assert joined.feature_names == ("x", "y", "z")
    assert joined.features[2:4, :2].tolist() == numbered.features.tolist()
    assert np.isnan(joined.features[:4, 2]).all()


@pytest.mark.parametrize("parts", [[], "ab", 3, [1], None])
def test_what_is_no_list_of_data_sets_is_refused(parts):
    with pytest.raises(rf.DataError):
        rf.Dataset.concat(parts)
    with pytest.raises(rf.SettingsError, match="same_query"):
        rf.Dataset.concat([made([1])], same_query="both")
