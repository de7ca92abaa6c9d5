"""The documents of each query, best first."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from rankforce.console.result_tables import ResultTable
from rankforce.console.tables import load_pandas, text_table

SHOWN = 20  # documents that are printed


@dataclasses.dataclass(frozen=True, eq=False)
class Ranking:
    """One entry per ranked document: queries in the order of the data, documents by falling score.

    Equal scores stay in the order of the rows.
    """

    qid: np.ndarray
    rank: np.ndarray  # from 1
    row: np.ndarray  # of the data that was ranked, from 0
    document_id: np.ndarray | None
    score: np.ndarray

    @classmethod
    def of_scores(
        cls,
        scores: np.ndarray,
        query_numbers: np.ndarray,
        query_ids: np.ndarray,
        document_ids: np.ndarray | None,
        k: int | None,
    ) -> Ranking:
        """Rank documents by falling score within their queries; ``k`` keeps the best of each query."""
        rows = np.lexsort((-scores, query_numbers))  # stable: equal scores stay in the order of the rows
        queries = query_numbers[rows]
        starts = np.searchsorted(queries, np.arange(len(query_ids)))
        ranks = np.arange(1, len(rows) + 1) - starts[queries]
        if k is not None:
            in_top = ranks <= k
            rows, queries, ranks = rows[in_top], queries[in_top], ranks[in_top]
        return cls(
            qid=query_ids[queries],
            rank=ranks,
            row=rows,
            document_id=None if document_ids is None else document_ids[rows],
            score=scores[rows],
        )

    def __len__(self) -> int:
        return len(self.row)

    def to_pandas(self) -> Any:
        """A pandas data frame: qid, rank, row, document_id (if there are any), score."""
        columns = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return load_pandas().DataFrame({name: column for name, column in columns.items() if column is not None})

    def __str__(self) -> str:
        return "\n".join([text_table(*self._table(), left=0, rule=False), *self._more()])

    def _repr_html_(self) -> str:
        """What notebooks show: the first documents."""
        return ResultTable(f"{len(self):,} ranked documents", *self._table(), self._more(), left=0).html()

    def _table(self) -> tuple[list[str], list[list[str]]]:
        documents = self.row if self.document_id is None else self.document_id
        header = ["qid", "rank", "row" if self.document_id is None else "document", "score"]
        rows = [
            [str(self.qid[k]), str(self.rank[k]), str(documents[k]), f"{self.score[k]:.6g}"]
            for k in range(min(len(self), SHOWN))
        ]
        return header, rows

    def _more(self) -> list[str]:
        return [f"... {len(self) - SHOWN:,} more"] if len(self) > SHOWN else []
