"""Preference lists: what is accepted, what is refused, and consistent posteriors."""

from __future__ import annotations

import gzip
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankforce as rf


@pytest.fixture(scope="module")
def data():
    """Three queries whose rows are interleaved."""
    return rf.Dataset(
        np.arange(14.0).reshape(7, 2),
        [2, 0, 1, 1, 0, np.nan, 0],
        qid=["b", "a", "b", "a", "b", "b", "c"],
        document_ids=["x", "y", "y", "x", "z", "w", "x"],
    )


def test_rows_become_pairs_by_query(data):
    preferences = rf.Preferences(data, [3, 0, 2], [1, 2, 4], [1.0, 0.25, 0.5], [1, 2, 3])
    assert len(preferences) == 3
    listed = preferences.listed
    assert data.query_ids.tolist() == ["b", "a", "c"]
    assert listed.starts.tolist() == [0, 2, 3, 3]
    assert data.rows[listed.better].tolist() == [0, 2, 3]
    assert data.rows[listed.worse].tolist() == [2, 4, 1]
    assert listed.probability.tolist() == [0.25, 0.5, 1.0]
    assert listed.weight.tolist() == [2.0, 3.0, 1.0]


def test_the_order_of_the_list_does_not_matter(data):
    one = rf.Preferences(data, [3, 0, 2, 0], [1, 2, 4, 2], [1.0, 0.25, 0.5, 0.75])
    two = rf.Preferences(data, [0, 0, 3, 2], [2, 2, 1, 4], [0.75, 0.25, 1.0, 0.5])
    for name in ("better", "worse", "probability", "weight"):
        np.testing.assert_array_equal(getattr(one.listed, name), getattr(two.listed, name))
    assert one.fingerprint == two.fingerprint
    assert one.fingerprint != rf.Preferences(data, [3, 0, 2, 0], [1, 2, 4, 2], [1.0, 0.25, 0.5, 0.7]).fingerprint


def test_the_order_of_the_queries_does_not_change_the_fingerprint(data):
    order = [1, 3, 6, 0, 2, 4, 5]
    other = rf.Dataset(data.features[order], qid=data.qid[order])
    moved = {row: place for place, row in enumerate(order)}
    pairs = [(3, 1), (0, 2), (2, 4)]
    one = rf.Preferences(data, *zip(*pairs, strict=True))
    two = rf.Preferences(other, *zip(*((moved[i], moved[j]) for i, j in pairs), strict=True))
    assert one.fingerprint == two.fingerprint


def test_contradictions_circles_and_repetitions_are_fine(data):
    preferences = rf.Preferences(data, [0, 2, 4, 2, 0], [2, 4, 0, 0, 2])
    assert len(preferences) == 5


def test_from_grades(data):
    strict = rf.Preferences.from_grades(data)
    assert set(zip(strict.better.tolist(), strict.worse.tolist(), strict=True)) == {(0, 2), (0, 4), (2, 4), (3, 1)}
    assert (strict.probability == 1).all()
    equal = rf.Dataset(np.ones((3, 1)), [1, 1, 0], group=[3])
    with_ties = rf.Preferences.from_grades(equal, ties=True)
    found = dict(
        zip(zip(with_ties.better.tolist(), with_ties.worse.tolist(), strict=True), with_ties.probability, strict=True)
    )
    assert found == {(0, 1): 0.5, (0, 2): 1.0, (1, 2): 1.0}


def test_from_ids(data):
    preferences = rf.Preferences.from_ids(data, ["b", "a"], ["x", "x"], ["z", "y"], probability=0.9)
    assert preferences.better.tolist() == [0, 3]
    assert preferences.worse.tolist() == [4, 1]
    assert preferences.probability.tolist() == [0.9, 0.9]


@pytest.mark.parametrize(
    ("better", "worse", "more", "message"),
    [
        ([0], [1], {}, "two queries"),
        ([0], [0], {}, "with itself"),
        ([0], [7], {}, "no row 7"),
        ([-1], [0], {}, "no row -1"),
        ([0.5], [2], {}, "whole numbers"),
        ([[0]], [[2]], {}, "whole numbers"),
        ([True], [2], {}, "whole numbers"),
        ([0, 2], [2], {}, "one of each"),
        ([], [], {}, "at least one"),
        ([0], [2], {"probability": 1.5}, "probability 1.5"),
        ([0], [2], {"probability": np.nan}, "probability nan"),
        ([0], [2], {"probability": [1, 1]}, "one entry per pair"),
        ([0], [2], {"weight": -1.0}, "weight -1"),
        ([0], [2], {"weight": np.inf}, "weight inf"),
    ],
)
def test_impossible_pairs(data, better, worse, more, message):
    with pytest.raises(rf.DataError, match=message):
        rf.Preferences(data, better, worse, **more)


def test_impossible_ids(data):
    with pytest.raises(rf.DataError, match=r"preference 1 .*query 'b' has no document 'q'"):
        rf.Preferences.from_ids(data, ["b", "b"], ["x", "q"], ["z", "x"])
    with pytest.raises(rf.DataError, match="no query 'n'"):
        rf.Preferences.from_ids(data, ["n"], ["x"], ["z"])
    with pytest.raises(rf.DataError, match="document ids"):
        rf.Preferences.from_ids(data.replace(document_ids=None), ["b"], ["x"], ["z"])
    with pytest.raises(rf.DataError, match="twice"):
        rf.Preferences.from_ids(data.replace(document_ids=["x"] * 7), ["b"], ["x"], ["x"])
    with pytest.raises(rf.DataError, match="one of each"):
        rf.Preferences.from_ids(data, ["b"], ["x", "y"], ["z"])
    with pytest.raises(rf.DataError, match="Dataset"):
        rf.Preferences(np.ones((3, 1)), [0], [1])


FILE = "query,worse,better,probability,weight\nb,z,x,0.75,2\na,y,x,,\n\n"


def written(tmp_path, text, name="list.csv"):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize(("name", "sign"), [("list.csv", ","), ("list.tsv", "\t"), ("list.csv.gz", ",")])
def test_read(tmp_path, data, name, sign):
    preferences = rf.read_preferences(written(tmp_path, FILE.replace(",", sign), name), data)
    assert preferences.better.tolist() == [0, 3]
    assert preferences.worse.tolist() == [4, 1]
    assert preferences.probability.tolist() == [0.75, 1.0]
    assert preferences.weight.tolist() == [2.0, 1.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("qid,better,worse\n", "no rows"),
        ("qid,better\nb,x\n", "no column 'worse'"),
        ("qid,better,worse,vote\nb,x,z,1\n", "unknown column 'vote'"),
        ("qid,better,worse,worse\nb,x,z,1\n", "twice"),
        ("qid,better,worse\nb,x\n", "line 2.*2 cells"),
        ("qid,better,worse\nb,x,z\nb,x,q\n", "line 3.*no document 'q'"),
        ("qid,better,worse\nb,x,x\n", "line 2.*itself"),
        ("qid,better,worse,probability\nb,x,z,2\n", "line 2.*probability"),
        ("qid,better,worse,probability\nb,x,z,likely\n", "line 2.*probability"),
        ("qid,better,worse,weight\nb,x,z,-1\n", "line 2.*weight"),
        ("qid,better,worse,weight\nb,x,z,inf\n", "line 2.*weight"),
    ],
)
def test_broken_files_are_refused_with_the_place(tmp_path, data, text, message):
    with pytest.raises(rf.FileFormatError, match=message):
        rf.read_preferences(written(tmp_path, text), data)


def test_a_file_that_is_not_there(tmp_path, data):
    with pytest.raises(rf.FileFormatError, match="no such file"):
        rf.read_preferences(tmp_path / "nowhere.csv", data)


inside = st.floats(0.01, 0.99)


@given(st.lists(inside, min_size=2, max_size=6))
def test_posteriors_are_consistent_for_every_three_documents(adjacent):
    P = rf.consistent_posteriors(adjacent)
    np.testing.assert_allclose(np.diagonal(P, 1), adjacent, rtol=1e-12)
    np.testing.assert_allclose(P + P.T, 1.0, rtol=1e-14)
    for i, j, k in itertools.permutations(range(len(P)), 3):
        product = P[i, j] * P[j, k]
        assert P[i, k] == pytest.approx(product / (1 + 2 * product - P[i, j] - P[j, k]), rel=1e-6)


@pytest.mark.parametrize("p", [0.51, 0.6, 0.9])
def test_above_a_half_posteriors_grow_strictly_along_a_chain(p):
    grown = rf.consistent_posteriors([p] * 8)[0, 1:]
    assert (np.diff(grown) > 0).all()
    assert grown[0] == pytest.approx(p)
    assert grown[-1] < 1
    fallen = rf.consistent_posteriors([1 - p] * 8)[0, 1:]
    np.testing.assert_allclose(fallen, 1 - grown, atol=1e-12)
    assert (np.diff(fallen) < 0).all()
    assert fallen[-1] > 0


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0])
def test_a_half_and_certainty_stay(p):
    P = rf.consistent_posteriors([p] * 5)
    assert (P[np.triu_indices(6, 1)] == p).all()
    assert (np.diagonal(P) == 0.5).all()


def test_certainty_swallows_doubt():
    P = rf.consistent_posteriors([0.3, 1.0, 0.2])
    assert P[0, 2] == P[0, 3] == P[1, 3] == 1.0
    assert P[3, 0] == 0.0


def test_certain_opposites_have_no_answer():
    with pytest.raises(rf.DataError, match=r"adjacent\[2\] is 0 and adjacent\[0\] is 1"):
        rf.consistent_posteriors([1.0, 0.5, 0.0])
    for wrong in ([1.2], [np.nan], [[0.5]]):
        with pytest.raises(rf.DataError, match="probability"):
            rf.consistent_posteriors(wrong)


def test_numbers_of_two_queries_are_shown_as_they_were_given():
    data = rf.Dataset(np.zeros((4, 1)), qid=[2, 2, 3, 3])
    with pytest.raises(rf.DataError, match=r"two queries, 2 and 3$"):
        rf.Preferences(data, [0], [2])
