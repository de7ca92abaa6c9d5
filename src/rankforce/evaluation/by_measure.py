"""Results by measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from rankforce.errors import MeasureError
from rankforce.evaluation.agreement import Agreement
from rankforce.measures.catalogue import measure
from rankforce.measures.measure import Measure
from rankforce.written_forms import how_different

Value = TypeVar("Value")


class NotEvaluatedError(MeasureError, KeyError):
    """A result was asked for a measure that was not evaluated."""


class ByMeasure(Mapping[str, Value], Generic[Value]):
    """One entry per measure, looked up by its written form, an alias of it, or the measure itself.

    An entry is computed when it is first asked for.
    """

    def __init__(self, measures: Mapping[str, Measure | Agreement], compute: Callable[[str], Value]) -> None:
        self._measures = measures
        self._compute = compute
        self._found: dict[str, Value] = {}

    def name(self, key: str | Measure | Agreement) -> str:
        """The key under which a measure stands here."""
        if isinstance(key, str) and key in self._measures:
            return key
        name = str(key) if isinstance(key, Agreement) else str(measure(key))
        if name not in self._measures:
            raise NotEvaluatedError(f"{name} was not evaluated (evaluated: {', '.join(self._measures)})")
        difference = "" if isinstance(key, Agreement) else how_different(self._measures[name], measure(key))
        if difference:
            raise NotEvaluatedError(f"another {name} was evaluated: {difference}. {name!r} as text asks for that one")
        return name

    def __getitem__(self, key: str | Measure | Agreement) -> Value:
        name = self.name(key)
        if name not in self._found:
            self._found[name] = self._compute(name)
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._measures)

    def __len__(self) -> int:
        return len(self._measures)

    def __repr__(self) -> str:
        return repr(dict(self))
