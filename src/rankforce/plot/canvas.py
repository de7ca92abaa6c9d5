"""Where a plot is drawn: axes, new or given; colours that the colour-blind tell apart; titles, notes and files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from rankforce.console.figures import check_picture, figure_class, new_figure, save_picture
from rankforce.displayed_text import displayed
from rankforce.errors import SettingsError
from rankforce.kinds import shown

# Okabe and Ito's colours, the best told apart first; yellow is left out, it is lost on white.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000")
BETTER, WORSE, NEUTRAL = "#0072B2", "#D55E00", "#888888"


class Canvas:
    """Axes to draw on, and the file that the picture goes to in the end.

    What cannot be written is found out before anything is drawn. Without axes there is a new figure: one that
    notebooks show, or one that only goes into the file and needs no display.
    """

    def __init__(self, ax: Any, path: Any, figsize: tuple[float, float] = (7.0, 4.2)) -> None:
        figure_class()  # says how to get matplotlib
        if path is not None:
            if not isinstance(path, (str, os.PathLike)):
                raise SettingsError(f"path must be the name of a picture file, not {shown(path)}")
            check_picture(path)
        if ax is not None and not _is_axes(ax):
            raise SettingsError(f"ax must be axes of matplotlib, not {shown(ax)}: fig, ax = plt.subplots()")
        self.path = path
        self.axes = new_figure(shown=path is None, figsize=figsize).subplots() if ax is None else ax

    def colour(self, number: int) -> str:
        return PALETTE[number % len(PALETTE)]

    def finish(self, title: str, notes: Iterable[str] = (), *, legend: bool = False) -> Any:
        """Title, what decides the numbers in small print below it, legend, file; the axes."""
        small = "; ".join(displayed(note) for note in notes if note)
        self.axes.set_title(plain(title), loc="left", fontsize=11, pad=18 if small else 6)
        if small:
            self.axes.annotate(
                plain(small), (0.0, 1.0), (0.0, 4.0), xycoords="axes fraction", textcoords="offset points", fontsize=7.5
            )
        for side in ("top", "right"):
            self.axes.spines[side].set_visible(False)
        if legend:
            self.axes.legend(frameon=False, fontsize=9)
        if self.path is not None:
            save_picture(self.axes.figure, self.path)
        return self.axes


def plain(text: Any) -> str:
    """A name as matplotlib draws it: escaped where a terminal would obey it, and a dollar sign is no formula."""
    return displayed(text).replace("$", r"\$")


def wrong_kind(given: Any, wanted: str) -> SettingsError:
    """The error for something that this picture is not of."""
    return SettingsError(f"this picture is of {wanted}, not of {shown(given)}")


def _is_axes(given: Any) -> bool:
    from matplotlib.axes import Axes

    return isinstance(given, Axes)
