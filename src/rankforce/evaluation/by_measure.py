"""Results by measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from rankforce.errors import MeasureError
from rankforce.measures.catalogue import measure
from rankforce.measures.measure import Measure

Value = TypeVar("Value")


class NotEvaluatedError(MeasureError, KeyError):
    """A result was asked for a measure that was not evaluated."""


class ByMeasure(Mapping[str, Value], Generic[Value]):
    """One entry per measure, looked up by its written form, an alias of it, or the measure itself.

    An entry is computed when it is first asked for.
    """

    def __init__(self, keys: Sequence[str], compute: Callable[[str], Value]) -> None:
        self._keys = tuple(keys)
        self._compute = compute
        self._found: dict[str, Value] = {}

    def name(self, key: str | Measure) -> str:
        """The key under which a measure stands here."""
        name = key if isinstance(key, str) and key in self._keys else str(measure(key))
        if name not in self._keys:
            raise NotEvaluatedError(f"{name} was not evaluated (evaluated: {', '.join(self._keys)})")
        return name

    def __getitem__(self, key: str | Measure) -> Value:
        name = self.name(key)
        if name not in self._found:
            self._found[name] = self._compute(name)
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return repr(dict(self))
