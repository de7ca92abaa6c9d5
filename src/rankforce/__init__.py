"""rankforce: learning to rank for the measure you report.

Public names are loaded on first use, so that ``import rankforce`` imports neither Numba nor scikit-learn.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    # data
    "Dataset": "rankforce.data.dataset",
    "read": "rankforce.data.files",
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
    "ClickLabels": "rankforce.data.clicks.rates",
    "make_artificial": "rankforce.data.artificial.artificial",
    "make_web_like": "rankforce.data.artificial.web_like",
    "confuse_labels": "rankforce.data.noise",
    "confusion_from_repeats": "rankforce.data.noise",
    # measures
    "Measure": "rankforce.measures.measure",
    "BinaryMeasure": "rankforce.measures.measure",
    "measure": "rankforce.measures.catalogue",
    # λ-functions
    "Cost": "rankforce.lambdas.cost",
    "ListwiseCost": "rankforce.lambdas.listwise",
    "cost": "rankforce.lambdas.catalogue",
    "value_if_moved": "rankforce.kernels.forces.listwise_forces",
    "change_if_swapped": "rankforce.kernels.forces.listwise_forces",
    "centre": "rankforce.kernels.forces.listwise_forces",
    # objectives
    "Exponential": "rankforce.objectives.schedules",
    "Graded": "rankforce.objectives.graded",
    "Linear": "rankforce.objectives.schedules",
    "Scheduled": "rankforce.objectives.scheduled",
    "Term": "rankforce.objectives.objective",
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
    "load": "rankforce.models.storage",
    # combining
    "combine": "rankforce.combining.combine",
    # evaluation
    "evaluate": "rankforce.evaluation.evaluate",
    "compare": "rankforce.evaluation.compare",
    "Evaluation": "rankforce.evaluation.result",
    "Comparison": "rankforce.evaluation.compare",
    # learning
    "cross_validate": "rankforce.tuning.cross_validation",
    "tune": "rankforce.tuning.tune",
    "spsa": "rankforce.optimising.spsa",
    "finite_differences": "rankforce.optimising.finite_differences",
    # diagnostics
    "inspect": "rankforce.inspection.inspection",
    "ForceAgreement": "rankforce.diagnostics.instruments",
    "ContributionsByGrade": "rankforce.diagnostics.instruments",
    "GradesInTop": "rankforce.diagnostics.instruments",
    "RankChanges": "rankforce.diagnostics.instruments",
    "model_card": "rankforce.inspection.model_card",
    "check_forces": "rankforce.diagnostics.force_check",
    "effective_pairs": "rankforce.diagnostics.effective_pairs",
    "local_optimality": "rankforce.diagnostics.local_optimality",
    "smoothness": "rankforce.diagnostics.smoothness",
    # errors
    "RankforceError": "rankforce.errors",
    "DataError": "rankforce.errors",
    "FileFormatError": "rankforce.errors",
    "MeasureError": "rankforce.errors",
    "SettingsError": "rankforce.errors",
    "ModelFileError": "rankforce.errors",
}


__all__ = ["__version__", *_HOME]  # measures and λ-functions, found by their files, are public, too


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name[0].isupper():  # every measure and every λ-function is a public name, found by its file
        from rankforce.lambdas.catalogue import cost_classes
        from rankforce.measures.catalogue import measure_classes

        value = measure_classes().get(name) or cost_classes().get(name)
    else:
        value = None
    if value is None:
        raise AttributeError(f"module 'rankforce' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    from rankforce.lambdas.catalogue import cost_classes
    from rankforce.measures.catalogue import measure_classes

    return sorted({*globals(), *_HOME, *measure_classes(), *cost_classes()})
