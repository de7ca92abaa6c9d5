"""Checks of rankers' settings, with messages that say what is possible."""

from __future__ import annotations

import math
import numbers
from typing import Any

from rankforce.errors import SettingsError


def check_number(
    name: str,
    value: Any,
    lowest: float,
    highest: float = math.inf,
    *,
    whole: bool = False,
    above: bool = False,
    optional: bool = False,
) -> None:
    """Raise unless ``value`` is a number in [lowest, highest] (with ``above``: in (lowest, highest])."""
    if value is None and optional:
        return
    kind = numbers.Integral if whole else numbers.Real
    fits = isinstance(value, kind) and not isinstance(value, bool)
    if fits and (lowest < value if above else lowest <= value) and value <= highest and math.isfinite(value):
        return
    wanted = "a whole number" if whole else "a number"
    wanted += f" {'above' if above else 'of at least'} {lowest:g}"
    if highest < math.inf:
        wanted += f" and at most {highest:g}"
    raise SettingsError(f"{name} must be {wanted}{' or None' if optional else ''}, not {value!r}")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise unless ``value`` is one of the choices."""
    if value not in choices:
        raise SettingsError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")
