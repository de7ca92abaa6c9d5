"""The setting ``base_model``: where learning starts."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from rankforce.errors import SettingsError
from rankforce.importing.library_models import LIBRARIES, model_of_library
from rankforce.importing.library_objects import attribute, from_library
from rankforce.importing.recognising import load, names_model_file
from rankforce.models.model import Model
from rankforce.models.storage import to_bytes
from rankforce.training.ranker import Ranker


def base_of(base: Any) -> Model | str | None:
    """The setting ``base_model`` as a model or the name of a feature.

    Text is the name of a feature, unless it ends as model files do (.json, .txt, .ubj, also with .gz).
    """
    base = checked_base(base)
    if isinstance(base, Path) or (isinstance(base, str) and names_model_file(base)):
        return load(base)
    if base is not None and not isinstance(base, (str, Model)):
        return model_of_library(base)
    return base


def checked_base(base: Any) -> Any:
    """As ``base_of``, but a file, or a model of another library, is not read yet."""
    if isinstance(base, Ranker):
        return base._fitted()
    if base is None or isinstance(base, (str, Path, Model)):
        return base
    if not isinstance(base, type) and any(from_library(base, one) for one in LIBRARIES) and attribute(base, "predict"):
        return base
    raise SettingsError(
        "base_model must be a rankforce model, a fitted ranker, a model of LightGBM, XGBoost or CatBoost, a model "
        f"file, or a feature's name, not {type(base).__name__}: it is kept inside the model. Of any other ranking, put "
        "the scores into the data as a feature, and name that"
    )


def written_base(base: Model | str | None) -> str | None:
    """A base as a model file names it: a feature by its name, a model by a digest of its file."""
    if not isinstance(base, Model):
        return base
    return f"{base!r}, {hashlib.blake2b(to_bytes(base), digest_size=8).hexdigest()}"
