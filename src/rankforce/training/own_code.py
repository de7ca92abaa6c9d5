"""Code of the user's among the settings of a ranker, for those who go on from what was kept: checkpoints, journals.

Settings are compared by what is written of them, and of a function or class that is its name. What it does is compared
by this.
"""

from __future__ import annotations

import dataclasses
import platform
import warnings
from collections.abc import Mapping
from types import CellType, FunctionType
from typing import Any

from rankforce.errors import RankforceError, RankforceWarning
from rankforce.lambdas.catalogue import lambda_function
from rankforce.measures.catalogue import measure
from rankforce.training.ranker import Ranker
from rankforce.user_code.code_identity import CodeIdentity, NoIdentityError, differing
from rankforce.user_code.installed_code import library_of

MOST_NAMED = 3  # parts that differ, in an error
_READ_BY = {"measure": measure, "validation_measure": measure, "target": measure, "lambda_function": lambda_function}


@dataclasses.dataclass(frozen=True)
class OwnCode:
    """What the user wrote of a training.

    parts : setting -> part of its code -> digest; empty if all is rankforce's
    unknown : why some of it cannot be compared; empty if all can
    """

    parts: dict[str, dict[str, str]]
    unknown: str = ""

    @classmethod
    def of(cls, settings: Mapping[str, Any], ranker: Ranker) -> OwnCode:
        """The code that these settings hold, and the methods of a ranker of the user's."""
        holding = {name: _as_read(name, value) for name, value in settings.items()}
        holding |= _methods(ranker)
        parts = {}
        for name, value in sorted(holding.items()):
            try:
                found = CodeIdentity.of(value, name).parts
            except NoIdentityError as error:
                return cls({}, f"{name}: {error}")
            if found:
                parts[name] = found | {"Python": platform.python_version()}  # its bytecode differs
        return cls(parts)

    def written(self) -> dict[str, Any]:
        """As a file keeps it."""
        return self.parts if not self.unknown else {"unknown": self.unknown}

    def warn(self, what: str) -> None:
        """Say beforehand that nobody will be able to go on from ``what``."""
        if self.unknown:
            warnings.warn(f"nothing can go on from {what}: {self.unknown}", RankforceWarning, stacklevel=6)

    def differences(self, other: Any) -> list[str]:
        """In words, what differs from what a file holds."""
        if self.unknown:
            return [f"whether the code is the same cannot be told: {self.unknown}"]
        if not isinstance(other, dict):
            return ["it does not say which code of yours it was made with"]
        if "unknown" in other:
            return [f"whether the code is the same cannot be told: {other['unknown']}"]
        found = []
        for name in sorted({*self.parts, *other}):
            names = differing(other.get(name, {}), self.parts.get(name, {}))
            if names:
                more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
                found.append(f"the code of {name} has changed ({', '.join(names[:MOST_NAMED])}{more})")
        return found


def _methods(ranker: Ranker) -> dict[str, Any]:
    """What a ranker's class of the user's does. Its other attributes are not looked at: they may count and log."""
    methods = {}
    for cls in type(ranker).__mro__:
        if library_of(cls) is None:
            for name, member in vars(cls).items():
                function = getattr(member, "__func__", None) or getattr(member, "fget", None) or member
                if isinstance(function, FunctionType):
                    methods[f"{cls.__name__}.{name}"] = _without_class(function)
    return methods


def _without_class(function: FunctionType) -> FunctionType:
    """The function without the class that ``super()`` knows it to be in."""
    names, cells = function.__code__.co_freevars, function.__closure__ or ()
    closure = tuple(CellType() if name == "__class__" else cell for name, cell in zip(names, cells, strict=True))
    copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, closure)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _as_read(name: str, value: Any) -> Any:
    """A setting with the measure or λ-function that a text in it names: it may be the user's."""
    if isinstance(value, (list, tuple)):
        return [_as_read(name, one) for one in value]
    if isinstance(value, Ranker):
        return _methods(value)  # its settings are listed beside it
    reading = _READ_BY.get(name.rpartition("__")[2])
    if isinstance(value, str) and reading is not None:
        try:
            return reading(value)
        except RankforceError:
            return value  # a word that is neither
    return value
