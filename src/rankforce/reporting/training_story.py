"""What was trained on what: settings and what became of those left open, the curve, the tiers of the objective."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from rankforce.forces.trained_forces import SETTING as FORCES
from rankforce.importing.library_objects import attribute
from rankforce.inspection.model_card import ModelCard, model_card
from rankforce.plot.trade_offs import undominated
from rankforce.reporting.given import ReportedModel
from rankforce.reporting.parts import AbsentPart, ReportPart
from rankforce.training.weight_search import Candidate, WeightSearch

OPEN = ("auto", None)  # values of settings that leave it to the training
_APART = (FORCES, "weight_search")  # what stands elsewhere in a report


@dataclasses.dataclass(frozen=True)
class TrainingStory(ReportPart):
    """The model card, and for every setting that was left open what it became, as far as it is known."""

    summary: str
    kind: str
    objective: str
    settings: list[dict[str, Any]]  # name, value, settled
    data_fingerprint: str
    seed: int | None
    versions: dict[str, str]
    cpu_target: str
    columns: dict[str, str]  # of the training data: what became of them
    categories: dict[str, int]
    features: int

    @classmethod
    def of(cls, given: ReportedModel) -> TrainingStory:
        card = model_card(given.model)
        return cls(
            summary=f"{card.summary}; interrupted {card.interrupted}" if card.interrupted else card.summary,
            kind=card.kind,
            objective=card.objective,
            settings=_settings(card, attribute(given.given, "settled_")),
            data_fingerprint=card.data_fingerprint,
            seed=card.seed,
            versions=card.versions,
            cpu_target=card.cpu_target,
            columns=card.columns,
            categories=card.categories,
            features=len(card.features),
        )


@dataclasses.dataclass(frozen=True)
class TrainingCurves(ReportPart):
    """The watched measure after every iteration."""

    history: dict[str, list[float]]
    watched: dict[str, str]
    ties: str

    @classmethod
    def of(cls, given: ReportedModel) -> TrainingCurves | AbsentPart:
        known = given.model.provenance
        history = {name: list(values) for name, values in known.history.items() if len(values)}
        if not history:
            return AbsentPart("nothing was watched in this training, or the model does not keep it")
        return cls(history, dict(known.watched), known.ties)


@dataclasses.dataclass(frozen=True)
class TierFrontier(ReportPart):
    """Weights of the tiers of a graded objective that were tried: ``WeightSearch``, and which are unbeaten."""

    measures: list[str]
    candidates: list[dict[str, Any]]
    alpha: float

    @classmethod
    def of(cls, given: ReportedModel) -> TierFrontier | AbsentPart:
        search = _search(given)
        if search is None:
            return AbsentPart("no weights of a graded objective were searched in this training")
        front = undominated(np.array([one.means[:2] for one in search.candidates])).tolist()
        candidates = [
            dataclasses.asdict(one) | {"chosen": one.weights == search.weights, "undominated": unbeaten}
            for one, unbeaten in zip(search.candidates, front, strict=True)
        ]
        return cls(list(search.measures), candidates, search.alpha)


def _search(given: ReportedModel) -> WeightSearch | None:
    """The search of a ranker, or as the model file keeps it."""
    search = attribute(given.given, "frontier_")
    if isinstance(search, WeightSearch):
        return search
    kept = given.model.provenance.settings.get("weight_search")
    if not isinstance(kept, dict):
        return None
    try:
        candidates = tuple(
            Candidate(tuple(one["weights"]), tuple(one["means"]), tuple(one["p_values"]), bool(one["allowed"]))
            for one in kept["candidates"]
        )
        return WeightSearch(
            tuple(kept["measures"]),
            candidates,
            tuple(kept["weights"]),
            float(kept["alpha"]),
            str(kept.get("interrupted", "")),
        )
    except (KeyError, TypeError, ValueError):  # a file that somebody has written into: the search is no part of scores
        return None


def _settings(card: ModelCard, settled: Any) -> list[dict[str, Any]]:
    forces = card.settings.get(FORCES)
    known = settled if isinstance(settled, dict) else forces if isinstance(forces, dict) else {}
    return [
        {
            "name": name,
            "value": _written(value),
            "settled": _written(known[name]) if value in OPEN and known.get(name) not in (*OPEN, value) else None,
        }
        for name, value in card.settings.items()
        if name not in _APART
    ]


def _written(value: Any) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else repr(value)
