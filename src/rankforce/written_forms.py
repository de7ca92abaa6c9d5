"""What measures, λ-functions and rankers have in common as named things: found by their files, written as text.

A class is found because its file is in its folder, or because the user defined it: there is no list to edit.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from rankforce import text_values


def classes_in(package: ModuleType, base: type, is_complete: Callable[[Any], bool]) -> dict[str, Any]:
    """Every complete class of the kind ``base`` in the files of a package, by name in alphabetical order."""
    found = {}
    for module in pkgutil.iter_modules(package.__path__):
        imported = importlib.import_module(f"{package.__name__}.{module.name}")
        for name, member in vars(imported).items():
            mine = inspect.isclass(member) and member.__module__ == imported.__name__
            if mine and issubclass(member, base) and is_complete(member):
                found[name] = member
    return dict(sorted(found.items()))


def classes_by_name(ours: Mapping[str, Any], base: type, is_complete: Callable[[Any], bool]) -> dict[str, Any]:
    """Names and aliases, the user's own classes included (the class defined last wins, but never over one of ours)."""
    names: dict[str, Any] = {}
    for one in ours.values():
        for alias in one.__dict__.get("ALIASES", ()):
            names[alias] = one
    waiting: list[Any] = list(base.__subclasses__())
    while waiting:
        one = waiting.pop(0)
        waiting.extend(one.__subclasses__())
        if is_complete(one):
            names[one.__name__] = one
    return names | dict(ours)


def unknown_name(what: str, name: str, names: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """The message about a name that is none, with those that are near."""
    unified = {known.lower(): known for known in names}
    near = [unified[n] for n in difflib.get_close_matches(name.lower(), unified, n=3, cutoff=0.5)]
    hint = f"; did you mean {' or '.join(near)}?" if near else "."
    return f"unknown {what} {name!r}{hint} Known: {', '.join(ours)}"


def parameter_value(text: str) -> Any:
    """The value of a parameter in a written form: a truth value, a number, several with ``/`` between, else text."""
    if "/" in text:
        return tuple(parameter_value(part) for part in text.removesuffix("/").split("/"))
    if text_values.is_none(text):
        return None
    for read in (text_values.truth, text_values.number, float):  # float also reads inf and nan
        try:
            return read(text)
        except ValueError:
            continue
    return text_values.unquoted(text)
