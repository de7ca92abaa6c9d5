"""Rankings beside each other: differences and means with their intervals, and query by query."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.console import tables
from rankforce.console.wording import counted
from rankforce.displayed_text import displayed
from rankforce.errors import SettingsError
from rankforce.evaluation.comparison import Comparison
from rankforce.evaluation.leaderboard import Leaderboard
from rankforce.evaluation.result import Evaluation
from rankforce.measures.measure import Measure
from rankforce.plot.canvas import BETTER, NEUTRAL, WORSE, Canvas, plain, wrong_kind
from rankforce.tuning.cross_validation import CrossValidation


def comparison(of: Any, measure: str | Measure | None = None, *, ax: Any = None, path: Any = None) -> Any:
    """Of two rankings the difference in every measure, of several the means of one; each with its interval.

    of : a ``Comparison`` or a ``Leaderboard``
    measure : of a leaderboard; the first one if left out

    Filled dots are significant: of a comparison by the t-test that is corrected for the measures.
    """
    if isinstance(of, Comparison):
        return _differences(of, measure, Canvas(ax, path))
    if isinstance(of, Leaderboard):
        return _means(of, measure, Canvas(ax, path))
    raise wrong_kind(of, "a comparison or a leaderboard: rf.compare(a, b, data, measures)")


def per_query(of: Any, measure: str | Measure | None = None, *, ax: Any = None, path: Any = None) -> Any:
    """The values of all queries, rising; of a comparison the differences, wins above zero and losses below.

    of : an ``Evaluation``, a ``CrossValidation`` or a ``Comparison``
    measure : the first one if left out
    """
    if isinstance(of, CrossValidation):
        of = of.evaluation
    if not isinstance(of, (Evaluation, Comparison)):
        raise wrong_kind(of, "an evaluation, a cross-validation or a comparison")
    name = _name(of.a if isinstance(of, Comparison) else of, measure)
    canvas = Canvas(ax, path)
    if isinstance(of, Comparison):
        values = of.b.per_query[name] - of.a.per_query[name]
        first, second = map(displayed, of.names)
        title, policies = f"{second} against {first}, query by query", of.a.policies
        label = f"difference in {name}"
    else:
        values, policies = of.per_query[name], of.policies
        title, label = f"{name} of every query", name
    values = np.sort(values[~np.isnan(values)])
    if not len(values):
        raise SettingsError("no query counts: there is nothing to draw")
    places = np.arange(1, len(values) + 1)
    if isinstance(of, Comparison):
        colours = np.where(values > 0.0, BETTER, np.where(values < 0.0, WORSE, NEUTRAL))
        canvas.axes.bar(places, values, width=1.0, color=list(colours))
        canvas.axes.axhline(0.0, color="black", linewidth=0.8)
        counts = of.counts[name]
        title += f": {counts.wins} wins, {counts.ties} ties, {counts.losses} losses"
    else:
        canvas.axes.plot(places, values, color=canvas.colour(0), drawstyle="steps-mid")
        canvas.axes.axhline(of.mean[name], color="black", linewidth=0.8, linestyle="--")
        title += f", mean {tables.number(of.mean[name])}"
    canvas.axes.set_xlabel(f"{counted(len(values), 'query')}, by value")
    canvas.axes.set_ylabel(plain(label))
    return canvas.finish(title, policies.sentences())


def _differences(of: Comparison, measure: Any, canvas: Canvas) -> Any:
    names = [*of.measures] if measure is None else [_name(of.a, measure)]
    for place, name in enumerate(names):
        difference, (low, high) = of.difference[name], of.interval[name]
        sure = of.holm[name] < 1.0 - of.level
        colour = NEUTRAL if not sure else BETTER if difference > 0.0 else WORSE
        _dot(canvas, place, difference, low, high, colour, filled=bool(sure))
    canvas.axes.axvline(0.0, color="black", linewidth=0.8)
    first, second = map(displayed, of.names)
    canvas.axes.set_xlabel(f"{second} − {first}, {tables.level_name(of.level)} interval")
    _rows(canvas, names)
    return canvas.finish(f"{second} against {first}: {counted(of.a.n_queries, 'query')}", of.a.policies.sentences())


def _means(of: Leaderboard, measure: Any, canvas: Canvas) -> Any:
    first = next(iter(of.evaluations.values()))
    name = _name(first, measure)
    means = {ranking: one.mean[name] for ranking, one in of.evaluations.items()}
    highest = max(means.values())
    for place, (ranking, one) in enumerate(of.evaluations.items()):
        best = means[ranking] == highest
        _dot(canvas, place, means[ranking], *one.interval[name], canvas.colour(0), filled=best)
    canvas.axes.set_xlabel(plain(f"{name}, {tables.level_name(of.level)} interval"))
    _rows(canvas, list(means))
    return canvas.finish(
        f"{len(means)} rankings of {counted(first.n_queries, 'query')}; filled: the highest", first.policies.sentences()
    )


def _dot(canvas: Canvas, place: int, value: float, low: float, high: float, colour: str, *, filled: bool) -> None:
    canvas.axes.errorbar(
        [value],
        [place],
        xerr=None if np.isnan(low) else [[value - low], [high - value]],
        fmt="o",
        color=colour,
        markerfacecolor=colour if filled else "none",
        capsize=3,
    )


def _rows(canvas: Canvas, names: list[str]) -> None:
    canvas.axes.set_yticks(range(len(names)), [plain(name) for name in names])
    canvas.axes.set_ylim(len(names) - 0.5, -0.5)  # the first on top


def _name(of: Evaluation, measure: str | Measure | None) -> str:
    return of.measures[0] if measure is None else of.mean.name(measure)
