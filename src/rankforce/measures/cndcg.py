"""NDCG on click labels."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from rankforce import dtypes
from rankforce.errors import MeasureError
from rankforce.measures.ndcg import NDCG


class CNDCG(NDCG):
    """NDCG with gain 2^{max_grade·c} − 1 on a click label c in [0, 1]: clicks on the scale of human grades.

    ``label`` names the click source and comes first: ``CNDCG("clicks")``, ``rf.measure("CNDCG@10:clicks")``.
    """

    ALIASES: ClassVar[tuple[str, ...]] = ()
    GAIN_WORDS: ClassVar[dict[str, str]] = {"exponential": "2^(max_grade·label) − 1"}

    label: str = dataclasses.field()  # no default: clicks are never the main label
    cutoff: int | None = None
    max_grade: float = dataclasses.field(default=4.0, kw_only=True, metadata={"python_only": True})

    def check(self) -> None:
        super().check()
        if self.gain != "exponential":
            raise MeasureError("CNDCG has a gain of its own; use NDCG for another, as NDCG(gain=linear):clicks")
        self.require_number("max_grade")
        if not self.max_grade > 0:
            raise MeasureError(f"CNDCG: max_grade must be positive, not {self.max_grade:g}")

    def worth(self, labels: np.ndarray) -> np.ndarray:
        clicks = np.where(np.isnan(labels), 0.0, labels)
        if clicks.size and (clicks.min() < 0.0 or clicks.max() > 1.0):
            bad = clicks[(clicks < 0.0) | (clicks > 1.0)][0]
            raise MeasureError(
                f"{self}: click labels must lie between 0 and 1 (a rate), found {bad:g}; "
                f"scale them first, or use NDCG:{self.label} with a gain of your choice"
            )
        return (np.exp2(self.max_grade * clicks) - 1.0).astype(dtypes.WORTH)
