"""Scores and grades: how far grades are apart in score, what labels documents of a score have."""

from __future__ import annotations

import dataclasses
from typing import Any

from rankforce.errors import RankforceError
from rankforce.plot.score_spread import CalibratedBins, ScoreSpread
from rankforce.reporting.given import ReportedModel
from rankforce.reporting.parts import AbsentPart, ReportPart, all_rounded

BINS = 30
CALIBRATED_BINS = 12


@dataclasses.dataclass(frozen=True)
class ScoreShapes(ReportPart):
    """The scores of each grade over the same bins, and mean labels of documents by score."""

    label: str
    edges: list[float | None]
    grades: list[dict[str, Any]]
    calibration: dict[str, Any]

    @classmethod
    def of(cls, given: ReportedModel) -> ScoreShapes | AbsentPart:
        if given.label is None:
            return AbsentPart("the data has no labels: scores cannot be told apart by them")
        scores = given.rankings[given.name]
        try:
            spread = ScoreSpread.of(scores, given.data, given.label, BINS)
            bins = CalibratedBins.of(scores, given.data, given.label, CALIBRATED_BINS)
        except RankforceError as error:
            return AbsentPart.because(error)
        grades = [
            {"name": one.name, "documents": one.documents, "shares": all_rounded(one.shares.tolist())}
            for one in spread.grades
        ]
        return cls(given.label, all_rounded(spread.edges.tolist()), grades, dataclasses.asdict(bins))
