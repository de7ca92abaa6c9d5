"""The contract between a training and the loop that drives it."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from rankforce.console.interruption import Interruption
from rankforce.errors import SettingsError
from rankforce.models.model import Model
from rankforce.models.provenance import Provenance
from rankforce.remedies import Argument
from rankforce.training.checkpoint import Kept
from rankforce.training.monitor import Monitor


class Course(abc.ABC):
    """One training between its steps.

    unit : what its steps are called
    done : how many steps are finished
    settled : what settings that were left open became
    remarks : what is worth saying before it begins
    interrupted : "after 285 of 5,000 trees" if Ctrl-C ended it before its end, else empty: for the loop to say
    announced : whether somebody else tells the user: who has heard of Ctrl-C, and told a callback
    cut_short : whether Ctrl-C ended its last step before the step's own end
    """

    unit: str
    done: int
    settled: Mapping[str, Any] = MappingProxyType({})
    remarks: tuple[str, ...] = ()
    interrupted: str = ""
    announced: bool = False
    cut_short: bool = False

    def __init__(self) -> None:
        self.interruption = Interruption()  # of the loop around it

    @property
    @abc.abstractmethod
    def monitor(self) -> Monitor:
        """History, best iteration, and whether to stop."""

    @abc.abstractmethod
    def step(self, number: int) -> bool:
        """Learn for the ``number``-th time, from 0, and record it; False if nothing was left to learn."""

    @abc.abstractmethod
    def model(self, provenance: Provenance) -> Model:
        """What is kept of the steps so far; later ones do not change it."""

    @abc.abstractmethod
    def resume(self, model: Any, path: Any) -> int:
        """Go on from what ``write`` wrote, read from ``path``; returns the number of steps done."""

    @property
    def ended(self) -> bool:
        """Whether no further step is wanted."""
        return self.monitor.ended

    @property
    def best_iteration(self) -> int:
        """The number of the step whose model is kept."""
        return self.monitor.best_iteration

    def state(self) -> dict[str, Any]:
        """What a training must know to go on, beside the model and the history."""
        return {}

    def write(self, kept: Kept, *, last: bool) -> None:
        """Write all that ``resume`` needs, also while a step is unfinished; ``last``: no step will follow."""
        kept.write(self.monitor.history, self.monitor.names, self.model, self.state())


def check_not_beyond(done: int, most: int, unit: str, path: Any) -> None:
    """Raise if a checkpoint has gone further than training may."""
    if done > most:
        raise SettingsError(
            f"{path}: the checkpoint is one of {done} {unit}, and there is no way back to {most}: give another path, "
            "or ",
            Argument("resume", "never"),
            " to begin anew",
        )
