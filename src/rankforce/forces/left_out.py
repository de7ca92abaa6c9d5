"""How many documents and queries a label source leaves out: they take part in no pair, and are counted aloud."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankforce.collective import totals
from rankforce.data.dataset import Dataset
from rankforce.forces.forces import TermForces


@dataclasses.dataclass(frozen=True)
class LeftOut:
    """What one term of an objective sees of the training data.

    unlabelled_documents : without a label from the term's source; they form no pair of it
    unlabelled_queries : without any label from it; they add nothing to the term, and to no mean of its measure
    zero_documents : labelled 0 and for that reason in no pair of it
    """

    measure: str
    source: str
    pairs: int
    documents: int
    unlabelled_documents: int
    queries: int
    unlabelled_queries: int
    zero_documents: int

    @classmethod
    def of(cls, data: Dataset, term: TermForces) -> LeftOut:
        labels = data.by_query(term.term.measure.labels_of(data.labels))
        labelled = ~np.isnan(labels)
        per_query = np.diff(np.concatenate([[0], np.cumsum(labelled)])[data.query_starts])
        counts = totals(
            term.ranges.n_pairs,
            data.n_documents,
            np.count_nonzero(~labelled),
            data.n_queries,
            np.count_nonzero(per_query == 0),
            np.count_nonzero(labels == 0.0) if term.term.zeros is False else 0,
        )
        return cls(str(term.term.measure), term.term.measure.label, *counts)

    @property
    def anything(self) -> bool:
        """Whether something is left out."""
        return self.unlabelled_documents > 0 or self.zero_documents > 0

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        parts = [f"{self.pairs:,} pairs"]
        if self.unlabelled_documents:
            parts.append(
                f"{self.unlabelled_documents:,} of {self.documents:,} documents and {self.unlabelled_queries:,} of "
                f"{self.queries:,} queries without a label from {self.source!r}"
            )
        if self.zero_documents:
            parts.append(f"{self.zero_documents:,} documents labelled 0 left out")
        return f"{self.measure}: {'; '.join(parts)}"


def left_out(data: Dataset, terms: Sequence[TermForces]) -> tuple[LeftOut, ...]:
    """What each term sees, once for equal descriptions."""
    return tuple(dict.fromkeys(LeftOut.of(data, term) for term in terms))
