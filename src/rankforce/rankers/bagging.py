"""Bagging: the average of rankers that learned from different queries."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from typing import Any, Literal, Self

import numpy as np

from rankforce.console.interruption import Interruption
from rankforce.console.progress import Progress
from rankforce.data.dataset import Dataset
from rankforce.data.random_streams import Stream
from rankforce.data.splits import folds
from rankforce.errors import SettingsError
from rankforce.evaluation.evaluate import evaluate
from rankforce.evaluation.request import Request
from rankforce.kinds import Number, OrNone, Understood, Whole, check_number, shown
from rankforce.measures.measure import Measure
from rankforce.models.bagged import Bagged
from rankforce.models.provenance import NOT_KEPT, Provenance
from rankforce.training.inputs import as_dataset, as_validation, with_features
from rankforce.training.monitoring import TIES, Iteration, in_words
from rankforce.training.ranker import Ranker
from rankforce.training.settings import checked, choice, with_settings
from rankforce.tuning.cross_validation import fit_on


def _check_ranker(ranker: Any) -> None:
    if not isinstance(ranker, Ranker):
        raise SettingsError(f"ranker must be a ranker, for example rf.LambdaMART(), not {shown(ranker)}")


@with_settings
class Bagging(Ranker):
    """Several rankers, each on a sample of the queries and with a seed of its own; scores are averaged.

    Parameters
    ----------
    ranker : Ranker, optional
        What is fitted ``n_models`` times; default ``LambdaMART()``.
    n_models : int
    query_fraction : float
        The share of the queries that each model learns from, drawn by a hash of seed, model and query id.
    sample : "queries" or "folds"
        ``"folds"`` deals the queries into ``n_models`` parts; each model learns from all parts but one.
    seed, progress

    A ranker with early stopping watches ``validation`` if it is given to ``fit``, else the queries that were not drawn
    for it (its own fold with ``sample="folds"``).

    Attributes: ``model_`` (a ``Bagged`` model), ``rankers_``, and ``history_``, the watched measure of the average of
    the first 1, 2, ... models.
    """

    ranker: Ranker | None = dataclasses.field(
        default=None, kw_only=False, metadata=checked(OrNone(Understood(_check_ranker)))
    )
    n_models: int = dataclasses.field(default=10, kw_only=False, metadata=checked(Whole(1)))
    query_fraction: float = dataclasses.field(
        default=0.8, kw_only=False, metadata=checked(Number(0.0, 1.0, above=True))
    )
    sample: Literal["queries", "folds"] = choice("queries")

    model_: Bagged = dataclasses.field(init=False)

    def fit(
        self,
        X: Any,
        y: Any = None,
        qid: Any = None,
        *,
        group: Any = None,
        validation: Any = None,
        weights: Any = None,
        query_weights: Any = None,
    ) -> Self:
        """Learn from a Dataset, or from X, y and qid (or group). Ctrl-C keeps the models that are finished.

        If none is, it keeps what the first has learned.
        """
        data = with_features(as_dataset(X, y, qid, group=group, weights=weights, query_weights=query_weights))
        held_out = as_validation(validation, data)
        base = self._base()
        self._check_settings(data)
        request = Request.of(self._watched_measure())  # of the sums, on all queries: a ranker sees its own only
        for watched in (data, held_out):
            if watched is not None:
                request.on(watched)
        rankers: list[Any] = []
        history: dict[str, list[float]] = {}
        sums = {"train": np.zeros(data.n_documents)}
        if held_out is not None:
            sums["validation"] = np.zeros(held_out.n_documents)
        with Interruption() as interruption, Progress("Bagging", self.n_models, "models", self.progress) as bar:
            for number in range(self.n_models):
                drawn, rest = self._sample(data, number)
                one = base.silent(seed=int(Stream.BAGGED_SEEDS.words(self.seed, number) >> np.uint64(33)))
                watched = held_out
                if watched is None and getattr(one, "early_stopping", None) is not None:
                    watched = rest
                cut_short: list[int] = []

                def stop_if_wanted(iteration: Iteration, cut_short: list[int] = cut_short) -> None:
                    if interruption.wanted:
                        cut_short.append(iteration.number)
                        iteration.stop()

                fit_on(one, drawn, watched, [stop_if_wanted])
                if cut_short and rankers:
                    break  # an unfinished model among finished ones
                rankers.append(one)
                values = {}
                for name, total in sums.items():
                    on = data if name == "train" else held_out
                    assert on is not None
                    total += one.predict(on)
                    measured = evaluate(total, on, one.watched_measure_, ties=TIES, seed=self.seed)
                    values[name] = measured.mean[one.watched_measure_]
                    history.setdefault(name, []).append(values[name])
                bar.in_words = functools.partial(in_words, watched=dict.fromkeys(sums, str(one.watched_measure_)))
                bar.advance(number + 1, values)
                if interruption.wanted:
                    break
        self.rankers_ = rankers
        self.history_ = history
        self.best_iteration_ = len(rankers)
        self.watched_measure_ = rankers[0].watched_measure_
        settings = {f"ranker__{name}": value for name, value in base.get_params(deep=False).items()}
        own = {name: value for name, value in self.get_params(deep=False).items() if name != "ranker"}
        self.model_ = Bagged.of(
            *(one.model_ for one in rankers),
            provenance=Provenance.of_training(
                data,
                settings={"ranker": f"Bagging of {type(base).__name__}", **own, **_kept(settings)},
                objective=rankers[0].model_.provenance.objective,
                history=history,
                watched=dict.fromkeys(history, str(rankers[0].watched_measure_)),
                ties=TIES,
                seed=self.seed,
            ),
        )
        self._note_features(data)
        return self

    def _base(self) -> Ranker:
        if self.ranker is None:
            from rankforce.rankers.lambdamart import LambdaMART

            return LambdaMART()
        return self.ranker

    def _watched_measure(self) -> Measure:
        """What the rankers watch."""
        return self._base()._watched_measure()

    def _check_settings(self, data: Dataset) -> None:
        if self.sample == "folds":
            check_number("n_models", self.n_models, 2, whole=True)

    def _sample(self, data: Dataset, number: int) -> tuple[Dataset, Dataset | None]:
        """(what model ``number`` learns from, the other queries)."""
        if self.sample == "folds":
            return next(itertools.islice(folds(data, self.n_models, self.seed), number, None))
        count = max(1, round(self.query_fraction * data.n_queries))
        if count == data.n_queries:
            return data, None
        order = np.argsort(Stream.BAGGED_QUERIES.words(self.seed, number, data.query_hashes), kind="stable")
        return data.take_queries(order[:count]), data.take_queries(order[count:])


def _kept(settings: dict[str, Any]) -> dict[str, Any]:
    """Without what decides no score: the same model has the same bytes."""
    return {name: value for name, value in settings.items() if name.removeprefix("ranker__") not in NOT_KEPT}
