"""A measure while something moves: the share of a ranker in a combination, or one weight of a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.combining.combined import Combined
from rankforce.console import tables
from rankforce.diagnostics.weight_profiles import Smoothness
from rankforce.errors import SettingsError
from rankforce.kinds import Whole
from rankforce.plot.canvas import NEUTRAL, Canvas, plain, wrong_kind


def sweep(of: Any, number: int = 1, *, ax: Any = None, path: Any = None) -> Any:
    """The measure against the share of a ranker in a combination: constant on pieces, with the best place.

    of : what ``rf.combine`` gave by the exact sweep
    number : of the ranker (from 1) that is mixed with all others, where there are more than two
    """
    if not isinstance(of, Combined):
        raise wrong_kind(of, "what rf.combine gave")
    Whole(1, 1_000_000).check("number", number)
    if not of.curves:
        raise SettingsError("a net was learned: only the exact sweep has a curve")
    if number > len(of.curves):
        raise SettingsError(f"there are {len(of.curves)} curves: number must be one of them, not {number}")
    curve, place = of.curves[number - 1], of.places[number - 1]
    canvas = Canvas(ax, path)
    starts, ends = curve.starts, np.minimum(curve.ends, curve.right)
    places = np.column_stack([starts, ends]).ravel()
    if curve.exact:
        canvas.axes.plot(places, np.repeat(curve.highs, 2), color=canvas.colour(0), linewidth=1.0)
    else:
        canvas.axes.fill_between(
            places, np.repeat(curve.lows, 2), np.repeat(curve.highs, 2), color=canvas.colour(0), linewidth=0.0
        )
    canvas.axes.axvline(place, color=canvas.colour(3), linewidth=1.0)
    canvas.axes.set_xlim(starts[0], curve.right)
    two = len(of.curves) == 1
    symbol = {"alpha": "α", "theta": "θ"}[curve.axis]
    second = of.names[1] if two else of.names[number - 1]
    canvas.axes.set_xlabel(plain(f"{symbol}, share of {second}") if curve.axis == "alpha" else symbol)
    canvas.axes.set_ylabel(plain(of.measure))
    whom = f"{of.names[0]} and {of.names[1]}" if two else f"{second} with the mixture of all others"
    title = f"{whom}: best {symbol} = {place:.4g}"
    return canvas.finish(title, [f"{of.measure} of the combination {tables.number(of.value)}; ties: in row order"])


def smoothness(of: Any, *, ax: Any = None, path: Any = None) -> Any:
    """The measure while one weight moves and the others stay: a curve per number of queries.

    of : what ``rf.diagnostics.smoothness`` gave
    """
    if not isinstance(of, Smoothness):
        raise wrong_kind(of, "what rf.diagnostics.smoothness gave")
    canvas = Canvas(ax, path)
    for number, (count, curve) in enumerate(of.curves.items()):
        canvas.axes.plot(of.positions, curve, color=canvas.colour(number), linewidth=1.0, label=f"{count:,} queries")
    canvas.axes.axvline(of.at, color=NEUTRAL, linewidth=0.8, linestyle="--")
    canvas.axes.set_xlabel(plain(of.weight))
    canvas.axes.set_ylabel(plain(of.measure))
    return canvas.finish(f"{of.measure} while a weight moves", legend=True)
