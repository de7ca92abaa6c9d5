"""The bias of positions, weighed out of pairs: forces and ratios against the formulas, one pair after the other."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankforce as rf
from rankforce.forces.forces import Forces, RunningOrder, TermForces
from rankforce.forces.trained_forces import springs_on
from rankforce.objectives.objective import Objective, Pairs
from rankforce.threads import using_threads

PROPENSITIES = [1.0, 0.5, 0.3, 0.2, 0.1, 0.01]


def lists(seed=0, count=12, size=6, clicks=0.3, unlabelled=0.0, **parts):
    """Lists of clicked and unclicked documents, and where they stood."""
    random = np.random.default_rng(seed)
    n = count * size
    clicked = (random.random(n) < clicks).astype(float)
    position = np.concatenate([random.permutation(size) + 1.0 for _ in range(count)])
    clicked[random.random(n) < unlabelled] = np.nan
    data = rf.Dataset(random.random((n, 3)), group=[size] * count, labels={"clicks": clicked}, **parts)
    return data.with_label("position", position)


def pairs_of(data, term, scores, seed):
    """(query, better, worse, |ΔZ|, gap) of every pair, by definition."""
    measure = term.measure.kernel_tuple()
    order = RunningOrder(data, seed).update(scores)
    labels = data.label("clicks")
    judged = TermForces(data, rf.Term(term.measure), seed).judged
    for q, rows in enumerate(data.each_query()):
        ranked = [row for row in order[data.query_starts[q] : data.query_starts[q + 1]] if not np.isnan(labels[row])]
        worth = np.array(
            [judged.worth[row if judged.kept is None else np.searchsorted(judged.kept, row)] for row in ranked]
        )
        normaliser = judged.normalisers[q]
        if normaliser == 0.0:
            continue
        for i in rows:
            for j in rows:
                if labels[i] > labels[j]:
                    swapped = worth.copy()
                    a, b = ranked.index(i), ranked.index(j)
                    swapped[[a, b]] = swapped[[b, a]]
                    change = abs(measure.value(swapped, normaliser) - measure.value(worth, normaliser))
                    yield q, i, j, change, scores[i] - scores[j]


def slow_forces(data, term, scores, weight, seed=3):
    """Forces from pairs weighed by ``weight(better, worse)``."""
    forces, curvatures = np.zeros(data.n_documents), np.zeros(data.n_documents)
    queries = np.ones(data.n_queries) if data.query_weights is None else data.query_weights
    documents = np.ones(data.n_documents) if data.weights is None else data.weights
    for q, i, j, change, gap in pairs_of(data, term, scores, seed):
        rho = 1.0 / (1.0 + math.exp(gap))
        scale = queries[q] * documents[i] * documents[j] * change * weight(i, j)
        forces[i] += scale * rho
        forces[j] -= scale * rho
        curvatures[[i, j]] += scale * rho * (1.0 - rho)
    return forces, curvatures


def fast_forces(data, term, scores, seed=3):
    return Forces(data, Objective((term,)), seed).at(scores, RunningOrder(data, seed).update(scores))


def check(fast, slow):
    np.testing.assert_allclose(fast[0], slow[0], rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(fast[1], slow[1], rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("clip", [0.0, 0.15])
@pytest.mark.parametrize("pairs", [None, "top 100"])
def test_a_pair_counts_the_inverse_propensity_of_its_click(clip, pairs):
    data = lists(unlabelled=0.1)
    random = np.random.default_rng(1)
    data = data.replace(weights=random.random(data.n_documents), query_weights=random.random(data.n_queries))
    scores = random.normal(size=data.n_documents)
    term = rf.Term("NDCG:clicks", bias=rf.InversePropensities(PROPENSITIES, clip=clip), pairs=pairs)
    position = data.label("position").astype(int)
    slow = slow_forces(data, term, scores, lambda i, j: 1.0 / max(PROPENSITIES[position[i] - 1], clip))
    check(fast_forces(data, term, scores), slow)


def test_propensities_of_one_change_nothing():
    data = lists()
    scores = np.random.default_rng(2).normal(size=data.n_documents)
    plain = fast_forces(data, rf.Term("NDCG:clicks"), scores)
    even = fast_forces(data, rf.Term("NDCG:clicks", bias=[1.0] * 6), scores)
    assert even[0].tolist() == plain[0].tolist()
    assert even[1].tolist() == plain[1].tolist()


def slow_costs(data, term, scores, seed=3):
    """The cost of all pairs by positions."""
    position = data.label("position")
    count = int(np.nanmax(position))
    costs = np.zeros((count, count))
    queries = np.ones(data.n_queries) if data.query_weights is None else data.query_weights
    for q, i, j, change, gap in pairs_of(data, term, scores, seed):
        if not (math.isnan(position[i]) or math.isnan(position[j])):
            cost = change * math.log1p(math.exp(-gap))
            costs[int(position[i]) - 1, int(position[j]) - 1] += queries[q] * cost
    return costs


def paper_ratios(costs, norm, rounds):
    """t⁺ and t⁻ by the updates of the paper, one after the other, with loops."""
    size = len(costs)
    plus, minus = [1.0] * size, [1.0] * size
    for _ in range(rounds):
        sums = [sum(costs[k][j] / minus[j] for j in range(size)) for k in range(size)]
        plus = [(one / sums[0]) ** (1.0 / (1.0 + norm)) for one in sums]
        sums = [sum(costs[i][k] / plus[i] for i in range(size)) for k in range(size)]
        minus = [(one / sums[0]) ** (1.0 / (1.0 + norm)) for one in sums]
    return np.array(plus), np.array(minus)


@pytest.mark.parametrize("norm", [0.0, 0.5, 1.0, 3.0])
def test_joint_ratios_are_where_the_updates_of_the_paper_end(norm):
    data = lists(count=60)
    scores = np.random.default_rng(3).normal(size=data.n_documents)
    term = rf.Term("NDCG:clicks", bias=rf.JointRatios(norm, clip=1e-6))
    costs = slow_costs(data, term, scores)
    plus, minus = paper_ratios(costs, norm, 3000 if norm == 0.0 else 300)
    position = data.label("position").astype(int) - 1
    assert term.bias.ratios(costs)[0] == pytest.approx(plus, rel=1e-6)
    assert term.bias.ratios(costs)[1] == pytest.approx(minus, rel=1e-6)
    slow = slow_forces(data, term, scores, lambda i, j: 1.0 / (plus[position[i]] * minus[position[j]]))
    fast = fast_forces(data, term, scores)
    np.testing.assert_allclose(fast[0], slow[0], rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(fast[1], slow[1], rtol=1e-5, atol=1e-9)


def test_costs_of_pairs_are_those_of_a_loop_whatever_threads_and_order():
    random = np.random.default_rng(4)
    data = lists(count=40, unlabelled=0.1).replace(query_weights=random.random(40))
    scores = random.normal(size=data.n_documents)
    term = rf.Term("NDCG:clicks", bias="joint")

    def costs(of, at):
        forces = TermForces(of, term, 3)
        kept = forces.judged.kept
        order = RunningOrder(of, 3).update(at)
        own = (order, at) if kept is None else (forces.judged.order_of_kept(order), at[kept])
        return forces.position_weights.costs(
            forces._scored(*own, forces.query_weights)._replace(document_weights=forces.document_weights),
            forces.pair_places, forces.column_count, forces.costs,
        )  # fmt: skip

    found = costs(data, scores)
    np.testing.assert_allclose(found, slow_costs(data, term, scores), atol=1e-9)
    with using_threads(3):
        assert costs(data, scores).tolist() == found.tolist()
    turned = np.concatenate([np.arange(q * 6, q * 6 + 6) for q in range(39, -1, -1)])
    labels = {name: values[turned] for name, values in data.labels.items()}
    weights = data.query_weights[::-1]
    other = rf.Dataset(data.features[turned], qid=data.qid[turned], labels=labels, query_weights=weights)
    assert costs(other, scores[turned]).tolist() == found.tolist()


def test_without_a_bias_joint_ratios_stay_near_one():
    data = lists(seed=5, count=3000)
    term = rf.Term("NDCG:clicks", bias=rf.JointRatios(0.0))
    forces = TermForces(data, term, 0)
    zeros = np.zeros(data.n_documents)
    weights = forces.weights_at(RunningOrder(data, 0).update(zeros), zeros)
    assert np.abs(np.log(weights)).max() < 0.15


def test_documents_that_were_not_shown_are_worse_than_clicks_and_nothing_else():
    data = lists(count=20)
    position = np.array(data.label("position"))
    hidden = (data.label("clicks") == 0.0) & (np.arange(data.n_documents) % 3 == 0)
    position[hidden] = np.nan
    data = data.with_label("position", position)
    scores = np.random.default_rng(6).normal(size=data.n_documents)
    term = rf.Term("NDCG:clicks", bias=PROPENSITIES)
    clip = term.bias.clip
    slow = slow_forces(data, term, scores, lambda i, j: 1.0 / max(PROPENSITIES[int(position[i]) - 1], clip))
    check(fast_forces(data, term, scores), slow)
    joint = rf.Term("NDCG:clicks", bias="joint")
    plus, minus = joint.bias.ratios(slow_costs(data, joint, scores))

    def weight(i, j):
        below = 1.0 if math.isnan(position[j]) else minus[int(position[j]) - 1]
        return 1.0 / (plus[int(position[i]) - 1] * below)

    check(fast_forces(data, joint, scores), slow_forces(data, joint, scores, weight))


def test_springs_of_an_anchor_count_clicks_as_pairs_do():
    data = lists(count=30, seed=11)
    for bias in (rf.InversePropensities(PROPENSITIES), rf.JointRatios()):
        forces = Forces(data, Objective((rf.Term("NDCG:clicks", bias=bias),)), 3)
        springs = springs_on(data, forces, 1.0, 1.0, 3)
        equal = np.zeros(data.n_documents)
        wanted = forces.terms[0].weights_at(RunningOrder(data, 3).update(equal), equal)
        assert springs.weights.tolist() == wanted.tolist()
        assert len(set(wanted.tolist())) > 2


def test_bias_goes_with_tiers_schedules_and_rules_of_pairs():
    data = lists(count=30).with_label("grades", np.random.default_rng(7).integers(0, 3, 180))
    clicks = rf.Term("NDCG:clicks", bias=PROPENSITIES)
    graded = rf.Graded(["NDCG", clicks], [0.7, 0.3])
    assert graded.terms[1].bias == clicks.bias
    scheduled = rf.Scheduled("NDCG", clicks, rf.schedules.Linear(0.1, 0.1))
    settings = {"n_trees": 3, "n_leaves": 4, "min_documents": 2, "progress": False}
    top = Objective((rf.Term("NDCG:clicks", bias="joint", pairs=Pairs(top=3)),))
    for objective in (graded, scheduled, top):
        ranker = rf.LambdaMART(objective=objective, step="gradient", **settings).fit(data)
        assert np.isfinite(ranker.predict(data)).all()
        kept = rf.read_objective(ranker.model_.provenance.settings["objective"])
        assert [term.bias for term in kept.terms] == [term.bias for term in objective.terms]


def test_joint_ratios_follow_the_scores_of_every_iteration_and_checkpoints_go_on(tmp_path):
    data = lists(count=60)
    settings = {"n_leaves": 4, "min_documents": 2, "progress": False}
    objective = rf.Term("NDCG:clicks", bias="joint")
    whole = rf.LambdaMART(objective=objective, n_trees=8, **settings).fit(data)
    path = tmp_path / "training"
    rf.LambdaMART(objective=objective, n_trees=4, **settings).fit(data, checkpoint=path)
    again = rf.LambdaMART(objective=objective, n_trees=8, **settings).fit(data, checkpoint=path)
    assert again.predict(data).tolist() == whole.predict(data).tolist()
    short = rf.LambdaMART(objective=objective, n_trees=4, **settings).fit(data)
    assert short.predict(data).tolist() == whole.model_.truncate(4).predict(data).tolist()


@pytest.mark.parametrize("update", ["query", "pair", "batch"])
def test_nets_learn_from_weighed_pairs(update):
    data = lists(count=30, seed=8)
    settings = {"epochs": 2, "hidden": 3, "update": update, "progress": False, "learning_rate": 0.01}
    scores = {}
    for name, bias in (("none", None), ("even", [1.0] * 6), ("inverse", PROPENSITIES), ("joint", "joint")):
        ranker = rf.LambdaRank(objective=rf.Term("NDCG:clicks", bias=bias), **settings).fit(data)
        scores[name] = ranker.predict(data).tolist()
    assert scores["even"] == scores["none"]
    assert scores["inverse"] != scores["none"]
    assert scores["joint"] != scores["none"]


def test_a_net_that_steps_by_query_through_several_terms_has_no_joint_ratios():
    data = lists(count=10).with_label("grades", np.zeros(60))
    objective = rf.Graded(["NDCG", rf.Term("NDCG:clicks", bias="joint")])
    with pytest.raises(rf.SettingsError, match="update='batch'"):
        rf.LambdaRank(objective=objective, epochs=1, progress=False).fit(data)


def test_data_that_cannot_be_unbiased_is_refused():
    data = lists()

    def fit(given, bias="joint"):
        rf.LambdaMART(objective=rf.Term("NDCG:clicks", bias=bias), n_trees=1, progress=False).fit(given)

    without = data.replace(labels={"clicks": data.label("clicks")})
    with pytest.raises(rf.MeasureError, match="no label source 'position'"):
        fit(without)
    with pytest.raises(rf.DataError, match="clicks of single lists"):
        fit(data.with_label("clicks", data.label("clicks") / 2))
    with pytest.raises(rf.DataError, match="whole numbers from 1"):
        fit(data.with_label("position", data.label("position") - 1))
    with pytest.raises(rf.DataError, match="says no position"):
        fit(data.with_label("position", np.full(data.n_documents, np.nan)))
    with pytest.raises(rf.MeasureError, match="the first 2 positions only"):
        fit(data, [1.0, 0.5])
