"""Keywords that there are not: what was meant, also in the words of other libraries."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from rankforce.errors import SettingsError, UnknownArgumentError
from rankforce.migration.translation import LIGHTGBM_ALIASES, XGBOOST_ALIASES

# Their names, and ours: of several the first that there is. Aliases are those of ``translation``.
_COUNTERPARTS: dict[str, tuple[str, ...]] = {
    "num_iterations": ("n_trees", "epochs", "n_steps", "n_models"),
    "iterations": ("n_trees", "epochs", "n_steps", "n_models"),
    "num_leaves": ("n_leaves",),
    "depth": ("max_depth",),
    "learning_rate": ("learning_rate",),
    "min_data_in_leaf": ("min_documents",),
    "lambda_l2": ("l2",),
    "l2_leaf_reg": ("l2",),
    "min_gain_to_split": ("min_gain",),
    "gamma": ("min_gain",),
    "max_delta_step": ("max_step",),
    "feature_fraction": ("feature_fraction",),
    "rsm": ("feature_fraction",),
    "bagging_fraction": ("query_fraction",),
    "max_bin": ("max_bins",),
    "border_count": ("max_bins",),
    "cat_smooth": ("category_smoothing",),
    "grow_policy": ("growth",),
    "objective": ("cost",),
    "loss_function": ("measure", "cost"),
    "cost": ("lambda_function",),  # of MART it is a setting
    "metric": ("validation_measure", "measure"),
    "eval_metric": ("validation_measure", "measure"),
    "custom_metric": ("validation_measure", "measure"),
    "eval_at": ("validation_measure", "measure"),
    "label_gain": ("measure",),  # NDCG(gain=...)
    "lambdarank_truncation_level": ("pairs",),
    "lambdarank_num_pair_per_sample": ("pairs",),
    "lambdarank_norm": ("normalise",),
    "lambdarank_normalization": ("normalise",),
    "lambdarank_pair_method": ("pairs",),
    "sigmoid": ("sigma",),
    "early_stopping_round": ("early_stopping",),
    "od_wait": ("early_stopping",),
    "monotone_constraints": ("monotone",),
    "seed": ("seed",),
    "num_threads": ("threads",),
    "thread_count": ("threads",),
    "verbosity": ("progress",),
    "silent": ("progress",),
    "init_model": ("base_model",),
    "xgb_model": ("base_model",),
    "hidden_layer_sizes": ("hidden",),
    "solver": ("optimiser",),
    "optimizer": ("optimiser",),
    "normalize": ("normalise",),
    "estimator": ("ranker",),
    "base_estimator": ("ranker",),
    # of fit
    "eval_set": ("validation",),
    "eval_group": ("validation",),
    "eval_qid": ("validation",),
    "valid_sets": ("validation",),
    "validation_data": ("validation",),
    "sample_weight": ("weights", "query_weights"),
    "weight": ("weights", "query_weights"),
    "group_weight": ("query_weights",),
    "group_id": ("qid",),
    "groups": ("qid", "group"),
    "query_id": ("qid",),
    "queries": ("qid",),
    "labels": ("y",),
    "target": ("y",),
    "snapshot_file": ("checkpoint",),
    "callback": ("callbacks",),
}
_OF_FIT = frozenset({"validation", "weights", "query_weights", "qid", "group", "callbacks", "checkpoint"})


def refuse_unknown(ranker: str, given: Iterable[str], known: Sequence[str], *, fitting: bool = False) -> None:
    """Raise if a keyword is none of those that a ranker's constructor (with ``fitting``: its ``fit``) knows."""
    for name in given:
        if name not in known:
            raise UnknownArgumentError(unknown_keyword(ranker, name, known, fitting=fitting))


def unknown_setting(ranker: str, name: str, known: Iterable[str]) -> SettingsError:
    """The error about a setting that a ranker does not have."""
    return SettingsError(unknown_keyword(ranker, name, list(known)))


def unknown_keyword(ranker: str, name: str, known: Sequence[str], *, fitting: bool = False) -> str:
    """The message about a keyword that there is not."""
    what = f"fit of {ranker} takes no {name!r}" if fitting else f"{ranker} has no setting {name!r}"
    return f"{what}{_hint(name, known, fitting)} It {'takes' if fitting else 'has'}: {', '.join(known)}"


def _hint(name: str, known: Sequence[str], fitting: bool) -> str:
    ours = _counterparts(name)
    here = [one for one in ours if one in known]
    if here:
        return f": that is {here[0]} here."
    if ours and not fitting and ours[0] in _OF_FIT:
        return f": give it to fit, as {ours[0]}=."
    if fitting and ours and ours[0] not in _OF_FIT:
        return f": it is a setting of rankers, {ours[0]}=, not of fit."
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else "."


def _counterparts(name: str) -> tuple[str, ...]:
    """Our names of what another library calls so."""
    name = name.lower()
    if name in _COUNTERPARTS:
        return _COUNTERPARTS[name]
    for aliases in (LIGHTGBM_ALIASES, XGBOOST_ALIASES):
        for theirs, others in aliases.items():
            if name in (theirs, *others) and theirs in _COUNTERPARTS:
                return _COUNTERPARTS[theirs]
    return ()
