"""JSON as model files write it: ``{"float": "nan"}`` (``inf``, ``-inf``) where JSON has no number."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def text(value: Any) -> str:
    """JSON: objects and lists that hold objects are broken into lines, the rest stands on one line."""
    if isinstance(value, Mapping) and any(map(_holds_object, value.values())):
        return "{" + ",\n".join(f"{json.dumps(key)}: {text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return "[\n" + ",\n".join(map(text, value)) + "]"
    return line(value)


def line(value: Any) -> str:
    """JSON on one line."""
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:
        return json.dumps(finite(value), allow_nan=False)


def _holds_object(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and bool(value) and isinstance(value[0], Mapping))


def finite(value: Any) -> Any:
    """The value with ``{"float": ...}`` where a number is not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": "nan" if value != value else "inf" if value > 0 else "-inf"}
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return value


def revived(value: Any) -> Any:
    """The inverse of ``finite``."""
    if isinstance(value, dict):
        if value.keys() == {"float"} and value["float"] in ("nan", "inf", "-inf"):
            return float(value["float"])
        return {key: revived(item) for key, item in value.items()}
    if isinstance(value, list):
        return [revived(item) for item in value]
    return value


def refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number in JSON")
