"""LambdaMART from the parameters of LightGBM and XGBoost.

Names and values are translated, defaults too: what a parameter set leaves out is what that library would take. What has
no counterpart is named in a warning (or, with ``strict=True``, an error); what would make another method of it is
always an error. docs/migration.md has the table.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from rankforce.errors import SettingsError
from rankforce.lambdas.near_pairs import NearPairs
from rankforce.lambdas.ranknet import RankNetCost
from rankforce.lambdas.ranknet_weight_pairs import RankNetWeightPairs
from rankforce.measures.average_precision import MAP
from rankforce.measures.measure import Measure
from rankforce.measures.ndcg import NDCG

Kind = TypeVar("Kind", bound="FromOtherLibraries")


class MigrationWarning(UserWarning):
    """A parameter of another library could not be taken over as it is."""


class FromOtherLibraries:
    """Constructors from other libraries' parameters."""

    @classmethod
    def from_lightgbm(cls: type[Kind], params: Mapping[str, Any], *, strict: bool = False, **settings: Any) -> Kind:
        """The ranker that LightGBM's parameters describe, for ``objective="lambdarank"``.

        ``params`` are those of ``lightgbm.train`` or of ``LGBMRanker``, by any of their aliases. ``settings`` are
        settings of this ranker that take precedence. With ``strict`` a parameter without counterpart is an error.
        """
        return cls(**(_Translation("LightGBM", LIGHTGBM_ALIASES, params, strict).settings(_from_lightgbm) | settings))

    @classmethod
    def from_xgboost(cls: type[Kind], params: Mapping[str, Any], *, strict: bool = False, **settings: Any) -> Kind:
        """The ranker that XGBoost's parameters describe, for ``rank:ndcg``, ``rank:map`` and ``rank:pairwise``.

        ``params`` are those of ``xgboost.train`` or of ``XGBRanker``; the rest as in ``from_lightgbm``.
        """
        return cls(**(_Translation("XGBoost", XGBOOST_ALIASES, params, strict).settings(_from_xgboost) | settings))


LIGHTGBM_ALIASES: dict[str, tuple[str, ...]] = {
    "objective": ("objective_type", "app", "application", "loss"),
    "boosting": ("boosting_type", "boost"),
    "data_sample_strategy": (),
    "num_iterations": (
        *("num_iteration", "n_iter", "num_tree", "num_trees", "num_round", "num_rounds", "nrounds"),
        *("num_boost_round", "n_estimators", "max_iter"),
    ),
    "learning_rate": ("shrinkage_rate", "eta"),
    "num_leaves": ("num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes"),
    "max_depth": (),
    "min_data_in_leaf": ("min_data_per_leaf", "min_data", "min_child_samples", "min_samples_leaf"),
    "min_sum_hessian_in_leaf": ("min_sum_hessian_per_leaf", "min_sum_hessian", "min_hessian", "min_child_weight"),
    "lambda_l1": ("reg_alpha", "l1_regularization"),
    "lambda_l2": ("reg_lambda", "lambda", "l2_regularization"),
    "min_gain_to_split": ("min_split_gain",),
    "max_delta_step": ("max_tree_output", "max_leaf_output"),
    "feature_fraction": ("sub_feature", "colsample_bytree"),
    "feature_fraction_bynode": ("sub_feature_bynode", "colsample_bynode"),
    "bagging_fraction": ("sub_row", "subsample", "bagging"),
    "bagging_freq": ("subsample_freq",),
    "bagging_by_query": (),
    "max_bin": ("max_bins",),
    "metric": ("metrics", "metric_types"),
    "eval_at": ("ndcg_eval_at", "ndcg_at", "map_eval_at", "map_at"),
    "label_gain": (),
    "lambdarank_truncation_level": ("max_position",),
    "lambdarank_norm": (),
    "sigmoid": (),
    "early_stopping_round": ("early_stopping_rounds", "early_stopping", "n_iter_no_change"),
    "monotone_constraints": ("mc", "monotone_constraint", "monotonic_cst"),
    "monotone_constraints_method": ("monotone_constraining_method", "mc_method"),
    "seed": ("random_seed", "random_state"),
    "num_threads": ("num_thread", "nthread", "nthreads", "n_jobs"),
    "verbosity": ("verbose",),
    "extra_trees": ("extra_tree",),
    "linear_tree": ("linear_trees",),
    "path_smooth": (),
    "cat_smooth": (),
    "categorical_feature": ("cat_feature", "categorical_column", "cat_column", "categorical_features"),
    "interaction_constraints": (),
    "device_type": ("device",),
    "deterministic": (),
    "force_row_wise": (),
    "force_col_wise": (),
    "is_provide_training_metric": ("training_metric", "is_training_metric", "train_metric"),
    "first_metric_only": (),
    "metric_freq": ("output_freq",),
    "histogram_pool_size": ("hist_pool_size",),
    "importance_type": (),
    "feature_pre_filter": (),
    "use_quantized_grad": (),
    "bin_construct_sample_cnt": ("subsample_for_bin",),
}

XGBOOST_ALIASES: dict[str, tuple[str, ...]] = {
    "objective": (),
    "booster": (),
    "num_boost_round": ("n_estimators", "num_round"),
    "eta": ("learning_rate",),
    "max_depth": (),
    "max_leaves": (),
    "grow_policy": (),
    "min_child_weight": (),
    "gamma": ("min_split_loss",),
    "lambda": ("reg_lambda",),
    "alpha": ("reg_alpha",),
    "max_delta_step": (),
    "subsample": (),
    "sampling_method": (),
    "colsample_bytree": (),
    "colsample_bylevel": (),
    "colsample_bynode": (),
    "max_bin": (),
    "eval_metric": (),
    "early_stopping_rounds": (),
    "monotone_constraints": (),
    "interaction_constraints": (),
    "lambdarank_pair_method": (),
    "lambdarank_num_pair_per_sample": (),
    "lambdarank_normalization": (),
    "lambdarank_score_normalization": (),
    "lambdarank_unbiased": (),
    "lambdarank_bias_norm": (),
    "ndcg_exp_gain": (),
    "base_score": (),
    "scale_pos_weight": (),
    "num_parallel_tree": (),
    "seed": ("random_state",),
    "nthread": ("n_jobs",),
    "verbosity": ("verbose", "silent"),
    "tree_method": (),
    "device": ("gpu_id", "predictor"),
    "validate_parameters": (),
    "disable_default_eval_metric": (),
    "importance_type": (),
    "missing": (),
    "enable_categorical": (),
    "feature_types": (),
    "seed_per_iteration": (),
}

# Parameters that decide speed or what is printed: left out without loss, but not without a word.
_WITHOUT_EFFECT = {
    "LightGBM": (
        *("device_type", "deterministic", "force_row_wise", "force_col_wise", "is_provide_training_metric"),
        *("first_metric_only", "metric_freq", "histogram_pool_size", "importance_type", "feature_pre_filter"),
        *("use_quantized_grad", "monotone_constraints_method"),
    ),
    "XGBoost": (
        *("tree_method", "device", "validate_parameters", "disable_default_eval_metric", "importance_type"),
        *("base_score", "seed_per_iteration"),
    ),
}


class _Translation:
    """Parameters under their main names, taken one after the other; what is left over at the end is reported."""

    def __init__(
        self, library: str, aliases: Mapping[str, tuple[str, ...]], params: Mapping[str, Any], strict: bool
    ) -> None:
        if not isinstance(params, Mapping):
            raise SettingsError(f"{library}'s parameters are a mapping of name to value, not {params!r}")
        self.library = library
        self.strict = strict
        self.notes: list[str] = []
        self.spelled: dict[str, str] = {}
        self.given: dict[str, Any] = {}
        main = {alias: name for name, others in aliases.items() for alias in (name, *others)}
        for spelling, value in params.items():
            if value is None:
                continue  # "not set", as the estimators of both libraries have it
            name = main.get(spelling, spelling)
            if name in self.given and self.given[name] != value:
                raise SettingsError(
                    f"{library}'s {spelling} and {self.spelled[name]} are the same parameter with two values: "
                    f"{value!r} and {self.given[name]!r}"
                )
            self.given[name] = value
            self.spelled[name] = spelling

    def settings(self, translate: Callable[[_Translation], dict[str, Any]]) -> dict[str, Any]:
        """The settings, after saying what could not be taken over."""
        settings = translate(self)
        idle = [self.spelled[name] for name in _WITHOUT_EFFECT[self.library] if name in self.given]
        for name in _WITHOUT_EFFECT[self.library]:
            self.given.pop(name, None)
        unknown = [f"{self.spelled[name]}={value!r}" for name, value in self.given.items()]
        if unknown:
            self.note(f"without counterpart, not taken over: {', '.join(unknown)}")
        if self.notes and self.strict:
            raise SettingsError(f"{self.library}'s parameters cannot be taken over exactly: {'; '.join(self.notes)}")
        if idle:
            self.note(f"without effect on the model, left out: {', '.join(idle)}")
        if self.notes:
            warnings.warn(f"from {self.library}: {'; '.join(self.notes)}", MigrationWarning, stacklevel=4)
        return settings

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)

    def take(self, name: str, default: Any, read: Callable[[Any], Any] = lambda value: value) -> Any:
        """The value of a parameter (or the library's default), read as what it should be."""
        if name not in self.given:
            return default
        value = self.given.pop(name)
        try:
            return read(value)
        except (TypeError, ValueError, KeyError, SyntaxError):
            raise SettingsError(f"{self.library}'s {self.spelled[name]} cannot be {value!r}") from None

    def neutral(self, name: str, *values: Any) -> None:
        """Drop a parameter that has no counterpart where it has the value at which it does nothing."""
        if name in self.given and self.given[name] in values:
            del self.given[name]

    def refuse_unless(self, name: str, values: tuple[Any, ...], remedy: str) -> None:
        """Another value than these would make another method of it."""
        value = self.take(name, values[0])
        if value not in values:
            raise SettingsError(f"{self.library}'s {self.spelled[name]}={value!r} cannot be taken over: {remedy}")

    def bins(self, name: str, default: int) -> int:
        bins = self.take(name, default, int)
        if bins > 255 and name in self.spelled and bins != default:
            self.note(f"{name}={bins} becomes max_bins=255, the most there are here")
        return min(bins, 255)

    def threads(self, name: str) -> int | None:
        threads = self.take(name, 0, int)
        return threads if threads > 0 else None

    def query_fraction(self, name: str, fraction: float) -> float:
        if fraction < 1.0:
            self.note(
                f"{self.spelled[name]}={fraction:g} becomes query_fraction={fraction:g}: whole queries are drawn for "
                "each tree, not documents"
            )
        return fraction


def _from_lightgbm(params: _Translation) -> dict[str, Any]:
    params.refuse_unless("objective", ("lambdarank",), "only lambdarank is LambdaMART (for regression see rf.MART)")
    params.refuse_unless("boosting", ("gbdt", "gbrt"), "only boosting='gbdt' has a counterpart")
    params.refuse_unless("data_sample_strategy", ("bagging",), "only data_sample_strategy='bagging' has a counterpart")
    sigma = params.take("sigmoid", 1.0, float)
    normalised = params.take("lambdarank_norm", True, _truth)
    table = params.take("label_gain", None, _numbers)
    gain: Any = "exponential" if table is None else tuple(table)
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
    step = params.take("max_delta_step", 0.0, float)
    return {
        "measure": NDCG(gain=gain),
        "n_trees": params.take("num_iterations", 100, int),
        "n_leaves": params.take("num_leaves", 31, int),
        "learning_rate": params.take("learning_rate", 0.1, float),
        "min_documents": max(1, params.take("min_data_in_leaf", 20, int)),
        "sigma": sigma,
        **({"max_step": step * sigma} if step > 0 else {}),
        "l2": params.take("lambda_l2", 0.0, float),
        "min_gain": params.take("min_gain_to_split", 0.0, float),
        "max_depth": depth if depth > 0 else None,
        "max_bins": params.bins("max_bin", 255),
        # LightGBM divides by 0.01 + |gap|, whatever its σ
        "cost": NearPairs(sigma=sigma, margin=0.01 * sigma) if normalised else RankNetWeightPairs(sigma=sigma),
        "normalise": "log" if normalised else "none",
        "pairs": ("top", params.take("lambdarank_truncation_level", 30, int)),
        "feature_fraction": params.take("feature_fraction", 1.0, float),
        "query_fraction": params.query_fraction("bagging_fraction", fraction),
        "monotone": params.take("monotone_constraints", None, _directions),
        "early_stopping": params.take("early_stopping_round", 0, int) or None,
        "validation_measure": _watched_by_lightgbm(params, gain),
        "seed": params.take("seed", 0, int),
        "threads": params.threads("num_threads"),
        "progress": params.take("verbosity", 1, int) >= 0,
    }


def _watched_by_lightgbm(params: _Translation, gain: Any) -> Measure | None:
    cuts = params.take("eval_at", [], _whole_numbers)
    names = params.take("metric", ["ndcg"], _names)
    known = {"ndcg": "ndcg", "lambdarank": "ndcg", "map": "map", "mean_average_precision": "map", "": "ndcg"}
    unknown = [name for name in names if name not in known]
    if unknown:
        params.note(f"metric={unknown[0]!r} is not watched: see rf.evaluate")
        names = [name for name in names if name in known] or ["ndcg"]
    if len(cuts) > 1 or len(names) > 1:
        params.note(f"only the first of several measures is watched: {names[0]}@{cuts[0] if cuts else 5}")
    cut = cuts[0] if cuts else 5
    return NDCG(cut, gain=gain) if known[names[0]] == "ndcg" else MAP(cut)


def _from_xgboost(params: _Translation) -> dict[str, Any]:
    objective = params.take("objective", "rank:ndcg")
    if objective not in ("rank:ndcg", "rank:map", "rank:pairwise"):
        raise SettingsError(
            f"XGBoost's objective={objective!r} cannot be taken over: rank:ndcg, rank:map and rank:pairwise can"
        )
    params.refuse_unless("booster", ("gbtree",), "only booster='gbtree' has a counterpart")
    gain = "exponential" if params.take("ndcg_exp_gain", True, _truth) else "linear"
    score_normalised = params.take("lambdarank_score_normalization", True, _truth)
    normalised = params.take("lambdarank_normalization", True, _truth)
    method = params.take("lambdarank_pair_method", "topk")
    if method not in ("topk", "mean"):
        raise SettingsError(f"XGBoost's lambdarank_pair_method cannot be {method!r}: topk or mean")
    count = params.take("lambdarank_num_pair_per_sample", 32 if method == "topk" else 1, int)
    if objective == "rank:pairwise":
        cost: Any = RankNetCost(sigma=1.0)
    else:
        cost = NearPairs(sigma=1.0) if score_normalised else RankNetWeightPairs(sigma=1.0)
    for name, *values in (
        ("alpha", 0),
        ("min_child_weight", 0),
        ("colsample_bylevel", 1),
        ("colsample_bynode", 1),
        ("sampling_method", "uniform"),
        ("lambdarank_unbiased", False),
        ("scale_pos_weight", 1),
        ("num_parallel_tree", 1),
        ("enable_categorical", False),
        ("grow_policy", "depthwise", "lossguide"),
    ):
        params.neutral(str(name), *values)
    if "missing" in params.given and params.given["missing"] != params.given["missing"]:
        del params.given["missing"]  # NaN, as here
    depth, leaves = params.take("max_depth", 6, int), params.take("max_leaves", 0, int)
    if depth <= 0 and leaves <= 0:
        raise SettingsError("XGBoost's max_depth=0 without max_leaves: trees need a limit here, give max_leaves")
    step = params.take("max_delta_step", 0.0, float)
    return {
        "measure": MAP() if objective == "rank:map" else NDCG(gain=gain),
        "n_trees": params.take("num_boost_round", 100, int),
        "n_leaves": leaves if leaves > 0 else 2 ** min(depth, 16),
        "learning_rate": params.take("eta", 0.3, float),
        "min_documents": 1,
        **({"max_step": step} if step > 0 else {}),
        "l2": params.take("lambda", 1.0, float),
        "min_gain": 2.0 * params.take("gamma", 0.0, float),  # XGBoost halves the gain
        "max_depth": depth if depth > 0 else None,
        "max_bins": params.bins("max_bin", 256),
        "cost": cost,
        "normalise": "log" if normalised else "none",
        "pairs": ("top" if method == "topk" else "sample", count),
        "feature_fraction": params.take("colsample_bytree", 1.0, float),
        "query_fraction": params.query_fraction("subsample", params.take("subsample", 1.0, float)),
        "monotone": params.take("monotone_constraints", None, _directions),
        "early_stopping": params.take("early_stopping_rounds", 0, int) or None,
        "validation_measure": _watched_by_xgboost(params, objective, gain),
        "seed": params.take("seed", 0, int),
        "threads": params.threads("nthread"),
        "progress": params.take("verbosity", 1, int) > 0,
    }


def _watched_by_xgboost(params: _Translation, objective: str, gain: Any) -> Measure | None:
    default = "map" if objective == "rank:map" else "ndcg"
    names = params.take("eval_metric", [default], _names)
    name, _, cut = names[-1].removesuffix("-").partition("@")
    if len(names) > 1:
        params.note(f"only the last of several measures is watched, as XGBoost's early stopping does: {names[-1]}")
    cutoff = int(cut) if cut.isdecimal() else None
    if name == "ndcg":
        return NDCG(cutoff, gain=gain)
    if name == "map":
        return MAP(cutoff)
    params.note(f"eval_metric={names[-1]!r} is not watched: see rf.evaluate")
    return None


def _truth(value: Any) -> bool:
    if isinstance(value, str):
        return {"true": True, "1": True, "+": True, "false": False, "0": False, "-": False}[value.lower()]
    return bool(value)


def _parts(value: Any) -> list[Any]:
    """A list, or one value, or text with commas."""
    if isinstance(value, str):
        value = [part.strip() for part in value.strip("()[] ").split(",")]
    return list(value) if isinstance(value, (list, tuple)) or hasattr(value, "tolist") else [value]


def _names(value: Any) -> list[str]:
    return [str(one) for one in _parts(value)]


def _numbers(value: Any) -> list[float]:
    return [float(one) for one in _parts(value)]


def _whole_numbers(value: Any) -> list[int]:
    return [int(one) for one in _parts(value)]


def _directions(value: Any) -> Any:
    """One direction per feature, or a mapping of feature to direction; None if none is constrained."""
    if isinstance(value, str) and value.strip().startswith("{"):
        value = ast.literal_eval(value.strip())
    if isinstance(value, Mapping):
        return {name: int(direction) for name, direction in value.items()} or None
    directions = _whole_numbers(value)
    return directions if any(directions) else None
