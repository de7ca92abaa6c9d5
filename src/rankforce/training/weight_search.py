"""Choosing the weights of a graded objective: improve the later measures, leave the earlier ones alone.

Tier after tier, each candidate share is trained for and measured on validation data. It is *allowed* if no earlier tier
is significantly worse than without this tier (paired t-test, two-sided, at ``alpha``; randomisation test where all
differences are the same); of the allowed ones the one with the highest mean of this tier's measure is taken, the
smallest of equals. Share 0 is always allowed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankforce.collective import anybody, is_first
from rankforce.console import tables
from rankforce.console.interruption import Interruption
from rankforce.console.progress import Progress
from rankforce.console.result_tables import ResultTable, Tabular
from rankforce.data.dataset import Dataset
from rankforce.errors import SettingsError, warn
from rankforce.evaluation.evaluate import evaluate
from rankforce.evaluation.request import Request
from rankforce.evaluation.result import Evaluation
from rankforce.evaluation.significance import EQUAL, deciding_p
from rankforce.kinds import Number, shown
from rankforce.measures.measure import Measure
from rankforce.objectives.graded import Graded
from rankforce.training.monitoring import TrainingWarning

SHARES = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)  # of the tier that is searched; the earlier ones keep their proportions
ALPHA = 0.05


@dataclasses.dataclass(frozen=True)
class Candidate:
    """One set of weights: the mean of every tier on validation data, and the tests of the earlier tiers."""

    weights: tuple[float, ...]
    means: tuple[float, ...]
    p_values: tuple[float, ...]  # of the tiers before the one that was searched, against its absence; empty for that
    allowed: bool


@dataclasses.dataclass(frozen=True)
class WeightSearch(Tabular):
    """The weights found, and all that was tried: the frontier between the tiers."""

    measures: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    weights: tuple[float, ...]
    alpha: float
    interrupted: str = ""  # "after 3 of 8 trainings of the search for weights", if Ctrl-C ended it

    def to_dict(self) -> dict[str, Any]:
        """As plain values; of ``interrupted`` nothing, if it was not."""
        values = dataclasses.asdict(self)
        return values if self.interrupted else {name: one for name, one in values.items() if name != "interrupted"}

    def to_pandas(self) -> Any:
        """A row for each candidate: weights, means and whether it was allowed."""
        pandas = tables.load_pandas()
        twice = len(set(self.measures)) < len(self.measures)  # a measure may be that of several tiers
        tiers = [f"{name} (tier {t})" if twice else name for t, name in enumerate(self.measures, start=1)]
        rows = [
            {f"weight of {name}": weight for name, weight in zip(tiers, one.weights, strict=True)}
            | dict(zip(self.measures, one.means, strict=True))
            | {"allowed": one.allowed, "chosen": one.weights == self.weights}
            for one in self.candidates
        ]
        return pandas.DataFrame(rows)

    def plot(self, *, ax: Any = None, path: Any = None) -> Any:
        """The trade-off between the first two tiers as a picture: ``rf.plot.frontier``."""
        import rankforce

        return rankforce.plot.frontier(self, ax=ax, path=path)

    def _result_table(self) -> ResultTable:
        rows = [
            [
                " : ".join(f"{weight:.3g}" for weight in one.weights),
                *(tables.number(mean) for mean in one.means),
                ", ".join(tables.p_value(p) for p in one.p_values) or "–",
                "chosen" if one.weights == self.weights else "" if one.allowed else "an earlier tier is worse",
            ]
            for one in self.candidates
        ]
        return ResultTable(
            "Weights of the tiers" + (f", interrupted {self.interrupted}" if self.interrupted else ""),
            ["weights", *self.measures, "p of earlier tiers", ""],
            rows,
            [f"allowed: no earlier tier significantly worse (paired t-test, level {self.alpha:g})"],
        )


def search_weights(
    ranker: Any,
    data: Dataset,
    validation: Dataset,
    *,
    shares: Sequence[float] = SHARES,
    alpha: float = ALPHA,
    checkpoint: str | Path | None = None,
) -> WeightSearch:
    """Find the weights of ``ranker.objective``, an ``rf.Graded``, on validation data.

    ranker : a λ-based ranker; it is not changed, clones of it are fitted
    shares : candidates for the share of each later tier, between 0 and 1
    alpha : level of the tests
    checkpoint : path that the checkpoints of the candidates begin with: an interrupted search goes on from them

    Ctrl-C ends the search after the current training, with the best weights so far; a warning says so, and
    ``interrupted`` of the result.
    """
    objective = getattr(ranker, "objective", None)
    if not isinstance(objective, Graded):
        raise SettingsError("weights are searched for a graded objective: objective=rf.Graded([...], weights='search')")
    if isinstance(shares, str) or (not isinstance(shares, Sequence) and getattr(shares, "ndim", 0) != 1):
        raise SettingsError(f"shares must be a list of candidates between 0 and 1, not {shown(shares)}")
    shares = list(shares)
    for share in shares:
        if not _lies_between(share):
            raise SettingsError(f"a candidate share must lie between 0 and 1, not {shown(share)}")
    if not _lies_between(alpha):
        raise SettingsError(f"alpha must lie between 0 and 1, not {shown(alpha)}")
    measures = [tier.main_measure for tier in objective.tiers]
    Request.of(measures).on(validation)
    best_weights = (1.0,) + (0.0,) * (len(measures) - 1)
    total = 1 + len(shares) * (len(measures) - 1)
    candidates: list[Candidate] = []
    files: list[Path] = []
    with (
        Interruption("training") as interruption,
        Progress("weights", total, "trainings", getattr(ranker, "progress", True) and is_first()) as bar,
    ):

        def tried(weights: tuple[float, ...]) -> Evaluation:
            place = {}
            if checkpoint is not None:
                files.append(Path(f"{checkpoint}.weights-{len(files)}"))
                place = {"checkpoint": files[-1]}
            one = ranker.silent(objective=objective.with_weights(weights))
            evaluation = evaluate(one.fit(data, validation=validation, **place), validation, measures)
            bar.advance(len(candidates) + 1, {str(name): evaluation.mean[name] for name in measures})
            return evaluation

        best = tried(best_weights)
        candidates.append(Candidate(best_weights, _means(best, measures), (), True))
        for tier in range(1, len(measures)):
            without, before = best, best_weights
            for share in sorted(shares):
                if anybody(interruption.wanted):
                    break
                weights = tuple(
                    share if place == tier else (1.0 - share) * weight for place, weight in enumerate(before)
                )
                evaluation = tried(weights)
                tests = [_worse(without, evaluation, one) for one in measures[:tier]]
                allowed = not any(difference < 0 and p < alpha for difference, p in tests)
                p_values = tuple(p for _, p in tests)
                candidates.append(Candidate(weights, _means(evaluation, measures), p_values, allowed))
                if allowed and evaluation.mean[measures[tier]] > best.mean[measures[tier]]:
                    best, best_weights = evaluation, weights
    interrupted = ""
    if len(candidates) < total:
        interrupted = f"after {len(candidates)} of {total} trainings of the search for weights"
        warn(TrainingWarning(f"interrupted {interrupted}: the best weights until then are taken"))
    elif is_first():
        for path in files:
            path.unlink(missing_ok=True)
    return WeightSearch(tuple(map(str, measures)), tuple(candidates), best_weights, alpha, interrupted)


def _lies_between(share: Any) -> bool:
    return Number(0.0, above=True).holds(share) and share < 1.0


def _means(evaluation: Evaluation, measures: Sequence[Measure]) -> tuple[float, ...]:
    return tuple(float(evaluation.mean[one]) for one in measures)


def _worse(without: Evaluation, evaluation: Evaluation, one: Measure) -> tuple[float, float]:
    """The mean difference to the ranking without the tier, and the p-value of the paired test."""
    differences = evaluation.per_query[one] - without.per_query[one]
    differences[np.abs(differences) <= EQUAL] = 0.0  # as comparisons have it
    counted = differences == differences
    weights = None if evaluation.query_weights is None else evaluation.query_weights[counted]
    return float(evaluation.mean[one] - without.mean[one]), deciding_p(differences[counted], weights)
