"""Thresholds against a slow twin, and bins against thresholds."""

from __future__ import annotations

import numpy as np
import pytest
from tests.binning.reference_cuts import slow_cuts

from rankforce.binning import binning as binning_module
from rankforce.binning.binned import HUGE_PAGE, LINE, Binned, row_width, zero_rows
from rankforce.binning.binning import BEYOND, Binning
from rankforce.data.dataset import Dataset
from rankforce.errors import DataError, SettingsError
from rankforce.threads import using_threads


def dataset(X, n_queries=1):
    return Dataset(X, qid=np.arange(len(X)) * n_queries // len(X))


def cuts_of(binning, column):
    return binning.thresholds[binning.cut_starts[column] : binning.cut_starts[column + 1]]


@pytest.mark.parametrize("most", [2, 3, 7, 30, 255])
@pytest.mark.parametrize("seed", range(4))
def test_thresholds_equal_the_slow_twin(most, seed):
    rng = np.random.default_rng(seed)
    n = 200
    X = np.column_stack(
        [
            rng.normal(size=n),
            rng.integers(0, 5, n),
            np.where(rng.random(n) < 0.8, 0, rng.integers(1, 90, n)),
            np.where(rng.random(n) < 0.6, 3, rng.normal(size=n)),
            rng.exponential(size=n).round(1),
        ]
    ).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    made = Binning.of(dataset(X), most)
    assert made.features.tolist() == [0, 1, 2, 3, 4]
    assert made.n_bins.max() <= most
    for column in range(5):
        assert cuts_of(made, column).tolist() == [float(cut) for cut in slow_cuts(X[:, column], most)]


@pytest.mark.parametrize("seed", range(30))
def test_never_too_many_bins(seed):
    rng = np.random.default_rng(seed)
    column = np.repeat(np.arange(40), rng.choice([1, 1, 2, 30, 60], 40)).astype(np.float32)
    for most in (2, 3, 5, 9, 20, 39):
        made = Binning.of(dataset(column[:, None]), most)
        assert 2 <= made.n_bins[0] <= most
        assert cuts_of(made, 0).tolist() == [float(cut) for cut in slow_cuts(column, most)]


def test_quantile_bins_are_even():
    rng = np.random.default_rng(0)
    binned = Binned.of(dataset(rng.normal(size=(5100, 1))), 50)
    sizes = np.bincount(binned.bins(0))
    assert len(sizes) == 50
    assert sizes.min() >= 101
    assert sizes.max() <= 103


def test_a_heavy_value_has_a_bin_of_its_own():
    rng = np.random.default_rng(0)
    column = np.where(rng.random(4000) < 0.9, 0.0, rng.normal(size=4000))
    binned = Binned.of(dataset(column[:, None]), 64)
    zero = binned.bins(0)[column == 0]
    assert len(set(zero.tolist())) == 1
    assert (binned.bins(0)[column != 0] != zero[0]).all()
    assert np.bincount(np.delete(binned.bins(0), np.flatnonzero(column == 0))).max() < 12


@pytest.mark.parametrize("memory", ["fast", "low"])
def test_bins_are_counts_of_thresholds_below(memory):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 12)).astype(np.float32)
    X[:, 3] = 4.0
    X[:, 5] = np.nan
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 7] = rng.integers(0, 3, 300)
    qid = rng.permutation(np.arange(300) // 10)
    data = Dataset(X, qid=qid)
    binned = Binned.of(data, 20, memory)
    assert binned.rows.shape == (300, 12)
    assert binned.packing.n_bytes == 9  # the columns with 1 and 3 bins share one with another
    assert (binned.rows[:, 9:] == 0).all()
    ordered = data.by_query(X)
    for column, feature in enumerate(binned.binning.features):
        cuts = cuts_of(binned.binning, column)
        for document in range(300):
            value = ordered[document, feature]
            wanted = binned.binning.n_bins[column] if np.isnan(value) else int((cuts < value).sum())
            assert binned.bins(column)[document] == wanted
        if memory == "fast":
            np.testing.assert_array_equal(binned.columns[column], binned.bins(column))
    assert 5 not in binned.binning.features
    assert (binned.columns is None) == (memory == "low")


def test_constant_features_are_left_out_unless_some_are_missing():
    X = np.ones((20, 3), dtype=np.float32)
    X[:4, 1] = np.nan
    X[:, 2] = np.nan
    made = Binning.of(dataset(X))
    assert made.features.tolist() == [1]
    assert made.n_bins.tolist() == [1]
    assert made.thresholds.tolist() == [BEYOND]


@pytest.mark.parametrize(
    ("low", "high"),
    [(1.0, 2.0), (1.0, np.nextafter(np.float32(1), np.float32(2))), (-3e38, 3e38), (0.0, 1e-45), (-1e-45, 0.0)],
)
def test_thresholds_separate_neighbours(low, high):
    X = np.array([[low]] * 5 + [[high]] * 5, dtype=np.float32)
    binned = Binned.of(dataset(X))
    threshold = cuts_of(binned.binning, 0)[0]
    assert X[0, 0] <= threshold < X[-1, 0]
    assert binned.bins(0).tolist() == [0] * 5 + [1] * 5


def test_other_data_at_the_same_thresholds():
    rng = np.random.default_rng(2)
    train = dataset(rng.normal(size=(100, 2)))
    made = Binning.of(train, 10)
    X = np.array([[-1e30, 1e30], [np.nan, 0.0]], dtype=np.float32)
    binned = Binned.by(made, dataset(X))
    assert binned.bins(0).tolist() == [0, made.n_bins[0]]
    assert binned.bins(1)[0] == made.n_bins[1] - 1
    with pytest.raises(DataError, match="3 features"):
        Binned.by(made, dataset(np.ones((2, 3))))


def test_nothing_depends_on_the_order_of_queries(monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 3)).astype(np.float32)
    qid = np.arange(400) // 8
    rows = np.arange(400).reshape(50, 8)[rng.permutation(50)].ravel()
    one, two = Dataset(X, qid=qid), Dataset(X[rows], qid=qid[rows])
    assert Binning.of(one, 30) == Binning.of(two, 30)
    everything = Binning.of(one, 30)
    monkeypatch.setattr(binning_module, "EXACT_ROWS", 150)  # now from a sample of queries
    assert Binning.of(one, 30) == Binning.of(two, 30)
    assert Binning.of(one, 30) != everything


@pytest.mark.parametrize("wrong", [1, 256, 2.5, True, None])
def test_impossible_numbers_of_bins(wrong):
    with pytest.raises(SettingsError, match="max_bins"):
        Binning.of(dataset(np.ones((3, 1))), wrong)


def test_unknown_memory():
    with pytest.raises(SettingsError, match="memory"):
        Binned.of(dataset(np.arange(6.0)[:, None]), memory="medium")


def test_some_columns_of_a_binning_are_a_binning():
    random = np.random.default_rng(0)
    X = np.column_stack([random.random(50), np.ones(50), random.integers(0, 4, 50), random.random(50)])
    whole = Binning.of(dataset(X), 10)
    some = whole.only(np.array([1, 2]))
    assert some.features.tolist() == [2, 3]
    assert some.n_features == 4
    for column in (0, 1):
        assert cuts_of(some, column).tolist() == cuts_of(whole, column + 1).tolist()
    assert whole.only(np.array([], dtype=int)).thresholds.tolist() == []


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
@pytest.mark.parametrize("most", [2, 3, 6, 255])
def test_bins_of_blocks_equal_a_binary_search(n, most):
    rng = np.random.default_rng(n)
    scale = 10.0 ** rng.integers(0, 4, 9)  # columns of few and of many values
    made = Binning.of(dataset((rng.normal(size=(3000, 9)) * scale).round() / scale), most)
    X = rng.normal(size=(n, 9)).astype(np.float32).round(2)
    X[rng.random(X.shape) < 0.1] = np.nan
    binned = Binned.by(made, dataset(X))
    for column, feature in enumerate(made.features):
        wanted = np.searchsorted(cuts_of(made, column)[:-1], X[:, feature], side="left")
        wanted[np.isnan(X[:, feature])] = made.n_bins[column]
        assert binned.bins(column).tolist() == wanted.tolist()


def test_zeros_of_both_signs_are_one_value():
    tiny = np.float32(1e-45)  # the midpoint of -2 and 1 times this is -0.0
    made = Binning.of(dataset(np.array([[-2 * tiny], [tiny]], dtype=np.float32)))
    assert np.signbit(cuts_of(made, 0)[0])
    binned = Binned.by(made, dataset(np.array([[-tiny], [-0.0], [0.0], [tiny]], dtype=np.float32)))
    assert binned.bins(0).tolist() == [0, 0, 0, 1]


@pytest.mark.compiled_only
def test_nothing_depends_on_the_number_of_threads():
    rng = np.random.default_rng(4)
    X = np.where(rng.random((30_000, 40)) < 0.3, 0, rng.normal(size=(30_000, 40))).astype(np.float32)
    data = Dataset(X, qid=rng.permutation(np.arange(30_000) // 25))
    with using_threads(1):
        alone = Binned.of(data)
    for threads in (2, 3):
        with using_threads(threads):
            shared = Binned.of(data)
        assert shared.binning == alone.binning
        np.testing.assert_array_equal(shared.rows, alone.rows)
        np.testing.assert_array_equal(shared.columns, alone.columns)


@pytest.mark.parametrize(
    ("n_bytes", "width"),
    [(0, 0), (1, 4), (4, 4), (7, 8), (9, 12), (15, 16), (30, 32), (46, 48), (57, 64), (118, 128), (136, 136)],
)
def test_rows_are_filled_up_to_lines_if_that_takes_few_bytes(n_bytes, width):
    assert row_width(n_bytes, "fast") == width
    assert row_width(n_bytes, "low") == -(-n_bytes // 4) * 4


def test_no_row_lies_in_more_lines_than_it_must():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 30)).astype(np.float32)
    binned, packed = (Binned.of(Dataset(X, qid=np.arange(40) // 10), memory=memory) for memory in ("fast", "low"))
    assert binned.rows.shape == (40, 32)
    assert packed.rows.shape == (40, -(-packed.packing.n_bytes // 4) * 4)
    assert binned.rows.ctypes.data % LINE == 0
    assert binned.rows.flags.c_contiguous
    np.testing.assert_array_equal(binned.rows[:, : packed.rows.shape[1]], packed.rows)
    assert (binned.rows[:, packed.rows.shape[1] :] == 0).all()


def test_many_rows_have_whole_pages():
    rows = zero_rows(70_000, 128)
    held = rows.base
    while held.base is not None:
        held = held.base
    assert rows.shape == (70_000, 128)
    assert rows.ctypes.data % HUGE_PAGE == 0
    last_page = -(-(rows.ctypes.data + rows.nbytes) // HUGE_PAGE) * HUGE_PAGE
    assert held.ctypes.data + held.nbytes >= last_page
