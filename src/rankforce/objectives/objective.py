"""What a λ-based ranker maximises: a sum of terms, each a measure with a λ-function on some pairs."""

from __future__ import annotations

import dataclasses
import numbers
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rankforce.compiling.kernel_values import NO_CUTOFF
from rankforce.errors import SettingsError
from rankforce.kinds import Choice, Number, OrNone, Switch, shown
from rankforce.lambdas.base import LambdaFunction
from rankforce.lambdas.catalogue import lambda_function as read_lambda_function
from rankforce.lambdas.pairwise import PairwiseLambdaFunction
from rankforce.lambdas.ranknet_weight_pairs import RankNetWeightPairs
from rankforce.measures.catalogue import measure as measure_of
from rankforce.measures.measure import Measure
from rankforce.objectives.position_bias import PositionBias, as_position_bias
from rankforce.remedies import NAME_ALONE, Setting
from rankforce.written_forms import told_apart

DEFAULT_LAMBDA_FUNCTION = RankNetWeightPairs()


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
        words: Any = choice
        if isinstance(choice, str):
            if choice == "all":
                return cls()
            words = [int(word) if re.fullmatch("[0-9]{1,10}", word) else word for word in choice.split()]
        if isinstance(words, (tuple, list)) and len(words) == 2:
            rule, number = words
            whole = isinstance(number, numbers.Integral) and not isinstance(number, bool)
            if whole and 1 <= number <= NO_CUTOFF and isinstance(rule, str) and rule in ("top", "sample"):
                return cls(**{rule: int(number)})
        raise SettingsError(
            f"pairs must be 'all', ('top', k) or ('sample', m) with a whole number from 1 to {NO_CUTOFF}, "
            f"not {choice!r}"
        )

    def __str__(self) -> str:
        if self.sample:
            return f"sample {self.sample}"
        return "all" if self.top == NO_CUTOFF else f"top {self.top}"


ALL_PAIRS = Pairs()


@dataclass(frozen=True)
class Term:
    """One part of an objective: a measure (which names its label source), a λ-function, and a rule for its pairs.

    A pair has two documents with different labels of the term's source, neither of them missing.

    measure : str or Measure
    lambda_function : LambdaFunction or its written form, optional
        None: the ranker's.
    share : float
        What forces and curvatures are multiplied by.
    pairs : "all", ("top", k) or ("sample", m), optional
        Which of its pairs pull; None: as the ranker says.
    rule : "tied" or "all"
        As a later tier of a graded objective: only pairs tied in all earlier tiers (their labels equal, or both
        missing), or every pair.
    zeros : bool, optional
        Whether documents with the label 0 form pairs. None: they do, but not in a tier of CNDCG, where 0 may mean
        "never shown".
    bias : InversePropensities, JointRatios, propensities or "joint", optional
        How pairs of clicked and unclicked documents make up for the positions at which these stood. The labels are 0
        and 1, and the data has a label source "position".
    earlier : label sources in which the documents of a pair must be tied; a graded objective fills it in
    """

    measure: Measure
    lambda_function: LambdaFunction | None = None
    share: float = 1.0
    pairs: Pairs | None = None
    rule: str = "tied"
    zeros: bool | None = None
    earlier: tuple[str, ...] = ()
    bias: PositionBias | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", measure_of(self.measure))
        if self.lambda_function is not None:
            object.__setattr__(self, "lambda_function", read_lambda_function(self.lambda_function))
        if self.pairs is not None:
            object.__setattr__(self, "pairs", Pairs.read(self.pairs))
        Number(0.0).check(f"the share of {self.measure}", self.share)
        Choice(("tied", "all")).check(f"the rule of {self.measure}", self.rule)
        OrNone(Switch()).check(f"zeros of {self.measure}", self.zeros)
        if not isinstance(self.earlier, tuple) or not all(isinstance(source, str) for source in self.earlier):
            raise SettingsError(
                f"earlier of {self.measure} must be a tuple of label sources, not {shown(self.earlier)}"
            )
        if self.bias is not None:
            object.__setattr__(self, "bias", as_position_bias(self.bias))
            if self.zeros is False:
                raise SettingsError(
                    f"the bias of {self.measure} is that of clicks against zeros: zeros must form pairs"
                )
        if self.lambda_function is not None and self.pairs is not None:
            self._check_pairs(self.lambda_function, self.pairs)

    def _check_pairs(self, lambda_function: LambdaFunction, pairs: Pairs) -> None:
        if not isinstance(lambda_function, PairwiseLambdaFunction):
            if pairs != ALL_PAIRS:
                raise SettingsError(
                    f"{lambda_function} sees whole lists, not pairs: leave ", Setting("pairs", NAME_ALONE), " out"
                )
            if self.bias is not None:
                raise SettingsError(f"{lambda_function} sees whole lists, not pairs, whose bias could be weighed out")
            if self.earlier or self.zeros is False:
                raise SettingsError(f"{lambda_function} sees whole lists, not pairs: it can only be the first tier")
        elif pairs.sample and lambda_function.reach != NO_CUTOFF:
            raise SettingsError(f"{lambda_function} chooses its pairs by rank: they cannot be sampled")

    def settled(self, lambda_function: LambdaFunction, pairs: Pairs) -> Term:
        """The term with what it leaves to the ranker filled in."""
        return dataclasses.replace(
            self,
            lambda_function=lambda_function if self.lambda_function is None else self.lambda_function,
            pairs=pairs if self.pairs is None else self.pairs,
        )

    def alone(self) -> Term:
        """The term without its share: terms that are equal so exert the same forces."""
        return dataclasses.replace(self, share=1.0)

    def written(self) -> dict[str, Any]:
        """The term as a file holds it."""
        form: dict[str, Any] = {"measure": str(self.measure)}
        if self.lambda_function is not None:
            form["lambda_function"] = str(self.lambda_function)
        if self.pairs is not None:
            form["pairs"] = str(self.pairs)
        if self.rule != "tied":
            form["rule"] = self.rule
        if self.zeros is not None:
            form["zeros"] = self.zeros
        if self.share != 1.0:
            form["share"] = self.share
        if self.earlier:
            form["earlier"] = list(self.earlier)
        if self.bias is not None:
            form["bias"] = self.bias.written()
        return form

    def __str__(self) -> str:
        notes = [] if self.lambda_function is None else [str(self.lambda_function)]
        if self.earlier:
            notes.append(f"tied in {' and '.join(self.earlier)}")
        if self.zeros is False:
            notes.append("without zeros")
        if self.bias is not None:
            notes.append(str(self.bias))
        return f"{self.measure} ({'; '.join(notes)})" if notes else str(self.measure)


@dataclass(frozen=True)
class Objective:
    """A sum of terms."""

    terms: tuple[Term, ...]

    @property
    def tier_measures(self) -> tuple[Measure, ...]:
        """The measure of each tier, the most important first: one, unless the objective is graded."""
        return (self.main_measure,)

    @property
    def main_measure(self) -> Measure:
        """The measure of the first term: what is watched unless the user says otherwise."""
        return self.terms[0].measure

    @property
    def to_be_searched(self) -> bool:
        """Whether weights are still to be chosen on validation data."""
        return False

    @property
    def has_curvature(self) -> bool:
        """Whether every term has the positive curvature that Newton's step needs."""
        return all((term.lambda_function or DEFAULT_LAMBDA_FUNCTION).HAS_CURVATURE for term in self.terms)

    def shares(self, iteration: int) -> tuple[float, ...]:
        """The weight of each term in an iteration, counted from 0."""
        return tuple(term.share for term in self.terms)

    def check_pulls(self, iterations: int) -> None:
        """Raise if there is an iteration among the first ``iterations`` in which every share is 0."""
        if all(term.share > 0.0 for term in self.terms):
            return  # whatever a schedule does: it gives to one part what it takes from the other
        for iteration in range(iterations):
            if not any(self.shares(iteration)):
                raise SettingsError(
                    f"nothing pulls in iteration {iteration} (from 0): all shares of the objective, {self}, are 0 "
                    "there; give a term that counts in it a share above 0"
                )

    def settled(
        self, iterations: int, lambda_function: LambdaFunction = DEFAULT_LAMBDA_FUNCTION, pairs: Pairs = ALL_PAIRS
    ) -> Objective:
        """The objective as a training of so many iterations uses it: nothing left open, functions as their values."""
        return Objective(tuple(term.settled(lambda_function, pairs) for term in self.terms))

    def written(self) -> dict[str, Any]:
        """The objective as a file holds it; ``read_objective`` is the inverse."""
        if len(self.terms) == 1:
            return self.terms[0].written()
        return {"terms": [term.written() for term in self.terms]}

    def __str__(self) -> str:
        return " + ".join(map(weighed, self.terms, self.shares(0)))


def as_objective(given: Any) -> Objective:
    """An objective, from one, from a term or a measure (also a written one), or from a list of these: their sum."""
    if isinstance(given, Objective):
        return given
    if isinstance(given, Term):
        return Objective((given,))
    if isinstance(given, (str, Measure)):
        return Objective((Term(measure_of(given)),))
    if isinstance(given, Sequence) and given and all(isinstance(one, (Term, str, Measure)) for one in given):
        return Objective(tuple(one if isinstance(one, Term) else Term(measure_of(one)) for one in given))
    if isinstance(given, LambdaFunction):
        raise SettingsError(
            f"{given} is a λ-function, and pulls for a measure: give both as a term, rf.Term(measure, "
            f'lambda_function), for example rf.Term("NDCG", rf.lambdas.{type(given).__name__}())'
        )
    raise SettingsError(
        "an objective is rf.Graded([...]), rf.Scheduled(...), an rf.Term, a measure, or a list of terms and measures, "
        f"not {given!r}"
    )


def chosen_objective(
    measure: Any,
    lambda_function: LambdaFunction | None,
    pairs: Any,
    objective: Any,
    *,
    default: LambdaFunction,
    iterations: int,
) -> Objective:
    """What a ranker's settings say is maximised: ``objective``, or ``measure`` with one λ-function.

    ``default`` is the ranker's λ-function, for terms that name none where ``lambda_function`` is None.
    """
    rule, function = Pairs.read(pairs), default if lambda_function is None else lambda_function
    if objective is None:
        return Objective((Term(measure_of(measure), function, pairs=rule),))
    if measure != "NDCG":
        raise SettingsError("the objective says what is maximised: leave ", Setting("measure", NAME_ALONE), " out")
    asked_objective = as_objective(objective)
    for name, is_given in (("lambda_function", lambda_function is not None), ("pairs", rule != ALL_PAIRS)):
        if is_given and all(getattr(term, name) is not None for term in asked_objective.terms):
            raise SettingsError(
                f"every term of the objective has {name} of its own: leave ", Setting(name, NAME_ALONE), " out"
            )
    told_apart(term.measure for term in asked_objective.terms)
    settled_objective = asked_objective.settled(iterations, function, rule)
    if not settled_objective.to_be_searched:
        settled_objective.check_pulls(iterations)
    return settled_objective


def as_part(given: Any) -> Objective:
    """An objective as part of another."""
    part = as_objective(given)
    if part.to_be_searched:
        raise SettingsError("weights are searched for the outermost objective only: give this inner one its weights")
    return part


def weighed(part: Any, share: float) -> str:
    """A part of a sum in words."""
    return str(part) if share == 1.0 else f"{share:g} × {part}"
