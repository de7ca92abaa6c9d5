"""Public names of rankforce.diagnostics; written by tools/write_stub.py."""

from rankforce.diagnostics.effective_pair_counts import effective_pairs as effective_pairs
from rankforce.diagnostics.force_check import check_forces as check_forces
from rankforce.diagnostics.instruments import ContributionsByGrade as ContributionsByGrade
from rankforce.diagnostics.instruments import ForceAgreement as ForceAgreement
from rankforce.diagnostics.instruments import GradesInTop as GradesInTop
from rankforce.diagnostics.instruments import RankChanges as RankChanges
from rankforce.diagnostics.measure_check import check_measure as check_measure
from rankforce.diagnostics.optimality import local_optimality as local_optimality
from rankforce.diagnostics.weight_profiles import smoothness as smoothness

__all__ = [
    "ContributionsByGrade",
    "ForceAgreement",
    "GradesInTop",
    "RankChanges",
    "check_forces",
    "check_measure",
    "effective_pairs",
    "local_optimality",
    "smoothness",
]
