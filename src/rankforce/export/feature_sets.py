"""The engine's features: their names and order, and where the model's stand among them."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from rankforce.data.categories import Category
from rankforce.data.feature_matching import are_numbered
from rankforce.errors import DataError, FileFormatError
from rankforce.files.streams import file_name
from rankforce.kinds import shown
from rankforce.models.model import Model


@dataclasses.dataclass(frozen=True, eq=False)
class FeatureSet:
    """The engine's features.

    names : of the engine's features, in the engine's order
    places : int64 (features of the model,), where each stands in ``names``; -1 if the engine does not have it
    """

    names: tuple[str, ...]
    places: np.ndarray

    def name(self, feature: int) -> str:
        """The engine's name of a feature of the model."""
        return self.names[self.places[feature]]

    def ordinal(self, feature: int) -> int:
        """The number of a feature of the model in the engine, from 1."""
        return int(self.places[feature]) + 1

    def columns(self) -> dict[str, int]:
        """The model's feature for each name that it has."""
        return {self.names[place]: feature for feature, place in enumerate(self.places) if place >= 0}


def feature_set(given: Any, feature_names: tuple[str, ...], used: np.ndarray) -> FeatureSet:
    """The engine's features, from what was given (None: the model's own), with all that the model uses.

    given : names, or features as the engine lists them, or the file of either: a JSON list of names or of objects with
    "name", a plugin's feature set, Solr's feature store; or the engine's name for each of the model's. Features of the
    model that are only numbered are taken by their position.
    """
    if given is None:
        return FeatureSet(feature_names, np.arange(len(feature_names)))
    value = _read(given) if isinstance(given, (str, Path)) else given
    if isinstance(value, dict) and value and all(isinstance(name, str) and name for name in value.values()):
        return _renamed(value, feature_names)
    names = _listed(value, f"{given}: " if isinstance(given, (str, Path)) else "features: ")
    if not names:
        raise DataError("features: the list is empty")
    twice, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise DataError(f"features: {twice!r} is there {count} times")
    place_of = {name: place for place, name in enumerate(names)}
    if are_numbered(feature_names) and not set(feature_names) & set(names):
        places = np.array([place if place < len(names) else -1 for place in range(len(feature_names))])
    else:
        places = np.array([place_of.get(name, -1) for name in feature_names])
    lacking = [feature_names[feature] for feature in used if places[feature] < 0]
    if lacking:
        listing = ", ".join(map(repr, lacking[:5])) + (f" and {len(lacking) - 5} more" if len(lacking) > 5 else "")
        strangers = [name for name in names if name not in feature_names]
        unknown = f"; it has {', '.join(map(repr, strangers[:5]))}, which the model does not know" if strangers else ""
        raise DataError(f"the engine's {len(names)} features lack what the model uses: {listing}{unknown}")
    return FeatureSet(tuple(names), places)


def categories_in_engine(
    model: Model, features: FeatureSet, categorical: Iterable[int]
) -> tuple[tuple[Category, ...] | None, ...]:
    """The categories of each of the engine's features; None for a numeric one, empty where nobody listed them."""
    found: list[tuple[Category, ...] | None] = [None] * len(features.names)
    for feature in categorical:
        if features.places[feature] >= 0:
            found[features.places[feature]] = model.categories.get(model.feature_names[feature], ())
    return tuple(found)


def _renamed(names: dict[str, str], feature_names: tuple[str, ...]) -> FeatureSet:
    """The model's features in its order, some of them under another name."""
    strangers = [name for name in names if name not in feature_names]
    if strangers:
        raise DataError(f"features: the model has no feature {shown(strangers[0])} to rename")
    renamed = tuple(names.get(name, name) for name in feature_names)
    twice, count = Counter(renamed).most_common(1)[0]
    if count > 1:
        raise DataError(f"features: {count} features would be named {twice!r}")
    return FeatureSet(renamed, np.arange(len(feature_names)))


def _read(path: str | Path) -> Any:
    name = file_name(path)
    try:
        return json.loads(Path(name).read_bytes())
    except OSError as error:
        raise FileFormatError(f"cannot be read: {error.strerror or error}", path=name) from None
    except (ValueError, RecursionError) as error:
        raise FileFormatError(
            f"is no JSON: {error}", path=name, remedy='A list of names: ["bm25", "age"], or the engine\'s own list.'
        ) from None


def _listed(value: Any, where: str) -> list[str]:
    """Names out of a list of names or of objects with a name, in whatever an engine wraps around it."""
    for wrapping in ("_source", "featureset", "features"):
        if isinstance(value, dict) and wrapping in value:
            value = value[wrapping]
    if not isinstance(value, (list, tuple, np.ndarray)):
        raise DataError(f"{where}a list of features is expected, not {shown(value)}")
    names = [entry.get("name") if isinstance(entry, dict) else entry for entry in value]
    wrong = [name for name in names if not isinstance(name, str) or not name]
    if wrong:
        raise DataError(f"{where}a feature is a name, or an object with a name, not {shown(wrong[0])}")
    return [str(name) for name in names]
