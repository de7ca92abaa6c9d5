"""What ``rf.evaluate`` accepts, refuses, computes and prints."""

from __future__ import annotations

import gc
import json
import math
import pickle
import weakref

import numpy as np
import pytest

import rankforce as rf
from rankforce.errors import DataError, MeasureError, SettingsError
from rankforce.measures import judged as judged_module
from rankforce.measures.judged import JudgedMeasure, judged

LABELS = np.array([0, 2, 1, 0, 0, 1, 3, 0, 1, 0], dtype=np.float64)
QUERIES = ["a", "a", "a", "b", "b", "c", "c", "c", "c", "c"]  # b is blank
SCORES = np.array([3, 2, 1, 2, 1, 5, 4, 3, 2, 1], dtype=np.float64)


def small(**parts: object) -> rf.Dataset:
    features = np.column_stack([SCORES, -SCORES])
    return rf.Dataset(features, LABELS, QUERIES, feature_names=["good", "bad"], **parts)  # type: ignore[arg-type]


def log2(x: float) -> float:
    return math.log2(x)


NDCG_A = (3 / log2(3) + 1 / log2(4)) / (3 / log2(2) + 1 / log2(3))
NDCG_C = (1 / log2(2) + 7 / log2(3) + 1 / log2(5)) / (7 / log2(2) + 1 / log2(3) + 1 / log2(4))


class ByFeature:
    takes_dataset = True

    def predict(self, data: rf.Dataset) -> np.ndarray:
        return data.features[:, 0]


@pytest.mark.parametrize("given", [SCORES, SCORES.tolist(), SCORES.astype(np.float32), "good", ByFeature()])
def test_arrays_features_and_models_rank_alike(given: object) -> None:
    result = rf.evaluate(given, small(), "NDCG")
    np.testing.assert_allclose(result.per_query["NDCG"], [NDCG_A, np.nan, NDCG_C], rtol=1e-14)
    assert result.mean["NDCG"] == pytest.approx((NDCG_A + NDCG_C) / 2, rel=1e-15)
    assert (result.n_queries, result.counted["NDCG"], result.blank["NDCG"]) == (3, 2, 1)


def test_rows_in_any_order_give_the_same_values() -> None:
    shuffled = np.random.default_rng(0).permutation(10)
    data = small()
    mixed = rf.Dataset(data.features[shuffled], LABELS[shuffled], np.array(QUERIES)[shuffled])
    expected = dict(zip(data.query_ids, rf.evaluate(SCORES, data, "NDCG").per_query["NDCG"], strict=True))
    found = rf.evaluate(SCORES[shuffled], mixed, "NDCG")
    np.testing.assert_array_equal(found.per_query["NDCG"], [expected[one] for one in found.query_ids])


@pytest.mark.parametrize(("blank", "mean"), [("skip", (NDCG_A + NDCG_C) / 2), ("zero", (NDCG_A + NDCG_C) / 3)])
def test_blank_queries(blank: str, mean: float) -> None:
    assert rf.evaluate(SCORES, small(), "NDCG", blank=blank).mean["NDCG"] == pytest.approx(mean, rel=1e-14)


def test_blank_queries_as_one_or_refused() -> None:
    one = rf.evaluate(SCORES, small(), "NDCG", blank="one")
    assert one.mean["NDCG"] == pytest.approx((NDCG_A + 1 + NDCG_C) / 3, rel=1e-14)
    assert one.per_query["NDCG"][1] == 1.0
    with pytest.raises(DataError, match=r"NDCG: 1 of 3 queries are blank .* first is query b"):
        rf.evaluate(SCORES, small(), "NDCG", blank="raise")


def test_query_weights_weigh_the_mean() -> None:
    result = rf.evaluate(SCORES, small(query_weights=[1.0, 5.0, 3.0]), "NDCG")
    assert result.mean["NDCG"] == pytest.approx((NDCG_A + 3 * NDCG_C) / 4, rel=1e-14)
    assert "query weights: used" in str(result)
    zero = rf.evaluate(SCORES, small(query_weights=[1.0, 5.0, 3.0]), "NDCG", blank="zero")
    assert zero.mean["NDCG"] == pytest.approx((NDCG_A + 3 * NDCG_C) / 9, rel=1e-14)


def test_results_are_found_by_text_alias_and_measure() -> None:
    result = rf.evaluate(SCORES, small(), ["ndcg@2", rf.MAP()])
    assert list(result.mean) == ["NDCG@2", "MAP"]
    assert result.mean["NDCG@2"] == result.mean["nDCG@2"] == result.mean[rf.NDCG(2)]
    assert result.mean["AP"] == result.mean["MAP"]
    with pytest.raises(KeyError, match=r"NDCG@5 was not evaluated \(evaluated: NDCG@2, MAP\)"):
        result.mean["NDCG@5"]
    assert result.mean.get("NDCG@5") is None


def test_every_measure_can_be_evaluated_under_every_policy() -> None:
    from rankforce.measures.catalogue import measure_classes

    data = small().with_label("clicks", LABELS / 3.0)
    for name in measure_classes():
        measure = rf.measure(f"{name}:clicks" if name == "CNDCG" else name)
        for ties in ("stable", "expected", "pessimistic", "optimistic"):
            mean = rf.evaluate(SCORES.round(-1), data, measure, ties=ties).mean[measure]
            assert measure.LOWEST <= mean <= measure.HIGHEST


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.where(np.arange(10) == 4, np.nan, SCORES), r"the score of row 4 \(query b\) is NaN"),
        (np.arange(10) + 2**60, r"whole numbers beyond 2\^53"),
        (np.where(np.arange(10) == 7, np.inf, SCORES), r"the score of row 7 \(query c\) is \+inf"),
        (SCORES[:9], r"one entry per document \(10\), not shape \(9,\)"),
        (np.zeros((10, 2)), r"one entry per document \(10\), not shape \(10, 2\)"),
        (["x"] * 10, "the scores must be numbers"),
        (None, "the scores must be numbers"),
        ("best", r"no feature 'best' to rank by \(it has: good, bad\)"),
    ],
)
def test_scores_that_cannot_be_meant(scores: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        rf.evaluate(scores, small(), "NDCG")


def test_one_column_of_scores_is_accepted() -> None:
    assert rf.evaluate(SCORES[:, None], small(), "NDCG").mean == rf.evaluate(SCORES, small(), "NDCG").mean


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"ties": "random"}, SettingsError, "ties must be one of 'stable'"),
        ({"blank": "ignore"}, SettingsError, "blank must be one of 'skip'"),
        ({"convention": "ranklab"}, SettingsError, "unknown convention 'ranklab': one of trec"),
        ({"convention": "lightgbm", "ties": "stable"}, SettingsError, "fixes ties and blank queries"),
        ({"convention": "lightgbm", "blank": "one"}, SettingsError, "fixes ties and blank queries"),
        ({"level": 95}, SettingsError, "level must lie between 0 and 1"),
        ({"threads": 0}, SettingsError, "threads must be a positive whole number"),
        ({"segments": ["x", "y"]}, DataError, "one segment per query"),
        ({"segments": {"a": 1}}, DataError, r"no segment for 2 of 3 queries, the first is 'b'"),
    ],
)
def test_settings_that_cannot_be_meant(options: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rf.evaluate(SCORES, small(), "NDCG@3", **options)  # type: ignore[arg-type]


def test_data_and_measures_that_cannot_be_meant() -> None:
    with pytest.raises(DataError, match=r"must be a Dataset, .*, not ndarray"):
        rf.evaluate(SCORES, LABELS, "NDCG")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="name at least one measure"):
        rf.evaluate(SCORES, small(), [])
    with pytest.raises(MeasureError, match="reads the label source 'clicks'"):
        rf.evaluate(SCORES, small(), "NDCG:clicks")


def test_segments() -> None:
    by_mapping = rf.evaluate(SCORES, small(), "NDCG", segments={"a": "short", "b": "short", "c": "long"})
    by_array = rf.evaluate(SCORES, small(), "NDCG", segments=["short", "short", "long"])
    for result in (by_mapping, by_array):
        assert list(result.by_segment) == ["long", "short"]
        assert result.by_segment["long"].mean["NDCG"] == pytest.approx(NDCG_C)
        assert result.by_segment["short"].blank["NDCG"] == 1
        assert result.by_segment["short"].n_documents == 5
    assert "NDCG [long]" in str(by_array)
    assert by_array.to_dict()["segments"]["short"]["measures"]["NDCG"]["mean"] == pytest.approx(NDCG_A)
    assert rf.evaluate(SCORES, small(), "NDCG").by_segment == {}


def test_share_of_unlabelled_documents() -> None:
    labels = LABELS.copy()
    labels[[0, 5, 9]] = np.nan
    data = rf.Dataset(np.zeros((10, 1)), labels, QUERIES)
    result = rf.evaluate(SCORES, data, ["NDCG@2", "NDCG", "NDCG@2(judged_only=true)"])
    # Blank b does not count: of the first two of a and c, row 0 and row 5 are unlabelled.
    assert result.unlabelled["NDCG@2"] == 2 / 4
    assert result.unlabelled["NDCG"] == 3 / 8
    assert result.unlabelled["NDCG@2(judged_only=true)"] == 2 / 4
    assert rf.evaluate(SCORES, small(), "NDCG@2").unlabelled["NDCG@2"] == 0.0
    assert "50.0 %" in str(result)


def test_judged_only_removes_documents_before_ranks_are_given() -> None:
    labels = LABELS.copy()
    labels[0] = np.nan
    data = rf.Dataset(np.zeros((10, 1)), labels, QUERIES)
    result = rf.evaluate(SCORES, data, ["MRR", "MRR(judged_only=true)"])
    assert result.per_query["MRR"][0] == 0.5
    assert result.per_query["MRR(judged_only=true)"][0] == 1.0


def test_intervals_are_those_of_the_counted_queries() -> None:
    data = rf.make_artificial(queries=30, documents=8, features=3, seed=1)
    result = rf.evaluate(data.features[:, 0], data, "NDCG@5", level=0.9)
    values = result.per_query["NDCG@5"]
    values = values[~np.isnan(values)]
    spread = values.std(ddof=1) / math.sqrt(len(values))
    assert result.standard_error["NDCG@5"] == pytest.approx(spread)
    low, high = result.interval["NDCG@5"]
    assert low < result.mean["NDCG@5"] < high
    assert high - low == pytest.approx(2 * 1.7 * spread, rel=0.02)
    assert result.bootstrap_interval["NDCG@5"].low == pytest.approx(low, abs=0.3 * spread)


def test_everything_can_be_written_as_json() -> None:
    result = rf.evaluate(SCORES, small(), ["NDCG@3", "MAP"], segments=[1, 1, 2])
    text = json.loads(json.dumps(result.to_dict(per_query=True), allow_nan=False))
    assert text["ties"] == "stable"
    assert text["blank"] == "skip"
    assert text["convention"] is None
    assert text["query_ids"] == ["a", "b", "c"]
    assert text["measures"]["MAP"]["per_query"][1] is None
    assert text["measures"]["NDCG@3"]["settings"]["gain"] == "2^label − 1"
    single = rf.evaluate(SCORES[:3], rf.Dataset(np.zeros((3, 1)), LABELS[:3], QUERIES[:3]), "NDCG").to_dict()
    assert single["measures"]["NDCG"]["interval"] == [None, None]


def test_printed_result_states_its_policies() -> None:
    text = str(rf.evaluate(SCORES, small(), ["NDCG@3", "MAP(relevant=2)"], ties="pessimistic", blank="zero"))
    assert "3 queries, 10 documents" in text
    assert "ties: pessimistic (equal scores: worth less first); blank queries: counted as 0" in text
    assert "NDCG@3: gain 2^label − 1, discount log2" in text
    assert "MAP(relevant=2): relevant label ≥ 2, divisor relevant" in text
    lines = text.splitlines()
    assert len({line.index("queries") for line in lines[1:2]} | {lines[1].index("queries")}) == 1
    html = rf.evaluate(SCORES, small(), "NDCG@3")._repr_html_()
    assert html.startswith("<div")
    assert "<td" in html


def test_pandas() -> None:
    pytest.importorskip("pandas")
    result = rf.evaluate(SCORES, small(query_weights=[1, 2, 3]), ["NDCG@3", "MAP"], segments=["x", "x", "y"])
    frame = result.to_pandas()
    assert list(frame.columns) == ["segment", "weight", "NDCG@3", "MAP"]
    assert list(frame.index) == ["a", "b", "c"]
    summary = result.to_pandas(summary=True)
    assert len(summary) == 6
    assert summary["mean"][0] == result.mean["NDCG@3"]


def test_explanation_adds_up_to_the_value() -> None:
    result = rf.evaluate(SCORES, small(document_ids=list("ABCDEFGHIJ")), ["NDCG", "MAP", "BPref", "ERR"])
    for name in result.measures:
        explained = result.explain("c", name)
        assert explained.ranks[-1]["value"] == pytest.approx(result.per_query[name][2])
        assert [one["document"] for one in explained.ranks] == list("FGHIJ")
    ranks = result.explain("c").ranks
    assert [one["worth"] for one in ranks] == [1, 7, 0, 1, 0]
    assert "query c: NDCG" in str(result.explain("c"))
    with pytest.raises(DataError, match="there is no query 'z'"):
        result.explain("z")


def test_a_result_can_be_pickled() -> None:
    result = rf.evaluate(SCORES, small(), ["NDCG", "MAP"], segments=[1, 1, 2])
    printed = str(result)
    copy = pickle.loads(pickle.dumps(result))
    assert str(copy) == printed
    with pytest.raises(DataError, match="evaluate again to explain"):
        copy.explain("c")
    compared = rf.compare("good", "bad", small(), "NDCG")
    printed = str(compared)
    assert str(pickle.loads(pickle.dumps(compared))) == printed


def test_remembered_labels_are_those_of_a_new_judgement_and_die_with_the_data() -> None:
    data = small()
    measure = rf.measure("NDCG@3")
    assert judged(data, measure) is judged(data, rf.measure("NDCG@3"))
    np.testing.assert_array_equal(judged(data, measure).normalisers, JudgedMeasure(data, measure).normalisers)
    for cutoff in range(1, judged_module.MOST_KEPT + 5):
        judged(data, rf.NDCG(cutoff))
    assert len(judged_module._judged[data]) == judged_module.MOST_KEPT
    alive = weakref.ref(data)
    del data
    gc.collect()
    assert alive() is None


def test_gains_that_do_not_follow_the_labels_have_their_own_ideal_order() -> None:
    result = rf.evaluate(SCORES, small(), rf.NDCG(gain=(5.0, 1.0, 0.0, 2.0)))
    # a: labels 0 2 1 gain 5 0 1; b: 0 0 gain 5 5; c: labels 1 3 0 1 0 gain 1 2 5 1 5.
    a = (5 / log2(2) + 1 / log2(4)) / (5 / log2(2) + 1 / log2(3))
    c = sum(g / log2(r + 2) for r, g in enumerate([1, 2, 5, 1, 5]))
    c /= sum(g / log2(r + 2) for r, g in enumerate([5, 5, 2, 1, 1]))
    np.testing.assert_allclose(next(iter(result.per_query.values())), [a, 1.0, c], rtol=1e-14)


@pytest.mark.compiled_only
def test_threads_do_not_change_a_bit() -> None:
    data = rf.make_artificial(queries=300, documents=40, features=3, seed=2)
    scores = data.features[:, 0].round(1)
    for ties in ("stable", "expected"):
        one = rf.evaluate(scores, data, ["NDCG@10", "MAP"], ties=ties, threads=1)
        two = rf.evaluate(scores, data, ["NDCG@10", "MAP"], ties=ties, threads=2)
        for name in one.measures:
            assert one.mean[name] == two.mean[name]
            np.testing.assert_array_equal(one.per_query[name], two.per_query[name])


def test_the_gain_of_clicks_is_named_as_it_is() -> None:
    data = rf.Dataset([[1.0], [2.0]], [0, 1], qid=[1, 1], labels={"clicks": [0.5, 0.25]})
    text = str(rf.evaluate("1", data, "CNDCG@10:clicks"))
    assert "gain 2^(max_grade·label) − 1, discount log2, max_grade 4" in text
