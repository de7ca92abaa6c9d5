"""Bagging: the average of rankers that learned from different queries."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from rankforce.collective import anybody, gathered, total
from rankforce.data.dataset import Dataset
from rankforce.data.random_streams import Stream
from rankforce.data.splits import folds
from rankforce.errors import SettingsError
from rankforce.kinds import Number, OrNone, Understood, Whole, check_number, shown
from rankforce.measures.measure import Measure
from rankforce.models.bagged import Bagged
from rankforce.models.model import Model
from rankforce.models.provenance import NOT_KEPT, Provenance
from rankforce.training.checkpoint import Kept
from rankforce.training.course import Course
from rankforce.training.inputs import as_dataset, as_validation, with_features
from rankforce.training.iterative import Iterative, Training
from rankforce.training.members_alike import check_alike
from rankforce.training.monitor import Monitor
from rankforce.training.monitoring import Callback, Iteration, WatchedMeasure
from rankforce.training.own_code import OwnCode
from rankforce.training.ranker import Ranker
from rankforce.training.settings import checked, choice, with_settings
from rankforce.tuning.cross_validation import fit_on

Sample = Callable[[Dataset, int], tuple[Dataset, Dataset | None]]  # (drawn, the rest) of a data set, for a member


def _check_ranker(ranker: Any) -> None:
    if not isinstance(ranker, Ranker):
        raise SettingsError(f"ranker must be a ranker, for example rf.LambdaMART(), not {shown(ranker)}")


@with_settings
class Bagging(Iterative):
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
    early_stopping : int, optional
        End after so many models without a higher validation value of the average, and keep the best number of them.
    seed, threads, progress

    A ranker with early stopping watches ``validation`` if it is given to ``fit``, else the queries that were not drawn
    for it (its own fold with ``sample="folds"``).

    Attributes: ``model_`` (a ``Bagged`` model), ``rankers_``, each with its own ``settled_``, and ``history_``, the
    watched measure of the average of the first 1, 2, ... models.
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
        callbacks: Sequence[Callback] = (),
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 1,
        resume: str = "auto",
    ) -> Self:
        """Learn from a Dataset, or from X, y and qid (or group).

        Ctrl-C keeps the models that are finished; if none is, what the first has learned. ``callbacks`` are called
        after every model with an ``Iteration``. ``checkpoint`` is a path that the models are written to, after every
        ``checkpoint_every`` of them, and that a later call goes on from, to the same bytes (``resume``: ``"auto"``,
        ``"never"``, ``"always"``).
        """
        data = as_dataset(X, y, qid, group=group, weights=weights, query_weights=query_weights)
        check_alike(data, validation)
        data = with_features(data)
        held_out = as_validation(validation, data)
        measure = self._base()._watched_on(data, held_out)
        training = Training(
            data=data,
            held_out=held_out,
            watch=lambda watched: WatchedMeasure(watched, measure),
            objective="",  # the members' own
            remarks=self._remarks_on(measure),
        )
        return self._fit(training, callbacks, checkpoint, checkpoint_every, resume)

    def _steps_name(self) -> str:
        return "n_models"

    def _course(self, training: Training) -> BaggingCourse:
        return BaggingCourse(self._base(), training, self._sample, self.early_stopping, self.seed)

    def _conclude(self, training: Training, course: BaggingCourse) -> None:
        learned = dataclasses.replace(training, objective=course.members[0].model_.provenance.objective)
        super()._conclude(learned, course)
        self.rankers_ = course.members[: course.best_iteration]

    def _settings(self) -> dict[str, Any]:
        base = self._base()
        settings = base._settings() if isinstance(base, Iterative) else base.get_params(deep=False)
        inner = {
            f"ranker__{name}": value for name, value in settings.items() if name != "ranker" and name not in NOT_KEPT
        }
        own = {name: value for name, value in self.get_params(deep=False).items() if name != "ranker"}
        return {"ranker": f"Bagging of {type(base).__name__}", **own, **inner}

    def _own_code(self) -> OwnCode:
        return OwnCode.of(self._base().get_params(deep=False), self)

    @property
    def learns_categories(self) -> bool:
        return self._base().learns_categories

    @property
    def learns_together(self) -> bool:
        return self._base().learns_together

    def _why_alone(self) -> str:
        return self._base()._why_alone()

    def _base(self) -> Ranker:
        if self.ranker is None:
            from rankforce.rankers.lambdamart import LambdaMART

            return LambdaMART()
        return self.ranker

    def _watched_measure(self) -> Measure:
        """What the rankers watch."""
        return self._base()._watched_measure()

    def _check_settings(self, data: Dataset, held_out: Dataset | None) -> None:
        super()._check_settings(data, held_out)
        if self.sample == "folds":
            check_number("n_models", self.n_models, 2, whole=True)

    def _sample(self, data: Dataset, number: int) -> tuple[Dataset, Dataset | None]:
        """(what model ``number`` learns from, the other queries)."""
        if self.sample == "folds":
            return next(itertools.islice(folds(data, self.n_models, self.seed), number, None))
        queries = total(data.n_queries)
        count = max(1, round(self.query_fraction * queries))
        if count == queries:
            return data, None
        words = Stream.BAGGED_QUERIES.words(self.seed, number, data.query_hashes)
        drawn = words <= np.partition(gathered(words), count - 1)[count - 1]
        return data.take_queries(drawn), data.take_queries(~drawn)


class BaggingCourse(Course):
    """Rankers that are fitted one after the other; what is followed is the sum of their scores."""

    unit = "models"

    def __init__(self, base: Ranker, training: Training, sample: Sample, patience: int | None, seed: int) -> None:
        super().__init__()
        self.base = base
        self.data, self.held_out = training.data, training.held_out
        self.sample = sample
        self.seed = seed
        self.members: list[Any] = []
        self.train, self.validating = training.followed(seed)
        self._monitor = Monitor(self.train, self.validating, patience)
        self.patience = patience
        self._unfinished = False  # whether all that there is, is what the first model had learned at Ctrl-C
        self.settled = {"watched": str(self._monitor.measure)}
        self.remarks = training.remarks

    @property
    def monitor(self) -> Monitor:
        return self._monitor

    @property
    def done(self) -> int:  # type: ignore[override]
        return 0 if self._unfinished else len(self._monitor.history.get("train", ()))

    @property
    def best_iteration(self) -> int:
        """With early stopping that of the highest validation value; else all models are kept."""
        return len(self.members) if self.patience is None else self._monitor.best_iteration

    def step(self, number: int) -> bool:
        """Fit one more."""
        drawn, rest = self.sample(self.data, number)
        member = self._member(number)
        watched = self.held_out
        if watched is None and getattr(member, "early_stopping", None) is not None:
            watched = rest
        cut_short: list[int] = []

        def stop_if_wanted(iteration: Iteration) -> None:
            if self.interruption.wanted:
                cut_short.append(iteration.number)
                if self.members:
                    iteration.stop()  # nobody will see the model: nothing is said of it
                else:
                    iteration.interrupt()

        fit_on(member, drawn, watched, [stop_if_wanted])
        self.cut_short = anybody(bool(cut_short))
        if self.cut_short and self.members:
            return False  # an unfinished model among finished ones
        self._unfinished = self.cut_short
        self._take(member)
        self._monitor.record(len(self.members))
        return True

    def _member(self, number: int) -> Any:
        return self.base.silent(seed=int(Stream.BAGGED_SEEDS.words(self.seed, number) >> np.uint64(33)))

    def _take(self, member: Any) -> None:
        self.members.append(member)
        for followed in (self.train, self.validating):
            if followed is not None:
                followed.rank(followed.scores + followed.data.by_query(member.predict(followed.data)))

    def model(self, provenance: Provenance) -> Bagged:
        return Bagged.of(*self._models()[: self.best_iteration], provenance=provenance)

    def _models(self) -> list[Model]:
        """The models of the members; what they know of their data is part of what the whole knows."""
        return [member.model_.without_known_data() for member in self.members]

    def write(self, kept: Kept, *, last: bool) -> None:
        """All finished models, also those after the best; without any, nothing."""
        if not self.done:
            return
        everyone = functools.partial(Bagged.of, *self._models()[: self.done])
        kept.write(self._monitor.history, self._monitor.names, lambda provenance: everyone(provenance=provenance))

    def resume(self, model: Any, path: Any) -> int:
        for number, member_model in enumerate(model.models):
            member = self._member(number)
            member.take_over(member_model, self._monitor.measure)
            self._take(member)
        self._monitor.recall(model.provenance.history, {})
        return len(self.members)
