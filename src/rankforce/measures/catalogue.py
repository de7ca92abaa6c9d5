"""All measures by name, and the language they are written in: ``NDCG@10``, ``ERR@10(max_grade=4)``, ``NDCG@10:clicks``.

A measure is found because its file is in this folder (or its class was defined by the user): there is no list to edit.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from typing import Any

import rankforce.measures
from rankforce.compiling.kernel_values import NO_CUTOFF, is_complete
from rankforce.errors import MeasureError, RankforceError
from rankforce.measures.measure import Measure
from rankforce.written_forms import classes_by_name, classes_in, parameter_value, unknown_name

_WRITTEN_FORM = re.compile(
    r"^(?P<name>[A-Za-z_]\w*)(?:@(?P<cutoff>[^(:]+))?(?:\((?P<parameters>.*)\))?(?::(?P<label>[^:@()]+))?$"
)


@functools.cache
def measure_classes() -> dict[str, type[Measure]]:
    """Every measure of the package by the name of its class, in alphabetical order."""
    return classes_in(rankforce.measures, Measure, is_complete)


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
    names = classes_by_name(measure_classes(), Measure, is_complete)
    if match["name"] not in names:
        raise MeasureError(unknown_name("measure", match["name"], names, measure_classes()))
    return _construct(names[match["name"]], match, written)


def written_parameters(written: str | Measure) -> frozenset[str]:
    """The names of the parameters that stand in a written form, whatever their values."""
    match = _WRITTEN_FORM.match(written.strip()) if isinstance(written, str) else None
    parts = "" if match is None else match["parameters"] or ""
    return frozenset(part.partition("=")[0].strip() for part in parts.split(",") if part)


def _construct(measure_class: type[Measure], match: re.Match[str], written: str) -> Measure:
    fields = {field.name: field for field in dataclasses.fields(measure_class) if field.init}
    arguments: dict[str, Any] = {}
    if match["cutoff"] is not None:
        if "cutoff" not in fields:
            raise MeasureError(f"{written!r}: {measure_class.__name__} has no cut-off")
        if re.fullmatch(r"[0-9]{1,19}", match["cutoff"]) is None:
            raise MeasureError(
                f"{written!r:.80}: the cut-off must be a whole number from 1 to {NO_CUTOFF}, "
                f"not {match['cutoff']!r:.40}"
            )
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
