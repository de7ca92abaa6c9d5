"""Figures of experiments: the colours and axes of ``rankforce.plot``, lines with seeds, files that never change."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankforce.console.figures import figure_class
from rankforce.errors import SettingsError
from rankforce.files.atomic_writes import atomic_write
from rankforce.plot.canvas import NEUTRAL, PALETTE
from rankforce.reproducing.experiment import Experiment
from rankforce.reproducing.rows import Rows
from rankforce.reproducing.rules import pooled

MARKERS = "osD^vPX"
RESOLUTION = 110  # dots per inch of PNG


def figure_of(experiment: Experiment, rows: Rows) -> Any:
    """The figure of a run."""
    figure = figure_class()(figsize=experiment.figsize, layout="constrained")
    experiment.draw(rows, figure)
    return figure


def save_figure(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure; the same figure gives the same bytes."""
    import matplotlib

    kind = Path(path).suffix.removeprefix(".")
    with matplotlib.rc_context({"svg.hashsalt": "rankforce", "svg.fonttype": "none", "path.simplify_threshold": 1.0}):
        drawn = io.BytesIO()
        figure.savefig(drawn, format=kind, dpi=RESOLUTION, metadata={"Date": None} if kind == "svg" else None)
    with atomic_write(path, SettingsError) as file:
        file.write(drawn.getvalue())


def panel(axes: Any, title: str = "", x: str = "", y: str = "") -> Any:
    """Axes with a title, labels and two sides."""
    axes.set_title(title, loc="left", fontsize=9.5)
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.tick_params(labelsize=8)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return axes


def legend(axes: Any, **options: Any) -> None:
    axes.legend(**({"frameon": False, "fontsize": 8} | options))


def colour(number: int) -> str:
    return PALETTE[number % len(PALETTE)]


def curves(axes: Any, rows: Rows, x: str, by: str, *, y: str = "value", only: Sequence[Any] = (), **line: Any) -> None:
    """A line for every value of the column ``by``: the mean over the rows at each x."""
    for number, name in enumerate(only or rows.distinct(by)):
        mine = rows.where(**{by: name})
        places = sorted(mine.distinct(x))
        style = {"color": colour(number), "marker": MARKERS[number % len(MARKERS)], "markersize": 3.5} | line
        axes.plot(places, [mine.mean(y, **{x: place}) for place in places], label=str(name), linewidth=1.4, **style)


def cutoff_curves(axes: Any, rows: Rows, arms: Sequence[str], measure: str = "NDCG") -> None:
    """Means at cut-offs 1 to 10 of several arms, as the papers draw them."""
    for number, arm in enumerate(arms):
        heights = [rows.mean(kind="mean", arm=arm, measure=f"{measure}@{cut}") for cut in range(1, 11)]
        axes.plot(
            range(1, 11), heights, color=colour(number), marker=MARKERS[number % len(MARKERS)], markersize=3.5,
            label=arm, linewidth=1.4,
        )  # fmt: skip
    axes.set_xticks(range(1, 11))


def difference_bars(axes: Any, rows: Rows, pairs: Sequence[tuple[str, str]], measures: Sequence[str]) -> None:
    """Paired differences with 95 % intervals, a row of points for every pair."""
    for number, (new, old) in enumerate(pairs):
        found = [pooled(rows.where(kind="difference", arm=new, against=old, measure=measure)) for measure in measures]
        places = np.arange(len(measures)) + (number - (len(pairs) - 1) / 2) * 0.15
        axes.errorbar(
            places, [one.mean for one in found], yerr=[1.96 * one.error for one in found], fmt=MARKERS[number % 7],
            color=colour(number), markersize=3.5, linewidth=1.0, capsize=2, label=f"{new} − {old}",
        )  # fmt: skip
    axes.axhline(0.0, color=NEUTRAL, linewidth=0.8)
    axes.set_xticks(np.arange(len(measures)), [measure.rpartition("@")[2] or measure for measure in measures])


def bars(axes: Any, names: Sequence[str], heights: Sequence[float], errors: Sequence[float] | None = None) -> None:
    """Bars that lie, the first on top: names can be read."""
    places = np.arange(len(names))[::-1]
    axes.barh(places, heights, xerr=errors, color=[colour(0)] * len(names), height=0.62, error_kw={"linewidth": 0.9})
    axes.set_yticks(places, names, fontsize=8)
