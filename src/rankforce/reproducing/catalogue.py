"""All experiments: found by their files in ``experiments``, told by their names."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Mapping

from rankforce.errors import SettingsError
from rankforce.kinds import shown
from rankforce.reproducing import experiments
from rankforce.reproducing.experiment import Experiment
from rankforce.reproducing.papers import PAPERS


@functools.cache
def all_experiments() -> Mapping[str, Experiment]:
    """By name, in the order of the papers and of their pages (``ORDER`` of their modules)."""
    found: list[tuple[int, int, str, Experiment]] = []
    for one in pkgutil.iter_modules(experiments.__path__):
        module = importlib.import_module(f"{experiments.__name__}.{one.name}")
        for kind in vars(module).values():
            mine = inspect.isclass(kind) and kind.__module__ == module.__name__ and issubclass(kind, Experiment)
            if mine and not inspect.isabstract(kind):
                found.append((PAPERS.index(kind.paper), module.ORDER, kind.name, kind()))
    return {name: experiment for *_, name, experiment in sorted(found, key=lambda entry: entry[:3])}


def experiment_named(name: str) -> Experiment:
    known = all_experiments()
    if name not in known:
        raise SettingsError(f"there is no experiment {shown(name)}; there are {', '.join(known)}")
    return known[name]
