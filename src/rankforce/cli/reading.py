"""``--read name=value``: options of ``rankforce.read`` from the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankforce.errors import SettingsError

_LISTS = ("features", "labels", "ignore")


def reading_options(written: Sequence[str] | None) -> dict[str, Any]:
    """``["absent=missing", "first_index=0"]`` as keyword arguments.

    Whole numbers, true and false are read as such; ``features``, ``labels`` and ``ignore`` are lists with commas.
    """
    options: dict[str, Any] = {}
    for one in written or ():
        name, equals, text = one.partition("=")
        if not equals or not name.isidentifier():
            raise SettingsError(f"--read {one}: write NAME=VALUE, for example --read absent=missing")
        if name in options:
            raise SettingsError(f"--read {name} is given twice")
        options[name] = text.split(",") if name in _LISTS else _value(text)
    return options


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.lstrip("-").isdecimal() else text
