"""The forces that a training pulls with, for those who look into it or come after it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rankforce import dtypes
from rankforce.data.dataset import Dataset
from rankforce.errors import RankforceError, SettingsError
from rankforce.forces.anchor import Anchor
from rankforce.forces.forces import Forces, RunningOrder
from rankforce.importing.library_objects import attribute
from rankforce.lambdas.base import LambdaFunction
from rankforce.lambdas.catalogue import lambda_function as read_lambda_function
from rankforce.measures.catalogue import measure as read_measure
from rankforce.models.bagged import Bagged
from rankforce.models.model import Model
from rankforce.objectives.objective import ALL_PAIRS, DEFAULT_LAMBDA_FUNCTION, Objective, Pairs, Term
from rankforce.objectives.objective_files import read_objective
from rankforce.remedies import Argument

SETTING = "forces"  # under which a model file keeps them


@dataclasses.dataclass(frozen=True)
class TrainedForces:
    """How a training pulls at documents: what its settings left open is settled.

    objective : its terms, each with its λ-function and its pairs; None where preferences alone pull
    lambda_function, pairs : of a measure that is not the objective's
    normalise, anchor, sigma, seed : as ``LambdaMART`` has them
    ranker : whose training it is; "" if nobody's: then these are assumptions
    """

    objective: Objective | None = None
    lambda_function: LambdaFunction = DEFAULT_LAMBDA_FUNCTION
    pairs: Pairs = ALL_PAIRS
    normalise: str = "none"
    anchor: float = 0.0
    sigma: float = 1.0
    seed: int = 0
    ranker: str = ""

    def term(self, wanted: Any = None) -> Term:
        """A term as this training pulls, with nothing left open: its first, if none is wanted; else that of a measure,
        or a term, which takes from the training what it does not say itself.
        """
        trained = () if self.objective is None else self.objective.terms
        if wanted is None and trained:
            return trained[0].alone()
        given = wanted if isinstance(wanted, Term) else Term(read_measure("NDCG" if wanted is None else wanted))
        mine = next((one for one in trained if one.measure == given.measure), None)
        if mine is None:
            return given.settled(self.lambda_function, self.pairs)
        assert mine.lambda_function is not None
        assert mine.pairs is not None
        return given.settled(mine.lambda_function, mine.pairs) if isinstance(wanted, Term) else mine.alone()

    def trains(self, objective: Objective) -> bool:
        """Whether this is what the training maximises."""
        mine = self.objective
        return mine is not None and list(map(_pull, mine.terms)) == list(map(_pull, objective.terms))

    def on(self, data: Dataset, *terms: Term) -> AnchoredForces:
        """The forces of these terms as the training would have them; springs if they are what it maximises."""
        objective = Objective(tuple(self.term(one) for one in terms))
        whole = self.trains(objective)
        if whole and self.objective is not None:
            objective = self.objective
        forces = Forces(data, objective, self.seed, normalise=self.normalise)
        springs = None
        if whole and self.anchor > 0.0:
            springs = springs_on(data, forces, self.anchor, self.sigma, self.seed)
        return AnchoredForces(forces, springs)

    def written(self) -> dict[str, Any]:
        """As a model file keeps them."""
        return {
            "objective": None if self.objective is None else self.objective.written(),
            "lambda_function": str(self.lambda_function),
            "pairs": str(self.pairs),
            "normalise": self.normalise,
            "anchor": self.anchor,
            "sigma": self.sigma,
        }

    def setting(self) -> dict[str, Any]:
        """Under its name in a model file; nothing where nothing was trained with forces."""
        return {SETTING: self.written()} if self.ranker else {}

    def __str__(self) -> str:
        trained = () if self.objective is None else self.objective.terms
        parts = [", ".join(dict.fromkeys(str(term.lambda_function) for term in trained)) or str(self.lambda_function)]
        if self.normalise != "none":
            parts.append(f"normalise={self.normalise}")
        if self.anchor > 0.0:
            parts.append(f"anchor={self.anchor:g}")
        return f"{', '.join(parts)} ({self.whose})"

    @property
    def whose(self) -> str:
        """Where they come from, in words."""
        if not self.ranker:
            return "assumed"
        known = self.objective is not None
        return f"of the training of {self.ranker}" if known else f"assumed: {self.ranker} learned from preferences"


def _pull(term: Term) -> tuple[Any, ...]:
    """What decides the forces of a term, but for its share."""
    return term.measure, term.lambda_function, term.pairs, term.zeros is False, term.earlier, term.bias


ASSUMED = TrainedForces()


class AnchoredForces:
    """Forces of an objective and those of the springs beside it, if there are any."""

    def __init__(self, forces: Forces, springs: Anchor | None) -> None:
        self.forces = forces
        self.springs = springs

    def at(self, scores: np.ndarray, order: np.ndarray, iteration: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """(forces, curvatures) as ``Forces.at`` gives them."""
        forces, curvatures = self.forces.at(scores, order, iteration)
        if self.springs is not None:
            self.springs.add(scores, None, forces, curvatures)
        return forces, curvatures


def springs_on(
    data: Dataset,
    forces: Forces,
    stiffness: float,
    sigma: float,
    seed: int,
    check: Callable[[np.ndarray, np.ndarray], None] | None = None,
) -> Anchor:
    """The springs of an anchor, measured against the forces of the first term at equal scores, which ``check`` sees."""
    equal = np.zeros(data.n_documents, dtype=dtypes.SCORE)
    order = RunningOrder(data, seed).update(equal)
    at_rest, curvatures = forces.at(equal, order)
    if check is not None:
        check(at_rest, curvatures)
    term = forces.terms[0]
    own_order = order if term.judged.kept is None else term.judged.order_of_kept(order)
    weights = term.weights_at(own_order, equal[: len(own_order)])
    return Anchor(term, stiffness, sigma, curvatures, weights)


def forces_of(ranker_or_model: Any) -> TrainedForces:
    """The forces that a fitted ranker or a model was trained with; ``ASSUMED`` where there were none, or none known."""
    training_forces = attribute(ranker_or_model, "trained_forces_")
    if isinstance(training_forces, TrainedForces):
        return training_forces
    learned = attribute(ranker_or_model, "model_")
    model = ranker_or_model if learned is None else learned
    if isinstance(model, Bagged):
        return forces_of(model.models[0])
    if not isinstance(model, Model):
        return ASSUMED
    form = model.provenance.settings.get(SETTING)
    if not isinstance(form, Mapping):
        return ASSUMED
    try:
        return TrainedForces(
            objective=None if form["objective"] is None else read_objective(form["objective"]),
            lambda_function=read_lambda_function(form["lambda_function"]),
            pairs=Pairs.read(form["pairs"]),
            normalise=str(form["normalise"]),
            anchor=float(form["anchor"]),
            sigma=float(form["sigma"]),
            seed=model.provenance.seed or 0,
            ranker=str(model.provenance.settings.get("ranker", "a ranker")),
        )
    except KeyError as missing:
        raise SettingsError(
            f"the model was written before there was a {missing.args[0]} of its forces: give ",
            Argument("lambda_function"),
        ) from None
    except RankforceError as error:
        raise SettingsError(
            f"the model was trained with forces that are not known here: {error}. Define what is missing, or give ",
            Argument("lambda_function"),
        ) from None
