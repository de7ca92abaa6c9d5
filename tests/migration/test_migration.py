"""Parameters of LightGBM and XGBoost: every name that people write, nothing dropped without a word."""

from __future__ import annotations

import numpy as np
import pytest

import rankforce as rf
from rankforce.lambdas.near_pairs import NearPairs
from rankforce.lambdas.ranknet import RankNetCost
from rankforce.lambdas.ranknet_weight_pairs import RankNetWeightPairs
from rankforce.migration.translation import LIGHTGBM_ALIASES, XGBOOST_ALIASES, MigrationWarning


def differing(one, two):
    return {name for name, value in one.get_params().items() if value != two.get_params()[name]}


def test_lightgbms_defaults():
    one = rf.LambdaMART.from_lightgbm({})
    assert (one.n_trees, one.n_leaves, one.learning_rate, one.min_documents) == (100, 31, 0.1, 20)
    assert one.pairs == ("top", 30)
    assert one.lambda_function == NearPairs(sigma=1.0, margin=0.01)
    assert one.normalise == "log"
    assert one.measure == rf.NDCG()
    assert one.validation_measure == rf.NDCG(5)


@pytest.mark.parametrize(
    ("params", "settings"),
    [
        ({"num_leaves": 7}, {"n_leaves": 7}),
        ({"max_leaves": 7}, {"n_leaves": 7}),
        ({"eta": 0.3}, {"learning_rate": 0.3}),
        ({"shrinkage_rate": 0.3}, {"learning_rate": 0.3}),
        ({"n_estimators": 50}, {"n_trees": 50}),
        ({"num_boost_round": 50}, {"n_trees": 50}),
        ({"min_child_samples": 3}, {"min_documents": 3}),
        ({"min_data_in_leaf": 0}, {"min_documents": 1}),
        ({"reg_lambda": 2}, {"l2": 2.0}),
        ({"lambda_l2": 2}, {"l2": 2.0}),
        ({"min_split_gain": 0.5}, {"min_gain": 0.5}),
        ({"max_depth": 4}, {"max_depth": 4}),
        ({"max_depth": -1}, {}),
        ({"colsample_bytree": 0.5}, {"feature_fraction": 0.5}),
        ({"max_bin": 63}, {"max_bins": 63}),
        ({"lambdarank_truncation_level": 10}, {"pairs": ("top", 10)}),
        ({"lambdarank_norm": False}, {"lambda_function": RankNetWeightPairs(sigma=1.0), "normalise": "none"}),
        ({"lambdarank_norm": "false"}, {"lambda_function": RankNetWeightPairs(sigma=1.0), "normalise": "none"}),
        ({"sigmoid": 2.0}, {"sigma": 2.0, "lambda_function": NearPairs(sigma=2.0, margin=0.02)}),
        (
            {"label_gain": [0, 1, 3]},
            {"measure": rf.NDCG(gain=(0, 1, 3)), "validation_measure": rf.NDCG(5, gain=(0, 1, 3))},
        ),
        (
            {"label_gain": "0,1,3"},
            {"measure": rf.NDCG(gain=(0, 1, 3)), "validation_measure": rf.NDCG(5, gain=(0, 1, 3))},
        ),
        ({"eval_at": 10}, {"validation_measure": rf.NDCG(10)}),
        ({"ndcg_eval_at": [3], "metric": "map"}, {"validation_measure": rf.MAP(3)}),
        ({"early_stopping_rounds": 9}, {"early_stopping": 9}),
        ({"early_stopping_round": 0}, {}),
        ({"monotone_constraints": [1, 0, -1]}, {"monotone": [1, 0, -1]}),
        ({"monotone_constraints": [0, 0]}, {}),
        ({"random_state": 4}, {"seed": 4}),
        ({"n_jobs": 2}, {"threads": 2}),
        ({"n_jobs": -1}, {}),
        ({"verbose": -1}, {"progress": False}),
        ({"objective": "lambdarank", "boosting_type": "gbdt", "reg_alpha": 0.0, "min_child_weight": 1e-3}, {}),
        ({"subsample": 1.0, "subsample_freq": 0, "class_weight": None}, {}),
    ],
    ids=lambda value: str(value)[:60],
)
def test_from_lightgbm(params, settings):
    one = rf.LambdaMART.from_lightgbm(params)  # a warning would be an error here
    default = rf.LambdaMART.from_lightgbm({})
    assert differing(one, default) == set(settings)
    for name, value in settings.items():
        assert getattr(one, name) == value


@pytest.mark.parametrize(
    ("params", "settings"),
    [
        ({"max_depth": 4}, {"max_depth": 4, "n_leaves": 16}),
        ({"max_leaves": 20}, {"n_leaves": 20}),
        ({"max_depth": 0, "max_leaves": 20, "grow_policy": "lossguide"}, {"max_depth": None, "n_leaves": 20}),
        ({"learning_rate": 0.1}, {"learning_rate": 0.1}),
        ({"n_estimators": 7}, {"n_trees": 7}),
        ({"reg_lambda": 3}, {"l2": 3.0}),
        ({"gamma": 0.5}, {"min_gain": 1.0}),
        ({"max_delta_step": 2}, {"max_step": 2.0}),
        ({"colsample_bytree": 0.5}, {"feature_fraction": 0.5}),
        ({"objective": "rank:map"}, {"measure": rf.MAP(), "validation_measure": rf.MAP(32)}),
        ({"objective": "rank:pairwise"}, {"lambda_function": RankNetCost(sigma=1.0)}),
        ({"lambdarank_score_normalization": False}, {"lambda_function": RankNetWeightPairs(sigma=1.0)}),
        ({"lambdarank_normalization": False}, {"normalise": "none"}),
        ({"lambdarank_pair_method": "mean"}, {"pairs": ("sample", 1), "validation_measure": rf.NDCG()}),
        ({"lambdarank_num_pair_per_sample": 8}, {"pairs": ("top", 8), "validation_measure": rf.NDCG(8)}),
        (
            {"ndcg_exp_gain": False},
            {"measure": rf.NDCG(gain="linear"), "validation_measure": rf.NDCG(32, gain="linear")},
        ),
        ({"eval_metric": "ndcg"}, {"validation_measure": rf.NDCG()}),
        ({"eval_metric": "ndcg@10-"}, {"validation_measure": rf.NDCG(10)}),
        ({"eval_metric": ["map@3"]}, {"validation_measure": rf.MAP(3)}),
        ({"early_stopping_rounds": 4}, {"early_stopping": 4}),
        ({"monotone_constraints": "(1,-1)"}, {"monotone": [1, -1]}),
        ({"monotone_constraints": {"bm25": 1}}, {"monotone": {"bm25": 1}}),
        ({"missing": np.nan, "random_state": 3}, {"seed": 3}),
    ],
    ids=lambda value: str(value)[:60],
)
def test_from_xgboost(params, settings):
    one = rf.LambdaMART.from_xgboost(params)
    default = rf.LambdaMART.from_xgboost({})
    assert differing(one, default) == set(settings)
    for name, value in settings.items():
        assert getattr(one, name) == value


def test_xgboosts_defaults():
    one = rf.LambdaMART.from_xgboost({})
    assert (one.n_trees, one.n_leaves, one.max_depth, one.learning_rate, one.l2) == (100, 64, 6, 0.3, 1.0)
    assert one.pairs == ("top", 32)
    assert one.min_documents == 1
    assert one.max_bins == 255


FROM = {"lightgbm": rf.LambdaMART.from_lightgbm, "xgboost": rf.LambdaMART.from_xgboost}


@pytest.mark.parametrize(
    ("library", "params", "message"),
    [
        ("lightgbm", {"min_sum_hessian_in_leaf": 100}, "not taken over: min_sum_hessian_in_leaf=100"),
        ("lightgbm", {"reg_alpha": 0.1}, "not taken over: reg_alpha=0.1"),
        (
            "lightgbm",
            {"drop_rate": 0.1, "nonsense": 1},
            "has no parameter nonsense: not taken over; .*not taken over: drop_rate=0.1",
        ),
        ("lightgbm", {"subsample": 0.5, "subsample_freq": 1}, "whole queries are drawn"),
        ("lightgbm", {"bagging_fraction": 0.5}, "does nothing in LightGBM without bagging_freq"),
        ("lightgbm", {"max_bin": 1023}, "max_bins=255"),
        ("lightgbm", {"eval_at": [1, 3]}, "only the first"),
        ("lightgbm", {"metric": "auc"}, "'auc' is not watched"),
        ("xgboost", {"min_child_weight": 5}, "not taken over: min_child_weight=5"),
        ("xgboost", {"lambdarank_unbiased": True}, r"not taken over: lambdarank_unbiased=True.*JointRatios\(\)"),
        ("xgboost", {"subsample": 0.5}, "whole queries are drawn"),
        ("xgboost", {"eval_metric": ["map", "ndcg@5"]}, "only the last"),
        ("xgboost", {"tree_method": "exact"}, "tree_method='exact' becomes histograms of at most 255 bins"),
    ],
)
def test_what_has_no_counterpart_is_named(library, params, message):
    with pytest.warns(MigrationWarning, match=message):
        FROM[library](params)
    with pytest.raises(rf.SettingsError, match=message):
        FROM[library](params, strict=True)


@pytest.mark.parametrize(("library", "name"), [("lightgbm", "force_row_wise"), ("xgboost", "tree_method")])
def test_what_changes_nothing_is_named_too(library, name):
    with pytest.warns(MigrationWarning, match=f"without effect on the model, left out: {name}"):
        FROM[library]({name: 1})


@pytest.mark.parametrize(
    ("library", "params", "message"),
    [
        ("lightgbm", {"objective": "rank_xendcg"}, "objective='rank_xendcg' cannot be taken over"),
        ("lightgbm", {"objective": "regression"}, "the ranker MART"),
        ("lightgbm", {"boosting": "dart"}, "only boosting='gbdt'"),
        ("lightgbm", {"num_leaves": 7, "max_leaves": 8}, "same parameter with two values"),
        ("lightgbm", {"num_leaves": "many"}, "num_leaves cannot be 'many'"),
        ("lightgbm", [("num_leaves", 3)], "a mapping"),
        ("xgboost", {"objective": "reg:squarederror"}, "rank:ndcg, rank:map and rank:pairwise can .*the ranker MART"),
        ("xgboost", {"booster": "dart"}, "only booster='gbtree'"),
        ("xgboost", {"max_depth": 0}, "give max_leaves"),
        ("xgboost", {"lambdarank_pair_method": "all"}, "topk or mean"),
    ],
)
def test_what_is_refused(library, params, message):
    with pytest.raises(rf.SettingsError, match=message):
        FROM[library](params)


def test_settings_take_precedence():
    one = rf.LambdaMART.from_lightgbm({"num_leaves": 7}, n_leaves=9, measure="MAP")
    assert one.n_leaves == 9
    assert one.measure == "MAP"


@pytest.mark.parametrize(
    ("params", "settings"),
    [
        ({"objective": "rmse", "num_leaves": 7, "eta": 0.3}, {"n_leaves": 7, "learning_rate": 0.3}),
        ({"min_sum_hessian_in_leaf": 40.5}, {"min_documents": 41}),  # every document has the curvature 1
        ({"min_child_weight": 5, "min_child_samples": 8}, {"min_documents": 8}),
        ({"objective": "binary"}, {"cost": "binary", "split": "newton", "sigma": 0.5}),
        ({"objective": "binary", "sigmoid": 3}, {"cost": "binary", "split": "newton", "sigma": 1.5}),
        (
            {"objective": "binary", "is_unbalance": "true", "max_delta_step": 4},
            {"cost": "balanced", "split": "newton", "sigma": 0.5, "max_step": 2.0},
        ),
        (
            {"objective": "softmax", "num_class": 5, "max_delta_step": 4},
            {"cost": "multiclass", "split": "newton", "max_step": 4.0},
        ),
        (
            {"metric": "ndcg", "eval_at": [3], "early_stopping_round": 7},
            {"validation_measure": rf.NDCG(3), "early_stopping": 7},
        ),
        ({"boost_from_average": True, "scale_pos_weight": 1.0, "sigmoid": 1.0, "num_class": 1}, {}),
    ],
    ids=lambda value: str(value)[:60],
)
def test_mart_from_lightgbm(params, settings):
    one, default = rf.MART.from_lightgbm(params), rf.MART.from_lightgbm({})
    assert differing(one, default) == set(settings)
    for name, value in settings.items():
        assert getattr(one, name) == value


@pytest.mark.parametrize(
    ("params", "settings"),
    [
        ({"objective": "reg:squarederror", "max_depth": 3}, {"max_depth": 3, "n_leaves": 8}),
        ({"min_child_weight": 12, "reg_lambda": 0, "gamma": 1}, {"min_documents": 12, "l2": 0.0, "min_gain": 2.0}),
        ({"objective": "binary:logistic"}, {"cost": "binary", "split": "newton", "sigma": 0.5}),
        (
            {"objective": "binary:logistic", "max_delta_step": 1},
            {"cost": "binary", "split": "newton", "sigma": 0.5, "max_step": 0.5},
        ),
        ({"objective": "multi:softprob", "num_class": 5}, {"cost": "multiclass", "split": "newton"}),
        ({"eval_metric": "map@3"}, {"validation_measure": rf.MAP(3)}),
    ],
    ids=lambda value: str(value)[:60],
)
def test_mart_from_xgboost(params, settings):
    one, default = rf.MART.from_xgboost(params), rf.MART.from_xgboost({})
    assert differing(one, default) == set(settings)
    for name, value in settings.items():
        assert getattr(one, name) == value


def test_marts_defaults_are_those_of_the_libraries():
    one = rf.MART.from_lightgbm({})
    assert (one.cost, one.n_trees, one.n_leaves, one.learning_rate, one.min_documents) == (
        "regression",
        100,
        31,
        0.1,
        20,
    )
    one = rf.MART.from_xgboost({})
    assert (one.cost, one.n_trees, one.n_leaves, one.max_depth, one.l2) == ("regression", 100, 64, 6, 1.0)
    assert (one.learning_rate, one.min_documents, one.validation_measure) == (0.3, 1, None)


MART_FROM = {"lightgbm": rf.MART.from_lightgbm, "xgboost": rf.MART.from_xgboost}


@pytest.mark.parametrize(
    ("library", "params", "message"),
    [
        ("lightgbm", {"objective": "regression", "max_delta_step": 1}, "not taken over: max_delta_step=1"),
        (
            "lightgbm",
            {"objective": "binary", "min_sum_hessian_in_leaf": 5},
            "not taken over: min_sum_hessian_in_leaf=5",
        ),
        ("lightgbm", {"objective": "binary", "scale_pos_weight": 5}, "not taken over: scale_pos_weight=5"),
        ("lightgbm", {"objective": "multiclass", "sigmoid": 5}, "not taken over: sigmoid=5"),
        ("lightgbm", {"boost_from_average": False}, "start at the best constant"),
        ("lightgbm", {"metric": "l2"}, "metric='l2' is not watched"),
        ("xgboost", {"base_score": 0.5}, "start at the best constant"),
        ("xgboost", {"objective": "binary:logistic", "min_child_weight": 5}, "not taken over: min_child_weight=5"),
        ("xgboost", {"eval_metric": "rmse"}, "eval_metric='rmse' is not watched"),
        ("xgboost", {"lambdarank_unbiased": True}, "not taken over: lambdarank_unbiased=True"),
    ],
)
def test_what_has_no_counterpart_in_mart_is_named(library, params, message):
    with pytest.warns(MigrationWarning, match=message) as told:
        MART_FROM[library](params)
    assert told[0].filename == __file__
    with pytest.raises(rf.SettingsError, match=message):
        MART_FROM[library](params, strict=True)


@pytest.mark.parametrize(
    ("library", "objective"),
    [("lightgbm", "lambdarank"), ("lightgbm", "huber"), ("xgboost", "rank:ndcg"), ("xgboost", "count:poisson")],
)
def test_objectives_that_are_not_marts_are_refused(library, objective):
    with pytest.raises(
        rf.SettingsError, match=f"objective='{objective}' cannot be taken over: .*the ranker LambdaMART"
    ):
        MART_FROM[library]({"objective": objective})


@pytest.mark.parametrize(
    ("library", "estimator", "objective"),
    [
        ("lightgbm", "LGBMRegressor", "regression"),
        ("lightgbm", "LGBMClassifier", "binary"),
        ("lightgbm", "LGBMClassifier", "multiclass"),
        ("xgboost", "XGBRegressor", None),
        ("xgboost", "XGBClassifier", None),
        ("xgboost", "XGBClassifier", "multi:softprob"),
    ],
)
def test_the_settings_of_regressors_and_classifiers_are_understood(library, estimator, objective):
    module = pytest.importorskip(library)
    params = getattr(module, estimator)().get_params()
    MART_FROM[library](
        params if objective is None else params | {"objective": objective}
    )  # a warning would be an error


@pytest.mark.parametrize(("library", "estimator"), [("lightgbm", "LGBMRanker"), ("xgboost", "XGBRanker")])
def test_the_estimators_own_settings_are_understood(library, estimator):
    module = pytest.importorskip(library)
    params = getattr(module, estimator)().get_params()
    if library == "lightgbm":
        params["objective"] = "lambdarank"
    FROM[library](params)  # a warning would be an error


@pytest.mark.parametrize("objective", ["rank:ndcg", "rank:map", "rank:pairwise"])
@pytest.mark.parametrize("method", ["topk", "mean"])
@pytest.mark.parametrize("pairs", [None, 5])
def test_what_xgboost_watches_by_itself_is_watched(objective, method, pairs):
    xgboost = pytest.importorskip("xgboost", minversion="2.0")
    params = {"objective": objective, "lambdarank_pair_method": method}
    params |= {} if pairs is None else {"lambdarank_num_pair_per_sample": pairs}
    made = rf.make_artificial(10, 8, 2)
    data = xgboost.DMatrix(made.features, made.labels["grades"] > 1, qid=made.qid)
    results = {}
    own = params | {"verbosity": 0, "nthread": 1}
    xgboost.train(own, data, 1, evals=[(data, "data")], evals_result=results, verbose_eval=False)
    assert str(rf.LambdaMART.from_xgboost(params).validation_measure).lower() == next(iter(results["data"]))


@pytest.mark.parametrize("aliases", [LIGHTGBM_ALIASES, XGBOOST_ALIASES], ids=["lightgbm", "xgboost"])
def test_no_name_means_two_things(aliases):
    names = [name for main, others in aliases.items() for name in (main, *others)]
    assert len(set(names)) == len(names)


@pytest.mark.compiled_only
def test_it_learns_what_lightgbm_learns():
    lightgbm = pytest.importorskip("lightgbm")
    train, test = (rf.make_artificial(queries=150, documents=20, features=10, seed=seed) for seed in (1, 2))
    params = {"objective": "lambdarank", "num_leaves": 15, "min_data_in_leaf": 10, "num_iterations": 40}
    data = lightgbm.Dataset(np.array(train.features), train.labels["grades"], group=train.query_sizes)
    theirs = lightgbm.train(params | {"verbosity": -1, "num_threads": 1}, data)
    ours = rf.LambdaMART.from_lightgbm(params, progress=False).fit(train)
    values = [
        rf.evaluate(scores, test, "NDCG@10").mean["NDCG@10"]
        for scores in (theirs.predict(np.array(test.features)), ours.predict(test))
    ]
    assert values[1] == pytest.approx(values[0], abs=0.015)


@pytest.mark.compiled_only
@pytest.mark.parametrize("objective", ["regression", "binary", "multiclass"])
def test_mart_learns_what_lightgbm_learns(objective):
    lightgbm = pytest.importorskip("lightgbm")
    train, test = (rf.make_artificial(queries=150, documents=20, features=10, seed=seed) for seed in (1, 2))
    labels = train.labels["grades"]
    params = {"objective": objective, "num_leaves": 15, "min_data_in_leaf": 10, "num_iterations": 40, "num_threads": 1}
    params["lambda_l2"] = 30.0  # without it, no steepness of a logistic function could show
    params |= {"num_class": 5} if objective == "multiclass" else {}
    given = lightgbm.Dataset(np.array(train.features), labels > 0 if objective == "binary" else labels)
    theirs = lightgbm.train(params | {"verbosity": -1, "min_sum_hessian_in_leaf": 0.0}, given)
    ours = rf.MART.from_lightgbm(params, progress=False).fit(train)
    theirs = theirs.predict(np.array(test.features))
    grades = test.labels["grades"].astype(int)
    if objective == "regression":
        losses = [np.mean((grades - predicted) ** 2) for predicted in (theirs, ours.predict(test))]
    else:
        shares = ours.predict_proba(test)
        pairs = [np.column_stack([1 - theirs, theirs]), shares] if objective == "binary" else [theirs, shares]
        classes = np.minimum(grades, 1) if objective == "binary" else grades
        losses = [-np.mean(np.log(predicted[np.arange(len(grades)), classes])) for predicted in pairs]
    assert losses[1] == pytest.approx(losses[0], rel=0.02)


def test_a_slip_is_told_with_the_nearest_parameter():
    with pytest.warns(MigrationWarning, match=r"LightGBM has no parameter num_leafs \(is num_leaf meant\?\)"):
        rf.LambdaMART.from_lightgbm({"num_leafs": 63})
    with pytest.raises(rf.SettingsError, match=r"XGBoost has no parameter max_dept \(is max_depth meant\?\)"):
        rf.LambdaMART.from_xgboost({"max_dept": 3}, strict=True)


def test_a_parameter_without_counterpart_is_no_slip():
    with pytest.warns(MigrationWarning, match="without counterpart, not taken over: min_data_per_group=100"):
        rf.LambdaMART.from_lightgbm({"min_data_per_group": 100})
