"""A simulated click log: what a search engine would have written down, and beside it what it cannot know."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from rankforce.console import html_parts
from rankforce.console.tables import load_pandas
from rankforce.console.wording import counted
from rankforce.data.dataset import Dataset
from rankforce.data.files import table_path
from rankforce.data.tables.written_columns import as_table, write_columns


@dataclasses.dataclass(frozen=True)
class SimulatedClicks:
    """One entry per document shown, the sessions one after the other, their documents from the top.

    data : the data set, with document ids: row numbers where it had none
    row : int64: the row of the document in the data
    session : int64, from 0
    position : int64, from 1
    clicked : bool
    attractiveness : float64: the probability of a click by someone who looks; with trust bias, by someone critical
    examination : float64: the probability that this user looks at this place, given the list
    examined : bool: whether the user did
    placement : float64: the probability that the document is shown at this position in a session of its query
    """

    data: Dataset
    row: np.ndarray
    session: np.ndarray
    position: np.ndarray
    clicked: np.ndarray
    attractiveness: np.ndarray
    examination: np.ndarray
    examined: np.ndarray
    placement: np.ndarray

    @property
    def n_sessions(self) -> int:
        return int(self.session[-1]) + 1

    def __len__(self) -> int:
        return len(self.row)

    @property
    def truth(self) -> dict[str, np.ndarray]:
        """What a real log does not have."""
        names = ("attractiveness", "examination", "examined", "placement")
        return {name: getattr(self, name) for name in names}

    @property
    def click_log(self) -> dict[str, np.ndarray]:
        """What a real log has: session, query, document, position, clicked."""
        assert self.data.document_ids is not None
        return {
            "session": self.session,
            "query": self.data.qid[self.row],
            "document": self.data.document_ids[self.row],
            "position": self.position,
            "clicked": self.clicked.astype(np.int64),
        }

    def to_arrow(self, truth: bool = False) -> Any:
        """The log as an Arrow table, as ``click_labels`` reads it; with the truth in further columns if wished."""
        return as_table(Path("simulated log"), self.click_log | (self.truth if truth else {}))

    def to_pandas(self, truth: bool = False) -> Any:
        """The log as a pandas data frame; with the truth in further columns if wished."""
        return load_pandas().DataFrame(self.click_log | (self.truth if truth else {}))

    def write(self, path: str | Path, truth: bool = False) -> None:
        """Write the log as Parquet (``.parquet``, ``.pq``) or delimited text (``.csv``, ``.tsv``, also ``.gz``)."""
        write_columns(table_path(path), self.click_log | (self.truth if truth else {}))

    def __str__(self) -> str:
        return (
            f"{counted(self.n_sessions, 'session')} of {counted(self.data.n_queries, 'query')}: "
            f"{counted(len(self), 'document')} shown, {counted(int(self.clicked.sum()), 'click')}"
        )

    def _repr_html_(self) -> str:
        """What notebooks show: the printed words."""
        return html_parts.block(html_parts.small(*str(self).split("\n")))

    def __repr__(self) -> str:
        return f"<SimulatedClicks: {self}>"
