"""The table of documents × features: what each feature contributes to the scores of a query, or of all of them."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from rankforce.console import tables
from rankforce.console.result_tables import ResultTable, Tabular
from rankforce.console.wording import counted
from rankforce.data.categories import Categories
from rankforce.displayed_text import displayed
from rankforce.errors import DataError
from rankforce.explaining import feature_tables
from rankforce.explaining.document_explanation import DocumentExplanation
from rankforce.kinds import shown

DOCUMENTS_SHOWN = 20
_COLUMN = 9  # characters of a contribution and the space before it


class Dependence(NamedTuple):
    """The values of a feature and what they contributed, one entry per document: the points of a dependence plot."""

    feature: str
    values: np.ndarray
    contributions: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Contributions(Tabular):
    """score = ``base`` + the sum of a row of ``contributions`` (documents, features), for every document.

    Of one ``query`` documents come by falling score; of all queries (``query`` is None) in the order of the rows.
    ``query_ids``, ``documents``, ``ranks`` and ``scores`` have one entry per document, ``values`` the features.
    """

    query: Any
    query_ids: np.ndarray
    documents: np.ndarray
    ranks: np.ndarray
    scores: np.ndarray
    base: float
    feature_names: tuple[str, ...]
    values: np.ndarray
    contributions: np.ndarray
    notes: tuple[str, ...] = ()
    categories: Categories = dataclasses.field(default_factory=dict)  # of features whose values are codes

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def residual(self) -> float:
        """The largest distance of a score from what its contributions add up to."""
        return float(np.abs(self.scores - (self.base + self.contributions.sum(axis=1))).max(initial=0.0))

    @property
    def mean_absolute(self) -> dict[str, float]:
        """The mean over the documents of |contribution|, by feature in the order of the features."""
        return dict(zip(self.feature_names, self._sizes.tolist(), strict=True))

    def dependence(self, feature: str) -> Dependence:
        """The values of a feature and their contributions, in the order of the documents."""
        place = self._place(feature)
        return Dependence(self.feature_names[place], self.values[:, place], self.contributions[:, place])

    def document(self, document: Any) -> DocumentExplanation:
        """One document of the table; the first of this name, if several queries have it."""
        found = np.flatnonzero(self.documents == document)
        if not len(found):
            raise DataError(f"there is no document {shown(document)} in this table; documents lists those that are")
        return self._document_at(int(found[0]))

    def to_pandas(self) -> Any:
        """One row per document: query, document, rank, score, base, and a column per feature."""
        pandas = tables.load_pandas()
        first = {"query": self.query_ids, "document": self.documents, "rank": self.ranks, "score": self.scores}
        shares = pandas.DataFrame(self.contributions, columns=list(self.feature_names))
        return pandas.concat([pandas.DataFrame(first | {"base": self.base}), shares], axis=1)

    def to_dict(self) -> dict[str, Any]:
        """Everything as numbers, text, lists and dictionaries that JSON can hold; None is a missing value."""
        listed = [self.categories.get(name, ()) for name in self.feature_names]
        values = [list(map(feature_tables.plain, row, listed)) for row in self.values.tolist()]
        return {
            "query": self.query,
            "base": self.base,
            "residual": self.residual,
            "feature_names": list(self.feature_names),
            "mean_absolute": self._sizes.tolist(),
            "documents": [
                {
                    "query": query,
                    "document": document,
                    "rank": rank,
                    "score": score,
                    "values": row_values,
                    "contributions": row,
                }
                for query, document, rank, score, row_values, row in zip(
                    self.query_ids.tolist(),
                    self.documents.tolist(),
                    self.ranks.tolist(),
                    self.scores.tolist(),
                    values,
                    self.contributions.tolist(),
                    strict=True,
                )
            ],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return "\n".join([self._title, feature_tables.fitted_table(*self._table()), *self._notes])

    def __repr__(self) -> str:
        return f"<Contributions of {counted(len(self.feature_names), 'feature')} to {counted(len(self), 'score')}>"

    def _result_table(self) -> ResultTable:
        return ResultTable(self._title, *self._table(), self._notes)

    @property
    def _sizes(self) -> np.ndarray:
        return np.abs(self.contributions).mean(axis=0)

    @property
    def _title(self) -> str:
        of = "" if self.query is None else f"query {displayed(self.query)}: "
        return f"{of}{counted(len(self), 'document')}, base {tables.number(self.base)}"

    @property
    def _notes(self) -> list[str]:
        hidden = len(self) - DOCUMENTS_SHOWN
        cut = [f"... {counted(hidden, 'more document')}"] if self.query is not None and hidden > 0 else []
        return [*cut, *self.notes, f"contributions add up to the scores within {self.residual:.0e}"]

    def _table(self) -> tuple[list[str], list[list[str]]]:
        return self._by_feature() if self.query is None else self._by_document()

    def _by_feature(self) -> tuple[list[str], list[list[str]]]:
        chosen, rest = feature_tables.most_first(self._sizes)
        rows = [
            [
                self.feature_names[place],
                f"{self._sizes[place]:.4f}",
                feature_tables.share(self.contributions[:, place].min()),
                feature_tables.share(self.contributions[:, place].max()),
            ]
            for place in chosen
        ]
        if rest:
            rows.append([feature_tables.rest_name(rest), f"{self._sizes[rest].sum():.4f}", "", ""])
        return ["feature", "mean |contribution|", "lowest", "highest"], rows

    def _by_document(self) -> tuple[list[str], list[list[str]]]:
        head = ["document", "rank", "score"]
        documents = [str(one) for one in self.documents[:DOCUMENTS_SHOWN].tolist()]
        scores = [tables.number(score) for score in self.scores[:DOCUMENTS_SHOWN].tolist()]
        taken = max(map(len, [head[0], *documents])) + 6 + max(map(len, [head[2], *scores])) + 2
        order, _ = feature_tables.most_first(self._sizes, len(self.feature_names))
        chosen: list[int] = []
        room = feature_tables.width() - taken - _COLUMN  # the last column is for the rest
        for place in order:
            room -= max(_COLUMN, len(displayed(self.feature_names[place])) + 2)
            if room < 0:
                break
            chosen.append(place)
        rest = [place for place in range(len(self.feature_names)) if place not in set(chosen)]
        header = [*head, *(self.feature_names[place] for place in chosen), *(["others"] if rest else [])]
        rows = []
        for at, (document, score) in enumerate(zip(documents, scores, strict=True)):
            shares = [feature_tables.share(self.contributions[at, place]) for place in chosen]
            if rest:
                shares.append(feature_tables.share(self.contributions[at, rest].sum()))
            rows.append([document, str(self.ranks[at]), score, *shares])
        return header, rows

    def _place(self, feature: str) -> int:
        if not isinstance(feature, str) or feature not in self.feature_names:
            raise DataError(f"the model has no feature {shown(feature)}; feature_names lists those that it has")
        return self.feature_names.index(feature)

    def _document_at(self, at: int) -> DocumentExplanation:
        return DocumentExplanation(
            _plain(self.query_ids[at]),
            _plain(self.documents[at]),
            int(self.ranks[at]),
            float(self.scores[at]),
            self.base,
            self.feature_names,
            self.values[at],
            self.contributions[at],
            self.notes,
            self.categories,
        )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
