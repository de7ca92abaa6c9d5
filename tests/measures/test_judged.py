"""A measure applied to the labels of a data set."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf
from rankforce.measures.judged import JudgedMeasure

nan = np.nan


def test_unlabelled_documents_are_left_out_for_measures_that_say_so():
    data = rf.Dataset(np.zeros((5, 1)), [1, nan, 0, nan, nan], group=[3, 2])
    judged = JudgedMeasure(data, rf.BPref())
    assert judged.kept.tolist() == [0, 2]
    assert judged.starts.tolist() == [0, 2, 2]
    assert judged.of_kept(np.arange(5)).tolist() == [0, 2]
    assert judged.normalisers.tolist() == [1.0, 0.0]


def test_the_ideal_leaves_unlabelled_documents_out_and_the_ranking_keeps_them():
    data = rf.Dataset(np.zeros((3, 1)), [nan, 1, 0], group=[3])
    judged = JudgedMeasure(data, rf.MRR())
    assert judged.kept is None
    assert judged.values(np.arange(3, dtype=np.int32)).tolist() == [0.5]


def test_rows_of_a_query_need_not_be_adjacent():
    data = rf.Dataset(np.zeros((4, 1)), [1, 0, 0, 1], qid=["a", "b", "a", "b"])
    judged = JudgedMeasure(data, rf.WTA())
    assert judged.labels.tolist() == [1, 0, 0, 1]
    assert judged.values(np.arange(4, dtype=np.int32)).tolist() == [1.0, 0.0]


def test_kernels_see_one_kind_of_array_whether_documents_are_left_out_or_not():
    data = rf.Dataset(np.zeros((3, 1)), [nan, 1, 0], group=[3])
    for measure in (rf.NDCG(), rf.NDCG(judged_only=True)):
        judged = JudgedMeasure(data, measure)
        assert not judged.starts.flags.writeable
        assert judged.worth.flags.writeable
        assert judged.worth.flags.c_contiguous


def test_gains_that_add_up_beyond_all_numbers_are_refused():
    data = rf.Dataset(np.arange(4.0)[:, None], [1023.0, 1023.0, 1023.0, 0.0], qid=[1] * 4)
    with pytest.raises(rf.MeasureError, match="the gains of query 1 add up beyond all numbers"):
        rf.evaluate("1", data, "NDCG")
    with pytest.raises(rf.MeasureError, match="the gains of query 1 add up beyond all numbers"):
        rf.LambdaMART(progress=False).fit(data)
    assert rf.evaluate("1", data, "NDCG(gain=linear)").mean["NDCG(gain=linear)"] < 1.0
