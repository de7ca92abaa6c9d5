"""MART's settings from the parameters of LightGBM and XGBoost: regression, two classes, several classes.

Both libraries split by Newton's gain. Their logistic functions have steepness s where MART's has 2σ.
"""

from __future__ import annotations

import math
from typing import Any

from rankforce.errors import SettingsError
from rankforce.migration.migration import (
    lightgbm_trees,
    watched_by_lightgbm,
    watched_by_xgboost,
    xgboost_trees,
)
from rankforce.migration.translation import Translation, truth

LIGHTGBM_COSTS = {
    **dict.fromkeys(("regression", "regression_l2", "l2", "mean_squared_error", "mse"), "regression"),
    **dict.fromkeys(("l2_root", "root_mean_squared_error", "rmse"), "regression"),
    "binary": "binary",
    **dict.fromkeys(("multiclass", "softmax"), "multiclass"),
}
XGBOOST_COSTS = {
    **dict.fromkeys(("reg:squarederror", "reg:linear"), "regression"),
    **dict.fromkeys(("binary:logistic", "binary:logitraw"), "binary"),
    **dict.fromkeys(("multi:softprob", "multi:softmax"), "multiclass"),
}


def from_lightgbm(params: Translation) -> dict[str, Any]:
    """For ``regression``, ``binary`` and ``multiclass``."""
    cost = _cost(
        params, LIGHTGBM_COSTS, "regression", "regression, binary and multiclass can; lambdarank: the ranker LambdaMART"
    )
    least_weight = params.take("min_sum_hessian_in_leaf", 1e-3, float) if cost == "regression" else 0.0
    steepness = params.take("sigmoid", 1.0, float) if cost == "binary" else 1.0
    if cost == "binary" and params.take("is_unbalance", False, truth):
        cost = "balanced"
    if not params.take("boost_from_average", True, truth):
        params.note("boost_from_average=False: scores start at the best constant here")
    for name, *values in (("scale_pos_weight", 1), ("is_unbalance", False), ("sigmoid", 1)):
        params.neutral(str(name), *values)
    trees = lightgbm_trees(params)
    trees["min_documents"] = max(trees["min_documents"], math.ceil(least_weight))
    return (
        trees | _classes(params, cost, steepness) | {"validation_measure": watched_by_lightgbm(params, "exponential")}
    )


def from_xgboost(params: Translation) -> dict[str, Any]:
    """For ``reg:squarederror``, ``binary:logistic`` and ``multi:softprob``."""
    able = "reg:squarederror, binary:logistic and multi:softprob can; rank:ndcg: the ranker LambdaMART"
    cost = _cost(params, XGBOOST_COSTS, "reg:squarederror", able)
    least_weight = params.take("min_child_weight", 1.0, float) if cost == "regression" else 0.0
    if params.take("base_score", None) is not None:
        params.note("base_score is left out: scores start at the best constant here")
    trees = xgboost_trees(params)
    trees["min_documents"] = max(trees["min_documents"], math.ceil(least_weight))
    return trees | _classes(params, cost, 1.0) | {"validation_measure": watched_by_xgboost(params, "exponential")}


def _cost(params: Translation, costs: dict[str, str], default: str, able: str) -> str:
    objective = params.take("objective", default)
    if objective not in costs:
        raise SettingsError(f"{params.library}'s objective={objective!r} cannot be taken over: {able}")
    return costs[objective]


def _classes(params: Translation, cost: str, steepness: float) -> dict[str, Any]:
    """What classification needs; the number of classes follows from the data."""
    if cost == "regression":  # steps are not bounded: what is not neutral is named
        params.neutral("max_delta_step", 0)
        params.neutral("num_class", 0, 1)
        return {"cost": cost}
    params.take("num_class", None, int)
    sigma = 1.0 if cost == "multiclass" else steepness / 2.0
    step = params.take("max_delta_step", 0.0, float)
    return {"cost": cost, "split": "newton", "sigma": sigma, **({"max_step": step * sigma} if step > 0 else {})}
