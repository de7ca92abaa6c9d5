"""Rankers from the parameters of LightGBM and XGBoost.

Names and values are translated, defaults too: what a parameter set leaves out is what that library would take. What has
no counterpart is named in a warning (or, with ``strict=True``, an error); what would make another method of it is
always an error. docs/migration.md has the table.

Here is what all trees share; ``lambdamart_migration`` and ``mart_migration`` have the rest.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any, TypeVar

from rankforce.errors import SettingsError
from rankforce.measures.average_precision import MAP
from rankforce.measures.measure import Measure
from rankforce.measures.ndcg import NDCG
from rankforce.migration.translation import (
    LIGHTGBM_ALIASES,
    XGBOOST_ALIASES,
    Translation,
    directions,
    names,
    whole_numbers,
)

Kind = TypeVar("Kind", bound="FromOtherLibraries")


class FromOtherLibraries(abc.ABC):
    """Constructors from other libraries' parameters; a subclass translates them."""

    @classmethod
    def from_lightgbm(cls: type[Kind], params: Mapping[str, Any], *, strict: bool = False, **settings: Any) -> Kind:
        """The ranker that LightGBM's parameters describe: ``lambdarank`` for LambdaMART; ``regression``, ``binary`` and
        ``multiclass`` for MART.

        ``params`` are those of ``lightgbm.train`` or of its estimators, by any of their aliases. ``settings`` are
        settings of this ranker that take precedence. With ``strict`` a parameter without counterpart is an error.
        """
        translated = Translation("LightGBM", LIGHTGBM_ALIASES, params, strict).settings(cls._lightgbm_settings)
        return cls(**(translated | settings))

    @classmethod
    def from_xgboost(cls: type[Kind], params: Mapping[str, Any], *, strict: bool = False, **settings: Any) -> Kind:
        """The ranker that XGBoost's parameters describe: ``rank:ndcg``, ``rank:map`` and ``rank:pairwise`` for
        LambdaMART; ``reg:squarederror``, ``binary:logistic`` and ``multi:softprob`` for MART.

        ``params`` are those of ``xgboost.train`` or of its estimators; the rest as in ``from_lightgbm``.
        """
        translated = Translation("XGBoost", XGBOOST_ALIASES, params, strict).settings(cls._xgboost_settings)
        return cls(**(translated | settings))

    @staticmethod
    @abc.abstractmethod
    def _lightgbm_settings(params: Translation) -> dict[str, Any]:
        """Settings of the ranker, taken from LightGBM's parameters."""

    @staticmethod
    @abc.abstractmethod
    def _xgboost_settings(params: Translation) -> dict[str, Any]:
        """Settings of the ranker, taken from XGBoost's parameters."""


def lightgbm_trees(params: Translation) -> dict[str, Any]:
    """What boosted trees have in common, from LightGBM's parameters."""
    params.refuse_unless("boosting", ("gbdt", "gbrt"), "only boosting='gbdt' has a counterpart")
    params.refuse_unless("data_sample_strategy", ("bagging",), "only data_sample_strategy='bagging' has a counterpart")
    fraction = params.take("bagging_fraction", 1.0, float)
    if params.take("bagging_freq", 0, int) == 0 and fraction < 1.0:
        params.note(f"bagging_fraction={fraction:g} does nothing in LightGBM without bagging_freq: left out")
        fraction = 1.0
    params.neutral("bagging_by_query", True, *([False] if fraction == 1.0 else []))
    for name, *values in (
        ("min_sum_hessian_in_leaf", 0, 1e-3),
        ("lambda_l1", 0),
        ("feature_fraction_bynode", 1),
        ("extra_trees", False),
        ("linear_tree", False),
        ("path_smooth", 0),
        ("categorical_feature", "", "auto", []),
        ("bin_construct_sample_cnt", 200_000),
        ("importance_type", "split"),
    ):
        params.neutral(str(name), *values)
    depth = params.take("max_depth", -1, int)
    return {
        "n_trees": params.take("num_iterations", 100, int),
        "n_leaves": params.take("num_leaves", 31, int),
        "growth": "leafwise",
        "learning_rate": params.take("learning_rate", 0.1, float),
        "min_documents": max(1, params.take("min_data_in_leaf", 20, int)),
        "l2": params.take("lambda_l2", 0.0, float),
        "min_gain": params.take("min_gain_to_split", 0.0, float),
        "max_depth": depth if depth > 0 else None,
        "max_bins": params.bins("max_bin", 255),
        "feature_fraction": params.take("feature_fraction", 1.0, float),
        "query_fraction": params.query_fraction("bagging_fraction", fraction),
        "monotone": params.take("monotone_constraints", None, directions),
        "early_stopping": params.take("early_stopping_round", 0, int) or None,
        "seed": params.take("seed", 0, int),
        "threads": params.threads("num_threads"),
        "progress": params.take("verbosity", 1, int) >= 0,
    }


def xgboost_trees(params: Translation) -> dict[str, Any]:
    """What boosted trees have in common, from XGBoost's parameters."""
    params.refuse_unless("booster", ("gbtree",), "only booster='gbtree' has a counterpart")
    for name, *values in (
        ("alpha", 0),
        ("min_child_weight", 0),
        ("colsample_bylevel", 1),
        ("colsample_bynode", 1),
        ("sampling_method", "uniform"),
        ("scale_pos_weight", 1),
        ("num_parallel_tree", 1),
        ("enable_categorical", False),
        ("grow_policy", "depthwise", "lossguide"),
    ):
        params.neutral(str(name), *values)
    if "missing" in params.given and params.given["missing"] != params.given["missing"]:
        del params.given["missing"]  # NaN, as here
    if params.given.get("tree_method") in ("exact", "approx"):
        params.note(f"tree_method={params.given.pop('tree_method')!r} becomes histograms of at most 255 bins")
    depth, leaves = params.take("max_depth", 6, int), params.take("max_leaves", 0, int)
    if depth <= 0 and leaves <= 0:
        raise SettingsError("XGBoost's max_depth=0 without max_leaves: trees need a limit here, give max_leaves")
    return {
        "n_trees": params.take("num_boost_round", 100, int),
        "n_leaves": leaves if leaves > 0 else 2 ** min(depth, 16),
        "growth": "leafwise",
        "learning_rate": params.take("eta", 0.3, float),
        "min_documents": 1,
        "l2": params.take("lambda", 1.0, float),
        "min_gain": 2.0 * params.take("gamma", 0.0, float),  # XGBoost halves the gain
        "max_depth": depth if depth > 0 else None,
        "max_bins": params.bins("max_bin", 256),
        "feature_fraction": params.take("colsample_bytree", 1.0, float),
        "query_fraction": params.query_fraction("subsample", params.take("subsample", 1.0, float)),
        "monotone": params.take("monotone_constraints", None, directions),
        "early_stopping": params.take("early_stopping_rounds", 0, int) or None,
        "seed": params.take("seed", 0, int),
        "threads": params.threads("nthread"),
        "progress": params.take("verbosity", 1, int) > 0,
    }


def watched_by_lightgbm(params: Translation, gain: Any, default: str = "") -> Measure | None:
    """The ranking measure that LightGBM's metric names; ``default``: what it watches where none is named."""
    cuts = params.take("eval_at", [], whole_numbers)
    given = [name or default for name in params.take("metric", [default], names)]
    known = {"ndcg": "ndcg", "lambdarank": "ndcg", "map": "map", "mean_average_precision": "map"}
    unknown = [name for name in given if name and name not in known]
    if unknown:
        params.note(f"metric={unknown[0]!r} is not watched: evaluate by it afterwards")
    watched = [known[name] for name in given if name in known] or ([default] if default else [])
    if not watched:
        return None
    cut = cuts[0] if cuts else 5
    if len(cuts) > 1 or len(watched) > 1:
        params.note(f"only the first of several measures is watched: {watched[0]}@{cut}")
    return NDCG(cut, gain=gain) if watched[0] == "ndcg" else MAP(cut)


def watched_by_xgboost(params: Translation, gain: Any, default: str = "") -> Measure | None:
    """The ranking measure that XGBoost's eval_metric names; ``default``: what it watches where none is named."""
    given = params.take("eval_metric", [default], names)
    name, _, cut = given[-1].removesuffix("-").partition("@")
    if len(given) > 1:
        params.note(f"only the last of several measures is watched, as XGBoost's early stopping does: {given[-1]}")
    cutoff = int(cut) if cut.isdecimal() else None
    if name == "ndcg":
        return NDCG(cutoff, gain=gain)
    if name == "map":
        return MAP(cutoff)
    if name:
        params.note(f"eval_metric={given[-1]!r} is not watched: evaluate by it afterwards")
    return None
