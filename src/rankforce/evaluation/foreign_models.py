"""Scores by models that are not rankforce's: what they are handed, and what is said where they fail.

Anything with ``predict`` is handed the feature matrix, float32 with NaN for missing values: scikit-learn's estimators
and pipelines, LightGBM, XGBoost, CatBoost, a class of one's own; so is a function. Where a model knows the names of the
features it learned from, they are matched by name and it gets a data frame. A class that wants the Dataset itself has
``takes_dataset = True``, as rankforce's own models and rankers have. No other library is imported unless the model
comes from it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.data.feature_matching import are_numbered, feature_places
from rankforce.errors import DataError, RankforceError
from rankforce.importing.library_objects import attribute, first_line, from_library

# Where models say the names of the features that they were fitted on; "": anyone who follows scikit-learn.
_NAMES = {"": "feature_names_in_", "catboost": "feature_names_", "xgboost": "feature_names", "lightgbm": "feature_name"}
_AUTOMATIC = ("Column_{}", "f{}", "{}")  # how LightGBM, XGBoost and CatBoost name features that have no names
_OWN = " A class that wants the Dataset says takes_dataset = True."
_LIBRARIES = ("sklearn", "lightgbm", "xgboost", "catboost", "torch")


def ranks_documents(given: Any) -> bool:
    """Whether an object can score the documents of any data: it has ``predict``, or is a function or a module."""
    return not isinstance(given, type) and (_predicts(given) or callable(given))


def predictions(model: Any, data: Dataset) -> Any:
    """What a model or a function says about the documents of a data set, unchecked.

    Whatever it raises becomes a DataError that names the model and repeats what it said.
    """
    name = name_of(model)
    try:
        if attribute(model, "takes_dataset") is True:
            return model.predict(data)
        return _scoring(model)(_features(model, data, name))
    except RankforceError:
        raise
    except Exception as error:  # another library's, or the user's: it may be any
        own = not any(from_library(model, library) for library in _LIBRARIES) and _predicts(model)
        raise DataError(
            f"{name} cannot score this data: {type(error).__name__}: {first_line(error)}\n"
            f"  it was handed the {data.n_documents:,} × {data.n_features:,} matrix of features: is it fitted, and on "
            f"features like these?{_OWN if own else ''} Its scores can be given as an array, too"
        ) from error


def name_of(given: Any) -> str:
    """What an object is called in messages: a function by its name, all others by their class."""
    named = attribute(given, "__name__") if callable(given) and not _predicts(given) else None
    return str(named) if isinstance(named, str) else type(given).__name__


def _predicts(given: Any) -> bool:
    return callable(attribute(given, "predict"))


def _scoring(model: Any) -> Callable[[Any], Any]:
    """The function from features to scores."""
    if from_library(model, "xgboost") and any(kind.__name__ == "Booster" for kind in type(model).__mro__):
        return lambda features: _by_booster(model, features)
    if _predicts(model):
        return model.predict
    if from_library(model, "torch") and callable(attribute(model, "modules")):
        return lambda features: _by_module(model, features)
    return model


def _by_booster(booster: Any, features: Any) -> Any:
    import xgboost

    return booster.predict(xgboost.DMatrix(features))


def _by_module(module: Any, features: Any) -> Any:
    """A PyTorch module as it is used, not as it learns: without dropout, which would make scores random."""
    import torch

    weight = next(iter(module.parameters()), torch.empty(0))
    kind = weight.dtype if weight.dtype.is_floating_point else torch.float32
    modes = {part: part.training for part in module.modules()}
    module.eval()
    try:
        with torch.no_grad():
            return module(torch.tensor(np.asarray(features), dtype=kind, device=weight.device))
    finally:
        for part, training in modes.items():
            part.training = training


def _features(model: Any, data: Dataset, name: str) -> Any:
    """The features as the model knows them: a data frame if it knows names, else the matrix."""
    model_features = _feature_names(model)
    if model_features is None:
        count = attribute(model, "n_features_in_")
        if isinstance(count, (int, np.integer)) and count != data.n_features:
            raise DataError(f"the data has {data.n_features} features, {name} was fitted on {count}")
        return data.features
    names: tuple[str, ...] = tuple(data.feature_names)
    if from_library(model, "lightgbm"):
        names = tuple(feature.replace(" ", "_") for feature in names)  # as LightGBM writes them
    places = feature_places(
        model_features,
        names,
        named=not are_numbered(names),
        what="the data",
        of=name,
        counted=f"{name} was fitted on",
        remedy="add them (NaN where unknown), or give scores as an array",
    )
    matrix = data.features if places is None else data.features[:, places]
    try:
        import pandas as pd
    except ImportError:
        return matrix
    return pd.DataFrame(matrix, columns=list(model_features), copy=False)


def _feature_names(model: Any) -> list[str] | None:
    """The names of the features that a model was fitted on; None where it knows none but their numbers."""
    for library, place in _NAMES.items():
        known = attribute(model, place) if not library or from_library(model, library) else None
        if callable(known):
            known = known()  # LightGBM's Booster
        if isinstance(known, (list, tuple, np.ndarray)) and len(known):
            names = [str(one) for one in known]
            numbered = are_numbered(names) or any(
                names == [form.format(number) for number in range(len(names))] for form in _AUTOMATIC
            )
            return None if numbered else names
    return None
