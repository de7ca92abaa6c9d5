"""Effective pairs against a brute-force twin, and against what the definition promises."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

import rankforce as rf
from rankforce.forces.forces import RunningOrder
from rankforce.measures.judged import JudgedMeasure


def some_data(unlabelled=0.1):
    rng = np.random.default_rng(0)
    sizes = [1, 2, 7, 9, 15, 20]
    labels = rng.integers(0, 4, sum(sizes)).astype(float)
    labels[rng.random(len(labels)) < unlabelled] = np.nan
    return rf.Dataset(rng.random((len(labels), 1)), labels, group=sizes), rng.normal(size=len(labels))


def by_brute_force(data, scores, measure, lambda_function):
    """(effective, changing, pulled, documents): every pair, every swap by evaluating the whole list."""
    judged = JudgedMeasure(data, measure)
    kernel_measure, kernel_cost = measure.kernel_tuple(), lambda_function.kernel_tuple()
    order = RunningOrder(data, 0).update(scores)
    labels = data.labels["grades"]
    kept = np.arange(data.n_documents) if judged.kept is None else judged.kept
    found = np.zeros(3, dtype=int)
    documents = set()
    for q in range(data.n_queries):
        if judged.normalisers[q] == 0:
            continue
        ranking = [d for d in order[data.query_starts[q] : data.query_starts[q + 1]] if d in kept]
        worth = judged.worth[np.searchsorted(kept, ranking)]
        value = kernel_measure.value(worth, judged.normalisers[q])
        for (a, i), (b, j) in itertools.permutations(enumerate(ranking), 2):
            if not labels[i] > labels[j]:
                continue
            swapped = worth.copy()
            swapped[[a, b]] = swapped[[b, a]]
            change = abs(kernel_measure.value(swapped, judged.normalisers[q]) - value)
            change = change if change > 1e-12 else 0.0
            near = abs(a - b) <= lambda_function.reach
            force = kernel_cost.pair_of_gap(scores[i] - scores[j], change, judged.normalisers[q])[0] if near else 0.0
            found += [change > 0 and force > 0, change > 0, force > 0]
            if force > 0:
                documents |= {i, j}
    return (*found, len(documents))


@pytest.mark.parametrize("lambda_function", ["RankNetWeightPairs", "RankNet", "LocalCost(k=2)", "Step"])
@pytest.mark.parametrize("measure", ["NDCG", "NDCG@3", "MRR"])
def test_counts_equal_brute_force(measure, lambda_function):
    data, scores = some_data()
    row = rf.diagnostics.effective_pairs(data, scores, measure, lambda_function=lambda_function)[0]
    twin = by_brute_force(data, scores, rf.measure(measure), rf.lambdas.lambda_function(lambda_function))
    assert (row.effective, row.changing, row.pulled, row.documents) == twin
    assert 0 < row.effective <= row.changing <= row.graded_pairs


def test_unlabelled_documents_are_left_out_where_the_measure_says_so():
    data, scores = some_data(unlabelled=0.4)
    measure = rf.NDCG(3, judged_only=True)
    row = rf.diagnostics.effective_pairs(data, scores, measure)[0]
    assert (row.effective, row.changing, row.pulled, row.documents) == by_brute_force(
        data, scores, measure, rf.lambdas.RankNetWeightPairs()
    )


def test_bounds_are_pairs_of_labels():
    data, scores = some_data()
    labels = data.labels["grades"]
    pairs = [(labels[i], labels[j]) for rows in data.each_query() for i, j in itertools.permutations(rows, 2)]
    graded = sum(i > j for i, j in pairs)
    for threshold in (1, 2):
        binary = sum(i >= threshold > j for i, j in pairs)
        table = rf.diagnostics.effective_pairs(data, scores, ["NDCG", f"MAP(relevant={threshold})"], relevant=threshold)
        assert [(row.graded_pairs, row.binary_pairs) for row in table] == [(graded, binary)] * 2
        assert [row.bound for row in table] == [graded, binary]
        assert [row.kind for row in table] == ["graded", "binary"]
        assert table[1].share == table[1].effective / binary


def test_the_order_that_the_paper_finds():
    """NDCG sees the graded bound, NDCG@10 fewer, MAP the binary bound, MRR with upward swaps by far the fewest."""
    data = rf.make_artificial(queries=100, documents=50, features=5, seed=0)
    scores = np.random.default_rng(0).normal(size=data.n_documents)
    table = rf.diagnostics.effective_pairs(
        data, scores, ["NDCG", "NDCG@10", "MAP(relevant=2)", "MRR(relevant=2,swaps=upward)"]
    )
    ndcg, ndcg10, average_precision, first_hit = table
    assert ndcg.effective == ndcg.graded_pairs
    assert ndcg10.effective < ndcg.effective
    assert average_precision.effective == average_precision.binary_pairs
    assert first_hit.effective < 0.2 * first_hit.binary_pairs


def test_listwise_functions_have_documents_and_no_pairs():
    data, scores = some_data()
    row = rf.diagnostics.effective_pairs(data, scores, lambda_function=rf.lambdas.DiscreteBounded())[0]
    assert (row.effective, row.pulled) == (None, None)
    assert 0 < row.documents < data.n_documents
    assert row.changing == rf.diagnostics.effective_pairs(data, scores)[0].changing
    assert np.isnan(row.share)


def test_tables():
    data, scores = some_data()
    table = rf.diagnostics.effective_pairs(
        data, scores, ["NDCG", "MRR"], lambda_function=["RankNet", "DiscreteBounded"]
    )
    assert len(table) == 4
    assert table["MRR", "RankNet"] is table[2]
    with pytest.raises(KeyError):
        table["MRR", "Step"]
    text = str(table)
    assert "RankNetCost(sigma=1.0)" in text
    assert "(binary)" in text
    assert "<table" in table._repr_html_()
    frame = pytest.importorskip("pandas").DataFrame(table.to_dict())
    assert table.to_pandas().equals(frame)


def test_scores_must_be_finite_and_functions_named():
    data, scores = some_data()
    with pytest.raises(rf.DataError, match="finite"):
        rf.diagnostics.effective_pairs(data, np.where(np.arange(len(scores)) == 3, -np.inf, scores))
    with pytest.raises(rf.SettingsError, match="at least one"):
        rf.diagnostics.effective_pairs(data, scores, lambda_function=[])
    with pytest.raises(rf.DataError, match="must be a Dataset"):
        rf.diagnostics.effective_pairs(data.features, scores)
    with pytest.raises(rf.SettingsError, match="relevant must be a number"):
        rf.diagnostics.effective_pairs(data, scores, relevant="a")


def trained(data, **settings):
    return rf.LambdaMART(
        "NDCG@5", **({"n_trees": 5, "n_leaves": 5, "min_documents": 5, "progress": False} | settings)
    ).fit(data)


def test_a_ranker_or_its_model_brings_the_forces_of_its_training(tmp_path):
    data = rf.make_artificial(30, documents=(5, 12), features=4, seed=0)
    ranker = trained(data, lambda_function="LocalCost(k=2)", growth="leafwise")
    ranker.save(tmp_path / "model.json")
    scores = ranker.predict(data)
    asked = rf.diagnostics.effective_pairs(data, scores, "NDCG@5", lambda_function="LocalCost(k=2)")[0]
    for given in (ranker, ranker.model_, rf.load(tmp_path / "model.json")):
        table = rf.diagnostics.effective_pairs(data, given)
        assert table[0] == dataclasses.replace(asked, forces=table[0].forces)
        assert "forces: LocalCost(sigma=1.0, k=2), normalise=log" in str(table)
        assert "(of the training of LambdaMART)" in str(table)
    plain = rf.diagnostics.effective_pairs(data, scores)
    assert (plain[0].measure, plain[0].lambda_function) == ("NDCG", "RankNetWeightPairs(sigma=1.0)")
    assert (
        "RankNetWeightPairs(sigma=1.0) (assumed); give the fitted ranker in place of its scores, or lambda_function="
        in str(plain)
    )
    assert "assumed" in plain.to_dict()[0]["forces"]
    assert "assumed" in str(
        rf.diagnostics.effective_pairs(data, rf.MART(n_trees=2, min_documents=5, progress=False).fit(data))
    )
    assert "forces:" not in str(rf.diagnostics.effective_pairs(data, scores, lambda_function="RankNet"))


def test_springs_pull_at_documents_that_no_pair_pulls_at():
    data = rf.make_artificial(40, documents=(2, 30), features=4, seed=0)
    row, plain = (
        rf.diagnostics.effective_pairs(data, trained(data, growth=growth), "NDCG@5")[0]
        for growth in ("symmetric", "leafwise")
    )
    assert "anchor=1" in row.forces
    assert "anchor" not in plain.forces
    assert plain.documents < row.documents


def test_pairs_that_the_training_leaves_out_do_not_pull():
    data = rf.make_artificial(30, documents=15, features=4, seed=0)
    ranker = rf.LambdaMART(pairs=("top", 2), n_trees=3, min_documents=5, growth="leafwise", progress=False).fit(data)
    row = rf.diagnostics.effective_pairs(data, ranker)[0]
    every = rf.diagnostics.effective_pairs(data, ranker, lambda_function="NearPairs")[0]
    order = RunningOrder(data, 0).update(ranker.predict(data))
    rank = np.empty(data.n_documents)
    rank[order] = np.arange(data.n_documents) % 15
    grades, expected = data.label(), 0
    for q in range(data.n_queries):
        rows = range(15 * q, 15 * q + 15)
        expected += sum(grades[i] > grades[j] and min(rank[i], rank[j]) < 2 for i, j in itertools.permutations(rows, 2))
    assert row.pulled == expected < every.pulled
    assert row.changing == every.changing


def test_a_later_tier_pulls_where_earlier_ones_are_tied():
    data = rf.make_artificial(30, documents=10, features=4, seed=0, clicks=True)
    graded = rf.Graded(["NDCG", "CNDCG:clicks"], [0.8, 0.2])
    ranker = rf.LambdaMART(objective=graded, n_trees=3, min_documents=5, progress=False).fit(data)
    row = rf.diagnostics.effective_pairs(data, ranker, "CNDCG:clicks")[0]
    grades, clicks, expected = data.label(), data.label("clicks"), 0
    for q in range(data.n_queries):
        rows = range(10 * q, 10 * q + 10)
        tied = [grades[i] == grades[j] and clicks[i] > clicks[j] > 0 for i, j in itertools.permutations(rows, 2)]
        expected += sum(tied)
    assert row.pulled == expected < row.graded_pairs


def test_forces_that_nobody_knows_any_more():
    data = rf.make_artificial(20, documents=8, features=4, seed=0)
    model = trained(data).model_
    written = dict(model.provenance.settings) | {
        "forces": model.provenance.settings["forces"] | {"lambda_function": "Magnet(3)"}
    }
    foreign = dataclasses.replace(model, provenance=dataclasses.replace(model.provenance, settings=written))
    with pytest.raises(rf.SettingsError, match=r"not known here.*give lambda_function="):
        rf.diagnostics.effective_pairs(data, foreign)
    assert rf.diagnostics.effective_pairs(data, foreign, lambda_function="NearPairs")[0].pulled


def test_a_model_file_of_before_says_what_to_give():
    data = rf.make_artificial(20, documents=8, features=4, seed=0)
    model = trained(data).model_
    forces = dict(model.provenance.settings["forces"])
    forces["cost"] = forces.pop("lambda_function")
    settings = dict(model.provenance.settings) | {"forces": forces}
    before = dataclasses.replace(model, provenance=dataclasses.replace(model.provenance, settings=settings))
    with pytest.raises(rf.SettingsError, match=r"written before there was a lambda_function .* give lambda_function="):
        rf.diagnostics.effective_pairs(data, before)
    assert rf.diagnostics.effective_pairs(data, before, lambda_function="NearPairs")[0].pulled
