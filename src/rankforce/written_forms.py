"""What measures, λ-functions and rankers have in common as named things: found by their files, written as text.

A class is found because its file is in its folder, or because the user defined it: there is no list to edit. Two
functions or classes of a user's may have one name: what is written alike need not be the same.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any, TypeVar

from rankforce import text_values
from rankforce.compiling.kernel_values import is_foreign

Named = TypeVar("Named", bound=Any)  # a KernelValue: a measure, a λ-function


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


def name_of(value: Any) -> str:
    """A name that is the same in every process: of a function, or of an object by its written form or its class."""
    if isinstance(value, functools.partial):
        arguments = [_argument(one) for one in value.args]
        arguments += [f"{name}={_argument(one)}" for name, one in value.keywords.items()]
        return f"partial({', '.join([name_of(value.func), *arguments])})"
    if isinstance(value, str):
        return value
    if isinstance(getattr(value, "__qualname__", None), str):
        return str(value.__qualname__)
    if type(value).__repr__ is object.__repr__:
        return type(value).__qualname__
    return re.sub(" at 0x[0-9a-fA-F]+", "", repr(value))


def _argument(value: Any) -> str:
    return name_of(value) if callable(value) else repr(value)


def told_apart(values: Iterable[Named]) -> list[Named]:
    """Each measure or λ-function once, in the order given.

    Two that are written alike and are not the same are refused: of what is kept by name, one would overwrite the other.
    """
    kept: dict[str, Named] = {}
    for value in values:
        other = kept.setdefault(str(value), value)
        difference = how_different(other, value)
        if difference and is_foreign(type(other)) != is_foreign(type(value)):
            name = type(value).__name__
            raise value.ERROR(
                f"{value} is asked for twice, of rankforce and of a class of your own that has the same name. Results "
                f"are kept by what is written: give your class another name (class Own{name}(...): ...), or use one at "
                "a time"
            )
        if difference:
            raise value.ERROR(
                f"two different things are both written {value}: {difference}. Results are kept by what is written: "
                "give functions and classes of your own different names (def steep(labels): ...), or use one at a time"
            )
    return list(kept.values())


def how_different(first: Any, second: Any) -> str:
    """In words, why two values that are written alike are not the same; empty if they are.

    Functions and classes are the same if their code is, wherever they were defined.
    """
    if first is second or _equal(first, second):
        return ""
    from rankforce.user_code.code_identity import CodeIdentity, NoIdentityError, differing

    name = getattr(first, "__name__", type(first).__name__)
    try:
        one, other = (CodeIdentity.of(value, name) for value in (first, second))
    except NoIdentityError as error:
        return f"whether they are the same cannot be told: {error}"
    if one == other:
        return ""
    parts = differing(one.parts, other.parts)
    return f"they differ in {', '.join(parts[:3])}" if parts else "they differ in their parameters"


def _equal(first: Any, second: Any) -> bool:
    try:
        return type(first) is type(second) and bool(first == second)
    except ValueError:  # arrays have no truth value
        return False
