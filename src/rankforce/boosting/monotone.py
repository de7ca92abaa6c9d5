"""Directions in which scores may only rise or fall with a feature, as they are given and as trees take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankforce.data.dataset import Dataset
from rankforce.errors import SettingsError
from rankforce.kinds import Number, shown


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
    """+1, 0 or −1 per feature, from a sequence or a mapping of feature to direction."""
    if wanted is None:
        return None
    directions = np.zeros(data.n_features, dtype=np.int8)
    if isinstance(wanted, Mapping):
        for feature, direction in wanted.items():
            directions[data.feature_place(feature)] = int(direction)
    elif len(wanted) != data.n_features:
        raise SettingsError(f"monotone must have one direction per feature ({data.n_features}), not {len(wanted)}")
    else:
        directions[:] = [int(direction) for direction in wanted]
    for place in np.flatnonzero(directions * (data.n_categories > 0)):
        raise SettingsError(
            f"monotone: feature {data.feature_names[place]!r} has categories, which have no order: give it no direction"
        )
    return directions
