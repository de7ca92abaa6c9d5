"""The settings that a search tries, one combination after the other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Protocol

from rankforce.training.monitoring import Iteration
from rankforce.tuning.space import Space


class Watching(Protocol):
    """A callback of ``fit`` that may end it."""

    pruned: bool

    def __call__(self, iteration: Iteration) -> None: ...


class ListedSettings:
    """Settings that are known beforehand: a grid or random draws."""

    def __init__(self, settings: Iterator[dict[str, Any]], count: int | None) -> None:
        self._settings = list(itertools.islice(settings, count))
        self.count = len(self._settings)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._settings)

    def remember(self, records: list[dict[str, Any]]) -> None:
        """Nothing is learned from earlier trials."""

    def learn(self, trial: Any) -> None:
        """Nothing is learned from a trial."""

    def watching(self) -> Watching | None:
        return None


def proposals_of(method: str, space: Space, trials: int | None, seed: int) -> Any:
    """What a search proposes: an iterable of settings that is told of earlier trials, and of each when it is done."""
    if method == "grid":
        return ListedSettings(space.grid(), trials)
    if method == "random":
        return ListedSettings(space.random(seed), trials or 20)
    from rankforce.tuning.optuna_search import OptunaSearch

    return OptunaSearch(space, trials or 20, seed)
