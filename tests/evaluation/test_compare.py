"""Comparisons of two rankings."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import rankforce as rf
from rankforce.errors import DataError, SettingsError


@pytest.fixture(scope="module")
def data() -> rf.Dataset:
    """60 queries of 12 documents, some blank; feature "good" follows the label, "poor" less so."""
    generator = np.random.default_rng(0)
    labels = generator.choice(4, (60, 12), p=[0.6, 0.2, 0.1, 0.1]).astype(np.float64)
    labels[::9] = 0.0
    noise = generator.normal(size=(2, 60, 12))
    features = np.stack([labels + noise[0], 0.5 * labels + noise[1]], axis=-1).reshape(-1, 2)
    return rf.Dataset(features, labels.ravel(), group=[12] * 60, feature_names=["good", "poor"])


def test_tests_are_those_of_the_paired_values(data: rf.Dataset) -> None:
    found = rf.compare("poor", "good", data, ["NDCG@5", "MAP"])
    for name in ("NDCG@5", "MAP"):
        before = rf.evaluate("poor", data, name).per_query[name]
        after = rf.evaluate("good", data, name).per_query[name]
        counted = ~np.isnan(before)
        before, after = before[counted], after[counted]
        expected = stats.ttest_rel(after, before)
        assert found.n_compared[name] == counted.sum()
        assert found.difference[name] == pytest.approx((after - before).mean())
        assert found.difference[name] == pytest.approx(found.b.mean[name] - found.a.mean[name])
        assert found.t_test[name] == pytest.approx((expected.statistic, expected.pvalue), rel=1e-8)
        interval = expected.confidence_interval(0.95)
        assert tuple(found.interval[name]) == pytest.approx((interval.low, interval.high))
        counts = found.counts[name]
        assert (counts.wins, counts.losses) == ((after > before).sum(), (after < before).sum())
        assert counts.wins + counts.ties + counts.losses == counted.sum()
        assert found.randomisation[name].p_value == pytest.approx(expected.pvalue, abs=0.01)
        assert found.bootstrap_interval[name].low == pytest.approx(interval.low, abs=0.02)
    smaller, larger = sorted(found.t_test[name].p_value for name in found.measures)
    assert sorted(found.holm.values()) == pytest.approx([2 * smaller, max(2 * smaller, larger)])


def test_a_ranking_does_not_differ_from_itself(data: rf.Dataset) -> None:
    found = rf.compare("good", "good", data, "NDCG@5")
    assert found.difference["NDCG@5"] == 0.0
    assert found.t_test["NDCG@5"].p_value == found.randomisation["NDCG@5"].p_value == 1.0
    assert found.counts["NDCG@5"].ties == found.n_compared["NDCG@5"]
    assert found.changed() == []


def test_rounding_is_no_difference(data: rf.Dataset) -> None:
    one = rf.evaluate("good", data, "NDCG")
    other = rf.evaluate("good", data, "NDCG")
    other.per_query["NDCG"][:] += 1e-16
    assert rf.compare(one, other).counts["NDCG"].wins == 0


def test_queries_that_changed_most(data: rf.Dataset) -> None:
    found = rf.compare("poor", "good", data, ["NDCG@5", "MAP"])
    changed = found.changed("MAP", count=4)
    sizes = np.abs(found.b.per_query["MAP"] - found.a.per_query["MAP"])
    assert [abs(one.difference) for one in changed] == sorted(sizes[~np.isnan(sizes)], reverse=True)[:4]
    first = changed[0]
    place = int(np.flatnonzero(data.query_ids == first.query)[0])
    assert first.b - first.a == first.difference
    assert first.a == found.a.per_query["MAP"][place]
    with pytest.raises(KeyError, match="ERR was not evaluated"):
        found.changed("ERR")


def test_query_weights_weigh_the_difference(data: rf.Dataset) -> None:
    weights = np.random.default_rng(1).integers(1, 9, 60).astype(np.float64)
    found = rf.compare("poor", "good", data.replace(query_weights=weights), "MAP")
    differences = found.b.per_query["MAP"] - found.a.per_query["MAP"]
    counted = ~np.isnan(differences)
    assert found.difference["MAP"] == pytest.approx(np.average(differences[counted], weights=weights[counted]))


def test_a_query_of_weight_0_is_as_good_as_none(data: rf.Dataset) -> None:
    weights = np.random.default_rng(1).integers(0, 3, 60).astype(np.float64)
    all_queries = rf.compare("poor", "good", data.replace(query_weights=weights), ["MAP", "NDCG@5"]).to_dict()
    some = data.replace(query_weights=weights).take_queries(weights > 0)
    without = rf.compare("poor", "good", some, ["MAP", "NDCG@5"]).to_dict()
    assert all_queries["measures"] == without["measures"]
    evaluated = rf.evaluate("good", data.replace(query_weights=weights), "MAP")
    alone = rf.evaluate("good", some, "MAP")
    for numbers in ("mean", "standard_error", "interval", "bootstrap_interval", "counted", "unlabelled"):
        assert getattr(evaluated, numbers)["MAP"] == getattr(alone, numbers)["MAP"]


def test_segments(data: rf.Dataset) -> None:
    segments = np.where(np.arange(60) < 20, "head", "tail")
    found = rf.compare("poor", "good", data, "MAP", segments=segments)
    head = data.take_queries(np.arange(20))
    assert found.by_segment["head"].t_test["MAP"] == rf.compare("poor", "good", head, "MAP").t_test["MAP"]
    assert "MAP [tail]" in str(found)
    assert set(found.to_dict()["segments"]) == {"head", "tail"}


def test_printed_comparison_states_tests_and_policies(data: rf.Dataset) -> None:
    found = rf.compare("poor", "good", data, ["NDCG@5", "MAP"], names=("today", "new"), blank="zero")
    text = str(found)
    assert text.startswith("new against today: 60 queries")
    assert "paired t-test and Fisher randomisation (100,000 sign flips" in text
    assert "Holm: corrected for 2 measures" in text
    assert "blank queries: counted as 0" in text
    assert "changed most in NDCG@5: query" in text
    assert "<td" in found._repr_html_()
    assert repr(found).startswith("<Comparison of today and new: NDCG@5 +0.")
    json.dumps(found.to_dict(), allow_nan=False)
    assert found.to_dict()["measures"]["MAP"]["b"] == found.b.mean["MAP"]


def test_pandas(data: rf.Dataset) -> None:
    pytest.importorskip("pandas")
    found = rf.compare("poor", "good", data, "MAP")
    frame = found.to_pandas()
    assert list(frame["MAP"].columns) == ["a", "b", "difference"]
    assert len(frame) == 60


def test_two_evaluations_can_be_compared(data: rf.Dataset) -> None:
    a, b = rf.evaluate("poor", data, "MAP"), rf.evaluate("good", data, "MAP")
    assert rf.compare(a, b).t_test["MAP"] == rf.compare("poor", "good", data, "MAP").t_test["MAP"]


def test_what_cannot_be_compared(data: rf.Dataset) -> None:
    one = rf.evaluate("good", data, "MAP")
    with pytest.raises(SettingsError, match="different measures: MAP and NDCG"):
        rf.compare(one, rf.evaluate("good", data, "NDCG"))
    with pytest.raises(SettingsError, match="different policies"):
        rf.compare(one, rf.evaluate("good", data, "MAP", blank="zero"))
    fewer = rf.evaluate("good", data.take_queries(np.arange(10)), "MAP")
    with pytest.raises(DataError, match="different queries"):
        rf.compare(one, fewer)
    weighted = [data.replace(query_weights=np.full(60, weight)) for weight in (1.0, 2.0)]
    light, heavy = (rf.evaluate("good", each, "MAP") for each in weighted)
    with pytest.raises(DataError, match="weigh queries differently"):
        rf.compare(light, heavy)
    with pytest.raises(SettingsError, match="leave data out"):
        rf.compare(one, one, data)
    with pytest.raises(SettingsError, match="give the data"):
        rf.compare("good", "poor")
    with pytest.raises(SettingsError, match="not some of each"):
        rf.compare(one, "poor", data)
    with pytest.raises(SettingsError, match="two different names"):
        rf.compare("good", "poor", data, names=("x", "x"))


@pytest.fixture(scope="module")
def clicked(data: rf.Dataset) -> rf.Dataset:
    """The data with click labels that feature "poor" follows and "good" does not."""
    clicks = 1.0 / (1.0 + np.exp(-data.features[:, 1].astype(np.float64)))
    return data.with_label("clicks", clicks)


def test_the_first_tier_that_differs_decides(clicked: rf.Dataset) -> None:
    tiers = ["NDCG@5", "CNDCG@5:clicks"]
    verdict = rf.compare("poor", "good", clicked, tiers, graded=True).verdict
    assert (verdict.outcome, verdict.decided_by) == ("better", 1)
    backwards = rf.compare("poor", "good", clicked, tiers[::-1], graded=True).verdict
    assert (backwards.outcome, backwards.decided_by) == ("worse", 1)
    assert rf.compare("poor", "good", clicked, tiers).verdict is None


def test_a_later_tier_decides_where_the_earlier_are_equal(clicked: rf.Dataset) -> None:
    grades, clicks = clicked.label(), clicked.label("clicks")
    tiers = ["NDCG@5", "CNDCG@5:clicks"]
    found = rf.compare(grades - 0.1 * clicks, grades + 0.1 * clicks, clicked, tiers, graded=True, names=("old", "new"))
    verdict = found.verdict
    assert (verdict.outcome, verdict.decided_by) == ("better", 2)
    assert verdict.alpha == pytest.approx(0.05)
    assert "equal in NDCG@5 (+0.0000, p = 1.0000), better in CNDCG@5:clicks (+0." in str(found)
    assert "equal means not significantly different at 5 % (paired t-test)" in str(found)
    told = found.to_dict()["verdict"]
    assert (told["measure"], told["decided_by"], told["tiers"][0]["outcome"]) == ("CNDCG@5:clicks", 2, "equal")
    same = rf.compare(grades, grades, clicked, tiers, graded=True).verdict
    assert (same.outcome, same.decided_by) == ("equal", None)
    assert str(same).startswith("b equals a: equal in NDCG@5")


def test_the_level_decides_what_is_equal(data: rf.Dataset) -> None:
    rng = np.random.default_rng(3)
    slightly = data.features[:, 0] + 0.4 * rng.normal(size=data.n_documents)
    p = rf.compare("good", slightly, data, "NDCG@5").t_test["NDCG@5"].p_value
    assert 0.001 < p < 0.999
    for level, decided in ((1.0 - p * 1.01, True), (1.0 - p * 0.99, False)):
        verdict = rf.compare("good", slightly, data, "NDCG@5", graded=True, level=level).verdict
        assert (verdict.decided_by is not None) == decided


def test_graded_segments_and_evaluations(clicked: rf.Dataset) -> None:
    segments = np.where(np.arange(60) < 30, "head", "tail")
    pair = [rf.evaluate(one, clicked, ["NDCG@5"], segments=segments) for one in ("poor", "good")]
    found = rf.compare(*pair, graded=True)
    assert found.by_segment["tail"].verdict.outcome == found.to_dict()["segments"]["tail"]["verdict"]["outcome"]
    assert "verdict [head]: " in str(found)


def test_one_query_has_no_verdict(data: rf.Dataset) -> None:
    found = rf.compare("poor", "good", data.take_queries([1]), "NDCG@5", graded=True)
    assert found.verdict.outcome == "untested"
    assert "verdict: b cannot be told from a: a test needs two queries" in str(found)
