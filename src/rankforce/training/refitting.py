"""Learning once more from training and validation data together, as long as the earlier fit found best."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

from rankforce.data.dataset import Dataset, check_dataset
from rankforce.errors import DataError, SettingsError
from rankforce.kinds import check_switches
from rankforce.models.provenance import INTERRUPTED
from rankforce.remedies import NAME_ALONE, Argument
from rankforce.training.inputs import validation_places

if TYPE_CHECKING:
    from rankforce.training.iterative import Iterative

R = TypeVar("R", bound="Iterative")


def refitted(ranker: R, parts: tuple[Dataset, ...], scaled: bool) -> R:
    """A ranker like this one, fitted on all ``parts`` without validation data; see ``Iterative.refit``."""
    check_switches(scaled=scaled)
    model = ranker._fitted()
    if not parts:
        raise DataError("say what to learn from: ranker.refit(train, validation)")
    for part in parts:
        check_dataset(part)
    if {"preferences", "validation_preferences"} & model.provenance.settings.keys():
        raise SettingsError("a fit on preferences cannot be repeated on other data: fit on data with their preferences")
    if ranker.best_iteration_ < 1:
        raise SettingsError("the earlier fit kept nothing that could be repeated: its best was before the first step")
    # features as validation data has them: by name, others may stand beside them
    whole = Dataset.concat([parts[0], *(_aligned(part, parts[0]) for part in parts[1:])], same_query="apart")
    factor = _growth(model.provenance.data_fingerprint, parts, whole) if scaled else 1.0
    steps = math.ceil(ranker.best_iteration_ * factor)
    settings = {ranker._steps_name(): steps, "early_stopping": None} | ranker._found_on_validation()
    again = ranker.unfitted(**settings)
    again._refit_of = {
        "iterations": ranker.best_iteration_,
        "scaled_by": factor,
        "data_fingerprint": model.provenance.data_fingerprint,
        "history": {name: values[ranker.best_iteration_ - 1] for name, values in ranker.history_.items()},
    }
    if model.provenance.interrupted:
        again._refit_of[INTERRUPTED] = model.provenance.interrupted
    try:
        again.fit(whole)
    finally:
        del again._refit_of  # what is fitted later is another training
    return again


def _aligned(part: Dataset, first: Dataset) -> Dataset:
    places = validation_places(part, first)
    return part if places is None else part.take_features(places)


def _growth(learned_from: str, parts: tuple[Dataset, ...], whole: Dataset) -> float:
    """How many times as many documents there are as the earlier fit learned from."""
    if parts[0].fingerprint != learned_from:
        raise DataError(
            "to scale, the first data set must be the one that the earlier fit learned from: give it, or leave ",
            Argument("scaled", NAME_ALONE),
            " out",
        )
    return whole.n_documents / parts[0].n_documents


def unrepeatable(what: Any, why: str) -> SettingsError:
    """The error of a setting that needs validation data throughout."""
    return SettingsError(what, f" cannot be repeated without validation data: {why}")
