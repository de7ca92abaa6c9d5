"""What a user's method is compiled from, so that an edit is seen: its code and the values of the names that it uses.

A compiled method holds its globals as constants. In a notebook a method is given to a class again, a reloaded module
changes a function in place, a threshold at the top of a file is set anew: all of that must reach the next training.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np


class SameObject:
    """Equal to itself alone: a value whose edits cannot be seen from outside."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameObject) and self.value is other.value

    __hash__ = None  # type: ignore[assignment]  # compared, never looked up


def sources(functions: Iterable[Callable[..., Any]]) -> tuple[Any, ...]:
    """What the functions would be compiled from now; equal as long as nothing was edited."""
    return tuple(_source(function, frozenset()) for function in functions)


def _source(function: Any, callers: frozenset[int]) -> Any:
    callers |= {id(function)}
    code = function.__code__
    referred = [
        (name, _state(function.__globals__[name], callers))
        for name in sorted(_names(code))
        if name in function.__globals__
    ]
    return code, _state(function.__defaults__, callers), referred, [_state(v, callers) for v in _enclosed(function)]


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _enclosed(function: Any) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # nothing in it yet
            yield None


def _state(value: Any, callers: frozenset[int]) -> Any:
    """Something that compares equal as long as compiled code that holds the value as a constant is right."""
    if value is None or isinstance(value, (bool, int, float, complex, str, np.generic)):
        return type(value), repr(value)  # in words: NaN is not equal to itself
    if isinstance(value, tuple):
        return tuple(_state(entry, callers) for entry in value)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    function = getattr(value, "py_func", value)  # of what Numba compiles, the function
    if isinstance(function, types.FunctionType) and id(function) not in callers and not _is_ours(function):
        return SameObject(value), _source(function, callers)
    return SameObject(value)


def _is_ours(function: Any) -> bool:
    return str(function.__module__).partition(".")[0] == "rankforce"
