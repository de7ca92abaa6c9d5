"""All rankers by name. A ranker is found because its file is in this folder: there is no list to edit."""

from __future__ import annotations

import functools
import inspect

import rankforce.rankers
from rankforce.errors import SettingsError
from rankforce.training.ranker import Ranker
from rankforce.written_forms import classes_in, unknown_name


@functools.cache
def ranker_classes() -> dict[str, type[Ranker]]:
    """Every ranker of the package by the name of its class, in alphabetical order."""
    return classes_in(rankforce.rankers, Ranker, lambda one: one is not Ranker and not inspect.isabstract(one))


def ranker_class(name: str) -> type[Ranker]:
    """A ranker by its name, whatever its capitals."""
    known = {ranker.lower(): ranker for ranker in ranker_classes()}
    if name.lower() not in known:
        raise SettingsError(unknown_name("ranker", name, ranker_classes(), ranker_classes()))
    return ranker_classes()[known[name.lower()]]
