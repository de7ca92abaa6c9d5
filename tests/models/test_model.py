from __future__ import annotations

import time

import numpy as np
import pytest
from tests.models.random_trees import random_ensemble, random_features

from rankforce.data.dataset import Dataset
from rankforce.errors import DataError, SettingsError
from rankforce.models.tree_ensemble import TreeEnsemble
from rankforce.trees.tree import Tree


def echo(names: list[str], feature: str) -> TreeEnsemble:
    """A model whose score is the value of one feature."""
    return TreeEnsemble.from_trees([], names, base_model=feature)


def test_columns_of_frames_are_matched_by_name() -> None:
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    columns = {"query": ["x", "y"], "b": [3.0, 4.0], "title": ["t", "u"], "a": [1.0, 2.0]}
    model = echo(["a", "b"], "a")
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        assert model.predict(frame).tolist() == [1.0, 2.0]
    with pytest.raises(DataError, match=r"lacks a feature of the model: 'c'"):
        echo(["a", "c"], "a").predict(pd.DataFrame(columns))


def test_features_of_data_sets_are_matched_by_name() -> None:
    data = Dataset([[3.0, 1.0], [4.0, 2.0]], qid=[1, 1], feature_names=["b", "a"])
    assert echo(["a", "b"], "a").predict(data).tolist() == [1.0, 2.0]
    assert echo(["a"], "a").predict(data).tolist() == [1.0, 2.0]
    with pytest.raises(DataError, match="lacks 2 features"):
        echo(["a", "c", "d"], "a").predict(data)


def test_numbered_features_are_matched_by_position() -> None:
    pd = pytest.importorskip("pandas")
    numbered = Dataset([[3.0, 1.0]], qid=[1])
    assert echo(["a", "b"], "a").predict(numbered).tolist() == [3.0]
    named = Dataset([[3.0, 1.0]], qid=[1], feature_names=["x", "y"])
    assert echo(["1", "2"], "2").predict(named).tolist() == [1.0]
    assert echo(["1", "2"], "2").predict(pd.DataFrame({"2": [5.0], "1": [6.0]})).tolist() == [5.0]
    with pytest.raises(DataError, match="3 features, the model was trained on 2"):
        echo(["1", "2"], "2").predict(Dataset([[3.0, 1.0, 2.0]], qid=[1]))


def test_numbers_from_0_are_not_taken_for_numbers_from_1() -> None:
    """pandas names columns 0, 1, 2, ...; a model of an array has features 1, 2, 3: names would be off by one."""
    pd = pytest.importorskip("pandas")
    model = echo(["1", "2"], "1")
    matrix = np.array([[10.0, 20.0, 30.0], [11.0, 21.0, 31.0]])
    assert model.predict(pd.DataFrame(matrix[:, :2])).tolist() == [10.0, 11.0]  # by position, as a plain matrix
    wide = pd.DataFrame(matrix)
    for frame in (wide, wide.assign(name=[1.0, 2.0])):
        with pytest.raises(DataError, match=r"numbers its features from 0 .* the model are numbered from 1"):
            model.predict(frame)
        with pytest.raises(DataError, match="from 0"):
            model.predict(Dataset(frame, qid=[1, 1]))
    assert echo(["0", "1"], "1").predict(wide).tolist() == [20.0, 21.0]  # both sides count from 0


def test_impossible_matrices() -> None:
    model = random_ensemble(1, [3])
    with pytest.raises(DataError, match="X has 6 features, the model was trained on 7"):
        model.predict(np.zeros((2, 6)))
    with pytest.raises(DataError, match="two dimensions"):
        model.predict(np.zeros(7))
    with pytest.raises(DataError, match="infinite"):
        model.predict(np.full((1, 7), np.inf))
    with pytest.raises(DataError, match="numbers"):
        model.predict([["a"] * 7])


def test_rank_puts_the_best_documents_of_each_query_first() -> None:
    model = echo(["a"], "a")
    data = Dataset(
        [[1.0], [5.0], [3.0], [3.0], [2.0]],
        qid=["q", "p", "q", "q", "p"],
        feature_names=["a"],
        document_ids=["d0", "d1", "d2", "d3", "d4"],
    )
    ranking = model.rank(data, 2)
    assert ranking.qid.tolist() == ["q", "q", "p", "p"]
    assert ranking.rank.tolist() == [1, 2, 1, 2]
    assert ranking.row.tolist() == [2, 3, 1, 4]  # equal scores in the order of the rows
    assert ranking.document_id is not None
    assert ranking.document_id.tolist() == ["d2", "d3", "d1", "d4"]
    assert ranking.score.tolist() == [3.0, 3.0, 5.0, 2.0]
    assert len(model.rank(data)) == 5
    assert "d2" in str(ranking)
    frame = ranking.to_pandas()
    assert list(frame.columns) == ["qid", "rank", "row", "document_id", "score"]


def test_a_printed_ranking_is_aligned_whatever_its_ids() -> None:
    ids = ["d", "https://example.org/a/long/name"]
    data = Dataset([[1.0], [5.0]], qid=["a query of some length"] * 2, feature_names=["a"], document_ids=ids)
    lines = str(echo(["a"], "a").rank(data)).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[0].split() == ["qid", "rank", "document", "score"]
    assert lines[1].split()[-3:] == ["1", ids[1], "5"]
    ends = [line.index(word) + len(word) for line, word in zip(lines, ("document", ids[1], " d "), strict=True)]
    assert ends[0] == ends[1] == ends[2] - 1
    assert str(echo(["a"], "a").rank(np.zeros((1, 1)))).splitlines()[0].split() == ["qid", "rank", "row", "score"]


def test_rank_takes_a_matrix_as_one_query() -> None:
    ranking = echo(["a"], "a").rank(np.arange(30.0)[:, None])
    assert ranking.row.tolist() == list(range(29, -1, -1))
    assert ranking.qid.tolist() == [1] * 30
    assert "document_id" not in ranking.to_pandas()
    assert str(ranking).endswith("... 10 more")
    for wrong in (0, 1.5, True):
        with pytest.raises(SettingsError, match="k must be"):
            echo(["a"], "a").rank(np.zeros((1, 1)), wrong)


def test_two_features_of_one_name_are_refused() -> None:
    with pytest.raises(DataError, match="'a'"):
        echo(["a", "a"], "a")


def test_scores_do_not_change_the_input() -> None:
    matrix = random_features(1, 100)
    before = matrix.copy()
    random_ensemble(2, [31] * 5).predict(matrix)
    np.testing.assert_array_equal(matrix, before)
    assert matrix.flags.writeable


def test_a_tree_knows_its_leaves() -> None:
    assert all(isinstance(tree, Tree) and tree.n_leaves == 4 for tree in random_ensemble(1, [4, 4]).trees)


def test_many_features_are_matched_in_a_moment() -> None:
    names = [f"feature {number}" for number in range(30_000)]
    base = echo(names[::-1], names[7])
    begun = time.process_time()
    model = TreeEnsemble.from_trees([], names, base_model=base)
    part = model.part_for(base, np.arange(30_000, dtype=np.float32)[None, :])
    data = Dataset(np.zeros((1, 30_000), dtype=np.float32), qid=[1], feature_names=names)
    assert data.take_features(names[::-1]).feature_names == tuple(names[::-1])
    with pytest.raises(DataError, match="two features of the model are named 'feature 29999'"):
        echo([*names, names[-1]], names[7])
    assert time.process_time() - begun < 10.0  # a look through all names for each of them took half a minute
    assert part[0, :2].tolist() == [29_999.0, 29_998.0]
