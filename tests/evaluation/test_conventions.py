"""Conventions: the table itself, what it refuses, and RankLib and the scripts of LETOR and MSLR against ports."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from tests.agreement.judged_lists import judged_lists

import rankforce as rf
from rankforce.errors import MeasureError, SettingsError
from rankforce.evaluation.conventions import CONVENTIONS
from rankforce.measures.catalogue import measure_classes

SCRIPTS = {
    "letor4": ({0: 0, 1: 1, 2: 3}, {1, 2}),
    "mslr": ({0: 0, 1: 1, 2: 3, 3: 7, 4: 15}, {2, 3, 4}),
}


def script_prints(
    labels: list[int], scores: list[float], gains: dict[int, int], relevant: set[int]
) -> dict[str, float]:
    """What the evaluation scripts of LETOR 4.0 and MSLR print for one query, statement by statement.

    Lines are ranked by score, equal scores in the order of the lines. DCG adds the gains of ranks 1 and 2 whole and
    divides that of rank r ≥ 3 by log2(r). NDCG exists for the positions of the list only; beyond, nothing is added
    to the sum over queries. Precision takes positions beyond the list as not relevant.
    """
    ranked = [labels[line] for line in sorted(range(len(labels)), key=lambda line: -scores[line])]
    printed: dict[str, float] = {}

    def dcg(of: list[int]) -> list[float]:
        sums = [float(gains[of[0]])]
        for position in range(2, len(of) + 1):
            discount = 1.0 if position == 2 else math.log(position) / math.log(2.0)
            sums.append(sums[-1] + gains[of[position - 1]] / discount)
        return sums

    found, best = dcg(ranked), dcg(sorted(ranked, key=lambda label: -gains[label]))
    hits, precisions = 0, 0.0
    for position in range(1, 11):
        printed[f"NDCG@{position}"] = 0.0
        if position <= len(ranked) and best[position - 1] != 0:
            printed[f"NDCG@{position}"] = found[position - 1] / best[position - 1]
        top = ranked[:position]
        printed[f"Precision@{position}"] = sum(label in relevant for label in top) / position
    for position, label in enumerate(ranked, start=1):
        if label in relevant:
            hits += 1
            precisions += hits / position
    printed["MAP"] = precisions / hits if hits else 0.0
    return printed


@pytest.mark.parametrize("convention", list(SCRIPTS))
@pytest.mark.parametrize("seed", range(3))
def test_the_scripts_print_the_same(convention: str, seed: int) -> None:
    gains, relevant = SCRIPTS[convention]
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 16, 40)
    labels = generator.integers(0, len(gains), sizes.sum())
    labels[np.repeat(np.arange(40) % 6 == 1, sizes)] = 0
    scores = generator.integers(0, 6, sizes.sum()).astype(np.float64)
    data = rf.Dataset(np.zeros((len(labels), 1)), labels, group=sizes)
    names = [*(f"NDCG@{k}" for k in range(1, 11)), *(f"Precision@{k}" for k in range(1, 11)), "MAP"]
    result = rf.evaluate(scores, data, names, convention=convention)
    ends = np.cumsum(sizes)
    printed = [
        script_prints(labels[end - size : end].tolist(), scores[end - size : end].tolist(), gains, relevant)
        for size, end in zip(sizes, ends, strict=True)
    ]
    for name in names:
        np.testing.assert_allclose(result.per_query[name], [one[name] for one in printed], rtol=1e-12, err_msg=name)
        assert result.mean[name] == pytest.approx(sum(one[name] for one in printed) / 40, rel=1e-12)


def ranklib_scores(labels: list[int], scores: list[float]) -> dict[str, float]:
    """What the scorers of RankLib give for one query.

    Equal scores stay in the order of the lines (its merge sort is stable). Gains are 2^label − 1, a query without a
    gain scores 0, precision divides by the list where that is shorter, MAP knows no cut-off, ERR stops at grade g
    with probability (2^g − 1) / 16.
    """
    ranked = [labels[line] for line in sorted(range(len(labels)), key=lambda line: -scores[line])]

    def dcg(of: list[int], k: int) -> float:
        return sum((2**label - 1) / math.log2(rank + 1) for rank, label in enumerate(of[:k], start=1))

    ideal = dcg(sorted(ranked, reverse=True), 5)
    first = next((rank for rank, label in enumerate(ranked[:5], start=1) if label > 0), None)
    relevant = [rank for rank, label in enumerate(ranked, start=1) if label > 0]
    err, goes_on = 0.0, 1.0
    for rank, label in enumerate(ranked[:5], start=1):
        stops = (2**label - 1) / 16
        err += goes_on * stops / rank
        goes_on *= 1.0 - stops
    return {
        "NDCG@5": dcg(ranked, 5) / ideal if ideal > 0 else 0.0,
        "DCG@5": dcg(ranked, 5),
        "ERR@5": err,
        "MAP": sum(n / rank for n, rank in enumerate(relevant, start=1)) / max(len(relevant), 1),
        "MRR@5": 0.0 if first is None else 1.0 / first,
        "Precision@5": sum(label > 0 for label in ranked[:5]) / min(5, len(ranked)),
    }


@pytest.mark.parametrize("seed", range(3))
def test_ranklib_scores_the_same(seed: int) -> None:
    lists = judged_lists(seed=seed)
    expected = [
        ranklib_scores(lists.labels[lists.queries == query].astype(int).tolist(), lists.scores[lists.queries == query])
        for query in range(1, len(lists.sizes) + 1)
    ]
    names = list(expected[0])
    result = rf.evaluate(lists.scores, lists.data(), names, convention="ranklib")
    for name in names:
        np.testing.assert_allclose(result.per_query[name], [one[name] for one in expected], rtol=1e-12, err_msg=name)
        assert result.mean[name] == pytest.approx(np.mean([one[name] for one in expected]), rel=1e-12)


def test_ranklib_knows_whole_labels_only() -> None:
    data = rf.Dataset(np.zeros((2, 1)), [0.5, 1.0], group=[2])
    with pytest.raises(MeasureError, match=r"RankLib reads labels as whole numbers, and a label is 0\.5"):
        rf.evaluate([1.0, 2.0], data, "NDCG@5", convention="ranklib")


def test_a_list_shorter_than_the_cut_off_scores_nothing() -> None:
    data = rf.Dataset(np.zeros((5, 1)), [2, 1, 0, 2, 0], qid=[1, 1, 2, 2, 2])
    result = rf.evaluate(np.arange(5.0), data, ["NDCG@2", "NDCG@3"], convention="letor4")
    assert result.per_query["NDCG@2"][0] == 1.0  # ranks 1 and 2 weigh the same
    assert result.per_query["NDCG@3"][0] == 0.0
    assert result.per_query["NDCG@3"][1] > 0.0


def test_every_rule_names_a_measure_and_its_parameters() -> None:
    for convention in CONVENTIONS.values():
        for name, rule in convention.rules.items():
            fields = {field.name for field in dataclasses.fields(measure_classes()[name])}
            assert set(rule.fixed) | set(rule.free) <= fields, (convention.name, name)
            assert rule.cutoff == "any" or "cutoff" in fields, (convention.name, name)


@pytest.mark.parametrize(
    ("measure", "convention", "message"),
    [
        ("ERR@5", "lightgbm", r"does not say how LightGBM computes ERR@5 \(it has: NDCG, MAP\)"),
        ("NDCG", "letor4", "NDCG with a cut-off only"),
        ("MAP@5", "mslr", "MAP without a cut-off only"),
        ("NDCG@5(discount=reciprocal)", "lightgbm", "fixes discount of NDCG"),
        ("MAP@5(relevant=2)", "lightgbm", "fixes relevant of MAP"),
        ("MAP(judged_only=true)", "trec", "fixes judged_only of MAP"),
        ("MAP(relevant=1)", "mslr", "asks for relevant=1"),  # the default, but written out
        ("NDCG@5(gain=exponential)", "sklearn", "asks for gain=exponential"),
        ("NDCG@5(gain=0/1/3)", "catboost", "fixes gain of NDCG"),
    ],
)
def test_what_a_convention_does_not_allow(measure: str, convention: str, message: str) -> None:
    data = rf.Dataset(np.zeros((3, 1)), [1, 0, 1], qid=[1, 1, 1], document_ids=["a", "b", "c"])
    with pytest.raises(SettingsError, match=message):
        rf.evaluate(np.arange(3.0), data, measure, convention=convention)


def test_a_default_that_is_written_out_is_asked_for() -> None:
    data = rf.Dataset(np.zeros((4, 1)), [1, 0, 3, 2], qid=[1] * 4, document_ids=list("abcd"))

    def value(measure: str, convention: str | None = "trec") -> float:
        return rf.evaluate(np.arange(4.0), data, measure, convention=convention).mean[measure]

    assert value("NDCG@3") == value("NDCG@3(gain=linear)", None) != value("NDCG@3", None)
    assert value("NDCG@3(gain=exponential)") == value("NDCG@3", None)


def test_labels_that_a_script_does_not_know() -> None:
    data = rf.Dataset(np.zeros((3, 1)), [3, 0, 1], qid=[1, 1, 1])
    with pytest.raises(MeasureError, match="label 3 has no entry in the gain table"):
        rf.evaluate(np.arange(3.0), data, "NDCG@2", convention="letor4")


def test_what_was_computed_is_said() -> None:
    data = rf.Dataset(np.zeros((3, 1)), [1, 0, 0], qid=[1, 1, 2], query_weights=[1.0, 2.0])
    result = rf.evaluate(np.arange(3.0), data, ["NDCG@2", "MAP"], convention="mslr")
    text = str(result)
    assert "convention: mslr; ties: stable (equal scores in row order); blank queries: counted as 0" in text
    assert "query weights: not used (the MSLR script has none)" in text
    assert "NDCG@2: gain 0/1/3/7/15, discount letor" in text
    assert result.to_dict()["measures"]["NDCG@2"]["computed_as"] == "NDCG@2(gain=0/1/3/7/15,discount=letor)"
    mixed = rf.evaluate(np.arange(3.0), data, ["NDCG@2", "MAP"], convention="catboost")
    assert "blank queries: NDCG@2 one, MAP zero" in str(mixed)
    assert "used, but not for MAP (CatBoost ignores them there)" in str(mixed)


def test_other_label_sources_take_unlabelled_documents_as_not_relevant() -> None:
    data = rf.Dataset(np.zeros((3, 1)), [1, 0, 1], qid=[1, 1, 1], labels={"clicks": [np.nan, 0.0, 1.0]})
    scores = np.array([3.0, 2.0, 1.0])
    assert rf.evaluate(scores, data, "MAP:clicks").mean["MAP:clicks"] == 1 / 2
    assert rf.evaluate(scores, data, "MAP:clicks", convention="mslr").mean["MAP:clicks"] == 0.0
    assert rf.evaluate(scores, data, "MAP:clicks", convention="letor4").mean["MAP:clicks"] == pytest.approx(1 / 3)
