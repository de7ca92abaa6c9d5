"""The instrument that tells whether forces derive from a cost."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankforce as rf
from rankforce.diagnostics.force_check import BETWEEN, CONVEX, COST, NONE
from rankforce.lambdas.catalogue import lambda_function_classes
from rankforce.objectives.objective import Objective, Pairs, Term


def test_ranknet_is_a_convex_cost():
    found = rf.diagnostics.check_forces("RankNet", "NDCG")
    assert found.verdict == CONVEX
    assert found.sum_of_forces < 1e-12
    assert found.symmetry_error < 1e-6
    assert -1e-8 < found.smallest_eigenvalue < 1e-8  # (1, …, 1) has eigenvalue 0
    assert found.largest_eigenvalue > 0.1
    assert math.isnan(found.circulation_exponent)
    assert max(circulation for _, circulation in found.circulations) == 0.0


def test_a_diagonal_pulls_a_list_as_a_whole():
    """−α·s beside forces that sum to 0: Σλ = −α·Σs, and the smallest eigenvalue rises from 0 to α."""
    found = rf.diagnostics.check_forces("RankNet(diagonal=0.1)", "NDCG")
    assert found.verdict == CONVEX
    assert found.sum_of_forces > 0.1
    assert found.smallest_eigenvalue == pytest.approx(0.1, abs=1e-6)


@pytest.mark.parametrize("radius", [1e-6, 1.0])
@pytest.mark.parametrize("spread", [1e-3, 10.0])
@pytest.mark.parametrize(
    ("lambda_function", "verdict"), [("RankNet", CONVEX), ("LambdaRank", BETWEEN), ("SigmoidCost", BETWEEN)]
)
def test_verdicts_hold_at_the_ends_of_what_is_sensible(lambda_function, verdict, spread, radius):
    assert rf.diagnostics.check_forces(lambda_function, spread=spread, radius=radius).verdict == verdict


def test_lambdarank_is_a_cost_only_between_changes_of_order():
    found = rf.diagnostics.check_forces("LambdaRank", "NDCG")
    assert found.verdict == BETWEEN
    assert found.symmetry_error < 1e-6
    assert found.circulation_exponent == pytest.approx(1.0, abs=0.05)
    radii, circulations = zip(*found.circulations, strict=True)
    ratios = [circulation / radius for radius, circulation in zip(radii, circulations, strict=True)]
    np.testing.assert_allclose(ratios, ratios[0], rtol=0.05)
    assert ratios[0] > 1e-3


def test_the_circulation_of_lambdarank_by_hand():
    """Around a tie of a and b ∮λ·ds = 2·radius·(jump of λ along the loop's direction), the jump from both rankings."""
    labels = np.array([2.0, 0.0, 1.0])
    found = rf.diagnostics.check_forces("LambdaRank", "NDCG", labels=labels, samples=200, radius=1e-4)

    def forces(scores):
        gains, discounts = 2.0**labels - 1, 1 / np.log2(2 + np.argsort(np.argsort(-scores)))
        best = (np.sort(gains)[::-1] / np.log2(2 + np.arange(3))).sum()
        result = np.zeros(3)
        for i in range(3):
            for j in range(3):
                if labels[i] > labels[j]:
                    change = abs((gains[i] - gains[j]) * (discounts[i] - discounts[j])) / best
                    force = change / (1 + np.exp(scores[i] - scores[j]))
                    result[[i, j]] += [force, -force]
        return result

    # With three documents the only direction along the tie that does not move the list is (1, 1, −2)/√6.
    jumps = [0.0]
    for a, b, c in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
        for gap in (*np.linspace(1e-3, 8, 400), *np.linspace(-8, -1e-3, 400)):
            one, other = np.zeros(3), np.zeros(3)
            one[c] = other[c] = gap
            one[[a, b]] = 1e-9, -1e-9
            other[[a, b]] = -1e-9, 1e-9
            along = np.ones(3) / np.sqrt(6)
            along[c] = -2 / np.sqrt(6)
            jumps.append(abs((forces(one) - forces(other)) @ along))
    assert found.circulations[0][1] <= 2 * 1e-4 * max(jumps) * 1.01
    assert found.circulations[0][1] >= 2 * 1e-4 * max(jumps) * 0.7


@pytest.mark.parametrize(
    ("lambda_function", "measure", "verdict"),
    [
        ("SpringSmooth", "MRR", CONVEX),  # the bound of 1 always acts: RankNet
        ("SpringSmooth", "NDCG", BETWEEN),
        ("NearPairs", "NDCG", BETWEEN),
        ("LocalCost", "NDCG", BETWEEN),
        ("Spring", "NDCG", BETWEEN),
        ("DiscreteBounded", "NDCG", BETWEEN),
        ("FiniteDifference", "NDCG", NONE),
        ("LambdaRank", "PairwiseAccuracy", BETWEEN),
        ("RankNet(diagonal=0.5)", "NDCG", CONVEX),
    ],
)
def test_verdicts(lambda_function, measure, verdict):
    assert rf.diagnostics.check_forces(lambda_function, measure).verdict == verdict


@pytest.mark.parametrize("name", list(lambda_function_classes()))
def test_every_lambda_function_can_be_checked(name):
    found = rf.diagnostics.check_forces(name, samples=8)
    assert found.sum_of_forces < 1e-9
    assert found.verdict in str(found)
    assert found.to_dict()["verdict"] == found.verdict


class Steady(rf.lambdas.PairwiseLambdaFunction):
    """One that ignores the measure: |gap| has a kink where the order changes, and one branch is concave."""

    def pair_of_gap(self, gap, change, normaliser):
        return 1.0 / (1.0 + abs(gap)), 0.0


class Wheel(rf.lambdas.ListwiseLambdaFunction):
    """Forces that turn: every document is pulled by the score of the next."""

    def forces(self, scores, grades, order, measure, state, out):
        for d in range(out.shape[0]):
            out[d] = scores[(d + 1) % out.shape[0]] - scores[d]


def test_forces_of_ones_own():
    assert rf.diagnostics.check_forces(Steady()).verdict == COST
    wheel = rf.diagnostics.check_forces(Wheel())
    assert wheel.verdict == NONE
    assert wheel.symmetry_error > 0.5


class UnitStep(rf.lambdas.PairwiseLambdaFunction):
    """The force of max(0, ½ − gap)."""

    def pair_of_gap(self, gap, change, normaliser):
        return (1.0 if gap < 0.5 else 0.0), 0.0


def test_a_jump_within_a_region_is_no_change_of_order():
    """Loops that meet the jump of the force at a gap of ½ are told from those whose force changes with the order."""
    assert rf.diagnostics.check_forces(UnitStep()).verdict == CONVEX


def test_whole_objectives():
    convex = Objective(
        (Term(rf.NDCG(), rf.lambdas.RankNetCost()), Term(rf.CNDCG("clicks"), rf.lambdas.RankNetCost(2.0), 0.5))
    )
    found = rf.diagnostics.check_forces(convex)
    assert found.verdict == CONVEX
    assert found.near_force is None
    mixed = Objective((Term(rf.NDCG(), rf.lambdas.RankNetCost()), Term(rf.CNDCG("clicks"))))
    assert rf.diagnostics.check_forces(mixed).verdict == BETWEEN
    changing = rf.Scheduled(rf.Term("NDCG", "RankNet"), rf.Term("NDCG"), [0.0, 1.0])
    assert [rf.diagnostics.check_forces(changing, iteration=m).verdict for m in (0, 1)] == [CONVEX, BETWEEN]
    tiers = rf.Graded([rf.Term("NDCG", "RankNet"), rf.Term("CNDCG:clicks", "RankNet")], weights=[0.9, 0.1])
    assert rf.diagnostics.check_forces(tiers).verdict == CONVEX
    labels = {"grades": [1, 0, 2, 0], "clicks": [0.3, 0.1, 0.0, 1.0]}
    assert rf.diagnostics.check_forces(mixed, labels=labels).documents == 4


def test_the_easy_win_is_preferred():
    """[LR] Eq. 2, for WTA: the relevant document at rank 2 should be pulled harder than the one at rank 20.

    A pull through ρ alone does not: ρ is ½ at the top and rises to 1 with the distance.
    """
    found = {name: rf.diagnostics.check_forces(name, samples=1) for name in lambda_function_classes()}
    preferring = {name for name, one in found.items() if one.near_force > one.far_force}
    wanted = {"NearPairs", "LocalCost", "LocalGradient", "DiscreteBounded", "FiniteDifference", "SigmoidCost"}
    assert preferring == wanted
    lambdarank = found["RankNetWeightPairs"]
    assert lambdarank.far_force / 2 < lambdarank.near_force < lambdarank.far_force


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"labels": [1, 1, 1]}, rf.DataError, "no force"),
        ({"labels": [1, 0]}, rf.DataError, "at least three"),
        ({"labels": ["a", "b", "c"]}, rf.DataError, "numbers"),
        ({"labels": {"grades": [1, 0, 0], "clicks": [1, 0]}}, rf.DataError, "equally long"),
        *(({"samples": wrong}, rf.SettingsError, "samples must be a whole") for wrong in (0, 1.5, "a", True, None)),
        *(({"spread": wrong}, rf.SettingsError, "spread must") for wrong in (0.0, math.nan, math.inf, 1e9, 1e-9, "a")),
        *(({"radius": wrong}, rf.SettingsError, "radius must") for wrong in (-1.0, math.nan, math.inf, None, True)),
        *(({"radius": wrong}, rf.SettingsError, "between 1e-06 and 1, .*rounding") for wrong in (1e-300, 1e6)),
        *(({"iteration": wrong}, rf.SettingsError, "iteration must be a whole") for wrong in ("a", -1, 0.5)),
        ({"normalise": "x"}, rf.SettingsError, "normalise must be one of 'none', 'log', 'deviation'"),
        ({"lambda_function": "Nothing"}, rf.SettingsError, "unknown"),
        ({"lambda_function": Term("NDCG", share=0)}, rf.SettingsError, "nothing pulls"),
        ({"lambda_function": Objective((Term(rf.NDCG(), pairs=Pairs(sample=2)),))}, rf.SettingsError, "sampled"),
    ],
)
def test_mistakes_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        rf.diagnostics.check_forces(**({"lambda_function": "RankNet"} | arguments))
