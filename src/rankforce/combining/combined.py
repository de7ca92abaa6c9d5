"""What combining found: weights, how good they are, and where nothing was chosen."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from rankforce.combining.curve import Curve
from rankforce.combining.pair import Unreached
from rankforce.console.result_tables import Cell, ResultTable
from rankforce.displayed_text import displayed
from rankforce.errors import SettingsError
from rankforce.evaluation.comparison import Comparison
from rankforce.measures.measure import Measure
from rankforce.models.combination import Combination
from rankforce.models.model import Model
from rankforce.models.net import Net
from rankforce.models.provenance import Provenance
from rankforce.models.stacked import Stacked
from rankforce.remedies import Argument, Phrase

LEVEL = 0.05  # of "significantly"

_Of = TypeVar("_Of")


@dataclasses.dataclass(frozen=True, eq=False)
class Combined:
    """The result of ``rf.combine``.

    ``weights`` of the rankers; ``scores``, the combination of each row of the data; ``value``, the mean of the measure
    at them, recomputed in float64; ``singles``, the mean of each ranker alone. For two rankers ``curve`` is the mean
    against α (or θ), ``interval`` its open piece around the best ``place``; for more, ``curves``, ``intervals`` and
    ``places`` have one entry per ranker, against the mixture of all others. ``unreached`` (value, interval) is a piece
    of the curve that is higher than ``value`` but so narrow that no float64 weights reach it, or None. ``held_out``
    compares the combination with the best single ranker where neither was chosen (``None`` without validation data and
    folds), and ``model`` is the combination as a model.

    Of a net, there are no curves; ``net`` is the net on the rankers' scores where it has hidden units, and ``weights``
    is None then.
    """

    measure: Measure
    names: tuple[str, ...]
    weights: np.ndarray | None
    value: float
    scores: np.ndarray
    singles: tuple[float, ...]
    curves: tuple[Curve, ...]
    intervals: tuple[tuple[float, float], ...]
    places: tuple[float, ...]
    unreached: Unreached | None
    held_out: Comparison | None
    tested_on: str
    net: Net | None
    _models: tuple[Model | None, ...]
    _provenance: Callable[[Model], Provenance]  # of a model with its own order of the features

    @property
    def curve(self) -> Curve:
        return self._swept(self.curves)

    @property
    def interval(self) -> tuple[float, float]:
        return self._swept(self.intervals)

    @property
    def place(self) -> float:
        """α, or θ, of the combination of two rankers."""
        return self._swept(self.places)

    def _swept(self, found: tuple[_Of, ...]) -> _Of:
        if not found:
            raise SettingsError("a net was learned: only ", Argument("method", "sweep"), " sees the whole curve")
        return found[0]

    @property
    def best_single(self) -> int:
        """The number of the ranker that is best alone; of equal ones the first."""
        return int(np.argmax(self.singles))

    @property
    def model(self) -> Combination | Stacked:
        """The combination as a model, which scores, evaluates and saves like any other."""
        for name, model in zip(self.names, self._models, strict=True):
            if model is None:
                raise SettingsError(
                    f"{name} is neither a model of rankforce nor a feature: a combination with it is no model. ",
                    Phrase("Apply .weights to the scores", "Write the combined scores: --run FILE"),
                )
        whole: Combination | Stacked
        if self.net is not None:
            whole = Stacked.of(self._models, self.net)
        else:
            whole = Combination.of(self._models, self.weights)
        return dataclasses.replace(whole, provenance=self._provenance(whole))

    @property
    def significantly_better(self) -> bool | None:
        """Whether the combination beats the best single ranker on held-out queries (paired t-test at 5 %).

        The randomisation test if all queries have the same difference. None where nothing was held out.
        """
        if self.held_out is None:
            return None
        name = str(self.measure)
        return self.held_out.difference[name] > 0.0 and self.held_out.p_value[name] < LEVEL

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values; curves by their number of pieces."""
        form: dict[str, Any] = {
            "measure": str(self.measure),
            "rankers": list(self.names),
            "weights": None if self.weights is None else self.weights.tolist(),
            "value": self.value,
            "singles": list(self.singles),
            "axis": self.curves[0].axis if self.curves else None,
            "places": list(self.places),
            "intervals": [list(part) for part in self.intervals],
            "pieces": [len(part) for part in self.curves],
            "unreached": None if self.unreached is None else dataclasses.asdict(self.unreached),
            "held_out": None,
        }
        if self.held_out is not None:
            form["held_out"] = {
                "on": self.tested_on,
                "significantly_better": self.significantly_better,
            } | self.held_out.to_dict()
        return form

    def plot(self, number: int = 1, *, ax: Any = None, path: Any = None) -> Any:
        """The measure against the share of a ranker as a picture: ``rf.plot.sweep``."""
        import rankforce

        return rankforce.plot.sweep(self, number, ax=ax, path=path)

    def __str__(self) -> str:
        names = [displayed(name) for name in self.names]
        width = max(len(name) for name in (*names, "combination"))
        lines = [f"{self.measure!s:{width}}  {'mean':>8}  {'weight':>9}"]
        for number, (name, value) in enumerate(zip(names, self.singles, strict=True)):
            weight = "" if self.weights is None else f"{self.weights[number]:9.5f}"
            lines.append(f"{name:{width}}  {value:8.4f}  {weight}".rstrip())
        lines.append(f"{'combination':{width}}  {self.value:8.4f}")
        return "\n".join([*lines, *self._remarks()])

    def _remarks(self) -> list[str]:
        """Where the best place is, what could not be reached, and whether it holds elsewhere."""
        lines = []
        if len(self.curves) == 1:
            symbol = {"alpha": "α", "theta": "θ"}[self.curve.axis]
            low, high = self.interval
            lines.append(
                f"best {symbol} = {self.place:.6g}, alike from {low:.6g} to {high:.6g}; "
                f"{len(self.curve):,} {'pieces' if self.curve.exact else 'cells'}"
            )
        if self.unreached is not None:
            low, high = self.unreached.interval
            lines.append(
                f"{self.unreached.value:.6g} may be had between {low!r} and {high!r}, too narrow for float64 weights: "
                f"{self.value:.6g} is what those found really give"
            )
        return [*lines, self._verdict()]

    def _repr_html_(self) -> str:
        """What notebooks show: means and weights, the curve of two rankers, and the verdict."""
        rows: list[list[str | Cell]] = []
        best = max(self.value, *self.singles)
        for number, (name, value) in enumerate(zip(self.names, self.singles, strict=True)):
            weight = "" if self.weights is None else f"{self.weights[number]:.5f}"
            rows.append([name, Cell(f"{value:.4f}", value == best), weight])
        rows.append(["combination", Cell(f"{self.value:.4f}", self.value == best), ""])
        return ResultTable(str(self.measure), ["ranker", "mean", "weight"], rows, self._remarks()).html()

    def _verdict(self) -> str:
        if self.held_out is None:
            return "chosen and measured on the same queries: optimistic; validation or folds say by how much"
        name, held = str(self.measure), self.held_out
        difference, p, queries = (one[name] for one in (held.difference, held.p_value, held.n_compared))
        test = {"t-test": "paired t-test", "randomisation": "randomisation test"}[held.deciding_test(name)]
        better = "significantly better" if self.significantly_better else "not significantly better"
        return (
            f"on {self.tested_on}: {better} than {displayed(self.names[self.best_single])}, "
            f"{difference:+.4f} ({test}, p = {p:.3g}, {queries:,} queries)"
        )
