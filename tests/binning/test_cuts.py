"""Cut points from sorted columns against a slow twin; columns copied in parts against all at once."""

from __future__ import annotations

import numpy as np
import pytest
from tests.binning.reference_cuts import slow_cuts

from rankforce.binning import cuts as cuts_module
from rankforce.binning.cuts import SMALL, _columns_at_once, find_cuts
from rankforce.compiling import jit
from rankforce.kernels.binning import cut_points
from rankforce.threads import using_threads

SIZE = 4000
SHAPES = {
    "all different": lambda rng: rng.normal(size=SIZE),
    "many, repeated": lambda rng: rng.integers(0, 700, SIZE),
    "one heavy value below": lambda rng: np.where(rng.random(SIZE) < 0.7, -9.0, rng.normal(size=SIZE)),
    "one heavy value above": lambda rng: np.where(rng.random(SIZE) < 0.7, 9.0, rng.normal(size=SIZE)),
    "heavy values among light ones": lambda rng: np.where(
        rng.random(SIZE) < 0.5, rng.integers(-4, 5, SIZE), rng.normal(size=SIZE) * 3
    ),
    "lengths of all kinds": lambda rng: np.repeat(rng.normal(size=SIZE), rng.integers(1, 120, SIZE))[:SIZE],
    "power law": lambda rng: np.minimum(rng.zipf(1.4, SIZE), 10**6),
    "rounded": lambda rng: rng.exponential(size=SIZE).round(2),
    "around zero": lambda rng: rng.integers(-300, 300, SIZE) * np.where(rng.random(SIZE) < 0.5, 1e-45, -1e-45),
    "nearly all missing": lambda rng: np.where(rng.random(SIZE) < 0.9, np.nan, rng.normal(size=SIZE)),
}


def cuts_by_kernel(column, most):
    cuts = np.empty(most, dtype=np.float32)
    n_bins, present = cut_points(np.sort(column), most, cuts)
    assert present == np.count_nonzero(~np.isnan(column))
    return cuts[: n_bins - 1].tolist()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("most", [2, 3, 16, 100, 254, 255])
def test_runs_that_are_passed_over_end_no_bin(shape, most):
    column = SHAPES[shape](np.random.default_rng(most)).astype(np.float32)
    assert cuts_by_kernel(column, most) == [float(cut) for cut in slow_cuts(column, most)[:-1]]


@pytest.mark.parametrize("most", [2, 3, 4, 7])
def test_every_way_to_fill_a_few_runs(most):
    rng = np.random.default_rng(0)
    for _ in range(200):
        lengths = rng.choice([1, 1, 2, 3, 5, 8, 20], size=rng.integers(1, 12))
        column = np.repeat(np.arange(len(lengths)), lengths).astype(np.float32)
        assert cuts_by_kernel(column, most) == [float(cut) for cut in slow_cuts(column, most)[:-1]], lengths


def test_a_column_without_values_has_no_bins():
    assert cut_points(np.full(5, np.nan, dtype=np.float32), 255, np.empty(255, dtype=np.float32)) == (0, 0)
    assert cut_points(np.empty(0, dtype=np.float32), 255, np.empty(255, dtype=np.float32)) == (0, 0)


def matrix(n_rows, n_features):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_rows, n_features)).round(2).astype(np.float32)
    X[rng.random(X.shape) < 0.03] = np.nan
    return X


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_parts_of_the_columns_are_cut_as_all_of_them(monkeypatch, sampled, threads):
    X = matrix(2500, 21)
    rows = np.flatnonzero(np.random.default_rng(2).random(len(X)) < 0.6) if sampled else None
    monkeypatch.setattr(cuts_module, "SMALL", 0)
    monkeypatch.setattr(cuts_module, "ROWS_IN_A_COPY", 300)
    with using_threads(threads):
        assert _columns_at_once(2500, 21) < 21
        n_bins, present, thresholds = find_cuts(X, rows, 40)
    for j in range(21):
        column = X[:, j] if rows is None else X[rows, j]
        assert present[j] == np.count_nonzero(~np.isnan(column))
        assert thresholds[j, : n_bins[j] - 1].tolist() == [float(cut) for cut in slow_cuts(column, 40)[:-1]]


@pytest.mark.parametrize("threads", [1, 2, 8, 64])
@pytest.mark.parametrize("n_features", [1, 5, 46, 136, 860])
def test_copies_stay_small(threads, n_features):
    with using_threads(threads):
        at_once = _columns_at_once(480_000, n_features)
    assert at_once >= 1
    assert at_once <= max(4 * threads, n_features // 4) or at_once * 480_000 * 4 <= SMALL


def test_a_matrix_is_not_written_to():
    X = matrix(300, 4)
    before = X.copy()
    X.setflags(write=False)
    find_cuts(X, None, 20)
    np.testing.assert_array_equal(X, before)


@pytest.mark.skipif(jit.PLAIN, reason="nothing is compiled")
def test_one_kind_of_column_is_compiled_for():
    for rows in (None, np.arange(0, 200, 3)):
        find_cuts(matrix(200, 3), rows, 255)
    assert len(cut_points.own.signatures) == 1
