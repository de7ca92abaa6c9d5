"""Rankers from the parameters of LightGBM and XGBoost.

Names and values are translated, defaults too: what a parameter set leaves out is what that library would take. What has
no counterpart is named in a warning (or, with ``strict=True``, an error); what would make another method of it is
always an error. docs/migration.md has the table.

Here is what all trees share; ``lambdamart_migration`` and ``mart_migration`` have the rest.
"""

from __future__ import annotations

import abc
import ast
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from rankforce.errors import SettingsError
from rankforce.measures.average_precision import MAP
from rankforce.measures.measure import Measure
from rankforce.measures.ndcg import NDCG

Kind = TypeVar("Kind", bound="FromOtherLibraries")


class MigrationWarning(UserWarning):
    """A parameter of another library could not be taken over as it is."""


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
    "num_class": ("num_classes",),
    "is_unbalance": ("unbalance", "unbalanced_sets"),
    "scale_pos_weight": (),
    "boost_from_average": (),
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
    "num_class": (),
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


class Translation:
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

    def settings(self, translate: Callable[[Translation], dict[str, Any]]) -> dict[str, Any]:
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
            warnings.warn(f"from {self.library}: {'; '.join(self.notes)}", MigrationWarning, stacklevel=3)
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
        params.note(f"metric={unknown[0]!r} is not watched: see rf.evaluate")
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
        params.note(f"eval_metric={given[-1]!r} is not watched: see rf.evaluate")
    return None


def truth(value: Any) -> bool:
    if isinstance(value, str):
        return {"true": True, "1": True, "+": True, "false": False, "0": False, "-": False}[value.lower()]
    return bool(value)


def _parts(value: Any) -> list[Any]:
    """A list, or one value, or text with commas."""
    if isinstance(value, str):
        value = [part.strip() for part in value.strip("()[] ").split(",")]
    return list(value) if isinstance(value, (list, tuple)) or hasattr(value, "tolist") else [value]


def names(value: Any) -> list[str]:
    return [str(one) for one in _parts(value)]


def numbers(value: Any) -> list[float]:
    return [float(one) for one in _parts(value)]


def whole_numbers(value: Any) -> list[int]:
    return [int(one) for one in _parts(value)]


def directions(value: Any) -> Any:
    """One direction per feature, or a mapping of feature to direction; None if none is constrained."""
    if isinstance(value, str) and value.strip().startswith("{"):
        value = ast.literal_eval(value.strip())
    if isinstance(value, Mapping):
        return {name: int(direction) for name, direction in value.items()} or None
    given = whole_numbers(value)
    return given if any(given) else None
