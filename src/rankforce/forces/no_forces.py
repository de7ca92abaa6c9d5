"""What is said where nothing pulls."""

from __future__ import annotations

from rankforce.collective import highest
from rankforce.data.dataset import Dataset
from rankforce.objectives.objective import Objective


def why_no_forces(objective: Objective, data: Dataset) -> str:
    """Why every force of an objective may be 0 although labels differ, and what to do. Members ask together."""
    measures = " and ".join(sorted({str(term.measure) for term in objective.terms}))
    (longest,) = highest(int(data.query_sizes.max(initial=0)))
    return (
        f"every force is 0: at the first scores no swap of two documents changes {measures} (lists here have up to "
        f"{longest:,} documents). Choose a lower cut-off or another measure"
    )
