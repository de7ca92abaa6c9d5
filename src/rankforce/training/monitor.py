"""What a training knows of its own success: the rankings that are followed, the history, the best iteration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.evaluation.agreement import Agreement
from rankforce.forces.forces import RunningOrder
from rankforce.measures.measure import Measure
from rankforce.training.graded_monitoring import GradedWatch, watch_of
from rankforce.training.monitoring import Instrument, Watch, Watched, watched_values


class Followed:
    """A data set whose ranking is followed while its scores change, and what is watched of it.

    ``scores`` and ``order`` are in ``by_query`` order.
    """

    def __init__(self, data: Dataset, watched: Watched, seed: int) -> None:
        self.data = data
        self.watched = watched
        self.ranking = RunningOrder(data, seed)
        self.scores = np.zeros(data.n_documents)
        self.order = self.ranking.order

    def rank(self, scores: np.ndarray) -> None:
        """Go on to these scores."""
        self.scores = scores
        self.order = self.ranking.update(scores)

    def value(self) -> float:
        """The watched measure at the current scores."""
        return self.watched.mean(self.order)

    def noted(self, name: str) -> dict[str, float]:
        """What is watched at the current scores, as a history names it."""
        return self.watched.noted(self.order, name)

    def show(self, instruments: Sequence[Instrument], iteration: int) -> None:
        """Let instruments look at the ranking."""
        for instrument in instruments:
            instrument.look(iteration, self.data, self.scores, self.order)


class Monitor:
    """History and early stopping of a training that follows its training data and, if there are any, validation data.

    ended : whether patience is at its end
    """

    def __init__(self, train: Followed, held_out: Followed | None, patience: int | None) -> None:
        self.train = train
        self.held_out = held_out
        self.watch: Watch = watch_of(None if held_out is None else held_out.watched, patience)
        self.ended = False

    @property
    def names(self) -> dict[str, str]:
        """What the numbers of the history are values of."""
        return watched_values(self.train.watched, None if self.held_out is None else self.held_out.watched)

    @property
    def measure(self) -> Measure | Agreement:
        """What decides: on validation data, without any on the training data."""
        return (self.train if self.held_out is None else self.held_out).watched.measure

    @property
    def history(self) -> dict[str, list[float]]:
        return self.watch.history

    @property
    def values(self) -> dict[str, float]:
        """The values after the last iteration."""
        return {name: values[-1] for name, values in self.history.items()}

    @property
    def best_iteration(self) -> int:
        """The best on validation data, without any the last."""
        return self.watch.best_iteration

    def record(self, number: int) -> None:
        """Note what is watched after iteration ``number`` (from 1)."""
        values = {"train": self.train.value()}
        if self.held_out is not None:
            values |= self.held_out.noted("validation")
        self.ended = self.watch.record(number, values)

    def memory(self) -> dict[str, Any]:
        """What it must know to go on, beside the history."""
        return self.watch.memory()

    def recall(self, history: Mapping[str, Sequence[float]], memory: Mapping[str, Any]) -> None:
        """Go on after this history."""
        self.ended = self.watch.recall(history, memory)

    def replay(self, history: Mapping[str, Sequence[float]], revisit: Callable[[], Any]) -> None:
        """Go on after this history without a memory.

        ``revisit`` brings the validation data to where it was after the next iteration. It is called only where the
        history does not hold all that decides: tiers compare queries.
        """
        if not isinstance(self.watch, GradedWatch):
            self.ended = self.watch.replay(history)
            return

        def look() -> None:
            revisit()
            assert self.held_out is not None
            self.held_out.noted("")

        self.ended = self.watch.replay(history, look)
