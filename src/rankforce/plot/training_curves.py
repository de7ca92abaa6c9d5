"""How trainings went: values after every iteration, and what instruments saw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rankforce.diagnostics.instruments import TableInstrument
from rankforce.errors import SettingsError
from rankforce.importing.library_objects import attribute
from rankforce.inspection.model_card import ModelCard
from rankforce.kinds import check_choice
from rankforce.models.model import Model
from rankforce.plot.canvas import PALETTE, Canvas, plain, wrong_kind
from rankforce.training.ranker import Ranker

LINE_STYLES = ("-", "--", ":", "-.")  # of the first seven lines, of the next seven ...
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


def curves(of: Any, against: str = "iterations", *, ax: Any = None, path: Any = None) -> Any:
    """Several trainings in one picture, a line each: what they watched, after so many iterations or seconds.

    of : fitted rankers in a list, or a mapping of names to fitted rankers, models or model cards
    against : "iterations" or "seconds"; how long a step took only the fitted ranker knows, files do not keep it

    The line is that of the validation data where there are any; a dot marks its highest place. Of rankers in a list
    the names say what differs in their settings.
    """
    check_choice("against", against, ("iterations", "seconds"))
    trainings = dict(of) if isinstance(of, Mapping) else _named_by_difference(of)
    if not trainings:
        raise wrong_kind(of, "several fitted rankers: a list of them, or a mapping of names to them")
    records = {str(name): _record(one) for name, one in trainings.items()}
    places = {str(name): _places(one, against) for name, one in trainings.items()}
    canvas = Canvas(ax, path)
    for number, (name, record) in enumerate(records.items()):
        part = "validation" if len(record.history.get("validation", ())) else next(iter(record.history))
        heights = np.asarray(record.history[part], dtype=np.float64)
        seconds = places[name]
        along = np.arange(1, len(heights) + 1) if seconds is None else seconds[: len(heights)]
        style = LINE_STYLES[number // len(PALETTE) % len(LINE_STYLES)]
        label = plain(name if part == "validation" else f"{name}, {part}")
        canvas.axes.plot(along, heights, color=canvas.colour(number), linestyle=style, label=label)
        if np.isfinite(heights).any():
            best = int(np.nanargmax(heights))
            canvas.axes.plot([along[best]], [heights[best]], "o", color=canvas.colour(number))
    measures = dict.fromkeys(str(measure) for one in records.values() for measure in one.watched.values())
    ties = dict.fromkeys(one.ties for one in records.values() if one.ties)
    canvas.axes.set_xlabel("iteration" if against == "iterations" else "seconds of training")
    canvas.axes.set_ylabel(plain(", ".join(measures) or "value"))
    return canvas.finish(f"{len(records)} trainings", [f"ties: {', '.join(ties)}" if ties else ""], legend=True)


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


def _named_by_difference(of: Any) -> dict[str, Any]:
    """Rankers of a list, named by their kind and by the settings in which they differ; a number where they do not."""
    if not isinstance(of, (list, tuple)) or not all(isinstance(one, Ranker) for one in of):
        raise wrong_kind(of, "several fitted rankers: a list of them, or a mapping of names to them")
    changed = [{name: repr(value) for name, value in one._changed_settings().items()} for one in of]
    settings = dict.fromkeys(name for each in changed for name in each)
    differing = [name for name in settings if len({each.get(name) for each in changed}) > 1]
    named: dict[str, Any] = {}
    for number, (one, each) in enumerate(zip(of, changed, strict=True), start=1):
        words = ", ".join(f"{name}={each[name]}" for name in differing if name in each)
        name = f"{type(one).__name__}({words})" if words else type(one).__name__
        named[name if name not in named else f"{name} ({number})"] = one
    return named


def _places(of: Any, against: str) -> np.ndarray | None:
    """Where iterations stand on the axis of seconds; None where they are counted."""
    if against == "iterations":
        return None
    seconds = attribute(of, "seconds_")
    if not isinstance(seconds, list):
        raise SettingsError(
            "seconds are known of a ranker that was fitted in this process, not of a model, a card or a file"
        )
    return np.asarray(seconds, dtype=np.float64)


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
