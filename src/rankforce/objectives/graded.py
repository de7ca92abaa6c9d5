"""Graded objectives: several measures, perhaps from several label sources, in order of importance."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankforce.errors import SettingsError
from rankforce.lambdas.base import LambdaFunction
from rankforce.measures.cndcg import CNDCG
from rankforce.measures.measure import Measure
from rankforce.objectives.objective import ALL_PAIRS, DEFAULT_LAMBDA_FUNCTION, Objective, Pairs, Term, as_part, weighed
from rankforce.remedies import ValidationData
from rankforce.written_forms import told_apart


@dataclass(frozen=True, init=False, repr=False)
class Graded(Objective):
    """Tiers of measures: λ = Σ_t w_t λ^t, where a pair pulls in tier t only if it is tied in all earlier ones.

    Such a pair's swap changes no earlier measure, so no pair is pulled both ways. Two documents are tied in a tier if
    their labels from its source are equal or both missing.

    tiers : measures (also written), terms or objectives, the most important first
    weights : one number of at least 0 per tier, divided by their sum; None: equal; ``"search"``: chosen on validation
        data, see ``rankforce.training.weight_search``
    """

    tiers: tuple[Objective, ...]
    weights: tuple[float, ...] | None  # None: to be searched

    def __init__(self, tiers: Sequence[Any], weights: Sequence[float] | str | None = None) -> None:
        if isinstance(tiers, (str, Measure, Term, Objective)) or not isinstance(tiers, Sequence):
            raise SettingsError(f"the tiers of a graded objective are a list of measures, not {tiers!r}")
        read = tuple(as_part(tier) for tier in tiers)
        if len(read) < 2:
            raise SettingsError(f"a graded objective has at least two tiers, not {len(read)}")
        shares = _shares(weights, len(read))
        object.__setattr__(self, "tiers", read)
        object.__setattr__(self, "weights", shares)
        object.__setattr__(self, "terms", _terms(read, shares or (1.0,) * len(read)))
        told_apart(term.measure for term in self.terms)

    @property
    def tier_measures(self) -> tuple[Measure, ...]:
        return tuple(told_apart(measure for tier in self.tiers for measure in tier.tier_measures))

    @property
    def to_be_searched(self) -> bool:
        """Whether the weights are still to be chosen."""
        return self.weights is None

    def with_weights(self, weights: Sequence[float]) -> Graded:
        """The same tiers with other weights."""
        return Graded(self.tiers, weights)

    def shares(self, iteration: int) -> tuple[float, ...]:
        if self.weights is None:
            raise SettingsError("a search for weights needs validation data and a ranker: ", ValidationData())
        return tuple(
            weight * share
            for tier, weight in zip(self.tiers, self.weights, strict=True)
            for share in tier.shares(iteration)
        )

    def settled(
        self, iterations: int, lambda_function: LambdaFunction = DEFAULT_LAMBDA_FUNCTION, pairs: Pairs = ALL_PAIRS
    ) -> Graded:
        tiers = [tier.settled(iterations, lambda_function, pairs) for tier in self.tiers]
        return Graded(tiers, "search" if self.weights is None else self.weights)

    def written(self) -> dict[str, Any]:
        tiers = [tier.written() for tier in self.tiers]
        if self.weights is None:
            return {"tier": tiers, "weights": "search"}
        return {"tier": [tier | {"weight": weight} for tier, weight in zip(tiers, self.weights, strict=True)]}

    def __str__(self) -> str:
        if self.weights is None:
            return "weights to be searched of " + ", then ".join(map(str, self.terms))
        terms = iter(self.terms)
        parts = []
        for tier, weight in zip(self.tiers, self.weights, strict=True):
            mine = [next(terms) for _ in tier.terms]
            parts.append(weighed(mine[0], mine[0].share) if len(mine) == 1 else weighed(f"({tier})", weight))
        return " + ".join(parts)

    __repr__ = __str__


def _terms(tiers: tuple[Objective, ...], weights: tuple[float, ...]) -> tuple[Term, ...]:
    """The terms of all tiers, each with the label sources that its pairs must be tied in."""
    terms: list[Term] = []
    earlier: dict[str, None] = {}
    for tier, weight in zip(tiers, weights, strict=True):
        for term in tier.terms:
            before = tuple(earlier) if term.rule == "tied" else ()
            by_measure = not isinstance(term.measure, CNDCG) or term.bias is not None  # whose zeros were shown
            zeros = by_measure if term.zeros is None else term.zeros
            tied = tuple(dict.fromkeys(before + term.earlier))
            terms.append(dataclasses.replace(term, share=weight * term.share, zeros=zeros, earlier=tied))
        earlier |= {term.measure.label: None for term in tier.terms}
    return tuple(terms)


def _shares(weights: Sequence[float] | str | None, count: int) -> tuple[float, ...] | None:
    if isinstance(weights, str):
        if weights == "search":
            return None
        raise SettingsError(f'the weights of a graded objective are numbers or "search", not {weights!r}')
    if weights is None:
        return (1.0 / count,) * count
    is_list = isinstance(weights, Iterable) and not isinstance(weights, Mapping)
    if not is_list or getattr(weights, "ndim", 1) != 1:
        raise SettingsError(
            f'the weights of a graded objective are a list of {count} numbers, or "search", not {weights!r}'
        )
    shares = list(map(_weight, weights))
    if len(shares) != count:
        raise SettingsError(f"a graded objective of {count} tiers needs {count} weights, not {len(shares)}")
    if math.isinf(sum(shares)):
        largest = max(shares)
        shares = [weight / largest for weight in shares]
    total = sum(shares)
    if not total > 0:
        raise SettingsError("at least one weight of a graded objective must be above 0")
    return tuple(weight / total for weight in shares) if abs(total - 1.0) > 1e-12 else tuple(shares)


def _weight(given: Any) -> float:
    weight = math.nan
    if isinstance(given, numbers.Real) and not isinstance(given, bool):
        with contextlib.suppress(OverflowError):
            weight = float(given)
    if not 0.0 <= weight < math.inf:
        raise SettingsError(f"the weight of a tier must be a number of at least 0, not {given!r}")
    return weight
