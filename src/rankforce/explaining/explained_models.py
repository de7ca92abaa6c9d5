"""What can be explained: rankforce's own models, alone or in a fitted ranker, and trees of other libraries."""

from __future__ import annotations

import os
from typing import Any

from rankforce.errors import SettingsError
from rankforce.importing.library_models import model_of_library
from rankforce.importing.library_objects import attribute, from_library
from rankforce.models.model import Model
from rankforce.remedies import Phrase


def explained_model(given: Any) -> Model:
    """The model that is meant, or an error that says how to get one."""
    if isinstance(given, Model):
        return given
    if isinstance(given, type):
        raise SettingsError(f"{given.__name__} is a class, and scores nothing: make a model of it, and fit it")
    if from_library(given, "rankforce") and attribute(given, "takes_dataset") is True:
        given._fitted()  # says that there is nothing yet
        return given.model_
    if isinstance(given, (str, os.PathLike)):
        raise SettingsError("a model file is read first: ", Phrase(f"rf.load({os.fspath(given)!r})", "give its name"))
    model = model_of_library(given)
    if model is not None:
        return model
    raise SettingsError(
        f"models of rankforce can be explained, fitted rankers, and trees of LightGBM, XGBoost and CatBoost, not "
        f"{type(given).__name__}: how it uses its features is not known. A ranker that learns its scores "
        "(",
        Phrase("rf.MART().fit(data.features, scores, data.qid)", "rankforce train --ranker mart"),
        ") can be explained in its place",
    )
