"""The search for the weights of rankers: one sweep for two, sweeps in turn for more, or a net."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from rankforce.combining.net import learned_net, linear_weights
from rankforce.combining.pair import Chosen, best_pair
from rankforce.combining.target import MeanMeasure
from rankforce.data.dataset import Dataset
from rankforce.data.random_streams import Stream
from rankforce.measures.measure import Measure
from rankforce.models.combination import weighted_sum
from rankforce.models.net import Net
from rankforce.models.stacked import stacked_scores
from rankforce.sweeping.sweep import check_sizes

BETTER = 1e-12  # a mean must rise by more than rounding to count as an improvement


@dataclasses.dataclass(frozen=True)
class How:
    """What is searched."""

    measure: Measure
    method: str
    search: str
    hidden: int
    blank: str
    starts: int
    seed: int


@dataclasses.dataclass(frozen=True, eq=False)
class Found:
    """Weights, or a net, and what the search saw."""

    weights: np.ndarray | None
    value: float
    singles: tuple[float, ...]
    chosen: tuple[Chosen, ...]
    net: Net | None = None

    def applied_to(self, scores: list[np.ndarray]) -> np.ndarray:
        """The combination of these scores."""
        if self.net is not None:
            return stacked_scores(self.net, scores)
        return weighted_sum(self.weights, scores)

    @property
    def best_single(self) -> int:
        return int(np.argmax(self.singles))


def best_weights(
    scores: list[np.ndarray], data: Dataset, how: How, names: tuple[str, ...], queries: np.ndarray | None = None
) -> Found:
    """The combination chosen on ``queries``, a mask, or on all of them."""
    target = MeanMeasure(data, how.measure, how.blank, queries)
    singles = tuple(target.mean(member) for member in scores)
    if how.method == "net":
        net = learned_net(scores, data, how.measure, how.hidden, how.seed, queries)
        if how.hidden == 0:
            weights = linear_weights(net)
            return Found(weights, target.mean(weighted_sum(weights, scores)), singles, ())
        return Found(None, target.mean(stacked_scores(net, scores)), singles, (), net)
    check_sizes(scores, names)
    if len(scores) == 2:
        best_of_two = best_pair(scores[0], scores[1], target, how.search, names=(names[0], names[1]))
        return Found(np.array(best_of_two.weights), best_of_two.value, singles, (best_of_two,))
    generator = Stream.COMBINATION_STARTS.generator(how.seed)
    best_found: Found | None = None
    for start in range(how.starts):
        weights = _start(start, scores, singles, generator)
        mixture = _ascend(weights, scores, singles, target, how, names, generator)
        if best_found is None or mixture.value > best_found.value + BETTER:
            best_found = mixture
    assert best_found is not None
    return best_found


def _start(
    number: int, scores: list[np.ndarray], singles: tuple[float, ...], generator: np.random.Generator
) -> np.ndarray:
    """Where a search starts: all rankers alike, the best one alone, then random shares of the rankers' deviations."""
    if number == 1:
        return np.eye(len(scores))[int(np.argmax(singles))]
    deviations = np.array([_deviation(one) for one in scores])
    shares = np.ones(len(scores)) if number == 0 else generator.exponential(size=len(scores))
    smallest = deviations[deviations > 0.0].min(initial=1.0)  # of which shares are taken, or 1 / deviation overflows
    weights = shares * np.where(deviations > 0.0, smallest / np.where(deviations > 0.0, deviations, 1.0), 1.0)
    return np.asarray(weights / weights.sum())


def _deviation(scores: np.ndarray) -> float:
    """The standard deviation, of scores of any size: their squares may leave float64."""
    largest = float(np.abs(scores).max(initial=0.0))
    return largest * float(np.std(scores / largest)) if largest > 0.0 else 0.0


def _ascend(
    weights: np.ndarray,
    scores: list[np.ndarray],
    singles: tuple[float, ...],
    target: MeanMeasure,
    how: How,
    names: tuple[str, ...],
    generator: np.random.Generator,
) -> Found:
    """Combine each ranker in turn with the mixture of the others until a whole turn improves nothing."""
    value = target.mean(weighted_sum(weights, scores))
    size = len(scores)
    while True:
        improved = False
        choices: list[Chosen | None] = [None] * size
        for member in generator.permutation(size):
            mixture = weights.copy()
            mixture[member] = 0.0
            if not mixture.any():
                continue
            mixture /= np.abs(mixture).sum()

            def with_shares(
                pair: tuple[float, float], mixture: np.ndarray = mixture, member: int = member
            ) -> np.ndarray:
                return pair[0] * mixture + pair[1] * np.eye(size)[member]

            def mean_at(pair: tuple[float, float], with_shares: Any = with_shares) -> float:
                return target.mean(weighted_sum(with_shares(pair), scores))

            choice = best_pair(
                weighted_sum(mixture, scores),
                scores[member],
                target,
                how.search,
                names=("the mixture of the others", names[member]),
                mean_at=mean_at,
            )
            choices[member] = choice
            if choice.value > value + BETTER:
                weights, value, improved = with_shares(choice.weights), choice.value, True
        if not improved:
            total = np.abs(weights).sum()
            exact = weights / total
            if target.mean(weighted_sum(exact, scores)) == value:  # else keep the weights that give the value
                weights = exact
            return Found(weights, value, singles, tuple(choice for choice in choices if choice is not None))
