"""The data of a report: what is in it, what in it misleads, and whether it is still like the training data."""

from __future__ import annotations

import dataclasses
from typing import Any

from rankforce.data.dataset import Dataset
from rankforce.drifting.drift import drift
from rankforce.errors import RankforceError
from rankforce.inspection.inspection import inspect
from rankforce.reporting.given import ReportedModel
from rankforce.reporting.parts import AbsentPart, ReportPart


@dataclasses.dataclass(frozen=True)
class DataHealth(ReportPart):
    """What ``rf.inspect`` found: the lines of its report, and the findings with their remedies."""

    facts: list[tuple[str, str]]
    labels: dict[str, dict[str, Any]]
    findings: list[dict[str, str]]
    fingerprint: str
    roles: dict[str, str]

    @classmethod
    def of(cls, given: ReportedModel) -> DataHealth:
        found = inspect(given.data)
        form = found.to_dict()
        return cls(list(found.lines()), form["labels"], form["findings"], given.data.fingerprint, form["roles"])


@dataclasses.dataclass(frozen=True)
class DataDrift(ReportPart):
    """What ``rf.drift`` says of the data against that of the training."""

    drift: dict[str, Any]
    notes: list[str]

    @classmethod
    def of(cls, given: ReportedModel, train: Dataset | None) -> DataDrift | AbsentPart:
        try:
            found = drift(given.model, given.data, train=train)
        except RankforceError as error:
            if train is not None:
                raise  # what was given does not do
            return AbsentPart.because(error)
        return cls(found.to_dict(), found._notes())
