"""Arguments that are true or false: a word is neither, and would count as true."""

from __future__ import annotations

from typing import Any

from rankforce.errors import SettingsError


def check_flags(**flags: Any) -> None:
    """Raise unless every value is True or False, also NumPy's."""
    for name, value in flags.items():
        if type(value).__name__ not in ("bool", "bool_"):
            raise SettingsError(f"{name} must be True or False, not {value!r:.80}")
