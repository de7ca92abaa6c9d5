"""Tie policies against all orders of tied documents."""

from __future__ import annotations

import numpy as np
import pytest
from tests.evaluation import slow_twin

import rankforce as rf
from rankforce.errors import DataError
from rankforce.evaluation.ties import document_id_keys, rising

MEASURES = ["NDCG@3", "DCG@2", "MAP@3", "MAP", "MRR@2", "ERR@3", "Precision@2", "Recall@2", "BPref", "Success@2", "WTA"]


def tied_data(seed: int = 0, queries: int = 12) -> tuple[rf.Dataset, np.ndarray]:
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 7, queries)
    n = int(sizes.sum())
    labels = generator.integers(0, 4, n).astype(np.float64)
    labels[generator.random(n) < 0.15] = np.nan
    data = rf.Dataset(np.zeros((n, 1)), labels, group=sizes)
    return data, generator.integers(0, 2, n).astype(np.float64)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize(("ties", "summary"), [("expected", np.mean), ("pessimistic", np.min), ("optimistic", np.max)])
def test_policies_are_mean_least_and_greatest_over_all_orders(name: str, ties: str, summary: object) -> None:
    data, scores = tied_data()
    found = rf.evaluate(scores, data, name, ties=ties).per_query[name]
    expected = [
        slow_twin.over_orders(rf.measure(name), labels, of_query, summary)  # type: ignore[arg-type]
        for labels, of_query in slow_twin.queries(data, scores)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("name", MEASURES)
def test_stable_is_the_order_of_the_rows(name: str) -> None:
    data, scores = tied_data(1)
    found = rf.evaluate(scores, data, name).per_query[name]
    expected = [
        slow_twin.value(rf.measure(name), labels, np.argsort(-of_query, kind="stable"))
        for labels, of_query in slow_twin.queries(data, scores)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-12)


class FirstTwo(rf.BinaryMeasure):
    """1 if the first two documents are relevant: no expected value of its own."""

    def normaliser(self, ideal):  # type: ignore[no-untyped-def]
        return 1.0 if ideal.shape[0] > 1 and ideal[1] > 0.0 else 0.0

    def value(self, ranked, normaliser):  # type: ignore[no-untyped-def]
        return ranked[0] * ranked[1] if ranked.shape[0] > 1 else 0.0


def test_sampled_expectation_is_seeded_and_its_error_is_honest() -> None:
    data, scores = tied_data(2, queries=40)
    exact = np.array(
        [
            slow_twin.over_orders(FirstTwo(), labels, of_query, np.mean)  # type: ignore[arg-type]
            for labels, of_query in slow_twin.queries(data, scores)
        ]
    )
    result = rf.evaluate(scores, data, FirstTwo(), ties="expected", seed=1)
    error = result.tie_error[FirstTwo()]
    assert 0.0 < error < 0.02
    assert abs(result.mean["FirstTwo"] - np.nanmean(exact)) < 4 * error
    assert "± ties" in str(result)
    np.testing.assert_array_equal(np.isnan(result.per_query["FirstTwo"]), np.isnan(exact))
    again = rf.evaluate(scores, data, FirstTwo(), ties="expected", seed=1)
    np.testing.assert_array_equal(result.per_query["FirstTwo"], again.per_query["FirstTwo"])


def test_without_ties_the_sampled_expectation_is_the_value() -> None:
    data, _ = tied_data(3)
    scores = np.random.default_rng(0).permutation(len(data)).astype(np.float64)
    expected = rf.evaluate(scores, data, FirstTwo(), ties="expected")
    assert expected.tie_error["FirstTwo"] == 0.0
    np.testing.assert_array_equal(
        expected.per_query["FirstTwo"], rf.evaluate(scores, data, FirstTwo()).per_query["FirstTwo"]
    )


@pytest.mark.parametrize("ties", ["stable", "expected", "pessimistic", "optimistic"])
@pytest.mark.parametrize(
    "name", ["NDCG@3", "MAP", "MRR", "Recall@2", "Precision@3", "ERR", "PairwiseAccuracy", "KendallTau"]
)
def test_documents_not_retrieved_earn_nothing_and_count_in_the_ideal(name: str, ties: str) -> None:
    data, scores = tied_data(4, queries=30)
    scores[np.random.default_rng(1).random(len(scores)) < 0.4] = -np.inf
    found = rf.evaluate(scores, data, name, ties=ties).per_query[name]
    measure = rf.measure(name)
    kernel = measure.kernel_tuple()
    summary = {"stable": lambda values: values[0], "expected": np.mean, "pessimistic": min, "optimistic": max}[ties]
    for q, (labels, of_query) in enumerate(slow_twin.queries(data, scores)):
        worth = measure.worth(labels)
        normaliser = kernel.normaliser(np.sort(worth[~np.isnan(labels)])[::-1].copy())
        ranked = of_query > -np.inf
        retrieved = np.flatnonzero(ranked & ~np.isnan(labels) if measure.leaves_out_unlabelled else ranked)
        if normaliser == 0.0:
            assert np.isnan(found[q])
        elif not len(retrieved):
            assert found[q] == 0.0
        else:
            values = [
                kernel.value(worth[retrieved[order]].copy(), normaliser)
                for order in slow_twin.orders(of_query[retrieved])
            ]
            assert found[q] == pytest.approx(summary(values), abs=1e-12)


@pytest.mark.parametrize("ties", ["stable", "expected", "pessimistic", "optimistic", "hashed"])
def test_pairs_with_a_document_not_retrieved_are_neither_right_nor_wrong(ties: str) -> None:
    scores, labels = np.array([3.0, 2.0, -np.inf]), np.array([2.0, 1.0, 0.0])
    found = rf.evaluate(scores, labels, ["PairwiseAccuracy", "KendallTau"], qid=[1, 1, 1], ties=ties)
    assert found.mean["PairwiseAccuracy"] == pytest.approx(1 / 3)
    assert found.mean["KendallTau"] == pytest.approx(1 / 3)


def test_whole_numbers_that_rise_with_real_ones() -> None:
    values = np.array([-np.inf, -2.5, -1e-300, 0.0, 1e-300, 0.5, 3.0, np.inf])
    assert (np.diff(rising(values).astype(object)) > 0).all()
    assert rising(np.array([-0.0]))[0] == rising(np.array([0.0]))[0]


def test_document_ids_are_compared_as_text() -> None:
    data = rf.Dataset(np.zeros((4, 1)), np.zeros(4), qid=[1, 1, 1, 1], document_ids=["d10", "d9", "é", "d1"])
    np.testing.assert_array_equal(np.argsort(document_id_keys(data)), [2, 1, 0, 3])


def test_document_ids_are_needed() -> None:
    data, scores = tied_data()
    with pytest.raises(DataError, match="orders equal scores by document id, and the data has none"):
        rf.evaluate(scores, data, "NDCG@3", convention="trec")
