"""Parameters of another library, taken one by one; what is left over is reported."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from rankforce import text_values
from rankforce.errors import RankforceWarning, SettingsError
from rankforce.migration.parameter_names import slip


class MigrationWarning(RankforceWarning):
    """A parameter of another library could not be taken over as it is."""


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
        self._names = frozenset(main)
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
        slips = {name: slip(self.library, self.spelled[name], self._names) for name in self.given}
        for told in filter(None, slips.values()):
            self.note(f"{told}: not taken over")
        unknown = [f"{self.spelled[name]}={value!r}" for name, value in self.given.items() if slips[name] is None]
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
        value = text_values.python_value(value)
    if isinstance(value, Mapping):
        return {name: int(direction) for name, direction in value.items()} or None
    given = whole_numbers(value)
    return given if any(given) else None
