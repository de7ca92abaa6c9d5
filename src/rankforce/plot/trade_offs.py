"""What a search tried: settings and what they gave, and the trade-off between the tiers of a graded objective."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rankforce.errors import SettingsError
from rankforce.importing.library_objects import attribute
from rankforce.kinds import shown
from rankforce.plot.canvas import BETTER, NEUTRAL, WORSE, Canvas, plain, wrong_kind
from rankforce.training.weight_search import WeightSearch
from rankforce.tuning.tuning_result import DONE, Tuning


def tuning(of: Any, setting: str | None = None, *, ax: Any = None, path: Any = None) -> Any:
    """The value of every trial and the best so far; or, with a setting, the value against it.

    of : what ``rf.tune`` gave
    setting : the name of one that was tried
    """
    if not isinstance(of, Tuning):
        raise wrong_kind(of, "what rf.tune gave")
    done = [trial for trial in of.trials if trial.state == DONE and not math.isnan(trial.value)]
    if not done:
        raise SettingsError("no trial was finished: there is nothing to draw")
    tried = sorted({name for trial in of.trials for name in trial.settings})
    if setting is not None and (not isinstance(setting, str) or setting not in tried):
        raise SettingsError(f"{shown(setting)} was not tried (tried: {', '.join(tried)})")
    canvas = Canvas(ax, path)
    values = [trial.value for trial in done]
    if setting is None:
        numbers = [trial.number for trial in done]
        canvas.axes.plot(numbers, values, "o", color=canvas.colour(0), label="trial")
        best_so_far = np.maximum.accumulate(values)
        canvas.axes.plot(numbers, best_so_far, color=canvas.colour(1), drawstyle="steps-post", label="best so far")
        canvas.axes.set_xlabel("trial")
    else:
        given = [trial.settings.get(setting) for trial in done]
        if all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in given):
            places: list[Any] = given
        else:
            words = list(dict.fromkeys(map(str, given)))
            places = [words.index(str(one)) for one in given]
            canvas.axes.set_xticks(range(len(words)), [plain(word) for word in words])
        canvas.axes.plot(places, values, "o", color=canvas.colour(0), label="trial")
        canvas.axes.plot([places[done.index(of.best)]], [of.value], "o", color=canvas.colour(3), label="best")
        canvas.axes.set_xlabel(plain(setting))
    canvas.axes.set_ylabel(plain(of.measure))
    return canvas.finish(f"{len(of.trials)} trials, chosen by {of.measure} {of.chosen_by}", legend=True)


def frontier(of: Any, *, ax: Any = None, path: Any = None) -> Any:
    """The trade-off between the first two tiers of a graded objective: a dot per set of weights that was tried.

    of : a ``WeightSearch`` (``rf.search_weights``), or a ranker whose weights were searched (its ``frontier_``)

    Hollow dots are those that were not allowed: an earlier tier is significantly worse. The line joins those that no
    other beats in both tiers.
    """
    search = of if isinstance(of, WeightSearch) else attribute(of, "frontier_")
    if not isinstance(search, WeightSearch):
        raise wrong_kind(of, "a search of weights, or a ranker whose weights were searched")
    canvas = Canvas(ax, path)
    means = np.array([one.means[:2] for one in search.candidates])
    for allowed, colour, label in ((True, BETTER, "allowed"), (False, WORSE, "an earlier tier is worse")):
        chosen = np.array([one.allowed is allowed for one in search.candidates])
        if chosen.any():
            canvas.axes.plot(
                means[chosen, 0],
                means[chosen, 1],
                "o",
                color=colour,
                markerfacecolor=colour if allowed else "none",
                label=label,
            )
    front = means[undominated(means)]
    front = front[np.argsort(front[:, 0])]
    canvas.axes.plot(front[:, 0], front[:, 1], color=NEUTRAL, linewidth=1.0, zorder=0, label="not beaten in both")
    for one in search.candidates:
        if one.weights == search.weights:
            canvas.axes.plot(*([mean] for mean in one.means[:2]), "*", color="black", markersize=12, label="chosen")
            break
    for one in search.candidates:
        canvas.axes.annotate(
            " : ".join(f"{weight:.2g}" for weight in one.weights), one.means[:2], (4, 4),
            textcoords="offset points", fontsize=7,
        )  # fmt: skip
    canvas.axes.set_xlabel(plain(f"{search.measures[0]} (first tier)"))
    canvas.axes.set_ylabel(plain(f"{search.measures[1]} (second tier)"))
    return canvas.finish(
        "Weights of the tiers on validation data", [f"allowed: paired t-test, level {search.alpha:g}"], legend=True
    )


def undominated(points: np.ndarray) -> np.ndarray:
    """Whether no other point is at least as high in all columns and higher in one: a mask."""
    others, each = points[np.newaxis], points[:, np.newaxis]
    at_least, higher = np.all(others >= each, axis=2), np.any(others > each, axis=2)
    return ~np.any(at_least & higher, axis=1)
