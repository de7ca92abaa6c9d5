"""``NAME=VALUE`` on the command line, for options of ``rankforce.read`` and of ``write``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankforce.errors import SettingsError

_LISTS = ("features", "labels", "ignore")


def named_values(written: Sequence[str] | None, option: str, example: str) -> dict[str, Any]:
    """``["absent=missing", "first_index=0"]`` as keyword arguments; ``option`` is what the words were given with.

    Whole numbers, true and false are read as such; ``features``, ``labels`` and ``ignore`` are lists with commas. A tab
    is written ``\\t``.
    """
    values: dict[str, Any] = {}
    for one in written or ():
        name, equals, text = one.partition("=")
        if not equals or not name.isidentifier():
            raise SettingsError(f"{option} {one}: write NAME=VALUE, for example {option} {example}")
        if name in values:
            raise SettingsError(f"{option} {name} is given twice")
        values[name] = text.split(",") if name in _LISTS else _value(text)
    return values


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if text == r"\t":
        return "\t"
    return int(text) if text.lstrip("-").isdecimal() else text
