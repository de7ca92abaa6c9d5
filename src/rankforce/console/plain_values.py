"""Results as ``json`` takes them: mappings, lists, numbers, texts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def as_json(value: Any) -> Any:
    """A value made of mappings, sequences, arrays and numbers, for ``json``; NaN and infinity are None."""
    if isinstance(value, Mapping):
        return {str(key): as_json(entry) for key, entry in value.items()}
    if hasattr(value, "tolist"):  # NumPy arrays and scalars, without importing NumPy
        return as_json(value.tolist())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [as_json(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(value)
