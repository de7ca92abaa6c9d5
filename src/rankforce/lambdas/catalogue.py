"""All λ-functions by name, and the language they are written in: ``RankNetWeightPairs``, ``Spring(delta=2,cap=1)``.

A λ-function is found because its file is in this folder (or its class was defined by the user): there is no list to
edit.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from typing import Any

import rankforce.lambdas
from rankforce.compiling.kernel_values import is_complete
from rankforce.errors import RankforceError, SettingsError
from rankforce.lambdas.base import LambdaFunction
from rankforce.written_forms import classes_by_name, classes_in, parameter_value, unknown_name

_WRITTEN_FORM = re.compile(r"^(?P<name>[A-Za-z_]\w*)(?:\((?P<parameters>.*)\))?$")


@functools.cache
def lambda_function_classes() -> dict[str, type[LambdaFunction]]:
    """Every λ-function of the package by the name of its class, in alphabetical order."""
    return classes_in(rankforce.lambdas, LambdaFunction, is_complete)


def lambda_function(written: str | LambdaFunction) -> LambdaFunction:
    """Read a λ-function: ``NAME[(parameter=value,...)]``. A λ-function is returned as it is."""
    if isinstance(written, LambdaFunction):
        return written
    if not isinstance(written, str):
        if inspect.isclass(written) and issubclass(written, LambdaFunction) and is_complete(written):
            return written()
        raise SettingsError(
            "a λ-function is written like 'RankNetWeightPairs' or 'Spring(delta=2)', or is an instance of "
            f"rf.lambdas.LambdaFunction, pairwise or listwise, not {written!r}"
        )
    match = _WRITTEN_FORM.match(written.strip())
    if match is None:
        raise SettingsError(
            f"cannot read the λ-function {written!r}: write NAME[(parameter=value,...)], for example "
            "RankNetWeightPairs(sigma=2), LocalCost(k=3)"
        )
    names = classes_by_name(lambda_function_classes(), LambdaFunction, is_complete)
    name = match["name"]
    if name not in names:
        raise SettingsError(unknown_name("λ-function", name, names, lambda_function_classes()))
    fields = {field.name for field in dataclasses.fields(names[name]) if field.init}
    arguments: dict[str, Any] = {}
    for parameter in filter(None, (match["parameters"] or "").split(",")):
        key, equals, text = (part.strip() for part in parameter.partition("="))
        if not equals or key not in fields:
            raise SettingsError(
                f"{written!r}: {names[name].__name__} has no parameter {key!r} (it has: {', '.join(sorted(fields))})"
            )
        arguments[key] = parameter_value(text)
    try:
        return names[name](**arguments)
    except (RankforceError, TypeError) as error:
        raise SettingsError(f"{written!r}: {error}") from None
