"""What a λ-based ranker maximises: a sum of terms, each a measure with a λ-function on some pairs."""

from __future__ import annotations

from dataclasses import dataclass

from rankforce.errors import SettingsError
from rankforce.jit import NO_CUTOFF
from rankforce.lambdas.cost import Cost, LambdaFunction
from rankforce.lambdas.ranknet_weight_pairs import RankNetWeightPairs
from rankforce.measures.measure import Measure

DEFAULT_COST = RankNetWeightPairs()


@dataclass(frozen=True)
class Pairs:
    """Which of the pairs with different labels exert a force.

    ``"all"``: every pair, O(n²) time per query of n documents (vectorised: about 1 ns a pair), O(n) memory.
    ``("top", k)``: pairs with at least one document among the first k ranks, O(nk).
    ``("sample", m)``: m partners drawn for each document, O(nm); the sum of forces is right on average.
    """

    top: int = NO_CUTOFF
    sample: int = 0

    @classmethod
    def read(cls, choice: object) -> Pairs:
        """From ``"all"``, ``("top", k)``, ``("sample", m)``, ``"top 30"`` or ``"sample 10"``."""
        if isinstance(choice, Pairs):
            return choice
        if choice == "all":
            return cls()
        words = choice.split() if isinstance(choice, str) else choice
        if isinstance(words, (tuple, list)) and len(words) == 2 and words[0] in ("top", "sample"):
            try:
                number = int(words[1])
            except (TypeError, ValueError):
                number = 0
            if number >= 1:
                return cls(top=number) if words[0] == "top" else cls(sample=number)
        raise SettingsError(f"pairs must be 'all', ('top', k) or ('sample', m) with a positive number, not {choice!r}")

    def __str__(self) -> str:
        if self.sample:
            return f"sample {self.sample}"
        return "all" if self.top == NO_CUTOFF else f"top {self.top}"


@dataclass(frozen=True)
class Term:
    """One part of an objective: a measure (which names its label source), a λ-function, and a rule for its pairs."""

    measure: Measure
    cost: LambdaFunction = DEFAULT_COST
    share: float = 1.0
    pairs: Pairs = Pairs()

    def __post_init__(self) -> None:
        if not 0.0 <= self.share < float("inf"):
            raise SettingsError(f"the share of {self.measure} must be at least 0, not {self.share!r}")
        if self.pairs != Pairs() and not isinstance(self.cost, Cost):
            raise SettingsError(f"{self.cost} sees whole lists, not pairs: leave pairs= out")
        if self.pairs.sample and isinstance(self.cost, Cost) and self.cost.reach != NO_CUTOFF:
            raise SettingsError(f"{self.cost} chooses its pairs by rank: they cannot be sampled")


@dataclass(frozen=True)
class Objective:
    """A sum of terms."""

    terms: tuple[Term, ...]

    @property
    def main_measure(self) -> Measure:
        """The measure of the first term: what is watched unless the user says otherwise."""
        return self.terms[0].measure

    @property
    def has_curvature(self) -> bool:
        """Whether every term has the positive curvature that Newton's step needs."""
        return all(term.cost.HAS_CURVATURE for term in self.terms)

    def shares(self, iteration: int) -> tuple[float, ...]:
        """The weight of each term in an iteration, counted from 0."""
        return tuple(term.share for term in self.terms)

    def __str__(self) -> str:
        return " + ".join(f"{term.measure} ({term.cost})" for term in self.terms)
