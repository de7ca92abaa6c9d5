"""What a model is and where it comes from, on one page."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from rankforce.console import html_parts, tables
from rankforce.console.result_tables import ResultTable
from rankforce.console.wording import counted
from rankforce.displayed_text import displayed, escaped
from rankforce.errors import SettingsError
from rankforce.importing.library_models import model_of_library
from rankforce.importing.library_objects import attribute
from rankforce.models.bagged import Bagged
from rankforce.models.combination import Combination
from rankforce.models.model import Model
from rankforce.models.provenance import COLUMNS, INTERRUPTED
from rankforce.models.stacked import Stacked
from rankforce.models.tree_ensemble import TreeEnsemble

_SHOWN = 20  # features in the printed table
_HISTORY_SHOWN = 6  # iterations in the printed history


@dataclasses.dataclass(frozen=True)
class FeatureCard:
    """One feature: its share of the gain (None where the model has no splits) and its range in the training data."""

    name: str
    gain: float | None
    splits: int | None
    low: float | None
    high: float | None
    missing: float | None


@dataclasses.dataclass(frozen=True, eq=False)
class ModelCard:
    """What ``model_card`` yields: read it with ``str``, or as values with ``to_dict``."""

    kind: str
    summary: str
    objective: str
    settings: dict[str, Any]
    features: tuple[FeatureCard, ...]  # in the order of the model
    split_models: tuple[str, ...]  # of a combination: those of its models that gain and splits are of
    history: dict[str, tuple[float, ...]]
    watched: dict[str, str]  # what the numbers of the history are values of
    ties: str  # how equal scores are ordered in the history
    data_fingerprint: str
    versions: dict[str, str]
    cpu_target: str
    seed: int | None
    checkpoint: bool
    columns: dict[str, str] = dataclasses.field(default_factory=dict)  # of the table: column → what became of it
    categories: dict[str, int] = dataclasses.field(default_factory=dict)  # categorical feature → how many
    interrupted: str = ""  # of a training that Ctrl-C cut short: "after 285 of 5,000 trees"

    def to_dict(self) -> dict[str, Any]:
        """The card as plain values."""
        return dataclasses.asdict(self)

    def plot(self, *, ax: Any = None, path: Any = None) -> Any:
        """The history of the training as a picture: ``rf.plot.history``."""
        import rankforce

        return rankforce.plot.history(self, ax=ax, path=path)

    def __str__(self) -> str:
        parts = [self.summary]
        if self.checkpoint:
            parts.append("A checkpoint of a training that goes on from it.")
        if self.interrupted:
            parts.append(f"The training was interrupted {escaped(self.interrupted)}.")
        facts = [("objective", self.objective), ("data", self.data_fingerprint), ("cpu", self.cpu_target)]
        facts.append(("versions", ", ".join(f"{name} {version}" for name, version in self.versions.items())))
        parts.append("\n".join(f"{name:<10} {escaped(text)}" for name, text in facts if text))
        if self.settings:
            parts.append(
                "settings\n" + "\n".join(f"  {displayed(name)} = {value!r}" for name, value in self.settings.items())
            )
        if self.columns:
            told = [f"  {displayed(name)}: {escaped(what)}" for name, what in self.columns.items()]
            parts.append("columns of the training data (the others are features)\n" + "\n".join(told))
        if self.categories:
            told = [f"  {displayed(name)}: {count:,}" for name, count in self.categories.items()]
            parts.append("categories of features\n" + "\n".join(told))
        if any(self.history.values()):
            parts.append(self._history_table())
        if self.features:
            parts.append(self._feature_table())
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        """What notebooks show: facts, the history as a curve, features; the settings unfold."""
        facts = [("objective", self.objective), ("data", self.data_fingerprint), ("cpu", self.cpu_target)]
        facts.append(("versions", ", ".join(f"{name} {version}" for name, version in self.versions.items())))
        if self.interrupted:
            facts.insert(0, ("interrupted", self.interrupted))
        settings = [(name, repr(value)) for name, value in self.settings.items()]
        words = self._history_words()
        parts = [
            html_parts.heading(self.summary),
            html_parts.facts([(name, text) for name, text in facts if text]),
            html_parts.curves(self.history, words[0] if words else "history"),
        ]
        if self.features:
            header, rows, notes = self._feature_rows()
            parts.append(ResultTable("features", header, rows, notes).html())
        if settings:
            parts.append(html_parts.unfolded("settings", html_parts.facts(settings)))
        return html_parts.block(*parts)

    def _history_table(self) -> str:
        length = max(map(len, self.history.values()))
        steps = max(1, math.ceil(length / _HISTORY_SHOWN))
        places = sorted({*range(steps - 1, length, steps), length - 1})
        header = ["iteration", *(str(index + 1) for index in places)]
        rows = [
            [name, *(tables.number(values[index]) if index < len(values) else "–" for index in places)]
            for name, values in self.history.items()
        ]
        best = [
            f"{displayed(name)}: best {max(values):.4f} at iteration {values.index(max(values)) + 1}"
            for name, values in self.history.items()
            if values
        ]
        return "\n".join([*self._history_words(), tables.text_table(header, rows), *best])

    def _history_words(self) -> list[str]:
        """What the numbers of the history are, as far as the file says it."""
        measures = dict.fromkeys(self.watched.get(name, "") for name in self.history)
        if len(measures) == 1:
            told = "history of " + next(iter(measures))
        else:
            told = "history of " + ", ".join(f"{self.watched.get(name)} ({name})" for name in self.history)
        if not any(measures):
            return []
        if self.ties:
            told += f"; ties: {self.ties}, so rf.evaluate(..., ties={self.ties!r}, seed={self.seed}) gives these values"
        return [told]

    def _feature_table(self) -> str:
        header, rows, notes = self._feature_rows()
        return "\n".join([tables.text_table(header, rows), *notes])

    def _feature_rows(self) -> tuple[list[str], list[list[str]], list[str]]:
        """The features that matter most: header, rows, and what is left to say."""
        shown = sorted(self.features, key=lambda one: -(one.gain or 0.0))[:_SHOWN]
        columns = {
            "gain": ["" if one.gain is None else f"{100.0 * one.gain:.1f} %" for one in shown],
            "splits": ["" if one.splits is None else f"{one.splits:,}" for one in shown],
            "low": ["" if one.low is None else f"{one.low:g}" for one in shown],
            "high": ["" if one.high is None else f"{one.high:g}" for one in shown],
            "missing": ["" if one.missing is None else tables.per_cent(one.missing) for one in shown],
        }
        columns = {name: cells for name, cells in columns.items() if any(cells)}  # without a value it says nothing
        rows = [[one.name, *(cells[index] or "–" for cells in columns.values())] for index, one in enumerate(shown)]
        notes = []
        rest = len(self.features) - len(shown)
        if rest:
            notes.append(f"... and {counted(rest, 'feature')}" + (" of less gain" if "gain" in columns else ""))
        if self.split_models:
            notes.append(f"gain (the mean of shares) and splits are of {' and '.join(self.split_models)}")
        return ["feature", *columns], rows, notes


def model_card(model: Any) -> ModelCard:
    """The card of a model or a fitted ranker: settings, data, history, importance and ranges of features, versions."""
    learned = attribute(model, "model_")  # of a fitted ranker
    if not isinstance(model, Model):
        model = learned if isinstance(learned, Model) else model_of_library(model) or model
    if not isinstance(model, Model):
        raise SettingsError(
            f"a card is of a model: give a fitted ranker, a model of LightGBM, XGBoost or CatBoost, or rf.load(path), "
            f"not {type(model).__name__}"
        )
    provenance = model.provenance
    identity = provenance.settings.get("checkpoint")
    if isinstance(identity, dict):  # a checkpoint keeps what it is of in one place
        settings, data = identity.get("settings", {}), identity.get("training data", "")
        versions, target = identity.get("versions", {}), identity.get("processor", "")
    else:
        settings, data = provenance.settings, provenance.data_fingerprint
        versions, target = provenance.versions, provenance.cpu_target
    kept = {name: value for name, value in settings.items() if name not in (COLUMNS, INTERRUPTED)}
    return ModelCard(
        kind=model.KIND,
        summary=repr(model),
        objective=provenance.objective,
        settings=kept,
        columns=dict(settings.get(COLUMNS) or {}),
        categories={name: len(listed) for name, listed in model.categories.items()},
        features=_features(model),
        split_models=tuple(map(repr, _split_models(model))),
        history={name: tuple(values) for name, values in provenance.history.items()},
        watched=dict(provenance.watched),
        ties=provenance.ties,
        data_fingerprint=data,
        versions=dict(versions),
        cpu_target=target,
        seed=provenance.seed,
        checkpoint=isinstance(identity, dict),
        interrupted=provenance.interrupted,
    )


def _features(model: Model) -> tuple[FeatureCard, ...]:
    gains, splits = _importance(model, "gain"), _importance(model, "split")
    total = math.fsum(gains.values()) if gains else 0.0
    known = model.provenance
    cards = []
    for index, name in enumerate(model.feature_names):
        ranged = len(known.feature_lows) == model.n_features and name not in model.categories
        cards.append(
            FeatureCard(
                name=name,
                gain=None if gains is None else (gains[name] / total if total > 0 else 0.0),
                splits=None if splits is None else round(splits[name]),
                low=_finite(known.feature_lows[index]) if ranged else None,
                high=_finite(known.feature_highs[index]) if ranged else None,
                missing=known.missing_shares[index] if len(known.missing_shares) == model.n_features else None,
            )
        )
    return tuple(cards)


def _importance(model: Model, kind: str) -> dict[str, float] | None:
    """Gain or splits by feature; None where nothing is split.

    Of an average, over all its models. Of a combination, over those of its models that split; gains of different models
    have different units, so that of each it is the share.
    """
    if isinstance(model, TreeEnsemble):
        return model.feature_importance(kind)
    if isinstance(model, Bagged):
        parts = [_importance(submodel, kind) for submodel in model.models]
        if any(part is None for part in parts):
            return None
        return {
            name: math.fsum(part.get(name, 0.0) for part in parts if part is not None) for name in model.feature_names
        }
    shares = []
    for submodel in _split_models(model):
        importance = _importance(submodel, kind) or {}
        total = math.fsum(importance.values()) if kind == "gain" else 1.0
        shares.append({name: value / total for name, value in importance.items()} if total > 0 else importance)
    return {name: math.fsum(part.get(name, 0.0) for part in shares) for name in model.feature_names} if shares else None


def _split_models(model: Model) -> list[Model]:
    """Those of the models of a combination, or under a net, that split anything."""
    if not isinstance(model, (Combination, Stacked)):
        return []
    return [one for one in model.models if any((_importance(one, "split") or {}).values())]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
