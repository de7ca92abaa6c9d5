"""Real data in five folds: every query is tested once, and labels are no features."""

from __future__ import annotations

import numpy as np
import pytest

from rankforce.reproducing.catalogue import all_experiments
from rankforce.reproducing.experiment import Experiment
from rankforce.reproducing.real_data import REAL, folds_at_hand


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("RANKFORCE_DATA", str(tmp_path))
    return tmp_path


def query_ids(parts):
    return [one.query_ids.tolist() for one in parts]


def assert_folded(folds, queries):
    assert len(folds) == 5
    for fold in folds:
        train, valid, test = map(set, query_ids(fold))
        assert not train & valid
        assert not (train | valid) & test
        assert len(train | valid | test) == queries
    assert sorted(name for fold in folds for name in fold.test.query_ids.tolist()) == sorted(
        name for part in folds[0] for name in part.query_ids.tolist()
    )


def test_clicks_of_the_mslr_sample_become_labels_and_leave_the_features(folder):
    (folder / "mslr-sample").mkdir()
    rng = np.random.default_rng(0)
    values = rng.integers(0, 50, (40, 136))
    lines = [
        f"{row % 5} qid:{row // 4} " + " ".join(f"{place}:{value}" for place, value in enumerate(values[row], 1))
        for row in range(40)
    ]
    (folder / "mslr-sample" / "all.txt").write_text("\n".join(lines) + "\n")
    whole, clicked = (folds_at_hand(name) for name in ("MSLR sample", "MSLR sample, clicks as labels"))
    for folds in (whole, clicked):
        assert_folded(folds, 10)
    assert (whole[0].train.n_features, clicked[0].train.n_features) == (136, 133)
    first = clicked[0].test
    rows = [4 * int(name) + doc for name in first.query_ids.tolist() for doc in range(4)]
    for name, place in (("equal", 134), ("similar", 135)):
        column = values[:, place - 1]
        np.testing.assert_allclose(first.labels[name], np.log1p(column[rows]) / np.log1p(column.max()), rtol=1e-6)


def test_lightgbms_example_is_read_with_the_sizes_beside_it(folder):
    place = folder / "lightgbm-example"
    place.mkdir()
    for part, queries in (("train", 8), ("test", 2)):
        (place / f"rank.{part}").write_text("".join(f"{row % 3} 1:0.5 300:{row}\n" for row in range(2 * queries)))
        (place / f"rank.{part}.query").write_text("2\n" * queries)
    folds = folds_at_hand("LightGBM's example")
    assert_folded(folds, 10)
    test = folds[0].test
    assert test.query_sizes.tolist() == [2, 2]
    assert (test.features[:, 1] == 0.5).all()


def test_experiments_that_name_real_data_know_what_to_do_with_it():
    for one in all_experiments().values():
        assert set(one.real) <= set(REAL)
        assert bool(one.real) == (type(one).run_fold is not Experiment.run_fold)
