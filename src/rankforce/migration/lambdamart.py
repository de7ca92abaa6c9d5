"""LambdaMART's settings from the parameters of LightGBM and XGBoost."""

from __future__ import annotations

from typing import Any

from rankforce.errors import SettingsError
from rankforce.lambdas.near_pairs import NearPairs
from rankforce.lambdas.ranknet import RankNetCost
from rankforce.lambdas.ranknet_weight_pairs import RankNetWeightPairs
from rankforce.measures.average_precision import MAP
from rankforce.measures.ndcg import NDCG
from rankforce.migration.migration import (
    lightgbm_trees,
    watched_by_lightgbm,
    watched_by_xgboost,
    xgboost_trees,
)
from rankforce.migration.translation import Translation, numbers, truth


def from_lightgbm(params: Translation) -> dict[str, Any]:
    """For ``objective="lambdarank"``."""
    params.refuse_unless("objective", ("lambdarank",), "only lambdarank is LambdaMART (regression: the ranker MART)")
    sigma = params.take("sigmoid", 1.0, float)
    normalised = params.take("lambdarank_norm", True, truth)
    table = params.take("label_gain", None, numbers)
    gain: Any = "exponential" if table is None else tuple(table)
    step = params.take("max_delta_step", 0.0, float)
    return lightgbm_trees(params) | {
        "measure": NDCG(gain=gain),
        "sigma": sigma,
        **({"max_step": step * sigma} if step > 0 else {}),
        # LightGBM divides by 0.01 + |gap|, whatever its σ
        "lambda_function": NearPairs(sigma=sigma, margin=0.01 * sigma)
        if normalised
        else RankNetWeightPairs(sigma=sigma),
        "normalise": "log" if normalised else "none",
        "pairs": ("top", params.take("lambdarank_truncation_level", 30, int)),
        "validation_measure": watched_by_lightgbm(params, gain, "ndcg"),
    }


def from_xgboost(params: Translation) -> dict[str, Any]:
    """For ``rank:ndcg``, ``rank:map`` and ``rank:pairwise``."""
    objective = params.take("objective", "rank:ndcg")
    if objective not in ("rank:ndcg", "rank:map", "rank:pairwise"):
        raise SettingsError(
            f"XGBoost's objective={objective!r} cannot be taken over: rank:ndcg, rank:map and rank:pairwise can "
            "(regression and classes: the ranker MART)"
        )
    gain = "exponential" if params.take("ndcg_exp_gain", True, truth) else "linear"
    score_normalised = params.take("lambdarank_score_normalization", True, truth)
    normalised = params.take("lambdarank_normalization", True, truth)
    method = params.take("lambdarank_pair_method", "topk")
    if method not in ("topk", "mean"):
        raise SettingsError(f"XGBoost's lambdarank_pair_method cannot be {method!r}: topk or mean")
    count = params.take("lambdarank_num_pair_per_sample", 32 if method == "topk" else 1, int)
    if objective == "rank:pairwise":
        lambda_function: Any = RankNetCost(sigma=1.0)
    else:
        lambda_function = NearPairs(sigma=1.0) if score_normalised else RankNetWeightPairs(sigma=1.0)
    if params.take("lambdarank_unbiased", False, truth):
        params.note(
            "not taken over: lambdarank_unbiased=True; with positions in the data, its counterpart is "
            'objective=rf.Term("NDCG:clicks", bias=rf.JointRatios())'
        )
    watched = "map" if objective == "rank:map" else "ndcg"
    if method == "topk":  # XGBoost cuts what it watches where it cuts the pairs
        watched += f"@{count}"
    step = params.take("max_delta_step", 0.0, float)
    return xgboost_trees(params) | {
        "measure": MAP() if objective == "rank:map" else NDCG(gain=gain),
        **({"max_step": step} if step > 0 else {}),
        "lambda_function": lambda_function,
        "normalise": "log" if normalised else "none",
        "pairs": ("top" if method == "topk" else "sample", count),
        "validation_measure": watched_by_xgboost(params, gain, watched),
    }
