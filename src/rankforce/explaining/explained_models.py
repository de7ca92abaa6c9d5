"""What can be explained: rankforce's own models, alone or in a fitted ranker."""

from __future__ import annotations

import os
from typing import Any

from rankforce.errors import SettingsError
from rankforce.evaluation.foreign_models import attribute, from_library
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
    for library in ("lightgbm", "xgboost"):
        if from_library(given, library):
            raise SettingsError(
                f"a model of {library} is not one of rankforce: save it to a file and read that by ",
                Phrase("rf.load(path)", "its name"),
            )
    raise SettingsError(
        f"only models of rankforce can be explained, and fitted rankers, not {type(given).__name__}: the trees of "
        "another library are read from its file by ",
        Phrase("rf.load(path)", "its name"),
    )
