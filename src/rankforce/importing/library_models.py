"""Fitted models of LightGBM, XGBoost and CatBoost, as they are in memory: written by their library, read as its files.

So they can stand where a model of rankforce is needed, not only its scores: as a base model, to be explained, exported,
moved in the space of its leaves. They score as the library's ``predict`` does: up to the best iteration where there
was early stopping.
"""

from __future__ import annotations

import math
import numbers
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rankforce.errors import ModelFileError, RankforceError, SettingsError
from rankforce.importing.library_objects import attribute, first_line, from_library
from rankforce.importing.recognising import read_foreign
from rankforce.models.model import Model


def model_of_library(given: Any) -> Model | None:
    """A fitted model of LightGBM, XGBoost or CatBoost as one of rankforce; None for everything else.

    One that is not fitted is an error, and so is one whose trees cannot be said here (ModelFileError says why).
    """
    for library, written in _WRITERS.items():
        if from_library(given, library) and not isinstance(given, type):
            name = type(given).__name__
            try:
                content = written(given)
            except RankforceError:
                raise
            except Exception as error:  # the library's: it may be any
                raise ModelFileError(
                    f"{name} cannot be written by {library}: {type(error).__name__}: {first_line(error)}; is it fitted?"
                ) from error
            return None if content is None else read_foreign(content, name)
    return None


def _from_lightgbm(given: Any) -> bytes | None:
    booster = given if _is_booster(given) else _fitted(given, "booster_")
    return None if booster is None else booster.model_to_string().encode()


def _from_xgboost(given: Any) -> bytes | None:
    if not _is_booster(given) and attribute(given, "get_booster") is None:
        return None
    booster = given if _is_booster(given) else given.get_booster()
    absent = attribute(given, "missing")
    if isinstance(absent, numbers.Real) and not math.isnan(absent):  # known to the estimator, not to its trees
        raise SettingsError(
            f"{type(given).__name__} takes {absent:g} for a missing value (missing={absent:g}), and its trees alone "
            f"would take it for a number: train it with NaN in place of {absent:g}, and leave missing out; where "
            "scores are enough, give those of its predict"
        )
    best = None if _is_booster(given) else attribute(given, "best_iteration")
    if isinstance(best, int):
        booster = booster[: best + 1]  # what predict uses, and the whole booster's file does not
    return bytes(booster.save_raw(raw_format="json"))


def _from_catboost(given: Any) -> bytes | None:
    if attribute(given, "save_model") is None:
        return None
    if attribute(given, "tree_count_") is None:
        raise SettingsError(f"{type(given).__name__} is not fitted: call its fit first")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        given.save_model(str(file), format="json")
        return file.read_bytes()


_WRITERS: dict[str, Callable[[Any], bytes | None]] = {
    "lightgbm": _from_lightgbm,
    "xgboost": _from_xgboost,
    "catboost": _from_catboost,
}


LIBRARIES = tuple(_WRITERS)


def _is_booster(given: Any) -> bool:
    return any(kind.__name__ == "Booster" for kind in type(given).__mro__)


def _fitted(given: Any, name: str) -> Any:
    """The booster of an estimator; None for other objects of the library."""
    if not callable(attribute(given, "predict")):
        return None
    booster = attribute(given, name)
    if booster is None:
        raise SettingsError(f"{type(given).__name__} is not fitted: call its fit first")
    return booster
