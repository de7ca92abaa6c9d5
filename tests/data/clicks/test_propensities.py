"""Propensities: the estimates maximise what they say, find the truth of simulated logs, and say when there is none."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

import rankforce as rf
from rankforce.data.clicks import propensity_estimates
from rankforce.data.clicks.position_counts import PositionCounts

TRUE = np.arange(1.0, 7.0) ** -1.0


@pytest.fixture(scope="module")
def log():
    data = rf.make_artificial(queries=400, documents=8, features=5, seed=1, shares=(0.3, 0.3, 0.4))
    model = rf.click_models.PositionBased(1.0)
    return rf.simulate_clicks(data, "1", 30, model, positions=6, exchange="swap", exchanged=0.6, noise=0.2, seed=1)


@pytest.fixture(scope="module")
def harvested(log):
    return rf.estimate_propensities(log, resamples=60)


def counted(log):
    """Shown and clicked by query, document and position, in dictionaries."""
    shown, clicked = {}, {}
    columns = log.click_log
    for key in zip(columns["query"], columns["document"], columns["position"], strict=True):
        shown[key] = shown.get(key, 0) + 1
    clicks = np.flatnonzero(columns["clicked"])
    for row in clicks:
        key = columns["query"][row], columns["document"][row], columns["position"][row]
        clicked[key] = clicked.get(key, 0) + 1
    return shown, clicked


def conditional_likelihood(shown, clicked, theta):
    """Σ_d Σ_k c_dk log(n_dk θ_k / Σ_j n_dj θ_j), document by document."""
    total = 0.0
    for _, group in itertools.groupby(sorted(shown), key=lambda key: key[:2]):
        keys = list(group)
        whole = sum(shown[key] * theta[key[2] - 1] for key in keys)
        for key in keys:
            if clicked.get(key):
                total += clicked[key] * math.log(shown[key] * theta[key[2] - 1] / whole)
    return total


def test_harvesting_maximises_the_conditional_likelihood(log, harvested):
    shown, clicked = counted(log)
    best = conditional_likelihood(shown, clicked, harvested.values)
    for position in range(1, 6):
        for factor in (0.97, 1.03):
            moved = harvested.values.copy()
            moved[position] *= factor
            assert conditional_likelihood(shown, clicked, moved) < best
    assert conditional_likelihood(shown, clicked, TRUE) < best


def test_harvesting_finds_the_truth_within_its_intervals(harvested):
    assert harvested.rich_enough
    assert harvested.verdict.startswith("rich enough")
    error = np.log(harvested.values / TRUE)[1:]
    spread = np.log(harvested.high / harvested.low)[1:] / (2 * 1.96)
    assert (np.abs(error) < 4 * spread).all()
    assert 0.2 < np.sqrt(np.mean((error / spread) ** 2)) < 2.5
    assert (harvested.low[1:] < harvested.values[1:]).all()
    assert (harvested.values[1:] < harvested.high[1:]).all()


def test_em_comes_near_the_truth_the_nearer_the_more_often_documents_are_shown(log):
    found = rf.estimate_propensities(log, "em", resamples=0)
    error = np.sqrt(np.mean(np.log(found.values / TRUE) ** 2))
    assert error < 0.4
    assert found.low is None
    assert "not asked" in found.verdict
    few = log.data.take_queries(np.arange(40))
    model = rf.click_models.PositionBased(1.0)
    often = rf.simulate_clicks(few, "1", 1000, model, positions=6, exchange="swap", exchanged=0.6, noise=0.2, seed=1)
    found = rf.estimate_propensities(often, "em", resamples=0)
    assert np.sqrt(np.mean(np.log(found.values / TRUE) ** 2)) < 0.6 * error


def test_em_ends_where_a_step_changes_nothing(log, monkeypatch):
    ends = []
    step = propensity_estimates.expected_looks

    def watched(*arguments):
        step(*arguments)
        ends.append((arguments[7].copy(), arguments[9].copy()))

    monkeypatch.setattr(propensity_estimates, "expected_looks", watched)
    rf.estimate_propensities(log, "em", resamples=0)
    examination, looks = ends[-1]
    before, _ = ends[-2]
    assert len(ends) > 20
    assert np.abs(np.log(examination) - np.log(before)).max() < 1e-5
    assert (looks > 0.0).all()


def test_a_step_of_em_is_that_of_the_definition():
    counts = PositionCounts(
        np.array([0, 2, 5]), np.array([0, 1]), np.array([0, 1, 0, 1, 2]), np.array([4.0, 3.0, 2.0, 5.0, 1.0]),
        np.array([1.0, 0.0, 2.0, 1.0, 0.0]), 3,
    )  # fmt: skip
    theta, attractiveness, weights = np.array([0.9, 0.5, 0.3]), np.array([0.4, 0.7]), np.array([1.0, 2.0])
    looks = np.zeros(3)
    updated = attractiveness.copy()
    propensity_estimates.expected_looks(
        counts.starts, counts.position, counts.shown, counts.clicked, weights, 3.0, 0.5, theta, updated, looks
    )
    slow_looks = np.zeros(3)
    for document in range(2):
        attracted, total = 3.0 * 0.5, 3.0
        for entry in np.flatnonzero(counts.document == document):
            k, a = counts.position[entry], attractiveness[document]
            for impression in range(int(counts.shown[entry])):
                clicked = impression < counts.clicked[entry]
                unseen = 1.0 - theta[k] * a
                looked = 1.0 if clicked else theta[k] * (1 - a) / unseen
                attracts = 1.0 if clicked else a * (1 - theta[k]) / unseen
                slow_looks[k] += weights[document] * looked
                attracted += attracts
                total += 1.0
        assert updated[document] == pytest.approx(attracted / total)
    assert looks == pytest.approx(slow_looks)


def test_the_sums_of_harvesting_are_derivatives(log):
    random = np.random.default_rng(0)
    counts = PositionCounts(
        np.arange(0, 31, 3), np.arange(10), np.tile([0, 1, 2], 10), random.integers(1, 9, 30).astype(float),
        random.integers(0, 5, 30).astype(float), 3,
    )  # fmt: skip
    weights = random.random(10)

    def value(logs):
        shares = counts.shown * np.exp(logs)[counts.position]
        shares /= np.repeat(shares.reshape(10, 3).sum(axis=1), 3)
        return (np.repeat(weights, 3) * counts.clicked * np.log(shares)).sum()

    def sums(logs):
        gradient, hessian = np.zeros(3), np.zeros((3, 3))
        propensity_estimates.harvest_sums(
            counts.starts, counts.position, counts.shown, counts.clicked, weights, np.exp(logs), np.zeros(3), gradient,
            hessian,
        )  # fmt: skip
        return gradient, hessian

    at = np.array([0.0, -0.4, -1.1])
    for k in range(3):
        step = np.eye(3)[k] * 1e-5
        assert sums(at)[0][k] == pytest.approx((value(at + step) - value(at - step)) / 2e-5, rel=1e-6)
        slope = (sums(at + step)[0] - sums(at - step)[0]) / 2e-5
        assert sums(at)[1][k] == pytest.approx(-slope, rel=1e-5, abs=1e-9)


def test_counts_connect_positions(log, harvested):
    shown, clicked = counted(log)
    places = {}
    for query, document, position in shown:
        places.setdefault((query, document), set()).add(position)
    telling = {
        key: at for key, at in places.items() if len(at) > 1 and any(clicked.get((*key, position)) for position in at)
    }
    assert harvested.impressions.tolist() == [sum(n for key, n in shown.items() if key[2] == k) for k in range(1, 7)]
    assert harvested.clicks.tolist() == [sum(n for key, n in clicked.items() if key[2] == k) for k in range(1, 7)]
    assert harvested.documents.tolist() == [sum(k in at for at in telling.values()) for k in range(1, 7)]
    for k, other in itertools.product(range(1, 7), repeat=2):
        assert harvested.connections[k - 1, other - 1] == sum({k, other} <= at for at in telling.values())


def test_one_position_per_document_says_nothing_of_positions(log):
    fixed = rf.simulate_clicks(log.data, "1", 20, positions=6)
    for method in ("harvest", "em"):
        found = rf.estimate_propensities(fixed, method, resamples=5)
        assert np.isnan(found.values[1:]).all()
        assert not found.rich_enough
        assert "cannot be compared with position 1" in found.verdict
        assert "not rich enough" in str(found)
        with pytest.raises(rf.DataError, match="not known: not rich enough"):
            found.at([1, 2])


def frame(rows):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(rows, columns=["session", "query", "document", "position", "clicked"])


def test_positions_that_nothing_connects_with_the_first_are_not_known():
    rows = [(1, "q", "a", 1, 1), (2, "q", "a", 2, 1), (3, "q", "b", 3, 1), (4, "q", "b", 4, 1)]
    rows += [(5, "q", "c", 2, 1), (6, "q", "c", 5, 0)]  # position 5 never beats another: a ratio of 0 would fit best
    found = rf.estimate_propensities(frame(rows), resamples=3)
    assert found.values[:2].tolist() == [1.0, 1.0]
    assert np.isnan(found.values[2:]).all()
    assert "positions 3, 4, 5" in found.verdict


def test_few_sessions_are_not_rich_enough(log):
    rows = log.session % 30 < 1
    small = log.to_pandas()[rows & (log.data.qid[log.row] < 60)]
    found = rf.estimate_propensities(small, resamples=30)
    assert not found.rich_enough
    assert "not rich enough" in found.verdict


def test_estimates_follow_from_the_seed_and_not_from_the_order_of_the_rows(log):
    first = rf.estimate_propensities(log, resamples=5, positions=3)
    shuffled = log.to_pandas().sample(frac=1.0, random_state=1)
    again = rf.estimate_propensities([shuffled[:5000], shuffled[5000:]], resamples=5, positions=3)
    assert len(first) == 3
    assert again.values == pytest.approx(first.values, rel=1e-9)
    assert rf.estimate_propensities(log, resamples=5, positions=3).to_dict() == first.to_dict()
    assert rf.estimate_propensities(log, resamples=5, positions=3, seed=1).low.tolist() != first.low.tolist()


def test_files_keep_everything(harvested, tmp_path):
    path = tmp_path / "propensities.json"
    harvested.write(path)
    again = rf.Propensities.read(path)
    assert again.to_dict() == harvested.to_dict()
    assert str(again) == str(harvested)
    path.write_text('{"propensities": [2, 1.0, null]}')
    by_hand = rf.Propensities.read(path)
    assert by_hand.values[:2].tolist() == [1.0, 0.5]
    assert math.isnan(by_hand.values[2])
    assert by_hand.method == "given"
    by_hand.write(path)
    assert json.loads(path.read_text())["propensities"] == [1.0, 0.5, None]
    for text, words in (("{", "not JSON"), ("[1]", "no propensities"), ('{"propensities": ["a"]}', "no propensities")):
        path.write_text(text)
        with pytest.raises(rf.FileFormatError, match=words):
            rf.Propensities.read(path)
    with pytest.raises(rf.FileFormatError, match="cannot be read"):
        rf.Propensities.read(tmp_path / "nowhere.json")


def test_propensities_that_are_given():
    given = rf.Propensities([2.0, 1.0])
    assert given.at([1, 2, 1]).tolist() == [1.0, 0.5, 1.0]
    assert given.rich_enough
    assert rf.Propensities({1: 1.0, 2: 0.25}).values.tolist() == [1.0, 0.25]
    assert list(given.to_pandas()) == ["position", "propensity"]
    assert "given" in str(given)
    assert "<table" in given._repr_html_()
    for values in ([], [0.0], [1.0, -0.5], [1.0, math.inf], [[1.0]], "high", {1: 1.0, 3: 0.5}, [math.nan, 1.0]):
        with pytest.raises(rf.DataError):
            rf.Propensities(values)
    with pytest.raises(rf.DataError, match="the first 2 only"):
        given.at([3])
    with pytest.raises(rf.DataError, match="whole numbers from 1"):
        given.at([0])


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([(1, "q", "a", 0, 1)], "0 is no position"),
        ([(1, "q", "a", 1.5, 1)], "1.5 is no position"),
        ([(1, "q", "a", 1.0, 1), (1, "q", "b", None, 1)], "position is missing"),
        ([(1, "q", "a", 1000, 1)], "positions up to 1,000"),
        ([], "no rows"),
    ],
)
def test_positions_that_are_none_are_refused(rows, words):
    with pytest.raises(rf.RankforceError, match=words):
        rf.estimate_propensities(frame(rows).astype({"position": float}))
    with pytest.raises(rf.DataError, match="does not say at which position"):
        rf.estimate_propensities(frame([(1, "q", "a", 1, 1)]).drop(columns="position"))


def test_click_labels_count_clicks_per_look(log):
    known = rf.Propensities(TRUE)
    labels = rf.click_labels(log, "click", propensities=known)
    shown, clicked = counted(log)
    for query, document, looks, rate in list(
        zip(labels.queries, labels.documents, labels.looks, labels.click_rate, strict=True)
    )[:300]:
        keys = [key for key in shown if (str(key[0]), str(key[1])) == (query, document)]
        expected = sum(shown[key] * TRUE[key[2] - 1] for key in keys)
        assert looks == pytest.approx(expected, rel=1e-8)
        clicks = sum(clicked.get(key, 0) for key in keys)
        assert rate == pytest.approx(min(clicks / expected, 1.0), rel=1e-8)
    attractive = labels.for_data(log.data)
    plain = rf.click_labels(log, "click").for_data(log.data)
    truth = np.full(log.data.n_documents, np.nan)
    truth[log.row] = log.attractiveness
    seen = ~np.isnan(attractive)
    assert np.corrcoef(attractive[seen], truth[seen])[0, 1] > np.corrcoef(plain[seen], truth[seen])[0, 1] + 0.1
    assert "clicks per look" in str(labels)
    assert "looks" in labels.columns()


def test_labels_per_look_do_not_depend_on_chunks(log):
    whole = rf.click_labels(log, "click", propensities=TRUE, smoothing=2.0, smooth_zeros=True)
    small = rf.click_labels(log, "click", propensities=TRUE, smoothing=2.0, smooth_zeros=True, chunk_rows=777)
    assert whole.click_rate.tolist() == small.click_rate.tolist()


def test_labels_per_look_refuse_what_makes_no_sense(log):
    with pytest.raises(rf.SettingsError, match="rate='click'"):
        rf.click_labels(log, propensities=TRUE)
    with pytest.raises(rf.DataError, match="the first 2 only"):
        rf.click_labels(log, "click", propensities=TRUE[:2])
