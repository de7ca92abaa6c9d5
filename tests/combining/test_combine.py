"""``rf.combine``: what it promises about weights, values, models, searches, policies and held-out tests."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankforce as rf
from rankforce.combining.combined import Combined
from rankforce.data.distributions import known_data
from rankforce.models.combination import Combination

pytestmark = pytest.mark.compiled_only


def data_with_rankers(seed=0, queries=40, documents=8, rankers=2, noise=1.0):
    """Grades and features that each know a part of them."""
    rng = np.random.default_rng(seed)
    n = queries * documents
    grades = rng.integers(0, 4, n).astype(float)
    features = (grades[:, None] + noise * rng.normal(size=(n, rankers)) * np.arange(2, rankers + 2)).astype(np.float32)
    names = [f"r{number}" for number in range(1, rankers + 1)]
    return rf.Dataset(features, grades, group=[documents] * queries, feature_names=names)


def mean(scores, data, measure="NDCG@5", **options):
    return rf.evaluate(scores, data, measure, **options).mean[measure]


def test_the_stored_model_reproduces_the_claimed_value(tmp_path):
    data = data_with_rankers()
    result = rf.combine(["r1", "r2"], data, "NDCG@5")
    assert isinstance(result, Combined)
    assert result.value == mean(result.model, data)
    result.model.save(tmp_path / "both.json")
    loaded = rf.load(tmp_path / "both.json")
    assert isinstance(loaded, Combination)
    assert result.value == mean(loaded, data)
    assert loaded.provenance.objective == "NDCG@5"
    s, t = data.features.T.astype(np.float64)
    assert result.value == mean(result.weights[0] * s + result.weights[1] * t, data)
    assert result.value > max(result.singles)
    assert result.singles == (mean("r1", data), mean("r2", data))
    assert result.curve.at(result.place) == pytest.approx(result.value, abs=1e-13)
    low, high = result.interval
    assert low < result.place == (low + high) / 2 < high
    np.testing.assert_array_equal(result.weights, [1 - result.place, result.place])


@pytest.mark.parametrize("how", [{}, {"method": "net", "hidden": 2}], ids=["combination", "stacked"])
def test_the_model_keeps_its_data_in_the_order_of_its_own_features(how):
    """The features of the first member come first, and not all of the data's need be read."""
    data = data_with_rankers(rankers=4)
    features = data.features * np.float32([1, 100, 10_000, 1_000_000])
    features[::5, 1] = np.nan
    data = data.replace(features=features)
    quick = {"n_trees": 2, "n_leaves": 4, "min_documents": 5, "progress": False}
    members = [rf.LambdaMART(**quick).fit(data.take_features(names)) for names in (["r3", "r1"], ["r2"])]
    model = rf.combine(members, data, "NDCG@5", **how).model
    assert model.feature_names == ("r3", "r1", "r2")
    read = data.take_features(model.feature_names)
    kept = model.provenance
    np.testing.assert_array_equal(kept.feature_lows, np.nanmin(read.features, axis=0))
    np.testing.assert_array_equal(kept.feature_highs, np.nanmax(read.features, axis=0))
    np.testing.assert_array_equal(kept.missing_shares, np.isnan(read.features).mean(axis=0))
    assert kept.known_data == known_data(read)
    assert kept.data_fingerprint == data.fingerprint
    assert rf.drift(model, data).verdict == "steady"


def test_rankers_models_features_paths_and_arrays_are_alike(tmp_path):
    data = data_with_rankers()
    ranker = rf.LambdaMART(n_trees=3, n_leaves=4, min_documents=5, progress=False).fit(data)
    ranker.model_.save(tmp_path / "model.json")
    forms = (ranker, ranker.model_, tmp_path / "model.json", ranker.predict(data))
    results = [rf.combine([one, "r2"], data) for one in forms]
    for result in results[1:]:
        assert result.value == results[0].value
        np.testing.assert_array_equal(result.weights, results[0].weights)
    np.testing.assert_array_equal(results[0].model.predict(data), results[2].model.predict(data))
    with pytest.raises(rf.SettingsError, match="neither a model of rankforce nor a feature"):
        _ = results[3].model


def test_trees_cross_in_few_points_and_are_combined_all_the_same():
    """Small trees give few distinct scores: everything is ties and coinciding crossings."""
    data = data_with_rankers(queries=60)
    stumps = [
        rf.LambdaMART(n_trees=2, n_leaves=3, min_documents=5, seed=seed, feature_fraction=0.5, progress=False).fit(data)
        for seed in (0, 3)
    ]
    result = rf.combine(stumps, data, "NDCG@5")
    grid = (np.arange(200) + 0.5) / 200 + 1e-7
    s, t = (one.predict(data) for one in stumps)
    assert result.value >= max(mean((1 - a) * s + a * t, data) for a in grid[:-1]) - 1e-15
    assert result.value == mean(result.model, data)
    assert result.unreached is None


@pytest.mark.parametrize("search", ["mixture", "beyond", "all"])
def test_an_interval_too_narrow_for_float64_is_named_and_what_is_reached_is_told(search):
    """The relevant document passes the second at α = ½ and is passed by the third a hair later."""
    data = rf.Dataset(np.zeros((3, 1)), [1, 0, 0], [1, 1, 1])
    s, t = np.array([0.0, 1.0, -1.0]), np.array([1.0, 0.0, 2.0 - 2.0**-50])
    result = rf.combine([s, t], data, "NDCG", search=search)
    combined = result.weights[0] * s + result.weights[1] * t
    assert result.value == mean(combined, data, "NDCG")
    assert result.value < 0.7
    assert result.unreached.value == pytest.approx(1.0, abs=1e-12)
    place = math.pi / 4 if search == "all" else 0.5
    assert result.unreached.interval == pytest.approx((place, place), abs=1e-14)
    assert f"1 may be had between {str(place)[:14]}" in str(result)
    assert f"{result.value:.6g} is what those found really give" in str(result)
    assert result.to_dict()["unreached"]["value"] == result.unreached.value


def test_a_hair_more_is_wide_enough():
    data = rf.Dataset(np.zeros((3, 1)), [1, 0, 0], [1, 1, 1])
    s, t = np.array([0.0, 1.0, -1.0]), np.array([1.0, 0.0, 2.0 - 2.0**-40])
    result = rf.combine([s, t], data, "NDCG")
    assert (result.value, result.unreached) == (1.0, None)


def test_identical_rankers_leave_one_piece():
    data = data_with_rankers()
    result = rf.combine(["r1", "r1"], data, names=["one", "the same"])
    assert len(result.curve) == 1
    assert result.interval == (0.0, 1.0)
    assert result.place == 0.5
    assert result.value == pytest.approx(result.singles[0], abs=1e-15)


def test_beyond_and_all_directions_contain_what_is_searched_before():
    data = data_with_rankers(3)
    s, t = data.features.T.astype(np.float64)
    # r2 is spoilt by r1: the best combination takes r1 away again
    mixed = s - 0.9 * t
    values = {}
    for search in ("mixture", "beyond", "all"):
        result = rf.combine([t, mixed], data, "NDCG@5", search=search)
        values[search] = result.value
        assert result.value == mean(result.weights[0] * t + result.weights[1] * mixed, data)
        assert result.curve.highs.max() <= result.value + 1e-11
        assert np.all(np.diff(result.curve.starts) > 0)
    assert values["mixture"] <= values["beyond"] + 1e-12
    assert values["beyond"] <= values["all"] + 1e-12
    backwards = rf.combine([-s, -t], data, "NDCG@5", search="all")
    forwards = rf.combine([s, t], data, "NDCG@5", search="all")
    assert backwards.value == forwards.value
    assert backwards.value > rf.combine([-s, -t], data, "NDCG@5").value
    angles = np.arange(300) * (2 * math.pi / 300) + 1e-6
    grid = [mean(math.cos(a) * s + math.sin(a) * t, data) for a in angles]
    assert forwards.value >= max(grid)
    np.testing.assert_allclose([forwards.curve.at(a) for a in angles], grid, rtol=0, atol=1e-13)


def test_beyond_one_the_first_ranker_counts_negatively():
    data = data_with_rankers(3)
    s, t = data.features.T.astype(np.float64)
    result = rf.combine([t, s + t], data, "NDCG@5", search="beyond")
    assert result.place > 1.0
    assert result.weights[0] < 0.0
    grid = np.concatenate([np.linspace(0.001, 3, 200), [10.0, 1e3, 1e6]]) + 1e-7
    values = [mean((1 - a) * t + a * (s + t), data) for a in grid]
    assert result.value >= max(values)
    np.testing.assert_allclose([result.curve.at(a) for a in grid], values, rtol=0, atol=1e-13)


@pytest.mark.parametrize("search", ["mixture", "all"])
def test_several_rankers_end_where_no_pair_improves(search):
    data = data_with_rankers(rankers=4)
    result = rf.combine(["r1", "r2", "r3", "r4"], data, "NDCG@5", search=search, seed=1)
    again = rf.combine(["r1", "r2", "r3", "r4"], data, "NDCG@5", search=search, seed=1, threads=1)
    np.testing.assert_array_equal(result.weights, again.weights)
    assert result.value == mean(result.model, data)
    pairs = [rf.combine(pair, data, "NDCG@5", search=search).value for pair in (["r1", "r2"], ["r1", "r3"])]
    assert result.value >= max(pairs) - 1e-12
    assert len(result.curves) == 4
    assert all(curve.highs.max() <= result.value + 1e-11 for curve in result.curves)
    if search == "mixture":
        assert (result.weights >= 0).all()
        assert result.weights.sum() == pytest.approx(1.0)


def test_a_useless_ranker_gets_no_weight_if_it_only_hurts():
    data = data_with_rankers(rankers=3, noise=0.2)
    against = -data.label()
    result = rf.combine([data.label(), "r1", against], data, "NDCG@5")
    assert result.value == pytest.approx(1.0)


def test_query_weights_blank_queries_and_unlabelled_documents_count_as_in_evaluate():
    data = data_with_rankers(queries=20)
    labels = data.label().copy()
    labels[:16] = 0.0
    labels[30:40] = np.nan
    weights = np.random.default_rng(0).uniform(0.0, 3.0, 20)
    data = rf.Dataset(data.features, labels, qid=data.qid, query_weights=weights, feature_names=data.feature_names)
    for blank in ("skip", "zero", "one"):
        result = rf.combine(["r1", "r2"], data, "NDCG@5", blank=blank)
        assert result.value == mean(result.model, data, blank=blank)
        assert result.curve.at(result.place) == pytest.approx(result.value, abs=1e-13)
    with pytest.raises(rf.DataError, match="blank"):
        rf.combine(["r1", "r2"], data, "NDCG@5", blank="raise")
    judged = rf.combine(["r1", "r2"], data, "NDCG@5(judged_only=true)")
    assert judged.value == mean(judged.model, data, "NDCG@5(judged_only=true)")


def test_validation_tells_a_better_combination_from_an_optimistic_one():
    train, other = data_with_rankers(0, queries=150), data_with_rankers(1, queries=150)
    good = rf.combine(["r1", "r2"], train, "NDCG@5", validation=other)
    assert good.significantly_better is True
    assert "significantly better than r1" in str(good)
    wanted = rf.compare("r1", good.model, other, "NDCG@5")
    assert good.held_out.t_test["NDCG@5"] == wanted.t_test["NDCG@5"]
    rng = np.random.default_rng(0)
    noise = [rng.normal(size=(2, data.n_documents)) for data in (train, other)]
    optimistic = rf.combine(list(noise[0]), train, "NDCG@5", validation=(list(noise[1]), other))
    assert optimistic.value > max(optimistic.singles)
    assert optimistic.significantly_better is False
    assert "not significantly better" in str(optimistic)
    with pytest.raises(rf.SettingsError, match="scores on the validation data"):
        rf.combine(list(noise[0]), train, validation=other)


def test_folds_choose_weights_without_the_queries_they_are_tested_on():
    data = data_with_rankers(queries=150)
    result = rf.combine(["r1", "r2"], data, "NDCG@5", folds=5)
    assert result.significantly_better is True
    assert result.held_out.n_compared["NDCG@5"] == 150
    assert result.held_out.b.mean["NDCG@5"] <= result.value
    noise = np.random.default_rng(0).normal(size=(2, data.n_documents))
    assert rf.combine(list(noise), data, "NDCG@5", folds=5).significantly_better is False
    with pytest.raises(rf.SettingsError, match="not on both"):
        rf.combine(list(noise), data, folds=5, validation=data)


@pytest.mark.parametrize("hidden", [0, 3])
def test_a_net_on_the_scores_is_no_better_than_the_sweep(hidden, tmp_path):
    data, other = data_with_rankers(queries=80), data_with_rankers(1, queries=80)
    sweep = rf.combine(["r1", "r2"], data, "NDCG@5", search="all")
    net = rf.combine(["r1", "r2"], data, "NDCG@5", method="net", hidden=hidden, validation=other)
    assert max(net.singles) - 0.02 < net.value
    if hidden == 0:
        assert net.value <= sweep.value + 1e-12
        assert np.abs(net.weights).sum() == pytest.approx(1.0)
        assert (net.weights > 0).all()
    else:
        assert net.weights is None
    net.model.save(tmp_path / "net.json")
    assert mean(rf.load(tmp_path / "net.json"), data) == net.value == mean(net.scores, data)
    assert net.held_out.b.mean["NDCG@5"] == mean(net.model, other)
    assert "combination" in str(net)
    assert net.to_dict()["intervals"] == []
    with pytest.raises(rf.SettingsError, match="whole curve"):
        _ = net.curve
    folds = rf.combine(["r1", "r2"], data, "NDCG@5", method="net", hidden=hidden, folds=2, threads=1)
    assert folds.value == net.value
    assert folds.held_out.n_compared["NDCG@5"] == 80


def test_unretrieved_documents_are_refused_or_get_the_lowest_score():
    data = data_with_rankers()
    s, t = data.features.T.astype(np.float64).copy()
    s[3] = -np.inf
    with pytest.raises(rf.DataError, match=r"ranker 1 did not retrieve 1 .* row 3.*'raise'.*'lowest'"):
        rf.combine([s, t], data)
    filled = s.copy()
    filled[3] = s[[0, 1, 2, 4, 5, 6, 7]].min()
    assert rf.combine([s, t], data, unretrieved="lowest").value == rf.combine([filled, t], data).value


def test_whole_numbers_of_numpy_are_whole_numbers(tmp_path):
    data = data_with_rankers()
    found = rf.combine(["r1", "r2"], data, starts=np.int64(2), folds=np.int64(3))
    wanted = rf.combine(["r1", "r2"], data, starts=2, folds=3)
    assert found.value == wanted.value
    found.model.save(tmp_path / "a.json")
    wanted.model.save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("search", ["mixture", "beyond", "all"])
@pytest.mark.parametrize("rankers", [2, 3])
def test_dcg_that_is_0_on_a_part_of_the_directions_or_on_all(search, rankers):
    def best(weightings):
        return max(
            mean(sum(w * one for w, one in zip(some, scores, strict=True)), data, "DCG@2") for some in weightings
        )

    directions = np.random.default_rng(0).normal(size=(200, rankers))
    directions = np.abs(directions) if search == "mixture" else directions
    data = rf.Dataset(np.zeros((5, 1)), [0, 0, 1, 0, 2], qid=[0] * 5)
    s = np.array([2.0, 1.0, 1.0, 1.0, 1.0])
    scores = [s, -s, 0.3 * s][:rankers]
    assert rf.combine(scores, data, "DCG@2", search=search).value == best(directions)
    data = rf.Dataset(np.zeros((5, 1)), [0, 0, 0, 0, 2], qid=[0] * 5)
    scores = [s, 2.0 * s, 0.3 * s][:rankers]
    assert rf.combine(scores, data, "DCG@2", search=search).value == 0.0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("search", ["mixture", "beyond", "all"])
def test_scores_of_any_size_are_combined_or_refused(search):
    data = data_with_rankers(rankers=3, queries=5)
    x, y, z = data.features.T.astype(np.float64)
    wanted = rf.combine([x, y], data, search=search).value
    for size in (1e-305, 1e-150, 1e150, 1e250):
        assert rf.combine([x * size, y * size], data, search=search).value == pytest.approx(wanted, abs=1e-12)
        rf.combine([x * size, y * size, z * size], data, search=search)
        rf.combine([x * size, np.zeros(len(x))], data, search=search)
        rf.combine([np.zeros(len(x)), x * size], data, search=search)
    for rankers in ([x * 1e305, y * 1e-300], [y, x * 1e305, z], [x * 1e150, y, z * 1e-300]):
        with pytest.raises(rf.DataError, match="by the largest"):
            rf.combine(rankers, data, search=search)


def test_mistakes_are_refused():
    data = data_with_rankers()
    for rankers, options, words in (
        (["r1"], {}, "at least two"),
        ("r1", {}, "at least two"),
        (["r1", "r9"], {}, "no feature 'r9'"),
        (["r1", "r2"], {"search": "everywhere"}, "search must be one of"),
        (["r1", "r2"], {"blank": "maybe"}, "blank must be one of"),
        (["r1", "r2"], {"starts": 0}, "starts must be"),
        (["r1", "r2"], {"starts": True}, "starts must be"),
        (["r1", "r2"], {"folds": 1}, "folds must be"),
        (["r1", "r2"], {"folds": 2.5}, "folds must be"),
        (["r1", "r2"], {"method": "guess"}, "method must be one of"),
        (["r1", "r2"], {"hidden": 3}, "hidden= goes with method='net'"),
        (["r1", "r2"], {"method": "net", "search": "all"}, "search= goes with method='sweep'"),
        (["r1", "r2"], {"method": "net", "hidden": -1}, "hidden must be"),
        (["r1", np.linspace(0, 1e300, data.n_documents)], {"method": "net"}, "float32"),
        (["r1", "r2"], {"names": ["a"]}, "one name per ranker"),
        (["r1", "r2"], {"validation": 3}, "validation must be"),
        (["r1", np.full(data.n_documents, np.nan)], {}, "NaN"),
    ):
        with pytest.raises(rf.RankforceError, match=words):
            rf.combine(rankers, data, **options)
    with pytest.raises(rf.DataError, match="must be a Dataset"):
        rf.combine(["r1", "r2"], [[1]])
    blank = data.replace(labels={"grades": np.zeros(data.n_documents)})
    with pytest.raises(rf.DataError, match="no query of the data can score"):
        rf.combine(["r1", "r2"], blank)


def test_the_curve_is_drawn(tmp_path):
    data = data_with_rankers()
    result = rf.combine(["r1", "r2"], data, "NDCG@5")
    picture = result.curve.picture(columns=40, rows=5).splitlines()
    assert len(picture) == 7
    assert picture[0].startswith(f"  {result.curve.highs.max():.4f}")
    assert picture[-1].endswith("1")
    with pytest.raises(rf.DataError, match="where two of them meet"):
        result.curve.at(float(result.curve.starts[1]))
    matplotlib = pytest.importorskip("matplotlib")
    plt = pytest.importorskip("matplotlib.pyplot")
    axes = result.curve.plot(tmp_path / "curve.png", mark=result.place, label="NDCG@5")
    assert axes.get_ylabel() == "NDCG@5"
    assert (tmp_path / "curve.png").stat().st_size > 1000
    matplotlib.use("agg")
    shown = result.curve.plot(title="both")  # no file, and known to pyplot
    assert (shown.get_title(), len(shown.lines)) == ("both", 1)
    assert plt.gcf() is shown.figure
    plt.close(shown.figure)
    for name in ("curve.xyz", "curve", "nowhere/curve.png"):
        with pytest.raises(rf.SettingsError, match="curve"):
            result.curve.plot(tmp_path / name)
