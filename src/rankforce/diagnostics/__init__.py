"""Diagnostics of trainings, forces and models."""

from __future__ import annotations

from rankforce.public_names import loaded_on_first_use

_HOME = {
    "ContributionsByGrade": "rankforce.diagnostics.instruments",
    "ForceAgreement": "rankforce.diagnostics.instruments",
    "GradesInTop": "rankforce.diagnostics.instruments",
    "RankChanges": "rankforce.diagnostics.instruments",
    "check_forces": "rankforce.diagnostics.force_check",
    "check_measure": "rankforce.diagnostics.measure_check",
    "effective_pairs": "rankforce.diagnostics.effective_pair_counts",
    "local_optimality": "rankforce.diagnostics.optimality",
    "smoothness": "rankforce.diagnostics.weight_profiles",
}

__all__ = [*_HOME]
__getattr__, __dir__ = loaded_on_first_use(__name__, _HOME)
