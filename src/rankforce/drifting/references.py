"""What new data is compared with: a model's memory of its training data, or the training data."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.data.categories import Category
from rankforce.data.dataset import Dataset, check_dataset
from rankforce.data.distributions import SCORES, KnownData, distribution_of, known_data, sampled_queries
from rankforce.data.feature_matching import are_numbered, feature_places
from rankforce.drifting.feature_weights import EQUALLY, feature_weights
from rankforce.errors import DataError, SettingsError
from rankforce.explaining.explained_models import explained_model
from rankforce.models.model import Model
from rankforce.models.provenance import feature_ranges
from rankforce.remedies import Argument


@dataclasses.dataclass(frozen=True)
class Reference:
    """Features as they were in training.

    lows, highs : of every feature, NaN where all values were missing
    weights : the share of each feature in what the model looks at; equal shares without a model
    categories : those of the categorical features, in the order of their codes; empty where nobody knows them
    """

    feature_names: tuple[str, ...]
    known: KnownData
    lows: np.ndarray
    highs: np.ndarray
    weights: np.ndarray
    weighed_by: str
    categories: Mapping[str, Sequence[Category]]
    model: Model | None

    @classmethod
    def of(cls, given: Any, train: Dataset | None, held_out: Dataset | None) -> Reference:
        """Of training data, of a model (or fitted ranker), or of a model and its training data."""
        if isinstance(given, Dataset):
            if train is not None or held_out is not None:
                raise SettingsError("training data without a model has no scores: give it alone, or a model first")
            return cls._of_data(given, None)
        model = explained_model(given)
        if train is not None:
            check_dataset(train)
            reference = cls._of_data(_as_the_model(train, model), model)
        else:
            reference = cls._of_model(model)
        return reference if held_out is None else reference._with_scores(model, held_out)

    @classmethod
    def _of_data(cls, data: Dataset, model: Model | None) -> Reference:
        lows, highs, _ = feature_ranges(data.features)
        known = known_data(data)
        if model is not None and model.provenance.known_data is not None:
            kept = model.provenance.known_data
            known = dataclasses.replace(known, scores=kept.scores, score_queries=kept.score_queries)
        return cls(
            feature_names=data.feature_names,
            known=known,
            lows=np.array(lows),
            highs=np.array(highs),
            **_weighed(model, known, np.array(highs)),
            categories=data.categories,
            model=model,
        )

    @classmethod
    def _of_model(cls, model: Model) -> Reference:
        provenance = model.provenance
        if provenance.known_data is None or len(provenance.known_data.features) != model.n_features:
            raise DataError(
                "the model keeps no distribution of its training data (it is older, or was read from a file of another "
                "library): give the training data, ",
                Argument("train"),
            )
        return cls(
            feature_names=model.feature_names,
            known=provenance.known_data,
            lows=np.array(provenance.feature_lows),
            highs=np.array(provenance.feature_highs),
            **_weighed(model, provenance.known_data, np.array(provenance.feature_highs)),
            categories=getattr(model, "categories", {}),
            model=model,
        )

    def _with_scores(self, model: Model, held_out: Dataset) -> Reference:
        check_dataset(held_out)
        sample = held_out.take_queries(sampled_queries(held_out, SCORES))
        scores = distribution_of(model.predict(sample), sample)
        known = dataclasses.replace(self.known, scores=scores, score_queries=sample.n_queries)
        return dataclasses.replace(self, known=known)

    def places_in(self, data: Dataset) -> list[int]:
        """Where each of its features stands in other data."""
        places = feature_places(
            self.feature_names,
            data.feature_names,
            named=not are_numbered(data.feature_names),
            what="the new data",
            of="the training data",
            counted="the training data has",
            remedy="add them (NaN where unknown)",
        )
        return list(range(data.n_features)) if places is None else places


def _weighed(model: Model | None, known: KnownData, highs: np.ndarray) -> dict[str, Any]:
    weights, by = np.ones(len(highs)), EQUALLY
    if model is not None:
        weights, by = feature_weights(model, known, highs)
    return {"weights": weights / weights.sum() if weights.sum() > 0 else weights, "weighed_by": by}


def _as_the_model(train: Dataset, model: Model) -> Dataset:
    """Training data with the features of the model, in its order and with its names."""
    places = model._places(train.feature_names, named=not are_numbered(train.feature_names))
    chosen = train if places is None else train.take_features(places)
    return chosen.replace(feature_names=model.feature_names)
