"""Directions in which scores may only rise or fall with a feature, as they are given and as trees take them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.displayed_text import displayed
from rankforce.errors import SettingsError
from rankforce.kinds import Number, Whole, shown

_NEAREST = 3  # features that a message names


def check_directions(wanted: Any) -> None:
    """Raise unless ``wanted`` is a list of directions or maps features to them."""
    mapped = isinstance(wanted, Mapping)
    if not mapped and not isinstance(wanted, (list, tuple)) and getattr(wanted, "ndim", 0) != 1:
        raise SettingsError(
            f"monotone must be one direction per feature, or map features to directions, not {shown(wanted)}"
        )
    for direction in wanted.values() if mapped else wanted:
        if not Number(-1, 1).holds(direction) or direction not in (-1, 0, 1):
            raise SettingsError(f"a direction of monotone is +1 (rising), -1 (falling) or 0, not {shown(direction)}")


def directions_of(wanted: Any, data: Dataset) -> np.ndarray | None:
    """+1, 0 or −1 per feature, from a sequence in the order of the features or a mapping of feature to direction.

    A number in a mapping is a feature's name, never its place: arrays and LETOR text number their features from 1
    (files read with ``first_index=0`` from 0), and features that were taken out of more keep their numbers.
    """
    if wanted is None:
        return None
    directions = np.zeros(data.n_features, dtype=np.int8)
    if isinstance(wanted, Mapping):
        given: dict[str, Any] = {}
        for feature, direction in wanted.items():
            name = _feature_named(feature, data.feature_names)
            if name in given:
                raise SettingsError(f"monotone has two directions for feature {displayed(repr(name))}: leave one out")
            given[name] = direction
        for name, direction in given.items():
            directions[data.feature_place(name)] = int(direction)
    elif len(wanted) != data.n_features:
        raise SettingsError(f"monotone must have one direction per feature ({data.n_features}), not {len(wanted)}")
    else:
        directions[:] = [int(direction) for direction in wanted]
    for place in np.flatnonzero(directions * (data.n_categories > 0)):
        raise SettingsError(
            f"monotone: feature {data.feature_names[place]!r} has categories, which have no order: give it no direction"
        )
    return directions


def _feature_named(feature: Any, names: Sequence[str]) -> str:
    """The name that a key of a mapping means, or an error that names the nearest features."""
    named = isinstance(feature, str)
    if not named and not Whole().is_one(feature):
        raise SettingsError(f"monotone maps features to directions, by name or number, and {shown(feature)} is neither")
    name = str(feature)
    if name not in names:
        raise SettingsError(
            f"monotone: the data has no feature {displayed(repr(name)) if named else name}; {_nearest(name, names)}"
        )
    return name


def _nearest(wanted: str, names: Sequence[str]) -> str:
    """Words about the features that are nearest to a name that there is not."""
    numbers = sorted(int(name) for name in names if _is_number(name))
    if len(numbers) == len(names):
        told = f"features are numbered {numbers[0]} to {numbers[-1]}"
        if not _is_number(wanted):
            return told
        near = sorted(sorted(numbers, key=lambda number: abs(number - int(wanted)))[:_NEAREST])
        return f"{told}, the nearest: {', '.join(map(str, near))}"
    close = difflib.get_close_matches(wanted, names, n=_NEAREST, cutoff=0.3) or list(names[:_NEAREST])
    return f"features have names, the nearest: {', '.join(displayed(repr(name)) for name in close)}"


def _is_number(name: str) -> bool:
    digits = name.removeprefix("-")
    return len(digits) < 20 and digits.isascii() and digits.isdecimal()
