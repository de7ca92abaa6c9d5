"""All measures by name, and the language they are written in: ``NDCG@10``, ``ERR@10(max_grade=4)``, ``NDCG@10:clicks``.

A measure is found because its file is in this folder (or its class was defined by the user): there is no list to edit.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import importlib
import inspect
import pkgutil
import re
from typing import Any

import rankforce.measures
from rankforce.errors import MeasureError, RankforceError
from rankforce.measures.measure import Measure

_WRITTEN_FORM = re.compile(
    r"^(?P<name>[A-Za-z_]\w*)(?:@(?P<cutoff>[^(:]+))?(?:\((?P<parameters>.*)\))?(?::(?P<label>[^:@()]+))?$"
)


@functools.cache
def measure_classes() -> dict[str, type[Measure]]:
    """Every measure of the package by the name of its class, in alphabetical order."""
    found = {}
    for module in pkgutil.iter_modules(rankforce.measures.__path__):
        imported = importlib.import_module(f"rankforce.measures.{module.name}")
        for name, member in vars(imported).items():
            mine = inspect.isclass(member) and member.__module__ == imported.__name__
            if mine and issubclass(member, Measure) and is_complete(member):
                found[name] = member
    return dict(sorted(found.items()))


def is_complete(measure_class: type[Measure]) -> bool:
    """Whether a class is a measure and not only a base of measures."""
    return hasattr(measure_class, "value") and hasattr(measure_class, "normaliser")


def _by_name() -> dict[str, type[Measure]]:
    """Names and aliases, the user's own classes included (the class defined last wins)."""
    names: dict[str, type[Measure]] = {}
    for measure_class in measure_classes().values():
        for alias in measure_class.ALIASES:
            names[alias] = measure_class
    waiting = list(Measure.__subclasses__())
    while waiting:
        measure_class = waiting.pop(0)
        waiting.extend(measure_class.__subclasses__())
        if is_complete(measure_class):
            names[measure_class.__name__] = measure_class
    return names | measure_classes()


def measure(written: str | Measure) -> Measure:
    """Read a measure: ``NAME[@cutoff][(parameter=value,...)][:label]``. A measure is returned as it is."""
    if isinstance(written, Measure):
        return written
    if not isinstance(written, str):
        if inspect.isclass(written) and issubclass(written, Measure):
            return written()
        raise MeasureError(f"a measure is written like 'NDCG@10' or is an instance of rf.Measure, not {written!r}")
    match = _WRITTEN_FORM.match(written.strip())
    if match is None:
        raise MeasureError(
            f"cannot read the measure {written!r}: write NAME[@cutoff][(parameter=value,...)][:label], "
            "for example NDCG@10, ERR@10(max_grade=4), NDCG@10:clicks"
        )
    names = _by_name()
    name = match["name"]
    if name not in names:
        unified = {known.lower(): known for known in names}
        near = [unified[n] for n in difflib.get_close_matches(name.lower(), unified, n=3, cutoff=0.5)]
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise MeasureError(f"unknown measure {name!r}{hint} Known: {', '.join(measure_classes())}")
    return _construct(names[name], match, written)


def _construct(measure_class: type[Measure], match: re.Match[str], written: str) -> Measure:
    fields = {field.name: field for field in dataclasses.fields(measure_class) if field.init}
    arguments: dict[str, Any] = {}
    if match["cutoff"] is not None:
        if "cutoff" not in fields:
            raise MeasureError(f"{written!r}: {measure_class.__name__} has no cut-off")
        if not match["cutoff"].isdigit():
            raise MeasureError(f"{written!r}: the cut-off must be a whole number, not {match['cutoff']!r}")
        arguments["cutoff"] = int(match["cutoff"])
    if match["label"] is not None:
        arguments["label"] = match["label"]
    for parameter in filter(None, (match["parameters"] or "").split(",")):
        name, equals, text = (part.strip() for part in parameter.partition("="))
        if not equals or name not in fields or name in ("cutoff", "label"):
            known = ", ".join(sorted(set(fields) - {"cutoff", "label"}))
            raise MeasureError(f"{written!r}: {measure_class.__name__} has no parameter {name!r} (it has: {known})")
        arguments[name] = parameter_value(text)
    try:
        return measure_class(**arguments)
    except RankforceError as error:
        raise MeasureError(f"{written!r}: {error}") from None
    except TypeError:
        raise MeasureError(
            f"{written!r}: {measure_class.__name__} needs a label source, for example {written}:clicks"
        ) from None


def parameter_value(text: str) -> Any:
    """The value of a parameter in a written form: a truth value, a number, several with ``/`` between, else text."""
    if text in ("true", "false"):
        return text == "true"
    if "/" in text:
        return tuple(parameter_value(part) for part in text.removesuffix("/").split("/"))
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
