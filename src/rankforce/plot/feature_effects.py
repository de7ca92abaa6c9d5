"""What features do: how much each matters, and what its values contribute."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankforce.console import tables
from rankforce.errors import SettingsError
from rankforce.explaining.contributions import Contributions
from rankforce.explaining.feature_importance import FeatureImportance
from rankforce.importing.library_objects import attribute
from rankforce.inspection.model_card import ModelCard, model_card
from rankforce.kinds import Whole
from rankforce.models.model import Model
from rankforce.plot.canvas import Canvas, plain, wrong_kind


def importance(of: Any, most: int = 20, *, ax: Any = None, path: Any = None) -> Any:
    """Features by what they matter, the most important on top.

    of : what ``rf.importance`` gave (losses of the measure, permuted and removed, with intervals), what ``rf.explain``
        gave (mean |contribution|), or a model or a fitted ranker (shares of the gain of its splits)
    most : how many features
    """
    Whole(1, 1000).check("most", most)
    if isinstance(of, FeatureImportance):
        return _losses(of, most, ax, path)
    if isinstance(of, Contributions):
        sizes, label, title = of.mean_absolute, "mean |contribution|", "Contributions of features"
        notes = list(of.notes)
    else:
        card = _card(of)
        sizes = {one.name: 100.0 * one.gain for one in card.features if one.gain is not None}
        if not sizes:
            raise SettingsError("the model has no splits, whose gain could be shared: rf.importance measures any model")
        label, title, notes = "share of the gain, %", "Gain of splits by feature", []
    canvas = _tall_canvas(min(most, len(sizes)), ax, path)
    chosen = sorted(sizes, key=lambda name: -sizes[name])[:most]
    canvas.axes.barh(range(len(chosen)), [sizes[name] for name in chosen], color=canvas.colour(0))
    _name_rows(canvas, chosen)
    canvas.axes.set_xlabel(label)
    return canvas.finish(title, notes)


def dependence(of: Any, feature: str | None = None, *, ax: Any = None, path: Any = None) -> Any:
    """What the values of a feature contribute to scores: a dot per document.

    of : what ``rf.explain`` gave for a query or for all documents
    feature : its name; the one that contributes most if left out

    Missing values stand left of all others.
    """
    if not isinstance(of, Contributions):
        raise wrong_kind(of, "the contributions that rf.explain(model, data) gives")
    sizes = of.mean_absolute
    points = of.dependence(max(sizes, key=lambda name: sizes[name]) if feature is None else feature)
    canvas = Canvas(ax, path)
    values = points.values.astype(np.float64)
    known = ~np.isnan(values)
    canvas.axes.axhline(0.0, color="black", linewidth=0.6)
    canvas.axes.plot(
        values[known], points.contributions[known], ".", color=canvas.colour(0), alpha=_opacity(len(values))
    )
    if not known.all():
        low, high = (values[known].min(), values[known].max()) if known.any() else (0.0, 1.0)
        place = low - 0.05 * ((high - low) or 1.0)
        canvas.axes.plot(
            np.full((~known).sum(), place), points.contributions[~known], "x", color=canvas.colour(3), label="missing"
        )
    canvas.axes.set_xlabel(plain(points.feature))
    canvas.axes.set_ylabel("contribution to the score")
    return canvas.finish(f"What {plain(points.feature)} contributes", of.notes, legend=not known.all())


def _losses(of: FeatureImportance, most: int, ax: Any, path: Any) -> Any:
    losses = of.losses[:most]
    canvas = _tall_canvas(len(losses), ax, path)
    kinds = (
        ("permuted", [one.permuted for one in losses], [one.permuted_interval for one in losses], -0.16),
        ("removed", [one.removed for one in losses], [one.removed_interval for one in losses], 0.16),
    )
    for number, (name, values, intervals, shift) in enumerate(kinds):
        ends = np.array([[value - low, high - value] for value, (low, high) in zip(values, intervals, strict=True)])
        canvas.axes.errorbar(
            values,
            np.arange(len(losses)) + shift,
            xerr=np.nan_to_num(np.maximum(ends, 0.0)).T.reshape(2, len(losses)),
            fmt="o",
            markersize=4,
            capsize=2,
            color=canvas.colour(number),
            label=name,
        )
    canvas.axes.axvline(0.0, color="black", linewidth=0.8)
    _name_rows(canvas, [one.feature for one in losses])
    canvas.axes.set_xlabel(plain(f"loss of {of.measure} without the feature, {tables.level_name(of.level)} interval"))
    title = f"{of.measure} = {tables.number(of.value)}, and what it loses"
    return canvas.finish(title, of.policies.sentences(), legend=True)


def _card(of: Any) -> ModelCard:
    if isinstance(of, ModelCard):
        return of
    if not isinstance(of, Model) and not isinstance(attribute(of, "model_"), Model):
        raise wrong_kind(of, "what rf.importance or rf.explain gave, a model, or a fitted ranker")
    return model_card(of)


def _tall_canvas(rows: int, ax: Any, path: Any) -> Canvas:
    return Canvas(ax, path, figsize=(7.0, 1.4 + 0.28 * rows))


def _name_rows(canvas: Canvas, names: list[str]) -> None:
    canvas.axes.set_yticks(range(len(names)), [plain(name) for name in names])
    canvas.axes.set_ylim(len(names) - 0.5, -0.5)


def _opacity(points: int) -> float:
    return float(np.clip(300.0 / max(points, 1), 0.15, 0.9))
