"""Texts of queries and documents, which a reader knows better than ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankforce.errors import DataError
from rankforce.kinds import shown

LONGEST = 300  # characters


class ReportTexts:
    """Texts by id; None where there is none."""

    def __init__(self, queries: Any, documents: Any) -> None:
        self.queries = _checked("query_texts", queries)
        self.documents = _checked("document_texts", documents)

    def of_queries(self, ids: list[Any]) -> list[str | None] | None:
        """One entry per query; None if no texts were given."""
        return None if self.queries is None else [_text(self.queries, one) for one in ids]

    def of_document(self, name: Any) -> str | None:
        return None if self.documents is None else _text(self.documents, name)


def _checked(name: str, texts: Any) -> Mapping[Any, Any] | None:
    if texts is not None and not isinstance(texts, Mapping):
        raise DataError(f"{name} must map ids to texts, not be {shown(texts)}")
    return texts


def _text(texts: Mapping[Any, Any], name: Any) -> str | None:
    found = texts.get(name, texts.get(str(name)))  # files have all ids as text
    if found is None:
        return None
    text = str(found)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
