"""How a measure arrives at its value on one query, rank by rank."""

from __future__ import annotations

import dataclasses
from typing import Any

from rankforce.console import tables
from rankforce.console.result_tables import ResultTable, Tabular
from rankforce.displayed_text import displayed
from rankforce.evaluation.policies import Policies


@dataclasses.dataclass(frozen=True)
class Explanation(Tabular):
    """How a measure arrives at its value on one query.

    ``ranks`` holds one dictionary per ranked document: rank, document, score, label, worth (what the label counts
    for) and value (that of the list if nothing further down were worth anything).
    """

    measure: str
    query: Any
    value: float
    ranks: list[dict[str, Any]]
    policies: Policies
    settings: dict[str, str]

    def to_pandas(self) -> Any:
        """One row per rank."""
        return tables.load_pandas().DataFrame.from_records(self.ranks)

    @property
    def _notes(self) -> list[str]:
        notes = self.policies.sentences()
        if self.policies.ties == "expected":
            notes.append(
                "equal scores are shown in row order; the value of the query is the mean over all their orders"
            )
        return notes

    @property
    def _title(self) -> str:
        settings = "".join(f", {key} {value}" for key, value in self.settings.items())
        return f"query {displayed(self.query)}: {self.measure} = {tables.number(self.value)}{settings}"

    def _result_table(self) -> ResultTable:
        header = ["rank", "document", "score", "label", "worth", "value so far", "change"]
        rows = []
        above = 0.0
        for one in self.ranks:
            label = "none" if one["label"] is None else f"{one['label']:g}"
            change = tables.number(one["value"] - above, sign=True)
            above = one["value"]
            shown = [f"{one['score']:g}", label, f"{one['worth']:g}", tables.number(one["value"]), change]
            rows.append([str(one["rank"]), str(one["document"]), *shown])
        return ResultTable(self._title, header, rows, self._notes)
