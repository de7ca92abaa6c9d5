"""Queries that are counted as one: the keys under which click logs pool them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from rankforce.data.clicks.session_logs import LogChunk
from rankforce.errors import DataError, SettingsError
from rankforce.kinds import FunctionOf, shown

QueryKey = Callable[[str], Any] | Mapping[Any, Any]


class QueryKeys:
    """From a query to the key under which it is counted."""

    def __init__(self, given: str | QueryKey | None) -> None:
        self.column = given if isinstance(given, str) else None
        self._given = given
        self._known: dict[str, str] = {}
        if isinstance(given, Mapping):
            self._known = {str(query): _key(key, query) for query, key in given.items()}
        elif given is not None and not isinstance(given, str) and not FunctionOf(1).holds(given):
            raise SettingsError(f"query_key is a function of a query, a mapping or a column's name, not {shown(given)}")

    @property
    def words(self) -> str | None:
        if self._given is None:
            return None
        if self.column is not None:
            return f"column {self.column}"
        return "a mapping" if isinstance(self._given, Mapping) else getattr(self._given, "__name__", "a function")

    def of(self, query: str) -> str:
        """The key of a query; of one that neither mapping nor log knows: itself."""
        found = self._known.get(query)
        if found is None and callable(self._given):
            found = self._known[query] = _key(self._given(query), query)
        return query if found is None else found

    def numbers_of(self, queries: Iterable[Any]) -> dict[str, int]:
        """From keys to the numbers of the queries of a data set, counted from 0; no two may have the same key."""
        numbers: dict[str, int] = {}
        for number, query in enumerate(queries):
            key = self.of(str(query))
            if numbers.setdefault(key, number) != number:
                raise DataError(
                    f"the data has several queries that count as one, {key!r}: which of them was shown cannot be told"
                )
        return numbers

    def learn(self, chunk: LogChunk) -> None:
        """Take the keys of a column; a query has one."""
        if chunk.key is None:
            return
        both = np.unique(chunk.query.codes * len(chunk.key.values) + chunk.key.codes)
        for one in both.tolist():
            query = chunk.query.values[one // len(chunk.key.values)]
            key = chunk.key.values[one % len(chunk.key.values)]
            if self._known.setdefault(query, key) != key:
                wrong = (chunk.query.codes * len(chunk.key.values) + chunk.key.codes) == one
                chunk.fail(
                    int(np.flatnonzero(wrong)[0]),
                    "key",
                    f"query {query!r} has had another key, {self._known[query]!r}",
                    "a query has one key throughout",
                )


def _key(given: Any, query: Any) -> str:
    if given is None or isinstance(given, (float, np.floating)):
        raise DataError(f"query_key gave {given!r} for the query {query!r}: a key is text or a whole number")
    return str(given)
