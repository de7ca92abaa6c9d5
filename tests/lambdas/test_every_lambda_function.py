"""What every λ-function must satisfy; a new one is checked because its file is there."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import rankforce as rf
from rankforce.forces.forces import Forces, RunningOrder
from rankforce.lambdas.catalogue import lambda_function, lambda_function_classes
from rankforce.lambdas.pairwise import PairwiseLambdaFunction
from rankforce.measures.judged import JudgedMeasure
from rankforce.objectives.objective import Objective, Pairs, Term

SETTINGS = {
    "LocalCost": [{"k": 3}],
    "FiniteDifference": [{"k": 2}],
    "Spring": [{"cap": 1.0}],
}
ALL = [
    lambda_class(**settings)
    for name, lambda_class in lambda_function_classes().items()
    for settings in [{}, *SETTINGS.get(name, [])]
]
PAIRWISE = [one for one in ALL if isinstance(one, PairwiseLambdaFunction)]

# The cost of a pair whose derivative by the gap is minus the force, at a fixed change, where it has a closed form.
COSTS = {
    "RankNetCost": lambda c, gap, change, normaliser: np.logaddexp(0.0, -c.sigma * gap),
    "RankNetWeightPairs": lambda c, gap, change, normaliser: change * np.logaddexp(0.0, -c.sigma * gap),
    "LocalCost": lambda c, gap, change, normaliser: change * np.logaddexp(0.0, -c.sigma * gap),
    "SpringSmooth": lambda c, gap, change, normaliser: (
        max(change * normaliser, 1.0) * np.logaddexp(0.0, -c.sigma * gap)
    ),
    "LocalGradient": lambda c, gap, change, normaliser: -change * np.sign(gap) * np.log1p(abs(gap) / c.margin),
    "SigmoidCost": lambda c, gap, change, normaliser: change / (1.0 + np.exp(c.sigma * (gap + c.mu))),
    "Step": lambda c, gap, change, normaliser: change * max(0.0, c.delta - gap),
    "Spring": lambda c, gap, change, normaliser: (
        change * (0.5 * c.delta**2 - c.cap * gap if gap < 0 and c.cap < np.inf else 0.5 * max(0.0, c.delta - gap) ** 2)
    ),
}
WITHOUT_CLOSED_FORM = {"NearPairs"}


def some_data(seed=0, sizes=(1, 2, 5, 9, 12), unlabelled=0.15):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    labels = rng.integers(0, 4, n).astype(float)
    labels[rng.random(n) < unlabelled] = np.nan
    return rf.Dataset(rng.random((n, 2)), labels, group=list(sizes))


def forces_at(data, term, scores):
    return Forces(data, Objective((term,)), 3).at(scores, RunningOrder(data, 3).update(scores))


def moved(worth, a, b):
    """The list with the entry at rank a taken out and put in at rank b."""
    rest = [*worth[:a], *worth[a + 1 :]]
    return np.array([*rest[:b], worth[a], *rest[b:]])


def discrete_bounded(lambda_function, grades, scores, ranked, value, normaliser):
    """By definition, by rank: grades, scores and worth in ranked order."""
    ideal = sorted((r for r in range(len(ranked)) if not np.isnan(grades[r])), key=lambda r: (-grades[r], r))
    for r in range(len(ranked)):
        if r in ideal:
            change = (value(moved(ranked, r, ideal.index(r))) - value(ranked)) * normaliser
            yield np.sign(r - ideal.index(r)) * min(abs(change), 1.0)
        else:
            yield np.nan


def finite_difference(lambda_function, grades, scores, ranked, value, normaliser):
    k = lambda_function.k
    for r in range(len(ranked)):
        slopes = []
        if r - k >= 0:
            up = value(moved(ranked, r, r - k)) - value(ranked)
            slopes.append(up / (scores[r - k] - scores[r] + lambda_function.margin))
        if r + k < len(ranked):
            down = value(ranked) - value(moved(ranked, r, r + k))
            slopes.append(down / (scores[r] - scores[r + k] + lambda_function.margin))
        yield np.nan if np.isnan(grades[r]) else np.mean(slopes or [0.0])


LISTWISE_TWINS = {"DiscreteBounded": discrete_bounded, "FiniteDifference": finite_difference}


def slow_forces(data, term, scores):
    """Forces and curvatures by definition, one list after the other."""
    judged = JudgedMeasure(data, term.measure)
    measure, lambda_function = term.measure.kernel_tuple(), term.lambda_function.kernel_tuple()
    order = RunningOrder(data, 3).update(scores)
    labels = data.labels["grades"]
    forces, curvatures = np.zeros(data.n_documents), np.zeros(data.n_documents)
    for q in range(data.n_queries):
        normaliser = judged.normalisers[q]
        if normaliser == 0:
            continue
        ranking = order[data.query_starts[q] : data.query_starts[q + 1]]
        worth = judged.worth[ranking]

        def value(ranked, normaliser=normaliser):
            return measure.value(ranked, normaliser)

        if not isinstance(term.lambda_function, PairwiseLambdaFunction):
            twin = LISTWISE_TWINS[type(term.lambda_function).__name__]
            found = np.array(
                list(twin(term.lambda_function, labels[ranking], scores[ranking], worth, value, normaliser))
            )
            if len(ranking) > 1:
                forces[ranking] = np.nan_to_num(found - np.nanmean(found))
            continue
        for a, i in enumerate(ranking):
            for b, j in enumerate(ranking):
                if labels[i] > labels[j] and abs(a - b) <= term.lambda_function.reach:
                    swapped = worth.copy()
                    swapped[[a, b]] = swapped[[b, a]]
                    change = abs(value(swapped) - value(worth))
                    force, curvature = lambda_function.pair_of_gap(scores[i] - scores[j], change, normaliser)
                    forces[[i, j]] += [force, -force]
                    curvatures[[i, j]] += curvature
    return forces, curvatures


@pytest.mark.parametrize("lambda_function", ALL, ids=repr)
def test_compiled_equals_plain_and_forces_sum_to_zero(lambda_function):
    data = some_data()
    scores = np.random.default_rng(1).normal(size=data.n_documents)
    term = Term(rf.NDCG(), lambda_function)
    forces, curvatures = forces_at(data, term, scores)
    slow, slow_curvatures = slow_forces(data, term, scores)
    np.testing.assert_allclose(forces, slow, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(curvatures, slow_curvatures, rtol=1e-9, atol=1e-12)
    assert abs(forces).max() > 0
    assert (curvatures > 0).any() == lambda_function.HAS_CURVATURE
    assert (forces[np.isnan(data.labels["grades"])] == 0).all()
    np.testing.assert_allclose(np.add.reduceat(forces, data.query_starts[:-1]), 0.0, atol=1e-12)


@pytest.mark.parametrize("k", [1, 2])
def test_finite_differences_are_those_of_the_value_whatever_swaps_pull(k):
    data = some_data()
    scores = np.random.default_rng(1).normal(size=data.n_documents)
    upward, every = (
        forces_at(data, Term(rf.MRR(swaps=swaps), rf.lambdas.FiniteDifference(k=k)), scores)[0]
        for swaps in ("upward", "all")
    )
    assert every.any()
    np.testing.assert_allclose(upward, every, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("lambda_function", ALL, ids=repr)
def test_the_better_of_two_is_never_pushed_down(lambda_function):
    gaps = np.array([-1e6, -3.0, -0.5, -1e-9, 0.0, 1e-9, 0.5, 3.0, 1e6])
    labels = np.tile([0.0, 3.0], len(gaps))
    scores = np.column_stack([np.zeros(len(gaps)), gaps]).ravel()
    data = rf.Dataset(np.zeros((len(labels), 1)), labels, group=[2] * len(gaps))
    forces, curvatures = forces_at(data, Term(rf.NDCG(), lambda_function), scores)
    assert (forces[1::2] >= 0).all()
    # there are only two ranks
    beyond = isinstance(lambda_function, rf.lambdas.FiniteDifference) and lambda_function.k > 1
    assert (forces[1::2] > 0).any() != beyond
    np.testing.assert_array_equal(forces[::2], -forces[1::2])
    assert (curvatures >= 0).all()


@pytest.mark.parametrize("lambda_function", ALL, ids=repr)
@pytest.mark.parametrize("spread", [1e-6, 1e6])
def test_wide_gaps_and_steep_sigmas_are_safe(lambda_function, spread):
    data = some_data()
    scores = np.random.default_rng(1).normal(size=data.n_documents) * spread
    for sigma in (1e-3, 1e3) if hasattr(lambda_function, "sigma") else (None,):
        chosen = lambda_function if sigma is None else dataclasses.replace(lambda_function, sigma=sigma)
        term = Term(rf.NDCG(), chosen)
        forces, curvatures = forces_at(data, term, scores)
        slow, slow_curvatures = slow_forces(data, term, scores)
        np.testing.assert_allclose(forces, slow, rtol=1e-9, atol=1e-9 * abs(slow).max())
        np.testing.assert_allclose(curvatures, slow_curvatures, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("lambda_function", PAIRWISE, ids=repr)
def test_no_pair_pushes_its_better_document_down(lambda_function):
    kernel = lambda_function.kernel_tuple()
    for gap in (-1e6, -2.0, -0.1, 0.0, 0.1, 2.0, 1e6):
        for change in (0.0, 1e-6, 0.3, 1.0):
            force, curvature = kernel.pair_of_gap(gap, change, 7.0)
            assert force >= 0.0
            assert curvature >= 0.0
            assert np.isfinite([force, curvature]).all()


@pytest.mark.parametrize("lambda_function", PAIRWISE, ids=repr)
def test_the_force_is_minus_the_derivative_of_its_cost(lambda_function):
    name = type(lambda_function).__name__
    if name not in COSTS:
        assert name in WITHOUT_CLOSED_FORM, f"say in COSTS what {name} derives from, or that it has no closed form"
        pytest.skip("no closed form")
    kernel = lambda_function.kernel_tuple()
    h = 1e-5
    for gap in (-3.0, -0.7, 0.3, 0.6, 2.5):
        above, below = (COSTS[name](lambda_function, gap + side * h, 0.3, 7.0) for side in (1, -1))
        slope = (above - below) / (2 * h)
        assert kernel.pair_of_gap(gap, 0.3, 7.0)[0] == pytest.approx(-slope, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("lambda_function", [one for one in PAIRWISE if one.HAS_CURVATURE], ids=repr)
def test_the_curvature_is_minus_the_slope_of_the_force(lambda_function):
    """Not for NearPairs, which leaves the slope of its divisor out, nor for a capped pull, whose slope is 0."""
    kernel = lambda_function.kernel_tuple()
    h = 1e-5
    gaps = (-3.0, -0.7, 0.3, 0.6, 2.5)
    for gap in (0.3, 0.6, 2.5) if getattr(lambda_function, "cap", np.inf) < np.inf else gaps:
        slope = (kernel.pair_of_gap(gap + h, 0.3, 7.0)[0] - kernel.pair_of_gap(gap - h, 0.3, 7.0)[0]) / (2 * h)
        curvature = kernel.pair_of_gap(gap, 0.3, 7.0)[1]
        if isinstance(lambda_function, rf.lambdas.NearPairs):
            assert 0 < curvature < -slope if gap > 0 else curvature > 0
        else:
            assert curvature == pytest.approx(-slope, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("lambda_function", PAIRWISE, ids=repr)
def test_coordinates_and_gaps_say_the_same(lambda_function):
    kernel = lambda_function.kernel_tuple()
    for better, worse in [(0.0, 0.0), (3.0, -4.0), (-100.0, 150.0)]:
        top = max(better, worse)
        x_better, x_worse = kernel.coordinate(better, top), kernel.coordinate(worse, top)
        by_coordinate = kernel.pair(x_better, x_worse, better - worse, 0.3, 5.0)
        np.testing.assert_allclose(by_coordinate, kernel.pair_of_gap(better - worse, 0.3, 5.0), rtol=1e-12)


@pytest.mark.parametrize("one", ALL, ids=repr)
def test_the_written_form_is_read_back(one):
    assert lambda_function(str(one)) == one
    assert lambda_function(type(one).__name__) == type(one)()
    held = dataclasses.replace(one, diagonal=0.25)
    assert lambda_function(str(held)) == held
    assert getattr(rf.lambdas, type(one).__name__) is type(one)
    assert type(one).__name__ in dir(rf.lambdas)


@pytest.mark.compiled_only
@pytest.mark.parametrize("lambda_function", ALL, ids=repr)
def test_every_one_trains_trees(lambda_function):
    data = some_data(sizes=(12,) * 20, unlabelled=0.0)
    data = rf.Dataset(
        data.labels["grades"][:, None] + np.random.default_rng(2).normal(size=(240, 1)), data.labels["grades"],
        group=[12] * 20,
    )  # fmt: skip
    step = "newton" if lambda_function.HAS_CURVATURE else "gradient"
    ranker = rf.LambdaMART(
        lambda_function=lambda_function, step=step, n_trees=5, n_leaves=4, min_documents=5, progress=False
    ).fit(data)
    start = rf.evaluate(np.zeros(240), data, "NDCG").mean["NDCG"]
    assert rf.evaluate(ranker, data, "NDCG").mean["NDCG"] > start + 0.1
    assert type(lambda_function).__name__ in ranker.model_.provenance.objective
    if not lambda_function.HAS_CURVATURE:
        with pytest.raises(rf.SettingsError, match="gradient"):
            rf.LambdaMART(lambda_function=str(lambda_function), step="newton", progress=False).fit(data)


def test_the_diagonal_term_holds_scores_back():
    data = some_data().replace(query_weights=np.array([1.0, 2.0, 3.0, 4.0, 0.0]))
    scores = np.random.default_rng(1).normal(size=data.n_documents)
    free = [array.copy() for array in forces_at(data, Term(rf.NDCG(), rf.lambdas.RankNetCost(), 0.5), scores)]
    held = forces_at(data, Term(rf.NDCG(), rf.lambdas.RankNetCost(diagonal=0.3), 0.5), scores)
    blank = JudgedMeasure(data, rf.NDCG()).normalisers == 0
    alpha = np.where(blank, 0.0, 0.5 * 0.3 * data.query_weights)[data.row_queries]
    np.testing.assert_allclose(held[0], free[0] - alpha * scores, atol=1e-12)
    np.testing.assert_allclose(held[1], free[1] + alpha, atol=1e-12)


def test_near_pairs_by_rank_among_the_first():
    data = some_data()
    scores = np.random.default_rng(1).normal(size=data.n_documents)
    forces, _ = forces_at(data, Term(rf.NDCG(), rf.lambdas.LocalCost(k=2), pairs=Pairs(top=3)), scores)
    order = RunningOrder(data, 3).update(scores)
    rank = np.empty(data.n_documents, dtype=int)
    rank[order] = np.arange(data.n_documents) - np.repeat(data.query_starts[:-1], np.diff(data.query_starts))
    assert (forces[rank > 4] == 0).all()
    assert (forces[rank == 4] != 0).any()


class FixedPull(rf.lambdas.PairwiseLambdaFunction):
    """A pairwise λ-function of a user."""

    width: float = 2.0

    def pair_of_gap(self, gap, change, normaliser):
        return (change * self.width if gap < self.width else 0.0), change


class Upwards(rf.lambdas.ListwiseLambdaFunction):
    """A listwise one: towards the mean grade's side, by what a move to the top would bring."""

    def forces(self, scores, grades, order, measure, state, out):
        for r in range(1, order.shape[0]):
            if not np.isnan(grades[order[r]]):
                out[order[r]] = rf.lambdas.value_if_moved(measure, state, r, 0) - state.value
        rf.lambdas.centre(grades, out)


def test_a_pairwise_one_of_the_users():
    data = some_data()
    scores = np.random.default_rng(1).normal(size=data.n_documents)
    term = Term(rf.NDCG(3), FixedPull(1.5))
    np.testing.assert_allclose(forces_at(data, term, scores)[0], slow_forces(data, term, scores)[0], atol=1e-12)
    assert lambda_function("FixedPull(width=3)") == FixedPull(3.0)


def test_a_listwise_one_of_the_users():
    data = some_data(sizes=(2, 6))
    scores = np.random.default_rng(1).normal(size=data.n_documents)
    forces, _ = forces_at(data, Term(rf.NDCG(3), Upwards()), scores)
    judged = JudgedMeasure(data, rf.NDCG(3))
    order = RunningOrder(data, 3).update(scores)
    labels = data.labels["grades"]
    for q in range(2):
        if judged.normalisers[q] == 0:
            continue
        ranking = order[data.query_starts[q] : data.query_starts[q + 1]]
        worth = judged.worth[ranking]
        value = judged.measure.kernel_tuple().value
        wanted = np.array([value(moved(worth, r, 0), judged.normalisers[q]) for r in range(len(worth))])
        wanted -= wanted[0]
        wanted[np.isnan(labels[ranking])] = np.nan
        np.testing.assert_allclose(forces[ranking], np.nan_to_num(wanted - np.nanmean(wanted)), atol=1e-12)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("Sprng", "did you mean Spring"),
        ("Spring(", "cannot read"),
        ("Spring(tension=1)", "it has: cap, delta, diagonal"),
        ("Spring(delta=-1)", "delta must be positive"),
        ("Spring(delta=long)", "delta must be a number"),
        ("LocalCost(k=0)", "k must be a whole number"),
        ("LocalCost(k=99999999999999999999)", "k must be a whole number from 1 to"),
        ("FiniteDifference(k=99999999999999999999)", "64 bits"),
        ("FiniteDifference(k=9999999999)", "k must be at least 1 and at most"),
        ("RankNetCost(diagonal=-1)", "diagonal must be a number"),
        ("NearPairs(margin=0)", "margin must be positive"),
        ("PairwiseLambdaFunction", "unknown λ-function"),
        (7, "written like"),
        (rf.lambdas.PairwiseLambdaFunction, "written like"),
    ],
)
def test_mistakes_are_refused(wrong, message):
    with pytest.raises(rf.SettingsError, match=message):
        lambda_function(wrong)


def test_aliases_and_classes():
    assert lambda_function("RankNet(sigma=2)") == rf.lambdas.RankNetCost(2.0)
    assert lambda_function("LambdaRank") == rf.lambdas.RankNetWeightPairs()
    assert lambda_function(rf.lambdas.Spring) == rf.lambdas.Spring()


def test_pairs_that_make_no_sense_are_refused():
    with pytest.raises(rf.SettingsError, match="whole lists"):
        Term(rf.NDCG(), rf.lambdas.DiscreteBounded(), pairs=Pairs(top=3))
    with pytest.raises(rf.SettingsError, match="cannot be sampled"):
        Term(rf.NDCG(), rf.lambdas.LocalCost(), pairs=Pairs(sample=3))


def test_the_guide_explains_every_one_with_its_parameters():
    guide = (Path(__file__).parents[2] / "docs" / "lambdas.md").read_text(encoding="utf-8")
    for name, lambda_class in lambda_function_classes().items():
        section = guide.partition(f"### {name}\n")[2].partition("\n#")[0]
        assert section, f"docs/lambdas.md has no section ### {name}"
        for field in dataclasses.fields(lambda_class):
            assert not field.init or field.name in ("sigma", "diagonal") or f"`{field.name}" in section
        for alias in lambda_class.__dict__.get("ALIASES", ()):
            assert f"`{alias}`" in section


class Misspelt(rf.lambdas.PairwiseLambdaFunction):
    def pair_of_gap(self, gap, change, normaliser):
        return chnage, 1.0  # noqa: F821  # that is the mistake


class ForceAlone(rf.lambdas.PairwiseLambdaFunction):
    def pair_of_gap(self, gap, change, normaliser):
        return change


class Empty(rf.lambdas.PairwiseLambdaFunction):
    """A pairwise one without its method."""


class EmptyList(rf.lambdas.ListwiseLambdaFunction):
    """A listwise one without its method."""


@pytest.mark.compiled_only
def test_one_of_the_users_that_cannot_be_compiled_is_refused_in_few_words():
    data = some_data()
    scores = np.zeros(data.n_documents)
    for function, words in (
        (Misspelt, r"Misspelt.pair_of_gap cannot be compiled: NameError: name 'chnage' is not defined \(.*, line"),
        (ForceAlone, "ForceAlone cannot be compiled: what a method returns .*unpack"),
    ):
        with pytest.raises(rf.SettingsError, match=words) as refused:
            forces_at(data, Term(rf.NDCG(3), function()), scores)
        assert len(str(refused.value).splitlines()) == 2


def test_one_of_the_users_without_its_method_is_refused():
    with pytest.raises(rf.SettingsError, match="Empty has no method pair_of_gap"):
        Empty()
    with pytest.raises(rf.SettingsError, match="EmptyList has no method forces"):
        EmptyList()
