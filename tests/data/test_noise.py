"""Confusion of labels: the matrix comes out of the draws, and out of items judged twice."""

from __future__ import annotations

import numpy as np
import pytest

from rankforce import DataError, Dataset, SettingsError, confuse_labels, confusion_from_repeats, read

MATRIX = np.array([[0.8, 0.2, 0.0], [0.1, 0.6, 0.3], [0.0, 0.0, 1.0]])


def make(grades, qid=None, **parts) -> Dataset:
    grades = np.asarray(grades, dtype=float)
    qid = np.arange(len(grades)) // 20 if qid is None else qid
    return Dataset(np.zeros((len(grades), 0)), grades, qid, **parts)


def test_draws_follow_the_matrix():
    grades = np.tile([0, 1, 2], 20_000)
    new = confuse_labels(make(grades), MATRIX, seed=1).labels["grades"]
    for grade in range(3):
        shares = np.bincount(new[grades == grade].astype(int), minlength=3) / 20_000
        np.testing.assert_allclose(shares, MATRIX[grade], atol=0.015)
        assert (shares[MATRIX[grade] == 0] == 0).all()


def test_identity_changes_nothing_and_unlabelled_stays():
    grades = [0, 1, np.nan, 2]
    np.testing.assert_array_equal(confuse_labels(make(grades), np.eye(3)).labels["grades"], grades)
    assert np.isnan(confuse_labels(make(grades), MATRIX).labels["grades"][2])


def test_only_the_order_within_queries_matters():
    random = np.random.default_rng(0)
    grades, qid = random.integers(0, 3, 200), np.repeat(np.arange(20), 10)
    new = confuse_labels(make(grades, qid), MATRIX, seed=5)
    order = np.argsort(random.random(20)[qid], kind="stable")  # other order of queries
    again = confuse_labels(make(grades[order], qid[order]), MATRIX, seed=5)
    np.testing.assert_array_equal(again.labels["grades"], new.labels["grades"][order])
    interleaved = np.argsort(np.tile(np.arange(10), 20), kind="stable")
    mixed = confuse_labels(make(grades[interleaved], qid[interleaved]), MATRIX, seed=5)
    np.testing.assert_array_equal(mixed.labels["grades"], new.labels["grades"][interleaved])


def test_another_seed_is_a_fresh_draw():
    data = make(np.ones(3000))
    one, other = (confuse_labels(data, MATRIX, seed=seed).labels["grades"] for seed in (1, 2))
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.08


SLIDES = np.array(  # as two judges of five grades differ: 64 % of the labels below stay
    [
        [0.75, 0.17, 0.05, 0.02, 0.01],
        [0.20, 0.60, 0.14, 0.04, 0.02],
        [0.10, 0.22, 0.50, 0.13, 0.05],
        [0.05, 0.10, 0.20, 0.50, 0.15],
        [0.02, 0.05, 0.13, 0.20, 0.60],
    ]
)


def _twice_nested(data, path):
    return confuse_labels(confuse_labels(data, SLIDES), SLIDES)


def _twice_in_one_call(data, path):
    return confuse_labels(data, SLIDES, times=2)


def _twice_through_a_file(data, path):
    confuse_labels(data, SLIDES).write(path)
    confuse_labels(read(path), SLIDES).write(path)
    return read(path)


def _twice_on_numbers_alone(data, path):
    once = confuse_labels(data, SLIDES).label()
    return confuse_labels(make(once, data.qid), SLIDES)


@pytest.mark.parametrize(
    "twice",
    [_twice_nested, _twice_in_one_call, _twice_through_a_file, _twice_on_numbers_alone],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("documents", [1, 30])  # per query
def test_confused_twice_follows_the_square_of_the_matrix(tmp_path, twice, documents):
    grades = np.random.default_rng(0).choice(5, 30_000, p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(float)
    data = make(grades, np.arange(len(grades)) // documents)
    once, again = confuse_labels(data, SLIDES).label(), twice(data, tmp_path / "labels.csv").label()
    for confused, matrix in ((once, SLIDES), (again, SLIDES @ SLIDES)):
        for grade in range(5):
            of_grade = confused[grades == grade].astype(int)
            shares = np.bincount(of_grade, minlength=5) / len(of_grade)
            np.testing.assert_allclose(shares, matrix[grade], atol=4 * np.sqrt(0.25 / len(of_grade)))
        right = (np.diag(matrix) * np.bincount(grades.astype(int)) / len(grades)).sum()
        assert abs((confused == grades).mean() - right) < 0.01


def test_all_ways_to_confuse_twice_are_one(tmp_path):
    data = make(np.arange(200) % 5)
    first, *others = [
        twice(data, tmp_path / "labels.csv").label().tolist()
        for twice in (_twice_nested, _twice_in_one_call, _twice_through_a_file, _twice_on_numbers_alone)
    ]
    assert all(other == first for other in others)
    assert confuse_labels(data, SLIDES, times=3).label().tolist() != first


def test_label_sources_with_equal_labels_are_confused_apart():
    data = make(np.ones(3000), labels={"second": np.ones(3000)})
    noise = [confuse_labels(data, MATRIX, label=name).label(name) for name in ("grades", "second")]
    assert abs(np.corrcoef(*noise)[0, 1]) < 0.08


@pytest.mark.parametrize("times", [0, -1, True, 1.5, "2", None])
def test_impossible_numbers_of_times(times):
    with pytest.raises(SettingsError, match="times must be a whole number of at least 1"):
        confuse_labels(make([0, 1]), MATRIX, times=times)


def test_another_label_source():
    data = make([0, 1], labels={"clicks": [1, 1]})
    new = confuse_labels(data, [[0, 1], [1, 0]], label="clicks")
    assert new.labels["clicks"].tolist() == [0, 0]
    assert new.labels["grades"].tolist() == [0, 1]
    with pytest.raises(DataError, match="no label source 'dwell'"):
        confuse_labels(data, np.eye(2), label="dwell")


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1, 0]], "square"),
        ([], "square"),
        ([[0.5, 0.4], [0, 1]], "row 0 .* sums to 0.9"),
        ([[0.5, 0.2], [0.5, 0.8]], "transpose"),
        ([[1.5, -0.5], [0, 1]], r"entry \[0, 1\]"),
        ([[np.nan, 1], [0, 1]], r"entry \[0, 0\]"),
        ([["a", "b"], ["c", "d"]], "numbers"),
        ([[1.0]], "whole numbers from 0 to 0"),
    ],
)
def test_impossible_matrices(matrix, message):
    with pytest.raises(DataError, match=message):
        confuse_labels(make([0, 1]), matrix)


def test_impossible_labels_and_seeds():
    for grades in ([0.5], [-1], [3]):
        with pytest.raises(DataError, match="whole numbers from 0 to 2"):
            confuse_labels(make(grades), MATRIX)
    with pytest.raises(SettingsError):
        confuse_labels(make([0]), MATRIX, seed=-1)


def test_estimate_by_hand():
    # pairs (0,0), (0,1), (1,1): symmetric counts [[2, 1], [1, 2]]
    np.testing.assert_allclose(confusion_from_repeats([0, 0, 1], [0, 1, 1]), [[2 / 3, 1 / 3], [1 / 3, 2 / 3]])
    np.testing.assert_allclose(confusion_from_repeats([0, np.nan, 1], [1, 0, 0]), [[0, 1], [1, 0]])


def test_the_order_of_the_judges_does_not_matter():
    first, second = np.random.default_rng(3).integers(0, 5, (2, 400))
    np.testing.assert_array_equal(confusion_from_repeats(first, second), confusion_from_repeats(second, first))


def test_a_grade_that_nobody_gave_stays_itself():
    matrix = confusion_from_repeats([0, 2], [2, 0], grades=4)
    np.testing.assert_array_equal(matrix, [[0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]])
    confuse_labels(make([0, 1, 2, 3]), matrix)


def test_estimate_describes_two_exchangeable_judges():
    truth = np.random.default_rng(0).integers(0, 2, 60_000)
    flip = 0.1
    judges = [truth ^ (np.random.default_rng(seed).random(60_000) < flip) for seed in (1, 2)]
    disagreement = 2 * flip * (1 - flip)
    np.testing.assert_allclose(confusion_from_repeats(*judges)[0, 1], disagreement, atol=0.01)


@pytest.mark.parametrize(
    ("first", "second", "grades", "message"),
    [
        ([0], [0, 1], None, "equally long"),
        ([np.nan], [1], None, "judged twice"),
        ([], [], None, "judged twice"),
        ([0.5], [1], None, "whole numbers"),
        ([-1], [1], None, "whole numbers"),
        ([np.inf], [1], None, "0 to 999"),
        ([3], [1], 2, "0 to 1"),
        (["a"], ["b"], None, "numbers"),
    ],
)
def test_impossible_repeats(first, second, grades, message):
    with pytest.raises(DataError, match=message):
        confusion_from_repeats(first, second, grades)


def test_impossible_numbers_of_grades():
    with pytest.raises(DataError, match="grades must be a positive whole number"):
        confusion_from_repeats([1], [1], 0)
