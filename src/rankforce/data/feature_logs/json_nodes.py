"""A value out of JSON that knows where it stands, so that every refusal names the file, the line and the place."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from rankforce.errors import DataError, FileFormatError
from rankforce.files.limits import longest_id
from rankforce.kinds import shown
from rankforce.remedies import Words, parts_of

_LARGEST = float(np.finfo(np.float32).max)
_KINDS = {dict: "an object", list: "a list", str: "text", bool: "a truth value", type(None): "null"}


class JsonNode:
    """A value and where it stands: under a key of another one, or outermost in a line of a file.

    ``node["hits"]`` must be there, ``node.get("hits")`` need not be; the other methods say what the value must be.
    """

    __slots__ = ("_key", "_outer", "line", "path", "value")

    def __init__(
        self, value: Any, path: str | None = None, line: int | None = None, key: str | int = "",
        outer: JsonNode | None = None,
    ) -> None:  # fmt: skip
        self.value = value
        self.path = path  # None: what was given in Python
        self.line = line
        self._key = key
        self._outer = outer  # places are written only for errors: a log holds millions of values

    @property
    def steps(self) -> str:
        """The place inside the outermost value: ``hits.hits[3]._id``."""
        before = "" if self._outer is None else self._outer.steps
        if isinstance(self._key, int):
            return f"{before}[{self._key}]"
        return f"{before}.{self._key}" if before else self._key

    def fail(self, problem: str, remedy: Words | None = None) -> NoReturn:
        """Raise for this value."""
        problem = f"{self.steps or 'the response'}: {problem}"
        if self.path is not None:
            raise FileFormatError(problem, path=self.path, line=self.line, remedy=remedy)
        more = () if remedy is None else ("\n  ", *parts_of(remedy))
        raise DataError(f"feature log, {problem}", *more)

    def get(self, key: str) -> JsonNode | None:
        """The value under a key, or None where there is none; fails for what has no keys."""
        found = self.entries().get(key)
        return None if found is None else self.inner(key, found)

    def __getitem__(self, key: str) -> JsonNode:
        found = self.get(key)
        if found is None:
            self.fail(f"there is no {key!r}")
        return found

    def follow(self, path: str) -> JsonNode | None:
        """The value at the end of a path, ``responseHeader.params.q``, or None; a key may itself hold dots."""
        if not isinstance(self.value, dict):
            return None
        if (whole := self.get(path)) is not None:
            return whole
        first, dot, rest = path.partition(".")
        found = self.get(first) if dot else None
        return None if found is None else found.follow(rest)

    def entries(self) -> dict[str, Any]:
        """The object."""
        if not isinstance(self.value, dict):
            self.fail(f"an object is needed, not {self._kind}")
        return self.value

    def items(self) -> Iterator[tuple[str, JsonNode]]:
        """Keys and values of an object."""
        for key, value in self.entries().items():
            yield key, self.inner(key, value)

    def elements(self) -> Iterator[JsonNode]:
        """The elements of a list."""
        if not isinstance(self.value, list):
            self.fail(f"a list is needed, not {self._kind}")
        for index, value in enumerate(self.value):
            yield self.inner(index, value)

    def identifier(self) -> str:
        """An id: text or a whole number."""
        if isinstance(self.value, bool) or not isinstance(self.value, (str, int)) or self.value == "":
            self.fail(f"an id is text or a whole number, not {shown(self.value)}")
        text = str(self.value)
        if len(text) > longest_id():
            self.fail(f"the id has {len(text):,} characters")
        if "\0" in text:
            self.fail("the id holds a NUL character")
        return text

    def feature_value(self) -> float:
        """The value of a feature; null is NaN, a missing one."""
        if self.value is None:
            return math.nan
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            self.fail(f"the value of a feature is a number, not {shown(self.value)}")
        return self.in_range(self.value)

    def in_range(self, number: float) -> float:
        """A number as a feature can hold it: within float32, or NaN."""
        if abs(number) > _LARGEST:
            self.fail(f"the value of a feature is infinite or beyond float32's 3.4e38: {shown(number)}")
        return float(number)

    @property
    def _kind(self) -> str:
        return _KINDS.get(type(self.value), "a number")

    def inner(self, key: str | int, value: Any) -> JsonNode:
        """A value that stands under a key of this one."""
        return JsonNode(value, self.path, self.line, key, self)
