"""Settings of rankers as data: each stands once, as a field of its class with type, default and check.

``@with_settings`` makes the constructor from the fields, as a data class does, and lets ``fit`` check them all before
any work::

    @with_settings
    class MyRanker(Ranker):
        n_trees: int = whole(1000, least=1)
        growth: Literal["leafwise", "symmetric"] = choice("leafwise")

scikit-learn reads names and defaults from the signature. The constructor stores values as they are given.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import typing
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar, dataclass_transform

from rankforce import text_values
from rankforce.collective import alone
from rankforce.data.hashing import checked_seed
from rankforce.errors import SettingsError
from rankforce.kinds import (
    MOST,
    Choice,
    Either,
    Kind,
    Number,
    OrNone,
    Several,
    Switch,
    Text,
    Understood,
    Whole,
    kind_of,
)
from rankforce.lambdas.catalogue import lambda_function as read_lambda_function
from rankforce.measures.catalogue import measure
from rankforce.objectives.objective import Pairs, as_objective
from rankforce.training.other_names import refuse_unknown

_KIND, _AFTER = "kind", "after"

Class = TypeVar("Class", bound=type)


# ------------------------------------------------------------------------------------------------- makers of fields


def setting(default: Any, kind: Kind | None, *, after: str | None = None) -> Any:
    """A field with a check. Where the default is None, None is possible.

    ``kind`` None is the one that the type annotation declares. ``after`` is the setting that it stands behind in the
    signature: without it, the one before it in the class; the first stands at the beginning.
    """
    metadata = {_KIND: OrNone(kind) if default is None and kind is not None else kind, _AFTER: after}
    return dataclasses.field(default=default, metadata=metadata)


def checked(kind: Kind) -> dict[str, Any]:
    """The metadata of a field that has this check; for parameters that also have a position."""
    return {_KIND: kind}


def whole(default: int | None, *, least: int, most: int = MOST, after: str | None = None) -> Any:
    """A whole number."""
    return setting(default, Whole(least, most), after=after)


def number(
    default: float | None,
    *,
    least: float = -math.inf,
    above: float | None = None,
    most: float = math.inf,
    after: str | None = None,
) -> Any:
    """A number of at least ``least``, or above ``above``."""
    kind = Number(least, most) if above is None else Number(above, most, above=True)
    return setting(default, kind, after=after)


def steepness(default: float) -> Any:
    """The σ of logistic costs: any with which steps of 1/σ stay within float32."""
    return number(default, least=1e-30, most=1e30)


def choice(default: str | None, *, after: str | None = None) -> Any:
    """One of the words of the ``Literal`` that the field is annotated with."""
    return setting(default, None, after=after)


def switch(default: bool, *, after: str | None = None) -> Any:
    """True or False."""
    return setting(default, Switch(), after=after)


def label_source(default: str, *, after: str | None = None) -> Any:
    """The name of a label source."""
    return setting(default, Text("the name of a label source"), after=after)


def measure_to_watch(*, after: str | None = None) -> Any:
    """A measure, or None for the usual one."""
    return setting(None, MEASURE, after=after)


def rates(default: float | None) -> Any:
    """A learning rate, several to be tried, or "auto"."""
    rate = Number(0.0, above=True)
    return setting(default, Either((rate, Several(rate, "a list of such numbers"), Choice(("auto",)))))


def _read_pairs(text: str) -> Any:
    return text_values.python_value(text_values.unquoted(text))


MEASURE = Understood(measure)
LAMBDA_FUNCTION = Understood(read_lambda_function)
PAIRS = Understood(Pairs.read, _read_pairs)
OBJECTIVE = Understood(as_objective)
SEED = Understood(checked_seed, text_values.number)


# ------------------------------------------------------------------------------------------------ classes of rankers


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(dataclasses.field,))
def with_settings(cls: Class) -> Class:
    """Make the constructor of a ranker from its fields, and let its ``fit`` check them."""
    order = _order(cls)
    made: Any = dataclasses.dataclass(kw_only=True, eq=False, repr=False, match_args=False)(cls)
    made._setting_order = order
    made.__init__ = _constructor(made)
    if "fit" in vars(cls):
        made.fit = _checked_fit(vars(cls)["fit"])
    return made


@functools.cache
def kinds_of(ranker: type) -> Mapping[str, Kind]:
    """The settings of a ranker by name, in the order of the signature, with what they may be."""
    hints = typing.get_type_hints(ranker)
    fields = {field.name: field for field in dataclasses.fields(ranker) if field.init}
    kinds = {}
    for name in ranker._setting_order:  # type: ignore[attr-defined]
        if name in fields:
            kind = fields[name].metadata.get(_KIND)
            kinds[name] = kind_of(hints[name]) if kind is None else kind
    return MappingProxyType(kinds)


def check_settings(ranker: Any) -> None:
    """Raise where a setting is impossible, whatever the data and the other settings."""
    for name, kind in kinds_of(ranker.__class__).items():
        kind.check(name, getattr(ranker, name))


def _order(cls: type) -> list[str]:
    """The settings of a class in the order of the signature: its own, then those of its bases."""
    names: list[str] = []
    for base in cls.__bases__:
        names += [name for name in getattr(base, "_setting_order", ()) if name not in names]
    place = 0
    for name in inspect.get_annotations(cls):
        field = cls.__dict__.get(name)
        if name in names or not isinstance(field, dataclasses.Field) or _KIND not in field.metadata:
            continue
        if field.metadata.get(_AFTER) is not None:
            place = names.index(field.metadata[_AFTER]) + 1
        names.insert(place, name)
        place += 1
    return names


def _constructor(cls: Any) -> Any:
    generated = cls.__init__
    signature = inspect.signature(generated)
    own, *parameters = signature.parameters.values()
    parameters.sort(key=lambda one: (one.kind, cls._setting_order.index(one.name)))

    @functools.wraps(generated)
    def __init__(self: Any, *arguments: Any, **settings: Any) -> None:
        refuse_unknown(type(self).__name__, settings, [one.name for one in parameters])
        generated(self, *arguments, **settings)

    vars(__init__)["__signature__"] = signature.replace(parameters=[own, *parameters])
    return __init__


def _checked_fit(fit: Any) -> Any:
    known = list(inspect.signature(fit).parameters)[1:]

    @functools.wraps(fit)
    def checked_fit(self: Any, *arguments: Any, **inputs: Any) -> Any:
        refuse_unknown(type(self).__name__, inputs, known, fitting=True)
        check_settings(self)
        if not alone() and not self.learns_together:
            raise SettingsError(
                f"{type(self).__name__} learns in one process: {self._why_alone()}. Several processes can train "
                "LambdaMART and MART, and Bagging of them"
            )
        return fit(self, *arguments, **inputs)

    return checked_fit
