"""What ``rf.drift`` yields."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from rankforce.console import tables
from rankforce.console.result_tables import ResultTable, Tabular
from rankforce.console.wording import counted, listed
from rankforce.drifting.column_drift import DRIFTED, OUTSIDE_LIMITS, PSI_LIMITS, SHIFTED, STEADY, ColumnDrift
from rankforce.drifting.order_changes import OrderChanges

WEIGHT_LIMIT = 0.1  # of what the model looks at: of less, drift is no drift of the model
LEVELS = (STEADY, SHIFTED, DRIFTED)
_SHOWN = 15  # features


@dataclasses.dataclass(frozen=True, eq=False)
class Drift(Tabular):
    """New data against that of the training.

    features : a ``ColumnDrift`` of every feature, those of the gravest verdict first, then by weight × PSI
    score : that of the model's scores against those of its validation data; None where nothing is known of these
    order : how many pairs a former model orders differently; None without one
    verdict : "drifted": the scores have, or features that have carry a tenth of what the model looks at; "shifted":
        something has, less than that; "steady": nothing that chance does not explain
    """

    features: tuple[ColumnDrift, ...]
    score: ColumnDrift | None
    order: OrderChanges | None
    known_queries: int
    new_queries: int
    new_documents: int
    weighed_by: str
    alpha: float

    @property
    def drifted_weight(self) -> float:
        """What share of what the model looks at is features that have drifted."""
        return math.fsum(one.weight for one in self.features if one.verdict == DRIFTED)

    @property
    def weighted_psi(self) -> float:
        """The PSI of the features, each by its weight."""
        return math.fsum(one.weight * one.psi for one in self.features)

    @property
    def verdict(self) -> str:
        found = {one.verdict for one in self.features}
        score = STEADY if self.score is None else self.score.verdict
        if score == DRIFTED or self.drifted_weight >= WEIGHT_LIMIT:
            return DRIFTED
        return STEADY if score == STEADY and found <= {STEADY} else SHIFTED

    def __getitem__(self, feature: str) -> ColumnDrift:
        """The drift of one feature."""
        for one in self.features:
            if one.name == feature:
                return one
        raise KeyError(feature)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Drift: {self.verdict}, {counted(len(self.features), 'feature')}>"

    def to_dict(self) -> dict[str, Any]:
        """Everything as numbers, text, lists and dictionaries that JSON can hold; None where there is no number."""
        return {
            "verdict": self.verdict,
            "reasons": self.reasons(),
            "drifted_weight": self.drifted_weight,
            "weighted_psi": self.weighted_psi,
            "known_queries": self.known_queries,
            "new_queries": self.new_queries,
            "new_documents": self.new_documents,
            "alpha": self.alpha,
            "limits": {"psi": PSI_LIMITS, "outside": OUTSIDE_LIMITS, "weight": WEIGHT_LIMIT},
            "weighed_by": self.weighed_by,
            "features": [one.to_dict() for one in self.features],
            "score": None if self.score is None else self.score.to_dict(),
            "order": None if self.order is None else self.order.to_dict(),
        }

    def to_pandas(self) -> Any:
        """One row per feature."""
        return tables.load_pandas().DataFrame.from_records([one.to_dict() for one in self.features])

    def reasons(self) -> list[str]:
        """Why the verdict is what it is."""
        told = []
        for level in (DRIFTED, SHIFTED):
            names = [one.name for one in self.features if one.verdict == level]
            if names:
                weight = math.fsum(one.weight for one in self.features if one.verdict == level)
                told.append(f"{level}: {listed(names)} ({tables.per_cent(weight)} of what is looked at)")
        if self.score is not None and self.score.verdict != STEADY:
            told.append(f"the scores have {self.score.verdict} (PSI {self.score.psi:.3f})")
        return told or ["nothing differs more than chance explains, or by more than the limits"]

    def to_csv(self) -> str:
        """All features as comma-separated text."""
        return self._table(len(self.features)).csv()

    def _result_table(self) -> ResultTable:
        return self._table(_SHOWN)

    def _table(self, most: int) -> ResultTable:
        shown = [one for place, one in enumerate(self.features) if place < most or one.verdict != STEADY]
        rows = [_cells(one) for one in shown]
        if self.score is not None:
            rows.append(_cells(self.score))
        rest = len(self.features) - len(shown)
        notes = [f"... and {counted(rest, 'feature')}, steady"] if rest else []
        header = ["", "weight", "PSI", "by chance", "KS", "KS by chance", "outside", "missing", "missing now"]
        header += ["p (Holm)", "verdict"]
        title = (
            f"{self.verdict.upper()}: {counted(self.new_documents, 'new document')} of "
            f"{counted(self.new_queries, 'query')} against {counted(self.known_queries, 'query')} of the training"
        )
        return ResultTable(title, header, rows, notes + self._notes())

    def _notes(self) -> list[str]:
        notes = self.reasons()
        for one in self.features:
            for word, found in (("new", one.new_categories), ("vanished", one.vanished_categories)):
                if found:
                    with_shares = [f"{name} ({tables.per_cent(share)})" for name, share in found.items()]
                    notes.append(f"{one.name}: {word} categories: {listed(with_shares, 5, str)}")
        if self.score is None:
            notes.append("the scores are not judged: none of data that a model did not learn from are known")
        if self.order is not None:
            worst = [f"{query} ({tables.per_cent(share)})" for query, share in self.order.most_changed.items()]
            changed = f"{tables.per_cent(self.order.mean)} of the pairs of a query are ordered differently than before"
            notes.append(changed + (f", most in {listed(worst, 5, str)}" if worst else ""))
        return [
            *notes,
            f"drifted: PSI ≥ {PSI_LIMITS[DRIFTED]} or ≥ {100 * OUTSIDE_LIMITS[DRIFTED]:g} % outside (shifted: "
            f"{PSI_LIMITS[SHIFTED]}, {100 * OUTSIDE_LIMITS[SHIFTED]:g} %), and p ≤ {self.alpha:g} after Holm over "
            f"{counted(len(self.features) + (self.score is not None), 'column')}",
            "p: a bound, from how much whole queries differ; outside: values beyond those of the training; weight: "
            + self.weighed_by,
        ]


def _cells(one: ColumnDrift) -> list[str]:
    return [
        one.name,
        tables.per_cent(one.weight),
        tables.number(one.psi, 3),
        tables.number(one.psi_by_chance, 3),
        tables.number(one.ks, 3),
        tables.number(one.ks_by_chance, 3),
        tables.per_cent(one.outside),
        tables.per_cent(one.missing_then),
        tables.per_cent(one.missing_now),
        tables.p_value(one.adjusted_p),
        one.verdict,
    ]
