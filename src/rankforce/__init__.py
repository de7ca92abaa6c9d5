"""rankforce: learning to rank for the measure you report.

Public names are loaded on first use, so that ``import rankforce`` imports neither Numba nor scikit-learn.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

__version__ = "0.1.0"

_HOME = {
    # data
    "Dataset": "rankforce.data.dataset",
    "BinnedDataset": "rankforce.stores.binned_dataset",
    "bin": "rankforce.stores.writing",
    "read": "rankforce.stores.opening",
    "shared": "rankforce.distributed.shared",
    "SharedDataset": "rankforce.distributed.shared",
    "read_letor": "rankforce.data.letor.reading",
    "read_table": "rankforce.data.tables.table_files",
    "read_folds": "rankforce.data.fold_files",
    "read_qrels": "rankforce.data.trec",
    "read_run": "rankforce.data.trec",
    "write_run": "rankforce.data.trec",
    "judged_run": "rankforce.data.trec",
    "JudgedRun": "rankforce.data.trec",
    "Preferences": "rankforce.data.preferences",
    "read_preferences": "rankforce.data.preferences",
    "consistent_posteriors": "rankforce.data.preferences",
    "click_labels": "rankforce.data.clicks.click_labels",
    "click_sessions": "rankforce.data.clicks.session_lists",
    "ClickLabels": "rankforce.data.clicks.rates",
    "SimilarQueries": "rankforce.data.clicks.similar_queries",
    "estimate_propensities": "rankforce.data.clicks.propensity_estimates",
    "Propensities": "rankforce.data.clicks.propensities",
    "read_feature_log": "rankforce.data.feature_logs.reading",
    "FeatureLog": "rankforce.data.feature_logs.joining",
    "make_artificial": "rankforce.data.artificial.artificial",
    "make_web_like": "rankforce.data.artificial.web_like",
    "simulate_clicks": "rankforce.simulating.clicks",
    "SimulatedClicks": "rankforce.simulating.simulated_clicks",
    "confuse_labels": "rankforce.data.noise",
    "confusion_from_repeats": "rankforce.data.noise",
    # measures
    "Measure": "rankforce.measures.measure",
    "BinaryMeasure": "rankforce.measures.measure",
    "measure": "rankforce.measures.catalogue",
    # objectives
    "Graded": "rankforce.objectives.graded",
    "Scheduled": "rankforce.objectives.scheduled",
    "Term": "rankforce.objectives.objective",
    "InversePropensities": "rankforce.objectives.position_bias",
    "JointRatios": "rankforce.objectives.position_bias",
    "search_weights": "rankforce.training.weight_search",
    "read_objective": "rankforce.objectives.objective_files",
    # rankers (a test holds that all of them are here)
    "Bagging": "rankforce.rankers.bagging",
    "LambdaMART": "rankforce.rankers.lambdamart",
    "LambdaRank": "rankforce.rankers.lambdarank",
    "MART": "rankforce.rankers.mart",
    "RankNet": "rankforce.rankers.ranknet",
    "SPSA": "rankforce.rankers.spsa",
    "PRank": "rankforce.rankers.prank",
    "XRank": "rankforce.rankers.xrank",
    # models
    "Model": "rankforce.models.model",
    "load": "rankforce.importing.recognising",
    # export
    "export_bundle": "rankforce.export.bundling",
    "export_model": "rankforce.export.exporting",
    "Exported": "rankforce.models.exported",
    "ExportedBundle": "rankforce.export.bundling",
    "ExportCheck": "rankforce.models.exported",
    # combining
    "combine": "rankforce.combining.combine",
    "Combined": "rankforce.combining.combined",
    # evaluation
    "evaluate": "rankforce.evaluation.evaluate",
    "compare": "rankforce.evaluation.compare",
    "Evaluation": "rankforce.evaluation.result",
    "Comparison": "rankforce.evaluation.comparison",
    "Leaderboard": "rankforce.evaluation.leaderboard",
    "off_policy": "rankforce.evaluation.off_policy",
    "OffPolicyEvaluation": "rankforce.evaluation.off_policy_result",
    # forces
    "forces_at": "rankforce.diagnostics.document_forces",
    # learning
    "cross_validate": "rankforce.tuning.cross_validation",
    "CrossValidation": "rankforce.tuning.cross_validation",
    "tune": "rankforce.tuning.tune",
    "Tuning": "rankforce.tuning.tuning_result",
    # inspection
    "inspect": "rankforce.inspection.inspection",
    "Inspection": "rankforce.inspection.inspection",
    "model_card": "rankforce.inspection.model_card",
    "ModelCard": "rankforce.inspection.model_card",
    # explaining
    "explain": "rankforce.explaining.explain",
    "importance": "rankforce.explaining.importance",
    "Contributions": "rankforce.explaining.contributions",
    "DocumentExplanation": "rankforce.explaining.document_explanation",
    "PairExplanation": "rankforce.explaining.pair_explanation",
    "FeatureImportance": "rankforce.explaining.feature_importance",
    "report": "rankforce.reporting.report",
    "Report": "rankforce.reporting.report",
    "drift": "rankforce.drifting.drift",
    "Drift": "rankforce.drifting.drift_result",
    # errors
    "RankforceError": "rankforce.errors",
    "DataError": "rankforce.errors",
    "FileFormatError": "rankforce.errors",
    "MeasureError": "rankforce.errors",
    "SettingsError": "rankforce.errors",
    "ModelFileError": "rankforce.errors",
    "NotFittedError": "rankforce.errors",
    "ClusterError": "rankforce.errors",
    "MissingDependencyError": "rankforce.errors",
    # warnings
    "RankforceWarning": "rankforce.errors",
    "TrainingWarning": "rankforce.training.monitoring",
    "MigrationWarning": "rankforce.migration.translation",
}

# What is public beside these names, each with names of its own.
SUBPACKAGES = ("click_models", "diagnostics", "lambdas", "optimising", "plot", "schedules")

# Names that were public here once, and where they are now.
_MOVED = {
    "Cost": "rf.lambdas.PairwiseLambdaFunction",
    "ListwiseCost": "rf.lambdas.ListwiseLambdaFunction",
    "cost": "rf.lambdas.lambda_function",
} | {
    name: f"rf.{subpackage}.{name}"
    for subpackage, names in {
        "lambdas": "DiscreteBounded FiniteDifference LocalCost LocalGradient NearPairs RankNetCost RankNetWeightPairs "
        "SigmoidCost Spring SpringSmooth Step value_if_moved change_if_swapped centre",
        "schedules": "Exponential Linear",
        "diagnostics": "ForceAgreement ContributionsByGrade GradesInTop RankChanges check_forces effective_pairs "
        "local_optimality smoothness",
        "optimising": "spsa finite_differences",
    }.items()
    for name in names.split()
}

__all__ = ["__version__", *SUBPACKAGES, *_HOME]  # measures, found by their files, are public, too


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in SUBPACKAGES:
        value = importlib.import_module(f"rankforce.{name}")
    else:
        value = _measure_classes().get(name) if name[0].isupper() else None
    if value is None:
        moved = f": rf.{name} is {_MOVED[name]}" if name in _MOVED else ""
        raise AttributeError(f"module 'rankforce' has no attribute {name!r}{moved}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_measure_classes()})


def _measure_classes() -> Mapping[str, type]:
    from rankforce.measures.catalogue import measure_classes

    return measure_classes()
