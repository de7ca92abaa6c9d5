"""Every kind of ranking in every place that takes one: it works, or a RankforceError says what to do instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankforce as rf
from rankforce.evaluation.scores import scores_of

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(60, 3)).astype(np.float32)
Y = (X[:, 0] + 0.3 * RANDOM.normal(size=60) > 0).astype(int) + (X[:, 1] > 1)
QUERIES = np.repeat(np.arange(6), 10)
IDS = [f"d{row}" for row in range(60)]
NAMES = ["bm25", "clicks", "length"]
DATA = rf.Dataset(X, Y, QUERIES, feature_names=NAMES, document_ids=IDS)
SCORES = X[:, 0].astype(np.float64)


class OwnModel:
    def predict(self, features: np.ndarray) -> np.ndarray:
        return np.asarray(features)[:, 0]


def trained() -> Any:
    return rf.LambdaMART("NDCG@5", n_trees=3, n_leaves=4, min_documents=2, progress=False).fit(DATA)


def lightgbm() -> Any:
    library = pytest.importorskip("lightgbm")
    return library.LGBMRanker(n_estimators=3, min_child_samples=2, n_jobs=1, verbose=-1).fit(frame(), Y, group=[10] * 6)


def xgboost() -> Any:
    library = pytest.importorskip("xgboost")
    return library.XGBRanker(n_estimators=3, n_jobs=1).fit(frame(), Y, qid=QUERIES)


def catboost() -> Any:
    library = pytest.importorskip("catboost")
    ranker = library.CatBoostRanker(iterations=3, verbose=False, thread_count=1, allow_writing_files=False)
    return ranker.fit(frame(), Y, group_id=QUERIES)


def ridge() -> Any:
    from sklearn.linear_model import Ridge

    return Ridge().fit(X, Y)


def pipeline() -> Any:
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), Ridge()).fit(frame(), Y)


def frame() -> Any:
    return pytest.importorskip("pandas").DataFrame(X, columns=NAMES)


def torch_module() -> Any:
    return pytest.importorskip("torch").nn.Linear(3, 1)


def run() -> dict[str, dict[str, float]]:
    return {
        str(query): {IDS[row]: float(SCORES[row]) for row in np.flatnonzero(query == QUERIES)} for query in range(6)
    }


def run_frame() -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"qid": QUERIES, "docno": IDS, "score": SCORES})


def run_file(folder: Path) -> Path:
    rf.write_run(DATA, SCORES, folder / "first.run")
    return folder / "first.run"


def model_file(folder: Path) -> Path:
    trained().model_.save(folder / "model.json")
    return folder / "model.json"


def lightgbm_file(folder: Path) -> Path:
    lightgbm().booster_.save_model(folder / "lightgbm.txt")
    return folder / "lightgbm.txt"


KINDS: dict[str, Callable[[Path], Any]] = {
    "fitted ranker": lambda folder: trained(),
    "model": lambda folder: trained().model_,
    "LGBMRanker": lambda folder: lightgbm(),
    "lightgbm.Booster": lambda folder: lightgbm().booster_,
    "XGBRanker": lambda folder: xgboost(),
    "xgboost.Booster": lambda folder: xgboost().get_booster(),
    "CatBoostRanker": lambda folder: catboost(),
    "estimator": lambda folder: ridge(),
    "pipeline": lambda folder: pipeline(),
    "torch module": lambda folder: torch_module(),
    "torch tensor": lambda folder: pytest.importorskip("torch").tensor(SCORES),
    "function": lambda folder: lambda features: features[:, 0],
    "own model": lambda folder: OwnModel(),
    "array": lambda folder: SCORES,
    "list": lambda folder: SCORES.tolist(),
    "pandas column": lambda folder: pytest.importorskip("pandas").Series(SCORES, index=IDS),
    "pandas frame of a column": lambda folder: pytest.importorskip("pandas").DataFrame({"score": SCORES}),
    "polars column": lambda folder: pytest.importorskip("polars").Series(SCORES),
    "arrow column": lambda folder: pytest.importorskip("pyarrow").chunked_array([SCORES[:20], SCORES[20:]]),
    "feature": lambda folder: "bm25",
    "run": lambda folder: run(),
    "frame of a run": lambda folder: run_frame(),
    "path of a run": run_file,
    "name of a run": lambda folder: str(run_file(folder)),
    "path of a model": model_file,
    "path of a LightGBM model": lightgbm_file,
}

TREES = {"LGBMRanker", "lightgbm.Booster", "XGBRanker", "xgboost.Booster", "CatBoostRanker"}
OWN = {"fitted ranker", "model"}
MODEL_FILES = {"path of a model", "path of a LightGBM model"}
ESTIMATORS = {"LGBMRanker", "XGBRanker", "CatBoostRanker", "estimator", "pipeline"}
ALL = set(KINDS)


def base(ranking: Any) -> Any:
    learned = rf.LambdaMART(n_trees=1, n_leaves=2, min_documents=2, base_model=ranking, progress=False).fit(DATA)
    return learned.predict(DATA)


def saved(ranking: Any) -> Any:
    return rf.combine([ranking, "length"], DATA, "NDCG@5").model


# Place: what is done there, with which kinds it works, and what is said of the others.
PLACES: dict[str, tuple[Callable[[Any], Any], set[str], str]] = {
    "evaluate": (lambda r: rf.evaluate(r, DATA, "NDCG@5").mean["NDCG@5"], ALL, ""),
    "compare": (lambda r: rf.compare("length", r, DATA, "NDCG@5").difference["NDCG@5"], ALL, ""),
    "leaderboard": (lambda r: str(rf.compare({"a": "length", "b": r}, DATA, "NDCG@5")), ALL, ""),
    "combine": (lambda r: rf.combine([r, "length"], DATA, "NDCG@5").value, ALL, ""),
    "model of a combination": (
        saved,
        OWN | TREES | MODEL_FILES | {"feature"},
        "neither a model of rankforce nor a feature",
    ),
    "forces_at": (lambda r: rf.forces_at(DATA, r).forces, ALL, ""),
    "effective_pairs": (lambda r: str(rf.diagnostics.effective_pairs(DATA, r)), ALL, ""),
    "base_model": (base, OWN | TREES | MODEL_FILES | {"feature"}, "put the scores into the data|run"),
    "cross_validate": (
        lambda r: rf.cross_validate(r, DATA, "NDCG@5", folds=2, progress=False).mean["NDCG@5"],
        ESTIMATORS | {"fitted ranker"},
        "a ranker is needed.* learns nothing",
    ),
    "explain": (lambda r: str(rf.explain(r, DATA, 0)), OWN | TREES, "can be explained|is read first"),
    "importance": (
        lambda r: str(rf.importance(r, DATA, "NDCG@5", permutations=1, progress=False)),
        OWN | TREES,
        "can be explained|is read first",
    ),
    "local optimality": (
        lambda r: rf.diagnostics.local_optimality(r, DATA, "NDCG@5", epsilon=0.2, delta=0.2, progress=False).verdict,
        OWN | TREES,
        "only nets and sums of trees have weights",
    ),
    "smoothness": (
        lambda r: str(rf.diagnostics.smoothness(r, DATA, "NDCG@5", points=5)),
        OWN | TREES,
        "only nets and sums of trees have weights",
    ),
    "card": (lambda r: str(rf.model_card(r)), OWN | TREES, "a card is of a model"),
    "export": (lambda r: rf.export_model(r, None, "xgboost"), OWN, "what is exported is a model"),
    "tune": (
        lambda r: rf.tune(r, DATA, {"n_trees": [1]}, method="grid", folds=2, refit=False, progress=False),
        {"fitted ranker"},
        "a ranker is needed",
    ),
}


@pytest.mark.compiled_only
@pytest.mark.parametrize("kind", KINDS)
def test_every_place_takes_a_ranking_or_says_what_to_do(kind: str, tmp_path: Path) -> None:
    ranking = KINDS[kind](tmp_path)
    wrong = []
    for place, (use, works_with, words) in PLACES.items():
        try:
            use(ranking)
        except rf.RankforceError as error:
            if kind in works_with:
                wrong.append(f"{place}: should work, and says {error}")
            elif not re.search(words, str(error), re.DOTALL):
                wrong.append(f"{place}: says {error}")
        except Exception as error:
            wrong.append(f"{place}: {type(error).__name__}: {error}")
        else:
            if kind not in works_with:
                wrong.append(f"{place}: works, and the table says that it does not")
    assert not wrong, "\n".join(wrong)


@pytest.mark.compiled_only
@pytest.mark.parametrize("kind", sorted(TREES))
def test_trees_of_other_libraries_are_read_from_memory_as_they_predict(kind: str, tmp_path: Path) -> None:
    ranking = KINDS[kind](tmp_path)
    read = rf.load(ranking)
    assert read.feature_names == tuple(NAMES)
    np.testing.assert_allclose(read.predict(DATA), DATA.by_row(scores_of(ranking, DATA)), rtol=1e-6, atol=1e-7)


@pytest.mark.compiled_only
@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_early_stopping_is_kept_when_a_model_is_read(library: str) -> None:
    if library == "lightgbm":
        lgb = pytest.importorskip("lightgbm")
        model = lgb.LGBMRanker(n_estimators=50, min_child_samples=2, n_jobs=1, verbose=-1, early_stopping_round=1)
        model.fit(frame(), Y, group=[10] * 6, eval_X=frame(), eval_y=Y[::-1], eval_group=[[10] * 6])
        trees = model.best_iteration_
    else:
        xgb = pytest.importorskip("xgboost")
        model = xgb.XGBRanker(n_estimators=50, n_jobs=1, early_stopping_rounds=1)
        model.fit(frame(), Y, qid=QUERIES, eval_set=[(frame(), Y[::-1])], eval_qid=[QUERIES], verbose=False)
        trees = model.best_iteration + 1
    assert trees < 50
    read: Any = rf.load(model)
    assert read.n_trees == trees
    np.testing.assert_allclose(read.predict(DATA), DATA.by_row(scores_of(model, DATA)), rtol=1e-6, atol=1e-7)


@pytest.mark.compiled_only
def test_a_number_that_an_estimator_takes_for_missing_is_refused_or_read() -> None:
    """XGBoost's trees do not know it, and would score otherwise; LightGBM's do."""
    xgb = pytest.importorskip("xgboost")
    counts = DATA.replace(features=np.round(DATA.features))
    quick = {"n_estimators": 3, "n_jobs": 1}
    for absent in (0, 0.0, np.float32(-1), np.inf):
        ranker = xgb.XGBRanker(missing=absent, **quick).fit(counts.features, Y, qid=QUERIES)
        with pytest.raises(rf.SettingsError, match=r"XGBRanker takes .* for a missing value .*train it with NaN"):
            rf.load(ranker)
        assert rf.evaluate(ranker, counts, "NDCG@5"), "its own scores are right"
    ranker = xgb.XGBRanker(missing=np.nan, **quick).fit(counts.features, Y, qid=QUERIES)
    np.testing.assert_allclose(rf.load(ranker).predict(counts), ranker.predict(counts.features), rtol=1e-6, atol=1e-7)
    lgb = pytest.importorskip("lightgbm")
    told = lgb.LGBMRanker(zero_as_missing=True, min_child_samples=2, verbose=-1, **quick)
    told.fit(counts.features, Y, group=[10] * 6)
    np.testing.assert_allclose(rf.load(told).predict(counts), told.predict(counts.features), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kind", ["LGBMRanker", "XGBRanker", "CatBoostRanker"])
def test_what_is_not_fitted_says_so(kind: str) -> None:
    library = pytest.importorskip({"L": "lightgbm", "X": "xgboost", "C": "catboost"}[kind[0]])
    with pytest.raises(rf.RankforceError, match=r"is not fitted|is it fitted"):
        rf.explain(getattr(library, kind)(), DATA, 0)


@pytest.mark.compiled_only
def test_boosting_goes_on_from_a_model_of_another_library_and_is_saved_with_it(tmp_path: Path) -> None:
    first = lightgbm()
    ranker = rf.LambdaMART(n_trees=2, n_leaves=2, min_documents=2, base_model=first, progress=False).fit(DATA)
    ranker.save(tmp_path / "model.json")
    again = rf.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict(DATA), ranker.predict(DATA))
    assert not np.allclose(again.predict(DATA), first.predict(frame()))
    copied = ranker.unfitted()  # a clone goes on from the same model: one that is fitted
    assert copied.base_model is first
    np.testing.assert_array_equal(copied.fit(DATA).predict(DATA), ranker.predict(DATA))


@pytest.mark.compiled_only
@pytest.mark.parametrize("kind", sorted(ESTIMATORS))
def test_estimators_are_fitted_per_fold_as_one_would_by_hand(kind: str, tmp_path: Path) -> None:
    from sklearn.base import clone

    estimator = KINDS[kind](tmp_path)
    found = rf.cross_validate(estimator, DATA, "NDCG@5", folds=2, seed=3, keep_rankers=True, progress=False)
    expected = np.empty(60)
    for train, test in DATA.folds(2, seed=3):
        copied = clone(estimator)
        sizes, queries = train.query_sizes, np.repeat(np.arange(train.n_queries), train.query_sizes)
        inputs = pytest.importorskip("pandas").DataFrame(train.features[train.rows], columns=NAMES)
        extra: dict[str, Any] = {
            "LGBMRanker": {"group": sizes},
            "XGBRanker": {"qid": queries},
            "CatBoostRanker": {"group_id": queries, "verbose": False},
        }.get(kind, {})
        copied.fit(inputs, train.labels["grades"][train.rows], **extra)
        rows = [IDS.index(name) for name in test.document_ids]  # type: ignore[union-attr]
        expected[rows] = copied.predict(frame().iloc[rows])
    np.testing.assert_allclose(found.scores, expected, rtol=1e-5, atol=1e-6)
    assert type(found.rankers[0]) is type(estimator)


@pytest.mark.compiled_only
def test_validation_data_reaches_rankers_that_stop_early() -> None:
    lgb = pytest.importorskip("lightgbm")
    ranker = lgb.LGBMRanker(n_estimators=200, min_child_samples=2, n_jobs=1, verbose=-1, early_stopping_round=2)
    found = rf.cross_validate(ranker, DATA, "NDCG@5", folds=2, validation_share=0.4, keep_rankers=True, progress=False)
    assert all(0 < one.best_iteration_ < 200 for one in found.rankers)


def test_a_run_ranks_the_documents_it_has() -> None:
    of_run = run()
    np.testing.assert_array_equal(scores_of(of_run, DATA), DATA.by_query(SCORES))
    del of_run["0"]["d3"], of_run["5"]
    of_run["elsewhere"] = {"x": 1.0}
    expected = SCORES.copy()
    expected[[3, *range(50, 60)]] = -np.inf
    np.testing.assert_array_equal(scores_of(of_run, DATA), DATA.by_query(expected))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda of_run: of_run["0"].update(x=9.0),
            "1 documents of query 0 that the data does not have, the first is x",
        ),
        (lambda of_run: of_run["0"].update(d3="high"), "a score of the run in query 0 is no number: 'high'"),
        (lambda of_run: of_run.update({"0": 5}), "query 0 does not"),
        (lambda of_run: [of_run.pop(str(query)) for query in range(6)], "no document of any query"),
    ],
)
def test_runs_that_do_not_fit_are_refused(change: Callable[[Any], Any], message: str) -> None:
    of_run: Any = run()
    change(of_run)
    with pytest.raises(rf.DataError, match=message):
        scores_of(of_run, DATA)


def test_a_run_needs_document_ids() -> None:
    with pytest.raises(rf.DataError, match="the data has no document ids"):
        rf.evaluate(run(), rf.Dataset(X, Y, QUERIES), "NDCG")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for name in (tmp_path / "none.json", str(tmp_path / "none.run")):
        with pytest.raises(rf.DataError, match="there is no file of that name"):
            rf.evaluate(name, DATA)
