"""How smooth a measure is along one weight: rough for a hundred queries, ever smoother for more."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankforce.console import tables
from rankforce.console.figures import figure_class, save_picture
from rankforce.console.result_tables import ResultTable, Tabular
from rankforce.data.dataset import Dataset
from rankforce.data.hashing import checked_seed
from rankforce.data.random_streams import Stream
from rankforce.diagnostics.weight_space import weight_space
from rankforce.displayed_text import displayed
from rankforce.errors import SettingsError
from rankforce.kinds import Several, Whole, check_number
from rankforce.measures.measure import Measure
from rankforce.threads import over_queries, using_threads


def smoothness(
    model: Any,
    data: Dataset,
    measure: str | Measure = "NDCG",
    *,
    weight: int | str = 0,
    queries: Sequence[int] = (100, 1000, 10_000),
    width: float | None = None,
    points: int = 201,
    seed: int = 0,
    threads: int | None = None,
) -> Smoothness:
    """The mean of a measure while one weight moves and the others stay, for growing numbers of queries.

    Parameters
    ----------
    model : Net, TreeEnsemble, or a ranker that learned one
    weight : int or str
        Which weight: its number, or its name ("output × hidden 3", "tree 0 leaf 5").
    queries : sequence of int
        Numbers of queries; each set holds the one before it, drawn by ``seed``. Queries that no ranking can score on
        are left out; numbers beyond what there is become all.
    width : float, optional
        How far the weight moves to either side; by default the size of the weight, or the root mean square of all
        weights if that is more.
    points : int
        Values computed, evenly spaced, the weight itself in the middle (an odd number).
    """
    check_number("points", points, 3, whole=True)
    Several(Whole(1)).check("queries", queries)
    check_number("width", width, 0.0, above=True, optional=True)
    checked_seed(seed)
    if points % 2 == 0:
        raise SettingsError(f"points must be odd, so that one is the weight itself, not {points}")
    with using_threads(threads):
        space = weight_space(model, data, measure, seed)
        place = _place(weight, space.names)
        at = float(space.weights[place])
        if width is None:
            width = max(abs(at), float(np.sqrt(np.mean(space.weights**2)))) or 1.0
        offsets = np.linspace(-float(width), float(width), points)
        direction = np.zeros(len(space.weights))
        direction[place] = 1.0
        values = np.empty((points, space.n_queries))
        over_queries(space.judged.starts, lambda a, b: space.values(direction, offsets, a, b, values))
    scored = np.flatnonzero(space.query_weights > 0)
    sequence = scored[np.argsort(Stream.SMOOTHNESS_SAMPLE.words(seed, data.query_hashes[scored]), kind="stable")]
    curves = {}
    for size in queries:
        sample = np.sort(sequence[:size])
        weights = space.query_weights[sample]
        curves[len(sample)] = (values[:, sample] * weights).sum(axis=1) / weights.sum()
    return Smoothness(str(space.measure), space.names[place], at, offsets + at, curves)


def _place(weight: int | str, names: tuple[str, ...]) -> int:
    if isinstance(weight, str):
        if weight not in names:
            raise SettingsError(f"the model has no weight {weight!r} (it has: {', '.join(names[:3])}, ...)")
        return names.index(weight)
    if not Whole(0, len(names) - 1).holds(weight):
        raise SettingsError(f"weight is a name or a number from 0 to {len(names) - 1}, not {weight!r}")
    return int(weight)


@dataclasses.dataclass(frozen=True, eq=False)
class Smoothness(Tabular):
    """The result of ``smoothness``: ``curves[n]`` is the mean over n queries at each of the ``positions``."""

    measure: str
    weight: str
    at: float
    positions: np.ndarray
    curves: dict[int, np.ndarray]

    def roughness(self, queries: int) -> float:
        """The way up and down beside the way there is: Σ|steps| / (highest − lowest); 1 or 2 for a smooth hill."""
        curve = self.curves[queries]
        span = float(np.ptp(curve))
        return float(np.abs(np.diff(curve)).sum()) / span if span > 0 else 0.0

    def turns(self, queries: int) -> int:
        """How often the curve changes between rising and falling."""
        slopes = np.sign(np.diff(self.curves[queries]))
        slopes = slopes[slopes != 0]
        return int((np.diff(slopes) != 0).sum())

    def _result_table(self) -> ResultTable:
        rows = [
            [
                f"{count:,}",
                tables.number(float(curve[len(curve) // 2])),
                tables.number(float(curve.min())),
                tables.number(float(curve.max())),
                f"{self.turns(count)}",
                f"{self.roughness(count):.2f}",
            ]
            for count, curve in self.curves.items()
        ]
        header = ["queries", "at the weight", "lowest", "highest", "turns", "roughness"]
        low, high = self.positions[0], self.positions[-1]
        title = (
            f"{self.measure} while {displayed(self.weight)} moves from {low:.4g} to {high:.4g} (it is {self.at:.4g})"
        )
        return ResultTable(title, header, rows)

    def __repr__(self) -> str:
        return f"<Smoothness of {self.measure} along {displayed(self.weight)}>"

    def to_dict(self) -> dict[str, Any]:
        return {
            "measure": self.measure,
            "weight": self.weight,
            "at": self.at,
            "positions": self.positions.tolist(),
            "curves": {str(count): curve.tolist() for count, curve in self.curves.items()},
        }

    def to_pandas(self) -> Any:
        """A data frame: one row per position, one column per number of queries."""
        pandas = tables.load_pandas()
        return pandas.DataFrame(self.curves, index=pandas.Index(self.positions, name=self.weight))

    def plot(self, path: Any = None) -> Any:
        """Draw the curves as a matplotlib figure, one below the other; also into a file."""
        figure = figure_class()(figsize=(6, 2.2 * len(self.curves)), layout="constrained")
        every = np.atleast_1d(figure.subplots(len(self.curves), 1, sharex=True))
        for axes, (count, curve) in zip(every, self.curves.items(), strict=True):
            axes.plot(self.positions, curve, linewidth=0.9)
            axes.axvline(self.at, color="black", linewidth=0.6, linestyle="--")
            axes.set_title(f"{count:,} queries", fontsize=9)
            axes.set_ylabel(self.measure)
        every[-1].set_xlabel(self.weight)
        if path is not None:
            save_picture(figure, path)
        return figure
