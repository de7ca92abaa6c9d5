"""What LambdaMART and LambdaRank share: the objective of their settings, its weights, and what is watched of it."""

from __future__ import annotations

import abc
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankforce import text_values
from rankforce.collective import is_first
from rankforce.data.dataset import Dataset
from rankforce.errors import PeerLostError, SettingsError, warn
from rankforce.forces.forces import TermForces
from rankforce.forces.left_out import LeftOut, left_out
from rankforce.inspection.leaks import warn_of_leaks
from rankforce.kinds import Understood
from rankforce.lambdas.base import LambdaFunction
from rankforce.lambdas.catalogue import lambda_function as read_lambda_function
from rankforce.measures.measure import Measure
from rankforce.objectives.graded import Graded
from rankforce.objectives.objective import Objective, chosen_objective
from rankforce.remedies import ValidationData
from rankforce.training.graded_monitoring import WatchedTiers, tiers_of
from rankforce.training.long_lists import warn_of_many_pairs
from rankforce.training.monitoring import TrainingWarning, Watched, WatchedMeasure
from rankforce.training.weight_search import WeightSearch, search_weights


def _read_tiers(text: str) -> Any:
    """One measure, or several with commas."""
    if text.lstrip().startswith("["):
        return text_values.python_value(text)
    written = [text_values.unquoted(part) for part in text_values.parts(text)]
    return written if len(written) > 1 else written[0]


TIERS = Understood(tiers_of, _read_tiers)


class Maximising(abc.ABC):
    """Part of rankers that learn from the forces of an objective; a subclass has these settings."""

    measure: str | Measure
    lambda_function: str | LambdaFunction | None
    pairs: Any
    objective: Any
    validation_measure: Any
    progress: bool

    frontier_: WeightSearch  # what weights="search" tried
    left_out_: tuple[LeftOut, ...]  # what each term of the objective saw of the training data

    @abc.abstractmethod
    def _own_lambda_function(self) -> LambdaFunction:
        """The λ-function of terms that name none, where ``lambda_function`` names none either."""

    @abc.abstractmethod
    def _iterations(self) -> int:
        """How many trees or epochs a schedule may see."""

    def _given_lambda_function(self) -> LambdaFunction | None:
        return None if self.lambda_function is None else read_lambda_function(self.lambda_function)

    def _chosen_lambda_function(self) -> LambdaFunction:
        """The λ-function of measures that name none."""
        return self._given_lambda_function() or self._own_lambda_function()

    def _objective(self) -> Objective:
        """The objective of the settings. Made once per fit: a schedule may be any function, and the values count that
        were used.
        """
        return chosen_objective(
            self.measure,
            self._given_lambda_function(),
            self.pairs,
            self.objective,
            default=self._own_lambda_function(),
            iterations=self._iterations(),
        )

    def _searched(
        self, objective: Objective, data: Dataset, held_out: Dataset | None, checkpoint: str | Path | None
    ) -> tuple[Objective, dict[str, Any]]:
        """The objective with its weights, which are searched if they are to be, and what files keep of it.

        ``held_out`` is validation data with labels.
        """
        warn_of_leaks(data, [term.measure.label for term in objective.terms])
        kept: dict[str, Any] = {}
        if isinstance(objective, Graded) and objective.to_be_searched:
            if held_out is None:
                raise SettingsError("a search for weights needs labelled validation data: ", ValidationData())
            try:
                self.frontier_ = search_weights(self, data, held_out, checkpoint=checkpoint)
            except PeerLostError as error:
                error.unfinished = None  # that of a candidate: this training had not begun
                raise
            objective = objective.with_weights(self.frontier_.weights)
            kept["weight_search"] = self.frontier_.to_dict()
            if self.progress and is_first():
                print(self.frontier_, file=sys.stderr)
        if self.objective is not None:
            kept["objective"] = objective.written()
        return objective, kept

    def _found_on_validation(self) -> dict[str, Any]:
        objective = self.objective
        found: dict[str, Any] = super()._found_on_validation()  # type: ignore[misc]  # of the ranker beside it
        if isinstance(objective, Graded) and objective.to_be_searched:
            found["objective"] = objective.with_weights(self.frontier_.weights)
        return found

    def _count_left_out(self, data: Dataset, terms: Sequence[TermForces]) -> None:
        """Note and say what each term does not see of the training data."""
        self.left_out_ = left_out(data, terms)
        for label in dict.fromkeys(term.term.measure.label for term in terms if term.every_pair):
            warn_of_many_pairs(data, label)
        for one in self.left_out_:
            if one.pairs == 0:
                warn(f"{one.measure} has no pairs and does not count: {one}", TrainingWarning)
        if self.progress and is_first() and any(one.anything for one in self.left_out_):
            print("\n".join(map(str, self.left_out_)), file=sys.stderr)

    def _notes(self) -> dict[str, Any]:
        """What each term sees of the data, where there are several or something is left out."""
        if len(self.left_out_) < 2 and not any(one.anything for one in self.left_out_):
            return {}
        return {"label_sources": [one.to_dict() for one in self.left_out_]}

    def _watched_measure(self) -> Measure:
        return self._tiers(None)[0]

    def _tiers(self, objective: Objective | None) -> tuple[Measure, ...]:
        """What is watched, the most important first: as asked for, or of the objective."""
        if self.validation_measure is not None:
            return tiers_of(self.validation_measure)
        return (self._objective() if objective is None else objective).tier_measures

    def _watched(self, objective: Objective, held_out: Dataset | None, data: Dataset) -> Watched:
        """What is watched on training or validation data: on the latter every tier, where there are several.

        The tiers are as asked for, or those of the objective that the data has labels of.
        """
        first, *later = self._tiers(objective)
        if data is not held_out:
            return WatchedMeasure(data, first)
        tiers = [first]
        for tier in later:
            if self.validation_measure is not None or tier.label in data.labels:
                tiers.append(tier)
            else:
                warn(
                    f"{tier} is not watched: the validation data has no label source {tier.label!r}; neither the "
                    "history nor early stopping knows this tier",
                    TrainingWarning,
                )
        return WatchedTiers(data, tiers) if len(tiers) > 1 else WatchedMeasure(data, first)
