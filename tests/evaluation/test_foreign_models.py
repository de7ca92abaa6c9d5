"""Models of other libraries, functions and odd objects as rankings: their scores exactly, or an error that says why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.evaluation.foreign_objects import Odd, feed_foreign_objects

import rankforce as rf
from rankforce.errors import DataError, SettingsError
from rankforce.evaluation.scores import scores_of

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(60, 3)).astype(np.float32)
Y = (X[:, 0] + 0.3 * RANDOM.normal(size=60) > 0).astype(int) + (X[:, 1] > 1)
SIZES = [10] * 6
NAMES = ["bm25", "clicks", "length"]


def data(names: list[str] | None = None, order: tuple[int, ...] = (0, 1, 2)) -> rf.Dataset:
    chosen = None if names is None else [names[place] for place in order]
    return rf.Dataset(X[:, list(order)], Y, np.repeat(np.arange(6), 10), feature_names=chosen)


def frame() -> Any:
    return pytest.importorskip("pandas").DataFrame(X, columns=NAMES)


def lightgbm_ranker(features: Any) -> Any:
    lightgbm = pytest.importorskip("lightgbm")
    ranker = lightgbm.LGBMRanker(n_estimators=5, min_child_samples=2, n_jobs=1, verbose=-1)
    return ranker.fit(features, Y, group=SIZES)


def xgboost_ranker(features: Any) -> Any:
    xgboost = pytest.importorskip("xgboost")
    return xgboost.XGBRanker(n_estimators=5, n_jobs=1).fit(features, Y, group=SIZES)


def catboost_ranker(features: Any) -> Any:
    catboost = pytest.importorskip("catboost")
    ranker = catboost.CatBoostRanker(iterations=5, verbose=False, thread_count=1, allow_writing_files=False)
    return ranker.fit(features, Y, group_id=np.repeat(np.arange(6), 10))


def pipeline(features: Any) -> Any:
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LinearRegression()).fit(features, Y)


KINDS = {
    "LGBMRanker": lightgbm_ranker,
    "lightgbm.Booster": lambda features: lightgbm_ranker(features).booster_,
    "XGBRanker": xgboost_ranker,
    "xgboost.Booster": lambda features: xgboost_ranker(features).get_booster(),
    "CatBoostRanker": catboost_ranker,
    "Pipeline": pipeline,
}


def said_by(model: Any, features: Any) -> np.ndarray:
    if type(model).__module__.startswith("xgboost") and type(model).__name__ == "Booster":
        import xgboost

        features = xgboost.DMatrix(features)
    return np.asarray(model.predict(features), dtype=np.float64)


@pytest.mark.parametrize("kind", KINDS)
def test_models_of_other_libraries_rank_by_what_they_predict(kind: str) -> None:
    model = KINDS[kind](X)
    np.testing.assert_array_equal(scores_of(model, data()), said_by(model, X))


@pytest.mark.parametrize("kind", KINDS)
def test_features_are_matched_by_name_where_the_model_knows_names(kind: str) -> None:
    model = KINDS[kind](frame())
    expected = said_by(model, frame())
    # A linear model multiplies matrices, which rounds by the layout of the matrix.
    tolerance = 1e-6 if kind == "Pipeline" else 0.0
    for named in (data(NAMES), data(NAMES, order=(2, 0, 1)), data()):  # features without names: by position
        np.testing.assert_allclose(scores_of(model, named), expected, rtol=tolerance)
    with pytest.raises(DataError, match=r"the data lacks a feature of \w+: 'clicks'"):
        scores_of(model, data(["bm25", "dwell", "length"]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_of_other_features_is_refused(kind: str) -> None:
    with pytest.raises(DataError, match="features"):
        scores_of(KINDS[kind](X[:, :2]), data())


def test_models_that_are_not_fitted_say_so() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    with pytest.raises(DataError, match=r"LGBMRanker cannot score this data: \w*NotFitted\w*: .*\n.* is it fitted"):
        rf.evaluate(lightgbm.LGBMRanker(), data(), "NDCG")
    with pytest.raises(DataError, match="LGBMRanker is a class, and ranks nothing: make a model of it"):
        rf.evaluate(lightgbm.LGBMRanker, data(), "NDCG")


def test_tensors_and_modules_of_torch() -> None:
    torch = pytest.importorskip("torch")
    weights = torch.tensor([[1.0, -2.0, 0.5]], requires_grad=True)
    expected = (torch.tensor(X) @ weights.T).detach().double().numpy()[:, 0]
    np.testing.assert_array_equal(scores_of(torch.tensor(X) @ weights.T, data()), expected)
    half = torch.arange(60, dtype=torch.bfloat16)
    np.testing.assert_array_equal(scores_of(half, data()), np.arange(60))
    module = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Linear(3, 1))
    module[1].eval()
    np.testing.assert_allclose(scores_of(module, data()), module[1](torch.tensor(X)).detach()[:, 0], rtol=1e-6)
    assert (module.training, module[0].training, module[1].training) == (True, True, False)


def test_functions_and_classes_of_ones_own() -> None:
    class Linear:
        def predict(self, features: np.ndarray) -> np.ndarray:
            assert isinstance(features, np.ndarray)
            return features @ np.array([1.0, 0.0, 0.0])

    np.testing.assert_array_equal(scores_of(Linear(), data()), X[:, 0])
    np.testing.assert_array_equal(scores_of(lambda features: features[:, 1], data()), X[:, 1])
    first, second = Linear(), "3"
    assert rf.compare(first, second, data(), "NDCG").a.mean == rf.evaluate(X[:, 0], data(), "NDCG").mean
    combined = rf.combine([first, second], data(), "NDCG")
    np.testing.assert_array_equal(combined.weights, rf.combine([X[:, 0], X[:, 2]], data(), "NDCG").weights)
    assert rf.combine([first, second], data(), "NDCG", validation=data()).held_out is not None
    with pytest.raises(SettingsError, match=r"ranker 1 .* no model"):
        _ = combined.model


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros(59), r"the prediction of Odd must have one entry per document \(60\), not shape \(59,\)"),
        (np.zeros((60, 3)), r"not shape \(60, 3\); choose one of its columns"),
        (np.where(np.arange(60) == 7, np.nan, 0.0), r"the score of row 7 \(query 0\) is NaN"),
        (["a"] * 60, "the prediction of Odd must be numbers"),
        (np.zeros(60, dtype=complex), "must be numbers"),
        (3.0, r"not shape \(\)"),
        (None, "must be numbers, one per document; .* not NoneType"),
        (ValueError("wrong\nvery"), r"Odd cannot score this data: ValueError: wrong\n .*takes_dataset = True"),
        (KeyError(), "Odd cannot score this data: KeyError: without a word"),
        (RuntimeError("x" * 1000), r"RuntimeError: x{300}\n"),
    ],
)
def test_odd_answers_are_refused_with_the_name_of_the_model(answer: Any, message: str) -> None:
    for use in (
        lambda: rf.evaluate(Odd(answer), data(), "NDCG"),
        lambda: rf.compare("1", Odd(answer), data(), "NDCG"),
        lambda: rf.combine(["1", Odd(answer)], data(), "NDCG"),
    ):
        with pytest.raises(DataError, match=message):
            use()


def test_objects_that_fail_at_every_touch_are_refused() -> None:
    class Touchy:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(f"do not touch {name}")

    with pytest.raises(DataError, match=r"the scores must be numbers.* not Touchy"):
        rf.evaluate(Touchy(), data(), "NDCG")
    with pytest.raises(SettingsError, match=r"base_model .* not Touchy"):
        rf.LambdaMART(n_trees=1, base_model=Touchy(), progress=False).fit(data())


def test_files_of_models_are_named_as_such() -> None:
    with pytest.raises(DataError, match=r"no feature 'm\.json' to rank by .* and there is no file of that name"):
        rf.evaluate("m.json", data(), "NDCG")


@pytest.mark.filterwarnings("ignore::rankforce.errors.RankforceWarning")
def test_random_foreign_objects() -> None:
    assert feed_foreign_objects(4) > 20
