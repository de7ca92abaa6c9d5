"""Properties that are computed once per object.

Python 3.11 holds a lock for all objects of a class while ``functools.cached_property`` computes: threads that ask
different objects wait for each other, and a child that is forked meanwhile waits for ever. Later ones hold none.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

__all__ = ["cached_property"]

Value = TypeVar("Value")

if sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(Generic[Value]):  # as Python calls it
        """A method that becomes an attribute when it is first asked for."""

        def __init__(self, function: Callable[[Any], Value]) -> None:
            self.function = function
            self.__doc__ = function.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        @overload
        def __get__(self, instance: None, owner: type | None = None) -> Self: ...
        @overload
        def __get__(self, instance: object, owner: type | None = None) -> Value: ...
        def __get__(self, instance: object | None, owner: type | None = None) -> Self | Value:
            if instance is None:
                return self
            return vars(instance).setdefault(self.name, self.function(instance))
