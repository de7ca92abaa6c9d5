"""Training of a net: epochs of one run per learning rate, side by side; the best one is the model."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from rankforce.errors import SettingsError, warn
from rankforce.forces.no_forces import why_no_forces
from rankforce.models.net import Net
from rankforce.models.provenance import Provenance
from rankforce.nets.runs import Run, leading
from rankforce.nets.updates import Source
from rankforce.threads import over_pieces
from rankforce.training.course import Course, check_not_beyond
from rankforce.training.iterative import Training
from rankforce.training.monitor import Monitor
from rankforce.training.monitoring import Instrument, TrainingWarning


@dataclasses.dataclass(frozen=True, kw_only=True)
class NetTraining(Training):
    """What one call of ``fit`` learns from: the source of forces, and who looks at them."""

    source: Source
    instruments: Sequence[Instrument] = ()


class NetCourse(Course):
    """Runs with several learning rates, of which the leading one is what users see; ``blank`` is the first net."""

    unit = "epochs"

    def __init__(
        self,
        blank: Net,
        runs: list[Run],
        epochs: int,
        instruments: Sequence[Instrument],
        settled: Mapping[str, Any],
        remarks: tuple[str, ...],
    ) -> None:
        super().__init__()
        self.blank = blank
        self.runs = runs
        self.epochs = epochs
        self.instruments = instruments
        self.settled = settled
        self.remarks = remarks
        self.done = 0

    @property
    def best(self) -> Run:
        """The leading run."""
        return leading(self.runs)

    @property
    def monitor(self) -> Monitor:
        return self.best.monitor

    @property
    def ended(self) -> bool:
        return all(run.ended for run in self.runs)

    def step(self, number: int) -> bool:
        """One epoch of every run that has not ended, each on a thread of its own."""
        if self.instruments:
            first = self.runs[0]
            first.train.score(first.learning.weights)
            first.train.show(self.instruments, number)
        over_pieces(range(len(self.runs) + 1), lambda place, _: self.runs[place].epoch(number))
        if all(run.unmoved for run in self.runs):
            updates = self.runs[0].plan.updates
            why = why_no_forces(updates.source.objective, updates.data)
            warn(TrainingWarning(f"the first epoch moved no weight: {why}"))
        self.done = number + 1
        return bool(self.monitor.history)

    def model(self, provenance: Provenance) -> Net:
        return dataclasses.replace(self.blank, weights=self.best.best_weights, provenance=provenance)

    def state(self) -> dict[str, Any]:
        return {"epochs": self.done, "runs": [run.state() for run in self.runs]}

    def resume(self, model: Any, path: Any) -> int:
        state = model.provenance.settings.get("state")
        if not isinstance(state, dict) or len(state.get("runs", ())) != len(self.runs):
            raise SettingsError(f"{path} is no checkpoint of this training: choose another path for it")
        self.done = int(state["epochs"])
        check_not_beyond(self.done, self.epochs, self.unit, path)
        for run, run_state in zip(self.runs, state["runs"], strict=True):
            run.resume(run_state, path)
        return self.done
