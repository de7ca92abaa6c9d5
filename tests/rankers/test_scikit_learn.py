"""Rankers as scikit-learn sees them: settings, clones, checks, searches that keep queries whole."""

from __future__ import annotations

import pickle
from typing import ClassVar

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import rankforce as rf
from rankforce.lambdas.ranknet import RankNetCost
from rankforce.rankers.catalogue import ranker_classes
from rankforce.training.ranker import Ranker

WORDING = "refused, in words of our own: "
EXPECTED_FAILURES = {
    "check_complex_data": WORDING + "X must be a matrix of numbers, not of complex128",
    "check_dtype_object": "a cell that is no number is a DataError, hence a ValueError; the check wants a TypeError",
    "check_fit2d_1sample": WORDING + "no query has two documents with different labels",
    "check_fit2d_predict1d": WORDING + "for one document write X[None, :]",
    "check_n_features_in_after_fitting": WORDING + "X has 1 features, the model was trained on 4",
    "check_requires_y_none": WORDING + "the measure reads the label source 'grades', which the data does not have",
}


class OneQuery:
    """All documents belong to one query: scikit-learn's checks know none."""

    def fit(self, X, y=None):
        return super().fit(X, y, qid=self.one_query(X))

    def score(self, X, y=None):
        return super().score(X, y, qid=self.one_query(X))

    @staticmethod
    def one_query(X):
        rows = X if hasattr(X, "shape") else np.asarray(X)
        return np.zeros(rows.shape[0] if rows.ndim else 1, dtype=int)


class OneQueryLambdaMART(OneQuery, rf.LambdaMART):
    pass


class OneQueryLambdaRank(OneQuery, rf.LambdaRank):
    pass


class OneQueryRankNet(OneQuery, rf.RankNet):
    pass


@pytest.mark.compiled_only
@parametrize_with_checks(
    [
        OneQueryLambdaMART("DCG", n_trees=3, min_documents=1, progress=False),
        OneQueryLambdaRank("DCG", epochs=3, hidden=2, progress=False),
        OneQueryRankNet(epochs=3, hidden=2, progress=False),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
@pytest.mark.filterwarnings("ignore")  # the checks warn about what they try
def test_estimator_checks(estimator, check):
    check(estimator)


def ranker(**settings):
    return rf.LambdaMART(**({"n_trees": 5, "n_leaves": 5, "min_documents": 3, "progress": False} | settings))


@pytest.fixture(scope="module")
def data():
    return rf.make_artificial(queries=30, documents=10, features=4, seed=1)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_without_queries_fit_says_what_to_pass(data):
    with pytest.raises(rf.DataError, match=r"fit\(X, y, qid=...\)"):
        ranker().fit(np.array(data.features), data.labels["grades"])


@pytest.mark.parametrize("kind", ranker_classes().values(), ids=ranker_classes().keys())
def test_settings_come_back_as_given(kind):
    one = kind()
    copy = clone(one)
    assert type(copy) is kind
    assert copy.get_params(deep=False).keys() == one.get_params(deep=False).keys()
    assert "seed" in one.get_params()
    assert one.set_params(seed=7).seed == 7


def test_clones_keep_measures_and_costs():
    one = ranker(measure=rf.NDCG(5, gain=[0, 1, 5]), lambda_function=RankNetCost(2.0), monotone={"1": 1})
    copy = clone(one)
    assert copy.measure == one.measure
    assert copy.lambda_function == one.lambda_function
    assert copy.monotone == one.monotone
    assert not hasattr(copy, "model_")


def test_settings_and_models_can_be_pickled(data):
    one = pickle.loads(pickle.dumps(ranker(measure="MAP").fit(data)))
    assert one.get_params()["measure"] == "MAP"
    assert one.score(data) == ranker(measure="MAP").fit(data).score(data)


def test_unfitted_rankers_are_so_in_scikit_learns_words(data):
    for call in (lambda: ranker().predict(data), lambda: ranker().score(data), lambda: ranker().save("never")):
        with pytest.raises(NotFittedError):
            call()
    with pytest.raises(rf.RankforceError, match="call fit first"):
        ranker().predict(data)


def test_score_is_the_mean_of_the_watched_measure(data):
    fitted = ranker(measure="MAP", validation_measure="ERR@5").fit(data)
    wanted = rf.evaluate(fitted, data, "ERR@5").mean["ERR@5"]
    X, y = np.array(data.features), np.array(data.labels["grades"])
    assert fitted.score(data) == wanted
    assert fitted.score(X, y, qid=data.qid) == wanted
    assert fitted.score(data.to_pandas().drop(columns="grades"), y) == wanted
    weights = np.where(data.qid <= 20, 1.0, 0.0)
    first = data.take_queries(range(20))
    assert fitted.score(X, y, qid=data.qid, sample_weight=weights) == pytest.approx(fitted.score(first))
    with pytest.raises(rf.DataError, match="enable_metadata_routing"):
        fitted.score(X, y)


def test_tags():
    tags = get_tags(ranker())
    assert tags.input_tags.allow_nan
    assert tags.input_tags.sparse
    assert tags.target_tags.required


class Remembering(rf.LambdaMART):
    """Notes which queries every fit and every score saw."""

    fits: ClassVar[list] = []
    scores: ClassVar[list] = []

    def fit(self, X, y=None, qid=None):
        self.fits.append(sorted(qid))
        return super().fit(X, y, qid=qid)

    def score(self, X, y=None, qid=None):
        self.scores.append(sorted(qid))
        return super().score(X, y, qid=qid)


@pytest.mark.usefixtures("routing")
def test_a_grid_search_keeps_queries_whole(data):
    shuffled = np.random.default_rng(0).permutation(data.n_documents)
    X, y, qid = data.features[shuffled], data.labels["grades"][shuffled], data.qid[shuffled]
    Remembering.fits.clear(), Remembering.scores.clear()
    folds = GroupKFold(3).set_split_request(groups="qid")
    base = Remembering(n_trees=5, min_documents=3, progress=False)
    search = GridSearchCV(base, {"n_leaves": [2, 5], "measure": ["NDCG", "MAP"]}, cv=folds, error_score="raise")
    search.fit(X, y, qid=qid)
    assert search.best_params_.keys() == {"n_leaves", "measure"}
    assert len(Remembering.fits) == 13  # 4 settings × 3 folds, and the best on everything
    sizes = dict(zip(data.query_ids, data.query_sizes, strict=True))
    for seen in (*Remembering.fits, *Remembering.scores):
        queries, counts = np.unique(seen, return_counts=True)
        assert all(sizes[query] == count for query, count in zip(queries, counts, strict=True))
    # the value of a fold by hand
    train, test = next(GroupKFold(3).split(X, y, qid))
    by_hand = ranker(n_leaves=2).fit(X[train], y[train], qid=qid[train]).score(X[test], y[test], qid=qid[test])
    place = search.cv_results_["params"].index({"n_leaves": 2, "measure": "NDCG"})
    assert search.cv_results_["split0_test_score"][place] == by_hand


@pytest.mark.usefixtures("routing")
def test_cross_val_score(data):
    X, y = np.array(data.features), np.array(data.labels["grades"])
    folds = GroupKFold(3).set_split_request(groups="qid")
    values = cross_val_score(ranker(), X, y, cv=folds, params={"qid": data.qid}, error_score="raise")
    assert values.shape == (3,)
    assert ((values > 0.4) & (values <= 1.0)).all()


@pytest.mark.usefixtures("routing")
def test_in_a_pipeline(data):
    X, y = np.array(data.features), np.array(data.labels["grades"])
    whole = make_pipeline(FunctionTransformer(np.tanh), ranker())
    whole.fit(X, y, qid=data.qid)
    assert whole.score(X, y, qid=data.qid) == ranker().fit(np.tanh(X), y, qid=data.qid).score(
        np.tanh(X), y, qid=data.qid
    )


def test_a_column_of_queries_needs_no_routing(data):
    pytest.importorskip("pandas")
    frame = data.to_pandas()
    X, y = frame.drop(columns="grades"), frame["grades"]
    search = GridSearchCV(ranker(), {"n_leaves": [2, 5]}, cv=GroupKFold(3), error_score="raise")
    search.fit(X, y, groups=X["qid"])
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    assert search.predict(X).shape == (data.n_documents,)
    values = cross_val_score(ranker(), X, y, groups=X["qid"], cv=GroupKFold(3), error_score="raise")
    np.testing.assert_allclose(values, [search.cv_results_[f"split{fold}_test_score"][1] for fold in range(3)])


def test_every_ranker_asks_for_queries():
    with sklearn.config_context(enable_metadata_routing=True):
        for name, kind in ranker_classes().items():
            assert issubclass(kind, Ranker)
            requests = kind.__new__(kind)._get_metadata_request()
            assert requests.fit.requests.get("qid") is True, name
            assert requests.score.requests.get("qid") is True, name
