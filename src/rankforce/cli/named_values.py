"""``NAME=VALUE`` on the command line."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rankforce.errors import SettingsError

if TYPE_CHECKING:
    from rankforce.kinds import Kind


def name_and_text(entry: str, option: str, example: str) -> tuple[str, str]:
    """The two sides of NAME=VALUE, which was written after ``option``."""
    name, equals, text = entry.partition("=")
    if not equals or not name.strip().replace("-", "_").isidentifier():
        raise SettingsError(f"{option} {entry}: write NAME=VALUE, for example {option} {example}")
    return name.strip(), text


def named_values(
    written: Sequence[str] | None, option: str, example: str, *takers: Callable[..., Any]
) -> dict[str, Any]:
    """``["absent=missing", "first_index=0"]`` as keyword arguments of one of the functions ``takers``.

    A value is read as what the annotation of the keyword says; several are written with commas, a tab as ``\\t``.
    Keywords that no function has are left to the one that is called.
    """
    kinds = _keywords(takers) if written else {}
    values: dict[str, Any] = {}
    for entry in written or ():
        name, text = name_and_text(entry, option, example)
        if name in values:
            raise SettingsError(f"{option} {name} is given twice")
        values[name] = kinds[name].read_checked(text, name, f"{option} {entry}") if name in kinds else text
    return values


def _keywords(functions: Sequence[Callable[..., Any]]) -> dict[str, Kind]:
    """What the keywords of functions may be; of two of one name that of the first function."""
    from rankforce.kinds import kind_of

    kinds: dict[str, Kind] = {}
    for function in reversed(functions):
        hints = typing.get_type_hints(function)
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                kinds[parameter.name] = kind_of(hints[parameter.name])
    return kinds
