"""How trainings went: values after every iteration, and what instruments saw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rankforce.diagnostics.instruments import TableInstrument
from rankforce.errors import SettingsError
from rankforce.importing.library_objects import attribute
from rankforce.inspection.model_card import ModelCard
from rankforce.models.model import Model
from rankforce.plot.canvas import Canvas, plain, wrong_kind
from rankforce.training.ranker import Ranker

WANTED = "a fitted ranker, a model, a model card, or several of these by name"


class RecordedTraining(NamedTuple):
    """The values of a training, what they are values of, and how equal scores were ordered."""

    history: Mapping[str, Any]
    watched: Mapping[str, str]
    ties: str


def history(of: Any, *, ax: Any = None, path: Any = None) -> Any:
    """The watched measure after every tree or epoch, on training and validation data; a dot marks the best.

    of : a fitted ranker, a model, a model card, or a mapping of names to these, drawn into one picture
    """
    trainings = {str(name): _record(one) for name, one in of.items()} if isinstance(of, Mapping) else {"": _record(of)}
    if not trainings:
        raise wrong_kind(of, WANTED)
    canvas = Canvas(ax, path)
    number = 0
    for name, one in trainings.items():
        for part, values in sorted(one.history.items(), key=lambda item: item[0] != "validation"):
            heights = np.asarray(values, dtype=np.float64)
            line = canvas.axes.plot(
                np.arange(1, len(heights) + 1),
                heights,
                color=canvas.colour(number),
                linestyle="-" if part == "validation" or len(one.history) == 1 else "--",
                label=plain(f"{name}, {part}" if name else part),
            )[0]
            best = int(np.nanargmax(heights)) if np.isfinite(heights).any() else 0
            canvas.axes.plot([best + 1], [heights[best]], "o", color=line.get_color())
            number += 1
    measures = dict.fromkeys(str(measure) for one in trainings.values() for measure in one.watched.values())
    ties = dict.fromkeys(one.ties for one in trainings.values() if one.ties)
    canvas.axes.set_xlabel("iteration")
    canvas.axes.set_ylabel(plain(", ".join(measures) or "value"))
    return canvas.finish("History", [f"ties: {', '.join(ties)}" if ties else ""], legend=True)


def instrument(of: Any, *, ax: Any = None, path: Any = None) -> Any:
    """The columns of an instrument (``ForceAgreement``, ``GradesInTop`` ...) against the iteration."""
    if not isinstance(of, TableInstrument):
        raise wrong_kind(of, "an instrument of a training, for example rf.diagnostics.RankChanges")
    if not of.rows:
        raise SettingsError("the instrument has seen nothing yet: give it to fit, instruments=[...]")
    canvas = Canvas(ax, path)
    columns = dict(of.columns)
    iteration = columns.pop("iteration")
    for number, (name, values) in enumerate(columns.items()):
        canvas.axes.plot(iteration, values, color=canvas.colour(number), label=plain(name))
    canvas.axes.set_xlabel("iteration")
    canvas.axes.set_ylabel("share")
    return canvas.finish(of.title, legend=True)


def _record(of: Any) -> RecordedTraining:
    if isinstance(of, ModelCard):
        found = RecordedTraining(of.history, of.watched, of.ties)
    else:
        if isinstance(of, Ranker):
            of._fitted()
        model = of if isinstance(of, Model) else attribute(of, "model_")
        if not isinstance(model, Model) or isinstance(of, type):
            raise wrong_kind(of, WANTED)
        provenance = model.provenance
        found = RecordedTraining(provenance.history, provenance.watched, provenance.ties)
    if not any(len(values) for values in found.history.values()):
        raise SettingsError("nothing was watched in this training: it has no history to draw")
    return found
