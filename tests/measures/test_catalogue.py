"""The language that measures are written in, and what it answers to mistakes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import rankforce as rf
from rankforce.measures.catalogue import measure_classes

DESIGNED = (
    "NDCG DCG CNDCG MAP MRR ERR WTA Precision Recall PairwiseAccuracy BPref KendallTau Success RBP RPrecision Judged"
)


def test_all_designed_measures_are_there():
    assert set(measure_classes()) >= set(DESIGNED.split())


@pytest.mark.parametrize(
    ("written", "measure"),
    [
        ("NDCG@10", rf.NDCG(10)),
        ("nDCG@10", rf.NDCG(10)),
        (" NDCG@10 ", rf.NDCG(10)),
        ("AP", rf.MAP()),
        ("RR@10", rf.MRR(10)),
        ("P@5", rf.Precision(5)),
        ("R@5", rf.Recall(5)),
        ("P", rf.Precision(10)),
        ("ERR@10(max_grade=4)", rf.ERR(10)),
        ("ERR@10(max_grade=5)", rf.ERR(10, max_grade=5)),
        ("NDCG@10:clicks", rf.NDCG(10, label="clicks")),
        ("CNDCG@3:clicks", rf.CNDCG("clicks", 3)),
        ("CNDCG:grades", rf.CNDCG("grades")),
        ("NDCG@10(gain=0/3/7/15/31)", rf.NDCG(10, gain=[0, 3, 7, 15, 31])),
        ("NDCG(gain=5/)", rf.NDCG(gain=[5])),
        ("MAP(relevant=2,divisor=cutoff)", rf.MAP(relevant=2, divisor="cutoff")),
        ("MAP(relevant=0.5)", rf.MAP(relevant=0.5)),
        ("NDCG(judged_only=true)", rf.NDCG(judged_only=True)),
        ("KendallTau(variant=b):votes", rf.KendallTau(variant="b", label="votes")),
    ],
)
def test_reading(written, measure):
    assert rf.measure(written) == measure
    assert rf.measure(str(measure)) == measure
    assert pickle.loads(pickle.dumps(measure)) == measure


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("NDGC@10", "did you mean NDCG"),
        ("NDCG@ten", "whole number from 1 to 2147483647, not 'ten'"),
        ("NDCG@0", "at least 1"),
        ("NDCG@-3", "whole number"),
        ("NDCG@²", "whole number"),
        ("NDCG@99999999999999999999", "whole number from 1 to 2147483647"),
        ("NDCG@" + "9" * 5000, "whole number from 1 to 2147483647"),
        ("P@2147483648", "at most 2147483647"),
        ("NDCG@10(", "cannot read the measure"),
        ("", "cannot read the measure"),
        ("WTA@3", "WTA has no cut-off"),
        ("NDCG(gain=quadratic)", "unknown gain 'quadratic'"),
        ("NDCG(discount=ln)", "discount must be one of 'log2', 'letor', 'reciprocal'"),
        ("MAP(divisor=all)", "divisor must be one of"),
        ("MAP(relevant=high)", "relevant must be a finite number"),
        ("RBP(persistence=1)", "between 0 and 1"),
        ("RBP(persistence=high)", "persistence must be a number"),
        ("CNDCG@3", "needs a label source"),
        ("CNDCG(gain=linear):clicks", "a gain of its own"),
        ("CNDCG(max_grade=0):clicks", "max_grade must be positive"),
        ("Judged(judged_only=true)", "counts unlabelled"),
        ("NDCG(judged_only=perhaps)", "judged_only must be true, false or None"),
        ("NDCG(cutoff=3)", "no parameter 'cutoff'"),
        ("NDCG(normalised=0)", "no parameter 'normalised'"),
    ],
)
def test_mistakes_are_explained(written, message):
    with pytest.raises(rf.MeasureError, match=message):
        rf.measure(written)


def test_numbers_that_kernels_cannot_hold_are_refused():
    with pytest.raises(rf.SettingsError, match="64 bits"):
        rf.NDCG(10**30)
    with pytest.raises(rf.MeasureError, match=r"at most 2147483647.*leave it out"):
        rf.NDCG(2**31)
    with pytest.raises(rf.MeasureError, match="finite number"):
        rf.MAP(relevant=10**400)


def test_what_is_no_measure():
    assert rf.measure(rf.NDCG) == rf.NDCG()
    with pytest.raises(rf.MeasureError, match="written like 'NDCG@10'"):
        rf.measure(10)


def test_equality_includes_the_class_and_hides_spelling():
    assert rf.NDCG(10) != rf.DCG(10)
    assert rf.NDCG(10) == rf.NDCG(np.int64(10)) == rf.NDCG(10.0)
    assert rf.MAP(relevant=2) == rf.MAP(relevant=2.0)
    assert len({rf.NDCG(10), rf.measure("nDCG@10"), rf.DCG(10)}) == 2


def test_measures_are_frozen():
    with pytest.raises(AttributeError):
        rf.NDCG(10).cutoff = 5


def test_labels_come_from_the_named_source():
    labels = {"grades": np.array([1.0]), "clicks": np.array([0.5])}
    assert rf.measure("NDCG:clicks").labels_of(labels)[0] == 0.5
    with pytest.raises(rf.MeasureError, match=r"'votes', which the data does not have \(it has: 'grades', 'clicks'\)"):
        rf.measure("NDCG:votes").labels_of(labels)


@pytest.mark.parametrize("label", ["", "a:b", "a b", "a@3", None])
def test_names_that_no_label_source_can_have(label):
    with pytest.raises(rf.MeasureError, match="label source"):
        rf.NDCG(label=label)


def test_unlabelled_documents_are_left_out_where_the_definition_or_the_source_says_so():
    assert not rf.NDCG().leaves_out_unlabelled
    assert rf.NDCG(label="clicks").leaves_out_unlabelled
    assert not rf.NDCG(label="clicks", judged_only=False).leaves_out_unlabelled
    assert rf.BPref(judged_only=False).leaves_out_unlabelled
    assert not rf.Judged(label="clicks").leaves_out_unlabelled


@pytest.mark.parametrize(
    ("gain", "labels", "message"),
    [
        ("exponential", [2000.0], "gain of label 2000 is infinite"),
        ((0.0, 1.0), [2.0], "label 2 has no entry in the gain table"),
        ((0.0, 1.0), [0.5], "label 0.5 has no entry"),
        ((0.0, -1.0), [1.0], "finite and not negative"),
        (lambda labels: -labels, [1.0], "finite and not negative"),
        (lambda labels: 1.0, [1.0, 2.0], "one gain per label"),
    ],
)
def test_gains_that_do_not_fit(gain, labels, message):
    with pytest.raises(rf.MeasureError, match=message):
        rf.NDCG(gain=gain).worth(np.array(labels))


@pytest.mark.parametrize("gain", [3, [], ["a"], [np.inf], None])
def test_impossible_gains(gain):
    with pytest.raises(rf.MeasureError, match="gain table"):
        rf.NDCG(gain=gain)


def test_clicks_must_be_rates():
    with pytest.raises(rf.MeasureError, match="between 0 and 1"):
        rf.CNDCG("clicks").worth(np.array([0.5, 3.0]))
