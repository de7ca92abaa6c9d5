"""What was exported, and what a check of the file found."""

from __future__ import annotations

import dataclasses
from typing import Any

from rankforce.console import html_parts
from rankforce.console.wording import counted


@dataclasses.dataclass(frozen=True)
class ExportCheck:
    """A written file against its model, in the engine's own arithmetic.

    made_rows : rows that were made for every node of every tree, and mixed ones
    given_rows : rows that were given
    changed_leaves : documents that come to another leaf of some tree than in the model; None if there are no trees
    largest_difference : of scores, between the model and the engine
    tolerance : what rounding in the engine can explain of it
    largest_score : the largest absolute score
    reordered : neighbours in the ranking of the given rows (by query) that the engine ranks the other way round
    tied : neighbours that differ in the model and are equal in the engine
    neighbours : how many there are that differ in the model
    """

    format: str
    engine: str
    made_rows: int
    given_rows: int
    changed_leaves: int | None
    largest_difference: float
    tolerance: float
    largest_score: float
    reordered: int
    tied: int
    neighbours: int

    @property
    def passed(self) -> bool:
        """Whether no document changes its leaf, and scores differ by rounding alone.

        Rounding may still exchange neighbours whose scores are all but equal: ``reordered`` counts them.
        """
        return not self.changed_leaves and self.largest_difference <= self.tolerance

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self) | {"passed": self.passed}

    def _repr_html_(self) -> str:
        """What notebooks show: the verdict, and below it what was compared."""
        verdict = "the file computes what the model does" if self.passed else "the file computes something else"
        return html_parts.block(html_parts.heading(verdict), html_parts.small(*str(self).split("\n")))

    def __str__(self) -> str:
        leaves = "no trees" if self.changed_leaves is None else f"{self.changed_leaves:,} come to another leaf"
        lines = [
            f"{self.format} as {self.engine} computes it: {counted(self.given_rows, 'given row')}, "
            f"{counted(self.made_rows, 'row')} made for the thresholds: {leaves}",
            f"largest difference of scores {self.largest_difference:.3g} (scores up to {self.largest_score:.3g}, "
            f"rounding explains {self.tolerance:.3g})",
        ]
        if self.given_rows:
            lines.append(
                f"of {counted(self.neighbours, 'pair')} of neighbours in the rankings {self.reordered:,} change "
                f"order, {self.tied:,} become equal"
            )
        return "\n".join(lines)


@dataclasses.dataclass(frozen=True, eq=False)
class Exported:
    """What was written.

    path : of the file; None if it was only made
    missing : "zero" or "nan": what a missing value is in this file
    right_in, wrong_in : releases that treat missing values as the model does, and those that do not
    notes : what to know of the file
    check : what the check found; None if none was asked for
    contents : the bytes of the file
    """

    path: str | None
    format: str
    engine: str | None
    missing: str
    right_in: tuple[str, ...]
    wrong_in: tuple[str, ...]
    notes: tuple[str, ...]
    check: ExportCheck | None
    contents: bytes = dataclasses.field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """All but the bytes, for JSON."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        del fields["contents"]
        return fields | {"check": None if self.check is None else self.check.to_dict(), "bytes": len(self.contents)}
