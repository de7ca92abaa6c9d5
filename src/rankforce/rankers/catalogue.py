"""All rankers by name. A ranker is found because its file is in this folder: there is no list to edit."""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import pkgutil

import rankforce.rankers
from rankforce.errors import SettingsError
from rankforce.rankers.ranker import Ranker


@functools.cache
def ranker_classes() -> dict[str, type[Ranker]]:
    """Every ranker of the package by the name of its class, in alphabetical order."""
    found = {}
    for module in pkgutil.iter_modules(rankforce.rankers.__path__):
        imported = importlib.import_module(f"rankforce.rankers.{module.name}")
        for name, member in vars(imported).items():
            mine = inspect.isclass(member) and member.__module__ == imported.__name__
            if mine and issubclass(member, Ranker) and not inspect.isabstract(member) and member is not Ranker:
                found[name] = member
    return dict(sorted(found.items()))


def ranker_class(name: str) -> type[Ranker]:
    """A ranker by its name, whatever its capitals."""
    known = {ranker.lower(): ranker for ranker in ranker_classes()}
    if name.lower() not in known:
        near = difflib.get_close_matches(name.lower(), known, n=1)
        hint = f"; did you mean {known[near[0]]}?" if near else ""
        raise SettingsError(f"unknown ranker {name!r}{hint} Known: {', '.join(ranker_classes())}")
    return ranker_classes()[known[name.lower()]]
