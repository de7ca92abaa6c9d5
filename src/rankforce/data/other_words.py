"""Keywords that ``Dataset`` does not have, and what they are called here: words of readers and of other libraries."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from rankforce.errors import UnknownArgumentError

Constructor = TypeVar("Constructor", bound=Callable[..., None])

_CALLED = {
    "X": ("data", "frame", "df", "table"),
    "y": ("label", "target", "grade", "grades", "relevance"),
    "qid": ("query", "query_id", "query_ids", "queries", "group_id", "session_id"),
    "group": ("groups", "group_sizes"),
    "weights": ("weight", "sample_weight"),
    "query_weights": ("query_weight", "group_weight"),
    "document_ids": ("document", "documents", "document_id", "doc_id", "docid", "docno"),
    "feature_names": ("feature_name", "columns"),
    "categorical": ("categorical_feature", "categorical_features", "cat_features"),
}
_OURS = {word: name for name, words in _CALLED.items() for word in words}
_OF_COLUMNS = ("y", "qid", "weights", "query_weights", "document_ids")  # arrays, or names of columns of X


def refusing_other_words(constructor: Constructor) -> Constructor:
    """The constructor with an error for keywords that it lacks, which says what to write instead."""
    known = list(inspect.signature(constructor).parameters)[1:]

    @functools.wraps(constructor)
    def checked(self: Any, *arguments: Any, **given: Any) -> None:
        unknown = {name: value for name, value in given.items() if name not in known}
        if unknown:
            raise UnknownArgumentError(_message(unknown, known))
        constructor(self, *arguments, **given)

    return checked  # type: ignore[return-value]


def _message(unknown: Mapping[str, Any], known: list[str]) -> str:
    words = " and no ".join(map(repr, unknown))
    meant = {name: _meant(name, known) for name in unknown}
    written = [_written(ours, unknown[name]) for name, ours in meant.items() if ours is not None]
    columns = any(ours in _OF_COLUMNS for ours in meant.values())
    hint = f": write {', '.join(written)}" if written else ""
    what = " (an array, or the name of a column of a data frame)" if columns else ""
    return (
        f"Dataset takes no {words}{hint}{what}. It takes: {', '.join(known)}; of files rf.read has options of its own"
    )


def _meant(name: str, known: list[str]) -> str | None:
    near = difflib.get_close_matches(name, known, n=1)
    return _OURS.get(name.lower(), near[0] if near else None)


def _written(ours: str, value: Any) -> str:
    """``y='grade'``; of what is no name of a column, ``y=...``."""
    return f"{ours}={value!r}" if isinstance(value, str) else f"{ours}=..."
