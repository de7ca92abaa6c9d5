"""What features do: shares of the gain, what the measure loses without them, what they contribute to scores."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.errors import RankforceError, SettingsError
from rankforce.explaining.contributions import Contributions
from rankforce.explaining.explain import explain
from rankforce.explaining.feature_tables import plain
from rankforce.explaining.importance import importance
from rankforce.inspection.model_card import FeatureCard, model_card
from rankforce.reporting.given import ReportedModel
from rankforce.reporting.measured import UNLABELLED
from rankforce.reporting.parts import AbsentPart, ReportPart, all_rounded, rounded

MOST_DEPENDENCES = 8  # features, those that contribute most
MOST_POINTS = 400  # documents of each
BACKGROUND = 100  # documents, for models that are only explained against some


@dataclasses.dataclass(frozen=True)
class FeatureRoles(ReportPart):
    """Three answers to how much a feature matters, each None where the model or the data does not give it.

    gain, splits : by feature, its share of what training gained by splits, and how many there are
    losses : ``FeatureImportance.to_dict``, on the sample
    contributions : mean |contribution| by feature, on the sample; ``notes`` of ``rf.explain`` say which kind
    dependence : values of the features that contribute most, and what they contributed
    sample : how many queries and documents losses and contributions are of
    remarks : why something is not there
    """

    names: list[str]
    gain: dict[str, float] | None
    splits: dict[str, int] | None
    losses: dict[str, Any] | None
    contributions: dict[str, float] | None
    notes: list[str]
    dependence: list[dict[str, Any]]
    sample: dict[str, int]
    remarks: list[str]

    @classmethod
    def of(cls, given: ReportedModel, permutations: int, progress: bool) -> FeatureRoles | AbsentPart:
        card = model_card(given.model).features
        gain, splits = _by_splits(card)
        losses = _losses(given, permutations, progress)
        table = contributions_of(given, given.sample)
        answers = {"gain": gain, "losses": losses, "contributions": table}
        remarks = [f"{name}: {one.absent}" for name, one in answers.items() if isinstance(one, AbsentPart)]
        if len(remarks) == len(answers):
            return AbsentPart("; ".join(remarks))
        explained = isinstance(table, Contributions)
        return cls(
            names=list(given.model.feature_names),
            gain=gain if isinstance(gain, dict) else None,
            splits=splits,
            losses=losses if isinstance(losses, dict) else None,
            contributions=table.mean_absolute if isinstance(table, Contributions) else None,
            notes=list(table.notes) if isinstance(table, Contributions) else [],
            dependence=_dependences(table) if isinstance(table, Contributions) and explained else [],
            sample={
                "queries": given.sample.n_queries,
                "documents": given.sample.n_documents,
                "of_queries": given.data.n_queries,
            },
            remarks=remarks,
        )


def contributions_of(given: ReportedModel, data: Dataset, query: Any = None) -> Contributions | AbsentPart:
    """``rf.explain``; against documents that are drawn from the data, where a model is not explained without any."""
    options = given.options
    try:
        return explain(given.model, data, query, threads=options.threads)
    except SettingsError:
        drawn = min(BACKGROUND, data.n_documents)
    except RankforceError as error:
        return AbsentPart.because(error)
    try:
        return explain(given.model, data, query, background=drawn, seed=options.seed, threads=options.threads)
    except RankforceError as error:
        return AbsentPart.because(error)


def _by_splits(card: tuple[FeatureCard, ...]) -> tuple[dict[str, float] | AbsentPart, dict[str, int] | None]:
    gain = {one.name: one.gain for one in card if one.gain is not None}
    splits = {one.name: one.splits for one in card if one.splits is not None}
    return gain or AbsentPart("the model has no splits"), splits or None


def _losses(given: ReportedModel, permutations: int, progress: bool) -> dict[str, Any] | AbsentPart:
    if not given.data.labels:
        return AbsentPart(UNLABELLED)
    options = given.options
    try:
        return importance(
            given.model,
            given.sample,
            next(iter(given.request.measures)),
            permutations=permutations,
            level=options.level,
            seed=options.seed,
            threads=options.threads,
            progress=progress,
        ).to_dict()
    except RankforceError as error:
        return AbsentPart.because(error)


def _dependences(table: Contributions) -> list[dict[str, Any]]:
    """Of the features that contribute most, points of documents at even distances in the sample."""
    sizes = sorted(table.mean_absolute.items(), key=lambda one: -one[1])
    documents = np.unique(np.linspace(0, len(table) - 1, min(len(table), MOST_POINTS)).astype(np.int64))
    found = []
    for name, size in sizes[:MOST_DEPENDENCES]:
        if size <= 0.0:
            break
        points, listed = table.dependence(name), table.categories.get(name, ())
        values = [plain(value, listed) for value in points.values[documents].tolist()]
        found.append(
            {
                "feature": name,
                "categories": bool(listed),
                "values": [rounded(value) if isinstance(value, float) else value for value in values],
                "contributions": all_rounded(points.contributions[documents].tolist()),
            }
        )
    return found
